package record

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/record/internal/tables"
	"burst/record/manifest"
)

// Sizes of the queue between the engine and a recording's writers.
const (
	chunkTime  = time.Second     // a chunk also ends with the burst that comes this long after its first
	blockCount = 8               // blocks in all: one being filled, the others waiting, or being written or encoded
	syncTime   = time.Second / 2 // what is in the stream is on disk that long after it was written, at the latest
	slowDisk   = time.Second     // waiting this long in all is worth a word
)

// track is one recording in progress. add is called by the engine's goroutine; one goroutine writes blocks to the stream, and
// another makes the Parquet file of them meanwhile. add waits when all blocks are full, so that a slow disk slows the run and
// memory stays bounded.
type track struct {
	chunkTime time.Duration // as the constant, but in tests
	path      string        // of the stream
	stream    *tables.Stream
	filled    *block
	free      chan *block
	full      chan *block
	written   chan *block   // in the stream
	broken    bool          // the stream; nothing more is written to it
	wanted    [2]bool       // in the end: the Parquet file, the stream
	parquet   manifest.File // as written then
	begun     chan error    // told when the Parquet file has what the stream had, or cannot
	done      chan struct{} // closed when both goroutines have ended
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

// newTrack starts the writers of a recording that is at an offset: its stream, and the Parquet file that encode makes. It returns when
// the Parquet file has what the stream has.
func newTrack(path string, s *tables.Stream, warn func(string), at Offset, encode func(*track) error) (*track, error) {
	t := &track{path: path, stream: s, warn: warn, chunkTime: chunkTime, filled: newBlock(), free: make(chan *block, blockCount), full: make(chan *block, blockCount), written: make(chan *block, blockCount), begun: make(chan error, 1), done: make(chan struct{})}
	for range blockCount - 1 {
		t.free <- newBlock()
	}
	go t.writeAll(at)
	go func() {
		defer close(t.done)
		err := encode(t)
		if err != nil {
			t.fail(err)
		}
		select {
		case t.begun <- err: // it had not begun
		default:
		}
		for b := range t.written { // after a failure, so that nobody waits for ever
			t.recycle(b)
		}
	}()
	if err := <-t.begun; err != nil {
		t.end(false, true)
		return nil, t.close()
	}
	return t, nil
}

// fail ends the recording; the first error is the one to tell.
func (t *track) fail(err error) { t.failed.CompareAndSwap(nil, &err) }

// recycle makes a block one to be filled.
func (t *track) recycle(b *block) {
	b.Reset()
	t.free <- b
}

// writeAll writes blocks until there are no more, and syncs them when somebody asks, but at least once in syncTime. After a failure it
// only takes them.
func (t *track) writeAll(at Offset) {
	defer close(t.written)
	synced := time.Now()
	var due <-chan time.Time // nil: all is synced, or will be with the next block
	sync := func() {
		t.sync(&at)
		synced, due = time.Now(), nil
	}
	for {
		select {
		case b, more := <-t.full:
			if !more {
				return
			}
			if len(b.Numbers) > 0 && t.failed.Load() == nil {
				t.write(&b.Block)
			}
			if wait := syncTime - time.Since(synced); wait <= 0 || b.mark != nil {
				sync()
			} else if due == nil {
				due = time.After(wait)
			}
			if b.mark != nil {
				if t.failed.Load() == nil {
					b.mark <- at
				}
				close(b.mark)
				b.mark = nil
			}
			t.written <- b
		case <-due:
			sync()
		}
	}
}

// write writes a block to the stream.
func (t *track) write(b *tables.Block) {
	if err := t.stream.Write(b); err != nil {
		t.sync(new(Offset)) // what was written before it
		t.broke(err)
	}
}

// sync syncs what is in the stream, and sets how far that is.
func (t *track) sync(at *Offset) {
	if t.broken || t.stream.Synced() {
		return
	}
	reached, err := t.stream.Sync()
	if err != nil {
		t.broke(err)
		return
	}
	*at = reached
	t.last.Store(&reached)
}

// broke ends the stream.
func (t *track) broke(err error) {
	t.broken = true
	t.fail(fmt.Errorf("recording to %s: %w", t.path, err))
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
		t.warn(fmt.Sprintf("the run waits, as recording to %s is slower; nothing is lost", t.path))
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

// end hands over what is left. parquet: that file is wanted, and takes its name; stream: the stream is wanted too.
func (t *track) end(parquet, stream bool) {
	t.wanted = [2]bool{parquet, stream}
	if len(t.filled.Numbers) > 0 {
		t.full <- t.filled
	}
	close(t.full)
}

// close waits, after end, until all is written. The stream is on disk then if it is wanted, or if there is no Parquet file.
func (t *track) close() error {
	<-t.done
	if t.wanted[1] || t.failed.Load() != nil {
		t.sync(new(Offset))
	}
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
