package connectome

import "slices"

// Delays are the delays of synapses in bursts, 1…65,535; at most one of the two lists is there. The zero value: all are 1.
type Delays struct {
	Short []uint8  // where none is above 255
	Long  []uint16 // where one is
}

// mostShort is the longest delay that a byte holds.
const mostShort = 255

// DelayBytes is the memory of a synapse's delay where none is above so many bursts: 0, 1 or 2 bytes.
func DelayBytes(most int) uint64 {
	switch {
	case most <= 1:
		return 0
	case most <= mostShort:
		return 1
	}
	return 2
}

// newDelays is room for n delays of at most so many bursts.
func newDelays(n uint64, most int) Delays {
	switch DelayBytes(most) {
	case 0:
		return Delays{}
	case 1:
		return Delays{Short: make([]uint8, n)}
	}
	return Delays{Long: make([]uint16, n)}
}

// NewDelays are delays of 1…65,535 bursts, in a byte each where that suffices.
func NewDelays(bursts []uint16) Delays {
	most := 1
	for _, d := range bursts {
		most = max(most, int(d))
	}
	d := newDelays(uint64(len(bursts)), most)
	d.putBursts(bursts)
	return d
}

// None says that all delays are 1.
func (d Delays) None() bool { return d.Short == nil && d.Long == nil }

// At is the delay of synapse k in bursts.
func (d Delays) At(k uint64) uint32 {
	switch {
	case d.Short != nil:
		return uint32(d.Short[k])
	case d.Long != nil:
		return uint32(d.Long[k])
	}
	return 1
}

// Bytes is the memory of the list.
func (d Delays) Bytes() uint64 { return size(d.Short) + size(d.Long) }

// Between are the delays of the synapses lo ≤ k < hi.
func (d Delays) Between(lo, hi uint64) Delays {
	switch {
	case d.Short != nil:
		d.Short = d.Short[lo:hi]
	case d.Long != nil:
		d.Long = d.Long[lo:hi]
	}
	return d
}

// Same is how many of the delays, from the first on, are equal to it.
func (d Delays) Same() int {
	if d.Long != nil {
		return same(d.Long)
	}
	return same(d.Short)
}

func same[T comparable](list []T) int {
	k := 1
	for k < len(list) && list[k] == list[0] {
		k++
	}
	return k
}

// room is how many delays the list has memory for.
func (d Delays) room() uint64 { return uint64(max(cap(d.Short), cap(d.Long))) }

// wide says that a delay may be above 255.
func (d Delays) wide() bool { return d.Long != nil }

// grown is the list with room for n delays.
func (d Delays) grown(n uint64) Delays {
	if d.Short != nil {
		d.Short = append(make([]uint8, 0, n), d.Short...)[:n]
	}
	if d.Long != nil {
		d.Long = append(make([]uint16, 0, n), d.Long...)[:n]
	}
	return d
}

// set gives synapse k a delay that the list can hold.
func (d Delays) set(k, bursts uint64) {
	switch {
	case d.Short != nil:
		d.Short[k] = uint8(bursts)
	case d.Long != nil:
		d.Long[k] = uint16(bursts)
	}
}

// put copies delays, of the same kind or from a list of two bytes, to synapse k and those after it.
func (d Delays) put(k uint64, from Delays) {
	copy(d.Long[min(k, uint64(len(d.Long))):], from.Long)
	copy(d.Short[min(k, uint64(len(d.Short))):], from.Short)
}

// putBursts copies delays in bursts to the first synapses.
func (d Delays) putBursts(from []uint16) {
	if d.Long != nil {
		copy(d.Long, from)
		return
	}
	for i := range d.Short {
		d.Short[i] = uint8(from[i])
	}
}

// fill makes all the same.
func (d Delays) fill(bursts uint16) {
	fill(d.Short, uint8(bursts))
	fill(d.Long, bursts)
}

func (d Delays) swap(i, j int) {
	if d.Short != nil {
		d.Short[i], d.Short[j] = d.Short[j], d.Short[i]
	}
	if d.Long != nil {
		d.Long[i], d.Long[j] = d.Long[j], d.Long[i]
	}
}

// extremes are the least and the largest of some delays.
func (d Delays) extremes() (least, most uint32) {
	if d.Long != nil {
		return uint32(slices.Min(d.Long)), uint32(slices.Max(d.Long))
	}
	return uint32(slices.Min(d.Short)), uint32(slices.Max(d.Short))
}

// narrow is the list for delays of at most so many bursts.
func (d Delays) narrow(most int) Delays {
	switch {
	case most <= 1:
		return Delays{}
	case d.Long == nil || most > mostShort:
		return d
	}
	short := make([]uint8, len(d.Long))
	for k, x := range d.Long {
		short[k] = uint8(x)
	}
	return Delays{Short: short}
}
