package connectome

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// longestSorted is the longest row that is sorted in scratch memory; longer ones are sorted where they are.
const longestSorted = 1 << 18

// sortRows brings every row into the order (delay, port, weight), which makes the arrays independent of threads.
func sortRows(c *Connectome, workers int, progress *meter) {
	sorters := make([]sorter, workers)
	piece := max(1, min(1<<14, uint64(c.Neurons)/uint64(8*workers)))
	spans(workers, uint64(c.Neurons), piece, func(worker int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			sorters[worker].sort(rowOf(c, n))
		}
		progress.add(c.Row[hi] - c.Row[lo])
	})
}

// row is the synapses of a neuron.
type row struct {
	target []uint32
	weight []int32
	delay  []uint8 // nil when all are 1
}

func rowOf(c *Connectome, n uint64) row {
	lo, hi := c.Row[n], c.Row[n+1]
	r := row{target: c.Target[lo:hi], weight: c.Weight[lo:hi]}
	if c.Delay != nil {
		r.delay = c.Delay[lo:hi]
	}
	return r
}

func (r row) Len() int { return len(r.target) }

func (r row) Swap(i, j int) {
	r.target[i], r.target[j] = r.target[j], r.target[i]
	r.weight[i], r.weight[j] = r.weight[j], r.weight[i]
	if r.delay != nil {
		r.delay[i], r.delay[j] = r.delay[j], r.delay[i]
	}
}

func (r row) Less(i, j int) bool { return r.compare(i, j) < 0 }

func (r row) compare(i, j int) int {
	d := 0
	if r.delay != nil {
		d = cmp.Compare(r.delay[i], r.delay[j])
	}
	return cmp.Or(d, cmp.Compare(r.target[i], r.target[j]), cmp.Compare(r.weight[i], r.weight[j]))
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
type sorter struct{ keys, spare []uint64 }

func (s *sorter) sort(r row) {
	if r.sorted() {
		return
	}
	f := fieldsOf(r)
	if len(r.target) > longestSorted || f.bits() > 64 {
		sort.Sort(r)
		return
	}
	s.keys = slices.Grow(s.keys[:0], len(r.target))[:len(r.target)]
	f.pack(r, s.keys)
	s.order(f.bits())
	f.unpack(r, s.keys)
}

// order sorts the keys, by radix where that pays; only the low width bits are used.
func (s *sorter) order(width int) {
	const digit, short = 8, 48
	if len(s.keys) < short {
		slices.Sort(s.keys)
		return
	}
	s.spare = slices.Grow(s.spare[:0], len(s.keys))[:len(s.keys)]
	for shift := 0; shift < width; shift += digit {
		var at [1 << digit]uint32
		for _, k := range s.keys {
			at[k>>shift&(1<<digit-1)]++
		}
		sum := uint32(0)
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, k := range s.keys {
			d := k >> shift & (1<<digit - 1)
			s.spare[at[d]] = k
			at[d]++
		}
		s.keys, s.spare = s.spare, s.keys
	}
}

// fields says where delay, port and weight lie in a key.
type fields struct {
	delay               uint8
	port                uint32
	weight              int32
	delayBits, portBits int
	weightBits          int
}

func fieldsOf(r row) fields {
	f := fields{delay: 1}
	low, high := slices.Min(r.target), slices.Max(r.target)
	f.port, f.portBits = low, bits.Len32(high-low)
	least, largest := slices.Min(r.weight), slices.Max(r.weight)
	f.weight, f.weightBits = least, bits.Len32(uint32(largest)-uint32(least))
	if r.delay != nil {
		f.delay = slices.Min(r.delay)
		f.delayBits = bits.Len8(slices.Max(r.delay) - f.delay)
	}
	return f
}

func (f *fields) bits() int { return f.delayBits + f.portBits + f.weightBits }

func (f *fields) pack(r row, keys []uint64) {
	for i := range keys {
		keys[i] = uint64(r.target[i]-f.port)<<f.weightBits | uint64(uint32(r.weight[i])-uint32(f.weight))
	}
	for i := range r.delay {
		keys[i] |= uint64(r.delay[i]-f.delay) << (f.portBits + f.weightBits)
	}
}

func (f *fields) unpack(r row, keys []uint64) {
	for i, k := range keys {
		r.weight[i] = int32(uint32(f.weight) + uint32(k&(1<<f.weightBits-1)))
		r.target[i] = f.port + uint32(k>>f.weightBits&(1<<f.portBits-1))
	}
	for i := range r.delay {
		r.delay[i] = f.delay + uint8(keys[i]>>(f.portBits+f.weightBits))
	}
}
