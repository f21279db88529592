package tabular

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
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
func (r *reader) readParquet(f File, size int64) (err error) {
	defer arrowframe.Guard(&err)
	p, err := file.NewParquetReader(f)
	if err != nil {
		return fmt.Errorf("no Parquet file: %w", err)
	}
	s := p.MetaData().Schema
	names := make([]string, s.NumColumns())
	for i := range names {
		names[i] = s.Column(i).Path()
	}
	if err := r.header(names); err != nil {
		return err
	}
	for k := range r.columns {
		c := &r.columns[k]
		if wrong := wrongType(c, s.Column(c.At)); wrong != "" {
			return fmt.Errorf("column %s: %s", c.Name, wrong)
		}
	}
	starts, rows := make([]uint64, p.NumRowGroups()), uint64(0)
	for i := range starts {
		starts[i] = rows
		n := p.RowGroup(i).NumRows()
		if n < 0 || rows > math.MaxInt64 {
			return fmt.Errorf("the file is damaged: row group %d has %d rows", i, n)
		}
		if err := r.checkGroup(p.RowGroup(i), size); err != nil {
			return fmt.Errorf("the file is damaged: row group %d of %d rows: %w", i, n, err)
		}
		rows += uint64(n)
	}
	if n := p.NumRows(); n < 0 || uint64(n) != rows {
		return fmt.Errorf("the file is damaged: its footer says %d rows, its row groups have %d", n, rows)
	}
	if err := r.limit(rows); err != nil {
		return err
	}
	if rows/rowsAByte > uint64(size) {
		if err := r.groups(p, starts, true); err != nil {
			return err
		}
	}
	if err := r.room(rows); err != nil {
		return err
	}
	return r.groups(p, starts, false)
}

// checkGroup holds what the footer says of a row group's columns to the group and to the file's size.
func (r *reader) checkGroup(g *file.RowGroupReader, size int64) error {
	for k := range r.columns {
		c := &r.columns[k]
		m, err := g.MetaData().ColumnChunk(c.At)
		if err != nil {
			return err
		}
		if n := m.NumValues(); n != g.NumRows() {
			return fmt.Errorf("column %s has %d", c.Name, n)
		}
		if n := m.TotalCompressedSize(); n < 0 || n > size { // or memory is taken for as much
			return fmt.Errorf("column %s has %d bytes in a file of %d", c.Name, n, size)
		}
	}
	return nil
}

// groups reads the row groups, which begin at those rows; or, to count, only looks whether they have as many rows as they say.
func (r *reader) groups(p *file.Reader, starts []uint64, count bool) error {
	var g errgroup.Group
	g.SetLimit(r.Threads)
	for i := range starts {
		g.Go(func() (err error) {
			defer arrowframe.Guard(&err)
			return r.readGroup(p.RowGroup(i), starts[i], count)
		})
	}
	return g.Wait()
}

// wrongType says why a column of the file cannot be read as c.
func wrongType(c *Column, d *schema.Column) string {
	found := fmt.Sprintf("%s %s", d.PhysicalType(), d.LogicalType())
	switch {
	case d.MaxRepetitionLevel() > 0 || d.MaxDefinitionLevel() > 1:
		return "a nested column, want one value a row"
	case c.Text != nil && holdsTexts(d):
	case c.Text != nil && c.Real == nil:
		return found + ", want texts"
	case !plainNumber(d):
		return found + ", want a number"
	case c.Real == nil && !isWhole(d):
		return found + ", want whole numbers"
	}
	return ""
}

// holdsTexts reports whether a column holds texts, or true and false.
func holdsTexts(d *schema.Column) bool {
	switch d.LogicalType().(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.NoLogicalType, schema.UnknownLogicalType, nil:
		return d.PhysicalType().String() == "BYTE_ARRAY" || d.PhysicalType().String() == "BOOLEAN"
	}
	return false
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
func (r *reader) readGroup(g *file.RowGroupReader, first uint64, count bool) error {
	for k := range r.columns {
		c := &r.columns[k]
		column, err := g.Column(c.At)
		if err != nil {
			return err
		}
		d := column.Descriptor()
		p := &chunk{r: r, c: c, count: count, row: first, end: first + uint64(g.NumRows()), optional: d.MaxDefinitionLevel() > 0}
		t, ok := d.LogicalType().(schema.IntLogicalType)
		p.unsigned = ok && !t.IsSigned()
		if err := p.read(column); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return nil
}

// chunk is a column of a row group.
type chunk struct {
	r        *reader
	c        *Column
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
				return p.c.whole(i, int64(uint32(x)))
			}
			return p.c.whole(i, int64(x))
		})
	case *file.Int64ColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x int64) string {
			if p.unsigned {
				return p.c.unsigned(i, uint64(x))
			}
			return p.c.whole(i, x)
		})
	case *file.Float32ColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x float32) string { return p.c.Real(i, float64(x)) })
	case *file.Float64ColumnChunkReader:
		return drain(p, r.ReadBatch, p.c.real)
	case *file.BooleanColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x bool) string { return p.c.Text(i, strconv.FormatBool(x)) })
	case *file.ByteArrayColumnChunkReader:
		return drain(p, r.ReadBatch, func(i uint64, x parquet.ByteArray) string { return p.c.text(i, string(x)) })
	}
	panic(fmt.Sprintf("BUG: column of type %T", r))
}

// text gives a text to its column.
func (c *Column) text(row uint64, s string) string {
	switch {
	case s == "" && c.Optional:
		return ""
	case s == "":
		return "nothing, want a text"
	case !utf8.ValidString(s):
		return fmt.Sprintf("%q, want UTF-8", Clip(s))
	}
	return c.Text(row, s)
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
			wrong := ""
			switch there := !p.optional || p.levels[k] == 1; {
			case there && !p.count:
				wrong = put(p.row+k, values[at])
				at++
			case there:
				at++
			case !p.count:
				wrong = p.c.missing()
			}
			if wrong != "" {
				p.r.faults.add(Fault{Row: p.row + k + 1, Column: p.c.Name, Message: wrong})
			}
		}
		if at != n {
			return fmt.Errorf("the file is damaged: %d values in %d rows", n, at)
		}
		p.row += uint64(rows)
	}
	return nil
}

// unsigned is whole for numbers that int64 may not hold.
func (c *Column) unsigned(row uint64, x uint64) string {
	if x > math.MaxInt64 {
		return fmt.Sprintf("%d, which no column takes", x)
	}
	return c.whole(row, int64(x))
}
