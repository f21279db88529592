package record

import (
	"bufio"
	"bytes"
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

// parseMark reads a line without its end.
func parseMark(line string) (m mark, err error) {
	fields := strings.Split(line, ",")
	if len(fields) != 6 {
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

// fits holds the rows of a chunk to its line.
func (m mark) fits(c *Chunk) error {
	n := len(c.Burst)
	if n == 0 || uint64(n) != m.rows || c.Burst[0] != m.first || c.Burst[n-1] != m.last {
		return fmt.Errorf("the chunk at offset %d has %d rows, its .sums file says %d of bursts %d to %d", m.offset, n, m.rows, m.first, m.last)
	}
	return nil
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

// continueStream goes on with a recording whose files end at an offset; hash is of what the .sums file holds.
func continueStream(data, sums disk, s *arrow.Schema, at Offset, hash xxhash.Digest) (*stream, error) {
	st := &stream{data: data, sums: sums, schema: s, offset: at.Bytes, lines: at.Sums, linesHash: hash}
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

// marks reads a .sums file line by line: a recording has as many as its run needed.
type marks struct {
	path string
	r    *bufio.Reader
	line int   // the last one read
	next int64 // where the next chunk begins
}

// newMarks reads the first line, or as much as there is of it.
func newMarks(path string, r io.Reader) (*marks, error) {
	head := make([]byte, len(sumsHead))
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("record: %w", err)
	}
	if string(head[:n]) != sumsHead[:n] {
		return nil, damaged(path, "line 1 is not %q", strings.TrimSuffix(sumsHead, "\n"))
	}
	return &marks{path: path, r: bufio.NewReader(r), line: 1}, nil
}

// read gives the next mark, io.EOF behind the last whole line: one without an end is being written, or torn by a crash.
func (s *marks) read() (m mark, err error) {
	line, err := s.r.ReadSlice('\n')
	switch {
	case err == io.EOF:
		return m, err
	case err == bufio.ErrBufferFull:
		return m, damaged(s.path, "line %d has more than %d bytes", s.line+1, len(line))
	case err != nil:
		return m, fmt.Errorf("record: %w", err)
	}
	s.line++
	m, err = parseMark(string(line[:len(line)-1]))
	if err == nil && (m.offset != s.next || m.bytes == 0) {
		err = fmt.Errorf("a chunk of %d bytes at %d, want one at %d", m.bytes, m.offset, s.next)
	}
	if err != nil {
		return m, damaged(s.path, "line %d: %v", s.line, err)
	}
	s.next = m.offset + m.bytes
	return m, nil
}

// checked reads the chunks of a stream that its .sums file vouches for, each checked before a byte of it is given out.
type checked struct {
	path  string
	f     *os.File
	size  int64
	marks *marks
	mark  mark // of the chunk loaded last
	chunk []byte
	rest  []byte
}

func (c *checked) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if err := c.load(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// load reads and checks the next chunk; io.EOF when there is none.
func (c *checked) load() error {
	m, err := c.marks.read()
	if err != nil {
		return err
	}
	c.mark = m
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
func readStream(base string, t table, areas []Area) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if err := eachOfStream(base, t, areas, func(c Chunk) bool { return yield(c, nil) }); err != nil {
			yield(Chunk{}, err)
		}
	}
}

// opened is a stream that is being read.
type opened struct {
	checked
	sums *os.File
}

func (o *opened) close() error { return errors.Join(o.f.Close(), o.sums.Close()) }

// openStream opens the chunks of a stream that are on disk now; nil where there are none. The caller closes it.
func openStream(base string) (*opened, error) {
	sums, err := openFile(base+".sums", os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f, err := openFile(base+".arrows", os.O_RDONLY)
	if err != nil {
		return nil, errors.Join(err, sums.Close())
	}
	o := &opened{checked{path: f.Name(), f: f}, sums}
	err = o.begin()
	if err == nil {
		return o, nil
	}
	if e := o.close(); err == io.EOF {
		return nil, e
	}
	return nil, asDamage(o.path, err)
}

// begin loads the first chunk.
func (o *opened) begin() error {
	lines, err := o.sums.Stat() // before the data, which is there first
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	data, err := o.f.Stat()
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	o.size = data.Size()
	if o.marks, err = newMarks(o.sums.Name(), io.LimitReader(o.sums, lines.Size())); err != nil {
		return err
	}
	return o.load()
}

func eachOfStream(base string, t table, areas []Area, yield func(Chunk) bool) error {
	path := base + ".arrows"
	in, err := openStream(base)
	if err != nil || in == nil {
		return err
	}
	defer in.close()
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
			err = c.locate(t, areas)
		}
		if err == nil {
			err = in.mark.fits(&c)
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
	return damaged(path, "%v", arrowframe.Plain(err))
}
