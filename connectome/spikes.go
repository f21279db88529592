package connectome

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"burst/genome"
	"burst/internal/edgelist"
	"burst/internal/pages"
	"burst/internal/tabular"
)

// bytesASpike is the memory of a spike of a list.
const bytesASpike = 4

// makeTrains makes the lists of the spike_list areas; those of files, if they fit into memory.
func (p *plan) makeTrains() error {
	p.trains = make([]SpikeList, len(p.g.Areas))
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		switch {
		case a.SpikeFile != "":
			if err := p.readTrains(i); err != nil {
				return err
			}
		case a.Model.Has("spikes"):
			p.trains[i] = newSpikeList(a.Neurons(), a.Spikes)
		}
	}
	return nil
}

// readTrains reads the list of an area from its file: once to count each neuron's spikes, once to put them where they belong.
func (p *plan) readTrains(i int) error {
	a, key, taken := &p.g.Areas[i], areaKey(i, "file"), p.fixedBytes()
	o := edgelist.Options{
		Source: edgelist.Side{Count: a.Neurons(), Of: a.Name}, Timestep: p.g.Timestep,
		MaxRows: min((p.limit-min(p.limit, taken))/bytesASpike, mostNumbers), Threads: p.workers,
	}
	l := &spikeReader{SpikeList: SpikeList{Row: make([]uint32, a.Neurons()+1)}}
	err := p.withFile(a.SpikeFile, func(f tabular.File) error {
		return edgelist.ReadSpikes(f, a.SpikeFile, o, edgelist.Spikes{Count: l.count, Counted: l.makeRows, Take: l.take})
	})
	var many *edgelist.TooManyError
	var rows tabular.Faults
	switch {
	case errors.As(err, &many):
		need := add(taken, mul(many.Rows, bytesASpike))
		return p.refuse(a.SpikePos, key, "bytes", need, p.limit, need)
	case errors.As(err, &rows):
		return p.rowsOf(a.SpikePos, key, a.SpikeFile, rows)
	case err == nil && l.changed:
		err = errors.New("the file changed while it was read")
	}
	if err != nil {
		return p.g.Fault(a.SpikePos, key, "%s: %s", a.SpikeFile, err)
	}
	l.next = nil
	if n := l.sort(p.workers); n < math.MaxUint32 {
		return p.g.Fault(a.SpikePos, key, "%s: expects each neuron at most once per burst, found neuron %d twice in burst %d", a.SpikeFile, n, l.twice(n))
	}
	p.trains[i] = l.SpikeList
	return nil
}

// spikeReader is a SpikeList that is being read.
type spikeReader struct {
	SpikeList
	next    []uint32 // by neuron, the place of its next burst
	changed bool     // there are more spikes than were counted
}

func (l *spikeReader) count(neurons []uint32) {
	counts := l.Row[1:]
	for _, n := range neurons {
		counts[n]++
	}
}

func (l *spikeReader) makeRows() {
	l.next = l.makeRoom()
}

// makeRoom turns the numbers of spikes in Row[1:] into rows, with room for them. It returns where each neuron's begins.
func (l *SpikeList) makeRoom() []uint32 {
	for i := 1; i < len(l.Row); i++ {
		l.Row[i] += l.Row[i-1]
	}
	l.Low = pages.Slice[uint32](uint64(l.Row[len(l.Row)-1]))
	return slices.Clone(l.Row)
}

func (l *spikeReader) take(neurons []uint32, bursts []int64) {
	next, ends := l.next, l.Row[1:]
	for i, n := range neurons {
		k := next[n]
		if k >= ends[n] {
			l.changed = true
			return
		}
		next[n] = k + 1
		l.Low[k] = uint32(bursts[i])
		if high := uint32(bursts[i] >> 32); high != 0 {
			if l.High == nil {
				l.High = pages.Slice[uint32](uint64(len(l.Low)))
			}
			l.High[k] = high
		}
	}
}

// sort sorts every neuron's bursts. It returns the first neuron that has one of them twice, or MaxUint32.
func (l *spikeReader) sort(workers int) uint32 {
	var first atomic.Uint32
	first.Store(math.MaxUint32)
	spans(workers, uint64(len(l.Row)-1), 1<<10, func(_ int, lo, hi uint64) {
		var wide []uint64
		for i := uint32(lo); i < uint32(hi); i++ {
			from, end := l.Row[i], l.Row[i+1]
			if l.High == nil {
				slices.Sort(l.Low[from:end])
			} else {
				wide = wide[:0]
				for k := from; k < end; k++ {
					wide = append(wide, l.At(k))
				}
				slices.Sort(wide)
				for k, t := range wide {
					l.Set(from+uint32(k), t)
				}
			}
			for k := from + 1; k < end && i < first.Load(); k++ {
				if l.At(k) == l.At(k-1) {
					lower(&first, i)
				}
			}
		}
	})
	return first.Load()
}

// lower makes x the least of what it is and n.
func lower(x *atomic.Uint32, n uint32) {
	for old := x.Load(); n < old && !x.CompareAndSwap(old, n); old = x.Load() {
	}
}

// twice is the first burst that a neuron has twice.
func (l *SpikeList) twice(i uint32) uint64 {
	k := l.Row[i] + 1
	for l.At(k) != l.At(k-1) {
		k++
	}
	return l.At(k)
}

// newSpikeList sorts spikes, ascending by burst, by neuron.
func newSpikeList(neurons uint64, spikes []genome.Spike) SpikeList {
	l := SpikeList{Row: make([]uint32, neurons+1)}
	for _, s := range spikes {
		l.Row[s.Neuron+1]++
	}
	next := l.makeRoom()
	for _, s := range spikes {
		l.Set(next[s.Neuron], s.Burst)
		next[s.Neuron]++
	}
	return l
}
