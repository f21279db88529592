package vector

// A row's synapses are stored in segments; in each the slots ascend. A segment consists of units of 16 bits:
//
//	count   1 unit   synapses, at least 1
//	kind    1 unit   Even, Mixed or Wide; for Mixed the upper byte is the number of bits of a gap
//	slot    2 units  of the first synapse
//	weight  2 units  the bits of an int32
//	synapses, by kind:
//	  Even   1 unit each except the first: the gap; all have the weight of the header
//	  Mixed  2 units each: the gap in the low bits, the weight less the header's weight in the high bits
//	  Wide   4 units each: the gap, the weight less the header's weight
//
// A gap is the distance to the slot of the synapse before, 0 for the first. Of two units the lower half comes first.
const (
	Even = iota
	Mixed
	Wide
)

// Units of a segment's header, and of a synapse of each kind.
const (
	HeaderUnits = 6
	EvenUnits   = 1
	MixedUnits  = 2
	WideUnits   = 4
)

// MostSynapses is the most synapses of a segment, MostGap the largest gap in an Even one.
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

// Slots appends the slots of all synapses of segments, or of a Direct row.
func Slots(list []uint32, segments []uint16) []uint32 {
	if len(segments) > 0 && segments[1] == Direct {
		for _, slot := range segments[DirectUnits:] {
			list = append(list, uint32(slot))
		}
		return list
	}
	for at := 0; at < len(segments); {
		head := segments[at : at+HeaderUnits]
		count, kind, slot := int(head[0]), head[1], Double(head[2:])
		at += HeaderUnits
		switch kind & 0xff {
		case Even, Few:
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

// deliver prefetches the span that is ahead of the one it delivers.
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

func deliverRuns(acc []int32, at int, rows []uint16, flights []Flight, _ int) {
	for i := range flights {
		f := &flights[i]
		if f.From >= f.To {
			continue
		}
		end := f.From + uint64(f.Units)
		for segments := rows[f.From+RunUnits : end]; len(segments) > 0; {
			var s Segment
			s, segments = Next(segments)
			s.deliverAt(acc, uint32(at))
		}
		f.Next(rows)
	}
}

func (s *Segment) deliver(acc []int32) { s.deliverAt(acc, 0) }

// deliverAt has slot 0 at acc[at], and behind the last sum the first one.
func (s *Segment) deliverAt(acc []int32, at uint32) {
	slot, weight, size := s.Slot+at, int32(s.Weight), uint32(len(acc))
	if slot >= size {
		slot -= size
	}
	switch s.Kind {
	case Even, Few:
		acc[slot] += weight
		for _, gap := range s.Synapses {
			if slot += uint32(gap); slot >= size {
				slot -= size
			}
			acc[slot] += weight
		}
	case Mixed:
		bits := s.Bits & 31
		mask := uint32(1)<<bits - 1
		for k := 0; k+MixedUnits <= len(s.Synapses); k += MixedUnits {
			word := Double(s.Synapses[k:])
			if slot += word & mask; slot >= size {
				slot -= size
			}
			acc[slot] += weight + int32(word>>bits)
		}
	case Wide:
		for k := 0; k+WideUnits <= len(s.Synapses); k += WideUnits {
			if slot += Double(s.Synapses[k:]); slot >= size {
				slot -= size
			}
			acc[slot] += weight + int32(Double(s.Synapses[k+2:]))
		}
	}
}

// fetched is how many units of a span are prefetched; the processor fetches further ones by itself.
const fetched = 512

// ask reads a unit of each cache line, because Go has no prefetch.
func ask(rows []uint16, s Span) (sum uint16) {
	const line = 32
	for k := s.From; k < min(s.To, s.From+fetched); k += line {
		sum += rows[k]
	}
	return sum
}

//go:noinline
func keep(uint16) {}
