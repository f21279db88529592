package serve

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"burst/engine"
	"burst/live/wire"
	"burst/record"
	"burst/record/manifest"
	"burst/run"
)

// mostPoints is how many points a picture has at most, as far as the number of areas allows.
const mostPoints = 100_000

// mostAreas is how many areas a picture can have.
const mostAreas = math.MaxUint16

// tap is the Recorder behind all pictures and rates.
type tap struct {
	areas    []wire.Area
	ends     []uint32 // behind the neurons of each area
	timestep float64  // ms

	mu       sync.Mutex
	watchers int // clients to view; without them no bits are set
	rasters  map[*client]*raster
	now      seen
	total    []uint64 // spikes of each area since the server began
	bursts   uint64
	next     uint64
}

// seen is what has fired in some bursts.
type seen struct {
	bits   []uint64 // a bit for each neuron
	spikes []uint64 // of each area
	bursts uint64
	next   uint64
}

// open makes the tap one of a run. What bursts it was given before are not counted.
func (t *tap) open(f *run.Facts, next uint64) {
	t.timestep, t.next = f.Genome.Timestep, next
	for i := range f.Connectome.Areas {
		a := &f.Connectome.Areas[i]
		t.ends = append(t.ends, a.Neurons.End())
		t.areas = append(t.areas, wire.Area{
			Name: a.Name, Model: a.Model.Name, First: a.Neurons.First, Neurons: a.Neurons.Count, Size: a.Size, PerVoxel: a.PerVoxel,
			Position: f.Genome.Areas[i].Position, Grain: 1,
		})
	}
	setGrain(t.areas)
	t.total = make([]uint64, len(t.areas))
	t.now = newSeen(f.Connectome.Neurons, len(t.areas))
}

func newSeen(neurons uint32, areas int) seen {
	return seen{bits: make([]uint64, (uint64(neurons)+63)/64), spikes: make([]uint64, areas)}
}

// setGrain makes the points of all areas no more than mostPoints, by cubes of voxels.
func setGrain(areas []wire.Area) {
	for g := 1; g <= 255; g++ {
		sum := uint64(0)
		for i := range areas {
			a := &areas[i]
			a.Grain = uint8(g)
			n := uint64(1)
			for _, x := range a.Size {
				n *= (uint64(x) + uint64(g) - 1) / uint64(g)
			}
			a.Points = uint32(n)
			sum += n
		}
		if sum <= mostPoints {
			return
		}
	}
}

// Record adds a burst.
func (t *tap) Record(b *engine.Burst) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.areas == nil {
		return nil // the log of a run that goes on is run once more
	}
	t.bursts++
	t.next = b.Number + 1
	t.now.bursts++
	t.now.next = t.next
	for rest := b.Fired; len(rest) > 0; {
		area, _ := slices.BinarySearch(t.ends, rest[0]+1)
		n := len(rest)
		if end := t.ends[area]; rest[n-1] >= end {
			n, _ = slices.BinarySearch(rest, end)
		}
		t.total[area] += uint64(n)
		t.now.spikes[area] += uint64(n)
		rest = rest[n:]
	}
	for _, r := range t.rasters {
		r.record(b)
	}
	if t.watchers > 0 {
		bits := t.now.bits // which is not looked up for each neuron then
		for _, n := range b.Fired {
			bits[n>>6] |= 1 << (n & 63)
		}
	}
	return nil
}

// watch counts one more that watches, or one less. The first begins with nothing.
func (t *tap) watch(more int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == 0 {
		t.now.empty()
	}
	t.watchers += more
}

// take gives what has fired since the last take, in exchange for memory of the same form; false where nobody watches.
func (t *tap) take(into *seen) bool {
	into.empty()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == 0 {
		return false
	}
	into.next = t.now.next
	*into, t.now = t.now, *into
	return true
}

// jump goes to another burst: what was counted until now is of elsewhere.
func (t *tap) jump(next uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.empty()
	clear(t.total)
	t.bursts, t.next, t.now.next = 0, next, next
	for _, r := range t.rasters {
		r.now.First, r.now.Bursts, r.now.Lost, r.now.Spikes = next, 0, 0, r.now.Spikes[:0]
	}
}

// empty forgets what has fired.
func (s *seen) empty() {
	clear(s.bits)
	clear(s.spikes)
	s.bursts = 0
}

// rates are the spikes of each area, and of how many bursts.
func (t *tap) rates(spikes []uint64) (_ []uint64, bursts, next uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(spikes[:0], t.total...), t.bursts, t.next
}

// add adds what has fired later.
func (s *seen) add(x *seen) {
	for i, b := range x.bits {
		s.bits[i] |= b
	}
	for i, n := range x.spikes {
		s.spikes[i] += n
	}
	s.bursts += x.bursts
	s.next = x.next
}

// painter makes pictures; counts is its memory.
type painter struct {
	areas    []wire.Area
	timestep float64 // ms
	counts   []uint8
}

// paint makes the frame of what has fired.
func (p *painter) paint(x *seen) []byte {
	b := wire.BeginView(nil, x.next, uint32(min(x.bursts, math.MaxUint32)), len(p.areas))
	for i := range p.areas {
		a := &p.areas[i]
		rate := record.Rate(x.spikes[i], uint64(a.Neurons), x.bursts, p.timestep)
		p.count(a, x.bits)
		b = wire.AppendPicture(b, uint16(i), a.Grain, float32(rate), p.counts)
	}
	return wire.EndView(b, 0)
}

// count counts the neurons of each point of an area that have fired.
func (p *painter) count(a *wire.Area, fired []uint64) {
	if cap(p.counts) < int(a.Points) {
		p.counts = make([]uint8, a.Points)
	}
	p.counts = p.counts[:a.Points]
	clear(p.counts)
	first, end := a.First, a.First+a.Neurons
	for word := first / 64; uint64(word)*64 < uint64(end); word++ {
		for rest := fired[word]; rest != 0; rest &= rest - 1 {
			n := word*64 + uint32(bits.TrailingZeros64(rest))
			if n < first || n >= end {
				continue
			}
			if at := pointOf(a, n-first); p.counts[at] < 255 {
				p.counts[at]++
			}
		}
	}
}

// pointOf is the point of a neuron of an area.
func pointOf(a *wire.Area, n uint32) uint32 {
	if a.Grain == 1 {
		return n / max(a.PerVoxel, 1)
	}
	g := uint32(a.Grain)
	across := func(axis int) uint32 { return (a.Size[axis] + g - 1) / g }
	x, y, z := manifest.Voxel(a.Size, a.PerVoxel, n)
	return (x/g*across(1)+y/g)*across(2) + z/g
}
