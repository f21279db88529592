package edgelist

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// readArrow reads an IPC file or stream, told apart by how they begin: once to count its rows, once to take them.
func (l *list) readArrow(f File, size int64) error {
	var at [columns]int
	var rows uint64
	err := batches(f, size, func(s *arrow.Schema) (err error) {
		at, err = arrowHeader(s)
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
	return batches(f, size, func(*arrow.Schema) error { return nil }, func(b arrow.RecordBatch) {
		for c, i := range at {
			if i >= 0 {
				l.array(column(c), row, b.Column(i))
			}
		}
		row += uint64(b.NumRows())
	})
}

// batches calls take for every record batch.
func batches(f File, size int64, begin func(*arrow.Schema) error, take func(arrow.RecordBatch)) error {
	magic := make([]byte, 6)
	if _, err := f.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	if string(magic) != "ARROW1" {
		return streamBatches(io.NewSectionReader(f, 0, size), begin, take)
	}
	r, err := ipc.NewFileReader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return fmt.Errorf("no Arrow file: %w", err)
	}
	defer r.Close()
	if err := begin(r.Schema()); err != nil {
		return err
	}
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			return fmt.Errorf("record batch %d: %w", i, err)
		}
		take(b)
		b.Release()
	}
	return nil
}

func streamBatches(f io.Reader, begin func(*arrow.Schema) error, take func(arrow.RecordBatch)) error {
	r, err := ipc.NewReader(f)
	if err != nil {
		return fmt.Errorf("neither an Arrow file nor an Arrow stream: %w", err)
	}
	defer r.Release()
	if err := begin(r.Schema()); err != nil {
		return err
	}
	for r.Next() {
		take(r.RecordBatch())
	}
	return r.Err()
}

// arrowHeader finds the columns and checks their types.
func arrowHeader(s *arrow.Schema) (at [columns]int, err error) {
	names := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		names[i] = f.Name
	}
	at, _, err = header(names)
	for c, i := range at {
		if err != nil || i < 0 {
			continue
		}
		switch t := s.Field(i).Type; {
		case arrow.IsInteger(t.ID()):
		case !column(c).isReal():
			err = fmt.Errorf("column %s: %s found, whole numbers wanted", column(c), t)
		case t.ID() != arrow.FLOAT32 && t.ID() != arrow.FLOAT64:
			err = fmt.Errorf("column %s: %s found, a number wanted", column(c), t)
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
		panic(fmt.Sprintf("column of type %T", a))
	}
}

// number is what Arrow holds numbers as.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func fill[T, U number](l *list, c column, first uint64, a arrow.Array, values []T, put func(uint64, U) string) {
	for k, x := range values {
		wrong := nothing
		if a.NullN() == 0 || a.IsValid(k) {
			wrong = put(first+uint64(k), U(x))
		}
		if wrong != "" {
			l.faults.add(Fault{Row: first + uint64(k) + 1, Column: c.String(), Message: wrong})
		}
	}
}
