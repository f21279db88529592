package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"burst/internal/plain"
)

// Read reads and proves a checkpoint: what it returns is what was saved, or the error says which section is not: a
// *DamagedError, or a *VersionError for a format that is not known. Memory is taken only for what the file's size can hold.
func Read(d Disk, path string) (*Checkpoint, error) {
	f, size, err := d.Open(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	r := reader{path: path, r: f, size: uint64(size), sum: sha256.New(), c: &Checkpoint{}}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.c, nil
}

// Newest reads the newest checkpoint of a folder that is whole. skipped are the errors of newer ones that are not; without
// any checkpoint all results are empty, and where none is whole err says so.
func Newest(d Disk, dir string) (c *Checkpoint, path string, skipped []error, err error) {
	bursts, err := List(d, dir)
	if err != nil {
		return nil, "", nil, err
	}
	for i := len(bursts) - 1; i >= 0; i-- {
		path := filepath.Join(dir, Name(bursts[i]))
		c, err := Read(d, path)
		if err == nil {
			return c, path, skipped, nil
		}
		skipped = append(skipped, err)
	}
	return nil, "", skipped, errors.Join(skipped...)
}

// reader takes a file apart.
type reader struct {
	path string
	r    io.Reader
	size uint64
	sum  hash.Hash // of everything but the tail
	c    *Checkpoint
	buf  []byte

	format uint32
	sizes  []uint64 // of plastic projections

	memorySizes []uint64 // neurons of each memory area
}

func (r *reader) damaged(section, format string, args ...any) error {
	return &DamagedError{Path: r.path, Section: section, Reason: plain.Sprintf(format, args...)}
}

// take reads exactly len(b) bytes of a section.
func (r *reader) take(section string, b []byte) error {
	if _, err := io.ReadFull(r.r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return r.damaged(section, "the file ends within it")
		}
		return fmt.Errorf("checkpoint: %w", err)
	}
	r.sum.Write(b)
	return nil
}

// read reads the file.
func (r *reader) read() error {
	table, err := r.head()
	if err != nil {
		return err
	}
	if len(table) == 0 || table[len(table)-1].name != "activity" { // the order of the others is checked one by one
		return r.damaged("header", "the table of %d sections does not end with the last one", len(table))
	}
	var lengths []uint64
	for i, e := range table {
		if err := r.section(i, e, &lengths); err != nil {
			return err
		}
		pad := make([]byte, aligned(e.length)-e.length)
		if err := r.take("padding", pad); err != nil {
			return err
		}
		if !bytes.Equal(pad, make([]byte, len(pad))) {
			return r.damaged("padding", "bytes after section %q are not zero", e.name)
		}
	}
	return r.tail()
}

// head reads header and table, and checks that the sections fill the file.
func (r *reader) head() ([]entry, error) {
	head := make([]byte, headBytes)
	if err := r.take("header", head); err != nil {
		return nil, err
	}
	if string(head[:8]) != magic {
		return nil, r.damaged("header", "begins with %q, want %q: not a checkpoint of burst", head[:8], magic)
	}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	if format := binary.LittleEndian.Uint32(head[8:]); format > Format {
		return nil, &VersionError{r.path, format, Format}
	}
	if format, flags := binary.LittleEndian.Uint32(head[8:]), binary.LittleEndian.Uint32(head[12:]); format == 0 || flags != 0 {
		return nil, r.damaged("header", "format %d with flags %#x found, want format 1…%d with flags 0", format, flags, Format)
	}
	n := word(120)
	if n > mostParts {
		return nil, r.damaged("header", "%d sections, want at most %d", n, mostParts)
	}
	rest := make([]byte, n*entryBytes+sumBytes)
	if err := r.take("header", rest); err != nil {
		return nil, err
	}
	h := xxhash.New()
	h.Write(head)
	h.Write(rest[:n*entryBytes])
	if want := binary.LittleEndian.Uint64(rest[n*entryBytes:]); h.Sum64() != want {
		return nil, r.damaged("header", "hashes to %016x, the file says %016x", h.Sum64(), want)
	}
	r.format = binary.LittleEndian.Uint32(head[8:])
	c := r.c
	c.Version = text(head[16:48])
	copy(c.Genome[:], head[48:80])
	c.Connectome, c.State.Number, c.Seed, c.RunSeed, c.State.Digest = word(80), word(88), word(96), word(104), word(112)
	return r.table(rest[:n*entryBytes])
}

// table reads the section table.
func (r *reader) table(b []byte) ([]entry, error) {
	offset := uint64(headBytes + len(b) + sumBytes)
	var list []entry
	for ; len(b) > 0; b = b[entryBytes:] {
		e := entry{name: text(b[:nameBytes]), offset: binary.LittleEndian.Uint64(b[16:]), length: binary.LittleEndian.Uint64(b[24:]), sum: binary.LittleEndian.Uint64(b[32:])}
		if e.offset != offset || e.length > r.size || offset+aligned(e.length) > r.size {
			return nil, r.damaged("header", "section %q of %d bytes at %d does not fit at %d in a file of %d bytes", e.name, e.length, e.offset, offset, r.size)
		}
		offset += aligned(e.length)
		list = append(list, e)
	}
	if offset+uint64(tailBytes) != r.size {
		return nil, r.damaged("header", "the sections end at %d, want %d in a file of %d bytes", offset, r.size-uint64(tailBytes), r.size)
	}
	return list, nil
}

// section reads section i. Their order is fixed: V, refractory, count, the variables, queue lengths, queues, those of plastic
// projections, amplitudes and those of memory areas in a file of their formats, recordings, activity.
func (r *reader) section(i int, e entry, lengths *[]uint64) error {
	s := &r.c.State
	if want := r.sectionName(i, e.name); e.name != want {
		return r.damaged("header", "section %d is %q, want %q", i, e.name, want)
	}
	var err error
	switch e.name {
	case "V":
		s.V, err = items[float32](r, e)
	case "refractory":
		s.Refractory, err = items[uint16](r, e)
	case "count":
		s.Count, err = items[uint16](r, e)
	case "queue lengths":
		*lengths, err = items[uint64](r, e)
	case "queues":
		var ids []uint32
		if ids, err = items[uint32](r, e); err == nil {
			err = r.queues(ids, *lengths)
		}
	case sizesSection:
		var sizes []uint64
		if sizes, err = items[uint64](r, e); err == nil {
			err = r.plasticSizes(sizes)
		}
	case amplitudesSection:
		var words []uint32
		if words, err = items[uint32](r, e); err == nil {
			err = r.amplitudes(words)
		}
	case "recordings":
		var b []byte
		if b, err = items[byte](r, e); err == nil {
			if r.c.Recordings, err = decodeRecordings(b); err != nil {
				err = r.damaged(e.name, "%v", err)
			}
		}
	case "activity":
		r.c.Activity, err = items[byte](r, e)
	default:
		if x := plasticSection(e.name); x != nil {
			return r.learnt(x, e)
		}
		if is, err := r.memory(e); is {
			return err
		}
		var more []float32
		if more, err = items[float32](r, e); err == nil {
			s.More = append(s.More, more)
		}
	}
	return err
}

// sectionName is what section i must be called; found decides between one more variable and the queues, and in a file of a later format
// than theirs whether there are plastic projections.
func (r *reader) sectionName(i int, found string) string {
	if fixed := []string{"V", "refractory", "count"}; i < len(fixed) {
		return fixed[i]
	}
	more := len(r.c.State.More)
	if i == 3+more && found == moreName(more) {
		return found
	}
	last := []string{"queue lengths", "queues"}
	if r.format == plasticFormat || r.format > plasticFormat && (found == sizesSection || r.sizes != nil) {
		last = append(last, sizesSection)
		for k := range plasticSections {
			last = append(last, plasticSections[k].name)
		}
	}
	if r.format == drivenFormat || r.format > drivenFormat && (found == amplitudesSection || r.c.State.Amplitudes != nil) {
		last = append(last, amplitudesSection)
	}
	if r.format >= memoryFormat {
		last = append(last, memorySections...)
	}
	if last = append(last, "recordings", "activity"); i-3-more < len(last) {
		return last[i-3-more]
	}
	return "none"
}

// items reads a section of numbers of one kind and checks its hash.
func items[T uint8 | uint16 | uint32 | uint64 | float32](r *reader, e entry) ([]T, error) {
	size := uint64(binary.Size(T(0)))
	if e.length%size != 0 {
		return nil, r.damaged(e.name, "%d bytes, want a multiple of %d", e.length, size)
	}
	values := make([]T, e.length/size)
	h := xxhash.New()
	for rest := values; len(rest) > 0; {
		n := min(len(rest), blockItems)
		r.buf = slices.Grow(r.buf[:0], n*int(size))
		b := r.buf[:n*int(size)]
		if err := r.take(e.name, b); err != nil {
			return nil, err
		}
		h.Write(b)
		if _, err := binary.Decode(b, binary.LittleEndian, rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	if h.Sum64() != e.sum {
		return nil, r.damaged(e.name, "hashes to %016x, the table says %016x", h.Sum64(), e.sum)
	}
	return values, nil
}

// queues cuts the ids of all fire queues.
func (r *reader) queues(ids []uint32, lengths []uint64) error {
	for i, n := range lengths {
		if n > uint64(len(ids)) {
			return r.damaged("queues", "queue %d has %d ids, %d are left", i+1, n, len(ids))
		}
		r.c.State.Queues = append(r.c.State.Queues, ids[:n:n])
		ids = ids[n:]
	}
	if len(ids) > 0 {
		return r.damaged("queues", "%d ids are in no queue", len(ids))
	}
	return nil
}

// tail checks the file's SHA-256 and its end.
func (r *reader) tail() error {
	want := r.sum.Sum(nil)
	var tail [tailBytes]byte
	if err := r.take("end", tail[:]); err != nil {
		return err
	}
	if !bytes.Equal(tail[:32], want) {
		return r.damaged("SHA-256", "is %x, the file says %x", want, tail[:32])
	}
	if string(tail[32:]) != endMagic {
		return r.damaged("end", "is %q, want %q", tail[32:], endMagic)
	}
	return nil
}
