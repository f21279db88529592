package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"burst/internal/slow"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// plasticText is a network of 200 neurons that learns, by a rule whose variable grows with the weight.
const plasticText = `burst: v1
name: school
plasticity:
  - {name: odd, synapse: {c: %s}, post: {y: {tau: 9 ms, add: 1}}, bounds: [0, 2], on_pre: ["c = c*(w*500)", "w = w + 0.1 - 0.05*y"]}
areas:
  - {name: eye, neurons: 70, model: poisson, params: {rate: 300 Hz}}
  - {name: mind, neurons: 130, threshold: 4}
projections:
  - {from: eye, to: mind, rule: fixed_indegree, indegree: 20, weight: "uniform(0, 0.8)", delay: 3, plasticity: odd}
`

// TestPlasticProcesses: processes that share a network that learns end with the weights of one, go on from what they have saved, and
// the one that has a synapse names it when its numbers run away.
func TestPlasticProcesses(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := t.TempDir()
	sound, wild := filepath.Join(dir, "sound.yaml"), filepath.Join(dir, "wild.yaml")
	require.NoError(t, os.WriteFile(sound, fmt.Appendf(nil, plasticText, "0"), 0o600))
	require.NoError(t, os.WriteFile(wild, fmt.Appendf(nil, plasticText, "1.5"), 0o600))
	weights := func(folder string) string {
		f, err := openFolder(folder)
		require.NoError(t, err)
		require.Len(t, f.Manifest.WeightDigest, 16)
		return f.Manifest.WeightDigest
	}
	one, three := filepath.Join(dir, "one"), filepath.Join(dir, "three")
	code, _, stderr := call("run", sound, "--bursts", "90", "--backend", "reference", "--out", one, "--quiet")
	require.Zero(t, code, stderr)
	want := weights(one)
	code, _, stderr = mpirun(t, 3, nil, "run", sound, "--bursts", "90", "--out", three, "--quiet", "--checkpoint-every", "40", "--expect-weights", want)
	require.Zero(t, code, stderr)
	require.Equal(t, want, weights(three))
	kept := func(folder string) string {
		b, err := os.ReadFile(filepath.Join(folder, "histograms.parquet"))
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, kept(one), kept(three), "histograms are of all weights, whatever process has them")
	code, _, stderr = mpirun(t, 3, nil, "run", sound, "--bursts", "90", "--no-out", "--quiet", "--record", "weights=5%")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--record weights: a process that holds a part of the network does not know all synapses of projections[0]; want one process for chosen ones")
	from := filepath.Join(three, run.CheckpointFolder, "00000000000000000040.checkpoint")
	code, _, stderr = mpirun(t, 2, nil, "run", sound, "--from", from, "--bursts", "50", "--no-out", "--quiet", "--expect-weights", want)
	require.Zero(t, code, stderr)

	if slow.Asked() {
		learnt := filepath.Join(dir, "learnt")
		code, _, stderr = call("run", sound, "--bursts", "40", "--backend", "reference", "--weights-from", one, "--out", learnt, "--quiet")
		require.Zero(t, code, stderr)
		code, _, stderr = mpirun(t, 2, nil, "run", sound, "--bursts", "40", "--weights-from", three, "--no-out", "--quiet", "--expect-weights", weights(learnt))
		require.Zero(t, code, stderr)
		code, _, stderr = mpirun(t, 2, nil, "run", sound, "--seed", "9", "--bursts", "40", "--weights-from", three, "--no-out", "--quiet")
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, "want the same genome and seed but for plasticity")
		code, _, stderr = mpirun(t, 2, nil, "run", sound, "--weights-from", filepath.Join(dir, "none"), "--no-out", "--quiet")
		require.Equal(t, exitFile, code, stderr)
	}

	code, _, first := call("run", wild, "--bursts", "90", "--backend", "reference", "--no-out", "--quiet")
	require.Equal(t, exitOther, code)
	require.Regexp(t, `neuron \d+ of area "mind" \(id \d+\): synapse variable 0 of projections\[0\] \(odd\), from neuron \d+ of area "eye" \(id \d+\) with delay 3, is \+Inf after burst \d+;`, first)
	code, _, stderr = mpirun(t, 3, nil, "run", wild, "--bursts", "90", "--no-out", "--quiet")
	require.NotZero(t, code)
	require.Regexp(t, `synapse variable 0 of projections\[0\] \(odd\), from neuron \d+ of area "eye"`, stderr)
	after := regexp.MustCompile(`after burst \d+;`)
	require.Equal(t, after.FindString(first), after.FindString(stderr))
}
