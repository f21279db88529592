package main

import (
	"burst/internal/slow"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"burst/checkpoint"

	"github.com/stretchr/testify/require"
)

const smallGenome = `burst: v1
name: two
bursts: 60
areas:
  - {name: a, size: [2, 3, 1], neurons_per_voxel: 2, drive: {constant: 1}}
  - {name: b, neurons: 3, model: lif}
projections:
  - {from: a, to: b, rule: all_to_all, weight: 0.01 mV, delay: 4}
`

// damages are what can become of a file.
var damages = []struct {
	name string
	do   func(path string, whole []byte) error
}{
	{"removed", func(path string, _ []byte) error { return os.Remove(path) }},
	{"flipped", func(path string, whole []byte) error {
		bad := bytes.Clone(whole)
		bad[len(bad)/2] ^= 1
		return os.WriteFile(path, bad, 0o600)
	}},
	{"truncated", func(path string, whole []byte) error { return os.WriteFile(path, whole[:len(whole)-2], 0o600) }},
	{"empty", func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) }},
	{"a folder", func(path string, _ []byte) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }},
	{"garbage", func(path string, whole []byte) error {
		return os.WriteFile(path, bytes.Repeat([]byte{0xA5}, len(whole)), 0o600)
	}},
}

// mended puts a file back.
func mended(t *testing.T, path string, whole []byte) {
	t.Helper()
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.WriteFile(path, whole, 0o600))
}

// TestDamageOfRunFolders lets every command that reads a run folder meet every file of it with every damage: a command that
// reads the file ends with status 7 and names it, one that does not prints what it prints of the whole folder.
func TestDamageOfRunFolders(t *testing.T) {
	slow.Short(t)
	t.Chdir(t.TempDir())
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	require.NoError(t, os.WriteFile("net.yaml", []byte(smallGenome), 0o600))
	for _, args := range [][]string{
		{"run", "net.yaml", "--out", "saved", "--checkpoint-every", "20"},
		{"run", "net.yaml", "--out", "late", "--from", "saved/checkpoints/00000000000000000020.checkpoint", "--bursts", "40", "--record", "potentials=b"},
	} {
		code, _, stderr := call(append(args, "--quiet", "--backend", "cpu", "--threads", "1")...)
		require.Zero(t, code, stderr)
	}
	require.NoError(t, os.CopyFS("same", os.DirFS("late")))
	require.NoError(t, os.Mkdir("pictures", 0o700))
	const manifest, genome, rates, spikes, potentials, from = "manifest.json", "genome.yaml", "rates.csv", "spikes.parquet", "potentials.parquet", "from.checkpoint"
	plot := func(flags ...string) []string {
		return append([]string{"plot", "late", "-o", "pictures", "--format", "svg"}, flags...)
	}
	all := []string{genome, rates, spikes, potentials, from}
	met := 0
	for _, c := range []struct {
		args  []string
		reads []string
	}{
		{plot("--raster"), []string{spikes}},
		{plot("--rates"), []string{rates}},
		{plot("--rates", "--from", "30"), []string{rates, spikes}},
		{plot("--isi"), []string{spikes}},
		{plot("--matrix"), []string{genome}},
		{plot("--potentials"), []string{potentials}},
		{plot(), []string{genome, rates, spikes, potentials}},
		{[]string{"stats", "late"}, []string{spikes}},
		{[]string{"report", "late", "-o", "report.html", "--json"}, []string{genome, rates, spikes, potentials}},
		{[]string{"diff", "late", "same"}, all},
		{[]string{"diff", "same", "late", "--json"}, all},
		{[]string{"export", "late", "-o", "x.csv"}, []string{spikes}},
		{[]string{"export", "late", "-o", "x.csv", "--table", "potentials"}, []string{potentials}},
		{[]string{"export", "late/spikes.parquet", "-o", "x.csv"}, []string{spikes}},
		{[]string{"resume", "late"}, all},
		{[]string{"replay", "late", "--quiet", "--backend", "cpu"}, []string{genome, from}},
	} {
		code, want, stderr := call(c.args...)
		require.Zero(t, code, "%v: %s", c.args, stderr)
		for _, file := range append([]string{manifest}, all...) {
			path := filepath.Join("late", file)
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			kinds := damages
			if testing.Short() || len(c.reads) > 2 { // what reads much reads it in one way
				kinds = damages[:2]
			}
			for _, damage := range kinds {
				reads := slices.Contains(c.reads, file)
				if file != manifest && !reads && damage.name != "removed" || file == manifest && damage.name == "flipped" {
					continue // nothing vouches for the manifest itself: a flip may read as another name
				}
				require.NoError(t, damage.do(path, whole))
				code, stdout, stderr := call(c.args...)
				mended(t, path, whole)
				met++
				switch {
				case file == manifest && c.args[1] == "late/spikes.parquet":
					require.Zero(t, code, "%v without a manifest", c.args)
					require.Contains(t, stderr, "late/spikes.parquet is read by itself", "%v", c.args)
				case file == manifest:
					require.Contains(t, []int{exitFile, exitDamaged}, code, "%v, %s %s", c.args, file, damage.name)
					require.Contains(t, stderr, path)
				case reads:
					want := exitDamaged
					if c.args[1] == path && (damage.name == "removed" || damage.name == "a folder") {
						want = exitFile // it is no file of a run that was asked for
					}
					require.Equal(t, want, code, "%v, %s %s: %s", c.args, file, damage.name, stderr)
					require.Contains(t, stderr, path, "%v, %s", c.args, damage.name)
					require.NotContains(t, stdout, "are equal")
				default:
					require.Zero(t, code, "%v, %s %s: %s", c.args, file, damage.name, stderr)
					require.Equal(t, want, stdout, "%v, %s %s", c.args, file, damage.name)
				}
			}
		}
	}
	require.Greater(t, met, 100)
}

// failing is a disk on which checkpoints cannot be written.
type failing struct{ checkpoint.OS }

func (failing) Create(string) (checkpoint.File, error) { return nil, errors.New("planted") }

// TestDamageOfUnfinishedRuns: a run without an end has no hashes in its manifest. Commands read it and say so; what its .sums
// file vouches for is proved, and what it does not is told.
func TestDamageOfUnfinishedRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	require.NoError(t, os.WriteFile("net.yaml", []byte(smallGenome), 0o600))
	ctx := context.WithValue(undrawn(), diskKey{}, failing{})
	var stderr bytes.Buffer
	code := execute(ctx, []string{"run", "net.yaml", "--out", "cut", "--checkpoint-every", "20", "--backend", "cpu", "--threads", "1"}, &bytes.Buffer{}, &stderr)
	require.NotZero(t, code)
	require.Contains(t, stderr.String(), "planted")
	require.NoFileExists(t, "cut/spikes.parquet")
	require.NoError(t, os.Mkdir("pictures", 0o700))
	for _, c := range []struct {
		args   []string
		genome bool // is read
	}{
		{[]string{"plot", "cut", "-o", "pictures", "--format", "svg"}, true},
		{[]string{"plot", "cut", "-o", "pictures", "--format", "svg", "--rates"}, false},
		{[]string{"stats", "cut"}, false},
		{[]string{"stats", "cut", "--until", "3"}, false},
		{[]string{"report", "cut", "-o", "r.html"}, true},
		{[]string{"diff", "cut", "cut"}, true},
		{[]string{"export", "cut", "-o", "x.csv"}, false},
	} {
		code, want, told := call(c.args...)
		require.Zero(t, code, "%v: %s", c.args, told)
		require.Contains(t, told, "cut: the run is failed, its manifest has no hashes of its files yet")
		require.NotContains(t, told, "bytes of spikes.arrows")
		for _, file := range []string{"spikes.arrows", "spikes.sums", "genome.yaml"} {
			path := filepath.Join("cut", file)
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			kinds := damages
			if testing.Short() || c.args[0] == "report" || c.args[0] == "plot" { // to draw takes time
				kinds = damages[:2]
			}
			for _, damage := range kinds {
				require.NoError(t, damage.do(path, whole))
				code, stdout, told := call(c.args...)
				mended(t, path, whole)
				switch {
				case file == "genome.yaml" && !c.genome:
					require.Zero(t, code, "%v, %s %s: %s", c.args, file, damage.name, told)
					require.Equal(t, want, stdout)
				case file == "spikes.sums" && (damage.name == "empty" || damage.name == "truncated"): // as a crash leaves it
					require.Zero(t, code, "%v, %s %s: %s", c.args, file, damage.name, told)
					require.Contains(t, told, "bytes of spikes.arrows", "%v, %s", c.args, damage.name)
				case file == "spikes.sums" && damage.name == "removed":
					require.Equal(t, exitFile, code, "%v: %s", c.args, told)
					require.Contains(t, told, "no recording of spikes")
				default:
					require.Contains(t, []int{exitFile, exitDamaged}, code, "%v, %s %s: %s", c.args, file, damage.name, told)
					require.Contains(t, told, strings.TrimSuffix(path, filepath.Ext(path)), "%v, %s", c.args, damage.name)
				}
			}
		}
	}
}

// TestSilentNetworksDiffer: two networks in which nothing fires have one digest; the connectome tells them apart.
func TestSilentNetworksDiffer(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, weight := range map[string]string{"one": "1", "two": "2", "again": "1"} {
		text := "burst: v1\nname: silent\nareas: [{name: a, neurons: 5}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: " + weight + "}]\n"
		require.NoError(t, os.WriteFile(name+".yaml", []byte(text), 0o600))
		code, _, stderr := call("run", name+".yaml", "--bursts", "9", "--quiet", "--backend", "cpu", "--out", name)
		require.Zero(t, code, stderr)
	}
	code, stdout, stderr := call("diff", "one", "again")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "one and again are equal")
	code, stdout, stderr = call("diff", "one", "two")
	require.Equal(t, exitAssertion, code)
	require.Contains(t, stderr, "their networks, of connectomes ")
	require.Regexp(t, `(?m)^connectome +[0-9a-f]{16} +[0-9a-f]{16}$`, stdout)
	require.NotRegexp(t, `(?m)^digest `, stdout)
	code, stdout, stderr = call("report", "one")
	require.Zero(t, code, stderr)
	page, err := os.ReadFile(filepath.Clean(stdout[:len(stdout)-1]))
	require.NoError(t, err)
	require.Regexp(t, `<th>connectome</th><td>[0-9a-f]{16}</td>`, string(page))
}
