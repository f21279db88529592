package serve

import (
	"fmt"
	"math"
	"slices"

	"burst/engine"
	"burst/live/wire"
)

// mostKeptSpikes is how many spikes wait for a viewer: 128 KiB of them.
const mostKeptSpikes = 128 << 10 / 4

// raster is what the neurons that a viewer has chosen have fired since it was last told. The tap's mu guards it.
type raster struct {
	first, end uint32   // of the chosen neurons
	bits       []uint64 // which of these are chosen
	neurons    []uint32 // ascending
	entries    []uint16 // of each its place among the chosen
	now        wire.Raster
}

// newRaster makes a raster of neurons in the order in which they were chosen.
func newRaster(chosen []uint32) (*raster, error) {
	r := &raster{now: wire.Raster{Spikes: make([]wire.Spike, 0, mostKeptSpikes)}}
	sorted := make([]uint64, len(chosen)) // neurons, and their places in the lower half
	for i, n := range chosen {
		sorted[i] = uint64(n)<<32 | uint64(i)
	}
	slices.Sort(sorted)
	for i, x := range sorted {
		n, k := uint32(x>>32), uint16(x)
		if i > 0 && n == r.neurons[i-1] {
			return nil, fmt.Errorf("neuron %d is chosen twice", n)
		}
		r.neurons, r.entries = append(r.neurons, n), append(r.entries, k)
	}
	r.first, r.end = r.neurons[0]&^63, r.neurons[len(r.neurons)-1]+1
	r.bits = make([]uint64, (r.end-r.first+63)/64)
	for _, n := range r.neurons {
		r.bits[(n-r.first)>>6] |= 1 << (n & 63)
	}
	return r, nil
}

// record adds a burst, or notes that it is lost.
func (r *raster) record(b *engine.Burst) {
	from, _ := slices.BinarySearch(b.Fired, r.first)
	to, _ := slices.BinarySearch(b.Fired, r.end)
	x := &r.now
	if x.Lost > 0 || x.Bursts > math.MaxUint16 || len(x.Spikes)+min(to-from, len(r.neurons)) > mostKeptSpikes {
		x.Lost++
		return
	}
	for _, n := range b.Fired[from:to] {
		if at := n - r.first; r.bits[at>>6]>>(n&63)&1 != 0 {
			i, _ := slices.BinarySearch(r.neurons, n)
			x.Spikes = append(x.Spikes, wire.Spike{After: uint16(x.Bursts), Entry: r.entries[i]})
		}
	}
	x.Bursts++
}

// take gives the frame of what there is and begins anew; nil where there was no burst.
func (r *raster) take(next uint64) []byte {
	x := &r.now
	if x.Bursts == 0 && x.Lost == 0 {
		return nil
	}
	b := wire.AppendRaster(nil, x)
	*x = wire.Raster{First: next, Spikes: x.Spikes[:0]}
	return b
}

// choose makes a viewer's raster, in place of the one before; without places it has none.
func (c *client) choose(places []wire.Place) (int, error) {
	var chosen []uint32
	for i := range places {
		p := &places[i]
		at, err := c.s.area(p.Area)
		if err != nil {
			return 0, err
		}
		a := &c.s.tap.areas[at]
		if p.Voxels != nil {
			return 0, fmt.Errorf("voxels of area %q in a raster, want neurons", p.Area)
		}
		n := len(p.Neurons)
		if p.Neurons == nil {
			n = int(a.Neurons)
		}
		if len(chosen)+n > wire.MostRaster {
			return 0, fmt.Errorf("a raster of %d neurons, want at most %d", len(chosen)+n, wire.MostRaster)
		}
		for k := range uint32(n) {
			if p.Neurons != nil {
				k = p.Neurons[k]
			}
			if k >= a.Neurons {
				return 0, fmt.Errorf("neuron %d of area %q, want less than %d", k, p.Area, a.Neurons)
			}
			chosen = append(chosen, a.First+k)
		}
	}
	t := c.s.tap
	if len(chosen) == 0 {
		t.unraster(c)
		return 0, nil
	}
	r, err := newRaster(chosen)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.now.First = t.next
	if t.rasters == nil {
		t.rasters = map[*client]*raster{}
	}
	t.rasters[c] = r
	return len(chosen), nil
}

// unraster takes a viewer's raster away.
func (t *tap) unraster(c *client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rasters, c)
}

// raster gives a viewer's frame; nil where there is none.
func (t *tap) raster(c *client) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.rasters[c]; r != nil {
		return r.take(t.next)
	}
	return nil
}
