package cpu

import (
	"cmp"
	"math/bits"
	"slices"

	"burst/connectome"
	"burst/engine"
)

// drivenRows are the rows of the driven synapses, of which a worker walks through its own.
func drivenRows(c *connectome.Connectome) *connectome.Connectome {
	d := c.Driven
	return &connectome.Connectome{Neurons: c.Neurons, Part: c.Part, Row: d.Row, Target: d.Target, Weight: d.Weight, Delay: connectome.Delays{Short: d.Delay}}
}

// propagateDriven is step 1d.
func (w *worker) propagateDriven() {
	for d, list := range w.b.amplitudes {
		for _, x := range list {
			w.deliverDriven(x, uint8(d+1))
		}
	}
}

// deliverDriven delivers a spike by its synapses of a delay.
func (w *worker) deliverDriven(x engine.Amplitude, delay uint8) {
	rows := w.b.c.Driven
	from, to := rows.Row[x.Neuron], rows.Row[x.Neuron+1]
	if rows.Delay != nil {
		delays := rows.Delay[from:to]
		first := reach(delays, delay)
		from, to = from+uint64(first), from+uint64(first+reach(delays[first:], delay+1))
	} else if delay > 1 {
		return
	}
	if delay == 255 {
		to = rows.Row[x.Neuron+1] // 255 + 1 is 0
	}
	ports, shift, weights := w.driven.take(from, to)
	w.read += uint64(len(ports))
	scale, by := w.b.c.Scale, rows.DivideOf(x.Neuron)
	area := 0
	for k, port := range ports {
		slot := port - shift
		for slot-w.groups[area].slot >= w.groups[area].ports() { // slots ascend
			area++
		}
		w.add(slot, int32(w.groups[area].area.Lift(connectome.Delivers(weights[k], x.Quanta, scale, by))))
	}
}

// amplitudeOf is the amplitude of a neuron that fired in a burst.
func (b *backend) amplitudeOf(n uint32, burst uint64) int32 {
	list := b.amplitudes[b.number-burst-1]
	i, found := slices.BinarySearchFunc(list, n, func(x engine.Amplitude, n uint32) int { return cmp.Compare(x.Neuron, n) })
	if !found {
		return 0
	}
	return list[i].Quanta
}

// updateDrivenFEAGI is updateEachFEAGI for neurons whose potentials drive what their spikes deliver.
func (w *worker) updateDrivenFEAGI(g *group) {
	f, scale := g.feagi, float32(w.b.c.Scale)
	for _, h := range w.found(g, 0, true) {
		for m := h.mask; m != 0; m &= m - 1 {
			i := h.block*64 + uint32(bits.TrailingZeros64(m))
			sum := w.acc[g.slot+i]
			if sum == 0 { // 4a, in recover
				continue
			}
			w.acc[g.slot+i] = 0 // 7
			if sum = connectome.Unlift(sum, f.rectify); sum < 0 && f.rectify != 0 && f.accumulate {
				sum = 0
			}
			n, input := w.b.own.Neuron(g.lo+i), float32(sum)/scale
			v := input
			if f.accumulate {
				v = g.v[i] + input
			}
			if w.candidate(g, n, i, input) {
				g.fired = append(g.fired, n)
				x, err := engine.NewAmplitude(w.b.c, g.area, n, v)
				if err != nil && f.wrong == nil {
					f.wrong = err
				}
				f.amplitudes = append(f.amplitudes, x)
			}
		}
	}
}

// gatherAmplitudes lists the amplitudes of the burst that has been run, or returns the error of the first that is beyond its bound.
func (b *backend) gatherAmplitudes(list []engine.Amplitude) ([]engine.Amplitude, error) {
	if b.c.Driven == nil {
		return list, nil
	}
	for i := range b.c.Areas {
		for _, w := range b.workers {
			f := w.groups[i].feagi
			if f == nil {
				continue
			}
			if f.wrong != nil {
				return list, f.wrong
			}
			list = append(list, f.amplitudes...)
			f.amplitudes = f.amplitudes[:0]
		}
	}
	return list, nil
}

// SetAmplitudes replaces the amplitudes of the burst that is delay bursts back by those of all parts, ascending.
func (b *backend) SetAmplitudes(delay int, list []engine.Amplitude) {
	b.amplitudes[delay-1] = append(b.amplitudes[delay-1][:0], list...)
}

// drivenBytes is the memory by which each worker walks through driven rows.
func drivenBytes(d *connectome.Driven) uint64 {
	longest := uint64(0)
	for n := range d.Row[1:] {
		longest = max(longest, d.Row[n+1]-d.Row[n])
	}
	return 8 * longest
}
