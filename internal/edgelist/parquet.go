package edgelist

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"golang.org/x/sync/errgroup"

	"burst/internal/arrowframe"
)

// batchRows is how many rows of a Parquet column are decoded at a time.
const batchRows = 1 << 14

// rowsAByte is how many rows a byte of a file may hold before they are counted: a claim of more is held against the file's pages
// first, so that memory is taken for no more rows than so many a byte, or than there are.
const rowsAByte = 4

// readParquet reads the row groups, several at a time.
func (l *list) readParquet(f File, size int64) (err error) {
	defer arrowframe.Guard(&err)
	r, err := file.NewParquetReader(f)
	if err != nil {
		return fmt.Errorf("no Parquet file: %w", err)
	}
	s := r.MetaData().Schema
	names := make([]string, s.NumColumns())
	for i := range names {
		names[i] = s.Column(i).Path()
	}
	at, has, err := l.header(names)
	if err != nil {
		return err
	}
	for c, i := range at {
		if i >= 0 {
			if wrong := wrongType(column(c), s.Column(i)); wrong != "" {
				return fmt.Errorf("column %s: %s", column(c), wrong)
			}
		}
	}
	starts, rows := make([]uint64, r.NumRowGroups()), uint64(0)
	for i := range starts {
		starts[i] = rows
		n := r.RowGroup(i).NumRows()
		if n < 0 || rows > math.MaxInt64 {
			return fmt.Errorf("the file is damaged: row group %d has %d rows", i, n)
		}
		if err := checkGroup(r.RowGroup(i), &at, size); err != nil {
			return fmt.Errorf("the file is damaged: row group %d of %d rows: %w", i, n, err)
		}
		rows += uint64(n)
	}
	if n := r.NumRows(); n < 0 || uint64(n) != rows {
		return fmt.Errorf("the file is damaged: its footer says %d rows, its row groups have %d", n, rows)
	}
	if err := l.limit(rows); err != nil {
		return err
	}
	if rows/rowsAByte > uint64(size) {
		if err := l.groups(r, &at, starts, true); err != nil {
			return err
		}
	}
	if err := l.room(has, rows); err != nil {
		return err
	}
	return l.groups(r, &at, starts, false)
}

// checkGroup holds what the footer says of a row group's columns to the group and to the file's size.
func checkGroup(g *file.RowGroupReader, at *[columns]int, size int64) error {
	for c, i := range at {
		if i < 0 {
			continue
		}
		m, err := g.MetaData().ColumnChunk(i)
		if err != nil {
			return err
		}
		if n := m.NumValues(); n != g.NumRows() {
			return fmt.Errorf("column %s has %d", column(c), n)
		}
		if n := m.TotalCompressedSize(); n < 0 || n > size { // or memory is taken for as much
			return fmt.Errorf("column %s has %d bytes in a file of %d", column(c), n, size)
		}
	}
	return nil
}

// groups reads the row groups, which begin at those rows; or, to count, only looks whether they have as many rows as they say.
func (l *list) groups(r *file.Reader, at *[columns]int, starts []uint64, count bool) error {
	var g errgroup.Group
	g.SetLimit(l.Threads)
	for i := range starts {
		g.Go(func() (err error) {
			defer arrowframe.Guard(&err)
			return l.readGroup(r.RowGroup(i), at, starts[i], count)
		})
	}
	return g.Wait()
}

// wrongType says why a column of the file cannot be read as c.
func wrongType(c column, d *schema.Column) string {
	found := fmt.Sprintf("%s %s", d.PhysicalType(), d.LogicalType())
	switch {
	case d.MaxRepetitionLevel() > 0 || d.MaxDefinitionLevel() > 1:
		return "a nested column, want one number a row"
	case !plainNumber(d):
		return found + ", want a number"
	case !c.isReal() && !isWhole(d):
		return found + ", want whole numbers"
	}
	return ""
}

func plainNumber(d *schema.Column) bool {
	switch d.LogicalType().(type) {
	case schema.IntLogicalType, schema.NoLogicalType, schema.UnknownLogicalType, nil:
		return isWhole(d) || d.PhysicalType().String() == "FLOAT" || d.PhysicalType().String() == "DOUBLE"
	}
	return false
}

func isWhole(d *schema.Column) bool {
	return d.PhysicalType().String() == "INT32" || d.PhysicalType().String() == "INT64"
}

// readGroup reads the columns of a row group whose first row is number first.
func (l *list) readGroup(g *file.RowGroupReader, at *[columns]int, first uint64, count bool) error {
	for c, i := range at {
		if i < 0 {
			continue
		}
		r, err := g.Column(i)
		if err != nil {
			return err
		}
		p := &chunk{l: l, c: column(c), count: count, row: first, end: first + uint64(g.NumRows()), optional: r.Descriptor().MaxDefinitionLevel() > 0}
		t, ok := r.Descriptor().LogicalType().(schema.IntLogicalType)
		p.unsigned = ok && !t.IsSigned()
		if err := p.read(r); err != nil {
			return fmt.Errorf("column %s: %w", column(c), err)
		}
	}
	return nil
}

// chunk is a column of a row group.
type chunk struct {
	l        *list
	c        column
	row, end uint64
	unsigned bool
	optional bool // some rows may have no value
	count    bool // rows alone: no value is put into its row
	levels   []int16
}

func (p *chunk) read(r file.ColumnChunkReader) error {
	switch r := r.(type) {
	case *file.Int32ColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x int32) string {
			if p.unsigned {
				return p.l.whole(p.c, i, int64(uint32(x)))
			}
			return p.l.whole(p.c, i, int64(x))
		})
	case *file.Int64ColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x int64) string {
			if p.unsigned {
				return p.l.unsigned(p.c, i, uint64(x))
			}
			return p.l.whole(p.c, i, x)
		})
	case *file.Float32ColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x float32) string { return p.l.real(p.c, i, float64(x)) })
	case *file.Float64ColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x float64) string { return p.l.real(p.c, i, x) })
	}
	panic(fmt.Sprintf("BUG: column of type %T", r))
}

// drain reads a chunk to its end and puts every value into its row.
func drain[T any](p *chunk, next func(n int64, values []T, def, rep []int16) (int64, int, error), put func(uint64, T) string) error {
	values := make([]T, batchRows)
	if p.optional {
		p.levels = make([]int16, batchRows)
	}
	for p.row < p.end {
		rows, n, err := next(int64(min(batchRows, p.end-p.row)), values, p.levels, nil)
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("the file is damaged: %d rows are missing", p.end-p.row)
		}
		at := 0
		for k := range uint64(rows) {
			wrong := nothing
			if !p.optional || p.levels[k] == 1 {
				if !p.count {
					wrong = put(p.row+k, values[at])
				}
				at++
			}
			if p.count {
				continue
			}
			if wrong != "" {
				p.l.faults.add(Fault{Row: p.row + k + 1, Column: p.c.String(), Message: wrong})
			}
		}
		if at != n {
			return fmt.Errorf("the file is damaged: %d values in %d rows", n, at)
		}
		p.row += uint64(rows)
	}
	return nil
}

const nothing = "nothing (null), want a number"

// unsigned is whole for numbers that int64 may not hold.
func (l *list) unsigned(c column, i uint64, x uint64) string {
	if x > math.MaxInt64 {
		return fmt.Sprintf("%d, which no column takes", x)
	}
	return l.whole(c, i, int64(x))
}
