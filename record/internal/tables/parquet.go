package tables

import (
	"encoding/binary"
	"io"
	"iter"
	"math"
	"runtime"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// GroupRows make a row group, which one goroutine encodes, and which a reader may hold.
const GroupRows = 1 << 18

// WriteParquet writes chunks as one Parquet file with the columns and the metadata of s. Row groups are encoded by as many
// goroutines as there are processors. However the rows are cut into chunks, the same rows give the same bytes.
func WriteParquet(w io.Writer, s *arrow.Schema, m *manifest.Manifest, chunks iter.Seq2[Chunk, error]) error {
	p, err := NewParquet(w, s, m, nil)
	if err != nil {
		return err
	}
	defer p.Wait()
	for c, err := range chunks {
		if err == nil {
			err = p.Add(&c)
		}
		if err != nil {
			return err
		}
	}
	return p.Finish()
}

// magic begins and ends a Parquet file.
const magic = "PAR1"

// zstdLevel is zstd's fastest.
const zstdLevel = 1

// parquetOptions gives the columns their encodings: ids ascend, so their differences are small.
func parquetOptions(s *arrow.Schema) (*schema.GroupNode, []parquet.WriterProperty) {
	options := []parquet.WriterProperty{parquet.WithCompressionLevel(zstdLevel), parquet.WithDictionaryPageSizeLimit(math.MaxInt32), parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy("burst"), parquet.WithDictionaryDefault(false)}
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
		case arrow.FLOAT64:
			node = schema.NewFloat64Node(f.Name, parquet.Repetitions.Required, -1)
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
	return root, options
}

// mostEncoders encode at a time; each has a row group of some megabytes.
const mostEncoders = 16

// Parquet is a file that is being written: chunks are gathered into row groups, which goroutines encode and which are written in
// their order.
type Parquet struct {
	w       io.Writer
	e       *encoder
	chunk   Block                  // one that is being added
	next    *group                 // being gathered
	free    []*group               // written, for their memory
	pending []pending              // row groups that are being encoded, oldest first
	whole   *metadata.FileMetaData // the footer, with the row groups that are written
	at      int64                  // bytes written
}

// pending is a row group that is being encoded.
type pending struct {
	*group
	done chan error
}

// NewParquet begins a file with the columns and the metadata of s. The caller ends with Wait. Goroutines give every row to seen, in any
// order; it may be nil.
func NewParquet(w io.Writer, s *arrow.Schema, m *manifest.Manifest, seen func(*Chunk)) (*Parquet, error) {
	e := newEncoder(s, m)
	e.seen = seen
	whole, err := e.footer()
	if err != nil {
		return nil, err
	}
	p := &Parquet{w: w, e: e, whole: whole, next: newGroup()}
	return p, p.put([]byte(magic))
}

// Add appends a chunk. Its columns are copied.
func (p *Parquet) Add(c *Chunk) error { return p.AddBlock(p.chunk.of(c)) }

// AddBlock appends the rows of a block, which are copied.
func (p *Parquet) AddBlock(b *Block) error {
	for from := 0; from < b.Count(); {
		until := min(b.Count(), from+GroupRows-p.next.block.Count())
		p.next.block.add(b, from, until)
		from = until
		if p.next.block.Count() == GroupRows {
			if err := p.encode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// encode begins to encode the rows. If every processor has a row group by then, or mostEncoders have, it waits for the oldest one.
func (p *Parquet) encode() error {
	g, done := p.next, make(chan error, 1)
	go func() { done <- p.e.encode(g) }()
	p.pending = append(p.pending, pending{g, done})
	if len(p.pending) > min(runtime.GOMAXPROCS(0), mostEncoders) {
		if err := p.oldest(); err != nil {
			return err
		}
	}
	if n := len(p.free); n > 0 {
		p.next, p.free = p.free[n-1], p.free[:n-1]
	} else {
		p.next = newGroup()
	}
	return nil
}

// oldest writes the oldest row group.
func (p *Parquet) oldest() error {
	g := p.pending[0]
	p.pending = p.pending[1:]
	if err := <-g.done; err != nil {
		return err
	}
	shift(g.meta, p.at-int64(len(magic)), len(p.whole.RowGroups))
	p.whole.RowGroups = append(p.whole.RowGroups, g.meta.RowGroups...)
	p.whole.NumRows += g.meta.NumRows
	err := p.put(g.pages)
	g.block.Reset()
	p.free = append(p.free, g.group)
	return err
}

func (p *Parquet) put(b []byte) error {
	n, err := p.w.Write(b)
	p.at += int64(n)
	return err
}

// Finish writes the last row groups and the footer. A file without rows has no row group.
func (p *Parquet) Finish() error {
	if p.next.block.Count() > 0 {
		if err := p.encode(); err != nil {
			return err
		}
	}
	for len(p.pending) > 0 {
		if err := p.oldest(); err != nil {
			return err
		}
	}
	n, err := p.whole.WriteTo(p.w, nil)
	if err != nil {
		return err
	}
	return p.put(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
}

// Wait waits for the goroutines that encode.
func (p *Parquet) Wait() {
	for _, g := range p.pending {
		<-g.done
	}
}
