package record

import (
	"encoding/binary"
	"errors"
)

// An Arrow stream is a row of messages: 0xffffffff, the length of the metadata, the metadata (a FlatBuffer), and a body as
// long as the metadata says. The library takes memory for a body before it reads it, so the lengths are checked here.

var errFrame = errors.New("a message of the stream is longer than its chunk")

// checkFrames holds the lengths of a chunk's messages against the chunk.
func checkFrames(b []byte) error {
	for len(b) > 0 {
		if len(b) < 8 || binary.LittleEndian.Uint32(b) != 0xffffffff {
			return errors.New("a message of the stream does not begin where it should")
		}
		meta := uint64(binary.LittleEndian.Uint32(b[4:]))
		if b = b[8:]; meta == 0 || meta > uint64(len(b)) {
			return errFrame
		}
		body, ok := bodyLength(b[:meta])
		if !ok || body > uint64(len(b))-meta {
			return errFrame
		}
		b = b[meta+body:]
	}
	return nil
}

// bodyLength reads the fourth field of the FlatBuffer table Message; false where the table leaves its bytes.
func bodyLength(meta []byte) (uint64, bool) {
	at := func(offset int64, size int) []byte {
		if offset < 0 || offset+int64(size) > int64(len(meta)) {
			return nil
		}
		return meta[offset:]
	}
	b := at(0, 4)
	if b == nil {
		return 0, false
	}
	table := int64(binary.LittleEndian.Uint32(b))
	if b = at(table, 4); b == nil {
		return 0, false
	}
	fields := table - int64(int32(binary.LittleEndian.Uint32(b)))
	const fourth = 4 + 3*2
	if b = at(fields, 2); b == nil {
		return 0, false
	}
	if binary.LittleEndian.Uint16(b) < fourth+2 {
		return 0, true // the default
	}
	if b = at(fields+fourth, 2); b == nil {
		return 0, false
	}
	place := int64(binary.LittleEndian.Uint16(b))
	if place == 0 {
		return 0, true
	}
	if b = at(table+place, 8); b == nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}
