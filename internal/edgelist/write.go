package edgelist

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"burst/internal/tabular"
)

const writeSize = 4 << 20 // bytes of a CSV file that are written at a time

// groupRows is how many rows make a row group of Parquet, and so what a reader of one holds.
const groupRows = 1 << 20

// Block is a few rows on their way to a file.
type Block struct {
	Source, Target []uint32
	Weight         []float64
	Delay          []uint16    // bursts
	Port           []uint8     // 0, or 1 for the second input of a neuron
	More           [][]float64 // of each further column
}

// Reset empties the block and keeps its memory.
func (b *Block) Reset() {
	for k := range b.More {
		b.More[k] = b.More[k][:0]
	}
	*b = Block{b.Source[:0], b.Target[:0], b.Weight[:0], b.Delay[:0], b.Port[:0], b.More}
}

// Add appends a row, but for its further columns.
func (b *Block) Add(source, target uint32, weight float64, delay uint16, port uint8) {
	b.Source, b.Target = append(b.Source, source), append(b.Target, target)
	b.Weight, b.Delay, b.Port = append(b.Weight, weight), append(b.Delay, delay), append(b.Port, port)
}

// Writer writes a list with the columns source, target, weight, delay and port, and further ones, block by block.
type Writer interface {
	Write(b *Block) error
	Close() error // completes the list; it does not close what it is written to
}

// NewWriter writes to w in the format that the ending of name tells; more are the names of further columns.
func NewWriter(w io.Writer, name string, more ...string) (Writer, error) {
	switch tabular.Format(name) {
	case ".csv":
		c := &csvWriter{w: bufio.NewWriterSize(w, writeSize)}
		_, err := c.w.WriteString(strings.Join(append([]string{"source,target,weight,delay,port"}, more...), ",") + "\n")
		return c, err
	case ".parquet":
		return newParquetWriter(w, more)
	case ".arrow":
		s := arrowSchema(more)
		f, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
		return &arrowWriter{s, f}, err
	case ".arrows":
		s := arrowSchema(more)
		return &arrowWriter{s, ipc.NewWriter(w, ipc.WithSchema(s))}, nil
	}
	return nil, fmt.Errorf("expects a file that ends in %s, found %q", strings.Join(tabular.Formats(), ", "), name)
}

type csvWriter struct {
	w    *bufio.Writer
	line []byte
}

func (c *csvWriter) Write(b *Block) error {
	for i := range b.Source {
		l := strconv.AppendUint(c.line[:0], uint64(b.Source[i]), 10)
		l = strconv.AppendUint(append(l, ','), uint64(b.Target[i]), 10)
		l = strconv.AppendFloat(append(l, ','), b.Weight[i], 'g', -1, 64)
		l = strconv.AppendUint(append(l, ','), uint64(b.Delay[i]), 10)
		l = strconv.AppendUint(append(l, ','), uint64(b.Port[i]), 10)
		for _, list := range b.More {
			l = strconv.AppendFloat(append(l, ','), list[i], 'g', -1, 64)
		}
		c.line = append(l, '\n')
		if _, err := c.w.Write(c.line); err != nil {
			return err
		}
	}
	return nil
}

func (c *csvWriter) Close() error { return c.w.Flush() }

func arrowSchema(more []string) *arrow.Schema {
	fields := []arrow.Field{
		{Name: "source", Type: arrow.PrimitiveTypes.Uint32}, {Name: "target", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "weight", Type: arrow.PrimitiveTypes.Float64}, {Name: "delay", Type: arrow.PrimitiveTypes.Uint16},
		{Name: "port", Type: arrow.PrimitiveTypes.Uint8},
	}
	for _, name := range more {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	return arrow.NewSchema(fields, nil)
}

// arrowWriter writes an IPC file or stream, a record batch a block.
type arrowWriter struct {
	s *arrow.Schema
	w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
}

func (a *arrowWriter) Write(b *Block) error {
	r := array.NewRecordBuilder(memory.DefaultAllocator, a.s)
	defer r.Release()
	r.Field(0).(*array.Uint32Builder).AppendValues(b.Source, nil)
	r.Field(1).(*array.Uint32Builder).AppendValues(b.Target, nil)
	r.Field(2).(*array.Float64Builder).AppendValues(b.Weight, nil)
	r.Field(3).(*array.Uint16Builder).AppendValues(b.Delay, nil)
	r.Field(4).(*array.Uint8Builder).AppendValues(b.Port, nil)
	for k, list := range b.More {
		r.Field(5+k).(*array.Float64Builder).AppendValues(list, nil)
	}
	batch := r.NewRecordBatch()
	defer batch.Release()
	return a.w.Write(batch)
}

func (a *arrowWriter) Close() error { return a.w.Close() }

// parquetWriter gathers blocks into row groups.
type parquetWriter struct {
	f     *file.Writer
	group file.BufferedRowGroupWriter // nil: none is open
	rows  int                         // in group
	small []int32
}

func newParquetWriter(w io.Writer, more []string) (*parquetWriter, error) {
	number := func(name string, bits int8) schema.Node {
		n, err := schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, schema.NewIntLogicalType(bits, false), parquet.Types.Int32, 0, -1)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		return n
	}
	real := func(name string) schema.Node { return schema.NewFloat64Node(name, parquet.Repetitions.Required, -1) }
	fields := schema.FieldList{number("source", 32), number("target", 32), real("weight"), number("delay", 16), number("port", 8)}
	for _, name := range more {
		fields = append(fields, real(name))
	}
	root, err := schema.NewGroupNode("burst", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	plain := func(name string) parquet.WriterProperty { return parquet.WithDictionaryFor(name, false) }
	f, err := file.NewParquetWriterWithError(struct{ io.Writer }{w}, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCreatedBy("burst"), parquet.WithCompression(compress.Codecs.Zstd), plain("source"), plain("target"),
		parquet.WithEncodingFor("source", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("target", parquet.Encodings.DeltaBinaryPacked))))
	return &parquetWriter{f: f}, err
}

func (p *parquetWriter) Write(b *Block) (err error) {
	if p.group == nil {
		if p.group, err = p.f.AppendBufferedRowGroupChecked(); err != nil {
			return err
		}
	}
	for i := range p.f.NumColumns() {
		if err := p.column(i, b); err != nil {
			return err
		}
	}
	if p.rows += len(b.Source); p.rows < groupRows {
		return nil
	}
	return p.end()
}

// end closes the open row group.
func (p *parquetWriter) end() error {
	g := p.group
	p.group, p.rows = nil, 0
	if g == nil {
		return nil
	}
	return g.Close()
}

func (p *parquetWriter) column(i int, b *Block) error {
	w, err := p.group.Column(i)
	if err != nil {
		return err
	}
	switch w := w.(type) {
	case *file.Float64ColumnChunkWriter:
		list := b.Weight
		if i >= 5 {
			list = b.More[i-5]
		}
		_, err = w.WriteBatch(list, nil, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(p.whole(i, b), nil, nil)
	}
	return err
}

// whole gives a column of whole numbers as Parquet holds it.
func (p *parquetWriter) whole(i int, b *Block) []int32 {
	switch i {
	case 0:
		return signed(b.Source)
	case 1:
		return signed(b.Target)
	}
	p.small = p.small[:0]
	if i == 3 {
		p.small = widened(p.small, b.Delay)
	} else {
		p.small = widened(p.small, b.Port)
	}
	return p.small
}

// widened appends numbers to a list.
func widened[T uint8 | uint16](list []int32, from []T) []int32 {
	for _, x := range from {
		list = append(list, int32(x))
	}
	return list
}

// signed sees the same bits as signed numbers.
func signed(x []uint32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

func (p *parquetWriter) Close() error {
	if err := p.end(); err != nil {
		return err
	}
	return p.f.Close()
}
