package tables

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"burst/internal/arrowframe"
	"burst/internal/regular"
	"burst/record/manifest"
)

// MostPage is the largest page that is read, unpacked; those that burst writes have a megabyte.
const MostPage = 16 << 20

// openParquet opens a file and reads its metadata. The caller closes it.
func openParquet(path string) (f *file.Reader, err error) {
	in, err := regular.Open(path, os.O_RDONLY)
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
	props.MaxUncompressedPageSize = MostPage
	if f, err = file.NewParquetReader(in, file.WithReadProps(props)); err == nil {
		f.WriterVersion() // which it keeps: of goroutines that read row groups none may be the first to ask
	}
	return f, err
}

// ParquetMeta is the metadata in a file's schema.
func ParquetMeta(path string) (meta map[string]string, err error) {
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

// ParquetRows is how many rows a file has.
func ParquetRows(path string) (rows uint64, err error) {
	f, err := openParquet(path)
	if err != nil {
		return 0, AsDamage(path, err)
	}
	defer f.Close()
	defer arrowframe.Guard(&err)
	for g := range f.NumRowGroups() {
		n := f.RowGroup(g).NumRows()
		if rows += uint64(n); n < 0 {
			return 0, AsDamage(path, fmt.Errorf("a row group of %d rows", n))
		}
	}
	return rows, nil
}

// ReadParquet reads a recording of the table in chunks. Row groups are decoded by as many goroutines as there are processors,
// while the caller looks at those before.
func ReadParquet(path string, t Table, m *manifest.Manifest) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		f, err := openParquet(path)
		if err != nil {
			yield(Chunk{}, AsDamage(path, err))
			return
		}
		defer f.Close()
		d := decoder{f: f, t: t, m: m, stop: make(chan struct{})}
		defer d.close()
		pending := make([]*decoded, runtime.GOMAXPROCS(0)+1) // group g is at g modulo its length, and takes the memory of the one before
		begun := 0
		for g := range f.NumRowGroups() {
			for ; begun < min(g+len(pending), f.NumRowGroups()); begun++ {
				pending[begun%len(pending)] = d.begin(begun, pending[begun%len(pending)])
			}
			group := pending[g%len(pending)]
			for range group.ready {
				if !yield(group.rows, nil) {
					return
				}
				group.seen <- struct{}{}
			}
			if group.err != nil {
				yield(Chunk{}, AsDamage(path, group.err))
				return
			}
		}
	}
}

// decoder decodes row groups of a file, each in a goroutine.
type decoder struct {
	f    *file.Reader
	t    Table
	m    *manifest.Manifest
	stop chan struct{}
	all  sync.WaitGroup
}

// decoded is a row group that is being decoded, a chunk after the other.
type decoded struct {
	rows        Chunk
	ready, seen chan struct{} // a chunk is in rows; it may be replaced
	err         error         // once ready is closed
}

// begin begins to decode row group g; before is one that was read to its end, or nil.
func (d *decoder) begin(g int, before *decoded) *decoded {
	group := &decoded{ready: make(chan struct{}), seen: make(chan struct{})}
	if before != nil {
		group.rows = before.rows
	}
	d.all.Go(func() {
		defer close(group.ready)
		group.err = d.group(g, group)
	})
	return group
}

// group decodes row group g.
func (d *decoder) group(g int, to *decoded) error {
	r := groupReader{c: &to.rows, m: d.m}
	err := r.open(d.f, g, d.t)
	for err == nil && r.left > 0 {
		if err = r.next(); err == nil {
			err = to.rows.locate(d.t, d.m)
		}
		if err == nil && !d.lend(to) {
			return nil
		}
	}
	return err
}

// lend lends a chunk until it was seen. It reports false when nobody reads on.
func (d *decoder) lend(c *decoded) bool {
	select {
	case c.ready <- struct{}{}:
	case <-d.stop:
		return false
	}
	select {
	case <-c.seen:
		return true
	case <-d.stop:
		return false
	}
}

// close ends all goroutines.
func (d *decoder) close() {
	close(d.stop)
	d.all.Wait()
}

// groupReader reads one row group.
type groupReader struct {
	columns []any // readers of int32, int64, float32, float64 or parquet.ByteArray
	names   []string
	left    int64 // rows
	c       *Chunk
	m       *manifest.Manifest
	words   []parquet.ByteArray
}

// open finds the table's columns in row group g by name; that of areas is not read, ids tell the area.
func (r *groupReader) open(f *file.Reader, g int, t Table) (err error) {
	defer arrowframe.Guard(&err)
	group := f.RowGroup(g)
	if r.left = group.NumRows(); r.left < 0 {
		return fmt.Errorf("a row group of %d rows", r.left)
	}
	s := f.MetaData().Schema
	for _, field := range t.columns {
		i := s.ColumnIndexByName(field.Name)
		if i < 0 {
			return fmt.Errorf("no column %q, which a recording of %s has", field.Name, t.name)
		}
		if got, want := s.Column(i).PhysicalType(), physical(field); got != want {
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
		c, err := columnOf(group, i, physical(field), chunk.Encodings())
		if err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
		r.columns, r.names = append(r.columns, c), append(r.names, field.Name)
	}
	return nil
}

// reader reads a column of required values, as Arrow's readers do.
type reader[T any] interface {
	ReadBatch(most int64, to []T, _, _ []int16) (total int64, n int, err error)
}

// columnOf is the reader of column i of a row group, which has that type and these encodings.
func columnOf(group *file.RowGroupReader, i int, t parquet.Type, encodings []parquet.Encoding) (any, error) {
	other := func(e parquet.Encoding) bool { // RLE is that of levels
		return e != parquet.Encodings.DeltaBinaryPacked && e != parquet.Encodings.RLE
	}
	if slices.ContainsFunc(encodings, other) || t != parquet.Types.Int32 && t != parquet.Types.Int64 {
		return group.Column(i)
	}
	pages, err := group.GetColumnPageReader(i)
	if err != nil {
		return nil, err
	}
	if t == parquet.Types.Int32 {
		return &deltas[int32]{pages: pages}, nil
	}
	return &deltas[int64]{pages: pages}, nil
}

// physical is how Parquet holds a column of a table.
func physical(f arrow.Field) parquet.Type {
	if f.Name == variable {
		return parquet.Types.ByteArray
	}
	switch f.Type.ID() {
	case arrow.UINT64:
		return parquet.Types.Int64
	case arrow.FLOAT32:
		return parquet.Types.Float
	case arrow.FLOAT64:
		return parquet.Types.Double
	}
	return parquet.Types.Int32
}

// next reads the next rows into the chunk.
func (r *groupReader) next() (err error) {
	defer arrowframe.Guard(&err)
	n := int(min(r.left, ChunkRows))
	c := r.c
	for i, column := range r.columns {
		var got int
		var err error
		to := Of(c, r.names[i])
		to.resize(n)
		switch column := column.(type) {
		case reader[int64]:
			got, err = fill(words[int64](to.Bytes()), column.ReadBatch)
		case reader[int32]:
			got, err = fill(words[int32](to.Bytes()), column.ReadBatch)
		case reader[float32]:
			got, err = fill(words[float32](to.Bytes()), column.ReadBatch)
		case reader[float64]:
			got, err = fill(words[float64](to.Bytes()), column.ReadBatch)
		case reader[parquet.ByteArray]:
			got, err = r.variables(n, column)
		}
		if err != nil || got != n {
			return fmt.Errorf("column %q: %d rows found, want %d: %w", r.names[i], got, n, errors.Join(err, io.ErrUnexpectedEOF))
		}
	}
	r.left -= int64(n)
	return nil
}

// variables reads names of variables as their places in the manifest's.
func (r *groupReader) variables(n int, column reader[parquet.ByteArray]) (int, error) {
	return fill(r.c.Variable[:n], func(most int64, to []uint32, _, _ []int16) (int64, int, error) {
		r.words = slices.Grow(r.words[:0], len(to))[:len(to)]
		total, got, err := column.ReadBatch(most, r.words, nil, nil)
		for i, word := range r.words[:got] { // which hold until the next batch
			k := slices.Index(r.m.Variables, string(word))
			if k < 0 {
				return total, i, fmt.Errorf("variable %q, want one of %v", string(word), r.m.Variables)
			}
			to[i] = uint32(k)
		}
		return total, got, err
	})
}

// fill reads until the slice is full or nothing comes.
func fill[T any](s []T, read func(int64, []T, []int16, []int16) (int64, int, error)) (int, error) {
	have := 0
	for have < len(s) {
		_, k, err := read(int64(len(s)-have), s[have:], nil, nil)
		have += k
		if err != nil || k == 0 {
			return have, err
		}
	}
	return have, nil
}
