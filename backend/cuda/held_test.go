package cuda

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// quiet is a network that path held takes: areas of lif_event, one of which has constants of its own, between sources, with weights that add
// up to 0 now and then. All delays are one; rows have so many synapses.
func quiet(delay, synapses int, more string) (*connectome.Connectome, error) {
	g, err := genome.Parse("quiet.yaml", []byte(quietText(delay, synapses, more)), genomes.Open)
	if err != nil {
		return nil, err
	}
	return connectome.Build(g, connectome.Options{})
}

// quietText is its genome.
func quietText(delay, synapses int, more string) string {
	return fmt.Sprintf(`burst: v1
timestep: 0.1 ms
seed: 5
areas:
  - {name: kick, neurons: 70, model: poisson, params: {rate: 1000 Hz}}
  - {name: a, neurons: 310, model: lif_event, params: {tau: 20 ms, refractory: 0.3 ms, reset: 14 mV}, drive: {constant: 19 mV}, init: {V: "uniform(0 mV, 20 mV)"}}
  - {name: list, neurons: 5, model: spike_list, spikes: [{neurons: [0..4], at: [3, 20, 21, 40, 41, 42]}]}
  - {name: b, neurons: 130, model: lif_event, params: {tau: 5 ms, threshold: "uniform(18 mV, 21 mV)", refractory: 0 ms, reset: 13 mV}, drive: {constant: 17 mV}}
  - {name: late, neurons: 40, model: poisson, params: {rate: 500 Hz}, from: 3 ms, until: 6 ms}
projections:
  - {from: kick, to: a, rule: fixed_outdegree, outdegree: %[2]d, weight: 2 mV, delay: %[1]d}
  - {from: kick, to: b, rule: fixed_outdegree, outdegree: 5, weight: 3 mV, delay: %[1]d}
  - {from: list, to: b, rule: all_to_all, weight: 4 mV, delay: %[1]d}
  - {from: a, to: a, rule: fixed_outdegree, outdegree: %[2]d, weight: 1 mV, delay: %[1]d}
  - {from: a, to: b, rule: fixed_outdegree, outdegree: 3, weight: 2 mV, delay: %[1]d}
  - {from: b, to: a, rule: fixed_outdegree, outdegree: %[2]d, weight: -2 mV, delay: %[1]d}
  - {from: late, to: b, rule: fixed_outdegree, outdegree: 9, weight: 2 mV, delay: %[1]d}
%[3]s`, delay, synapses, more)
}

// TestHeld compares launches whose blocks hold their neurons with the reference, burst for burst and state for state: launches of one
// burst and of many, single bursts between them, states that go on in another backend, and state variables of all bursts.
func TestHeld(t *testing.T) {
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 8)
	}
	for name, v := range map[string]struct {
		delay, synapses int
		w               engine.Want
		change          func(*tuning)
	}{
		"usual":                {18, 20, engine.Want{}, func(*tuning) {}},
		"least delay":          {heldLag, 30, engine.Want{}, func(t *tuning) { t.heldBlocks = 3 }},
		"long delay":           {300, 9, engine.Want{}, func(t *tuning) { t.heldBlocks = 2 }},
		"one block":            {7, 20, engine.Want{}, func(t *tuning) { t.heldBlocks = 1 }},
		"many rows, few warps": {6, 100, engine.Want{}, func(t *tuning) { t.batchThreads = 128 }},
		"variables":            {6, 20, engine.Want{Values: []engine.Probe{{Neuron: 71}, {Neuron: 300}, {Neuron: 390}, {Neuron: 500}}}, func(*tuning) {}},
		"launches of one":      {8, 20, engine.Want{Values: []engine.Probe{{Neuron: 100}}}, func(t *tuning) { t.batch = 1 }},
		"long launches":        {11, 20, engine.Want{}, func(t *tuning) { t.batch = 64 }},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "usual" {
				slow.Short(t)
			}
			tune := defaults
			tune.heldMost = 1 << 10
			tune.batchThreads, tune.batch = 192, 7
			v.change(&tune)
			c, err := quiet(v.delay, v.synapses, "")
			require.NoError(t, err)
			asReference(t, c, v.w, tune, pathHeld, name)
		})
	}
}

// TestHeldManyRows is TestHeld for bursts in which more rows are due than a block knows of.
func TestHeldManyRows(t *testing.T) {
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 8)
	}
	text := strings.NewReplacer("kick, neurons: 70,", "kick, neurons: 1200,", "rate: 1000 Hz", "rate: 4000 Hz", "weight: 2 mV", "weight: 0.2 mV").Replace(quietText(6, 12, ""))
	c, err := connectome.Build(parsed(t, text), connectome.Options{})
	require.NoError(t, err)
	tune := defaults
	tune.heldMost = 1 << 10
	tune.batchThreads, tune.batch, tune.heldBlocks = 160, 7, 3
	asReference(t, c, engine.Want{}, tune, pathHeld, "many rows")
}

// TestHeldStimuli compares single bursts with a caller's stimuli and launches with the genome's with the reference.
func TestHeldStimuli(t *testing.T) {
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 8)
	}
	c, err := quiet(9, 20, `stimuli:
  - {area: a, neurons: [3, 99, 300], amount: 9 mV, at: 12}
  - {area: b, neurons: [0..129], amount: 1 mV, every: 7}
`)
	require.NoError(t, err)
	tune := defaults
	tune.heldMost = 1 << 10
	tune.batchThreads, tune.batch = 160, 9
	b, err := open(c, Options{}, tune)
	require.NoError(t, err)
	require.Equal(t, pathHeld, pathOf(b))
	likeReferenceFor(t, b, c, engine.Want{}, 60, thirds(c))
	require.NoError(t, b.Close())
}

// TestHeldTwins: trials share what cut_held has found, and each has its own digest; networks that the device has made have the same paths.
func TestHeldTwins(t *testing.T) {
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 8)
	}
	c, err := quiet(9, 20, "")
	require.NoError(t, err)
	tune := defaults
	tune.heldMost = 1 << 10
	tune.batchThreads = 160
	b, err := open(c, Options{}, tune)
	require.NoError(t, err)
	digests := map[uint64]uint64{}
	for seed := range uint64(3) {
		r := c.Reseeded(seed)
		other := tune
		other.heldBlocks = 0
		alone, err := open(r, Options{}, other)
		require.NoError(t, err)
		require.Equal(t, pathEvent, pathOf(alone))
		digests[seed] = digestOf(t, r, alone)
		twin, err := b.(*backend).Twin(r)
		require.NoError(t, err)
		require.Equal(t, pathHeld, pathOf(twin))
		require.Equal(t, b.(*backend).plan.ptr[bufHeldCut], twin.(*backend).plan.ptr[bufHeldCut])
		require.Equal(t, digests[seed], digestOf(t, r, twin))
	}
	require.Len(t, digests, 3)
	require.NoError(t, b.Close())
}

// digestOf runs 60 bursts and closes b.
func digestOf(t *testing.T, c *connectome.Connectome, b engine.Backend) uint64 {
	t.Helper()
	e := engine.New(c, b, engine.Options{})
	require.NoError(t, e.Run(t.Context(), 60))
	require.NoError(t, b.Close())
	return e.Digest()
}

// TestHeldMade: rows that the device has made are cut, too.
func TestHeldMade(t *testing.T) {
	slow.Short(t)
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 8)
	}
	tune := defaults
	tune.heldMost = 1 << 10
	tune.batchThreads = 160
	b, _, err := openMade(t, parsed(t, quietText(9, 20, "")), []int{0}, tune)
	require.NoError(t, err)
	require.Equal(t, pathHeld, pathOf(b))
	c, err := quiet(9, 20, "")
	require.NoError(t, err)
	likeReferenceFor(t, b, c, engine.Want{}, 40, thirds(c))
	require.NoError(t, b.Close())
}
