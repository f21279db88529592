package runfolder

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// filling takes so many bytes.
type filling struct {
	left int
	text strings.Builder
}

var errFilled = errors.New("full")

func (f *filling) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return 0, errFilled
	}
	f.left -= len(b)
	return f.text.Write(b)
}

// TestExportCSV: lines are in order over chunks and over the pieces that goroutines make; an error of the writer at any byte, and one of
// the recording, end the export.
func TestExportCSV(t *testing.T) {
	const rows = 5*rowsAtOnce + 7
	want := "burst,neuron,area\n"
	var c Chunk
	for i := range rows {
		c.Burst, c.Neuron, c.Area = append(c.Burst, uint64(i/1000)), append(c.Neuron, uint32(i*i)), append(c.Area, uint32(i%2))
	}
	var b strings.Builder
	for range 3 {
		for i := range rows {
			fmt.Fprintf(&b, "%d,%d,%s\n", i/1000, uint32(i*i), [2]string{"a", "b"}[i%2])
		}
	}
	want += b.String()
	broken := errors.New("broken")
	fails := false
	r := Recording{Table: "spikes", Manifest: manifest.Manifest{Areas: []manifest.Area{{Name: "a"}, {Name: "b"}}}}
	r.Chunks = func(yield func(Chunk, error) bool) {
		for range 3 {
			if !yield(c, nil) {
				return
			}
		}
		if fails {
			yield(Chunk{}, broken)
		}
	}
	s, err := r.schema([]string{"burst", "neuron", "area"})
	require.NoError(t, err)
	to := &filling{left: len(want)}
	require.NoError(t, exportCSV(to, r, s))
	require.True(t, want == to.text.String())
	for _, left := range []int{0, 10, 20, len(want) / 2, len(want) - 1} {
		to := &filling{left: left}
		require.ErrorIs(t, exportCSV(to, r, s), errFilled)
		require.True(t, strings.HasPrefix(want, to.text.String()))
	}
	fails = true
	require.ErrorIs(t, exportCSV(&filling{left: len(want)}, r, s), broken)
}
