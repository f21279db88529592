package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWindows are given in bursts or in simulated time.
func TestWindows(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := call("run", "poisson-lif", "--bursts", "300", "--out", "ran", "--backend", "cpu", "--quiet") // steps of 0.1 ms
	require.Zero(t, code, stderr)
	stats := func(args ...string) string {
		code, stdout, stderr := call(append([]string{"stats", "ran", "--json"}, args...)...)
		require.Zero(t, code, stderr)
		return stdout
	}
	part := stats("--from", "100", "--until", "250")
	require.Equal(t, part, stats("--from", "10ms", "--until", "0.025s"))
	require.NotEqual(t, part, stats("--from", "10ms"))
	require.Equal(t, stats(), stats("--from", "0s", "--until", "0"))
	for text, want := range map[string]string{
		"10.05ms": "--from 10.05ms is 100.5 bursts of 0.1 ms, want a whole number",
		"x":       `--from "x", want a burst such as 2000, or simulated time such as 200ms`,
		"-1ms":    `--from "-1ms", want a burst such as 2000, or simulated time such as 200ms`,
		"1s":      "--from, --until: no burst from 10000 until 300; the run has bursts 0 to 299",
	} {
		code, _, stderr := call("stats", "ran", "--from", text)
		require.Equal(t, []any{2, "burst: " + want + "\n"}, []any{code, stderr})
	}
}
