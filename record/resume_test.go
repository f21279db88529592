package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"burst/connectome"
	"burst/record/manifest"
	"burst/record/picture"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// raggedNetwork is the network of ragged as Activity needs it.
func raggedNetwork() *connectome.Connectome {
	return &connectome.Connectome{Areas: []connectome.Area{
		{Neurons: connectome.Span{Count: 1009}}, {Neurons: connectome.Span{First: 1009}}, {Neurons: connectome.Span{First: 1009, Count: 33}},
	}}
}

// stopAt is a run that was marked after so many bursts and died some bursts later.
func stopAt(t *testing.T, dir string, marked, died uint64, spikes int) (map[string]Offset, []byte) {
	t.Helper()
	r, err := Create(dir, Options{Manifest: raggedManifest(), Genome: []byte("burst: v1\n"), Plan: everySpike})
	require.NoError(t, err)
	a := NewActivity(raggedNetwork())
	var at map[string]Offset
	var counts []byte
	for b := range spiking(11, spikes) {
		if b.Number == marked {
			wait := r.Mark()
			counts = a.Save(nil)
			at, err = wait()
			require.NoError(t, err)
		}
		if b.Number == died {
			break
		}
		require.NoError(t, r.Record(b))
		require.NoError(t, a.Record(b))
	}
	require.NoError(t, r.Fail(errors.New("planted"), &manifest.Fault{Burst: died, Cause: "planted"}))
	return at, counts
}

// TestResume goes on after marks before, between and after the rows: no row is missing, none is there twice, and the rates
// are those of a run that nobody stopped.
func TestResume(t *testing.T) {
	const spikes = 60_000
	want := wantSpikes(spiking(11, spikes))
	whole := recorded(t, everySpike, spiking(11, spikes))
	bursts := want.burst[len(want.burst)-1] + 1
	for i, marked := range []uint64{0, 1, 7, bursts / 2, bursts - 1} {
		t.Run(fmt.Sprint(marked), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			at, counts := stopAt(t, dir, marked, min(bursts, marked+uint64(i)*9), spikes)
			f, err := runfolder.Open(dir)
			require.NoError(t, err)
			require.Equal(t, manifest.Failed, f.Manifest.Status)
			require.Equal(t, "planted", f.Manifest.Failure)
			require.Len(t, f.Manifest.Faults, 1)
			gather(t, f.Spikes())
			var raster *picture.Raster
			watch := Watch{Spikes: func(m *manifest.Manifest) func(*runfolder.Chunk) {
				raster = picture.NewRaster(m, bursts)
				return raster.Add
			}}
			r, err := Resume(f, everySpike, at, watch, func(m *manifest.Manifest) { m.Resumed = append(m.Resumed, manifest.Resumed{Burst: marked}) })
			require.NoError(t, err)
			a := NewActivity(raggedNetwork())
			require.NoError(t, a.Restore(counts))
			for b := range spiking(11, spikes) {
				if b.Number >= marked {
					require.NoError(t, r.Record(b))
					require.NoError(t, a.Record(b))
				}
			}
			require.NoError(t, r.Close(End{Bursts: a.Bursts(), Digest: "0123456789abcdef", Status: manifest.Complete, Activity: a}))
			f, err = runfolder.Open(dir)
			require.NoError(t, err)
			require.Equal(t, manifest.Complete, f.Manifest.Status)
			require.Empty(t, f.Manifest.Failure)
			require.Len(t, f.Manifest.Faults, 1, "a fault stays told")
			sameRows(t, want, gather(t, f.Spikes()))
			for _, file := range []string{"rates.csv", "spikes.parquet"} {
				require.Equal(t, read(t, filepath.Join(whole.Dir, file)), read(t, filepath.Join(dir, file)), file)
			}
			require.Equal(t, drawn(t, whole, nil), drawn(t, f, raster), "counted while spikes were recorded")
			require.Equal(t, drawn(t, whole, nil), drawn(t, f, picture.NewRaster(&f.Manifest, bursts+1)), "of another length")
		})
	}
}

// drawn is the raster of a folder.
func drawn(t *testing.T, f *runfolder.Folder, counted *picture.Raster) []byte {
	t.Helper()
	p, err := picture.Draw(f, []string{"raster"}, picture.Options{Counted: counted})
	require.NoError(t, err)
	png, err := p[0].Encode("png")
	require.NoError(t, err)
	return png
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestResumeProves: what the checkpoint vouches for must be there, every byte of it; else nothing is touched.
func TestResumeProves(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, base string, at Offset){
		"a bit of a chunk":  func(t *testing.T, base string, at Offset) { flip(t, base+".arrows", at.Bytes/2) },
		"a bit of the sums": func(t *testing.T, base string, at Offset) { flip(t, base+".sums", at.Sums-9) },
		"the stream too short": func(t *testing.T, base string, at Offset) {
			require.NoError(t, os.Truncate(base+".arrows", at.Bytes-1))
		},
		"the sums too short": func(t *testing.T, base string, at Offset) { require.NoError(t, os.Truncate(base+".sums", at.Sums-1)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			at, _ := stopAt(t, dir, 40, 60, 60_000)
			base := filepath.Join(dir, "spikes")
			damage(t, base, at["spikes"])
			before := read(t, base+".arrows") + read(t, base+".sums") + read(t, filepath.Join(dir, "manifest.json"))
			f, err := runfolder.Open(dir)
			require.NoError(t, err)
			_, err = Resume(f, everySpike, at, Watch{}, func(*manifest.Manifest) {})
			var d *runfolder.DamagedError
			require.ErrorAs(t, err, &d)
			require.Equal(t, before, read(t, base+".arrows")+read(t, base+".sums")+read(t, filepath.Join(dir, "manifest.json")))
		})
	}
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	b := []byte(read(t, path))
	b[at] ^= 4
	require.NoError(t, os.WriteFile(path, b, 0o600))
}

// TestActivityRestore refuses counts of another network, and any length that is not right.
func TestActivityRestore(t *testing.T) {
	a := NewActivity(raggedNetwork())
	for b := range spiking(12, 300_000) {
		require.NoError(t, a.Record(b))
	}
	saved := a.Save(nil)
	b := NewActivity(raggedNetwork())
	require.NoError(t, b.Restore(saved))
	b.c = a.c
	require.Equal(t, a, b)
	for n := range 200 {
		require.Error(t, b.Restore(saved[:len(saved)-1-n]))
	}
	require.Error(t, NewActivity(&connectome.Connectome{Areas: []connectome.Area{{Neurons: connectome.Span{Count: 1042}}}}).Restore(saved))
}

// TestR5OldRecordings reads a run folder of every format there has been, still going on and ended.
func TestR5OldRecordings(t *testing.T) {
	if *golden {
		writeGolden(t)
	}
	want := wantSpikes(spiking(5, 900))
	for version := 1; version <= manifest.Format; version++ {
		for _, state := range []string{"ended", "running"} {
			f, err := runfolder.Open(fmt.Sprintf("testdata/format-%d-%s", version, state))
			require.NoError(t, err)
			require.Equal(t, version, f.Manifest.Format)
			sameRows(t, want, gather(t, f.Spikes()))
		}
	}
	old, err := runfolder.Open("testdata/format-1-running")
	require.NoError(t, err)
	_, err = Resume(old, everySpike, map[string]Offset{"spikes": {Bytes: 1}}, Watch{}, func(*manifest.Manifest) {})
	require.ErrorContains(t, err, "are of format 1, want 2 to go on with them")
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/format-1-running")))
	old, err = runfolder.Open(dir)
	require.NoError(t, err)
	r, err := Resume(old, everySpike, nil, Watch{}, func(*manifest.Manifest) {})
	require.NoError(t, err, "what begins anew is of the newest format")
	require.NoError(t, r.closeTracks(false, true))
	old, err = runfolder.Open(dir)
	require.NoError(t, err)
	require.Equal(t, manifest.Format, old.Manifest.Format)
	var future map[string]any
	require.NoError(t, json.Unmarshal([]byte(read(t, "testdata/format-2-ended/manifest.json")), &future))
	future["format"] = manifest.Format + 6
	text, err := json.Marshal(future)
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600))
	_, err = runfolder.Open(dir)
	require.ErrorContains(t, err, "format 8 found, this version of burst reads formats 1 to 2")
	t.Logf("R5: run folders of formats 1…%d read, format %d refused", manifest.Format, manifest.Format+6)
}

// writeGolden makes the folders that TestR5OldRecordings reads.
func writeGolden(t *testing.T) {
	f := recorded(t, everySpike, spiking(5, 900))
	running, err := Create(filepath.Join(t.TempDir(), "running"), Options{Manifest: raggedManifest(), Genome: []byte("burst: v1\n"), Plan: everySpike})
	require.NoError(t, err)
	for b := range spiking(5, 900) {
		require.NoError(t, running.Record(b))
	}
	require.NoError(t, running.closeTracks(false, true))
	for dir, to := range map[string]string{f.Dir: fmt.Sprintf("testdata/format-%d-ended", manifest.Format), running.dir: fmt.Sprintf("testdata/format-%d-running", manifest.Format)} {
		require.NoError(t, os.RemoveAll(to))
		require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	}
}
