package tables

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const (
	GroupRows = 1 << 20 // make a row group, and so what a reader of one holds
	batchRows = 1 << 16 // are written at a time, of which a row group has a whole number
)

// WriteParquet writes chunks as one Parquet file with the columns and the metadata of s. However the rows are cut into
// chunks, the same rows give the same bytes.
func WriteParquet(w io.Writer, s *arrow.Schema, m *manifest.Manifest, chunks iter.Seq2[Chunk, error]) error {
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
	p := parquetWriter{f: f, s: s, m: m, names: map[string][]parquet.ByteArray{}}
	for column, words := range Words(m) {
		for _, word := range words {
			p.names[column] = append(p.names[column], parquet.ByteArray(word))
		}
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
	return root, parquet.NewWriterProperties(options...)
}

// parquetWriter gathers chunks into batches, and these into row groups.
type parquetWriter struct {
	f     *file.Writer
	s     *arrow.Schema
	m     *manifest.Manifest
	names map[string][]parquet.ByteArray // of the columns of words
	batch Chunk                          // rows that are not written yet
	group file.BufferedRowGroupWriter    // nil: none is open
	rows  int                            // in group
	words []parquet.ByteArray
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
	if p.rows += n; p.rows < GroupRows {
		return nil
	}
	err := p.group.Close()
	p.group, p.rows = nil, 0
	return err
}

// columns appends rows to the open row group.
func (p *parquetWriter) columns(c *Chunk) error {
	c.Fill(p.s, p.m)
	for i, f := range p.s.Fields() {
		w, err := p.group.Column(i)
		if err != nil {
			return err
		}
		switch w := w.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = w.WriteBatch(words[int64](Of(c, f.Name).Bytes()), nil, nil)
		case *file.Int32ColumnChunkWriter:
			_, err = w.WriteBatch(words[int32](Of(c, f.Name).Bytes()), nil, nil)
		case *file.Float32ColumnChunkWriter:
			_, err = w.WriteBatch(words[float32](Of(c, f.Name).Bytes()), nil, nil)
		case *file.Float64ColumnChunkWriter:
			_, err = w.WriteBatch(words[float64](Of(c, f.Name).Bytes()), nil, nil)
		case *file.ByteArrayColumnChunkWriter:
			p.words = p.words[:0]
			for _, k := range *c.places(f.Name) {
				p.words = append(p.words, p.names[f.Name][k])
			}
			_, err = w.WriteBatch(p.words, nil, nil)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	return nil
}
