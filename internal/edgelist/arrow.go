package edgelist

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"burst/internal/arrowframe"
)

// readArrow reads an IPC file or stream: once to count its rows, once to take them.
func (l *list) readArrow(f File, size int64) (err error) {
	defer arrowframe.Guard(&err)
	begin, err := arrowStream(f, size)
	if err != nil {
		return err
	}
	var at [columns]int
	var rows uint64
	err = l.batches(io.NewSectionReader(f, begin, size-begin), func(s *arrow.Schema) (err error) {
		at, err = l.arrowHeader(s)
		return err
	}, func(b arrow.RecordBatch) { rows += uint64(b.NumRows()) })
	if err != nil {
		return err
	}
	var has [columns]bool
	for c := range at {
		has[c] = at[c] >= 0
	}
	if err := l.room(has, rows); err != nil {
		return err
	}
	row := uint64(0)
	return l.batches(io.NewSectionReader(f, begin, size-begin), func(*arrow.Schema) error { return nil }, func(b arrow.RecordBatch) {
		for c, i := range at {
			if i >= 0 {
				l.array(column(c), row, b.Column(i))
			}
		}
		row += uint64(b.NumRows())
	})
}

const arrowMagic = "ARROW1"

// arrowStream returns where the stream of messages begins, after checking their lengths. An IPC file holds a stream between its
// first eight bytes and a footer.
func arrowStream(f File, size int64) (begin int64, err error) {
	ends := make([]byte, 2*len(arrowMagic))
	first, last := ends[:len(arrowMagic)], ends[len(arrowMagic):]
	if size >= int64(len(ends)) {
		if _, err := f.ReadAt(first, 0); err != nil {
			return 0, err
		}
		if _, err := f.ReadAt(last, size-int64(len(last))); err != nil {
			return 0, err
		}
	}
	file := string(first) == arrowMagic
	if file {
		begin = 8
	}
	end, err := arrowframe.Stream(io.NewSectionReader(f, begin, size-begin), size-begin, true)
	switch {
	case err != nil && file:
		return 0, fmt.Errorf("the Arrow file is damaged: %w", err)
	case err != nil:
		return 0, fmt.Errorf("neither an Arrow file nor an Arrow stream: %w", err)
	case file && (string(last) != arrowMagic || begin+end == size):
		return 0, errors.New("the Arrow file is damaged: its end is missing")
	}
	return begin, nil
}

// batches calls take for every record batch of a stream whose lengths are checked.
func (l *list) batches(f io.Reader, begin func(*arrow.Schema) error, take func(arrow.RecordBatch)) error {
	r, err := ipc.NewReader(f, ipc.WithBodySizeLimit(0), ipc.WithAllocator(&bounded{memory.DefaultAllocator, int(max(leastBatch, Bytes(l.MaxRows)))}))
	if err != nil {
		return err
	}
	defer r.Release()
	if err := begin(r.Schema()); err != nil {
		return err
	}
	for r.Next() {
		take(r.RecordBatch())
	}
	if few := (*noRoom)(nil); errors.As(r.Err(), &few) {
		return few
	}
	return r.Err()
}

// leastBatch is the memory that a record batch may take when even the whole list may not.
const leastBatch = 64 << 20

// noRoom is a record batch that is too large.
type noRoom struct{ need, left int }

func (e *noRoom) Error() string {
	return fmt.Sprintf("a record batch needs %d bytes, %d are left for one; write smaller batches", e.need, e.left)
}

// bounded refuses memory beyond what is left: a compressed column can claim any length.
type bounded struct {
	memory.Allocator
	left int
}

func (b *bounded) take(n int) {
	if n > b.left {
		panic(&noRoom{n, b.left})
	}
	b.left -= n
}

func (b *bounded) Allocate(n int) []byte {
	b.take(n)
	return b.Allocator.Allocate(n)
}

func (b *bounded) Reallocate(n int, old []byte) []byte {
	b.take(n - len(old))
	return b.Allocator.Reallocate(n, old)
}

func (b *bounded) Free(old []byte) {
	b.left += len(old)
	b.Allocator.Free(old)
}

// arrowHeader finds the columns and checks their types.
func (o *Options) arrowHeader(s *arrow.Schema) (at [columns]int, err error) {
	names := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		names[i] = f.Name
	}
	at, _, err = o.header(names)
	for c, i := range at {
		if err != nil || i < 0 {
			continue
		}
		switch t := s.Field(i).Type; {
		case arrow.IsInteger(t.ID()):
		case !column(c).isReal():
			err = fmt.Errorf("column %s: %s, want whole numbers", column(c), t)
		case t.ID() != arrow.FLOAT32 && t.ID() != arrow.FLOAT64:
			err = fmt.Errorf("column %s: %s, want a number", column(c), t)
		}
	}
	return at, err
}

// array puts the values of a column of a record batch into the rows from first on.
func (l *list) array(c column, first uint64, a arrow.Array) {
	whole := func(i uint64, x int64) string { return l.whole(c, i, x) }
	switch v := a.(type) {
	case *array.Int8:
		fill(l, c, first, a, v.Int8Values(), whole)
	case *array.Int16:
		fill(l, c, first, a, v.Int16Values(), whole)
	case *array.Int32:
		fill(l, c, first, a, v.Int32Values(), whole)
	case *array.Int64:
		fill(l, c, first, a, v.Int64Values(), whole)
	case *array.Uint8:
		fill(l, c, first, a, v.Uint8Values(), whole)
	case *array.Uint16:
		fill(l, c, first, a, v.Uint16Values(), whole)
	case *array.Uint32:
		fill(l, c, first, a, v.Uint32Values(), whole)
	case *array.Uint64:
		fill(l, c, first, a, v.Uint64Values(), func(i uint64, x uint64) string { return l.unsigned(c, i, x) })
	case *array.Float32:
		fill(l, c, first, a, v.Float32Values(), func(i uint64, x float64) string { return l.real(c, i, x) })
	case *array.Float64:
		fill(l, c, first, a, v.Float64Values(), func(i uint64, x float64) string { return l.real(c, i, x) })
	default:
		panic(fmt.Sprintf("BUG: column of type %T", a))
	}
}

// number is what Arrow holds numbers as.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func fill[T, U number](l *list, c column, first uint64, a arrow.Array, values []T, put func(uint64, U) string) {
	for k, x := range values {
		wrong := nothing
		if a.IsValid(k) {
			wrong = put(first+uint64(k), U(x))
		}
		if wrong != "" {
			l.faults.add(Fault{Row: first + uint64(k) + 1, Column: c.String(), Message: wrong})
		}
	}
}
