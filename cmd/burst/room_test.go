package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRooms: import and inspect say how far weights without a ceiling may go, and --plasticity-window makes rules without a window learn.
func TestRooms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, made := filepath.Join(dir, "g.json"), filepath.Join(dir, "g.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`{"version": "3.0", "blueprint": {
 "c__one": {"psp_uniform_distribution": true, "cortical_mapping_dst": {"c__two": [["projector", [1, 1, 1], 2, true, 1, 1, 1]]}}, "c__two": {}}}`), 0o600))
	const room = "projections[0], c__one to c__two: weights within 0…262144; one that passes them ends the run"
	code, out, said := call("import", "feagi", file, "--plasticity-window", "2", "--keep-unlearnable")
	require.Zero(t, code, said)
	require.Contains(t, out, "plasticity: {rule: feagi, window: 2,")
	require.Contains(t, said, room)
	require.NoError(t, os.WriteFile(made, []byte(out), 0o600))
	code, out, said = call("inspect", made)
	require.Zero(t, code, said)
	require.Contains(t, out, room)
	code, out, said = call("inspect", made, "--json")
	require.Zero(t, code, said)
	var v inspection
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Equal(t, []inspectRoom{{0, "c__one", "c__two", 0, 262144, true}}, v.Rooms)
	require.Equal(t, []string{
		"projections[0] to [2], a to b: weights stay within 0…9", "projections[3], a to b: weights within 0…9; one that passes them ends the run",
		"projections[5], a to b: weights stay within 0…9",
	}, roomLines([]inspectRoom{{0, "a", "b", 0, 9, false}, {1, "a", "b", 0, 9, false}, {2, "a", "b", 0, 9, false}, {3, "a", "b", 0, 9, true}, {5, "a", "b", 0, 9, false}}))
	code, out, said = call("import", "feagi", file, "--plasticity-window", "2")
	require.Zero(t, code, said)
	require.NotContains(t, out, "projections", "FEAGI refuses the rule")
}
