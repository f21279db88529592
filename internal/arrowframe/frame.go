// Package arrowframe checks the lengths that Arrow IPC streams and compressed Parquet pages claim, before arrow-go takes memory for them:
// a damaged file may claim any length. Every package that reads Parquet must import this one, which puts its checks in place.
package arrowframe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// An Arrow stream is a row of messages: 0xffffffff, the length of the metadata, the metadata (a FlatBuffer), and a body as
// long as the metadata says. A length of 0 ends it.

var (
	errStart = errors.New("a message of the stream does not begin where it should")
	errFrame = errors.New("a message of the stream is longer than its bytes")
)

// maxMetadata is the most bytes that a message's metadata may have.
const maxMetadata = 64 << 20

// Stream checks the messages in size bytes of r and returns where they end: at size, or behind the mark that ends a stream.
// Batches may be compressed where packed says so.
func Stream(r io.ReaderAt, size int64, packed bool) (end int64, err error) {
	for at := int64(0); at < size; {
		var prefix [8]byte
		if size-at < int64(len(prefix)) {
			return 0, errStart
		}
		if _, err := r.ReadAt(prefix[:], at); err != nil {
			return 0, err
		}
		if binary.LittleEndian.Uint32(prefix[:]) != 0xffffffff {
			return 0, errStart
		}
		n := int64(binary.LittleEndian.Uint32(prefix[4:]))
		if at += int64(len(prefix)); n == 0 {
			return at, nil
		}
		if n > min(size-at, maxMetadata) {
			return 0, errFrame
		}
		meta := make([]byte, n)
		if _, err := r.ReadAt(meta, at); err != nil {
			return 0, err
		}
		body, err := message(meta, packed)
		if err != nil {
			return 0, err
		}
		if at += n; body > uint64(size-at) {
			return 0, errFrame
		}
		at += int64(body)
	}
	return size, nil
}

// Fields by their place in Arrow's tables (Apache Arrow, format/Message.fbs and format/Schema.fbs).
const (
	messageKind, messageHeader, messageBody, messageMetadata = 1, 2, 3, 4
	kindSchema, kindDictionary, kindBatch                    = 1, 2, 3
	schemaFields, schemaMetadata                             = 1, 2
	dictionaryData                                           = 1
	batchBuffers, batchCompression, batchViews               = 2, 3, 4
	fieldName, fieldKind, fieldType                          = 0, 2, 3
	fieldChildren, fieldMetadata                             = 5, 6
	kindTimestamp, timestampZone                             = 10, 1
	pairKey, pairValue                                       = 0, 1
)

const (
	deepest = 64 // columns inside each other, as in Arrow's reader
	copies  = 16 // lengths of the metadata that its names and lists may have together; some writers let names share bytes
)

// message checks the metadata of a schema or of values and returns the length of its body.
func message(meta []byte, packed bool) (body uint64, err error) {
	defer func() {
		if recover() != nil { // an offset that leaves the metadata
			err = errFrame
		}
	}()
	m := table{flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}}
	left := copies * len(meta)
	m.checkPairs(messageMetadata, &left)
	header := m.table(messageHeader)
	switch m.GetByteSlot(slot(messageKind), 0) {
	case kindSchema:
		header.checkFields(schemaFields, schemaMetadata, deepest, &left)
		return m.GetUint64Slot(slot(messageBody), 0), nil
	case kindDictionary:
		header = header.table(dictionaryData)
	case kindBatch:
	default:
		return 0, errors.New("a message of the stream is neither a schema nor a batch")
	}
	if !packed && header.Offset(slot(batchCompression)) != 0 {
		return 0, errors.New("a batch of the stream is compressed, which burst's are not")
	}
	header.checkViews()
	return m.GetUint64Slot(slot(messageBody), 0), nil
}

// slot is the place of a field in the list that a FlatBuffers table begins with, behind the list's two lengths.
func slot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

// table is a table of a FlatBuffer; its methods panic at what the buffer cannot hold. The argument left of some counts the
// bytes that Arrow's reader may yet copy.
type table struct{ flatbuffers.Table }

// table is the table that a field names.
func (f table) table(field int) table {
	o := f.Offset(slot(field))
	if o == 0 {
		panic("no such field")
	}
	return f.at(f.Pos + flatbuffers.UOffsetT(o))
}

// at is the table that the offset at a place leads to.
func (f table) at(place flatbuffers.UOffsetT) table {
	return table{flatbuffers.Table{Bytes: f.Bytes, Pos: f.Indirect(place)}}
}

// vector is the first place and the number of a field's elements of size bytes.
func (f table) vector(field, size int) (start flatbuffers.UOffsetT, n int) {
	o := flatbuffers.UOffsetT(f.Offset(slot(field)))
	if o == 0 {
		return 0, 0
	}
	start, n = f.Vector(o), f.VectorLen(o)
	if n > (len(f.Bytes)-int(start))/size {
		panic("more elements than bytes")
	}
	return start, n
}

// tables calls check for the tables that a field lists.
func (f table) tables(field int, left *int, check func(table)) {
	start, n := f.vector(field, flatbuffers.SizeUOffsetT)
	take(left, n*flatbuffers.SizeUOffsetT)
	for i := range n {
		check(f.at(start + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)))
	}
}

func take(left *int, n int) {
	if *left -= n; *left < 0 {
		panic("more than the metadata holds")
	}
}

func (f table) checkText(field int, left *int) {
	_, n := f.vector(field, 1)
	take(left, n)
}

// checkPairs checks the keys and values of a field.
func (f table) checkPairs(field int, left *int) {
	f.tables(field, left, func(pair table) {
		pair.checkText(pairKey, left)
		pair.checkText(pairValue, left)
	})
}

// checkFields checks the columns of a table, those inside them and their metadata.
func (f table) checkFields(fields, metadata, depth int, left *int) {
	if depth < 0 {
		panic("too many columns inside each other")
	}
	f.checkPairs(metadata, left)
	f.tables(fields, left, func(column table) {
		column.checkText(fieldName, left)
		if column.GetByteSlot(slot(fieldKind), 0) == kindTimestamp {
			column.table(fieldType).checkText(timestampZone, left)
		}
		column.checkFields(fieldChildren, fieldMetadata, depth-1, left)
	})
}

// checkViews checks that the columns of a batch have no more buffers of texts than the batch has buffers.
func (f table) checkViews() {
	_, buffers := f.vector(batchBuffers, 16)
	start, n := f.vector(batchViews, 8)
	for i := range n {
		if views := f.GetUint64(start + flatbuffers.UOffsetT(8*i)); views > uint64(buffers) {
			panic(fmt.Sprintf("%d buffers of %d", views, buffers))
		}
	}
}
