package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLearningGuide runs the commands of "Seeing what was learnt" in docs/plasticity.md, for fewer bursts.
func TestLearningGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/plasticity.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Seeing what was learnt\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	dir := t.TempDir()
	ran := map[string]string{}
	for line := range strings.Lines(section) {
		command, is := strings.CutPrefix(line, "    burst ")
		if !is {
			continue
		}
		command, _, _ = strings.Cut(command, "#")
		words := strings.Fields(command)
		for i, word := range words {
			if word == "learnt" || word == "tested" || word == "network" {
				words[i] = filepath.Join(dir, word)
			}
			if word == "--duration" {
				words[i+1] = "100ms"
			}
		}
		if words[0] == "run" && !strings.Contains(command, "--duration") {
			words = append(words, "--duration", "500ms")
		}
		code, stdout, stderr := call(words...)
		require.Zero(t, code, "%s\n%s", command, stderr)
		ran[words[0]] += stdout
	}
	require.Contains(t, ran["stats"], "inputs to neuron (stdp)     1,000      0  0.005047  0.002928        21.2 %         21.1 %\n")
	require.Contains(t, section, "     1,000          0  0.005047  0.002928        21.2 %         21.1 %\n", "as the guide shows it")
	for _, name := range []string{"weights.png", "weight-traces.png", "weight-matrix.png"} {
		require.Contains(t, ran["plot"], name)
	}
	require.Contains(t, ran["export"], "with the weights after 5,000 bursts")
	code, _, stderr := call("run", filepath.Join(dir, "network", "genome.yaml"), "--bursts", "10", "--no-out", "--quiet")
	require.Zero(t, code, stderr)
	f, err := openFolder(filepath.Join(dir, "tested"))
	require.NoError(t, err)
	require.Equal(t, "off", f.Manifest.Learning[0].Rule)
	require.Equal(t, "stdp", f.Manifest.Weights.Learning[0].Rule)
}
