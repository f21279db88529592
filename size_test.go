package burst_test

import (
	"compress/flate"
	"os"
	"testing"

	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// The program's budget, in bytes: on disk, and deflated as a wheel holds it. RATIONALE.md says what is in it. What is to be
// added must find its room here.
const (
	mostOnDisk   = 43_000_000
	mostDeflated = 15_000_000
)

// counter counts what is written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// TestProgramSize holds the program, built as `make build` does, to its budget.
func TestProgramSize(t *testing.T) {
	data, err := os.ReadFile(program(t))
	require.NoError(t, err)
	t.Logf("%d bytes on disk", len(data))
	require.LessOrEqual(t, len(data), mostOnDisk)
	if testing.Short() || !slow.Asked() { // to deflate takes seconds
		return
	}
	var deflated counter
	w, err := flate.NewWriter(&deflated, 6)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	t.Logf("%d bytes deflated", deflated)
	require.LessOrEqual(t, int(deflated), mostDeflated)
}
