package record

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"burst/internal/slow"
	"burst/record/internal/tables"
	"burst/record/manifest"
	"burst/record/runfolder"

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
		m := tables.Mark{Bytes: int64(len(b)), Rows: 1, Sum: xxhash.Sum64(b)}
		require.NoError(t, os.WriteFile(base+".arrows", b, 0o600))
		require.NoError(t, os.WriteFile(base+".sums", []byte(tables.SumsHead+m.Line()), 0o600))
		for _, err := range tables.ReadStream(base, tables.Named(tables.Spikes), &manifest.Manifest{Areas: ragged()}) {
			_ = err
		}
		if r, err := runfolder.OpenRecording(base + ".arrows"); err == nil {
			_ = drain(r)
		}
		for _, text := range [][]byte{b, append([]byte(tables.SumsHead), b...)} {
			lines, err := tables.NewMarks("spikes.sums", bytes.NewReader(text))
			for err == nil {
				_, err = lines.Read()
			}
		}
	})
}

// firstMark is the first chunk's line of a .sums file.
func firstMark(t *testing.T, path string) tables.Mark {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines, err := tables.NewMarks(path, f)
	require.NoError(t, err)
	m, err := lines.Read()
	require.NoError(t, err)
	return m
}

// TestR22StreamLengths: a length in a schema or a batch that promises more than its chunk holds is refused before memory is
// taken for it.
func TestR22StreamLengths(t *testing.T) {
	tried, most := 0, uint64(0)
	lengths := []uint32{0x7fffffff, 0x10000000}
	if testing.Short() || !slow.Asked() {
		lengths = lengths[:1]
	}
	for _, name := range []string{"testdata/format-1-running/spikes.arrows", "testdata/format-2-running/spikes.arrows"} {
		whole, err := os.ReadFile(name)
		require.NoError(t, err)
		m := firstMark(t, strings.TrimSuffix(name, ".arrows")+".sums")
		base := filepath.Join(t.TempDir(), "spikes")
		read := func(b []byte) (err error) {
			m.Bytes, m.Sum = int64(len(b)), xxhash.Sum64(b)
			require.NoError(t, os.WriteFile(base+".arrows", b, 0o600))
			require.NoError(t, os.WriteFile(base+".sums", []byte(tables.SumsHead+m.Line()), 0o600))
			for _, err = range tables.ReadStream(base, tables.Named(tables.Spikes), &manifest.Manifest{Areas: ragged()}) {
				if err != nil {
					return err
				}
			}
			return nil
		}
		require.NoError(t, read(whole[:m.Bytes]), "%s: as it was written", name)
		whole = whole[:m.Bytes]
		refused := 0
		for at := 8; at+4 <= min(len(whole), 6000); at += 4 * slow.Times(3, 1) {
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
