package edgelist

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"burst/internal/tabular"
)

// Spikes takes the rows of a list of spikes, in any order. Calls of Count, and of Take, may be made at the same time.
type Spikes struct {
	Count   func(neuron uint32)              // every row's, in a first reading
	Counted func()                           // behind it
	Take    func(neuron uint32, burst int64) // every row's, in a second one
}

// ReadSpikes reads the list of spikes in f, twice, so that it holds but a few rows at a time, or a row group for each thread. Neurons are
// those of Options.Source. Errors are as those of Read.
func ReadSpikes(f tabular.File, name string, o Options, s Spikes) error {
	r := &spikes{Options: o, Spikes: s}
	with := tabular.Options{
		Header: r.header, Allowed: func(rows uint64) error { return (&list{Options: o}).limit(rows) }, Room: r.room,
		Threads: o.Threads, MaxBytes: Bytes(min(o.MaxRows, 1<<40), 0),
	}
	if err := tabular.Read(f, name, with); err != nil {
		return err
	}
	s.Counted()
	r.again = true
	return tabular.Read(f, name, with)
}

// spikes is a list of spikes that is being read.
type spikes struct {
	Options
	Spikes
	again   bool                    // in the second reading
	waiting []atomic.Pointer[block] // neurons of rows whose burst is still to come: a file has column by column
	free    sync.Pool               // of blocks
}

// block has the neurons of so many rows.
type block struct {
	neurons [blockRows]uint32
	taken   atomic.Uint32
}

const blockRows = 1 << 12

func (r *spikes) header(names []string) ([]tabular.Column, error) {
	wanted := []string{"neuron", "burst"}
	for _, name := range names {
		if !slices.Contains(wanted, name) && !strings.HasPrefix(name, "_") {
			return nil, unknownColumn(name, names, wanted)
		}
	}
	neuron, err := tabular.Find(names, "neuron")
	if err != nil {
		return nil, err
	}
	burst, err := tabular.Find(names, "burst")
	switch {
	case err != nil:
		return nil, err
	case neuron < 0 || burst < 0:
		return nil, fmt.Errorf("columns %q, want neuron and burst", tabular.Clip(strings.Join(names, ", ")))
	case !r.again:
		return []tabular.Column{{Name: "neuron", At: neuron, Whole: r.count}}, nil
	}
	return []tabular.Column{{Name: "neuron", At: neuron, Whole: r.keep}, {Name: "burst", At: burst, Whole: r.take}}, nil
}

func (r *spikes) room(rows uint64) error {
	if r.again {
		r.waiting = make([]atomic.Pointer[block], rows/blockRows+1)
	}
	return nil
}

func (r *spikes) count(_ uint64, x int64) string {
	if uint64(x) >= r.Source.Count {
		return r.Source.outside(x)
	}
	r.Count(uint32(x))
	return ""
}

// keep keeps a row's neuron until its burst comes.
func (r *spikes) keep(row uint64, x int64) string {
	if uint64(x) >= r.Source.Count {
		return changed
	}
	at := &r.waiting[row/blockRows]
	b := at.Load()
	if b == nil {
		fresh, ok := r.free.Get().(*block)
		if !ok {
			fresh = new(block)
		}
		if b = fresh; !at.CompareAndSwap(nil, fresh) {
			b = at.Load()
			r.free.Put(fresh)
		}
	}
	b.neurons[row%blockRows] = uint32(x)
	return ""
}

func (r *spikes) take(row uint64, x int64) string {
	at := &r.waiting[row/blockRows]
	b := at.Load()
	switch {
	case b == nil:
		return changed
	case x < 0:
		return fmt.Sprintf("%d, want the number of a burst, from 0", x)
	}
	r.Take(b.neurons[row%blockRows], x)
	if b.taken.Add(1) == blockRows {
		at.Store(nil)
		b.taken.Store(0)
		r.free.Put(b)
	}
	return ""
}

// changed is what is wrong with a row that the first reading found right.
const changed = "another value than just before; the file changed while it was read"
