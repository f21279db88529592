package record

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const (
	groupRows = 1 << 20 // make a row group, and so what a reader of one holds
	batchRows = 1 << 16 // are written at a time, of which a row group has a whole number
)

// writeParquet writes chunks as one Parquet file with the columns and the metadata of s. However the rows are cut into
// chunks, the same rows give the same bytes.
func writeParquet(w io.Writer, s *arrow.Schema, areas []Area, chunks iter.Seq2[Chunk, error]) error {
	root, props := parquetSchema(s)
	var kv metadata.KeyValueMetadata
	md := s.Metadata()
	for i, k := range md.Keys() {
		if err := kv.Append(k, md.Values()[i]); err != nil {
			return err
		}
	}
	f, err := file.NewParquetWriterWithError(w, root, file.WithWriterProps(props), file.WithWriteMetadata(kv))
	if err != nil {
		return err
	}
	p := parquetWriter{f: f, s: s}
	for _, a := range areas {
		p.names = append(p.names, parquet.ByteArray(a.Name))
	}
	for c, err := range chunks {
		if err == nil {
			err = p.write(&c)
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	if p.group != nil {
		if err := p.group.Close(); err != nil {
			return err
		}
	}
	return f.Close()
}

// parquetSchema gives the columns their encodings: ids ascend, so their differences are small.
func parquetSchema(s *arrow.Schema) (*schema.GroupNode, *parquet.WriterProperties) {
	options := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy("burst"), parquet.WithDictionaryDefault(false)}
	var fields schema.FieldList
	for _, f := range s.Fields() {
		var node *schema.PrimitiveNode
		var err error
		delta := parquet.WithEncodingFor(f.Name, parquet.Encodings.DeltaBinaryPacked)
		switch f.Type.ID() {
		case arrow.UINT64:
			node, err = schema.NewPrimitiveNodeLogical(f.Name, parquet.Repetitions.Required, schema.NewIntLogicalType(64, false), parquet.Types.Int64, 0, -1)
			options = append(options, delta)
		case arrow.UINT32:
			node, err = schema.NewPrimitiveNodeLogical(f.Name, parquet.Repetitions.Required, schema.NewIntLogicalType(32, false), parquet.Types.Int32, 0, -1)
			options = append(options, delta)
		case arrow.INT32:
			node, err = schema.NewPrimitiveNodeLogical(f.Name, parquet.Repetitions.Required, schema.NewIntLogicalType(32, true), parquet.Types.Int32, 0, -1)
			options = append(options, delta)
		case arrow.FLOAT32:
			node = schema.NewFloat32Node(f.Name, parquet.Repetitions.Required, -1)
		default:
			node, err = schema.NewPrimitiveNodeLogical(f.Name, parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)
			options = append(options, parquet.WithDictionaryFor(f.Name, true))
		}
		if err != nil {
			panic("BUG: " + err.Error())
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("burst", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return root, parquet.NewWriterProperties(options...)
}

// parquetWriter gathers chunks into batches, and these into row groups.
type parquetWriter struct {
	f     *file.Writer
	s     *arrow.Schema
	names []parquet.ByteArray
	batch Chunk                       // rows that are not written yet
	group file.BufferedRowGroupWriter // nil: none is open
	rows  int                         // in group
	area  []parquet.ByteArray
}

// write appends a chunk.
func (p *parquetWriter) write(c *Chunk) error {
	for from := 0; from < len(c.Burst); {
		until := min(len(c.Burst), from+batchRows-len(p.batch.Burst))
		p.batch.add(c.slice(from, until))
		from = until
		if len(p.batch.Burst) == batchRows {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the batch. Pages end where the writer looks at their size, so that must not depend on chunks.
func (p *parquetWriter) flush() error {
	n := len(p.batch.Burst)
	if n == 0 {
		return nil
	}
	if p.group == nil {
		var err error
		if p.group, err = p.f.AppendBufferedRowGroupChecked(); err != nil {
			return err
		}
	}
	if err := p.columns(&p.batch); err != nil {
		return err
	}
	p.batch = p.batch.slice(0, 0)
	if p.rows += n; p.rows < groupRows {
		return nil
	}
	err := p.group.Close()
	p.group, p.rows = nil, 0
	return err
}

// columns appends rows to the open row group.
func (p *parquetWriter) columns(c *Chunk) error {
	for i, f := range p.s.Fields() {
		w, err := p.group.Column(i)
		if err != nil {
			return err
		}
		switch w := w.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = w.WriteBatch(as[int64](c.Burst), nil, nil)
		case *file.Int32ColumnChunkWriter:
			_, err = w.WriteBatch(c.int32s(f.Name), nil, nil)
		case *file.Float32ColumnChunkWriter:
			_, err = w.WriteBatch(c.Potential, nil, nil)
		case *file.ByteArrayColumnChunkWriter:
			p.area = p.area[:0]
			for _, a := range c.Area {
				p.area = append(p.area, p.names[a])
			}
			_, err = w.WriteBatch(p.area, nil, nil)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	return nil
}

// int32s is the column of that name as Parquet holds it.
func (c *Chunk) int32s(name string) []int32 {
	switch name {
	case "neuron":
		return as[int32](c.Neuron)
	case "port":
		return as[int32](c.Port)
	}
	return c.Sum
}

// slice is rows from ≤ i < until.
func (c *Chunk) slice(from, until int) Chunk {
	s := Chunk{Burst: c.Burst[from:until], Neuron: c.Neuron[from:until], Area: c.Area[from:until]}
	if c.Potential != nil {
		s.Potential = c.Potential[from:until]
	}
	if c.Port != nil {
		s.Port, s.Sum = c.Port[from:until], c.Sum[from:until]
	}
	return s
}

// add appends rows.
func (c *Chunk) add(rows Chunk) {
	c.Burst, c.Neuron, c.Area = append(c.Burst, rows.Burst...), append(c.Neuron, rows.Neuron...), append(c.Area, rows.Area...)
	c.Potential, c.Port, c.Sum = append(c.Potential, rows.Potential...), append(c.Port, rows.Port...), append(c.Sum, rows.Sum...)
}

// as views s as integers of the same size.
func as[To, From int32 | uint32 | int64 | uint64](s []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// readParquet reads a recording of the table in chunks.
func readParquet(path string, t table, areas []Area) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		f, err := file.OpenParquetFile(path, false)
		if err != nil {
			yield(Chunk{}, fmt.Errorf("record: %w", err))
			return
		}
		defer f.Close()
		var c Chunk
		for g := range f.NumRowGroups() {
			r := groupReader{path: path, group: f.RowGroup(g), c: &c}
			if err := r.open(t); err != nil {
				yield(Chunk{}, asDamage(path, err))
				return
			}
			for r.left > 0 {
				err := r.next()
				if err == nil {
					err = c.locate(areas)
				}
				if err != nil {
					yield(Chunk{}, damaged(path, "%v", err))
					return
				}
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// groupReader reads one row group.
type groupReader struct {
	path    string
	group   *file.RowGroupReader
	columns []file.ColumnChunkReader
	names   []string
	left    int64 // rows
	c       *Chunk
}

// mend turns a panic of a reader of files into an error: a file must never stop the program.
func mend(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("a file that cannot be read (%v)", r)
	}
}

// open finds the table's columns by name; that of areas is not read, ids tell the area.
func (r *groupReader) open(t table) (err error) {
	defer mend(&err)
	r.left = r.group.NumRows()
	s := r.group.MetaData().Schema
	for _, name := range append([]string{"burst", "neuron"}, t.extraNames()...) {
		i := s.ColumnIndexByName(name)
		if i < 0 {
			return damaged(r.path, "no column %q, which a recording of %s has", name, t.name)
		}
		if s.Column(i).MaxDefinitionLevel() > 0 {
			return damaged(r.path, "column %q may hold nulls, which burst does not write", name)
		}
		c, err := r.group.Column(i)
		if err != nil {
			return damaged(r.path, "column %q: %v", name, err)
		}
		r.columns, r.names = append(r.columns, c), append(r.names, name)
	}
	return nil
}

// next reads the next rows into the chunk.
func (r *groupReader) next() (err error) {
	defer mend(&err)
	n := int(min(r.left, chunkRows))
	c := r.c
	for i, column := range r.columns {
		var got int
		var err error
		switch column := column.(type) {
		case *file.Int64ColumnChunkReader:
			got, err = fill(&c.Burst, n, func(to []uint64) (int, error) {
				_, k, err := column.ReadBatch(int64(len(to)), as[int64](to), nil, nil)
				return k, err
			})
		case *file.Int32ColumnChunkReader:
			read := func(to []int32) (int, error) {
				_, k, err := column.ReadBatch(int64(len(to)), to, nil, nil)
				return k, err
			}
			unsigned := func(to []uint32) (int, error) { return read(as[int32](to)) }
			switch r.names[i] {
			case "neuron":
				got, err = fill(&c.Neuron, n, unsigned)
			case "port":
				got, err = fill(&c.Port, n, unsigned)
			default:
				got, err = fill(&c.Sum, n, read)
			}
		case *file.Float32ColumnChunkReader:
			got, err = fill(&c.Potential, n, func(to []float32) (int, error) {
				_, k, err := column.ReadBatch(int64(len(to)), to, nil, nil)
				return k, err
			})
		}
		if err != nil || got != n {
			return fmt.Errorf("column %q: %d rows found, want %d: %w", r.names[i], got, n, errors.Join(err, io.ErrUnexpectedEOF))
		}
	}
	r.left -= int64(n)
	return nil
}

// fill makes a slice of n entries and reads until it is full or nothing comes.
func fill[T any](s *[]T, n int, read func([]T) (int, error)) (int, error) {
	*s = slices.Grow((*s)[:0], n)[:n]
	have := 0
	for have < n {
		k, err := read((*s)[have:])
		have += k
		if err != nil || k == 0 {
			return have, err
		}
	}
	return have, nil
}
