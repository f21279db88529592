package record

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"burst/internal/arrowframe"
)

// mostPage is the largest page that is read, unpacked; those that burst writes have a megabyte.
const mostPage = 16 << 20

// openParquet reads what a file says of itself. The caller closes it.
func openParquet(path string) (f *file.Reader, err error) {
	in, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			in.Close() // the first error is the one to tell
		}
	}()
	defer arrowframe.Guard(&err)
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.MaxUncompressedPageSize = mostPage
	return file.NewParquetReader(in, file.WithReadProps(props))
}

// parquetMeta is the metadata that schema has put into a file.
func parquetMeta(path string) (meta map[string]string, err error) {
	f, err := openParquet(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer arrowframe.Guard(&err)
	meta = map[string]string{}
	kv := f.MetaData().KeyValueMetadata()
	for i, k := range kv.Keys() {
		meta[k] = kv.Values()[i]
	}
	return meta, nil
}

// readParquet reads a recording of the table in chunks.
func readParquet(path string, t table, areas []Area) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		f, err := openParquet(path)
		if err != nil {
			yield(Chunk{}, asDamage(path, err))
			return
		}
		defer f.Close()
		var c Chunk
		for g := range f.NumRowGroups() {
			r := groupReader{c: &c}
			err := r.open(f, g, t)
			for err == nil && r.left > 0 {
				if err = r.next(); err == nil {
					err = c.locate(t, areas)
				}
				if err == nil && !yield(c, nil) {
					return
				}
			}
			if err != nil {
				yield(Chunk{}, asDamage(path, err))
				return
			}
		}
	}
}

// groupReader reads one row group.
type groupReader struct {
	columns []file.ColumnChunkReader
	names   []string
	left    int64 // rows
	c       *Chunk
}

// open finds the table's columns in row group g by name; that of areas is not read, ids tell the area.
func (r *groupReader) open(f *file.Reader, g int, t table) (err error) {
	defer arrowframe.Guard(&err)
	group := f.RowGroup(g)
	if r.left = group.NumRows(); r.left < 0 {
		return fmt.Errorf("a row group of %d rows", r.left)
	}
	s := f.MetaData().Schema
	for _, field := range t.numbers() {
		i := s.ColumnIndexByName(field.Name)
		if i < 0 {
			return fmt.Errorf("no column %q, which a recording of %s has", field.Name, t.name)
		}
		if got, want := s.Column(i).PhysicalType(), physical(field.Type); got != want {
			return fmt.Errorf("column %q is %v, want %v", field.Name, got, want)
		}
		if s.Column(i).MaxDefinitionLevel() > 0 {
			return fmt.Errorf("column %q may hold nulls, which burst does not write", field.Name)
		}
		chunk, err := group.MetaData().ColumnChunk(i)
		if err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
		if have, size := f.MetaData().GetSourceFileSize(), chunk.TotalCompressedSize(); size > have { // or memory is taken for as much
			return fmt.Errorf("column %q: %d bytes in a file of %d", field.Name, size, have)
		}
		c, err := group.Column(i)
		if err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
		r.columns, r.names = append(r.columns, c), append(r.names, field.Name)
	}
	return nil
}

// physical is how Parquet holds numbers of a type.
func physical(t arrow.DataType) parquet.Type {
	switch t.ID() {
	case arrow.UINT64:
		return parquet.Types.Int64
	case arrow.FLOAT32:
		return parquet.Types.Float
	}
	return parquet.Types.Int32
}

// next reads the next rows into the chunk.
func (r *groupReader) next() (err error) {
	defer arrowframe.Guard(&err)
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
