package connectome

import (
	"math"
	"runtime"
)

// plasticHash adds to the workers' sums the share of the projections that change in Hash. Each adds the hash of each of its synapses, folded on from what
// its rule and numbers make: fold, from 3 on, over its place among these projections, Lag, bounds, window, parameters, programs, and PSPMax
// where it is above 0. Behind it are what a synapse's variables start from in a list, each with its number.
func (c *Connectome) plasticHash(sums []uint64) {
	for i := range c.Plastic {
		p := &c.Plastic[i]
		head := p.fold(fold(3, uint64(i)))
		p.eachSynapse(sums, func(k, synapse uint64) uint64 { return p.foldListed(fold(head, synapse), k) })
	}
}

func (p *Plastic) foldListed(h, k uint64) uint64 {
	for v, list := range p.Listed {
		if list != nil {
			h = foldBits(fold(h, uint64(v)), list[k])
		}
	}
	return h
}

// Wiring makes of Hash the hash without the rules by which weights change: such synapses count as all others do, with the weights that
// they start from, and stimuli, which by their number decide how areas that rectify lift their input, have no part in it. Networks of the
// same wiring can go on with each other's weights. Like Hash it can be added up over parts. Without plastic projections it is Hash.
func (c *Connectome) Wiring(hash uint64) uint64 {
	sums := make([]uint64, runtime.GOMAXPROCS(0))
	for i := range c.Plastic {
		p := &c.Plastic[i]
		head := p.fold(fold(3, uint64(i)))
		p.eachSynapse(sums, func(k, synapse uint64) uint64 { return synapse - p.foldListed(fold(head, synapse), k) })
	}
	if len(c.Plastic) > 0 {
		c.unliftHash(sums)
	}
	for _, s := range sums {
		hash += s
	}
	return hash
}

// eachSynapse adds what is made of the hash of each synapse to the workers' sums.
func (p *Plastic) eachSynapse(sums []uint64, of func(k, synapse uint64) uint64) {
	spans(len(sums), uint64(p.From.Count), 1<<12, func(worker int, lo, hi uint64) {
		for s := lo; s < hi; s++ {
			for k := p.Row[s]; k < p.Row[s+1]; k++ {
				sums[worker] += of(k, synapseHash(p.From.First+uint32(s), p.Target[k], p.First(k), p.DelayOf(k)))
			}
		}
	})
}

func (p *Plastic) fold(h uint64) uint64 {
	whole := func(list ...uint64) {
		for _, x := range list {
			h = fold(h, x)
		}
	}
	floats := func(list ...float32) {
		whole(uint64(len(list)))
		for _, x := range list {
			h = foldBits(h, x)
		}
	}
	table := func(t *Table) {
		whole(t.Until)
		floats(t.Low...)
		floats(t.High...)
	}
	whole(uint64(p.Lag), uint64(p.Window.Kind), uint64(p.Window.Bursts))
	floats(p.Lo, p.Hi, p.Window.Up, p.Window.Down)
	floats(p.Source...)
	floats(p.Synapse...)
	for k, v := range p.Drawn {
		if v != nil {
			whole(uint64(k), uint64(v.Kind), uint64(bit(v.Clip)), uint64(bit(v.LoOpen)), uint64(bit(v.HiOpen)))
			for _, x := range []float64{v.A, v.B, v.Lo, v.Hi} {
				whole(math.Float64bits(x))
			}
		}
	}
	for _, list := range [][]Trace{p.Pre, p.Post} {
		whole(uint64(len(list)))
		for i := range list {
			floats(list[i].Amount)
			whole(uint64(bit(list[i].Set)))
			table(&list[i].Table)
		}
	}
	for i := range p.Modulators {
		m := &p.Modulators[i]
		whole(uint64(m.From.First), uint64(m.From.Count), uint64(m.Delay))
		floats(m.Amount)
		table(&m.Table)
	}
	for _, k := range p.TargetVariables {
		whole(uint64(k))
	}
	whole(p.Rule.Every)
	for n, list := range []*Handler{p.OnPost, p.OnPre, p.Every, p.OnSource, p.When} {
		if list == nil {
			continue
		}
		whole(uint64(n))
		whole(list.Program.Words()...)
		for _, r := range list.Reads {
			whole(uint64(r.Kind)<<32 | uint64(r.K))
		}
		floats(list.Params...)
		for k := range list.Decays {
			table(&list.Decays[k])
		}
	}
	if p.Fails() {
		floats(p.Below, p.Above)
	}
	for _, n := range p.Divide {
		whole(uint64(n))
	}
	if p.PSPMax > 0 {
		whole(uint64(p.PSPMax))
	}
	return h
}

func bit(x bool) int {
	if x {
		return 1
	}
	return 0
}
