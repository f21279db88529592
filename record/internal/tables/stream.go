package tables

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/cespare/xxhash/v2"

	"burst/internal/arrowframe"
	"burst/internal/regular"
)

// A recording in progress is two files: NAME.arrows, an Arrow IPC stream, and NAME.sums, a line a chunk that says where
// the chunk lies and what its bytes hash to. A chunk is synced before its line is written, so a line vouches for a chunk.

// SumsHead is the first line of a .sums file.
const SumsHead = "offset,bytes,rows,first_burst,last_burst,xxh64\n"

// Mark is a line of the .sums file. It describes one chunk.
type Mark struct {
	Offset, Bytes int64 // the chunk's place in the stream; the first chunk begins at 0 and holds the schema too
	Rows          uint64
	First, Last   uint64 // bursts of its first and last row
	Sum           uint64 // xxHash64 of its bytes, seed 0
}

// Line is its text.
func (m Mark) Line() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d,%016x\n", m.Offset, m.Bytes, m.Rows, m.First, m.Last, m.Sum)
}

// ParseMark reads a line, given without its newline.
func ParseMark(line string) (m Mark, err error) {
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
	m = Mark{Offset: int64(n[0]), Bytes: int64(n[1]), Rows: n[2], First: n[3], Last: n[4]}
	m.Sum, err = strconv.ParseUint(fields[5], 16, 64)
	return m, err
}

// fits compares the rows of a chunk with its line.
func (m Mark) fits(c *Chunk) error {
	n := len(c.Burst)
	if n == 0 || uint64(n) != m.Rows || c.Burst[0] != m.First || c.Burst[n-1] != m.Last {
		return fmt.Errorf("the chunk at offset %d has %d rows, its .sums file says %d of bursts %d to %d", m.Offset, n, m.Rows, m.First, m.Last)
	}
	return nil
}

// Disk is what a stream needs of its files; tests put faulty ones in their place.
type Disk interface {
	io.Writer
	Sync() error
	Close() error
}

// Stream writes chunks.
type Stream struct {
	data, sums Disk
	schema     *arrow.Schema
	w          *ipc.Writer
	pending    bytes.Buffer  // what the Arrow writer has made since the last chunk
	end        int64         // of the data that was written
	marks      []Mark        // of the chunks that were written since Sync
	at         Offset        // how far it is on disk
	linesHash  xxhash.Digest // of the .sums file
}

// Offset is how far a recording is on disk: all rows of bursts up to Burst lie before Bytes.
type Offset struct {
	Bytes    int64
	Rows     uint64
	Burst    uint64
	Sums     int64  // bytes of the .sums file up to there
	SumsHash uint64 // xxHash64 of these
}

// NewStream begins a recording on two empty files.
func NewStream(data, sums Disk, s *arrow.Schema) (*Stream, error) {
	st := &Stream{data: data, sums: sums, schema: s}
	st.linesHash.Reset()
	st.w = ipc.NewWriter(&st.pending, ipc.WithSchema(s))
	_, err := sums.Write([]byte(st.line(SumsHead)))
	return st, err
}

// ContinueStream goes on with a recording whose files end at an offset; hash is of what the .sums file holds.
func ContinueStream(data, sums Disk, s *arrow.Schema, at Offset, hash xxhash.Digest) (*Stream, error) {
	st := &Stream{data: data, sums: sums, schema: s, end: at.Bytes, at: at, linesHash: hash}
	st.w = ipc.NewWriter(&st.pending, ipc.WithSchema(s))
	// The file has the schema already: a batch without rows makes the writer believe so too.
	none := NewBlock().batch(s)
	defer none.Release()
	return st, st.w.Write(none)
}

// line counts a line of the .sums file.
func (s *Stream) line(text string) string {
	s.at.Sums += int64(len(text))
	s.linesHash.WriteString(text)
	s.at.SumsHash = s.linesHash.Sum64()
	return text
}

// Write appends a chunk of at least a burst. It is on disk after the next Sync.
func (s *Stream) Write(b *Block) error {
	s.pending.Reset()
	batch := b.batch(s.schema)
	err := s.w.Write(batch)
	batch.Release()
	if err != nil {
		return err
	}
	m := Mark{Offset: s.end, Bytes: int64(s.pending.Len()), Rows: uint64(b.Count()), First: b.Numbers[0], Last: b.Numbers[len(b.Numbers)-1], Sum: xxhash.Sum64(s.pending.Bytes())}
	if _, err := s.data.Write(s.pending.Bytes()); err != nil {
		return err
	}
	s.end += m.Bytes
	s.marks = append(s.marks, m)
	return nil
}

// Synced says whether all chunks are on disk.
func (s *Stream) Synced() bool { return len(s.marks) == 0 }

// Sync returns when all chunks are on disk, and how far the stream is then.
func (s *Stream) Sync() (Offset, error) {
	if s.Synced() {
		return s.at, nil
	}
	if err := s.data.Sync(); err != nil {
		return s.at, err
	}
	var lines []byte
	for _, m := range s.marks {
		lines = append(lines, s.line(m.Line())...)
		s.at.Bytes, s.at.Rows, s.at.Burst = m.Offset+m.Bytes, s.at.Rows+m.Rows, m.Last
	}
	s.marks = s.marks[:0]
	if _, err := s.sums.Write(lines); err != nil {
		return s.at, err
	}
	return s.at, s.sums.Sync()
}

// Close ends both files.
func (s *Stream) Close() error { return errors.Join(s.data.Close(), s.sums.Close()) }

// Marks reads a .sums file line by line: a recording has as many as its run needed.
type Marks struct {
	path string
	r    *bufio.Reader
	line int   // the last one read
	next int64 // where the next chunk begins
}

// NewMarks reads the first line, or as much as there is of it.
func NewMarks(path string, r io.Reader) (*Marks, error) {
	head := make([]byte, len(SumsHead))
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("record: %w", err)
	}
	if string(head[:n]) != SumsHead[:n] {
		return nil, regular.Damaged(path, "line 1 is not %q", strings.TrimSuffix(SumsHead, "\n"))
	}
	return &Marks{path: path, r: bufio.NewReader(r), line: 1}, nil
}

// Read gives the next mark, io.EOF behind the last whole line: one without an end is being written, or torn by a crash.
func (s *Marks) Read() (m Mark, err error) {
	line, err := s.r.ReadSlice('\n')
	switch {
	case err == io.EOF:
		return m, err
	case err == bufio.ErrBufferFull:
		return m, regular.Damaged(s.path, "line %d has more than %d bytes", s.line+1, len(line))
	case err != nil:
		return m, fmt.Errorf("record: %w", err)
	}
	s.line++
	m, err = ParseMark(string(line[:len(line)-1]))
	if err == nil && (m.Offset != s.next || m.Bytes == 0) {
		err = fmt.Errorf("a chunk of %d bytes at %d, want one at %d", m.Bytes, m.Offset, s.next)
	}
	if err != nil {
		return m, regular.Damaged(s.path, "line %d: %v", s.line, err)
	}
	s.next = m.Offset + m.Bytes
	return m, nil
}

// checked reads the chunks of a stream that its .sums file vouches for, each checked before a byte of it is given out.
type checked struct {
	path  string
	f     *os.File
	size  int64
	marks *Marks
	mark  Mark // of the chunk loaded last
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
	m, err := c.marks.Read()
	if err != nil {
		return err
	}
	c.mark = m
	c.chunk, err = c.fetch(m, c.chunk)
	c.rest = c.chunk
	return err
}

// fetch reads and checks a chunk, into memory where that is large enough. Goroutines may share c for it.
func (c *checked) fetch(m Mark, memory []byte) ([]byte, error) {
	if m.Bytes > c.size-m.Offset {
		return nil, regular.Damaged(c.path, "%d bytes found, want the chunk of %d bytes at %d that its .sums file names", c.size, m.Bytes, m.Offset)
	}
	chunk := slices.Grow(memory[:0], int(m.Bytes))[:m.Bytes]
	if _, err := io.ReadFull(io.NewSectionReader(c.f, m.Offset, m.Bytes), chunk); err != nil {
		return nil, fmt.Errorf("record: %s: %w", c.path, err)
	}
	if got := xxhash.Sum64(chunk); got != m.Sum {
		return nil, regular.Damaged(c.path, "the chunk of bursts %d to %d at offset %d hashes to %016x, its .sums file says %016x", m.First, m.Last, m.Offset, got, m.Sum)
	}
	end, err := arrowframe.Stream(bytes.NewReader(chunk), m.Bytes, false)
	if err == nil && end != m.Bytes {
		err = errors.New("the stream ends inside it")
	}
	if err != nil {
		return nil, regular.Damaged(c.path, "the chunk at offset %d: %v", m.Offset, err)
	}
	return chunk, nil
}

// opened is a stream that is being read.
type opened struct {
	checked
	sums *os.File
}

func (o *opened) close() error { return errors.Join(o.f.Close(), o.sums.Close()) }

// openStream opens the chunks of a stream that are on disk now; nil where there are none. The caller closes it.
func openStream(base string) (*opened, error) {
	sums, err := regular.Open(base+".sums", os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f, err := regular.Open(base+".arrows", os.O_RDONLY)
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
	return nil, AsDamage(o.path, err)
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
	if o.marks, err = NewMarks(o.sums.Name(), io.LimitReader(o.sums, lines.Size())); err != nil {
		return err
	}
	return o.load()
}

// AsDamage returns errors that say what is wrong as they are, and makes any other error one of damage.
func AsDamage(path string, err error) error {
	var d *regular.DamagedError
	var p *os.PathError
	if errors.As(err, &d) || errors.As(err, &p) {
		return err
	}
	return regular.Damaged(path, "%v", arrowframe.Plain(err))
}

// StreamMeta is the metadata of the run in a stream's schema.
func StreamMeta(path string) (map[string]string, error) {
	in, err := openStream(strings.TrimSuffix(path, ".arrows"))
	if err != nil {
		return nil, err
	}
	if in == nil {
		return nil, errors.New("holds no chunk yet")
	}
	defer in.close()
	r, err := ipc.NewReader(in)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema().Metadata().ToMap(), nil
}

// Prove checks the beginning of a recording against its checksums and returns the hash of its .sums file up to there.
func Prove(data, sums *os.File, at Offset) (hash xxhash.Digest, err error) {
	info, err := sums.Stat()
	if err != nil {
		return hash, fmt.Errorf("record: %w", err)
	}
	if info.Size() < at.Sums {
		return hash, regular.Damaged(sums.Name(), "%d bytes found, the checkpoint says %d", info.Size(), at.Sums)
	}
	hash.Reset()
	if _, err := io.Copy(&hash, io.NewSectionReader(sums, 0, at.Sums)); err != nil {
		return hash, fmt.Errorf("record: %w", err)
	}
	if got := hash.Sum64(); got != at.SumsHash {
		return hash, regular.Damaged(sums.Name(), "its first %d bytes hash to %016x, the checkpoint says %016x", at.Sums, got, at.SumsHash)
	}
	marks, err := NewMarks(sums.Name(), io.NewSectionReader(sums, 0, at.Sums))
	if err != nil {
		return hash, err
	}
	if info, err = data.Stat(); err != nil {
		return hash, fmt.Errorf("record: %w", err)
	}
	n, err := io.Copy(io.Discard, &checked{path: data.Name(), f: data, size: info.Size(), marks: marks})
	if err == nil && n != at.Bytes {
		err = regular.Damaged(data.Name(), "its chunks end at %d, the checkpoint says %d", n, at.Bytes)
	}
	return hash, err
}

// Unvouched is the number of bytes of a recording in progress that no line of its .sums file covers.
func Unvouched(base string) int64 {
	sums, err := regular.Open(base+".sums", os.O_RDONLY)
	if err != nil {
		return 0 // reading tells
	}
	defer sums.Close()
	lines, err := NewMarks(sums.Name(), sums)
	for err == nil {
		_, err = lines.Read()
	}
	data, err := os.Stat(base + ".arrows")
	if err != nil || lines == nil {
		return 0
	}
	return data.Size() - lines.next
}
