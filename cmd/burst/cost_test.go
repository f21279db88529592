package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCostIsWhatWasForeseen holds the bytes that inspect works out from the genome to those that are live once the network
// is built and opened on the backend that keeps no copy, and the time to the sum of its parts.
func TestCostIsWhatWasForeseen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`burst: v1
name: cost
bursts: 333
areas:
  - {name: a, neurons: 7001, model: lif, drive: {poisson: {rate: 900 Hz, weight: 1 mV}}}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 600, weight: 0.01 mV, delay: "uniform(1, 9)"}
`), 0o600))
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	code, stdout, stderr := call("inspect", path, "--cost", "--threads", "2", "--json")
	require.Zero(t, code, stderr)
	var v inspection
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	require.EqualValues(t, 333, v.Cost.Bursts)
	found := 0
	for _, b := range v.Cost.Backends {
		if b.Backend == "cuda" {
			require.Greater(t, b.Device, v.Bytes.Device*9/10)
			continue
		}
		require.True(t, b.Available)
		if b.Backend == "reference" {
			require.InEpsilon(t, v.Bytes.Host, b.Host, 0.05)
		}
		require.Greater(t, b.Host, v.Bytes.Host*95/100, b.Backend)
		require.Positive(t, b.Burst)
		require.Greater(t, b.Total, v.Cost.Build)
		found++
	}
	require.Equal(t, 2, found)
}
