package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"burst/backend"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/heap"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// liveBytes are the bytes that are live once a network is built, and once it is opened on the reference backend too.
type liveBytes struct{ Network, Opened uint64 }

// measure prints the liveBytes of the network at path. It is the program's only work: in a process with other tests, what these leave
// behind is collected at any time.
func measure(path string) error {
	g, err := genome.Load(path)
	if err != nil {
		return err
	}
	before := heap.Live()
	c, err := connectome.Build(g, connectome.Options{Threads: 2})
	if err != nil {
		return err
	}
	v := liveBytes{Network: heap.Live() - before}
	opened, err := reference.Open(c, engine.Want{})
	if err != nil {
		return err
	}
	v.Opened = heap.Live() - before
	runtime.KeepAlive(c)
	if err := opened.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(v)
}

// TestPredictedCost holds the bytes that inspect tells to those that are live once the network is built and opened on
// the backend that keeps no copy (what the others take, their own tests count), and the time to the sum of its parts.
func TestPredictedCost(t *testing.T) {
	slow.Short(t)
	if testing.Short() {
		t.Skip("memory is what it is without -short, whose use is to look for races")
	}
	path := filepath.Join(t.TempDir(), "net.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`burst: v1
name: cost
bursts: 333
areas:
  - {name: a, neurons: 3001, model: lif, drive: {poisson: {rate: 900 Hz, weight: 1 mV}}}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 600, weight: 0.01 mV, delay: "uniform(1, 9)"}
`), 0o600))
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	code, stdout, stderr := call("inspect", path, "--cost", "--threads", "2", "--json")
	require.Zero(t, code, stderr)
	var v inspection
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	require.EqualValues(t, 333, v.Cost.Bursts)
	g, err := genome.Load(path)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{Threads: 2})
	require.NoError(t, err)
	child := exec.Command(os.Args[0])
	child.Env, child.Stderr = append(os.Environ(), measured+"="+path), os.Stderr
	out, err := child.Output()
	require.NoError(t, err)
	var live liveBytes
	require.NoError(t, json.Unmarshal(out, &live))
	found := 0
	for _, b := range v.Cost.Backends {
		host, device := backend.Footprint(b.Backend, c, backend.Options{Threads: 2})
		require.Equal(t, device, b.Device, b.Backend)
		require.InEpsilon(t, live.Network+host, b.Host, 0.01, b.Backend)
		if b.Backend == "cuda" {
			require.Greater(t, b.Device, v.Bytes.Device*5/9, "5 bytes a synapse instead of 9, for its weights are few")
			continue
		}
		require.True(t, b.Available)
		if b.Backend == "reference" {
			require.InEpsilon(t, live.Opened, b.Host, 0.01)
			require.InEpsilon(t, v.Bytes.Host, b.Host, 0.05)
		}
		require.Positive(t, b.Burst)
		require.Greater(t, b.Total, v.Cost.Build)
		found++
	}
	require.Equal(t, 2, found)
}
