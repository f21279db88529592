package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// encoder makes row groups. Goroutines may share it.
type encoder struct {
	s       *arrow.Schema
	m       *manifest.Manifest
	root    *schema.GroupNode
	columns *schema.Schema // of root
	props   *parquet.WriterProperties
	words   map[string]dictionary // of the columns of words
	seen    func(*Chunk)          // is given the rows of each group; may be nil
}

// dictionary is the words of a column, each once.
type dictionary struct {
	words []string
	place []uint32 // in words, of what the manifest lists, which may have a word twice
	page  []byte   // words, as Parquet has them
}

// group is a row group, and the memory to make the next one in. What is encoded is a Parquet file of its own but for the magic in front
// and the footer.
type group struct {
	block  Block // what is encoded
	rows   Chunk // its rows, with what follows from them
	pages  []byte
	meta   *metadata.FileMetaData
	plain  []byte       // a page before it is compressed
	packed bytes.Buffer // and after that
}

func newGroup() *group { return &group{block: *NewBlock()} }

// fill makes rows of the block. The columns that follow keep their memory.
func (g *group) fill(e *encoder) error {
	b, old := &g.block, &g.rows
	c := b.Rows
	c.Burst, c.Area = repeat(old.Burst, b.Numbers, b.Ends), old.Area[:0]
	c.X, c.Y, c.Z, c.At, c.Index, c.Time = old.X, old.Y, old.Z, old.At, old.Index, old.Time
	g.rows = c
	if err := g.rows.findAreas(e.m.Areas); err != nil {
		return err
	}
	if e.seen != nil {
		e.seen(&g.rows)
	}
	g.rows.Fill(e.s, e.m)
	return nil
}

func newEncoder(s *arrow.Schema, m *manifest.Manifest) *encoder {
	e := &encoder{s: s, m: m, words: map[string]dictionary{}}
	root, options := parquetOptions(s)
	e.root, e.columns, e.props = root, schema.NewSchema(root), parquet.NewWriterProperties(options...)
	for column, list := range Words(m) {
		e.words[column] = newDictionary(list)
	}
	return e
}

func newDictionary(list []string) dictionary {
	d := dictionary{place: make([]uint32, len(list))}
	places := map[string]uint32{}
	for i, word := range list {
		k, found := places[word]
		if !found {
			k = uint32(len(d.words))
			places[word], d.words = k, append(d.words, word)
			d.page = append(binary.LittleEndian.AppendUint32(d.page, uint32(len(word))), word...)
		}
		d.place[i] = k
	}
	return d
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
	return metadata.NewFileMetadataBuilder(e.columns, e.props, kv).Finish()
}

// encode encodes the group's rows.
func (e *encoder) encode(g *group) error {
	if err := g.fill(e); err != nil {
		return err
	}
	g.pages = g.pages[:0]
	file := metadata.NewFileMetadataBuilder(e.columns, e.props, nil)
	about := file.AppendRowGroup()
	for i, f := range e.s.Fields() {
		if err := e.column(g, i, about.NextColumnChunk()); err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	about.SetNumRows(len(g.rows.Burst))
	err := about.Finish(0, 0)
	if err == nil {
		g.meta, err = file.Finish()
	}
	return err
}

// Write appends to the pages.
func (g *group) Write(b []byte) (int, error) {
	g.pages = append(g.pages, b...)
	return len(b), nil
}

// Tell is where the next byte lies in a file of the group alone.
func (g *group) Tell() int64 { return int64(len(magic) + len(g.pages)) }

// column appends a column of the rows.
func (e *encoder) column(g *group, i int, about *metadata.ColumnChunkMetaDataBuilder) error {
	to, err := file.NewPageWriter(g, compress.Codecs.Zstd, zstdLevel, about, 0, int16(i), memory.DefaultAllocator, false, nil, nil)
	if err != nil {
		return err
	}
	if name := e.s.Field(i).Name; e.s.Field(i).Type.ID() == arrow.DICTIONARY {
		return e.words[name].write(g, to, about, *g.rows.places(name))
	}
	values := Of(&g.rows, e.s.Field(i).Name).Bytes()
	switch e.s.Field(i).Type.ID() {
	case arrow.UINT64:
		g.plain = appendDeltas(g.plain[:0], words[int64](values))
		numbers := words[uint64](values)
		if e.s.Field(i).Name == "burst" {
			numbers = g.block.Numbers // all there are
		}
		return g.page(to, about, parquet.Encodings.DeltaBinaryPacked, g.plain, statistics(numbers))
	case arrow.UINT32:
		g.plain = appendDeltas(g.plain[:0], words[int32](values))
		return g.page(to, about, parquet.Encodings.DeltaBinaryPacked, g.plain, statistics(words[uint32](values)))
	case arrow.INT32:
		g.plain = appendDeltas(g.plain[:0], words[int32](values))
		return g.page(to, about, parquet.Encodings.DeltaBinaryPacked, g.plain, statistics(words[int32](values)))
	case arrow.FLOAT32:
		seen := metadata.NewFloat32Statistics(about.Descr(), memory.DefaultAllocator)
		seen.Update(words[float32](values), 0)
		return g.floats(to, about, values, seen)
	case arrow.FLOAT64:
		seen := metadata.NewFloat64Statistics(about.Descr(), memory.DefaultAllocator)
		seen.Update(words[float64](values), 0)
		return g.floats(to, about, values, seen)
	}
	panic("BUG: a column of " + e.s.Field(i).Type.Name())
}

// floats writes a column of floating-point numbers.
func (g *group) floats(to file.PageWriter, about *metadata.ColumnChunkMetaDataBuilder, values []byte, seen metadata.TypedStatistics) error {
	s, err := seen.Encode()
	if err != nil {
		return err
	}
	s.Signed = true
	return g.page(to, about, parquet.Encodings.Plain, values, s)
}

// statistics are those of a column.
func statistics[T uint64 | uint32 | int32](values []T) (s metadata.EncodedStatistics) {
	s.Signed = ^T(0) < 0
	least, most := values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	bytesOf := func(v T) []byte { b, _ := binary.Append(nil, binary.LittleEndian, v); return b }
	s.SetMin(bytesOf(least)).SetMax(bytesOf(most)).SetNullCount(0)
	return s
}

// page writes the only page of data of a column, and ends the column.
func (g *group) page(to file.PageWriter, about *metadata.ColumnChunkMetaDataBuilder, as parquet.Encoding, page []byte, s metadata.EncodedStatistics) error {
	g.packed.Reset()
	data := memory.NewBufferBytes(to.Compress(&g.packed, page))
	if _, err := to.WriteDataPage(file.NewDataPageV1WithStats(data, int32(len(g.rows.Burst)), as, parquet.Encodings.RLE, parquet.Encodings.RLE, int32(len(page)), s)); err != nil {
		return err
	}
	about.SetStats(s)
	return to.Close(as == parquet.Encodings.RLEDict, false)
}

// write writes a column of words by their places: to look up every word would take longer than all other columns.
func (d dictionary) write(g *group, to file.PageWriter, about *metadata.ColumnChunkMetaDataBuilder, rows []uint32) error {
	if _, err := to.WriteDictionaryPage(file.NewDictionaryPage(memory.NewBufferBytes(d.page), int32(len(d.words)), parquet.Encodings.Plain)); err != nil {
		return err
	}
	width := max(1, bits.Len(uint(len(d.words)-1)))
	r := runs{to: append(g.plain[:0], byte(width)), width: width}
	var used []string
	seen := make([]bool, len(d.words))
	for len(rows) > 0 {
		area, n := rows[0], 1
		for n < len(rows) && rows[n] == area {
			n++
		}
		rows = rows[n:]
		k := d.place[area]
		r.add(k, n)
		if !seen[k] {
			seen[k], used = true, append(used, d.words[k])
		}
	}
	g.plain = r.end()
	var s metadata.EncodedStatistics
	s.SetMin([]byte(slices.Min(used))).SetMax([]byte(slices.Max(used))).SetNullCount(0)
	return g.page(to, about, parquet.Encodings.RLEDict, g.plain, s)
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
