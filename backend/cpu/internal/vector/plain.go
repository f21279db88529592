package vector

import (
	"math"

	"burst/internal/exact"
)

// Best are the fastest loops for this processor.
func Best() Kernels {
	all := sets()
	return all[len(all)-1]
}

// Plain are the loops in Go, for any processor.
func Plain() Kernels {
	return Kernels{
		Name: "go", LIF: lif, PSCExp: pscExp, FEAGI: feagi, Draws: draws, AddCounts: addCounts, Event: event, Candidates: candidatesBy(nonzero), SlotsPerMark: 32, Nonzero: nonzero, Deliver: deliver,
		DeliverRuns: deliverRuns, DeliverRooms: deliverRooms, FetchRows: func([]uint64, []uint32) {}, FetchSpans: func([]uint16, []Span) {}, FetchRuns: func([]uint16, []Flight) {},
		Formula: plainFormula(), Synapses: plainSynapses(),
	}
}

// lif computes both outcomes and selects one by a mask. A branch on "refractory" would be mispredicted; it took 1.5 times
// as long.
func lif(k *LIF, acc []int32, v []float32, r []uint16, fired []uint64, live []uint8) {
	em1, term, scale, threshold, reset, refractory := k.EM1, k.Term, k.Scale, k.Threshold, k.Reset, uint16(k.Refractory)
	for b := range blocks(len(acc)) {
		lo, hi := b*Block, min((b+1)*Block, len(acc))
		acc, v, r := acc[lo:hi], v[lo:hi], r[lo:hi]
		v, r = v[:len(acc)], r[:len(acc)]
		spikes, change := uint64(0), uint32(0)
		for i, sum := range acc {
			acc[i] = 0 // 7
			old, left := v[i], r[i]
			silent := uint32(-int32(left) >> 31)                      // all ones or zero
			x := old + (float32(em1*old) + term) + float32(sum)/scale // 4b
			if x >= threshold && silent == 0 {                        // 4c
				v[i], r[i] = reset, refractory
				spikes |= 1 << i
				continue
			}
			bits, held := math.Float32bits(x), math.Float32bits(old)
			now := bits ^ (bits^held)&silent
			v[i], r[i] = math.Float32frombits(now), left-uint16(silent&1) // 4a
			change |= now ^ held | silent | uint32(sum)
		}
		fired[b], live[b] = spikes, lively(spikes, change)
	}
}

// differing are the bits in which two numbers differ.
func differing(a, b float32) uint32 { return math.Float32bits(a) ^ math.Float32bits(b) }

func lively(spikes uint64, change uint32) uint8 {
	if spikes != 0 || change != 0 {
		return 1
	}
	return 0
}

func pscExp(k *PSCExp, s *Currents, fired []uint64, live []uint8) {
	for b := range blocks(len(s.AccEx)) {
		lo, hi := b*Block, min((b+1)*Block, len(s.AccEx))
		accEx := s.AccEx[lo:hi]
		accIn, v, ex, in, r := s.AccIn[lo:hi][:len(accEx)], s.V[lo:hi][:len(accEx)], s.Ex[lo:hi][:len(accEx)], s.In[lo:hi][:len(accEx)], s.R[lo:hi][:len(accEx)]
		spikes, change := uint64(0), uint32(0)
		for i := range accEx {
			old, oldEx, oldIn, left := v[i], ex[i], in[i], r[i]
			x := old
			if left > 0 { // 4a
				r[i]--
			} else { // 4b
				x = x + float32(k.EM1*x) + float32(k.P21Ex*oldEx) + float32(k.P21In*oldIn) + k.Term
			}
			ex[i] = float32(k.P11Ex*oldEx) + float32(accEx[i])/k.Scale // 4c
			in[i] = float32(k.P11In*oldIn) + float32(accIn[i])/k.Scale
			change |= uint32(accEx[i]) | uint32(accIn[i]) | uint32(left)
			accEx[i], accIn[i] = 0, 0 // 7
			if x >= k.Threshold {     // 4d
				x = k.Reset
				r[i] = uint16(k.Refractory)
				spikes |= 1 << i
			}
			v[i] = x
			change |= differing(x, old) | differing(ex[i], oldEx) | differing(in[i], oldIn)
		}
		fired[b], live[b] = spikes, lively(spikes, change)
	}
}

func feagi(k *FEAGI, acc []int32, v []float32, r []uint16, fired []uint64) {
	v, r = v[:len(acc)], r[:len(acc)]
	clear(fired[:blocks(len(acc))])
	for i, sum := range acc {
		if sum == 0 {
			continue
		}
		acc[i] = 0    // 7
		if r[i] > 0 { // 4a
			r[i]--
			continue
		}
		x := float32(sum) / k.Scale // 4b
		if k.Accumulate != 0 {
			x += v[i]
		}
		if k.Threshold <= x && x <= k.Limit { // 4c
			v[i], r[i] = 0, uint16(k.Refractory)
			fired[i/Block] |= 1 << (i % Block)
			continue
		}
		x = float32(x * k.Keep) // 4d
		if k.Leaks != 0 && x > 0 {
			x = max(x-k.LeakAmount, 0)
		}
		if k.Accumulate == 0 {
			x = 0
		}
		v[i] = x
	}
}

func draws(p *Philox, first uint32, out []uint32) {
	key := p.key()
	for i := range len(out) / 4 {
		words := exact.Philox(key, [4]uint32{first + uint32(i), p.Counter[0], p.Counter[1], p.Counter[2]})
		copy(out[4*i:], words[:])
	}
}

func addCounts(acc []int32, draws, thresholds []uint32, amount int32) {
	draws = draws[:len(acc)]
	for i, x := range draws {
		k := 0
		for k < len(thresholds) && thresholds[k] <= x {
			k++
		}
		acc[i] += int32(k) * amount
	}
}

func nonzero(acc []int32, bits []uint64) {
	for b := range blocks(len(acc)) {
		word := uint64(0)
		for i, sum := range acc[b*Block : min((b+1)*Block, len(acc))] {
			if sum != 0 {
				word |= 1 << i
			}
		}
		bits[b] = word
	}
}
