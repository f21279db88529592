package record

import (
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"burst/record/internal/tables"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// TestFoldersOfStrangers: a run folder in which files are devices, folders or endless is refused; nobody waits for it and
// nobody reads it into memory.
func TestFoldersOfStrangers(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"endless": func(path string) error { return sparse(path, 1<<40) },
	} {
		for _, file := range []string{"manifest.json", "spikes.sums", "spikes.arrows", "rates.csv"} {
			r, err := Create(filepath.Join(t.TempDir(), "run"), Options{Manifest: raggedManifest(), Plan: everySpike})
			require.NoError(t, err)
			for b := range spiking(3, 400_000) {
				require.NoError(t, r.Record(b))
			}
			require.NoError(t, r.Fail(os.ErrClosed, nil))
			f, err := runfolder.Open(r.dir)
			require.NoError(t, err)
			path := filepath.Join(r.dir, file)
			if file != "rates.csv" {
				require.NoError(t, os.Remove(path))
			}
			require.NoError(t, plant(path))
			switch _, err = runfolder.Open(r.dir); file {
			case "manifest.json":
			case "rates.csv":
				_, err = f.Rates()
			default:
				for _, err = range f.Spikes() {
				}
			}
			require.Error(t, err, "%s as %s", file, name)
		}
	}
}

// TestFilesOfStrangers: a recording given as one file, which is a pipe or becomes one, is refused; nobody waits for it.
func TestFilesOfStrangers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	require.NoError(t, os.WriteFile(path, parquetOf(t, tables.Spikes, "", nil), 0o600))
	r, err := runfolder.OpenRecording(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Skip("no pipes here: ", err)
	}
	ended := make(chan [2]error, 1)
	go func() {
		_, open := runfolder.OpenRecording(path)
		ended <- [2]error{open, drain(r)}
	}()
	select {
	case errs := <-ended:
		for _, err := range errs {
			require.ErrorContains(t, err, "expects a regular file, found a pipe; write what it gives to a file")
		}
	case <-time.After(time.Minute):
		t.Fatal("waits for the pipe")
	}
}

// TestManifestsOfStrangers: numbers that no run can have written are refused, for readers count with them.
func TestManifestsOfStrangers(t *testing.T) {
	sound := raggedManifest()
	sound.Status = manifest.Complete
	require.Empty(t, flaw(t, sound))
	for want, spoil := range map[string]func(m *manifest.Manifest){
		`status "weird"`:                  func(m *manifest.Manifest) { m.Status = "weird" },
		"the timestep is 0 ms, want":      func(m *manifest.Manifest) { m.Timestep = 0 },
		"the timestep is -0.1 ms, want":   func(m *manifest.Manifest) { m.Timestep = -0.1 },
		"18446744073709551615 bursts":     func(m *manifest.Manifest) { m.Bursts = math.MaxUint64 },
		"from burst 18446744073709551615": func(m *manifest.Manifest) { m.First = math.MaxUint64 },
		"72057594037927937 planned":       func(m *manifest.Manifest) { m.Planned = manifest.MostBursts + 1 },
		"areas[1] (none) begins at":       func(m *manifest.Manifest) { m.Areas[1].First = 7 },
		"33 neurons and 34 recorded":      func(m *manifest.Manifest) { m.Areas[2].Recorded = 34 },
		"3 recorded ones, 2 in spans": func(m *manifest.Manifest) {
			m.Areas[2].Recorded, m.Areas[2].RecordedSpans = 3, []manifest.Span{{First: 1011, Neurons: 2}}
		},
		"recorded neurons 1008 to 1011": func(m *manifest.Manifest) { m.Areas[2].RecordedSpans = []manifest.Span{{First: 1008, Neurons: 3}} },
		"recorded neurons 1041 to 1043": func(m *manifest.Manifest) { m.Areas[2].RecordedSpans = []manifest.Span{{First: 1041, Neurons: 2}} },
		"recorded neurons 1012 to 1012": func(m *manifest.Manifest) { m.Areas[2].RecordedSpans = []manifest.Span{{First: 1012, Neurons: 0}} },
		"want some of 1014 to 1042": func(m *manifest.Manifest) {
			m.Areas[2].RecordedSpans = []manifest.Span{{First: 1012, Neurons: 2}, {First: 1013, Neurons: 2}}
		},
		"areas[0] (retina, left) begins at": func(m *manifest.Manifest) { m.Areas[0].First = 4; m.Areas[0].Neurons = math.MaxUint32 },
	} {
		m := raggedManifest()
		m.Status = manifest.Complete
		spoil(&m)
		require.Contains(t, flaw(t, m), want)
	}
	dir := t.TempDir()
	sound.Format = manifest.Format
	require.NoError(t, sound.Write(dir))
	path := filepath.Join(dir, "manifest.json")
	text := strings.Replace(read(t, path), `"recorded": 33`, `"recorded": 33, "recorded_spans": []`, 1)
	_, err := manifest.Read(filepath.Dir(writeTo(t, path, []byte(text))))
	require.ErrorContains(t, err, "33 recorded ones, 0 in spans")
}

// flaw is what a reader finds wrong with a manifest that was written; empty where nothing is.
func flaw(t *testing.T, m manifest.Manifest) string {
	t.Helper()
	dir := t.TempDir()
	m.Format = manifest.Format
	require.NoError(t, m.Write(dir))
	_, err := manifest.Read(dir)
	var d *runfolder.DamagedError
	if !errors.As(err, &d) {
		require.NoError(t, err)
		return ""
	}
	return d.Reason
}

// drain reads a recording to its end.
func drain(r runfolder.Recording) error {
	for c, err := range r.Chunks {
		if err != nil {
			return err
		}
		for _, area := range c.Area {
			_ = r.Manifest.Areas[area]
		}
	}
	return nil
}

// TestFileOfAnotherTable: a recording under the name of another table's lacks columns, which is told.
func TestFileOfAnotherTable(t *testing.T) {
	for _, from := range []string{"testdata/format-1-running", "testdata/format-2-running"} {
		for _, name := range []string{"potentials", "fcl"} {
			dir := filepath.Join(t.TempDir(), "run")
			require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
			for _, end := range []string{".arrows", ".sums"} {
				require.NoError(t, os.Rename(filepath.Join(dir, "spikes"+end), filepath.Join(dir, name+end)))
			}
			f, err := runfolder.Open(dir)
			require.NoError(t, err)
			r, err := f.Recording(name)
			require.NoError(t, err)
			for _, end := range runfolder.Formats() {
				var d *runfolder.DamagedError
				require.ErrorAs(t, runfolder.Export(filepath.Join(dir, "x"+end), r), &d, "%s of %s as %s", name, from, end)
			}
		}
	}
}

// sparse makes a file of a size that takes no room on disk.
func sparse(path string, size int64) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

// manyMarks is the text of a .sums file of chunks of nine bytes, made as it is read.
type manyMarks struct{ left, at int64 }

func (m *manyMarks) Read(b []byte) (int, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	const most = 128 // bytes of a line
	text := b[:0]
	for m.left > 0 && len(text)+most <= len(b) {
		text = append(text, tables.Mark{Offset: m.at, Bytes: 9, Rows: 1, First: uint64(m.at), Last: uint64(m.at)}.Line()...)
		m.left, m.at = m.left-1, m.at+9
	}
	return len(text), nil
}

// TestManyChunks: the .sums file of a long run is read however long it is, in no memory to speak of.
func TestManyChunks(t *testing.T) {
	chunks := int64(200_000)
	if *long {
		chunks = 4_100_000
	}
	lines, err := tables.NewMarks("spikes.sums", io.MultiReader(strings.NewReader(tables.SumsHead), &manyMarks{left: chunks}))
	require.NoError(t, err)
	var m tables.Mark
	for read := int64(0); ; read++ {
		next, err := lines.Read()
		if err == io.EOF {
			require.Equal(t, chunks, read)
			break
		}
		require.NoError(t, err)
		m = next
	}
	require.Equal(t, 9*(chunks-1), m.Offset)

	lines, err = tables.NewMarks("spikes.sums", strings.NewReader(tables.SumsHead+strings.Repeat("1", 1<<20)))
	require.NoError(t, err)
	_, err = lines.Read()
	require.EqualError(t, err, "spikes.sums: line 2 has more than 4096 bytes", "it is not gathered")
}

// TestLineOfAMark: what is wrong with a .sums file is told with its line.
func TestLineOfAMark(t *testing.T) {
	good := tables.Mark{Bytes: 9, Rows: 1}.Line()
	for text, want := range map[string]string{
		good + tables.Mark{Offset: 8, Bytes: 9}.Line(): "spikes.sums: line 3: a chunk of 9 bytes at 8, want one at 9",
		good + strings.Repeat("1", 5000):               "spikes.sums: line 3 has more than 4096 bytes",
	} {
		lines, err := tables.NewMarks("spikes.sums", strings.NewReader(tables.SumsHead+text))
		require.NoError(t, err)
		_, err = lines.Read()
		require.NoError(t, err)
		_, err = lines.Read()
		require.EqualError(t, err, want)
	}
}
