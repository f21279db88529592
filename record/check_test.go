package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/record/internal/tables"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// rehashed makes the manifest say of a file what it is now.
func rehashed(t *testing.T, f *runfolder.Folder, name string) *runfolder.Folder {
	t.Helper()
	for i := range f.Manifest.Files {
		if f.Manifest.Files[i].Path == name {
			now, err := manifest.Describe(f.Dir, name)
			require.NoError(t, err)
			f.Manifest.Files[i] = now
		}
	}
	require.NoError(t, f.Manifest.Write(f.Dir))
	f, err := runfolder.Open(f.Dir)
	require.NoError(t, err)
	return f
}

// TestCheck: each file that the manifest names is held to it, alone and with all others.
func TestCheck(t *testing.T) {
	f := recorded(t, everySpike, spiking(8, 300))
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, "from.checkpoint"), []byte("a state"), 0o600))
	from, err := manifest.Describe(f.Dir, "from.checkpoint")
	require.NoError(t, err)
	f.Manifest.From = &manifest.Origin{File: from}
	require.NoError(t, f.CheckAll())
	require.NoError(t, f.CheckGenome())
	require.Empty(t, f.Unchecked())
	require.ErrorIs(t, f.Check("raster.png"), fs.ErrNotExist)
	require.NotErrorAs(t, f.Check("raster.png"), new(*runfolder.DamagedError))
	for _, name := range []string{"genome.yaml", "rates.csv", "spikes.parquet", "from.checkpoint"} {
		path := filepath.Join(f.Dir, name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		cure := "records it again"
		if name == "genome.yaml" || name == "from.checkpoint" {
			cure = "take it from a copy of the folder"
		}
		flipped := append([]byte{whole[0] ^ 1}, whole[1:]...)
		for _, x := range []struct{ bytes, want string }{
			{string(flipped), "found, the manifest says "}, {string(whole[1:]), fmt.Sprintf("%d bytes found, the manifest says %d; ", len(whole)-1, len(whole))}, {"", "0 bytes found"},
		} {
			require.NoError(t, os.WriteFile(path, []byte(x.bytes), 0o600))
			for _, err := range []error{f.Check(name), f.CheckAll()} {
				require.ErrorAs(t, err, new(*runfolder.DamagedError), name)
				require.True(t, strings.HasPrefix(err.Error(), path+": "), "%v", err)
				require.ErrorContains(t, err, cure)
			}
			require.ErrorContains(t, f.Check(name), x.want)
		}
		require.NoError(t, os.Remove(path))
		for _, err := range []error{f.Check(name), f.CheckAll()} {
			require.ErrorAs(t, err, new(*runfolder.DamagedError), name)
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.ErrorContains(t, err, path+": the manifest names this file, which is gone")
		}
		require.NoError(t, os.Mkdir(path, 0o700))
		require.ErrorAs(t, f.Check(name), new(*runfolder.DamagedError))
		require.ErrorContains(t, f.CheckAll(), path+": the manifest names this file, want a regular file, found a directory")
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.WriteFile(path, whole, 0o600))
		require.NoError(t, f.CheckAll())
	}
}

// TestGenomeIsChecked: also where no file list has it, as in a run without an end.
func TestGenomeIsChecked(t *testing.T) {
	f := recorded(t, Plan{}, spiking(8, 30))
	f.Manifest.Files = nil
	require.NoError(t, f.CheckAll())
	path := filepath.Join(f.Dir, "genome.yaml")
	require.NoError(t, os.WriteFile(path, []byte("burst: v2\n"), 0o600))
	for _, err := range []error{f.CheckGenome(), f.CheckAll()} {
		require.ErrorAs(t, err, new(*runfolder.DamagedError))
		require.ErrorContains(t, err, path+": has changed since the run wrote it: SHA-256 ")
	}
	_, err := f.Genome()
	require.ErrorAs(t, err, new(*runfolder.DamagedError))
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, f.CheckGenome(), fs.ErrNotExist)
}

// TestFilesOfARun: tables and rates are those that the manifest names, or, while it goes on, those that are there or should be.
func TestFilesOfARun(t *testing.T) {
	f := recorded(t, everySpike, spiking(8, 300))
	require.True(t, f.HasRates())
	require.NoError(t, os.Remove(filepath.Join(f.Dir, "spikes.parquet")))
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, "fcl.parquet"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, "potentials.sums"), nil, 0o600))
	require.Equal(t, []string{"spikes"}, f.Tables(), "as the manifest says, not as the folder looks")
	f.Manifest.Files = nil
	require.Empty(t, f.Tables())
	require.False(t, f.HasRates())
	_, err := f.Rates()
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, status := range []string{manifest.Running, manifest.Failed} {
		f.Manifest.Status = status
		require.Equal(t, []string{"spikes", "potentials", "fcl"}, f.Tables())
		require.Contains(t, f.Unchecked(), "the run is "+status)
	}
	for i := range f.Manifest.Areas {
		f.Manifest.Areas[i].Recorded = 0
	}
	require.Equal(t, []string{"potentials", "fcl"}, f.Tables())
}

// TestUncountedBytes: the bytes behind the last chunk that a line tells of are counted, neither more nor fewer.
func TestUncountedBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Options{Manifest: raggedManifest(), Genome: []byte("burst: v1\n"), Plan: everySpike})
	require.NoError(t, err)
	for b := range spiking(4, 2000) {
		require.NoError(t, r.Record(b))
	}
	require.NoError(t, r.Fail(errors.New("test"), nil))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.NoError(t, f.CheckAll())
	require.NotContains(t, f.Unchecked(), "bytes of")
	path, sums := filepath.Join(dir, "spikes.arrows"), filepath.Join(dir, "spikes.sums")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(whole, "torn"...), 0o600))
	require.Contains(t, f.Unchecked(), "; the last 4 bytes of spikes.arrows are left out")
	require.NoError(t, f.CheckAll(), "a crash leaves that")
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	lines, err := os.ReadFile(sums)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sums, lines[:len(lines)-1], 0o600))
	require.Contains(t, f.Unchecked(), fmt.Sprintf("; the last %d bytes of spikes.arrows are left out", len(whole)))
	m := firstMark(t, writeTo(t, sums, lines))
	stretched := m
	stretched.Bytes++
	for name, change := range map[string]func(m *tables.Mark){
		"a row more": func(m *tables.Mark) { m.Rows++ }, "a row fewer": func(m *tables.Mark) { m.Rows-- }, "no rows": func(m *tables.Mark) { m.Rows = 0 },
		"another first": func(m *tables.Mark) { m.First++ }, "another last": func(m *tables.Mark) { m.Last-- },
	} {
		lie := m
		change(&lie)
		writeTo(t, sums, []byte(tables.SumsHead+lie.Line()))
		require.ErrorAs(t, f.CheckAll(), new(*runfolder.DamagedError), name)
		require.ErrorContains(t, f.CheckAll(), "the chunk at offset 0 has 2000 rows, its .sums file says ", name)
	}
	for name, text := range map[string]string{
		"five fields": "0,1,2,3,4\n", "seven": "0,1,2,3,4,5,6\n", "a word": "x,1,2,3,4,5\n", "below 0": "-1,1,2,3,4,5\n", "64 bits": "0,9223372036854775808,2,3,4,5\n", "no hash": "0,1,2,3,4,\n",
		"not from 0": "1,5,2,3,4,5\n", "of no bytes": "0,0,2,3,4,5\n", "an endless line": strings.Repeat("1", 5000) + "\n", "longer than the file": stretched.Line(),
	} {
		writeTo(t, sums, []byte(tables.SumsHead+text))
		require.ErrorAs(t, f.CheckAll(), new(*runfolder.DamagedError), name)
	}
	writeTo(t, sums, []byte("offset\n"))
	require.ErrorContains(t, f.CheckAll(), "line 1 is not")
}

func writeTo(t *testing.T, path string, text []byte) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// TestRatesThatCannotBe: a rates.csv that the manifest's hash fits and that no run has written.
func TestRatesThatCannotBe(t *testing.T) {
	f := recorded(t, Plan{}, func(yield func(*engine.Burst) bool) {
		for i := range uint64(4) {
			if !yield(&engine.Burst{Number: i}) {
				return
			}
		}
	})
	path := filepath.Join(f.Dir, "rates.csv")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, x := range [][3]string{
		{"burst,bursts", "bursts,burst", "line 1 is not"},
		{"\n0,1,none", "\n0,1,nine", `line 3: area "nine" from burst 0, want "none" from burst 0`},
		{"\n1,1,none", "\n2,1,none", `line 6: area "none" from burst 2, want "none" from burst 1`},
		{"\n1,1,none", "\n1,x,none", "line 6: "},
		{"\n1,1,none", "\n-1,1,none", "line 6: "},
		{"none,0,0", "none,y,0", "line 3: "},
		{"none,0,0", "none,0,z", "line 3: "},
		{"none,0,0", "none,0,0,0", "line 3: "},
		{"none,0,0", strings.Repeat("n", 80_000) + ",0,0", "a line of more than 65536 bytes"},
	} {
		require.Contains(t, string(whole), x[0])
		writeTo(t, path, []byte(strings.Replace(string(whole), x[0], x[1], 1)))
		f = rehashed(t, f, "rates.csv")
		_, err := f.Rates()
		require.ErrorAs(t, err, new(*runfolder.DamagedError), x[1])
		require.ErrorContains(t, err, x[2])
	}
	writeTo(t, path, whole)
	f = rehashed(t, f, "rates.csv")
	r, err := f.Rates()
	require.NoError(t, err)
	require.EqualValues(t, []uint64{4, 1}, []uint64{r.Bursts, r.Width})
	f.Manifest.Areas = nil
	_, err = f.Rates()
	require.ErrorContains(t, err, "found a row, but the run has no areas")
}

// TestManifestFiles: a manifest names files of its folder alone.
func TestManifestFiles(t *testing.T) {
	m := raggedManifest()
	m.Status, m.Format = manifest.Complete, manifest.Format
	for _, path := range []string{"../x", "/etc/passwd", "a/b", ".", "..", ""} {
		m.Files = []manifest.File{{Path: "rates.csv"}, {Path: path}}
		require.Equal(t, fmt.Sprintf("files[1] is %q, want a file of the folder", path), flaw(t, m))
	}
	m.Files = m.Files[:1]
	require.Empty(t, flaw(t, m))
	m.From = &manifest.Origin{File: manifest.File{Path: "../from.checkpoint"}}
	require.Contains(t, flaw(t, m), "from is ")
	m.From.Path = "from.checkpoint"
	require.Empty(t, flaw(t, m))
}

// TestSpans: ranges are sorted and joined where they touch or overlap, and neurons named by ranges lie in their area.
func TestSpans(t *testing.T) {
	type span = connectome.Span
	require.Equal(t, []span{{First: 1, Count: 4}, {First: 6, Count: 2}, {First: 9, Count: 3}}, joined([]span{{First: 6, Count: 2}, {First: 3, Count: 2}, {First: 1, Count: 2}, {First: 9, Count: 3}, {First: 10, Count: 1}}))
	require.Equal(t, []span{{First: 1, Count: 6}}, joined([]span{{First: 1, Count: 3}, {First: 2, Count: 5}}))
	require.Nil(t, joined(nil))
	area := span{First: 100, Count: 10}
	for text, want := range map[string]span{"0]": {First: 100, Count: 1}, "9]": {First: 109, Count: 1}, "0..9]": {First: 100, Count: 10}, "3..3]": {First: 103, Count: 1}} {
		got, err := within(area, "x["+text, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"10]", "0..10]", "4..3]", "3", "a]", "0..b]", "..3]", "-1]", "]"} {
		_, err := within(area, "x["+text, text)
		require.ErrorContains(t, err, "numbers below 10", text)
	}
	for id, want := range map[uint32]int{4: 1, 5: 0, 7: 0, 8: -1} {
		require.Equal(t, want, compareSpan(span{First: 5, Count: 3}, id), "neuron %d", id)
	}
}
