package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// View is a picture: what has fired since the one before. Parse uses the memory of the one before.
type View struct {
	Next   uint64 // burst
	Bursts uint32 // so many
	Areas  []Picture
}

// Picture is an area's part of a View.
type Picture struct {
	Area   uint16
	Coding uint8
	Grain  uint8
	Rate   float32 // Hz, mean of the area's neurons
	Data   []byte  // of a View that was parsed, the frame's own memory
}

// Codings of pictures.
const (
	codeNone   = 0
	codeVarint = 1
	codeBits   = 2
	codeCounts = 3
)

// BeginView appends the beginning of a view. AppendPicture appends each area, and EndView completes the frame, which starts at a
// place of b.
func BeginView(b []byte, next uint64, bursts uint32, areas int) []byte {
	b = binary.LittleEndian.AppendUint32(begin(b, TypeView, next), bursts)
	return binary.LittleEndian.AppendUint32(b, uint32(uint16(areas)))
}

// EndView completes the frame that starts at a place of b.
func EndView(b []byte, start int) []byte { return end(b, start) }

// AppendPicture appends an area: how many neurons of each point have fired, by the shortest coding. At grain 1 it is whether any has.
func AppendPicture(b []byte, area uint16, grain uint8, rate float32, counts []uint8) []byte {
	head := len(b)
	b = binary.LittleEndian.AppendUint16(b, area)
	b = append(b, codeNone, grain)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(rate))
	b = binary.LittleEndian.AppendUint32(b, 0)
	data := len(b)
	coding := uint8(codeCounts)
	if grain > 1 {
		if slices.ContainsFunc(counts, func(n uint8) bool { return n > 0 }) {
			b = append(b, counts...)
		}
	} else {
		b, coding = appendPoints(b, counts)
	}
	if len(b) == data {
		coding = codeNone
	}
	b[head+2] = coding
	binary.LittleEndian.PutUint32(b[head+8:], uint32(len(b)-data))
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// appendPoints appends the points that have fired as varints, or as bits where those are shorter.
func appendPoints(b []byte, counts []uint8) ([]byte, uint8) {
	data, most, before := len(b), (len(counts)+7)/8, 0
	for i, n := range counts {
		if n == 0 {
			continue
		}
		if len(b)-data >= most {
			return appendBits(b[:data], counts), codeBits
		}
		b = binary.AppendUvarint(b, uint64(i-before))
		before = i
	}
	if len(b)-data > most {
		return appendBits(b[:data], counts), codeBits
	}
	return b, codeVarint
}

func appendBits(b []byte, counts []uint8) []byte {
	for i := 0; i < len(counts); i += 8 {
		var x uint8
		for k, n := range counts[i:min(i+8, len(counts))] {
			if n > 0 {
				x |= 1 << k
			}
		}
		b = append(b, x)
	}
	return b
}

// Parse reads the body of a view, whose header names the next burst.
func (v *View) Parse(next uint64, body []byte) error {
	if len(body) < 8 {
		return fmt.Errorf("wire: a view of %d bytes, want 8 at least", len(body))
	}
	v.Next, v.Bursts = next, binary.LittleEndian.Uint32(body)
	n, padding, rest := int(binary.LittleEndian.Uint16(body[4:])), binary.LittleEndian.Uint16(body[6:]), body[8:]
	if padding != 0 || len(rest) < 12*n {
		return fmt.Errorf("wire: %d areas in %d bytes, padding %#x, want 12 bytes for each at least, and 0", n, len(rest), padding)
	}
	v.Areas = slices.Grow(v.Areas[:0], n)[:n]
	for i := range v.Areas {
		if len(rest) < 12 {
			return fmt.Errorf("wire: area %d of %d: %d bytes, want 12 at least", i, n, len(rest))
		}
		p := &v.Areas[i]
		*p = Picture{
			Area: binary.LittleEndian.Uint16(rest), Coding: rest[2], Grain: rest[3],
			Rate: math.Float32frombits(binary.LittleEndian.Uint32(rest[4:])),
		}
		bytes := uint64(binary.LittleEndian.Uint32(rest[8:]))
		if rest = rest[12:]; uint64(len(rest)) < (bytes+3)/4*4 || p.Coding > codeCounts {
			return fmt.Errorf("wire: area %d of %d: coding %d with %d bytes of %d", i, n, p.Coding, bytes, len(rest))
		}
		p.Data, rest = rest[:bytes:bytes], rest[(bytes+3)/4*4:]
	}
	if len(rest) > 0 {
		return fmt.Errorf("wire: %d bytes after the last area, want none", len(rest))
	}
	return nil
}

// Counts gives how many neurons of each of so many points have fired, 1 where only whether any has is known, in the memory of counts.
func (p *Picture) Counts(points int, counts []uint8) ([]uint8, error) {
	counts = slices.Grow(counts[:0], points)[:points]
	clear(counts)
	switch p.Coding {
	case codeVarint:
		at := uint64(0)
		for data := p.Data; len(data) > 0; {
			x, n := binary.Uvarint(data)
			if n <= 0 || x >= uint64(points) || at+x >= uint64(points) {
				return counts, fmt.Errorf("wire: a picture of area %d names a point beyond its %d", p.Area, points)
			}
			at, data = at+x, data[n:]
			counts[at] = 1
		}
	case codeBits:
		if len(p.Data) != (points+7)/8 {
			return counts, fmt.Errorf("wire: a picture of area %d has %d bytes of bits, want %d", p.Area, len(p.Data), (points+7)/8)
		}
		for i := range counts {
			counts[i] = p.Data[i/8] >> (i % 8) & 1
		}
	case codeCounts:
		if copy(counts, p.Data) != points || len(p.Data) != points {
			return counts, fmt.Errorf("wire: a picture of area %d has %d counts, want %d", p.Area, len(p.Data), points)
		}
	}
	return counts, nil
}
