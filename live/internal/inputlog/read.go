package inputlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"burst/engine"
	"burst/internal/regular"

	"github.com/cespare/xxhash/v2"
)

// mostRecord is the most bytes of a record: some 33 million stimuli.
const mostRecord = recordBytes + 8<<25

// Running reads the file of a run that goes on, or of one that was killed.
type Running struct {
	path    string
	f       *os.File
	r       *bufio.Reader
	size    int64
	at      int64 // where the next record begins
	place   int64 // where that of the entry begins
	id      uint64
	network uint64
	ports   uint32
	hash    xxhash.Digest
	record  []byte
	entry   Entry
	last    []engine.Stimulus // of the last full record
	burst   uint64            // of the entry before
}

// Open opens the log of a network with so many ports.
func Open(path string, ports uint32) (*Running, error) {
	f, err := regular.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	r := &Running{path: path, f: f, r: bufio.NewReaderSize(f, 1<<16), ports: ports, at: HeadBytes}
	if err := r.head(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *Running) head() error {
	info, err := r.f.Stat()
	if err != nil {
		return fmt.Errorf("live: %w", err)
	}
	r.size = info.Size()
	var b [HeadBytes]byte
	if _, err := io.ReadFull(r.r, b[:]); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("live: %s: %w", r.path, err)
	}
	if string(b[:8]) != magic || xxhash.Sum64(b[:24]) != binary.LittleEndian.Uint64(b[24:]) {
		return regular.Damaged(r.path, "its first %d bytes are not the head of a log of inputs", HeadBytes)
	}
	r.id, r.network = binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	return nil
}

// ID and Network are those of the head.
func (r *Running) ID() uint64      { return r.id }
func (r *Running) Network() uint64 { return r.network }

// Bytes is where the last whole record read ends.
func (r *Running) Bytes() int64 { return r.at }

// Place is where the record of the entry given last begins.
func (r *Running) Place() int64 { return r.place }

// Limit is Bytes of one who has read it all: what lies behind is not this reader's, and may be written meanwhile.
func (r *Running) Limit(bytes int64) { r.size = bytes }

// Close closes the file.
func (r *Running) Close() error { return r.f.Close() }

// Next gives the next entry. Behind the last whole record there may be one that a crash has torn: what the log itself says was on
// disk is damage, the rest the end.
func (r *Running) Next() (*Entry, error) {
	for {
		kind, err := r.load()
		if err != nil {
			return nil, err
		}
		if kind == synced {
			continue
		}
		if err := r.entry.follows(r.burst, r.ports); err != nil {
			return nil, regular.Damaged(r.path, "%v", err)
		}
		r.burst = r.entry.Burst
		return &r.entry, nil
	}
}

// load reads a record into entry.
func (r *Running) load() (Kind, error) {
	r.place = r.at
	b, err := r.whole()
	if err != nil {
		return 0, err
	}
	if b == nil {
		return 0, r.torn()
	}
	e := &r.entry
	e.Kind, e.Burst, e.Value = Kind(b[4]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	stimuli := b[24 : len(b)-8]
	kind := e.Kind
	switch {
	case kind == again && len(stimuli) == 0 && len(r.last) > 0:
		e.Kind = Inputs
	case kind == Inputs:
		r.last = r.last[:0]
		for ; len(stimuli) > 0; stimuli = stimuli[8:] {
			r.last = append(r.last, engine.Stimulus{Port: binary.LittleEndian.Uint32(stimuli), Amount: int32(binary.LittleEndian.Uint32(stimuli[4:]))})
		}
	case kind > again && kind <= Set && len(stimuli) == 0:
		e.Stimuli = nil
		r.at += int64(len(b))
		return kind, nil
	default:
		return 0, regular.Damaged(r.path, "the record at %d is of %v with %d stimuli, which burst does not write", r.at, kind, len(stimuli)/8)
	}
	e.Stimuli = r.last
	r.at += int64(len(b))
	return kind, nil
}

// whole reads the record at the place; nil if it is not whole.
func (r *Running) whole() ([]byte, error) {
	left := r.size - r.at
	if left == 0 {
		return nil, io.EOF
	}
	if left < recordBytes {
		return nil, nil
	}
	head, err := r.r.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("live: %s: %w", r.path, err)
	}
	n := int64(binary.LittleEndian.Uint32(head))
	if n < recordBytes || n%8 != 0 || n > min(left, mostRecord) {
		return nil, nil
	}
	if int64(cap(r.record)) < n {
		r.record = make([]byte, n)
	}
	b := r.record[:n]
	if _, err := io.ReadFull(r.r, b); err != nil {
		return nil, fmt.Errorf("live: %s: %w", r.path, err)
	}
	if !r.valid(b, r.at) {
		return nil, nil
	}
	return b, nil
}

// valid says whether a record belongs at a place of this file.
func (r *Running) valid(b []byte, at int64) bool {
	r.hash.ResetWithSeed(r.id + uint64(at))
	r.hash.Write(b[:len(b)-8])
	return r.hash.Sum64() == binary.LittleEndian.Uint64(b[len(b)-8:])
}

// torn is what is to be said of bytes that are no record: damage if a record behind them says that they were on disk, else the end.
func (r *Running) torn() error {
	step := min(r.size-r.at, 1<<20)
	b := make([]byte, step+recordBytes)
	for from := r.at; from < r.size; from += step {
		n, err := r.f.ReadAt(b, from)
		if err != nil && err != io.EOF {
			return fmt.Errorf("live: %s: %w", r.path, err)
		}
		for i := 0; i+recordBytes <= n; i += 8 {
			m := b[i : i+recordBytes]
			if m[0] == recordBytes && Kind(m[4]) == synced && binary.LittleEndian.Uint64(m[16:]) > uint64(r.at) && r.valid(m, from+int64(i)) {
				return regular.Damaged(r.path, "the record at %d is not as it was written", r.at)
			}
		}
	}
	return io.EOF
}

// Torn is how many bytes lie behind the last whole record, when Next has given io.EOF.
func (r *Running) Torn() int64 { return r.size - r.at }
