package cuda

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"burst/backend/cpu"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
	"burst/kernels"
)

// TestPendingEvents compares networks that learn with the reference, with states read rarely, so that events are pending for long, and
// with room for few, so that sweeps come at any time.
func TestPendingEvents(t *testing.T) {
	slow.Test(t)
	cudatest.Anywhere(t)
	for seed := range uint64(slow.Times(6, 30)) {
		r := rand.New(rand.NewPCG(seed, 0x706c6173))
		n := enginetest.RandomPlastic(r, int(seed))
		c := n.Build()
		every, bursts := []uint64{0, 41, 3}[r.IntN(3)], uint64(100+r.IntN(200))
		tune := defaults
		tune.events, tune.threads = 1+r.Uint32N(20), 32*(1+r.Uint32N(8))
		t.Run(fmt.Sprintf("seed %d, %d events, states every %d", seed, tune.events, every), func(t *testing.T) {
			oracle, err := reference.Open(c, engine.Want{FCL: true})
			require.NoError(t, err)
			b, err := open(c, Options{Want: engine.Want{FCL: true}}, tune)
			require.NoError(t, err)
			defer func() { require.NoError(t, b.Close()) }()
			d, err := engine.Compare(oracle, b, bursts, nil, every)
			require.NoError(t, err)
			require.Nil(t, d)
		})
	}
}

// TestLearningBatches mixes launches of many bursts with single ones, with room for few events.
func TestLearningBatches(t *testing.T) {
	h, local := cudatest.Anywhere(t), 0
	for seed := range uint64(slow.Times(3, 30)) {
		if h != nil {
			h.Control("multiprocessors", int64(2+seed%3*5)) // more than blocks with neurons
		}
		r := rand.New(rand.NewPCG(seed, 0x62617463))
		c := enginetest.RandomPlastic(r, int(seed)).Build()
		tune := defaults
		tune.events, tune.batchThreads, tune.batch, tune.uncached = 1+r.Uint32N(20), 32*(2+r.Uint32N(7)), 1+r.Uint64N(30), r.IntN(2) == 0
		tune.gather *= int(seed+1) % 2
		t.Run(fmt.Sprintf("seed %d, %d events, %d threads", seed, tune.events, tune.batchThreads), func(t *testing.T) {
			for _, blocks := range []int{0, 1 + int(seed)%16} {
				tune.localBlocks = blocks
				if mixLaunches(t, c, tune, rand.New(rand.NewPCG(seed, 0x6d6978)), 0).choice.path == pathLocal {
					local++
				}
			}
		})
	}
	require.NotZero(t, local, "some are small enough for path local")
}

// mixLaunches compares launches of many bursts, mixed with single ones, with the reference, from a burst on.
func mixLaunches(t *testing.T, c *connectome.Connectome, tune tuning, r *rand.Rand, first uint64) *backend {
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	b, err := open(c, Options{}, tune)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	require.Contains(t, []path{pathLearn, pathRanges, pathLocal}[:2+min(1, tune.localBlocks)], b.(*backend).choice.path)
	feed := engine.NewFeed(c, nil)
	var want engine.State
	got := *engine.NewState(c)
	if got.Number = first; first > 0 {
		require.NoError(t, oracle.WriteState(&got))
		require.NoError(t, b.WriteState(&got))
	}
	var x engine.Burst
	for range 8 {
		number := got.Number
		n := 1 + r.IntN(40)
		if r.IntN(4) > 0 {
			require.NoError(t, b.(engine.Batcher).StepN(n, func(y *engine.Burst) error {
				in, err := feed.Next(number)
				require.NoError(t, err)
				require.NoError(t, oracle.Step(in, &x))
				require.True(t, slices.Equal(x.Fired, y.Fired), "burst %d: %d fire, want %d", number, y.Fired, x.Fired)
				number++
				return nil
			}))
		} else {
			in, err := feed.Next(number)
			require.NoError(t, err)
			require.NoError(t, oracle.Step(in, &x))
			require.NoError(t, b.Step(in, &x))
		}
		require.NoError(t, oracle.ReadState(&want))
		require.NoError(t, b.ReadState(&got))
		require.Nil(t, engine.CompareStates(&want, &got))
	}
	return b.(*backend)
}

// TestPairs compares rules of pairs with the reference, which kernels deliver by code of their own: all forms of delays and of tables, room
// for few events and for many, weights that are not numbers, and two rules beside each other.
func TestPairs(t *testing.T) {
	cudatest.Anywhere(t)
	const areas = `{burst: v1, name: pairs, seed: 1, timestep: 1 ms, scale: auto, bursts: 100, plasticity: [
  {name: odd, params: {most: 3 mV}, pre: {x: {tau: 9 ms, add: 1}}, post: {y: {tau: 500 s, set: 2}}, bounds: [0, most],
   on_post: ["w = w + 0.01*x*(w - 1)/(w - 1)"], on_pre: ["w = max(w - 0.001*y, 0)"]}], areas: [
  {name: E, neurons: 45, model: lif, drive: {poisson: {rate: 150 Hz, weight: 40 mV}}},
  {name: I, neurons: %d, model: lif, drive: {poisson: {rate: 40 Hz, weight: 40 mV}}}], projections: [`
	const one = `{from: %s, to: %s, rule: fixed_outdegree, outdegree: %d, weight: %s, delay: %s, plasticity: {rule: %s}}, `
	for i, c := range []struct {
		rule, weight, delay string
		events, targets     uint32
		pairing             uint32
	}{
		{"stdp, mu_plus: 0, mu_minus: 0, w_max: 1 mV, lambda: 0.3", "0.5 mV", "1 ms", 1, 39, somePairs},
		{"stdp, tau_plus: 3 ms, w_max: 1 mV, lambda: 0.1", "0.5 mV", "15 ms, back: 2 ms", 3, 39, somePairs},
		{"stdp, mu_plus: 0.4, mu_minus: 0, w_max: 1 mV, lambda: 0.1", "0.5 mV", `"uniform(4 ms, 9 ms)"`, 32, 39, longPairs},
		{"stdp_nearest_symmetric, w_max: 1 mV", "0.5 mV", "2 ms", 2, 39, somePairs},
		{"stdp_power_law, lambda: 0.02, w_max: 1 mV, tau_minus: 100 s", "0.5 mV", `"uniform(1 ms, 200 ms)"`, 32, 99, longPairs},
		{"stdp_power_law, lambda: 0.02, w_max: 1 mV", "0.5 mV", "3 ms", 9, 300, longPairs},
		{"vogels, w_max: 1 mV", "-0.5 mV", "1 ms", 5, 39, somePairs},
		{"odd", "1 mV", "3 ms", 4, 39, somePairs},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if i%5 > 0 {
				slow.Case(t)
			}
			text := fmt.Sprintf(areas, c.targets) + fmt.Sprintf(one, "E", "I", c.targets-6, c.weight, c.delay, c.rule) + fmt.Sprintf(one, "I", "E", 40, c.weight, "2 ms", c.rule) +
				fmt.Sprintf(one, "E", "E", 3, "0.5 mV", "2 ms", "stdp, w_max: 2 mV")
			g, err := genome.Parse("pairs.yaml", []byte(text+"]}"), genomes.Open)
			require.NoError(t, err)
			network, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			tune := defaults
			tune.events, tune.batch, tune.batchThreads, tune.uncached = c.events, 13, 64, i%2 == 1
			for _, blocks := range []int{0, 3 + i} {
				tune.localBlocks = blocks
				l := mixLaunches(t, network, tune, rand.New(rand.NewPCG(uint64(i), 0x70616972)), 0).learning
				require.Equal(t, c.pairing, l.list[0].arg.pairs)
				for i := range l.list {
					require.NotZero(t, l.list[i].arg.pairs, "projection %d", i)
				}
			}
		})
	}
}

// TestRanges compares networks whose blocks have ranges of targets with the reference: rules short and long, delays and lags, few events and
// many, areas that share a block's range, several projections onto one port, static synapses beside, and state in shared memory or not.
func TestRanges(t *testing.T) {
	cudatest.Anywhere(t)
	const network = `{burst: v1, name: ranges, seed: 1, timestep: 1 ms, scale: auto, bursts: 100, areas: [
  {name: E, neurons: %d, model: lif, drive: {poisson: {rate: %d Hz, weight: 40 mV}}},
  {name: I, neurons: %d, model: lif, drive: {poisson: {rate: %d Hz, weight: 40 mV}}}], projections: [
  {from: E, to: E, rule: fixed_outdegree, outdegree: %d, weight: 0.5 mV, delay: %s, plasticity: {rule: %s}},
  {from: E, to: I, rule: fixed_outdegree, outdegree: %d, weight: 0.5 mV, delay: %[6]s, plasticity: {rule: %[7]s}},
  {from: I, to: E, rule: fixed_outdegree, outdegree: 40, weight: 0.5 mV, delay: %[10]s, plasticity: {rule: stdp, w_max: 1 mV, lambda: 0.1}},
  {from: I, to: I, rule: fixed_outdegree, outdegree: %[8]d, weight: 0.5 mV, delay: %[9]s}],
  stimuli: [{area: E, every: 7, neurons: [0, 1, 40], amount: 25 mV}, {area: I, at: 9, neurons: [3], amount: 25 mV}, {area: I, at: 21, neurons: [4], amount: 25 mV}]}`
	const power, additive = "stdp_power_law, lambda: 0.02, w_max: 1 mV", "stdp, mu_plus: 0, mu_minus: 0, w_max: 1 mV, lambda: 0.3"
	for i, c := range []struct {
		rule             string
		delay, own, late string // of E, of I to I and of I to E
		excite, inhibit  int
		fast, slow       int // Hz
		toE, toI, events int
		threads          uint32
		apart            int // turns that blocks are apart at most
	}{
		{additive, "1 ms", "1 ms", "2 ms", 45, 60, 150, 40, 40, 20, 1, 64, 0},
		{additive, "15 ms, back: 2 ms", "9 ms", "12 ms, back: 5 ms", 45, 300, 300, 40, 30, 100, 4, 96, 2},
		{power, "3 ms, back: 1 ms", "1 ms", "2 ms", 90, 40, 150, 40, 89, 39, 32, 64, 0},
		{power, "12 ms, back: 6 ms", "12 ms", "12 ms, back: 4 ms", 45, 300, 150, 30, 40, 290, 9, 128, 4},
		{power, "2 ms", "2 ms", "2 ms", 300, 33, 40, 40, 290, 20, 20, 64, 0},
		{"stdp_nearest_symmetric, w_max: 1 mV", "6 ms, back: 3 ms", "5 ms", "6 ms, back: 1 ms", 45, 80, 100, 40, 30, 20, 2, 64, 1},
		{additive, "9 ms, back: 3 ms", "6 ms", "9 ms, back: 3 ms", 300, 300, 30, 30, 3, 2, 32, 128, 3},
		{power, "16 ms, back: 8 ms", "16 ms, back: 8 ms, plasticity: stdp", "13 ms, back: 8 ms", 45, 60, 150, 40, 40, 20, 8, 64, 4},
	} {
		t.Run(fmt.Sprint(i, " ", c.rule), func(t *testing.T) {
			if i%3 > 0 {
				slow.Case(t)
			}
			text := fmt.Sprintf(network, c.excite, c.fast, c.inhibit, c.slow, c.toE, c.delay, c.rule, c.toI, c.own, c.late)
			g, err := genome.Parse("ranges.yaml", []byte(text), genomes.Open)
			require.NoError(t, err)
			made, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			tune := defaults
			tune.events, tune.batch, tune.batchThreads, tune.uncached, tune.rangeLeast, tune.rangePart = uint32(c.events), 13, c.threads, i%2 == 1, 1, 0
			first := uint64(0)
			if i%3 == 0 {
				first = 1<<32 - 60 // kernels that count bursts with 32 bits must stop
			}
			b := mixLaunches(t, made, tune, rand.New(rand.NewPCG(uint64(i), 0x72616e67)), first)
			require.NotZero(t, b.learning.ranges.count)
			require.EqualValues(t, c.apart, b.choice.ranges.apart)
			moves(t, made, tune, rand.New(rand.NewPCG(uint64(i), 0x6d6f7665)))
		})
	}
}

// TestSharedRecords: projections that keep the same of targets or sources share it, and learn as if each had its own.
func TestSharedRecords(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	const areas = `{burst: v1, name: shared, seed: 1, timestep: 1 ms, scale: auto, bursts: 100, areas: [
  {name: E, neurons: 40, model: lif, drive: {poisson: {rate: 150 Hz, weight: 40 mV}}},
  {name: I, neurons: 33, model: lif, drive: {poisson: {rate: 80 Hz, weight: 40 mV}}}], projections: [`
	const one = `{from: %s, to: %s, rule: fixed_outdegree, outdegree: 9, weight: 0.5 mV, delay: %d ms, plasticity: {rule: %s}}, `
	for i, c := range []struct {
		rules            [4]string // of E to E, E to I, I to E, I to I
		delays           [4]int
		targets, sources int // that are kept apart
	}{
		{[4]string{"stdp", "stdp", "stdp", "stdp"}, [4]int{1, 1, 1, 1}, 2, 2},
		{[4]string{"stdp", "stdp", "stdp", "stdp"}, [4]int{3, 1, 3, 3}, 2, 3},
		{[4]string{"stdp", "stdp, tau_minus: 30 ms", "stdp", "stdp"}, [4]int{2, 2, 2, 2}, 3, 2},
		{[4]string{"stdp, tau_plus: 11 ms", "stdp", "stdp", "stdp"}, [4]int{1, 1, 1, 1}, 2, 3},
		{[4]string{"stdp_dopamine, da: I", "stdp_dopamine, da: I", "stdp_dopamine, da: I", "stdp_dopamine, da: I, interval: 7 ms"}, [4]int{1, 1, 1, 1}, 3, 2},
	} {
		t.Run(fmt.Sprint(c.rules, c.delays), func(t *testing.T) {
			if i%2 == 1 {
				slow.Case(t)
			}
			text := areas
			for i, ends := range [][2]string{{"E", "E"}, {"E", "I"}, {"I", "E"}, {"I", "I"}} {
				text += fmt.Sprintf(one, ends[0], ends[1], c.delays[i], c.rules[i])
			}
			g, err := genome.Parse("shared.yaml", []byte(text+"]}"), genomes.Open)
			require.NoError(t, err)
			network, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			tune := defaults
			tune.events, tune.batch = 3, 13
			tune.gather *= i % 2
			tune.localBlocks = 0
			l := mixLaunches(t, network, tune, rand.New(rand.NewPCG(1, 0x73686172)), 0).learning
			tune.localBlocks = 3
			require.Equal(t, pathLocal, mixLaunches(t, network, tune, rand.New(rand.NewPCG(2, 0x73686172)), 0).choice.path)
			targets, sources := 0, 0
			for i := range l.list {
				targets, sources = targets+int(flag(l.list[i].ownTargets)), sources+int(flag(l.list[i].ownSources))
			}
			require.Equal(t, [2]int{c.targets, c.sources}, [2]int{targets, sources})

			b, err := Open(network, Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, b.Close()) }()
			var s engine.State
			require.NoError(t, b.ReadState(&s))
			s.Plastic[2].PostLast[0]++
			require.ErrorContains(t, b.WriteState(&s), "differ, though they follow from the same spikes")
		})
	}
}

// TestLearningMoves lets a run go on from the GPU on the CPU and back, again and again.
func TestLearningMoves(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for seed := range uint64(slow.Times(3, 20)) {
		r := rand.New(rand.NewPCG(seed, 0x6d6f7665))
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			moves(t, enginetest.RandomPlastic(r, int(seed)).Build(), defaults, r)
		})
	}
}

// moves lets a run go on from the GPU on the CPU and back, by states, and compares it with the reference.
func moves(t *testing.T, c *connectome.Connectome, tune tuning, r *rand.Rand) {
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	var here, there engine.Backend
	here, err = open(c, Options{}, tune)
	require.NoError(t, err)
	there, err = cpu.Open(c, cpu.Options{Threads: 2})
	require.NoError(t, err)
	defer func() { require.NoError(t, here.Close()); require.NoError(t, there.Close()) }()
	var s engine.State
	for range 6 {
		d, err := engine.Compare(oracle, here, 1+r.Uint64N(30), nil, 0)
		require.NoError(t, err)
		require.Nil(t, d)
		require.NoError(t, here.ReadState(&s))
		require.NoError(t, there.WriteState(&s))
		here, there = there, here
	}
}

// TestLearnArguments holds the structs to the parameters that the compiled kernels declare.
func TestLearnArguments(t *testing.T) {
	var k learnKernels
	for i, image := range kernels.Learn() {
		ptx := image.PTX()
		require.Equal(t, len(k.named())+3, strings.Count(ptx, ".visible .entry learn_"))
		args := sizes(reflect.TypeFor[runArgs]())[:3] // the others are of other paths
		args[0] = unsafe.Offsetof(run{}.waits)        // what follows is for large.cu alone
		require.Equal(t, args, declared(t, ptx, "learn_bursts_ranges"), image.Name)
		require.Equal(t, args[:2], declared(t, ptx, "learn_bursts"), image.Name)
		args[2] = unsafe.Sizeof(locals{})
		require.Equal(t, args, declared(t, kernels.Local()[i].PTX(), "local_bursts"), kernels.Local()[i].Name)
		require.Equal(t, append(args, unsafe.Sizeof(calls{})), declared(t, kernels.Local()[i].PTX(), lastingLocal), kernels.Local()[i].Name)
		for name, e := range k.named() {
			args := reflect.ValueOf(e).Elem().FieldByName("args").Type()
			require.Equal(t, declared(t, ptx, "learn_"+name), sizes(args), "learn_%s in %s: sizes of the parameters, in order", name, image.Name)
		}
	}
}

// TestKernelsHaveAPlaceForRules: every kernel that runs a handler has one place for the code, and no other has any.
func TestKernelsHaveAPlaceForRules(t *testing.T) {
	for _, image := range kernels.Learn() {
		ptx := image.PTX()
		for name := range new(learnKernels).named() {
			one, err := only(ptx, []string{"learn_" + name})
			require.NoError(t, err)
			rules, handlers := map[string]int{"sources": 1, "events": 1, "every": 1}, map[string]int{"rows": 1, "sweep": 1}
			require.Equal(t, rules[name], strings.Count(one, ruleRemark), name)
			require.Equal(t, handlers[name], strings.Count(one, handlerRemark), name)
			for _, remark := range []string{postRemark, preRemark} {
				require.Equal(t, map[string]int{"rows": 1}[name], strings.Count(one, remark), name)
			}
		}
	}
}

// TestLearningIsRefused says what cannot be yet.
func TestLearningIsRefused(t *testing.T) {
	cudatest.Anywhere(t)
	c := enginetest.RandomPlastic(rand.New(rand.NewPCG(1, 2)), 1).Build()
	_, err := Open(c.Cut(connectome.Part{Index: 0, Of: 2}), Options{})
	require.ErrorContains(t, err, "learns (test), and a GPU holds such networks whole so far; want one process and one device, or --backend cpu")
}

// TestMayBeApart: a third of the least delay, half of the lag, and none where delays differ, which are not looked at one by one.
func TestMayBeApart(t *testing.T) {
	for _, c := range []struct {
		list []connectome.Plastic
		want uint32
	}{
		{nil, 0},
		{[]connectome.Plastic{{Longest: 15, Lag: 8}}, mostApart},
		{[]connectome.Plastic{{Longest: 9, Lag: 8}}, 3},
		{[]connectome.Plastic{{Longest: 15, Lag: 8}, {Longest: 15, Lag: 3}}, 1},
		{[]connectome.Plastic{{Longest: 15, Lag: 8}, {Longest: 15, Lag: 8, Delay: connectome.Delays{Short: []uint8{12, 15}}}}, 0},
		{[]connectome.Plastic{{Longest: 900, Lag: 8, Delay: connectome.Delays{Long: []uint16{300, 900}}}}, 0},
	} {
		require.Equal(t, c.want, mayBeApart(&connectome.Connectome{Plastic: c.list}), c.list)
	}
}
