package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestR29NoGoroutineIsLeft: commands that start goroutines (threads, recordings, checkpoints, signals) end them.
func TestR29NoGoroutineIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t)
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		{"run", "quickstart", "--quiet", "--out", out, "--checkpoint-every", "50", "--threads", "2"},
		{"replay", out, "--quiet"}, {"verify", "quickstart", "--threads", "1,2", "--bursts", "9"}, {"export", out, "-o", out + ".npz"},
	} {
		code, _, stderr := call(args...)
		require.Zero(t, code, stderr)
	}
	t.Log("R29: run, replay, verify and export leave no goroutine")
}
