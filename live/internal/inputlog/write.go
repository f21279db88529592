package inputlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"burst/engine"

	"github.com/cespare/xxhash/v2"
)

// syncEvery is how often the log is synced, if there is something new.
const syncEvery = time.Second

// Sizes in the file.
const (
	HeadBytes   = 32
	recordBytes = 32 // of a record without stimuli
	magic       = "burstin\x01"
)

// File is what a Writer needs of its file.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Writer writes a log. Add and Flush are for one goroutine, the others for any.
type Writer struct {
	path string
	f    File
	id   uint64
	buf  []byte            // records that Flush is to write
	last []engine.Stimulus // of the record before

	mu     sync.Mutex
	at     int64 // bytes written
	synced int64 // of these on disk
	failed error
	hash   xxhash.Digest

	stop chan struct{}
	done chan struct{}
}

// Create begins a log on an empty file.
func Create(path string, f File, network uint64) (*Writer, error) {
	w := newWriter(path, f, rand.Uint64(), 0)
	head := binary.LittleEndian.AppendUint64([]byte(magic), w.id)
	head = binary.LittleEndian.AppendUint64(head, network)
	head = binary.LittleEndian.AppendUint64(head, xxhash.Sum64(head))
	err := w.write(head)
	if err == nil {
		err = w.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	go w.syncNowAndThen()
	return w, nil
}

// Continue goes on with a log that ends at a place.
func Continue(path string, f File, id uint64, at int64) *Writer {
	w := newWriter(path, f, id, at)
	go w.syncNowAndThen()
	return w
}

func newWriter(path string, f File, id uint64, at int64) *Writer {
	return &Writer{path: path, f: f, id: id, at: at, buf: make([]byte, 0, 1<<16), stop: make(chan struct{}), done: make(chan struct{})}
}

// Add makes the record of an entry, for Flush. Inputs that are those of the record before take no room.
func (w *Writer) Add(e *Entry) {
	kind, stimuli := e.Kind, e.Stimuli
	if kind == Inputs && e.Value == 1 && len(stimuli) > 0 && slices.Equal(stimuli, w.last) {
		kind, stimuli = again, nil
	} else if kind == Inputs {
		w.last = append(w.last[:0], stimuli...)
	}
	w.buf = appendRecord(w.buf, kind, e.Burst, e.Value, stimuli)
}

// appendRecord appends a record, whose sum is to be made.
func appendRecord(b []byte, kind Kind, burst, value uint64, stimuli []engine.Stimulus) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(recordBytes+8*len(stimuli)))
	b = append(b, byte(kind), 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, burst)
	b = binary.LittleEndian.AppendUint64(b, value)
	for _, s := range stimuli {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Port)|uint64(uint32(s.Amount))<<32)
	}
	return binary.LittleEndian.AppendUint64(b, 0)
}

// seal makes the sums of records that are to lie at the end of the file.
func (w *Writer) seal(records []byte) {
	for at := uint64(w.at); len(records) > 0; {
		n := binary.LittleEndian.Uint32(records)
		w.hash.ResetWithSeed(w.id + at)
		w.hash.Write(records[:n-8])
		binary.LittleEndian.PutUint64(records[n-8:n], w.hash.Sum64())
		at, records = at+uint64(n), records[n:]
	}
}

// Flush writes what was added, in one write without a sync: it then survives the end of the process, not yet a loss of power.
// After an error there is no going on.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	w.seal(w.buf)
	if err := w.write(w.buf); err != nil {
		return err
	}
	w.buf = w.buf[:0]
	return nil
}

// write appends to the file, for one who has the lock.
func (w *Writer) write(b []byte) error {
	n, err := w.f.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return w.fails(err)
	}
	w.at += int64(n)
	return nil
}

func (w *Writer) fails(err error) error {
	w.failed = fmt.Errorf("logging inputs to %s: %w", w.path, err)
	return w.failed
}

// Bytes is how long the log is.
func (w *Writer) Bytes() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// Sync returns when all that Flush has written before is on disk, which a record then says.
func (w *Writer) Sync() error {
	w.mu.Lock()
	at, err := w.at, w.failed
	fresh := at > w.synced
	w.mu.Unlock()
	if err != nil || !fresh {
		return err
	}
	err = w.f.Sync() // the run may write meanwhile
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.failed != nil:
		return w.failed
	case err != nil:
		return w.fails(err)
	case at <= w.synced:
		return nil // another one has said it
	}
	mark := appendRecord(nil, synced, 0, uint64(at), nil)
	w.seal(mark)
	if err := w.write(mark); err != nil {
		return err
	}
	w.synced = w.at // the mark itself may be lost
	return nil
}

// syncNowAndThen syncs every second.
func (w *Writer) syncNowAndThen() {
	defer close(w.done)
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			_ = w.Sync() // the next Flush has the error too
		}
	}
}

// Close syncs and ends the log.
func (w *Writer) Close() error {
	close(w.stop)
	<-w.done
	return errors.Join(w.Sync(), w.f.Close())
}
