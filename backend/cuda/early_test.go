package cuda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// waiting is a network of 277 neurons that fire by their inputs, some by draws, with rows of up to 300 synapses, of which every
// seventh is empty.
func waiting(delay func(r *rand.Rand, from, k uint32) uint16) *connectome.Connectome {
	const sources, neurons = 41, 277
	r := rand.New(rand.NewPCG(8, 4))
	lif := enginetest.LIF(103)
	lif.Constant("threshold").Const, lif.Constant("refractory").Const = 3, 1
	feagi := enginetest.FEAGI(133)
	feagi.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 300, 3_900_000_000)}
	n := enginetest.Net{RunSeed: 99, Areas: []connectome.Area{enginetest.Poisson(sources, 0.3), lif, feagi}}
	for from := range uint32(neurons) {
		synapses := r.Uint32N(301)
		if from%7 == 3 {
			synapses = 0
		}
		for k := range synapses {
			n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(neurons - sources), Weight: r.Int32N(300) - 147, Delay: delay(r, from, k)})
		}
	}
	return n.Build()
}

// TestDelayed compares launches whose rows are delivered early with the reference, burst for burst and state for state: launches of one burst
// and of many, single bursts between them, and states that are read in the middle and go on in another backend.
func TestDelayed(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for kind, n := range []struct {
		name  string
		delay func(r *rand.Rand, from, k uint32) uint16
		soon  bool // whether synapses with delay 1 are more than a few
		why   string
	}{
		{"all due at once", func(_ *rand.Rand, from, k uint32) uint16 { return uint16(1 + (from+k)/(276+280)) }, true, "hardly anything waits in the queue of later rows"},
		{"nothing due at once", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(2 + r.UintN(3)) }, false, "all of it does, for the next burst but one at the earliest"},
		{"one long delay", func(*rand.Rand, uint32, uint32) uint16 { return 15 }, false, "brunel networks have that"},
		{"mixed", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + r.UintN(4)) }, true, "rows are split everywhere"},
		{"by rows", func(_ *rand.Rand, from, _ uint32) uint16 { return uint16(1 + from%3) }, true, "each row goes one way"},
		{"shortest and longest", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + 254*(r.UintN(3)/2)) }, true, "the ring is full"},
		{"longest", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(255 - r.UintN(2)) }, false, "a ring of 256 slots, 255 in use"},
	} {
		c := waiting(n.delay)
		d := delayedOf(c, 1)
		for i, v := range []struct {
			name   string
			fcl    bool
			change func(*tuning)
		}{
			{"a back of two warps", true, func(*tuning) {}},
			{"a back of two warps, no lists", false, func(*tuning) {}},
			{"a back of sixteen", false, func(t *tuning) { t.batchThreads, t.unpacked = 1024, true }},
			{"no back", true, func(t *tuning) { t.batchThreads = 128 }},
			{"one warp", false, func(t *tuning) { t.batchThreads = 64 }},
			{"a few rows of its own", false, func(t *tuning) { t.ownSynapses = 2000 }},
			{"rows as long as may be", true, func(t *tuning) { t.ownSynapses = 16 * slices.Max(d.each[:41]) }}, // one of a source that fires often
			{"short rows of its own", true, func(t *tuning) { t.ownSynapses = 640 }},
			{"no rows of its own", true, func(t *tuning) { t.ownSynapses, t.batch = 0, 5 }},
		} {
			if c.MaxDelay > 100 && (i%3 != 0 || testing.Short()) {
				continue // hundreds of bursts each
			}
			if !slow.Asked() && i != 7*(kind%2) {
				continue
			}
			tune := defaults
			tune.batchThreads, tune.delayedRow, tune.batch = 256, 1, 7
			tune.gather *= i % 2
			v.change(&tune)
			t.Run(n.name+"/"+v.name, func(t *testing.T) { asReference(t, c, engine.Want{FCL: v.fcl}, tune, pathDelayed, n.why) })
		}
		require.Equal(t, n.soon, d.soon > 10, "the network is what its name says")
		require.EqualValues(t, c.Synapses(), d.soon+d.later)
	}
}

// asReference runs both, the backend on a path of many bursts.
func asReference(t *testing.T, c *connectome.Connectome, w engine.Want, tune tuning, on path, why string) {
	start := func() *backend {
		opened, err := open(c, Options{Want: w}, tune)
		require.NoError(t, err)
		b := opened.(*backend)
		require.True(t, b.choice.path == on, "the kernel that is to be tested runs")
		return b
	}
	b := start()
	oracle, err := reference.Open(c, w)
	require.NoError(t, err)
	var want, got engine.Burst
	var before, after engine.State
	fired := 0
	for i, size := range []int{1, 1, 1, max(6, c.MaxDelay-10), 33, 2, 1, 0, 15, 8} {
		require.NoError(t, b.StepN(size, func(out *engine.Burst) error {
			require.NoError(t, oracle.Step(nil, &want))
			require.Nil(t, engine.CompareBursts(&want, out), why)
			fired += len(out.Fired)
			return nil
		}))
		require.NoError(t, b.ReadState(&after))
		require.NoError(t, oracle.ReadState(&before))
		require.Nil(t, engine.CompareStates(&before, &after), why)
		switch i % 3 {
		case 0: // the queues go on where they are
		case 1:
			require.NoError(t, b.Step(nil, &got))
			require.NoError(t, oracle.Step(nil, &want))
			require.Nil(t, engine.CompareBursts(&want, &got), "single bursts may follow")
		case 2:
			require.NoError(t, b.Close())
			b = start()
			require.NoError(t, b.WriteState(&after))
		}
	}
	require.NoError(t, b.Close())
	require.NoError(t, oracle.Close())
	require.Greater(t, fired, 500, "something happens")
}

// TestWithoutDelays compares them with the reference where all synapses are due at once: a warp delivers some rows at once,
// a block's warps share others, and all blocks what is too many or too long for that.
func TestWithoutDelays(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	const neurons = 2177
	r := rand.New(rand.NewPCG(21, 7))
	lif := enginetest.LIF(neurons)
	lif.Constant("threshold").Const, lif.Constant("refractory").Const = 2, 2
	lif.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 700, 3_000_000_000, 4_000_000_000)}
	n := enginetest.Net{RunSeed: 5, Areas: []connectome.Area{lif}}
	for from := range uint32(neurons) {
		for range r.Uint32N(40) * (1 - from%5/4) {
			n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(neurons), Weight: r.Int32N(300) - 120})
		}
	}
	c := n.Build()
	for i, v := range []struct {
		name   string
		change func(*tuning)
	}{
		{"some at once", func(*tuning) {}},
		{"many warps", func(t *tuning) { t.batchThreads = 1024 }},
		{"few in a block", func(t *tuning) { t.ownSynapses = 400 }},
		{"short ones in a block", func(t *tuning) { t.ownSynapses, t.batch = 16*20, 3 }},
		{"none in a block", func(t *tuning) { t.ownSynapses = 0 }},
		{"8-byte synapses", func(t *tuning) { t.unpacked = true }},
	} {
		if !slow.Asked() && i%3 != 0 {
			continue
		}
		tune := defaults
		tune.batchThreads, tune.batch = 128, 7
		tune.gather *= i % 2
		v.change(&tune)
		for _, fcl := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, FCL %v", v.name, fcl), func(t *testing.T) {
				asReference(t, c, engine.Want{FCL: fcl}, tune, pathDelayed, "all delays are 1")
			})
		}
	}
}

// TestLateDelays compares networks with delays above 255 bursts with the reference: where they lie beside weights, where weights leave no
// room for them, and where weights are few; in launches of many bursts and in single ones.
func TestLateDelays(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for name, v := range map[string]struct {
		scale  int
		joined bool
	}{"beside weights": {100_000, true}, "of their own": {2_000_000, false}, "weights are few": {10, false}} {
		g := parsed(t, fmt.Sprintf(`
burst: v1
seed: 5
scale: %d
areas:
  - {name: a, neurons: 100, model: lif, drive: {poisson: {rate: 2000 Hz, weight: 0.5 mV}}}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 30, weight: "normal(0.4 mV, 0.5 mV)", delay: "uniform(1, 600)"}
`, v.scale))
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err)
		tune := fewThreads()
		tune.unpacked = v.scale > 10
		t.Run(name, func(t *testing.T) {
			require.Equal(t, v.joined, tune.unpacked && joined(c) > 0)
			asReference(t, c, engine.Want{}, tune, pathRun, name)
			tune.plain = true
			single, err := open(c, Options{}, tune)
			require.NoError(t, err)
			defer single.Close()
			oracle, err := reference.Open(c, engine.Want{})
			require.NoError(t, err)
			defer oracle.Close()
			var want, got engine.Burst
			for range 650 {
				require.NoError(t, single.Step(nil, &got))
				require.NoError(t, oracle.Step(nil, &want))
				require.Nil(t, engine.CompareBursts(&want, &got))
			}
		})
	}
}
