package main

import (
	"math"
	"slices"

	"burst/connectome"
	"burst/genome"
)

// lawRule is how the synapses of a pair of areas learn.
type lawRule struct {
	window   uint32 // bursts
	up, down float32
}

// newLawRules are the rules by the names of a pair of areas.
func newLawRules(g *genome.Genome) map[[2]string]*lawRule {
	rules := map[[2]string]*lawRule{}
	for i := range g.Projections {
		p := &g.Projections[i]
		if p.Learning == nil {
			continue
		}
		step := func(by string) float32 {
			return float32(max(0, math.Floor(p.Learning.Params["constant"])*math.Floor(p.Learning.Params[by])))
		}
		rules[[2]string{g.Areas[p.From].Name, g.Areas[p.To].Name}] = &lawRule{uint32(p.Learning.Params["window"]), step("ltp"), step("ltd")}
	}
	return rules
}

// learn changes the weights after burst b, in which these neurons fired: in every burst, a step up where both ends have fired in the
// window, and a step down, of the weight's size, where one has.
func (l *law) learn(b uint32, fired []uint32) {
	for _, n := range fired {
		l.neurons[n].last = b
	}
	for i := range l.neurons {
		n := &l.neurons[i]
		for k := range n.out {
			s := &n.out[k]
			if s.rule == nil {
				continue
			}
			copy(s.older[1:], s.older)
			s.older[0] = s.weight
			recent := func(n *lawNeuron) bool { return n.last > 0 && b-n.last < s.rule.window }
			size := float32(math.Abs(float64(s.weight)))
			switch one, other := recent(n), recent(&l.neurons[s.to]); {
			case b < s.rule.window || !one && !other:
				continue
			case one && other:
				size += s.rule.up
			default:
				size = max(0, size-s.rule.down)
			}
			s.weight = float32(math.Copysign(float64(size), float64(s.weight)))
		}
	}
}

// made is a synapse as burst has it.
type made struct {
	to     uint32
	delay  uint32
	amount float64 // of the source's current; where the potential drives the current, the weight
	apart  bool    // it learns, or the potential drives it
	taken  bool
}

// madeBy are the synapses of a neuron.
func madeBy(c *connectome.Connectome, n uint32) (list []made) {
	for k := c.Row[n]; k < c.Row[n+1]; k++ {
		a := &c.Areas[c.AreaOfPort(c.Target[k])]
		q := c.Weight[k]
		if a.Lifted() {
			q = connectome.Unlift(q, int64(a.Constant("rectify").Const))
		}
		list = append(list, made{to: c.NeuronOf(c.Target[k]), delay: c.DelayOf(k), amount: float64(q) / float64(c.Scale)})
	}
	if d := c.Driven; d != nil {
		for k := d.Row[n]; k < d.Row[n+1]; k++ {
			list = append(list, made{to: c.NeuronOf(d.Target[k]), delay: d.DelayOf(k), amount: float64(d.Weight[k]) / float64(c.Scale), apart: true})
		}
	}
	for i := range c.Plastic {
		p := &c.Plastic[i]
		if n < p.From.First || n-p.From.First >= p.From.Count {
			continue
		}
		source := n - p.From.First
		for k := p.Row[source]; k < p.Row[source+1]; k++ {
			amount := float64(p.Share(p.First(k), source)) / float64(c.Scale)
			list = append(list, made{to: c.NeuronOf(p.Target[k]), delay: p.DelayOf(k), amount: amount, apart: true})
		}
	}
	return list
}

// connect adds the synapses of an area, with the delays of burst's.
func (l *law) connect(list []synapse, place map[uint32]uint32, c *connectome.Connectome, g *genome.Genome, rules map[[2]string]*lawRule) {
	out, have := map[uint32]int{}, map[uint32][]made{}
	for _, x := range list {
		out[x.Source]++
	}
	for _, x := range list {
		from, ok := place[x.Source]
		to, ok2 := place[x.Target]
		if !ok || !ok2 {
			continue
		}
		n := &l.neurons[from]
		s := lawSynapse{to: to, delay: 1, weight: x.Weight, psp: x.PSP, among: 1}
		if x.Type == 1 {
			s.weight = -x.Weight
		}
		if !n.area.Uniform {
			s.among = float32(out[x.Source])
		}
		s.share = s.part(s.weight, x.PSP)
		s.rule = rules[[2]string{g.Areas[c.AreaOf(from)].Name, g.Areas[c.AreaOf(to)].Name}]
		if _, ok := have[from]; !ok {
			have[from] = madeBy(c, from)
		}
		amount := s.share
		if n.area.Driven {
			amount = float64(s.weight)
		}
		if m := like(have[from], to, amount); m != nil {
			s.delay, m.taken = m.delay, true
		}
		if s.rule != nil {
			s.older = slices.Repeat([]float32{s.weight}, int(c.MaxDelay))
		}
		n.out = append(n.out, s)
	}
}

// like is the synapse onto a target whose amount is nearest, one that is not taken before one that is, as merged ones stand for several.
func like(list []made, to uint32, amount float64) (best *made) {
	worse := func(a, b *made) bool {
		if a.taken != b.taken {
			return a.taken
		}
		return math.Abs(a.amount-amount) > math.Abs(b.amount-amount)
	}
	for k := range list {
		if m := &list[k]; m.to == to && (best == nil || worse(best, m)) {
			best = m
		}
	}
	return best
}

// wholeQuanta gives the synapses that stay as they are burst's amounts.
func (l *law) wholeQuanta(c *connectome.Connectome) {
	for i := range l.neurons {
		n := &l.neurons[i]
		kept, psp := n.out[:0], float32(0)
		for _, s := range n.out {
			psp = s.psp
			if s.rule != nil || n.area.Driven {
				kept = append(kept, s)
			}
		}
		for _, m := range madeBy(c, uint32(i)) {
			if !m.apart {
				kept = append(kept, lawSynapse{to: m.to, delay: m.delay, share: m.amount, psp: psp})
			}
		}
		n.out = kept
	}
}
