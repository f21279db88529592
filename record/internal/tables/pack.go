package tables

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The encodings that burst writes are those of Arrow's writer, byte for byte, in a fraction of its time.

// Blocks of differences, as Arrow cuts them.
const (
	blockValues = 128
	miniValues  = 32
)

// appendDeltas appends values as Parquet's DELTA_BINARY_PACKED.
func appendDeltas[T int32 | int64](to []byte, values []T) []byte {
	if len(values) == 0 {
		return to
	}
	to = binary.AppendUvarint(to, blockValues)
	to = binary.AppendUvarint(to, blockValues/miniValues)
	to = binary.AppendUvarint(to, uint64(len(values)))
	to = binary.AppendVarint(to, int64(values[0]))
	var room [blockValues]int64
	last, values := values[0], values[1:]
	for len(values) > 0 {
		block := values[:min(len(values), blockValues)]
		values = values[len(block):]
		if alike(block, last) { // as in a column of bursts
			to = append(to, 0, 0, 0, 0, 0) // least, and the widths of miniblocks
			continue
		}
		differences := room[:len(block)]
		var least, most int64
		for i, v := range block {
			d := int64(v - last) // which wraps as the type does
			last, differences[i] = v, d
			if i == 0 {
				least, most = d, d
			}
			least, most = min(least, d), max(most, d)
		}
		to = binary.AppendVarint(to, least)
		at := len(to)
		to = append(to, 0, 0, 0, 0) // widths of the miniblocks
		if most == least {
			continue
		}
		clear(room[len(block):])
		for k := 0; k*miniValues < len(block); k++ {
			mini := differences[k*miniValues : min(len(block), (k+1)*miniValues)]
			all := uint64(0)
			for i := range mini {
				mini[i] -= least
				all |= uint64(mini[i])
			}
			width := bits.Len64(all)
			to[at+k] = byte(width)
			to = appendPacked(to, (*[miniValues]int64)(room[k*miniValues:]), width)
		}
	}
	return to
}

// alike says whether all values are x.
func alike[T int32 | int64](values []T, x T) bool {
	if values[0] != x || values[len(values)-1] != x {
		return false
	}
	differ := T(0)
	for _, v := range values {
		differ |= v ^ x
	}
	return differ == 0
}

// appendPacked appends the lowest bits of values, so many of each.
func appendPacked(to []byte, values *[miniValues]int64, width int) []byte {
	at, size := len(to), width*miniValues/8
	to = slices.Grow(to, size)[:at+size]
	out, word, have := to[at:], uint64(0), 0
	for _, v := range values {
		word |= uint64(v) << have
		if have += width; have >= 64 {
			binary.LittleEndian.PutUint64(out, word)
			out, have = out[8:], have-64
			word = uint64(v) >> (width - have) // 0 where all bits are written
		}
	}
	if have > 0 {
		binary.LittleEndian.PutUint32(out, uint32(word))
	}
	return to
}

// runs encodes a column of small numbers as Parquet's hybrid of runs and packed groups of eight.
type runs struct {
	to      []byte
	width   int // bits of a number
	value   uint32
	repeats int // of value, at the end of what was added
	group   [8]uint32
	n       int // numbers in group
	packed  int // numbers in groups since head
	head    int // place of the byte that tells how many groups follow; 0: none is begun
}

// mostGroups fit the byte in front of them.
const mostGroups = 63

// add appends count times value.
func (r *runs) add(value uint32, count int) {
	for ; count > 0; count-- {
		if value == r.value {
			if r.repeats >= 8 {
				r.repeats += count
				return
			}
			r.repeats++
		} else {
			if r.repeats >= 8 {
				r.run()
			}
			r.value, r.repeats = value, 1
		}
		r.group[r.n] = value
		if r.n++; r.n == len(r.group) {
			r.full()
		}
	}
}

// full ends a group of eight: it begins a run, or is packed.
func (r *runs) full() {
	if r.repeats >= 8 {
		r.n = 0
		if r.packed > 0 {
			r.endGroups()
		}
		return
	}
	r.pack()
	if r.packed/8 >= mostGroups {
		r.endGroups()
	}
	r.repeats = 0
}

// pack appends the group.
func (r *runs) pack() {
	if r.head == 0 {
		r.head = len(r.to)
		r.to = append(r.to, 0)
	}
	word, have := uint64(0), 0
	for _, v := range r.group {
		word |= uint64(v) << have
		for have += r.width; have >= 8; have -= 8 {
			r.to = append(r.to, byte(word))
			word >>= 8
		}
	}
	r.packed, r.n = r.packed+len(r.group), 0
}

// endGroups writes how many groups there are.
func (r *runs) endGroups() {
	r.to[r.head] = byte(r.packed/8<<1 | 1)
	r.head, r.packed = 0, 0
}

// run appends a run.
func (r *runs) run() {
	r.to = binary.AppendUvarint(r.to, uint64(r.repeats)<<1)
	for k := 0; k < r.width; k += 8 {
		r.to = append(r.to, byte(r.value>>k))
	}
	r.repeats, r.n = 0, 0
}

// end gives what was encoded. The last group is filled with zeros.
func (r *runs) end() []byte {
	switch {
	case r.packed == 0 && r.repeats > 0 && (r.n == 0 || r.n == r.repeats):
		r.run()
	case r.packed > 0 || r.n > 0:
		if r.n > 0 {
			clear(r.group[r.n:])
			r.pack()
		}
		r.endGroups()
	}
	return r.to
}
