package tables

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// Plain is a table that is no recording: columns of one length, each a []uint64, a []float64 or a []string. NaN stands for
// a figure that is not defined: an empty field of CSV.
type Plain struct {
	Names   []string
	Columns []any
}

// Add appends a column.
func (t *Plain) Add(name string, column any) {
	t.Names, t.Columns = append(t.Names, name), append(t.Columns, column)
}

// CSV writes the table with its names in the first line.
func (t *Plain) CSV(w io.Writer) error {
	c := CSV(w, t.Names)
	for row := range t.rows() {
		line := make([]string, len(t.Columns))
		for i, column := range t.Columns {
			line[i] = plainText(column, row)
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

func (t *Plain) rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	switch c := t.Columns[0].(type) {
	case []uint64:
		return len(c)
	case []float64:
		return len(c)
	}
	return len(t.Columns[0].([]string))
}

func plainText(column any, row int) string {
	switch c := column.(type) {
	case []uint64:
		return Whole(c[row])
	case []float64:
		if math.IsNaN(c[row]) {
			return ""
		}
		return strconv.FormatFloat(c[row], 'g', -1, 64)
	}
	return column.([]string)[row]
}

// Parquet writes the table as one row group.
func (t *Plain) Parquet(w io.Writer) error {
	var fields []arrow.Field
	for i, name := range t.Names {
		kind := arrow.DataType(arrow.BinaryTypes.String)
		switch t.Columns[i].(type) {
		case []uint64:
			kind = arrow.PrimitiveTypes.Uint64
		case []float64:
			kind = arrow.PrimitiveTypes.Float64
		}
		fields = append(fields, field(name, kind))
	}
	root, options := parquetOptions(arrow.NewSchema(fields, nil))
	f, err := file.NewParquetWriterWithError(w, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	if err != nil {
		return err
	}
	g, err := f.AppendBufferedRowGroupChecked()
	if err != nil {
		return err
	}
	for i, name := range t.Names {
		column, err := g.Column(i)
		if err == nil {
			err = writePlain(column, t.Columns[i])
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
	}
	if err := g.Close(); err != nil {
		return err
	}
	return f.Close()
}

func writePlain(to file.ColumnChunkWriter, from any) (err error) {
	switch c := from.(type) {
	case []uint64:
		_, err = to.(*file.Int64ColumnChunkWriter).WriteBatch(words[int64](c), nil, nil)
	case []float64:
		_, err = to.(*file.Float64ColumnChunkWriter).WriteBatch(c, nil, nil)
	case []string:
		texts := make([]parquet.ByteArray, len(c))
		for i, s := range c {
			texts[i] = parquet.ByteArray(s)
		}
		_, err = to.(*file.ByteArrayColumnChunkWriter).WriteBatch(texts, nil, nil)
	}
	return err
}
