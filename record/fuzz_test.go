package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
)

// FuzzR22Stream: whatever bytes a recording and its .sums file hold, reading gives rows or an error. The first chunk's line is
// made to fit, so that the reader behind the checksum is met too.
func FuzzR22Stream(f *testing.F) {
	for _, name := range []string{"testdata/format-1-running/spikes.arrows", "testdata/format-2-running/spikes.arrows", "testdata/format-2-running/spikes.sums"} {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		base := filepath.Join(dir, "spikes")
		m := mark{bytes: int64(len(b)), rows: 1, sum: xxhash.Sum64(b)}
		require.NoError(t, os.WriteFile(base+".arrows", b, 0o600))
		require.NoError(t, os.WriteFile(base+".sums", []byte(sumsHead+m.line()), 0o600))
		for _, err := range readStream(base, ragged()) {
			_ = err
		}
		_, _ = parseMarks("spikes.sums", b)
		_, _ = parseMarks("spikes.sums", append([]byte(sumsHead), b...))
	})
}
