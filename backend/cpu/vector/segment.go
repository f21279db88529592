package vector

// A row's synapses lie in segments, slots ascending in each. A segment is, in units of 16 bits:
//
//	count   1 unit   synapses, at least 1
//	kind    1 unit   Even, Mixed or Wide; for Mixed, above it, the bits of a gap
//	slot    2 units  of the first synapse
//	weight  2 units  an int32's bits
//	synapses, by kind:
//	  Even   1 unit each but the first: the gap, how far its slot lies from the one before; all have the header's weight
//	  Mixed  2 units each: below the gap, 0 for the first; above what its weight has more than the header's
//	  Wide   4 units each: the gap, 0 for the first; what its weight has more than the header's
//
// What takes two units has its lower half first.
const (
	Even = iota
	Mixed
	Wide
)

// Units of a segment's header, and what a synapse of each kind takes.
const (
	HeaderUnits = 6
	EvenUnits   = 1
	MixedUnits  = 2
	WideUnits   = 4
)

// MostSynapses is how many a segment can have, MostGap how far two of an Even one can lie apart.
const (
	MostSynapses = 1<<16 - 1
	MostGap      = 1<<16 - 1
)

// Segment is a segment's header, and the units of its synapses.
type Segment struct {
	Kind, Bits   uint
	Count        int
	Slot, Weight uint32
	Synapses     []uint16
}

// Next reads the first of segments and returns the others.
func Next(segments []uint16) (s Segment, rest []uint16) {
	s = Segment{
		Count: int(segments[0]), Kind: uint(segments[1] & 0xff), Bits: uint(segments[1] >> 8),
		Slot: Double(segments[2:]), Weight: Double(segments[4:]),
	}
	units := EvenUnits * (s.Count - 1)
	switch s.Kind {
	case Mixed:
		units = MixedUnits * s.Count
	case Wide:
		units = WideUnits * s.Count
	}
	s.Synapses, rest = segments[HeaderUnits:HeaderUnits+units], segments[HeaderUnits+units:]
	return s, rest
}

// Double is the number in the first two units.
func Double(units []uint16) uint32 { return uint32(units[0]) | uint32(units[1])<<16 }

// PutDouble writes x into the first two units.
func PutDouble(units []uint16, x uint32) { units[0], units[1] = uint16(x), uint16(x>>16) }

// Slots appends the slots of all synapses of segments.
func Slots(list []uint32, segments []uint16) []uint32 {
	for at := 0; at < len(segments); {
		head := segments[at : at+HeaderUnits]
		count, kind, slot := int(head[0]), head[1], Double(head[2:])
		at += HeaderUnits
		switch kind & 0xff {
		case Even:
			list = append(list, slot)
			for _, gap := range segments[at : at+count-1] {
				slot += uint32(gap)
				list = append(list, slot)
			}
			at += EvenUnits * (count - 1)
		case Mixed:
			mask := uint32(1)<<(kind>>8&31) - 1
			for range count {
				slot += Double(segments[at:]) & mask
				list = append(list, slot)
				at += MixedUnits
			}
		case Wide:
			for range count {
				slot += Double(segments[at:])
				list = append(list, slot)
				at += WideUnits
			}
		}
	}
	return list
}

// deliver asks for the memory of the span that is ahead of the one it delivers.
func deliver(acc []int32, rows []uint16, spans []Span, ahead int) {
	sum := uint16(0)
	for i, span := range spans {
		if i+ahead < len(spans) {
			sum += ask(rows, spans[i+ahead])
		}
		for segments := rows[span.From:span.To]; len(segments) > 0; {
			var s Segment
			s, segments = Next(segments)
			s.deliver(acc)
		}
	}
	keep(sum)
}

func (s *Segment) deliver(acc []int32) {
	slot, weight := s.Slot, int32(s.Weight)
	switch s.Kind {
	case Even:
		acc[slot] += weight
		for _, gap := range s.Synapses {
			slot += uint32(gap)
			acc[slot] += weight
		}
	case Mixed:
		bits := s.Bits & 31
		mask := uint32(1)<<bits - 1
		for k := 0; k+MixedUnits <= len(s.Synapses); k += MixedUnits {
			word := Double(s.Synapses[k:])
			slot += word & mask
			acc[slot] += weight + int32(word>>bits)
		}
	case Wide:
		for k := 0; k+WideUnits <= len(s.Synapses); k += WideUnits {
			slot += Double(s.Synapses[k:])
			acc[slot] += weight + int32(Double(s.Synapses[k+2:]))
		}
	}
}

// fetched bounds how many units of a span are asked for; further ones the processor fetches ahead by itself.
const fetched = 512

// ask reads a unit of each cache line, for want of a prefetch in Go.
func ask(rows []uint16, s Span) (sum uint16) {
	const line = 32
	for k := s.From; k < min(s.To, s.From+fetched); k += line {
		sum += rows[k]
	}
	return sum
}

//go:noinline
func keep(uint16) {}
