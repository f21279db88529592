package enginetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"burst/connectome"
	"burst/genome"
)

// Net is a hand-made network. Areas need a model, its parameters and Neurons.Count; Build fills in the rest.
type Net struct {
	RunSeed  uint64
	Scale    int32 // quanta per unit; 0: 1000
	Areas    []connectome.Area
	Synapses []Synapse // any order; those of areas with a PSPMax are driven
	Divide   []int32   // per neuron, what spikes of such areas divide by; nil: nothing
	Stimuli  []connectome.Stimulus
	Plastic  []Plastic // projections whose synapses change
}

// Synapse leads from a neuron to a port; where all areas have one port a neuron, that has the number of its neuron.
type Synapse struct {
	From, To uint32
	Weight   int32  // quanta
	Delay    uint16 // bursts; 0: 1; at most 255 by FEAGI's rules and where they follow a potential
}

// Of is an area of n neurons of a built-in model, with its default parameters and a time step of 0.1 ms.
func Of(model string, n uint32) connectome.Area {
	models := genome.Models()
	at := slices.IndexFunc(models, func(m *genome.Model) bool { return m.Name == model })
	if at < 0 {
		panic(fmt.Sprintf("BUG: no model %s; custom ones are Custom's", model))
	}
	m := models[at]
	a := connectome.Area{Model: m, Neurons: connectome.Span{Count: n}, Until: math.MaxUint64}
	for _, x := range m.Work(m.ConstantNames(), defaults(m), 0.1) {
		a.Constants = append(a.Constants, connectome.Param{Const: float32(x)})
	}
	if len(m.State) > 0 {
		a.V0.Value.A = m.State[0].Start
	}
	return a
}

// defaults are those of a model's parameters.
func defaults(m *genome.Model) genome.Values {
	values := map[string]float64{}
	for i := range m.Params {
		p := &m.Params[i]
		if values[p.Name] = p.Default; p.Like != "" {
			values[p.Name] = values[p.Like]
		}
	}
	return func(name string) float64 { return values[name] }
}

// set changes constants of all neurons.
func set(a connectome.Area, constants map[string]float32) connectome.Area {
	for name, x := range constants {
		a.Constant(name).Const = x
	}
	return a
}

// FEAGI is an area of n feagi neurons that fire whenever their input reaches 1: no leak, no limits.
func FEAGI(n uint32) connectome.Area { return Of("feagi", n) }

// LIF is an area of n lif neurons: dt/tau = 0.1 ms/20 ms, threshold 20, reset 10, refractory for 20 bursts.
func LIF(n uint32) connectome.Area { return Of("lif", n) }

// PSCExp is an area of n lif_psc_exp neurons: dt 0.1 ms, tau 10 ms, tau_syn 0.5 and 2 ms, C 250 pF, threshold 15, reset 0.
func PSCExp(n uint32) connectome.Area {
	return set(Of("lif_psc_exp", n), map[string]float32{"p21ex": 0.00036078144, "p21in": 0.00038823613, "p11ex": 0.81873075})
}

// Izhikevich is an area of n regular spiking neurons of a 1 ms step.
func Izhikevich(n uint32) connectome.Area {
	return set(Of("izhikevich", n), map[string]float32{"half": 0.5, "adt": 0.02})
}

// Poisson is an area of n sources that fire with probability p.
func Poisson(n uint32, p float64) connectome.Area {
	a := Of("poisson", n)
	a.Chance.Const = below(p)
	return a
}

// below is the limit of 32-bit draws of which p lie below it.
func below(p float64) uint64 { return uint64(math.Round(float64(p * (1 << 32)))) }

// SpikeList is an area of one source for each list of bursts.
func SpikeList(lists ...[]uint64) connectome.Area {
	a := Of("spike_list", uint32(len(lists)))
	a.Spikes.Row = []uint32{0}
	all := slices.Concat(lists...)
	a.Spikes.Low = make([]uint32, len(all))
	for k, t := range all {
		a.Spikes.Set(uint32(k), t)
	}
	for i, at := range lists {
		a.Spikes.Row = append(a.Spikes.Row, a.Spikes.Row[i]+uint32(len(at)))
	}
	return a
}

// Always is a drive that never ends: Inject and Poisson of amount quanta, the latter with the given thresholds.
func Always(kind connectome.DriveKind, amount int32, counts ...uint32) connectome.Drive {
	return connectome.Drive{Kind: kind, Until: math.MaxUint64, Amount: amount, Counts: counts}
}

// Build is the connectome: ids and ports in the areas' order, rows sorted, bounds summed. A network that breaks the
// promises of a connectome is a bug of the test, and panics.
func (n Net) Build() *connectome.Connectome {
	c := &connectome.Connectome{Name: "test", Seed: n.RunSeed, RunSeed: n.RunSeed, Timestep: 1, Scale: n.Scale, MaxDelay: 1, Stimuli: n.Stimuli}
	if c.Scale == 0 {
		c.Scale = 1000
	}
	for i, a := range n.Areas {
		a.Name = fmt.Sprintf("area %d", i)
		a.Neurons.First = c.Neurons
		a.Ports = connectome.Span{First: c.Ports, Count: a.Neurons.Count * a.PortsEach()}
		a.Size, a.PerVoxel = [3]uint32{a.Neurons.Count, 1, 1}, 1
		if a.Model.Has("spikes") && a.Spikes.Row == nil {
			a.Spikes.Row = make([]uint32, a.Neurons.Count+1)
		}
		derive(&a)
		if a.Model.Event != "" {
			a.MakeDecay()
		}
		a.V0.Value = genome.Value{Kind: genome.Const, A: a.V0.Value.A, Lo: math.Inf(-1), Hi: math.Inf(1)}
		c.Areas = append(c.Areas, a)
		c.Neurons += a.Neurons.Count
		c.Ports += a.Ports.Count
	}
	still := n
	still.Synapses = n.still(c)
	still.wire(c)
	n.drives(c)
	n.learn(c)
	n.bound(c)
	return c
}

// derive works out what follows from other constants, where the model's parameters are among them.
func derive(a *connectome.Area) {
	if !a.Model.AreaLevel {
		return
	}
	a.Constants = slices.Clone(a.Constants)
	values := func(name string) float64 { return float64(a.Constant(name).Const) }
	for k, x := range a.Model.Work(a.Model.ConstantNames(), values, 0.1) {
		a.Constants[k].Const = float32(x)
	}
	a.Chance.Const = below(a.Model.Chance(values, 0.1))
}

// wire fills the rows.
func (n Net) wire(c *connectome.Connectome) {
	rows := slices.Clone(n.Synapses)
	single := true
	for i := range rows {
		rows[i].Delay = max(1, rows[i].Delay)
		single = single && rows[i].Delay == 1
		c.MaxDelay = max(c.MaxDelay, int(rows[i].Delay))
	}
	slices.SortFunc(rows, func(a, b Synapse) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Delay, b.Delay), cmp.Compare(a.To, b.To), cmp.Compare(a.Weight, b.Weight))
	})
	var delays []uint16
	c.Row = make([]uint64, c.Neurons+1)
	for _, s := range rows {
		if s.From >= c.Neurons || s.To >= c.Ports {
			panic(fmt.Sprintf("BUG: synapse %v in a network of %d neurons and %d ports", s, c.Neurons, c.Ports))
		}
		c.Row[s.From+1]++
		c.Target, c.Weight = append(c.Target, s.To), append(c.Weight, s.Weight)
		if !single {
			delays = append(delays, s.Delay)
		}
	}
	c.Delay = connectome.NewDelays(delays)
	for i := range c.Neurons {
		c.Row[i+1] += c.Row[i]
	}
}

// bound fills in the largest sums.
func (n Net) bound(c *connectome.Connectome) {
	sums := make([]int64, c.Ports)
	for _, s := range n.Synapses {
		if c.Areas[c.AreaOf(s.From)].PSPMax > 0 {
			sums[s.To] += mostDriven(c, s)
		} else {
			sums[s.To] += abs(s.Weight)
		}
	}
	for i := range c.Plastic {
		for _, port := range c.Plastic[i].Target {
			sums[port] += n.Plastic[i].most(c)
		}
	}
	for _, a := range c.Areas {
		for _, d := range a.Drives {
			for p := a.Ports.First; p < a.Ports.End(); p++ {
				sums[p] += most(d)
			}
		}
	}
	for p, s := range sums {
		if s > math.MaxInt32 {
			panic(fmt.Sprintf("BUG: port %d of a test's network can reach %d quanta", p, s))
		}
		c.Bound = append(c.Bound, uint32(s))
	}
}

// most is the largest |input| of a drive in one burst.
func most(d connectome.Drive) int64 {
	if m := d.Moving; m != nil {
		low, high := d.At(m.Factor.Lo), d.At(m.Factor.Hi)
		low.Moving, high.Moving = nil, nil
		return max(most(low), most(high))
	}
	if d.Own != nil {
		return mostOwn(&d)
	}
	switch d.Kind {
	case connectome.Inject:
		return abs(d.Amount)
	case connectome.Poisson:
		return abs(d.Amount) * int64(len(d.Counts))
	case connectome.Noise:
		most := int64(0)
		for _, amount := range d.Table {
			most = max(most, abs(amount))
		}
		return most
	}
	return 0
}

func abs(x int32) int64 { return max(int64(x), -int64(x)) }
