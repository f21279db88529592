package driver_test

import (
	_ "embed"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/driver"
)

//go:embed testdata/planted.ptx
var planted []byte

// TestPlanted makes the mistake that $BURST_PLANT names, one of compute-sanitizer's tools; the tool, not the test, must
// report it (backend/cuda/sanitize.sh).
func TestPlanted(t *testing.T) {
	mistake := os.Getenv("BURST_PLANT")
	if mistake == "" {
		t.Skip("SKIPPED: BURST_PLANT names no mistake")
	}
	c := gpu(t)
	m, err := c.Load(planted)
	require.NoError(t, err)
	f, err := m.Function(mistake)
	require.NoError(t, err)
	s, err := c.Stream()
	require.NoError(t, err)
	const words = 100
	p, err := c.Alloc(4 * words)
	require.NoError(t, err)
	args := struct {
		p driver.Ptr
		n uint32
	}{p, words}
	require.NoError(t, f.Launch(1, 64, driver.Params(&args), s))
	t.Logf("%s: %v", mistake, s.Synchronize())
}
