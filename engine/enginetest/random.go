package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// makers makes a random area of each model; runRandom fails for a model that is not here.
var makers = map[string]func(r *rand.Rand, n uint32) connectome.Area{
	"feagi": randomFEAGI, "lif": randomLIF, "lif_psc_exp": randomPSCExp, "izhikevich": randomIzhikevich,
	"poisson": randomPoisson, "spike_list": randomSpikes, "custom": randomCustom,
}

// runRandom compares seeded random networks with the oracle after every burst.
func runRandom(t *testing.T, open, oracle Open) {
	for _, m := range forgetful() {
		if makers[m.Name] == nil {
			t.Errorf("model %s: no random networks in package enginetest", m.Name)
		}
	}
	each := 3 * uint64(len(forgetful())) // each model alone once
	for seed := range seeds(30, each) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x6275727374))
			n := randomNet(r, int(seed))
			c := n.Build()
			same(t, open, oracle, c, 40+r.IntN(60), randomInput(r.Uint64(), c), "the oracle follows the law of package engine")
		})
	}
	for seed := range seeds(20, 6) {
		t.Run(fmt.Sprintf("ports, seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x706f727473))
			c := randomNet(r, wide).Build()
			same(t, open, oracle, c, 40+r.IntN(60), randomInput(r.Uint64(), c), "the oracle follows the law of package engine")
		})
	}
	for seed := range seeds(20, 6) {
		t.Run(fmt.Sprintf("columns, seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x636f6c756d6e))
			n := randomNet(r, int(seed))
			n.differ(r)
			c := n.Build()
			same(t, open, oracle, c, 40+r.IntN(60), randomInput(r.Uint64(), c), "the oracle follows the law of package engine")
		})
	}
	for seed := range seeds(20, 6) {
		t.Run(fmt.Sprintf("custom, seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x637573746f6d))
			n := randomNet(r, custom)
			if seed%4 == 3 {
				n.slow(1 + uint16(r.IntN(16)))
			}
			c := n.Build()
			same(t, open, oracle, c, 40+r.IntN(60), randomInput(r.Uint64(), c), "the oracle follows the law of package engine")
		})
	}
}

// custom as a pick makes half of the areas those of models that a genome defines.
const custom = -1

// wide as a pick makes half of the areas those of models with 3 to 16 ports, and drives name their ports.
const wide = -2

// event as a pick makes half of the areas those of models with Event.
const event = -3

// randomNet has one to six areas of any model, or of the one model that pick calls for, and synapses of ugly weights
// and delays; sizes are mostly small, so that words and blocks are filled in part.
func randomNet(r *rand.Rand, pick int) Net {
	n := Net{RunSeed: r.Uint64(), Scale: []int32{1000, 1, 3, 977, 1 << 10, 1 << 24}[r.IntN(6)]}
	models := forgetful()
	var total, ports uint32
	for range 1 + r.IntN(6) {
		m := models[r.IntN(len(models))]
		if pick >= 0 && pick%3 == 0 {
			m = models[pick/3%len(models)]
		}
		size := uint32(r.IntN(40))
		if r.IntN(4) == 0 {
			size = uint32(r.IntN(700))
		}
		f := makers[m.Name]
		if pick == custom && r.IntN(2) == 0 {
			f = randomCustom
		}
		if pick == wide && r.IntN(2) == 0 {
			f = randomWide
		}
		if pick == event && r.IntN(2) == 0 {
			f = randomEvent
		}
		if f != nil {
			a := f(r, size)
			if a.PortsEach() > 0 {
				a.Drives = randomDrives(r, a.Model, size, n.Scale)
			}
			for k := range a.Drives {
				if pick == wide && a.Drives[k].Kind != connectome.Term && (a.PortsEach() > 2 || r.IntN(2) == 0) {
					a.Drives[k].Port = 1 + r.IntN(int(a.PortsEach()))
				}
			}
			n.Areas = append(n.Areas, a)
			total, ports = total+size, ports+size*a.PortsEach()
		}
	}
	longest := []int{1, 1, 4, 17, 255}[r.IntN(5)]
	few := r.IntN(2) == 0 // only a few different delays
	if ports == 0 {
		return n
	}
	for range int(total) * r.IntN(12) {
		d := 1 + r.IntN(longest)
		if few {
			d = max(1, d/9*9)
		}
		n.Synapses = append(n.Synapses, Synapse{r.Uint32N(total), r.Uint32N(ports), quanta(r, n.Scale), uint16(d)})
	}
	return n
}

// Uniform is a random network in which all delays are 1, all neurons have equally many ports, and all synapses of a neuron weigh the same.
// Some rows are empty, one is long, and one leads to a single port only. Its models are the given ones, or some with one port.
func Uniform(r *rand.Rand, kinds ...string) Net {
	n := Net{RunSeed: r.Uint64(), Scale: among[int32](r, 1000, 3, 1<<10)}
	if len(kinds) == 0 {
		kinds = [][]string{{"lif"}, {"feagi"}, {"lif", "feagi", "izhikevich"}}[r.IntN(3)]
	}
	var total, ports uint32
	for range 1 + r.IntN(5) {
		m, size := kinds[r.IntN(len(kinds))], 1+uint32(r.IntN(300))
		a := makers[m](r, size)
		a.Drives = randomDrives(r, a.Model, size, n.Scale)
		n.Areas, total, ports = append(n.Areas, a), total+size, ports+size*a.PortsEach()
	}
	var few [20]int32
	for i := range few {
		few[i] = quanta(r, n.Scale)
	}
	for from := range total {
		w, count := few[r.IntN(len(few))], r.IntN(30)
		if from == total/2 {
			count = 2000
		}
		for range count {
			n.Synapses = append(n.Synapses, Synapse{From: from, To: r.Uint32N(ports), Weight: w})
		}
		if from == total/3 {
			for range 40 {
				n.Synapses = append(n.Synapses, Synapse{From: from, To: ports - 1, Weight: w})
			}
		}
	}
	return n
}

// prompt makes all delays 1.
func (n Net) prompt() Net {
	for i := range n.Synapses {
		n.Synapses[i].Delay = 1
	}
	return n
}

// named makes two in three drives name their port.
func (n Net) named(r *rand.Rand) Net {
	for i := range n.Areas {
		a := &n.Areas[i]
		for k := range a.Drives {
			if d := &a.Drives[k]; d.Kind != connectome.Term && r.IntN(3) > 0 {
				d.Port = 1 + r.IntN(int(a.PortsEach()))
			}
		}
	}
	return n
}

// slow makes all delays longer, so that none is 1.
func (n Net) slow(by uint16) {
	for i := range n.Synapses {
		d := &n.Synapses[i].Delay
		*d = min(*d, 255-by) + by
	}
}

// quanta is an amount between ±1.5 units, but small enough that the sums of any test's network fit.
func quanta(r *rand.Rand, scale int32) int32 {
	most := min(scale+scale/2, 1<<21)
	if r.IntN(3) == 0 {
		return -r.Int32N(most + 1)
	}
	return r.Int32N(most + 1)
}

// randomDrives is up to three drives, some of them for part of the time.
func randomDrives(r *rand.Rand, m *genome.Model, size uint32, scale int32) []connectome.Drive {
	var drives []connectome.Drive
	for range r.IntN(4) {
		d := Always(connectome.Poisson, quanta(r, scale/2+1))
		switch {
		case r.IntN(2) == 0:
			for x := r.Uint64N(1 << 32); x < 1<<32 && len(d.Counts) < 40; x += 1 + r.Uint64N(1<<uint(20+r.IntN(13))) {
				d.Counts = append(d.Counts, uint32(x))
			}
			if r.IntN(3) == 0 {
				d.Kind, d.Amount = connectome.Noise, 0
				for range len(d.Counts) + 1 {
					d.Table = append(d.Table, quanta(r, scale))
				}
			}
		case m.Term == nil, m.Event != "":
			d.Kind = connectome.Inject
		default:
			d.Kind, d.Amount, d.Term = connectome.Term, 0, r.NormFloat64()
			if r.IntN(3) == 0 {
				for range size {
					d.Each = append(d.Each, r.NormFloat64())
				}
			}
		}
		if r.IntN(3) == 0 {
			d.From = uint64(r.IntN(30))
			d.Until = d.From + uint64(r.IntN(30))
		}
		if r.IntN(3) == 0 {
			move(r, &d, scale)
		}
		drives = append(drives, d)
	}
	return drives
}

// among is one of the values.
func among[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// vary sets the constants of an area, in one of three one set a neuron; one makes a set.
func vary(r *rand.Rand, a *connectome.Area, one func() []float32) {
	for k, x := range one() {
		a.Constants[k].Const = x
	}
	if r.IntN(3) != 0 {
		return
	}
	for range a.Neurons.Count {
		for k, x := range one() {
			a.Constants[k].Each = append(a.Constants[k].Each, x)
		}
	}
}

func randomFEAGI(r *rand.Rand, n uint32) connectome.Area {
	a := FEAGI(n)
	threshold := a.Constant("threshold")
	threshold.Const = among(r, 1, 0.1, 0, -0.3, float32(2*r.Float64()))
	if r.IntN(3) == 0 {
		for range n {
			threshold.Each = append(threshold.Each, threshold.Const+float32(r.Float64()))
		}
	}
	if r.IntN(3) == 0 {
		a.Constant("threshold_limit").Const = threshold.Const + float32(2*r.Float64())
	}
	a.Constant("leak").Const = among(r, 0, 1, 0.5, 0.1, float32(r.Float64()))
	a.Constant("leak_amount").Const = among(r, 0, 0, 0.25, float32(r.Float64()))
	a.Constant("refractory").Const = among[float32](r, 0, 0, 1, 2, 5, 65535)
	a.Constant("fire_limit").Const = among[float32](r, 0, 1, 2, 3, 65535)
	a.Constant("snooze").Const = among[float32](r, 0, 1, 7, 65535)
	a.Constant("accumulate").Const = among[float32](r, 0, 1, 1)
	a.Constant("draw").Const = among[float32](r, 1, 0, 0)
	a.Constant("excitability").Const = among(r, 1, 0.999, 0.5, 0, float32(r.Float64()))
	other := rand.New(rand.NewPCG(uint64(n), uint64(math.Float32bits(a.Constant("excitability").Const)))) // the other draws stay
	a.Constant("rectify").Const = among[float32](other, 0, 0, 1, 4, 256)
	a.Constant("always_recover").Const = among[float32](other, 0, 0, 1)
	if a.Constant("rectify").Const != 0 {
		a.Constant("leak").Const *= among[float32](other, 1, 1, 10)
	}
	a.V0.Value.A = among(r, 0, 0, math.Copysign(0, -1), r.NormFloat64())
	return a
}

func randomLIF(r *rand.Rand, n uint32) connectome.Area {
	a := LIF(n)
	vary(r, &a, func() []float32 {
		return []float32{
			-float32(among(r, 0.005, 0.1, 0.9999, r.Float64())), // em1
			float32(among(r, 1, 0.25, 3*r.Float64())),           // threshold
			float32(among(r, 0, -2, r.Float64()-0.75)),          // reset
			among[float32](r, 0, 1, 2, 20, 65535),               // refractory
		}
	})
	a.V0.Value.A = among(r, 0, -1e-41, r.NormFloat64())
	return a
}

func randomPSCExp(r *rand.Rand, n uint32) connectome.Area {
	a := PSCExp(n)
	vary(r, &a, func() []float32 {
		return []float32{
			-float32(among(r, 0.01, 0.5, r.Float64())), // em1
			float32(r.Float64()), float32(r.Float64()), // p21ex, p21in
			float32(among(r, 0.8, 0.99, r.Float64())),  // p11ex
			float32(among(r, 0.5, r.Float64())),        // p11in
			float32(among(r, 1, 0.25, 3*r.Float64())),  // threshold
			float32(among(r, 0, -2, r.Float64()-0.75)), // reset
			among[float32](r, 0, 1, 2, 20, 65535),      // refractory
		}
	})
	a.V0.Value.A = among(r, 0, -1e-41, r.NormFloat64())
	if r.IntN(2) == 0 {
		a.More0 = []*connectome.Initial{nil, {Value: genome.Value{Kind: genome.Const, A: -0.3, Lo: math.Inf(-1), Hi: math.Inf(1)}}}
	}
	return a
}

func randomIzhikevich(r *rand.Rand, n uint32) connectome.Area {
	a := Izhikevich(n)
	vary(r, &a, func() []float32 {
		return []float32{
			among[float32](r, 0.5, 0.05, 0.25), // half
			float32(0.02 + 0.08*r.Float64()),   // adt
			float32(0.2 + 0.05*r.Float64()),    // b
			float32(-65 + 15*r.Float64()),      // c
			float32(2 + 6*r.Float64()),         // d
			among[float32](r, 30, 20),          // threshold
		}
	})
	a.V0.Value.A = among(r, -65, -50, -70+5*r.NormFloat64())
	return a
}

func randomPoisson(r *rand.Rand, n uint32) connectome.Area {
	a := Poisson(n, 0)
	one := func() uint64 { return among(r, 0, 1, 1<<32, 1<<32-1, r.Uint64N(1<<32)) }
	if a.Chance.Const = one(); r.IntN(3) == 0 {
		a.Chance.Each = make([]uint64, n)
		for i := range a.Chance.Each {
			a.Chance.Each[i] = one()
		}
	}
	if r.IntN(3) == 0 {
		a.From = uint64(r.IntN(40))
		a.Until = a.From + uint64(r.IntN(40))
	}
	if r.IntN(3) == 0 {
		a.Factor = randomFactor(r)
	}
	return a
}

func randomSpikes(r *rand.Rand, n uint32) connectome.Area {
	lists := make([][]uint64, n)
	for i := range lists {
		for t := r.Uint64N(20); t < 120 && len(lists[i]) < 30; t += 1 + r.Uint64N(among[uint64](r, 1, 2, 30)) {
			lists[i] = append(lists[i], t)
		}
	}
	return SpikeList(lists...)
}

// randomInput stimulates some ports in some bursts, as a function of the burst, within each port's headroom.
func randomInput(seed uint64, c *connectome.Connectome) func(t uint64) []engine.Stimulus {
	return func(t uint64) []engine.Stimulus {
		r := rand.New(rand.NewPCG(seed, t))
		share := among(r, 0, 0, 2, 30, 100)
		var in []engine.Stimulus
		for p := range c.Ports {
			if r.IntN(100) < share {
				in = append(in, engine.Stimulus{Port: p, Amount: quanta(r, c.Scale)})
			}
		}
		return in
	}
}
