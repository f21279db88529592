package main

import (
	"burst/internal/slow"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPredicted: networks reach the digests, spikes, connectome and state hashes that docs/predict works out from the documentation alone.
func TestPredicted(t *testing.T) {
	slow.Short(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "CI must have python3")
		t.Skip("no python3")
	}
	var stderr bytes.Buffer
	c := exec.Command(python, "-B", "../../docs/predict/predict.py")
	c.Stderr = &stderr
	text, err := c.Output()
	require.NoError(t, err, stderr.String())
	var predicted []struct {
		Genome     map[string]any
		Digest     string
		Spikes     uint64
		State      string
		Connectome *string // null with a model of the genome's own
	}
	require.NoError(t, json.Unmarshal(text, &predicted))
	require.Len(t, predicted, 5)
	var raw []struct{ Genome json.RawMessage }
	require.NoError(t, json.Unmarshal(text, &raw))
	t.Chdir(t.TempDir())
	hashes := 0
	for i, p := range predicted {
		name := fmt.Sprint(p.Genome["name"])
		require.NoError(t, os.WriteFile("g.yaml", raw[i].Genome, 0o600))
		for _, backend := range []string{"reference", "cpu"} {
			code, stdout, stderr := call("run", "g.yaml", "--no-out", "--json", "--digest", "every=100000", "--backend", backend)
			require.Zero(t, code, "%s: %s", name, stderr)
			var r result
			require.NoError(t, json.Unmarshal([]byte(stdout), &r))
			require.Equal(t, p.Digest, r.Digest, "%s on %s", name, backend)
			require.Equal(t, p.Spikes, r.Spikes, name)
			require.Contains(t, stderr, "state "+p.State, "%s on %s", name, backend)
			require.Greater(t, r.Spikes, uint64(50), name)
			if p.Connectome != nil {
				hashes++
				require.Equal(t, *p.Connectome, r.Connectome, name)
			}
		}
	}
	require.Equal(t, 6, hashes)
}
