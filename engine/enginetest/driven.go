package enginetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
)

// drives moves the synapses of areas with a PSPMax to rows of their own.
func (n Net) drives(c *connectome.Connectome) {
	if !n.driven() {
		return
	}
	rows := &connectome.Connectome{Areas: c.Areas, Neurons: c.Neurons, Ports: c.Ports, MaxDelay: 1}
	only := n
	only.Synapses = slices.DeleteFunc(slices.Clone(n.Synapses), func(s Synapse) bool { return c.Areas[c.AreaOf(s.From)].PSPMax == 0 })
	only.wire(rows)
	c.MaxDelay = max(c.MaxDelay, rows.MaxDelay)
	c.Driven = &connectome.Driven{Row: rows.Row, Target: rows.Target, Weight: rows.Weight, Delay: rows.Delay.Short, Divide: n.Divide}
}

// still are the synapses of the other areas.
func (n Net) still(c *connectome.Connectome) []Synapse {
	return slices.DeleteFunc(slices.Clone(n.Synapses), func(s Synapse) bool { return c.Areas[c.AreaOf(s.From)].PSPMax > 0 })
}

// driven reports whether there are such areas.
func (n Net) driven() bool {
	return slices.ContainsFunc(n.Areas, func(a connectome.Area) bool { return a.PSPMax > 0 })
}

// mostDriven is the most that a synapse delivers in size.
func mostDriven(c *connectome.Connectome, s Synapse) int64 {
	a := &c.Areas[c.AreaOf(s.From)]
	q := connectome.Delivers(s.Weight, a.PSPMax, c.Scale, c.Driven.DivideOf(s.From))
	to := lifts(&c.Areas[c.AreaOfPort(s.To)])
	return max(connectome.Lift(q, to), -connectome.Lift(q, to), connectome.Lift(-q, to), -connectome.Lift(-q, to))
}

// RandomDriven is a random network with areas whose potentials drive what their spikes deliver.
func RandomDriven(r *rand.Rand, pick int) Net {
	n := randomNet(r, pick)
	n.Scale = among[int32](r, 1000, 1<<10, 977, 100)
	for range 1 + r.IntN(3) {
		a := randomFEAGI(r, 1+r.Uint32N(90))
		a.PSPMax = 2000 * n.Scale
		a.Constant("leak").Const = min(a.Constant("leak").Const, 1)
		a.Constant("refractory").Const = min(a.Constant("refractory").Const, 3)
		if r.IntN(2) == 0 {
			a.Drives = []connectome.Drive{Always(connectome.Inject, 1+r.Int32N(n.Scale))}
		}
		n.Areas = append(n.Areas, a)
	}
	var total, ports uint32
	for i := range n.Areas {
		total, ports = total+n.Areas[i].Neurons.Count, ports+n.Areas[i].Neurons.Count*n.Areas[i].PortsEach()
	}
	first, onto, longest := total, map[uint32]int{}, among(r, 1, 1, 3, 20, 255)
	for i := len(n.Areas) - 1; i >= 0 && n.Areas[i].PSPMax > 0; i-- {
		first -= n.Areas[i].Neurons.Count
	}
	for range 12 * (total - first) {
		s := Synapse{first + r.Uint32N(total-first), r.Uint32N(ports), r.Int32N(n.Scale/25+1) - n.Scale/100, uint16(1 + r.IntN(longest))}
		if onto[s.To]++; onto[s.To] <= 12 {
			n.Synapses = append(n.Synapses, s)
		}
	}
	if r.IntN(2) == 0 {
		n.Divide = make([]int32, total)
		for i := first; i < total; i++ {
			n.Divide[i] = 1 + r.Int32N(9)
		}
	}
	return n
}

// RandomDrivenLearning is one in which synapses of such areas learn.
func RandomDrivenLearning(r *rand.Rand, pick int) Net {
	n := RandomDriven(r, pick)
	for range 1 + r.IntN(2) {
		n.Plastic = append(n.Plastic, drivenPlastic(r, n))
	}
	return n
}

// drivenPlastic is a projection that learns from such an area, with few synapses onto a neuron, as each may deliver much.
func drivenPlastic(r *rand.Rand, n Net) Plastic {
	p := Plastic{From: len(n.Areas) - 1, To: r.IntN(len(n.Areas)), Hi: 0.02}
	for len(n.Areas[p.To].Model.Ports) == 0 || n.Areas[p.To].Neurons.Count == 0 {
		p.To = r.IntN(len(n.Areas))
	}
	if ports := len(n.Areas[p.To].Model.Ports); ports > 2 {
		p.Port = 1 + r.IntN(ports)
	}
	if r.IntN(3) == 0 {
		p.Lo, p.Hi = -0.02, 0
	}
	p.randomWindow(r, n)
	p.Window.Up, p.Window.Down = p.Window.Up/200, p.Window.Down/300
	p.randomSynapses(r, n)
	onto := map[uint32]int{}
	p.Synapses = slices.DeleteFunc(p.Synapses, func(s Synapse) bool {
		onto[s.To]++
		return onto[s.To] > 4
	})
	return p
}

// runDriven compares random networks whose potentials drive what is delivered with the reference, and checks that they may be
// stopped, read and written anywhere, and that an amplitude beyond its bound ends the run.
func runDriven(t *testing.T, open, oracle Open, few uint64, random func(r *rand.Rand, pick int) Net) {
	spikes, sizes := 0, map[int32]bool{}
	for seed := range seeds(20, few) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x64726976))
			n := random(r, int(seed))
			c := n.Build()
			b := same(t, open, oracle, c, 60, randomInput(r.Uint64(), c), "as the reference")
			for _, list := range read(t, b).Amplitudes {
				for _, x := range list {
					spikes++
					sizes[x.Quanta] = true
				}
			}
			split(t, open, n, seed)
			wholeState(t, open, n, seed)
			late(t, open, n, seed)
			batch(t, open, oracle, engine.Want{}, n, seed)
		})
	}
	if spikes < 100 || len(sizes) < 50 {
		t.Errorf("%d spikes of %d amplitudes, want more", spikes, len(sizes))
	}
	t.Run("beyond", func(t *testing.T) { beyond(t, open) })
}

// beyond: a potential beyond psp_max ends the run, and the error names the first neuron.
func beyond(t *testing.T, open Open) {
	a := FEAGI(300)
	a.PSPMax = 2000
	c := Net{Areas: []connectome.Area{FEAGI(5), a}, Synapses: []Synapse{{From: 5, To: 0, Weight: 1000}}}.Build()
	b := start(t, open, c, engine.Want{})
	var out engine.Burst
	step(t, b, []engine.Stimulus{{Port: 7, Amount: 2000}, {Port: 300, Amount: 1500}}, &out)
	if want := []engine.Amplitude{{Neuron: 7, Quanta: 2000}, {Neuron: 300, Quanta: 1500}}; !slices.Equal(out.Amplitudes, want) {
		t.Fatalf("amplitudes %v, want %v", out.Amplitudes, want)
	}
	err := b.Step([]engine.Stimulus{{Port: 9, Amount: 2001}, {Port: 304, Amount: 9999}}, &out)
	const want = `neuron 4 of area "area 1" (id 9) fired at the potential 2.001, beyond its psp_max 2; give the area a larger psp_max`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Fatalf("error %v, want %s", err, want)
	}
}

// amplitudes reads NEURON:QUANTA…, ascending.
func amplitudes(words []string) ([]engine.Amplitude, error) {
	list := []engine.Amplitude{}
	for _, w := range words {
		neuron, quanta, _ := strings.Cut(w, ":")
		n, err := strconv.ParseUint(neuron, 10, 32)
		q, err2 := strconv.ParseInt(quanta, 10, 32)
		if err := cmp.Or(err, err2); err != nil {
			return nil, err
		}
		list = append(list, engine.Amplitude{Neuron: uint32(n), Quanta: int32(q)})
	}
	return list, nil
}
