package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
)

// TestValidateTellsOfTooLittleMemory: that this machine cannot build a network is no mistake of its genome, and is said in its line. More
// than any machine can hold is a mistake, as is a list that could not be read for want of memory.
func TestValidateTellsOfTooLittleMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o600)) }
	write("big.yaml", "burst: v1\nareas: [{name: a, neurons: 4000000}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: 1}]\n") // 128 TB
	write("small.yaml", "burst: v1\nareas: [{name: a, neurons: 4}]\n")
	write("bad.yaml", "burst: v1\nareas: [{name: a, neurons: 4000000}]\nprojections: [{from: a, to: a, rule: fixed_indegree, indegree: 5000000, multapses: false, weight: 1}]\n")
	code, stdout, stderr := call("validate", "small.yaml", "big.yaml")
	require.Equal(t, exitOK, code, stderr)
	require.Regexp(t, `^small\.yaml: ok\nbig\.yaml: ok, but building it needs at least 1[0-9]{5}\.[0-9]{2} GiB of memory, and this machine has [0-9.]+ [GM]iB free\n$`, stdout)
	require.Empty(t, stderr)

	code, stdout, stderr = call("validate", "--json", "small.yaml", "big.yaml")
	require.Equal(t, exitOK, code, stderr)
	var list []verdict
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	require.Equal(t, []bool{true, true}, []bool{list[0].Valid, list[1].Valid})
	require.Zero(t, list[0].Needs)
	require.Zero(t, list[0].Free)
	require.Greater(t, list[1].Needs, uint64(8*16e12), "8 bytes a synapse")
	require.InEpsilon(t, connectome.AvailableMemory(), list[1].Free, 0.5)

	code, _, stderr = call("validate", "bad.yaml")
	require.Equal(t, exitGenome, code)
	require.Contains(t, stderr, "projections[0].indegree")

	write("lists.yaml", "burst: v1\nareas: [{name: a, neurons: 4000000}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: 1}, {from: a, to: a, rule: edges, file: w.csv}]\n")
	write("w.csv", "source,target,weight\n1,2,3\n")
	code, stdout, stderr = call("validate", "lists.yaml")
	require.Equal(t, exitLimit, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "building needs")
	write("w.csv", "source,target,weight\n1,4000000,3\n")
	code, _, stderr = call("validate", "lists.yaml")
	require.NotEqual(t, exitOK, code, stderr)
}
