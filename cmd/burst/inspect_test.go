package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInspectLargerThanTheMachine: sizes of a network that no machine here can build are shown, whole and in parts, and said to be too large.
func TestInspectLargerThanTheMachine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "large.yaml")
	text := "burst: v1\nareas: [{name: a, neurons: 4000000}]\nprojections: [{from: a, to: a, rule: fixed_indegree, indegree: 20000, weight: 1}]\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	code, stdout, stderr := call("inspect", file, "--parts", "2")
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, "80,000,000,000")
	require.Regexp(t, `this machine has [0-9.]+ [GM]iB available, too little to build it`, stdout)
	require.Regexp(t, `\n1 +[12],\d{3},\d{3} +\d\d,\d{3},\d{3},\d{3} +`, stdout)
	code, _, stderr = call("inspect", file, "--cost")
	require.Equal(t, exitLimit, code)
	require.Contains(t, stderr, "building needs")
}
