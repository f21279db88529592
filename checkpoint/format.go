package checkpoint

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// The parts of a file. All numbers are little-endian; sections follow each other at multiples of 8, zeros between.
const (
	magic      = "BURSTCKP"
	endMagic   = "BURSTEND"
	headBytes  = 128
	entryBytes = 40
	nameBytes  = 16
	sumBytes   = 8 // xxHash64 of header and table
	tailBytes  = 32 + len(endMagic)
	mostParts  = 80 // sections
	blockItems = 1 << 15
)

// part is a section: its name and what writes it, the same each time.
type part struct {
	name   string
	length uint64
	write  func(io.Writer) error
}

// entry is a line of the section table.
type entry struct {
	name           string
	offset, length uint64
	sum            uint64 // xxHash64
}

// parts lists the sections of c in their order.
func (c *Checkpoint) parts() []part {
	s := &c.State
	list := []part{
		numbers("V", s.V),
		numbers("refractory", s.Refractory),
		numbers("count", s.Count),
	}
	for k, more := range s.More {
		list = append(list, numbers(moreName(k), more))
	}
	lengths, queues := make([]uint64, len(s.Queues)), []part{}
	for i, q := range s.Queues {
		lengths[i] = uint64(len(q))
		queues = append(queues, numbers("", q))
	}
	list = append(list, numbers("queue lengths", lengths), joined("queues", queues))
	list = append(list, c.plasticParts()...)
	list = append(list, c.drivenParts()...)
	list = append(list, c.memoryParts()...)
	return append(list, numbers("recordings", encodeRecordings(c.Recordings)), numbers("activity", c.Activity))
}

// Format is the version of the file format that the checkpoint needs.
func (c *Checkpoint) Format() uint32 {
	switch {
	case len(c.State.Memory) > 0:
		return memoryFormat
	case c.State.Amplitudes != nil:
		return drivenFormat
	case len(c.State.Plastic) > 0:
		return plasticFormat
	}
	return 1
}

func moreName(k int) string { return fmt.Sprintf("variable %d", k+1) }

// numbers is a section of numbers of one kind.
func numbers[T uint8 | uint16 | uint32 | uint64 | float32](name string, values []T) part {
	return part{name, uint64(binary.Size(values)), func(w io.Writer) error {
		var buf []byte
		for rest := values; len(rest) > 0; {
			n := min(len(rest), blockItems)
			var err error
			if buf, err = binary.Append(buf[:0], binary.LittleEndian, rest[:n]); err != nil {
				return err
			}
			if _, err := w.Write(buf); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}}
}

// head makes the header and the section table with their checksum.
func (c *Checkpoint) head(parts []part) ([]byte, error) {
	if len(c.Version) > 32 || strings.ContainsRune(c.Version, 0) {
		return nil, fmt.Errorf("version %q, want at most 32 bytes without NUL", c.Version)
	}
	b := append(make([]byte, 0, headBytes+len(parts)*entryBytes+sumBytes), magic...)
	b = binary.LittleEndian.AppendUint32(b, c.Format())
	b = binary.LittleEndian.AppendUint32(b, 0) // flags
	b = append(append(b, c.Version...), make([]byte, 32-len(c.Version))...)
	b = append(b, c.Genome[:]...)
	for _, x := range []uint64{c.Connectome, c.State.Number, c.Seed, c.RunSeed, c.State.Digest, uint64(len(parts))} {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	offset := uint64(cap(b))
	for _, p := range parts {
		h := xxhash.New()
		if err := p.write(h); err != nil {
			return nil, err
		}
		b = append(append(b, p.name...), make([]byte, nameBytes-len(p.name))...)
		b = binary.LittleEndian.AppendUint64(b, offset)
		b = binary.LittleEndian.AppendUint64(b, p.length)
		b = binary.LittleEndian.AppendUint64(b, h.Sum64())
		offset += aligned(p.length)
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)), nil
}

// aligned is the next multiple of 8.
func aligned(n uint64) uint64 { return (n + 7) &^ 7 }

// encodeRecordings is the section of that name: a number of recordings, then each one's fields.
func encodeRecordings(list []Recording) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(list)))
	for _, r := range list {
		b = append(append(b, r.Table...), make([]byte, nameBytes-len(r.Table))...)
		for _, x := range []uint64{uint64(r.Bytes), r.Rows, r.Burst, uint64(r.Sums), r.SumsHash} {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	return b
}

// recordingBytes is one recording in its section.
const recordingBytes = nameBytes + 5*8

// decodeRecordings reads what encodeRecordings made.
func decodeRecordings(b []byte) ([]Recording, error) {
	if len(b) < 8 || uint64(len(b)-8)/recordingBytes != binary.LittleEndian.Uint64(b) || (len(b)-8)%recordingBytes != 0 {
		return nil, fmt.Errorf("%d bytes do not fit the recordings that they name", len(b))
	}
	var list []Recording
	for b = b[8:]; len(b) > 0; b = b[recordingBytes:] {
		var x [5]uint64
		for i := range x {
			x[i] = binary.LittleEndian.Uint64(b[nameBytes+8*i:])
		}
		r := Recording{Table: text(b[:nameBytes]), Bytes: int64(x[0]), Rows: x[1], Burst: x[2], Sums: int64(x[3]), SumsHash: x[4]}
		if r.Bytes < 0 || r.Sums < 0 {
			return nil, fmt.Errorf("recording %q of %d and %d bytes", r.Table, x[0], x[3])
		}
		list = append(list, r)
	}
	return list, nil
}

// text is a name padded with NULs.
func text(b []byte) string { return strings.TrimRight(string(b), "\x00") }
