package record

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
		for _, err := range readStream(base, tableNamed(spikesTable), ragged()) {
			_ = err
		}
		if r, err := OpenRecording(base + ".arrows"); err == nil {
			_ = exportCSV(io.Discard, r)
		}
		for _, text := range [][]byte{b, append([]byte(sumsHead), b...)} {
			lines, err := newMarks("spikes.sums", bytes.NewReader(text))
			for err == nil {
				_, err = lines.read()
			}
		}
	})
}

// firstMark is the first chunk's line of a .sums file.
func firstMark(t *testing.T, path string) mark {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines, err := newMarks(path, f)
	require.NoError(t, err)
	m, err := lines.read()
	require.NoError(t, err)
	return m
}

// TestR22StreamLengths: a length in a schema or a batch that promises more than its chunk holds is refused before memory is
// taken for it.
func TestR22StreamLengths(t *testing.T) {
	tried, most := 0, uint64(0)
	lengths := []uint32{0x7fffffff, 0x10000000}
	if testing.Short() {
		lengths = lengths[:1]
	}
	for _, name := range []string{"testdata/format-1-running/spikes.arrows", "testdata/format-2-running/spikes.arrows"} {
		whole, err := os.ReadFile(name)
		require.NoError(t, err)
		m := firstMark(t, strings.TrimSuffix(name, ".arrows")+".sums")
		base := filepath.Join(t.TempDir(), "spikes")
		read := func(b []byte) (err error) {
			m.bytes, m.sum = int64(len(b)), xxhash.Sum64(b)
			require.NoError(t, os.WriteFile(base+".arrows", b, 0o600))
			require.NoError(t, os.WriteFile(base+".sums", []byte(sumsHead+m.line()), 0o600))
			for _, err = range readStream(base, tableNamed(spikesTable), ragged()) {
				if err != nil {
					return err
				}
			}
			return nil
		}
		require.NoError(t, read(whole[:m.bytes]), "%s: as it was written", name)
		whole = whole[:m.bytes]
		refused := 0
		for at := 8; at+4 <= min(len(whole), 6000); at += 4 {
			for _, length := range lengths {
				b := slices.Clone(whole)
				binary.LittleEndian.PutUint32(b[at:], length)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := read(b)
				if inPlainWords(t, err); err != nil {
					refused++
				}
				runtime.ReadMemStats(&after)
				taken := after.TotalAlloc - before.TotalAlloc
				require.Less(t, taken, uint64(8<<20), "%s: %#x at %d", name, length, at)
				tried, most = tried+1, max(most, taken)
			}
		}
		require.Greater(t, refused, 50, name)
	}
	t.Logf("R22: %d false lengths in recordings took %d KiB at most", tried, most>>10)
}
