package edgelist

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"burst/internal/tabular"
)

// Spikes takes the rows of a list of spikes, some at a time, in any order. No two calls are made at the same time: whoever scatters rows
// over much memory needs no atomic operations, each of which would wait for the memory.
type Spikes struct {
	Count   func(neurons []uint32)                 // every row's, in a first reading
	Counted func()                                 // behind it
	Take    func(neurons []uint32, bursts []int64) // every row's, in a second one
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
	again bool // in the second reading
	rows  uint64
	open  []atomic.Pointer[block] // rows that are not complete: a file has column by column
	free  sync.Pool               // of blocks
	mu    sync.Mutex              // held while rows are given on
	given uint64                  // rows
}

// block has so many rows.
type block struct {
	neurons [blockRows]uint32
	bursts  [blockRows]int64
	taken   atomic.Uint32
}

const (
	blockRows   = 1 << 12
	collectRows = 1 << 22 // behind each so many rows the readers' garbage is collected
)

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
	r.rows, r.open = rows, make([]atomic.Pointer[block], rows/blockRows+1)
	return nil
}

func (r *spikes) count(row uint64, x int64) string {
	if uint64(x) >= r.Source.Count {
		return r.Source.outside(x)
	}
	b := r.blockOf(row)
	b.neurons[row%blockRows] = uint32(x)
	r.done(row, b)
	return ""
}

// keep keeps a row's neuron until its burst comes.
func (r *spikes) keep(row uint64, x int64) string {
	if uint64(x) >= r.Source.Count {
		return changed
	}
	r.blockOf(row).neurons[row%blockRows] = uint32(x)
	return ""
}

func (r *spikes) take(row uint64, x int64) string {
	b := r.open[row/blockRows].Load()
	switch {
	case b == nil:
		return changed
	case x < 0:
		return fmt.Sprintf("%d, want the number of a burst, from 0", x)
	}
	b.bursts[row%blockRows] = x
	r.done(row, b)
	return ""
}

// blockOf is the block of a row; the first of its rows takes one.
func (r *spikes) blockOf(row uint64) *block {
	at := &r.open[row/blockRows]
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
	return b
}

// done says that a row of a block is complete, and gives the block on behind the last one.
func (r *spikes) done(row uint64, b *block) {
	first := row - row%blockRows
	n := min(blockRows, r.rows-first)
	if uint64(b.taken.Add(1)) < n {
		return
	}
	r.open[row/blockRows].Store(nil)
	r.mu.Lock()
	if r.again {
		r.Take(b.neurons[:n], b.bursts[:n])
		if r.given += n; r.given >= collectRows {
			r.given = 0
			runtime.GC() // by itself it would wait until there is as much garbage as the list is long
		}
	} else {
		r.Count(b.neurons[:n])
	}
	r.mu.Unlock()
	b.taken.Store(0)
	r.free.Put(b)
}

// changed is what is wrong with a row that the first reading found right.
const changed = "another value than just before; the file changed while it was read"
