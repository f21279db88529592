package record

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/record/internal/tables"
)

// Sizes of the queue between the engine and a recording's writer.
const (
	chunkTime  = time.Second // a chunk also ends with the burst that comes this long after its first
	blockCount = 4           // blocks in all: one being filled, the others waiting or being written
	slowDisk   = time.Second // waiting for the disk this long in all is worth a word
)

// track is one recording in progress. add is called by the engine's goroutine, one other writes; add waits when all
// blocks are full, so that a slow disk slows the run and memory stays bounded.
type track struct {
	chunkTime time.Duration // as the constant, but in tests
	path      string
	stream    *tables.Stream
	filled    *block
	free      chan *block
	full      chan *block
	done      chan struct{}
	failed    atomic.Pointer[error]
	waited    time.Duration
	warn      func(string) // called once at most; nil after that
	last      atomic.Pointer[Offset]
}

// Offset is how far a recording is on disk: all rows of bursts up to Burst, Rows in all, lie before Bytes; of its .sums file Sums bytes,
// whose xxHash64 is SumsHash.
type Offset = tables.Offset

// block is a chunk of the stream as the engine's goroutine gathers it.
type block struct {
	tables.Block
	began time.Time
	mark  chan<- Offset // told how far the recording is when the block is on disk, closed if it cannot be; nil: nobody asks
}

func newBlock() *block { return &block{Block: *tables.NewBlock()} }

// newTrack starts the writer of a recording that is at an offset.
func newTrack(path string, s *tables.Stream, warn func(string), at Offset) *track {
	t := &track{path: path, stream: s, warn: warn, chunkTime: chunkTime, filled: newBlock(), free: make(chan *block, blockCount), full: make(chan *block, blockCount), done: make(chan struct{})}
	for range blockCount - 1 {
		t.free <- newBlock()
	}
	go t.writeAll(at)
	return t
}

// writeAll writes blocks until there are no more. After a failure it only takes them, so that nobody waits for ever.
func (t *track) writeAll(at Offset) {
	defer close(t.done)
	for b := range t.full {
		if n := len(b.Numbers); n > 0 && t.failed.Load() == nil {
			if err := t.stream.Write(&b.Block); err != nil {
				err = fmt.Errorf("recording to %s: %w", t.path, err)
				t.failed.Store(&err)
			} else {
				at = t.stream.At(at.Rows+uint64(b.Count()), b.Numbers[n-1])
				last := at
				t.last.Store(&last)
			}
		}
		if b.mark != nil {
			if t.failed.Load() == nil {
				b.mark <- at
			}
			close(b.mark)
		}
		b.Reset()
		b.mark = nil
		t.free <- b
	}
}

// added ends a burst, whose rows are there.
func (t *track) added(number uint64) error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	b := t.filled
	if len(b.Numbers) == 0 {
		b.began = time.Now()
	}
	b.End(number)
	switch {
	case b.Count() >= tables.ChunkRows:
		t.flush()
	case len(b.Numbers) > 0 && len(t.free) > 0 && time.Since(b.began) >= t.chunkTime:
		t.flush()
	}
	return nil
}

// flush hands the block to the writer and takes an empty one, for which it may have to wait.
func (t *track) flush() {
	t.full <- t.filled
	select {
	case t.filled = <-t.free:
		return
	default:
	}
	start := time.Now()
	t.filled = <-t.free
	t.waited += time.Since(start)
	if t.waited > slowDisk && t.warn != nil {
		t.warn(fmt.Sprintf("the disk of %s is slower than the run, which waits for it; nothing is lost", t.path))
		t.warn = nil
	}
}

// mark hands over what there is and gives what will tell how far the recording is when that is on disk.
func (t *track) mark() <-chan Offset {
	reached := make(chan Offset, 1)
	t.filled.mark = reached
	t.flush()
	return reached
}

// close writes what is left and ends the writer.
func (t *track) close() error {
	if len(t.filled.Numbers) > 0 {
		t.full <- t.filled
	}
	close(t.full)
	<-t.done
	err := t.stream.Close()
	if failed := t.failed.Load(); failed != nil {
		return *failed
	}
	if err != nil {
		return fmt.Errorf("recording to %s: %w", t.path, err)
	}
	return nil
}

// spikes adds the neurons of the spans that fired.
func (t *track) spikes(b *engine.Burst, spans []connectome.Span) error {
	c := &t.filled.Rows
	fired := b.Fired
	for _, s := range spans {
		from, _ := slices.BinarySearch(fired, s.First)
		until, _ := slices.BinarySearch(fired[from:], s.End())
		c.Neuron = append(c.Neuron, fired[from:from+until]...)
		fired = fired[from+until:]
	}
	return t.added(b.Number)
}

// potentials adds those of the plan's neurons, shifted to absolute ones.
func (t *track) potentials(b *engine.Burst, p *Plan) error {
	c := &t.filled.Rows
	for _, k := range p.Potentials {
		c.Neuron, c.Potential = append(c.Neuron, p.Values[k].Neuron), append(c.Potential, b.Values[k]+p.Rest[k])
	}
	return t.added(b.Number)
}

// fcl adds the candidates of the spans' neurons, in the order of ports.
func (t *track) fcl(b *engine.Burst, spans []connectome.Span) error {
	c := &t.filled.Rows
	i := 0
	for _, k := range b.Candidates {
		if !spans[i].Has(k.Neuron) { // ports of one area follow each other
			at, found := slices.BinarySearchFunc(spans, k.Neuron, compareSpan)
			if !found {
				continue
			}
			i = at
		}
		c.Neuron, c.Port, c.Sum = append(c.Neuron, k.Neuron), append(c.Port, k.Port), append(c.Sum, k.Sum)
	}
	return t.added(b.Number)
}

// compareSpan orders a span against a neuron.
func compareSpan(s connectome.Span, neuron uint32) int {
	switch {
	case s.End() <= neuron:
		return -1
	case s.First > neuron:
		return 1
	}
	return 0
}
