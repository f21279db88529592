package tabular

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"burst/internal/arrowframe"
)

// readArrow reads an IPC file or stream: once to count its rows, once to take them.
func (r *reader) readArrow(f File, size int64) (err error) {
	defer arrowframe.Guard(&err)
	begin, err := arrowStream(f, size)
	if err != nil {
		return err
	}
	var rows uint64
	err = r.batches(io.NewSectionReader(f, begin, size-begin), r.arrowHeader, func(b arrow.RecordBatch) { rows += uint64(b.NumRows()) })
	if err != nil {
		return err
	}
	if err := r.room(rows); err != nil {
		return err
	}
	row := uint64(0)
	return r.batches(io.NewSectionReader(f, begin, size-begin), func(*arrow.Schema) error { return nil }, func(b arrow.RecordBatch) {
		for k := range r.columns {
			r.array(&r.columns[k], row, b.Column(r.columns[k].At))
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
func (r *reader) batches(f io.Reader, begin func(*arrow.Schema) error, take func(arrow.RecordBatch)) error {
	left := int(min(max(leastBatch, r.MaxBytes), math.MaxInt))
	b, err := ipc.NewReader(f, ipc.WithBodySizeLimit(0), ipc.WithAllocator(&bounded{Allocator: memory.DefaultAllocator, left: left}))
	if err != nil {
		return err
	}
	defer b.Release()
	if err := begin(b.Schema()); err != nil {
		return err
	}
	for b.Next() {
		take(b.RecordBatch())
	}
	if few := (*noRoom)(nil); errors.As(b.Err(), &few) {
		return few
	}
	return b.Err()
}

// leastBatch is the memory that a record batch may take when even the whole list may not.
const leastBatch = 64 << 20

// noRoom is a record batch that is too large.
type noRoom struct{ need, left int }

func (e *noRoom) Error() string {
	return fmt.Sprintf("a record batch needs %d bytes, %d are left for one; write smaller batches", e.need, e.left)
}

// bounded refuses memory beyond what is left: a compressed column can claim any length. The next record batch takes the memory of the
// last one, so that a long file leaves no garbage.
type bounded struct {
	memory.Allocator
	left  int
	spare [][]byte
}

const mostSpare = 16 // buffers

func (b *bounded) take(n int) {
	if n > b.left {
		panic(&noRoom{n, b.left})
	}
	b.left -= n
}

func (b *bounded) Allocate(n int) []byte {
	b.take(n)
	for i, s := range b.spare {
		if n <= cap(s) && cap(s)/2 <= n {
			b.spare = slices.Delete(b.spare, i, i+1)
			clear(s[:n])
			return s[:n]
		}
	}
	return b.Allocator.Allocate(n)
}

func (b *bounded) Reallocate(n int, old []byte) []byte {
	b.take(n - len(old))
	return b.Allocator.Reallocate(n, old)
}

func (b *bounded) Free(old []byte) {
	b.left += len(old)
	if len(b.spare) == mostSpare {
		b.spare = b.spare[:0]
	}
	b.spare = append(b.spare, old)
}

// arrowHeader finds the columns and checks their types.
func (r *reader) arrowHeader(s *arrow.Schema) error {
	names := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		names[i] = f.Name
	}
	if err := r.header(names); err != nil {
		return err
	}
	for k := range r.columns {
		c := &r.columns[k]
		t := s.Field(c.At).Type
		real := t.ID() == arrow.FLOAT32 || t.ID() == arrow.FLOAT64
		switch {
		case c.Text != nil && isText(t):
		case c.Text != nil && c.Real == nil:
			return fmt.Errorf("column %s: %s, want texts", c.Name, t)
		case arrow.IsInteger(t.ID()):
		case c.Real == nil:
			return fmt.Errorf("column %s: %s, want whole numbers", c.Name, t)
		case !real:
			return fmt.Errorf("column %s: %s, want a number", c.Name, t)
		}
	}
	return nil
}

// isText reports whether a column holds texts, perhaps as numbers of a dictionary, or true and false.
func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BOOL:
		return true
	case arrow.DICTIONARY:
		return isText(t.(*arrow.DictionaryType).ValueType)
	}
	return false
}

// array puts the values of a column of a record batch into the rows from first on.
func (r *reader) array(c *Column, first uint64, a arrow.Array) {
	switch v := a.(type) {
	case *array.Int8:
		fill(r, c, first, a, v.Int8Values(), c.whole)
	case *array.Int16:
		fill(r, c, first, a, v.Int16Values(), c.whole)
	case *array.Int32:
		fill(r, c, first, a, v.Int32Values(), c.whole)
	case *array.Int64:
		fill(r, c, first, a, v.Int64Values(), c.whole)
	case *array.Uint8:
		fill(r, c, first, a, v.Uint8Values(), c.whole)
	case *array.Uint16:
		fill(r, c, first, a, v.Uint16Values(), c.whole)
	case *array.Uint32:
		fill(r, c, first, a, v.Uint32Values(), c.whole)
	case *array.Uint64:
		fill(r, c, first, a, v.Uint64Values(), c.unsigned)
	case *array.Float32:
		fill(r, c, first, a, v.Float32Values(), c.real)
	case *array.Float64:
		fill(r, c, first, a, v.Float64Values(), c.real)
	case *array.Boolean, *array.String, *array.LargeString, *array.StringView, *array.Dictionary:
		r.texts(c, first, a)
	default:
		panic(fmt.Sprintf("BUG: column of type %T", a))
	}
}

// texts puts the texts of a column of a record batch into the rows from first on.
func (r *reader) texts(c *Column, first uint64, a arrow.Array) {
	for k := range a.Len() {
		wrong := ""
		switch {
		case a.IsNull(k):
			wrong = c.missing()
		default:
			wrong = c.text(first+uint64(k), strings.Clone(textOf(a, k))) // the next batch takes the array's memory
		}
		if wrong != "" {
			r.faults.add(Fault{Row: first + uint64(k) + 1, Column: c.Name, Message: wrong})
		}
	}
}

// textOf is the k-th text of an array.
func textOf(a arrow.Array, k int) string {
	if d, is := a.(*array.Dictionary); is {
		i := d.GetValueIndex(k)
		if i < 0 || i >= d.Dictionary().Len() {
			return "" // a damaged file; no column takes it
		}
		return textOf(d.Dictionary(), i)
	}
	return a.ValueStr(k)
}

// number is what Arrow holds numbers as.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func fill[T, U number](r *reader, c *Column, first uint64, a arrow.Array, values []T, put func(uint64, U) string) {
	for k, x := range values {
		wrong := ""
		if a.IsValid(k) {
			wrong = put(first+uint64(k), U(x))
		} else {
			wrong = c.missing()
		}
		if wrong != "" {
			r.faults.add(Fault{Row: first + uint64(k) + 1, Column: c.Name, Message: wrong})
		}
	}
}
