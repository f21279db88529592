package tables

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// encoder makes row groups. Goroutines may share it.
type encoder struct {
	s     *arrow.Schema
	m     *manifest.Manifest
	root  *schema.GroupNode
	props *parquet.WriterProperties
	words map[string]dictionary // of the columns of words
}

// dictionary is the words of a column, each once.
type dictionary struct {
	words arrow.Array
	place []uint32 // in words, of what the manifest lists, which may have a word twice
}

// encoded is a row group: a Parquet file of its own but for the magic in front and the footer.
type encoded struct {
	rows  Chunk // what was encoded
	pages []byte
	meta  *metadata.FileMetaData
	err   error
}

func newEncoder(s *arrow.Schema, m *manifest.Manifest) *encoder {
	e := &encoder{s: s, m: m, words: map[string]dictionary{}}
	e.root, e.props = parquetSchema(s)
	for column, list := range Words(m) {
		e.words[column] = newDictionary(list)
	}
	return e
}

func newDictionary(list []string) dictionary {
	d := dictionary{place: make([]uint32, len(list))}
	places, words := map[string]uint32{}, []string(nil)
	for i, word := range list {
		k, found := places[word]
		if !found {
			k = uint32(len(words))
			places[word], words = k, append(words, word)
		}
		d.place[i] = k
	}
	d.words = stringsOf(words)
	return d
}

// stringsOf is an Arrow array of words.
func stringsOf(words []string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(words, nil)
	return b.NewArray()
}

// footer is that of a file without rows.
func (e *encoder) footer() (*metadata.FileMetaData, error) {
	var kv metadata.KeyValueMetadata
	md := e.s.Metadata()
	for i, k := range md.Keys() {
		if err := kv.Append(k, md.Values()[i]); err != nil {
			return nil, err
		}
	}
	f, err := file.NewParquetWriterWithError(io.Discard, e.root, file.WithWriterProps(e.props), file.WithWriteMetadata(kv))
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return f.FileMetadata()
}

// group encodes rows.
func (e *encoder) group(rows Chunk) (g encoded) {
	g.rows = rows
	g.rows.Fill(e.s, e.m)
	var out bytes.Buffer
	f, err := file.NewParquetWriterWithError(&out, e.root, file.WithWriterProps(e.props))
	if err != nil {
		g.err = err
		return g
	}
	group, err := f.AppendBufferedRowGroupChecked()
	if err == nil {
		err = e.columns(group, &g.rows)
	}
	if err == nil {
		err = group.Close()
	}
	if err != nil {
		g.err = err
		return g
	}
	g.pages = out.Bytes()[len(magic):]
	if g.err = f.Close(); g.err == nil {
		g.meta, g.err = f.FileMetadata()
	}
	return g
}

// columns appends rows to a row group.
func (e *encoder) columns(group file.BufferedRowGroupWriter, c *Chunk) error {
	for i, f := range e.s.Fields() {
		w, err := group.Column(i)
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
			err = e.words[f.Name].write(w, *c.places(f.Name))
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	return nil
}

// write writes a column of words by their places: to look up every word would take longer than all other columns.
func (d dictionary) write(w *file.ByteArrayColumnChunkWriter, rows []uint32) error {
	places, used := make([]int32, len(rows)), make([]bool, d.words.Len())
	for i, k := range rows {
		place := d.place[k]
		places[i], used[place] = int32(place), true
	}
	var present []string
	all := d.words.(*array.String)
	for k, u := range used {
		if u {
			present = append(present, all.Value(k))
		}
	}
	to, ok := w.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error })
	if !ok {
		panic("BUG: a column of words without a dictionary")
	}
	if err := to.PutDictionary(d.words); err != nil {
		return err
	}
	seen := w.PageStatistics()
	seen.IncNumValues(int64(len(rows)))
	if err := seen.UpdateFromArrow(stringsOf(present), false); err != nil {
		return err
	}
	return w.WriteDictIndices(array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, len(places), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(places))}, nil, 0, 0)), nil, nil)
}

// shift moves a row group from the beginning of a file of its own to another place, as the group of that number.
func shift(m *metadata.FileMetaData, by int64, number int) {
	move := func(at *int64) {
		if at != nil {
			*at += by
		}
	}
	for _, g := range m.RowGroups {
		ordinal := int16(min(number, math.MaxInt16)) // which is all that fits; readers count themselves
		move(g.FileOffset)
		g.Ordinal = &ordinal
		for _, c := range g.Columns {
			if c.FileOffset > 0 {
				c.FileOffset += by
			}
			c.MetaData.DataPageOffset += by
			move(c.MetaData.IndexPageOffset)
			move(c.MetaData.DictionaryPageOffset)
		}
	}
}
