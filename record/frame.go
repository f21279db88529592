package record

import (
	"encoding/binary"
	"errors"

	flatbuffers "github.com/google/flatbuffers/go"
)

// An Arrow stream is a row of messages: 0xffffffff, the length of the metadata, the metadata (a FlatBuffer), and a body as
// long as the metadata says. The library takes memory for what a length promises before it reads it, so lengths are checked here.

var errFrame = errors.New("a message of the stream is longer than its chunk")

// checkFrames holds the lengths in a chunk's messages against the chunk.
func checkFrames(b []byte) error {
	for len(b) > 0 {
		if len(b) < 8 || binary.LittleEndian.Uint32(b) != 0xffffffff {
			return errors.New("a message of the stream does not begin where it should")
		}
		meta := uint64(binary.LittleEndian.Uint32(b[4:]))
		if b = b[8:]; meta == 0 || meta > uint64(len(b)) {
			return errFrame
		}
		body, err := checkMessage(b[:meta])
		if err != nil {
			return err
		}
		if body > uint64(len(b))-meta {
			return errFrame
		}
		b = b[meta+body:]
	}
	return nil
}

// Fields by their place in Arrow's tables (Apache Arrow, format/Message.fbs and format/Schema.fbs).
const (
	messageKind, messageHeader, messageBody = 1, 2, 3
	kindSchema, kindDictionary, kindBatch   = 1, 2, 3
	schemaFields, schemaMetadata            = 1, 2
	dictionaryData                          = 1
	batchCompression                        = 3
	fieldChildren, fieldMetadata            = 5, 6
)

// checkMessage checks the metadata of a message as burst writes them, a schema or values that are not compressed, and returns
// the length of its body.
func checkMessage(meta []byte) (body uint64, err error) {
	defer func() {
		if recover() != nil { // an offset that leaves the metadata
			err = errFrame
		}
	}()
	m := fbTable{flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}}
	header := m.table(messageHeader)
	switch m.GetByteSlot(slot(messageKind), 0) {
	case kindSchema:
		left := len(meta) / flatbuffers.SizeUOffsetT // a table is reached by an offset of its own
		header.checkFields(schemaFields, schemaMetadata, &left)
	case kindDictionary:
		header = header.table(dictionaryData)
		fallthrough
	case kindBatch:
		if header.Offset(slot(batchCompression)) != 0 {
			return 0, errors.New("a batch of the stream is compressed, which burst's are not")
		}
	default:
		return 0, errors.New("a message of the stream is neither a schema nor a batch")
	}
	return m.GetUint64Slot(slot(messageBody), 0), nil
}

// slot is the place of a field in the list that a FlatBuffers table begins with, behind the list's two lengths.
func slot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

// fbTable is a table of a FlatBuffer; its methods panic at what the buffer cannot hold.
type fbTable struct{ flatbuffers.Table }

// table is the table that a field names.
func (f fbTable) table(field int) fbTable {
	o := f.Offset(slot(field))
	if o == 0 {
		panic("no such field")
	}
	return f.at(f.Pos + flatbuffers.UOffsetT(o))
}

// at is the table that the offset at a place leads to.
func (f fbTable) at(place flatbuffers.UOffsetT) fbTable {
	return fbTable{flatbuffers.Table{Bytes: f.Bytes, Pos: f.Indirect(place)}}
}

// offsets is the first place and the number of the offsets in a field.
func (f fbTable) offsets(field int) (start flatbuffers.UOffsetT, n int) {
	o := flatbuffers.UOffsetT(f.Offset(slot(field)))
	if o == 0 {
		return 0, 0
	}
	start, n = f.Vector(o), f.VectorLen(o)
	if n > (len(f.Bytes)-int(start))/flatbuffers.SizeUOffsetT {
		panic("more offsets than bytes")
	}
	return start, n
}

// checkFields checks the lengths of a table's columns, of those inside them and of their metadata; left counts the tables that
// the buffer can yet hold.
func (f fbTable) checkFields(fields, metadata int, left *int) {
	f.offsets(metadata)
	start, n := f.offsets(fields)
	for i := range n {
		if *left--; *left < 0 {
			panic("more tables than offsets")
		}
		f.at(start+flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)).checkFields(fieldChildren, fieldMetadata, left)
	}
}
