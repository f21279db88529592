package cuda

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"burst/connectome"
)

// joiner puts the neurons that fired in a burst of a launch in order, for one device or for those of a group. The blocks of one number have
// neurons of the same span on every device.
type joiner struct {
	from  []*batch
	ends  []int // of each block, where its neurons end in the queue
	hands []hand
}

// hand is a goroutine's scratch memory.
type hand struct {
	lists  [][]uint32 // of a block of each device, neurons or bits
	starts []uint32   // of its slices of neurons in the queue
	bits   []uint32   // of devices that have brought neurons where others bring bits
}

// crowd is how many neurons that fired are worth a further goroutine, which takes as long to start as to put some thousand in order. More
// than mostHands slow each other down.
const crowd, mostHands = 1 << 15, 16

// count is how many neurons fired in the at-th burst of two launches, which join then puts in order.
func (j *joiner) count(at uint64) (n int) {
	j.ends = j.ends[:0]
	for block := range j.from[0].blocks {
		for _, x := range j.from {
			n += int(x.fired[at*uint64(x.blocks)+uint64(block)])
		}
		j.ends = append(j.ends, n)
	}
	return n
}

// join is the fire queue of the burst that has been counted last, in memory of queue, which has room for it.
func (j *joiner) join(at uint64, queue []uint32) []uint32 {
	n := j.ends[len(j.ends)-1]
	queue = queue[:n]
	hands := max(1, min(n/crowd, runtime.GOMAXPROCS(0)/2, mostHands))
	j.hands = slices.Grow(j.hands[:0], hands)[:hands]
	if hands > 1 {
		j.share(at, queue, j.hands)
		return queue
	}
	for block := range j.ends {
		j.put(j.span(queue, block), at, uint32(block), &j.hands[0])
	}
	return queue
}

// queue is the fire queue of the device for the at-th burst of two launches, in memory of the one before it if that has room.
func (x *batch) queue(at uint64, before []uint32) []uint32 {
	if x.count(at) < 2*crowd {
		return x.list(at, before[:0])
	}
	return x.joiner.join(at, slices.Grow(before[:0], x.joiner.count(at)))
}

// count is how many neurons of the device fired in the at-th burst of two launches.
func (x *batch) count(at uint64) (n int) {
	for _, each := range x.fired[at*uint64(x.blocks):][:x.blocks] {
		n += int(each)
	}
	return n
}

// list appends them.
func (x *batch) list(at uint64, queue []uint32) []uint32 {
	for block := range x.blocks {
		if list, isList := x.told(at, block); isList {
			queue = append(queue, list...)
		} else {
			n := int(x.fired[at*uint64(x.blocks)+uint64(block)])
			queue = slices.Grow(queue, n)[:len(queue)+n]
			x.decode(queue[len(queue)-n:], block, list)
		}
	}
	return queue
}

// share has goroutines take blocks in turn.
func (j *joiner) share(at uint64, queue []uint32, hands []hand) {
	var next atomic.Uint32
	var all sync.WaitGroup
	for i := range hands {
		all.Go(func() {
			for block := next.Add(1) - 1; int(block) < len(j.ends); block = next.Add(1) - 1 {
				j.put(j.span(queue, int(block)), at, block, &hands[i])
			}
		})
	}
	all.Wait()
}

// span is where the neurons of a block go.
func (j *joiner) span(queue []uint32, block int) []uint32 {
	if block == 0 {
		return queue[:j.ends[0]]
	}
	return queue[j.ends[block-1]:j.ends[block]]
}

// put fills to with the neurons of a block that fired, which are as many.
func (j *joiner) put(to []uint32, at uint64, block uint32, h *hand) {
	if len(j.from) == 1 {
		j.from[0].put(to, at, block)
		return
	}
	h.lists = h.lists[:0]
	listed := true
	for _, x := range j.from {
		list, isList := x.told(at, block)
		h.lists, listed = append(h.lists, list), listed && isList
	}
	each := j.from[0].args.run.blockNeurons / connectome.Slice * uint32(len(j.from))
	switch {
	case !listed:
		j.decode(to, at, block, h)
	case len(to) < int(each)/16: // slices that are nearly all empty take longer to count
		to = to[:0]
		for _, list := range h.lists {
			to = append(to, list...)
		}
		slices.Sort(to)
	default:
		h.starts = slices.Grow(h.starts[:0], int(each))[:each]
		interleave(to, h.lists, block*each, h.starts)
	}
}

// told is what a block of the device has told of the at-th burst of two launches: who fired, or where that is more, a bit a neuron.
func (x *batch) told(at uint64, block uint32) (list []uint32, isList bool) {
	place := at*uint64(x.blocks) + uint64(block)
	words := x.wordsIn(place)
	if n := int(x.fired[place]); n <= len(words) {
		return words[:n], true
	}
	return words[:x.args.run.blockNeurons/32], false
}

// put fills to with the neurons of a block of the device that fired.
func (x *batch) put(to []uint32, at uint64, block uint32) {
	list, isList := x.told(at, block)
	if !isList {
		x.decode(to, block, list)
		return
	}
	copy(to, list)
}

// interleave fills to with ascending lists of neurons, no two of which have neurons of the same slice. It counts each slice's neurons first,
// which says where the slice begins, so that no branch depends on which neuron comes next. starts has room for the slices of all neurons,
// from slice low on.
func interleave(to []uint32, lists [][]uint32, low uint32, starts []uint32) {
	clear(starts)
	for _, list := range lists {
		for _, n := range list {
			starts[n/connectome.Slice-low]++
		}
	}
	end := uint32(0)
	for i, count := range starts {
		starts[i] = end
		end += count
	}
	for _, list := range lists {
		for _, n := range list {
			start := &starts[n/connectome.Slice-low]
			to[*start] = n
			*start++
		}
	}
}

// decode fills to with the neurons of a block of several devices, of which some have brought bits.
func (j *joiner) decode(to []uint32, at uint64, block uint32, h *hand) {
	own := j.from[0].args.run.blockNeurons
	words := int(own / 32)
	h.bits = slices.Grow(h.bits[:0], len(j.from)*words)[:len(j.from)*words]
	for q, x := range j.from {
		if _, isList := x.told(at, block); !isList {
			continue
		}
		set := h.bits[q*words:][:words]
		clear(set)
		for _, n := range h.lists[q] {
			i := x.part.Count(n) - block*own
			set[i/32] |= 1 << (i % 32)
		}
		h.lists[q] = set
	}
	for w := 0; w < words; w += connectome.Slice / 32 {
		for q, x := range j.from {
			set := h.lists[q]
			to = putBits(to, x.part.Neuron(block*own+32*uint32(w)), uint64(set[w])|uint64(set[w+1])<<32)
		}
	}
}

// decode fills to with the neurons of a block of the device that has brought bits.
func (x *batch) decode(to []uint32, block uint32, set []uint32) {
	for w, word := range set {
		to = putBits(to, x.part.Neuron(block*x.args.run.blockNeurons+32*uint32(w)), uint64(word))
	}
}

// putBits puts the numbers of bits, of which the lowest is first, at the begin of to, and gives what follows. Where there is room it puts four
// at a time, of which the next word's take the place of those that are too many.
func putBits(to []uint32, first uint32, word uint64) []uint32 {
	n := bits.OnesCount64(word)
	if len(to) < connectome.Slice {
		for i := range n {
			to[i] = first + uint32(bits.TrailingZeros64(word))
			word &= word - 1
		}
		return to[n:]
	}
	for i := 0; i < n; i += 4 {
		four := (*[4]uint32)(to[i:])
		for k := range four {
			four[k] = first + uint32(bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
	return to[n:]
}
