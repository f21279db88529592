package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"burst/checkpoint"
	"burst/internal/cuda/driver"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestBranch begins a run from a checkpoint: with the seed it was saved with it is the same run, with another one it is
// another, and with another network it is refused.
func TestBranch(t *testing.T) {
	t.Parallel()
	x := newTrial(t)
	from := filepath.Join(x.dir, "whole", run.CheckpointFolder, checkpoint.Name(590))
	code, stdout, stderr := call("run", x.genome, "--from", from, "--bursts", "10", "--quiet", "--backend", "cpu", "--out", filepath.Join(x.dir, "same"))
	require.Zero(t, code, stderr)
	require.Equal(t, x.want.digest+"\n", stdout)
	code, stdout, stderr = call("run", x.genome, "--from", from, "--run-seed", "5", "--bursts", "10", "--json", "--backend", "cpu", "--out", filepath.Join(x.dir, "other"))
	require.Zero(t, code, stderr)
	var v struct {
		Digest string
		First  uint64 `json:"first_burst"`
		Bursts uint64
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	require.NotEqual(t, x.want.digest, v.Digest)
	require.EqualValues(t, 590, v.First)
	require.EqualValues(t, 10, v.Bursts)
	f, err := runfolder.Open(filepath.Join(x.dir, "other"))
	require.NoError(t, err)
	require.EqualValues(t, 590, f.Manifest.From.Burst)
	require.EqualValues(t, 1077, f.Manifest.From.RunSeed)
	require.EqualValues(t, 5, f.Manifest.RunSeed)
	rates, err := f.Rates()
	require.NoError(t, err)
	require.EqualValues(t, 590, rates.First)
	code, _, stderr = call("replay", filepath.Join(x.dir, "other"), "--quiet")
	require.Zero(t, code, stderr)
	code, _, stderr = call("run", x.genome, "--from", from, "--seed", "3", "--no-out", "--quiet")
	require.Equal(t, exitDamaged, code)
	require.Contains(t, stderr, "is of the network")
}

// TestRunsThatFailSaySo: the manifest of a run that its own numbers ended is not left as running, and on every backend, one
// that runs many bursts in a launch too, it names the same burst, neuron and number.
func TestRunsThatFailSaySo(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "runaway.yaml")
	text := "burst: v1\nareas: [{name: wild, neurons: 21, model: izhikevich, params: {a: 0.02, b: 0.2, c: -65 mV, d: 8, threshold: 30 mV}}]\n" +
		"stimuli: [{area: wild, at: 10, neurons: [13], amount: -2000000}]\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	lib := driver.LibraryVariable + "=" + standIn(t)
	for _, name := range []string{"cpu", "reference", "cuda"} {
		out := filepath.Join(dir, name)
		code, _, stderr := asProgram(t, []string{lib}, "run", file, "--out", out, "--quiet", "--backend", name, "--checkpoint-every", "5")
		require.Equal(t, exitOther, code)
		const failure = `state variable u of neuron 13 of area "wild" (id 13) is +Inf after burst 14; a smaller timestep, or parameters and weights that cannot run away, keep it finite`
		require.Contains(t, stderr, failure, name)
		require.NotContains(t, stderr, "burst resume", "it would fail again")
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Equal(t, manifest.Failed, f.Manifest.Status)
		require.Equal(t, failure, f.Manifest.Failure)
	}
}
