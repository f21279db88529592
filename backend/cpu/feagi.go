package cpu

import (
	"math"
	"math/bits"

	"burst/connectome"
	"burst/internal/exact"
)

// updateFEAGI is step 4 of feagi for the group's candidates.
func (p *part) updateFEAGI(g *group) {
	f, scale := &g.area.FEAGI, float32(p.b.c.Scale)
	p.candidates(g, true, func(i uint32, sum int32) {
		if n := g.lo + i; p.feagi(f, n, n-g.area.Neurons.First, float32(sum)/scale) {
			g.fired = append(g.fired, n)
		}
	})
}

// candidates calls take for the neurons of a feagi group whose sums were marked and are not zero, ascending, counted from
// lo; take out makes their marks and sums zero again.
func (p *part) candidates(g *group, out bool, take func(i uint32, sum int32)) {
	lo, hi := g.slot, g.slot+g.hi-g.lo
	first, last := lo/64, (hi-1)/64
	for s := first / 64; s <= last/64; s++ {
		for words := p.summary[s]; words != 0; words &= words - 1 {
			w := s*64 + uint32(bits.TrailingZeros64(words))
			if w < first || w > last {
				continue
			}
			mask := ^uint64(0) // neighbouring groups may share a word
			if w == first {
				mask &= ^uint64(0) << (lo % 64)
			}
			if w == last {
				mask &= ^uint64(0) >> (63 - (hi-1)%64)
			}
			list := p.marked[w] & mask
			if out {
				if p.marked[w] &^= mask; p.marked[w] == 0 {
					p.summary[s] &^= 1 << (w % 64)
				}
			}
			for ; list != 0; list &= list - 1 {
				slot := w*64 + uint32(bits.TrailingZeros64(list))
				if sum := p.acc[slot]; sum != 0 {
					if out {
						p.acc[slot] = 0
					}
					take(slot-lo, sum)
				}
			}
		}
	}
}

// unmark forgets the marks of a group whose sums are zero again, in a part that has feagi areas too.
func (p *part) unmark(g *group) {
	if !p.marks {
		return
	}
	lo, hi := g.slot, g.slot+g.ports()
	for slot := lo; slot < hi; {
		w := slot / 64
		end := min(hi, (w+1)*64)
		mask := ^uint64(0) << (slot % 64) & (^uint64(0) >> (63 - (end-1)%64))
		if p.marked[w] != 0 {
			if p.marked[w] &^= mask; p.marked[w] == 0 {
				p.summary[w/64] &^= 1 << (w % 64)
			}
		}
		slot = end
	}
}

// feagi is step 4 for candidate n, the i-th neuron of its area.
func (p *part) feagi(f *connectome.FEAGI, n, i uint32, input float32) bool {
	b := p.b
	if r := b.r[n]; r > 0 { // 4a
		b.r[n] = r - 1
		if r == 1 && f.FireLimit != 0 && b.count[n] >= f.FireLimit {
			b.count[n] = 0
		}
		return false
	}
	v := input // 4b
	if f.Accumulate {
		v = b.v[n] + input
	}
	if f.Threshold.At(i) <= v && v <= f.ThresholdLimit { // 4c
		if f.FireLimit != 0 && b.count[n] >= f.FireLimit {
			b.count[n] = 0
			b.v[n] = kept(f, v)
			return false
		}
		if f.ExciteBelow == 1<<32 && !f.FEAGIDraw || excited(f, b.c.RunSeed, n, b.number) {
			b.fire(f, n)
			return true
		}
	}
	if f.FireLimit != 0 { // 4d
		b.count[n] = 0
	}
	v = float32(v * f.Keep)
	if f.LeakAmount > 0 && v > 0 {
		v = max(v-f.LeakAmount, 0)
	}
	b.v[n] = kept(f, v)
	return false
}

// kept is what stays of a potential between bursts.
func kept(f *connectome.FEAGI, v float32) float32 {
	if f.Accumulate {
		return v
	}
	return 0
}

// fire is the reset of a feagi neuron.
func (b *backend) fire(f *connectome.FEAGI, n uint32) {
	b.v[n] = 0
	if b.count[n] < math.MaxUint16 {
		b.count[n]++
	}
	b.r[n] = f.Refractory
	if f.FireLimit != 0 && b.count[n] >= f.FireLimit {
		b.r[n] = uint16(min(uint32(f.Refractory)+uint32(f.Snooze), math.MaxUint16))
	}
}

// excited is the excitability's draw in burst t.
func excited(f *connectome.FEAGI, seed uint64, n uint32, t uint64) bool {
	if !f.FEAGIDraw {
		return uint64(exact.Draw(seed, exact.Excitability, uint64(n), t)[0]) < f.ExciteBelow
	}
	switch {
	case f.Excitability >= 0.999:
		return true
	case f.Excitability <= 0:
		return false
	}
	return float32(exact.FEAGIHash(n, uint32(t)+1))/(1<<32) < f.Excitability
}
