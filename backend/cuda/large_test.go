package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// uneven is a network of neurons that all fire in burst 0 and hardly ever after: neuron hub has rows synapses, the others
// one or none each, with delays 1 to delays. Every level of the kernels' trees of sums is in use.
func uneven(neurons, hub, hubSynapses uint32, delays int) *connectome.Connectome {
	r := rand.New(rand.NewPCG(5, uint64(neurons)))
	c := &connectome.Connectome{
		Name: "uneven", RunSeed: 77, Timestep: 1, Scale: 1000, Neurons: neurons, Ports: neurons, MaxDelay: delays,
		Areas: []connectome.Area{areaOf("feagi", connectome.Span{Count: neurons}, map[string]float32{"threshold": 2.5, "threshold_limit": 1e30, "keep": 0.99})},
	}
	c.Areas[0].Chance.Const = 1 << 32
	c.Row = append(c.Row, 0)
	for n := range neurons {
		synapses := uint32(0)
		switch {
		case n == hub:
			synapses = hubSynapses
		case n%3 != 1:
			synapses = 1
		}
		for k := range synapses {
			c.Target = append(c.Target, r.Uint32N(neurons))
			c.Weight = append(c.Weight, r.Int32N(3000)-900)
			c.Delay.Short = append(c.Delay.Short, uint8(1+k*uint32(delays)/synapses))
		}
		c.Row = append(c.Row, uint64(len(c.Target)))
	}
	return c
}

// everyone makes all of n neurons fire.
func everyone(n uint32) []engine.Stimulus {
	in := make([]engine.Stimulus, n)
	for i := range in {
		in[i] = engine.Stimulus{Port: uint32(i), Amount: 2600 + int32(i%5)}
	}
	return in
}

// sameAsReference runs both from a fresh state and compares every burst, and the state at the end.
func sameAsReference(t *testing.T, c *connectome.Connectome, tune tuning, bursts int) {
	t.Helper()
	w := engine.Want{FCL: true}
	b, err := open(c, Options{Want: w}, tune)
	require.NoError(t, err)
	ref, err := reference.Open(c, w)
	require.NoError(t, err)
	var got, want engine.Burst
	spikes := 0
	for i := range bursts {
		var in []engine.Stimulus
		if i == 0 {
			in = everyone(c.Ports)
		}
		require.NoError(t, b.Step(in, &got))
		require.NoError(t, ref.Step(in, &want))
		if len(want.Fired) == 0 { // nil and empty are the same
			want.Fired, got.Fired = nil, got.Fired[:len(got.Fired):len(got.Fired)]
			require.Empty(t, got.Fired, "burst %d", i)
			got.Fired = nil
		}
		require.Equal(t, want, got, "burst %d", i)
		spikes += len(want.Fired)
	}
	require.Greater(t, spikes, int(c.Neurons), "some neurons fire by synapses too")
	sameState(t, ref, b)
	require.NoError(t, b.Close())
}

func sameState(t *testing.T, ref, b engine.Backend) {
	t.Helper()
	want, got := &engine.State{}, &engine.State{}
	require.NoError(t, ref.ReadState(want))
	require.NoError(t, b.ReadState(got))
	require.Equal(t, len(want.Queues), len(got.Queues))
	for d := range want.Queues {
		require.Equal(t, append([]uint32{}, want.Queues[d]...), append([]uint32{}, got.Queues[d]...), "queue %d", d+1)
	}
	want.Queues, got.Queues = nil, nil
	require.Equal(t, want, got)
}

// TestTuning changes what must not change results: threads a block, pairs a round, entries of the page-locked buffers.
func TestTuning(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	c := uneven(2177, 1000, 5003, 5)
	for _, tune := range []tuning{
		defaults,
		{threads: 32, entries: 1 << 20, plain: true},
		{threads: 1024, entries: 7, plain: true},
		{threads: 96, pairs: 1, entries: 1000, plain: true},
		{threads: 256, pairs: 1025, entries: 1, plain: true},
	} {
		tune.staging = defaults.staging
		sameAsReference(t, c, tune, 8)
	}
}

// TestUnevenRows balances one row of a million synapses against a third of a million of one.
func TestUnevenRows(t *testing.T) {
	slow.Test(t)
	cudatest.Anywhere(t)
	if testing.Short() {
		t.Skip("a million synapses")
	}
	sameAsReference(t, uneven(1<<19+1, 70001, 1<<20, 1), defaults, 4)
}
