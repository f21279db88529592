package record

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"burst/connectome"
	"burst/engine"
)

// Sizes of the queue between the engine and a recording's writer.
const (
	chunkRows  = 1 << 18     // rows that make a chunk; it ends with the burst that reaches them
	chunkTime  = time.Second // a chunk also ends with the burst that comes this long after its first
	blockCount = 4           // blocks in all: one being filled, the others waiting or being written
	slowDisk   = time.Second // waiting for the disk this long in all is worth a word
)

// block is a chunk as the engine's goroutine gathers it: burst numbers are kept once a burst.
type block struct {
	bursts []burstRows
	Chunk  // Burst and Area are filled by the writer
	began  time.Time
	mark   chan<- Offset // told how far the recording is when the block is on disk, closed if it cannot be; nil: nobody asks
}

// burstRows says how many rows belong to a burst.
type burstRows struct {
	number uint64
	rows   int
}

func (b *block) reset() {
	b.bursts, b.Neuron, b.Potential, b.Port, b.Sum, b.mark = b.bursts[:0], b.Neuron[:0], b.Potential[:0], b.Port[:0], b.Sum[:0], nil
}

// track is one recording in progress. add is called by the engine's goroutine, one other writes; add waits when all
// blocks are full, so that a slow disk slows the run and memory stays bounded.
type track struct {
	chunkTime time.Duration // as the constant, but in tests
	path      string
	areas     []Area
	stream    *stream
	filled    *block
	free      chan *block
	full      chan *block
	done      chan struct{}
	failed    atomic.Pointer[error]
	waited    time.Duration
	warn      func(string) // called once at most; nil after that
	last      atomic.Pointer[Offset]
}

// Offset is how far a recording is on disk: all rows of bursts up to Burst lie before Bytes.
type Offset struct {
	Bytes    int64
	Rows     uint64
	Burst    uint64
	Sums     int64  // bytes of the .sums file up to there
	SumsHash uint64 // xxHash64 of these
}

// newTrack starts the writer of a recording that is at an offset.
func newTrack(path string, s *stream, areas []Area, warn func(string), at Offset) *track {
	t := &track{path: path, areas: areas, stream: s, warn: warn, chunkTime: chunkTime, filled: &block{}, free: make(chan *block, blockCount), full: make(chan *block, blockCount), done: make(chan struct{})}
	for range blockCount - 1 {
		t.free <- &block{}
	}
	go t.writeAll(at)
	return t
}

// writeAll writes blocks until there are no more. After a failure it only takes them, so that nobody waits for ever.
func (t *track) writeAll(at Offset) {
	defer close(t.done)
	var burst []uint64
	var area []uint32
	for b := range t.full {
		if t.failed.Load() == nil && len(b.Neuron) > 0 {
			burst = slices.Grow(burst[:0], len(b.Neuron))[:len(b.Neuron)]
			row := 0
			for _, r := range b.bursts {
				for end := row + r.rows; row < end; row++ {
					burst[row] = r.number
				}
			}
			b.Burst, b.Area = burst, area
			err := b.locate(t.areas)
			area = b.Area
			if err == nil {
				err = t.stream.write(&b.Chunk)
			}
			if err != nil {
				err = fmt.Errorf("recording to %s: %w", t.path, err)
				t.failed.Store(&err)
			} else {
				at = Offset{Bytes: t.stream.offset, Rows: at.Rows + uint64(len(burst)), Burst: burst[len(burst)-1], Sums: t.stream.lines, SumsHash: t.stream.linesHash.Sum64()}
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
		b.reset()
		t.free <- b
	}
}

// added ends a burst's rows, of which the block had before.
func (t *track) added(number uint64, before int) error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	b := t.filled
	if rows := len(b.Neuron) - before; rows > 0 {
		if before == 0 {
			b.began = time.Now()
		}
		b.bursts = append(b.bursts, burstRows{number, rows})
	}
	switch {
	case len(b.Neuron) >= chunkRows:
		t.flush()
	case len(b.Neuron) > 0 && len(t.free) > 0 && time.Since(b.began) >= t.chunkTime:
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
	if len(t.filled.Neuron) > 0 {
		t.full <- t.filled
	}
	close(t.full)
	<-t.done
	err := t.stream.close()
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
	before := len(t.filled.Neuron)
	fired := b.Fired
	for _, s := range spans {
		from, _ := slices.BinarySearch(fired, s.First)
		until, _ := slices.BinarySearch(fired[from:], s.End())
		t.filled.Neuron = append(t.filled.Neuron, fired[from:from+until]...)
		fired = fired[from+until:]
	}
	return t.added(b.Number, before)
}

// potentials adds those of the neurons, shifted to absolute ones.
func (t *track) potentials(b *engine.Burst, neurons []uint32, rest []float32) error {
	before := len(t.filled.Neuron)
	t.filled.Neuron = append(t.filled.Neuron, neurons...)
	for i, v := range b.Potentials {
		t.filled.Potential = append(t.filled.Potential, v+rest[i])
	}
	return t.added(b.Number, before)
}

// fcl adds the candidates of the spans' neurons, in the order of neurons.
func (t *track) fcl(b *engine.Burst, spans []connectome.Span) error {
	before := len(t.filled.Neuron)
	k := &t.filled.Chunk
	for _, c := range b.Candidates {
		if i, found := slices.BinarySearchFunc(spans, c.Neuron, compareSpan); found && spans[i].Has(c.Neuron) {
			k.Neuron, k.Port, k.Sum = append(k.Neuron, c.Neuron), append(k.Port, c.Port), append(k.Sum, c.Sum)
		}
	}
	return t.added(b.Number, before)
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
