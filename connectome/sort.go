package connectome

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// longestSorted is the longest row that is sorted in scratch memory; longer ones are sorted where they are.
const longestSorted = 1 << 18

// row holds the synapses of a neuron.
type row struct {
	target []uint32
	weight []int32
	delay  Delays
}

// newRows is room for synapses whose delays have at most so many bursts.
func newRows(synapses uint64, longest int) row {
	return row{make([]uint32, synapses), make([]int32, synapses), newDelays(synapses, longest)}
}

// grown returns r with room for more synapses.
func (r row) grown(synapses uint64) row {
	bigger := row{make([]uint32, synapses), make([]int32, synapses), r.delay.grown(synapses)}
	copy(bigger.target, r.target)
	copy(bigger.weight, r.weight)
	return bigger
}

// set copies synapses to the first ones of r; the two may overlap.
func (r row) set(from row) {
	copy(r.target, from.target)
	copy(r.weight, from.weight)
	r.delay.put(0, from.delay)
}

// between is the synapses lo ≤ k < hi.
func (r row) between(lo, hi uint64) row {
	return row{r.target[lo:hi], r.weight[lo:hi], r.delay.Between(lo, hi)}
}

// rowBetween is the synapses lo ≤ k < hi of a network.
func rowBetween(c *Connectome, lo, hi uint64) row {
	return row{c.Target, c.Weight, c.Delay}.between(lo, hi)
}

func (r row) Len() int { return len(r.target) }

func (r row) Swap(i, j int) {
	r.target[i], r.target[j] = r.target[j], r.target[i]
	r.weight[i], r.weight[j] = r.weight[j], r.weight[i]
	r.delay.swap(i, j)
}

func (r row) Less(i, j int) bool { return r.compare(i, j) < 0 }

func (r row) compare(i, j int) int {
	return cmp.Or(cmp.Compare(r.delay.At(uint64(i)), r.delay.At(uint64(j))), cmp.Compare(r.target[i], r.target[j]), cmp.Compare(r.weight[i], r.weight[j]))
}

func (r row) sorted() bool {
	for i := 1; i < len(r.target); i++ {
		if r.compare(i-1, i) > 0 {
			return false
		}
	}
	return true
}

// sorter sorts rows by packing delay, port and weight, each less its least, into one number a synapse.
type sorter struct {
	keys, spare []uint64
	ports32     []uint32
	at          places
}

func (s *sorter) sort(r row) {
	if r.sorted() {
		return
	}
	f := fieldsOf(r, math.MaxUint32)
	if len(r.target) > longestSorted || f.bits() > 64 {
		sort.Sort(r)
		return
	}
	if f.delayBits+f.weightBits == 0 {
		s.ports(r.target, f.port, 1<<f.portBits, false)
		return
	}
	s.keys = slices.Grow(s.keys[:0], len(r.target))[:len(r.target)]
	s.spare = slices.Grow(s.spare[:0], len(s.keys))[:len(s.keys)]
	f.pack(r, s.keys)
	f.unpack(r, s.order(&f, s.keys))
}

// bin sorts the rows of a bin, whose synapses begin at synapse begin of all and whose words have the place of the row above the port.
// A row lies from next to end once it has all its synapses. False: they do not fit scratch memory, and are as they were.
func (s *sorter) bin(r row, portBits int, begin uint64, next, end []uint64) bool {
	if len(r.target) == 0 {
		return true
	}
	if len(r.target) > longestSorted {
		return false
	}
	f := fieldsOf(r, uint32(uint64(1)<<portBits-1))
	if f.bits() > 64 {
		return false
	}
	s.keys = slices.Grow(s.keys[:0], len(r.target))[:len(r.target)]
	s.spare = slices.Grow(s.spare[:0], len(s.keys))[:len(s.keys)]
	if r.delay.Long != nil {
		deal(&f, r, r.delay.Long, s.keys, portBits, begin, next)
	} else {
		deal(&f, r, r.delay.Short, s.keys, portBits, begin, next)
	}
	from := uint64(0)
	for _, end := range end {
		f.unpack(r.between(from, end-begin), s.order(&f, s.keys[from:end-begin]))
		from = end - begin
	}
	return true
}

// order sorts keys, with s.spare for scratch memory, and returns them. Where hardly two synapses have one port and delay, the weights take
// no passes: those few are sorted afterwards.
func (s *sorter) order(f *fields, keys []uint64) []uint64 {
	skip := 0
	if uint64(len(keys))*4 <= 1<<(f.portBits+f.delayBits) {
		skip = f.weightBits
	}
	if order(keys, s.spare, 0, skip, f.bits(), &s.at) {
		keys = s.spare[:len(keys)]
	}
	for lo, hi := 0, 0; lo < len(keys) && skip > 0; lo = hi {
		for hi = lo + 1; hi < len(keys) && keys[hi]>>skip == keys[lo]>>skip; hi++ {
		}
		if hi > lo+1 {
			slices.Sort(keys[lo:hi])
		}
	}
	return keys
}

// deal packs the synapses of a bin into keys, each where its row lies. delays is r's list, or empty.
func deal[D uint8 | uint16](f *fields, r row, delays []D, keys []uint64, portBits int, begin uint64, next []uint64) {
	mask, above := f.mask, f.portBits+f.weightBits
	for i, word := range r.target {
		key := uint64(word&mask-f.port)<<f.weightBits | uint64(uint32(r.weight[i])-uint32(f.weight))
		if len(delays) > 0 {
			key |= uint64(uint32(delays[i])-f.delay) << above
		}
		at := &next[word>>portBits]
		keys[*at-begin] = key
		*at++
	}
}

// ports sorts ports of first…first+among−1; even says that they are uniformly distributed.
func (s *sorter) ports(list []uint32, first, among uint32, even bool) {
	if slices.IsSorted(list) {
		return
	}
	if len(list) > longestSorted {
		slices.Sort(list)
		return
	}
	width := bits.Len32(among - 1)
	s.ports32 = slices.Grow(s.ports32[:0], len(list))[:len(list)]
	if even && len(list) >= short {
		s.scatter(list, first, max(0, width-min(longestDigit, bits.Len(uint(len(list)))+1)))
	} else if order(list, s.ports32, first, 0, width, &s.at) {
		copy(list, s.ports32)
	}
}

// scatter sorts uniformly distributed ports: first into buckets by their upper bits, with hardly two in a bucket, then by
// insertion.
func (s *sorter) scatter(list []uint32, first uint32, shift int) {
	const mask = 1<<longestDigit - 1
	buckets := 0
	for _, p := range list {
		d := (p - first) >> shift & mask
		s.at[d]++
		buckets = max(buckets, int(d)+1)
	}
	sum := uint32(0)
	for i, n := range s.at[:buckets] {
		s.at[i] = sum
		sum += n
	}
	spare := s.ports32[:len(list)]
	for _, p := range list {
		d := (p - first) >> shift & mask
		spare[s.at[d]] = p
		s.at[d]++
	}
	clear(s.at[:buckets])
	for i, p := range spare {
		k := i
		for ; k > 0 && list[k-1] > p; k-- {
			list[k] = list[k-1]
		}
		list[k] = p
	}
}

// short is the length of rows that are not worth counting digits.
const short = 48

// longestDigit is how many bits of its keys a radix sort looks at once at most.
const longestDigit = 11

// places is where the next key of each digit goes; all are 0 between rows.
type places [1 << longestDigit]uint32

// order sorts keys, by radix where that pays; only the bits from skip to below end of what they are more than least are used. It says
// whether the sorted ones are in spare, which is at least as long as keys.
func order[K uint32 | uint64](keys, spare []K, least K, skip, end int, at *places) (inSpare bool) {
	width := end - skip
	if len(keys) < short || width == 0 {
		slices.Sort(keys)
		return false
	}
	digits := max(8, min(longestDigit, bits.Len(uint(len(keys)))))
	passes := (width + digits - 1) / digits
	digit := (width + passes - 1) / passes
	mask := K(1)<<digit - 1
	for shift := skip; shift < end; shift += digit {
		for _, k := range keys {
			at[(k-least)>>shift&mask&(1<<longestDigit-1)]++
		}
		sum := uint32(0)
		for i, n := range at[:mask+1] {
			at[i] = sum
			sum += n
		}
		spare = spare[:len(keys)]
		for _, k := range keys {
			d := (k - least) >> shift & mask & (1<<longestDigit - 1)
			spare[at[d]] = k
			at[d]++
		}
		clear(at[:mask+1])
		keys, spare = spare, keys
		inSpare = !inSpare
	}
	return inSpare
}

// fields says where delay, port and weight lie in a key.
type fields struct {
	mask                uint32 // bits of a word that are its port
	delay               uint32
	port                uint32
	weight              int32
	delayBits, portBits int
	weightBits          int
}

func fieldsOf(r row, mask uint32) fields {
	f := fields{mask: mask, delay: 1}
	low, high, least, largest := r.target[0]&mask, uint32(0), r.weight[0], r.weight[0]
	for i, word := range r.target {
		low, high = min(low, word&mask), max(high, word&mask)
		least, largest = min(least, r.weight[i]), max(largest, r.weight[i])
	}
	f.port, f.portBits = low, bits.Len32(high-low)
	f.weight, f.weightBits = least, bits.Len32(uint32(largest)-uint32(least))
	if !r.delay.None() {
		shortest, longest := r.delay.extremes()
		f.delay, f.delayBits = shortest, bits.Len32(longest-shortest)
	}
	return f
}

func (f *fields) bits() int { return f.delayBits + f.portBits + f.weightBits }

func (f *fields) pack(r row, keys []uint64) {
	for i := range keys {
		keys[i] = uint64(r.target[i]-f.port)<<f.weightBits | uint64(uint32(r.weight[i])-uint32(f.weight))
	}
	for i, d := range r.delay.Short {
		keys[i] |= uint64(uint32(d)-f.delay) << (f.portBits + f.weightBits)
	}
	for i, d := range r.delay.Long {
		keys[i] |= uint64(uint32(d)-f.delay) << (f.portBits + f.weightBits)
	}
}

func (f *fields) unpack(r row, keys []uint64) {
	for i, k := range keys {
		r.weight[i] = int32(uint32(f.weight) + uint32(k&(1<<f.weightBits-1)))
		r.target[i] = f.port + uint32(k>>f.weightBits&(1<<f.portBits-1))
	}
	for i := range r.delay.Short {
		r.delay.Short[i] = uint8(f.delay + uint32(keys[i]>>(f.portBits+f.weightBits)))
	}
	for i := range r.delay.Long {
		r.delay.Long[i] = uint16(f.delay + uint32(keys[i]>>(f.portBits+f.weightBits)))
	}
}
