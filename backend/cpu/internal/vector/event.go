package vector

import "math/bits"

// Cell is a neuron that inputs alone touch: V after its last input, and the burst of that input, or where the neuron fired then the
// last one of its silence. The burst is modulo 2^32.
type Cell struct {
	V    float32
	Last uint32
}

// Event are the constants of a lif_event area, and the burst in progress.
type Event struct {
	Scale, Threshold, Reset float32
	Refractory, Now         uint32
	Decay                   []float32 // by bursts since the last input; the last one stands for more
}

func event(k *Event, cells []Cell, acc []int32, list []uint32) int {
	scale, threshold, decay, now, n := k.Scale, k.Threshold, k.Decay, k.Now, 0
	for _, i := range list {
		sum, c := acc[i], &cells[i]
		acc[i] = 0 // 7
		age := int32(now - c.Last)
		if age <= 0 { // 4a
			continue
		}
		v := float32(c.V*decay[min(int(age), len(decay)-1)]) + float32(sum)/scale // 4b, 4c
		c.V, c.Last = v, now
		if v >= threshold { // 4d
			c.V, c.Last = k.Reset, now+k.Refractory
			list[n] = i
			n++
		}
	}
	return n
}

// Spare is the room that a list of places needs behind its last one, since up to sixteen are written at a time.
const Spare = 16

// Places writes base plus the number of each bit that is set in mask to list[n:], and returns the n behind them. It writes four at a
// time, because a branch at the last bit would often be mispredicted.
func Places(list []uint32, n int, base uint32, mask uint64) int {
	end := n + bits.OnesCount64(mask)
	for ; mask != 0; n += 4 {
		to := list[n : n+4]
		to[0] = base + uint32(bits.TrailingZeros64(mask))
		mask &= mask - 1
		to[1] = base + uint32(bits.TrailingZeros64(mask))
		mask &= mask - 1
		to[2] = base + uint32(bits.TrailingZeros64(mask))
		mask &= mask - 1
		to[3] = base + uint32(bits.TrailingZeros64(mask))
		mask &= mask - 1
	}
	return end
}

func candidatesBy(nonzero func(acc []int32, bits []uint64)) func(acc []int32, list []uint32) int {
	return func(acc []int32, list []uint32) (n int) {
		var words [16]uint64
		for base := 0; base < len(acc); base += Block * len(words) {
			some := acc[base:min(base+Block*len(words), len(acc))]
			masks := words[:blocks(len(some))]
			nonzero(some, masks)
			for i, mask := range masks {
				n = Places(list, n, uint32(base+Block*i), mask)
			}
		}
		return n
	}
}
