package main

import (
	"math"
	"slices"

	"burst/connectome"
	"burst/genome"
	"burst/internal/exact"
)

// law is FEAGI's released law in float32, plasticity included, written apart from burst's own, over the synapses that the server holds.
type law struct {
	features
	scale     int32 // quanta in a unit
	areas     []lawArea
	neurons   []lawNeuron
	queues    [][]uint32  // queues[d−1] is what fired d bursts ago
	at        [][]float32 // and its potentials then
	input     []float64
	candidate []bool
}

// features are where FEAGI's program differs from the law that burst follows; each explains some differences.
type features struct {
	float bool // sums and shares in float32, not in whole quanta
	batch bool // from 10,000 candidates on there is no snooze, and who is blocked leaks
	worn  bool // each spike of a neuron lowers the current of its synapses by its area's degeneration, down to 0
}

// theirs is all of them, as FEAGI has it.
func theirs() features { return features{float: true, batch: true, worn: true} }

// manyCandidates is how many make FEAGI take its other path.
const manyCandidates = 10000

type lawArea struct {
	properties
	first  uint32     // neuron
	count  uint32     // of neurons
	voxel  uint32     // neurons of a voxel
	forced [][]uint32 // what fires, where the area was stimulated
	fed    bool       // power
	wear   float32    // the degeneration
}

type lawNeuron struct {
	area      *lawArea
	out       []lawSynapse
	id        uint32 // by which excitability draws
	v         float32
	fired     float32 // potential at which it fired last; one below 0 drives nothing
	threshold float32
	r, count  uint32
	last      uint32 // burst in which it fired last, from 1; 0: none
	spikes    uint32
}

type lawSynapse struct {
	to     uint32
	delay  uint32
	weight float32   // signed
	psp    float32   // of the source's area
	among  float32   // of how many synapses this is one, where they share
	share  float64   // what arrives, where it does not depend on the potential
	rule   *lawRule  // nil: it does not learn
	older  []float32 // weights before the last bursts' learning, the newest first, where it does
}

// newLaw prepares a run. c gives thresholds, delays and, where sums are whole quanta, the weights.
func newLaw(g *genome.Genome, rec *recording, c *connectome.Connectome, f features) *law {
	l := &law{features: f, scale: c.Scale, areas: make([]lawArea, len(g.Areas)), queues: make([][]uint32, c.MaxDelay), at: make([][]float32, c.MaxDelay)}
	place := map[uint32]uint32{}
	for i := range g.Areas {
		a := &l.areas[i]
		*a = lawArea{
			properties: rec.areas[i].first, first: uint32(len(l.neurons)), count: uint32(g.Areas[i].Neurons()),
			voxel: uint32(g.Areas[i].PerVoxel), fed: len(g.Areas[i].Drives) > 0, wear: rec.areas[i].wear,
		}
		if slices.Contains(rec.stimulated, i) {
			a.forced = rec.areas[i].fired
		}
		for k := range a.count {
			n := lawNeuron{area: a, id: rec.areas[i].ids[k], threshold: a.Threshold}
			if a.forced == nil && g.Areas[i].Gradient != [3]float64{} {
				n.threshold = c.Areas[i].Constant("threshold").At(k)
			}
			place[rec.areas[i].ids[k]] = uint32(len(l.neurons))
			l.neurons = append(l.neurons, n)
		}
	}
	rules := newLawRules(g)
	for i := range rec.areas {
		l.connect(rec.areas[i].synapses, place, c, g, rules)
	}
	if !l.float {
		l.wholeQuanta(c)
	}
	l.input, l.candidate = make([]float64, len(l.neurons)), make([]bool, len(l.neurons))
	return l
}

// before is the weight that a spike carries which was fired d + 1 bursts ago.
func (s *lawSynapse) before(d int) float32 {
	if s.rule == nil {
		return s.weight
	}
	return s.older[d]
}

// part is what arrives of a current by a weight.
func (s *lawSynapse) part(weight, psp float32) float64 {
	return float64(float32(weight*psp) / s.among)
}

// driven is what arrives of a spike that was fired at the potential v; without float it is what burst delivers, in whole quanta.
func (l *law) driven(n *lawNeuron, s *lawSynapse, weight, v float32) float64 {
	if l.float {
		return s.part(weight, v)
	}
	amplitude, _ := connectome.Amplitude(v, l.scale, math.MaxInt32)
	by := int32(0)
	if !n.area.Uniform {
		by = int32(s.among)
	}
	return float64(connectome.Delivers(connectome.Quanta(weight, l.scale), amplitude, l.scale, by)) / float64(l.scale)
}

// left is what arrives of a current that earlier spikes have lowered.
func (l *law) left(n *lawNeuron, s *lawSynapse) float64 {
	psp := max(0, s.psp-n.area.wear*float32(n.spikes-1))
	if l.float {
		return s.part(s.weight, psp)
	}
	return s.share * float64(psp/s.psp)
}

// step is burst b, counted from 1; it gives who fired, ascending.
func (l *law) step(b uint32) []uint32 {
	for d, fired := range l.queues {
		for k, i := range fired {
			n := &l.neurons[i]
			for j := range n.out {
				switch s := &n.out[j]; {
				case int(s.delay) != d+1:
				case n.area.Driven:
					l.add(s.to, l.driven(n, s, s.before(d), l.at[d][k]))
				case s.rule != nil:
					l.add(s.to, s.part(s.before(d), s.psp))
				case l.worn && n.area.wear > 0:
					l.add(s.to, l.left(n, s))
				default:
					l.add(s.to, s.share)
				}
			}
		}
	}
	for i := range l.areas {
		if a := &l.areas[i]; a.fed {
			l.add(a.first, 1)
		}
	}
	many := 0
	for _, is := range l.candidate {
		if is {
			many++
		}
	}
	var fired []uint32
	var at []float32
	for i := range l.areas {
		a := &l.areas[i]
		if a.forced != nil {
			for _, k := range a.forced[b-1] {
				fired, at = append(fired, a.first+k), append(at, 0)
			}
			continue
		}
		for k := range a.count {
			if l.update(a.first+k, b, l.batch && many >= manyCandidates) {
				fired, at = append(fired, a.first+k), append(at, l.neurons[a.first+k].fired)
			}
		}
	}
	clear(l.input)
	clear(l.candidate)
	for _, k := range fired {
		l.neurons[k].spikes++
	}
	l.learn(b, fired)
	l.queues = append([][]uint32{fired}, l.queues[:len(l.queues)-1]...)
	l.at = append([][]float32{at}, l.at[:len(l.at)-1]...)
	return fired
}

// add is an input of a neuron.
func (l *law) add(n uint32, x float64) {
	if l.candidate[n] = true; l.float {
		l.input[n] = float64(float32(l.input[n]) + float32(x))
		return
	}
	l.input[n] += x
}

// update is one neuron's part of a burst; it says whether the neuron fires.
func (l *law) update(k, burst uint32, batch bool) bool {
	n := &l.neurons[k]
	a := n.area
	limited := func() bool { return a.FireLimit > 0 && a.FireLimit != noLimit && n.count >= a.FireLimit }
	if n.r > 0 { // passes in every burst
		if n.r--; n.r == 0 && limited() {
			n.count = 0
		}
		return false
	}
	if !l.candidate[k] {
		return false
	}
	if a.Accumulate {
		n.v += max(0, float32(l.input[k])) // a sum below 0 counts as 0
	} else {
		n.v = float32(l.input[k])
	}
	keep := 1 - a.Leak
	if n.v >= n.threshold && n.v <= a.Limit {
		if limited() {
			if n.count = 0; batch {
				n.v = float32(n.v * keep)
			}
			return false
		}
		if e := a.Excitability; e >= 0.999 || e > 0 && float32(exact.FEAGIHash(n.id, burst))/(1<<32) < e {
			n.fired, n.v = max(0, n.v), 0
			n.count = min(n.count+1, math.MaxUint16)
			if n.r = a.Refractory; limited() && !batch {
				n.r = min(n.r+a.Snooze, math.MaxUint16)
			}
			return true
		}
	}
	if a.FireLimit > 0 && a.FireLimit != noLimit {
		n.count = 0
	}
	n.v = float32(n.v * keep)
	return false
}

// run gives what each area fires in n bursts, by the first neuron's place of each voxel.
func (l *law) run(n int) [][][]uint32 {
	all := make([][][]uint32, len(l.areas))
	for b := range n {
		for i := range all {
			all[i] = append(all[i], nil)
		}
		fired := l.step(uint32(b + 1))
		i := 0
		for _, k := range fired {
			for i+1 < len(l.areas) && l.areas[i+1].first <= k {
				i++
			}
			first := (k - l.areas[i].first) / l.areas[i].voxel * l.areas[i].voxel
			if list := all[i][b]; len(list) == 0 || list[len(list)-1] != first {
				all[i][b] = append(list, first)
			}
		}
	}
	return all
}
