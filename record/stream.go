package record

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/cespare/xxhash/v2"

	"burst/internal/arrowframe"
)

// A recording in progress is two files: NAME.arrows, an Arrow IPC stream, and NAME.sums, a line a chunk that says where
// the chunk lies and what its bytes hash to. A chunk is synced before its line is written, so a line vouches for a chunk.

// sumsHead is the first line of a .sums file.
const sumsHead = "offset,bytes,rows,first_burst,last_burst,xxh64\n"

// mark is a line of the .sums file: a chunk.
type mark struct {
	offset, bytes int64 // the chunk's place in the stream; the first chunk begins at 0 and holds the schema too
	rows          uint64
	first, last   uint64 // bursts of its first and last row
	sum           uint64 // xxHash64 of its bytes, seed 0
}

func (m mark) line() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d,%016x\n", m.offset, m.bytes, m.rows, m.first, m.last, m.sum)
}

// parseMark reads a line.
func parseMark(line string) (m mark, err error) {
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(fields) != 6 {
		return m, fmt.Errorf("%d fields, want 6", len(fields))
	}
	var n [5]uint64
	for i := range n {
		if n[i], err = strconv.ParseUint(fields[i], 10, 63); err != nil {
			return m, err
		}
	}
	m = mark{offset: int64(n[0]), bytes: int64(n[1]), rows: n[2], first: n[3], last: n[4]}
	m.sum, err = strconv.ParseUint(fields[5], 16, 64)
	return m, err
}

// disk is what a stream needs of its files; tests put faulty ones in their place.
type disk interface {
	io.Writer
	Sync() error
	Close() error
}

// stream writes chunks.
type stream struct {
	data, sums disk
	schema     *arrow.Schema
	w          *ipc.Writer
	pending    bytes.Buffer // what the Arrow writer has made since the last chunk
	offset     int64
	lines      int64         // bytes of the .sums file
	linesHash  xxhash.Digest // of these
}

// newStream begins a recording on two empty files.
func newStream(data, sums disk, s *arrow.Schema) (*stream, error) {
	st := &stream{data: data, sums: sums, schema: s}
	st.linesHash.Reset()
	st.w = ipc.NewWriter(&st.pending, ipc.WithSchema(s))
	return st, st.line(sumsHead)
}

// continueStream goes on with a recording whose files end at an offset; text is what the .sums file holds.
func continueStream(data, sums disk, s *arrow.Schema, at Offset, text []byte) (*stream, error) {
	st := &stream{data: data, sums: sums, schema: s, offset: at.Bytes, lines: at.Sums}
	st.linesHash.Reset()
	st.linesHash.Write(text)
	st.w = ipc.NewWriter(&st.pending, ipc.WithSchema(s))
	// The file has the schema already: a batch without rows makes the writer believe so too.
	none := newBlock().batch(s)
	defer none.Release()
	return st, st.w.Write(none)
}

// line appends to the .sums file.
func (s *stream) line(text string) error {
	s.lines += int64(len(text))
	s.linesHash.WriteString(text)
	_, err := s.sums.Write([]byte(text))
	return err
}

// write appends a chunk of at least a burst; when it returns without error, the chunk is on disk.
func (s *stream) write(b *block) error {
	s.pending.Reset()
	batch := b.batch(s.schema)
	err := s.w.Write(batch)
	batch.Release()
	if err != nil {
		return err
	}
	m := mark{offset: s.offset, bytes: int64(s.pending.Len()), rows: uint64(len(b.rows.Neuron)), first: b.numbers[0], last: b.numbers[len(b.numbers)-1], sum: xxhash.Sum64(s.pending.Bytes())}
	s.offset += m.bytes
	if _, err := s.data.Write(s.pending.Bytes()); err != nil {
		return err
	}
	if err := s.data.Sync(); err != nil {
		return err
	}
	if err := s.line(m.line()); err != nil {
		return err
	}
	return s.sums.Sync()
}

// close ends both files.
func (s *stream) close() error { return errors.Join(s.data.Close(), s.sums.Close()) }

// readMarks reads a .sums file up to its last whole line.
func readMarks(path string) ([]mark, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	return parseMarks(path, text)
}

// parseMarks reads the text of a .sums file.
func parseMarks(path string, text []byte) ([]mark, error) {
	head := min(len(sumsHead), len(text))
	if string(text[:head]) != sumsHead[:head] {
		return nil, damaged(path, "line 1 is not %q", strings.TrimSuffix(sumsHead, "\n"))
	}
	var marks []mark
	next := int64(0)
	for line := range strings.Lines(string(text[head:])) {
		if !strings.HasSuffix(line, "\n") {
			break // being written, or torn by a crash
		}
		m, err := parseMark(line)
		if err == nil && (m.offset != next || m.bytes == 0) {
			err = fmt.Errorf("a chunk of %d bytes at %d, want one at %d", m.bytes, m.offset, next)
		}
		if err != nil {
			return nil, damaged(path, "line %d: %v", len(marks)+2, err)
		}
		next = m.offset + m.bytes
		marks = append(marks, m)
	}
	return marks, nil
}

// checked reads the chunks of a stream that its .sums file vouches for, each checked before a byte of it is given out.
type checked struct {
	path  string
	f     *os.File
	size  int64
	marks []mark
	chunk []byte
	rest  []byte
}

func (c *checked) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if len(c.marks) == 0 {
			return 0, io.EOF
		}
		if err := c.load(c.marks[0]); err != nil {
			return 0, err
		}
		c.marks = c.marks[1:]
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// load reads and checks a chunk.
func (c *checked) load(m mark) error {
	if m.bytes > c.size-m.offset {
		return damaged(c.path, "%d bytes found, want the chunk of %d bytes at %d that its .sums file names", c.size, m.bytes, m.offset)
	}
	if int64(cap(c.chunk)) < m.bytes {
		c.chunk = make([]byte, m.bytes)
	}
	c.rest = c.chunk[:m.bytes]
	if _, err := io.ReadFull(c.f, c.rest); err != nil {
		return fmt.Errorf("record: %s: %w", c.path, err)
	}
	if got := xxhash.Sum64(c.rest); got != m.sum {
		return damaged(c.path, "the chunk of bursts %d to %d at offset %d hashes to %016x, its .sums file says %016x", m.first, m.last, m.offset, got, m.sum)
	}
	end, err := arrowframe.Stream(bytes.NewReader(c.rest), m.bytes, false)
	if err == nil && end != m.bytes {
		err = errors.New("the stream ends inside it")
	}
	if err != nil {
		return damaged(c.path, "the chunk at offset %d: %v", m.offset, err)
	}
	return nil
}

// readStream reads the chunks of a stream that are on disk now; base is the path without its ending.
func readStream(base string, areas []Area) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if err := eachOfStream(base, areas, func(c Chunk) bool { return yield(c, nil) }); err != nil {
			yield(Chunk{}, err)
		}
	}
}

// openStream opens the chunks of a stream that are on disk now; nil where there are none. The caller closes the file.
func openStream(base string) (*checked, error) {
	marks, err := readMarks(base + ".sums")
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	f, err := openFile(base+".arrows", os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("record: %w", err), f.Close())
	}
	return &checked{path: f.Name(), f: f, size: info.Size(), marks: marks}, nil
}

func eachOfStream(base string, areas []Area, yield func(Chunk) bool) error {
	path := base + ".arrows"
	in, err := openStream(base)
	if err != nil || in == nil {
		return err
	}
	defer in.f.Close()
	r, err := ipc.NewReader(in, ipc.WithBodySizeLimit(0))
	if err != nil {
		return asDamage(path, err)
	}
	defer r.Release()
	var c Chunk
	read := c.expand
	if _, found := r.Schema().FieldsByName("area"); found {
		read = c.view // format 1: a row a spike
	}
	for r.Next() {
		err := read(r.RecordBatch())
		if err == nil {
			err = c.locate(areas)
		}
		if err != nil {
			return damaged(path, "%v", err)
		}
		if !yield(c) {
			return nil
		}
	}
	if err := r.Err(); err != nil {
		return asDamage(path, err)
	}
	return nil
}

// asDamage keeps an error of reading that says what is wrong, and calls any other one damage.
func asDamage(path string, err error) error {
	var d *DamagedError
	var p *os.PathError
	if errors.As(err, &d) || errors.As(err, &p) {
		return err
	}
	return damaged(path, "%v", err)
}
