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
	Synapses []Synapse // any order
	Stimuli  []connectome.Stimulus
}

// Synapse leads from a neuron to a port, which in these models has the number of its neuron.
type Synapse struct {
	From, To uint32
	Weight   int32 // quanta
	Delay    uint8 // bursts; 0: 1
}

// FEAGI is an area of n feagi neurons that fire whenever their input reaches 1: no leak, no limits.
func FEAGI(n uint32) connectome.Area {
	return connectome.Area{Model: connectome.FEAGIModel, Neurons: connectome.Span{Count: n}, FEAGI: connectome.FEAGI{
		Threshold: connectome.Param{Const: 1}, ThresholdLimit: float32(math.Inf(1)), Excitability: 1, Accumulate: true,
	}}
}

// LIF is an area of n lif neurons: dt/tau = 0.1 ms/20 ms, threshold 20, reset 10, refractory for 20 bursts.
func LIF(n uint32) connectome.Area {
	return connectome.Area{Model: connectome.LIFModel, Neurons: connectome.Span{Count: n}, LIF: connectome.LIF{
		EM1: -0.0049875207, Threshold: 20, Reset: 10, Refractory: 20,
	}}
}

// Always is a drive that never ends: Inject and Poisson of amount quanta, the latter with the given thresholds.
func Always(kind connectome.DriveKind, amount int32, counts ...uint32) connectome.Drive {
	return connectome.Drive{Kind: kind, Until: math.MaxUint64, Amount: amount, Counts: counts}
}

// Build is the connectome: ids and ports in the areas' order, rows sorted, bounds summed. A network that breaks the
// promises of a connectome is a bug of the test, and panics.
func (n Net) Build() *connectome.Connectome {
	c := &connectome.Connectome{Name: "test", RunSeed: n.RunSeed, Timestep: 1, Scale: n.Scale, MaxDelay: 1, Stimuli: n.Stimuli}
	if c.Scale == 0 {
		c.Scale = 1000
	}
	for i, a := range n.Areas {
		a.Name = fmt.Sprintf("area %d", i)
		a.Neurons.First = c.Neurons
		a.Ports = a.Neurons
		a.Size, a.PerVoxel = [3]uint32{a.Neurons.Count, 1, 1}, 1
		a.FEAGI.Keep = 1 - a.FEAGI.Leak
		a.FEAGI.ExciteBelow = uint64(math.Round(float64(float64(a.FEAGI.Excitability) * (1 << 32))))
		a.V0.Value = genome.Value{Kind: genome.Const, A: a.V0.Value.A, Lo: math.Inf(-1), Hi: math.Inf(1)}
		c.Areas = append(c.Areas, a)
		c.Neurons += a.Neurons.Count
	}
	c.Ports = c.Neurons
	n.wire(c)
	n.bound(c)
	return c
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
	c.Row = make([]uint64, c.Neurons+1)
	for _, s := range rows {
		if s.From >= c.Neurons || s.To >= c.Ports {
			panic(fmt.Sprintf("BUG: synapse %v in a network of %d neurons", s, c.Neurons))
		}
		c.Row[s.From+1]++
		c.Target, c.Weight = append(c.Target, s.To), append(c.Weight, s.Weight)
		if !single {
			c.Delay = append(c.Delay, s.Delay)
		}
	}
	for i := range c.Neurons {
		c.Row[i+1] += c.Row[i]
	}
}

// bound fills in the largest sums.
func (n Net) bound(c *connectome.Connectome) {
	sums := make([]int64, c.Ports)
	for _, s := range n.Synapses {
		sums[s.To] += abs(s.Weight)
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
	switch d.Kind {
	case connectome.Inject:
		return abs(d.Amount)
	case connectome.Poisson:
		return abs(d.Amount) * int64(len(d.Counts))
	}
	return 0
}

func abs(x int32) int64 { return max(int64(x), -int64(x)) }
