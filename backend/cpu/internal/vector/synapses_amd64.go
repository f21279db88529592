package vector

import "unsafe"

// wideSynapses are the loops by AVX2. Of what counts or adds, what is left over of eights is the plain loops' work.
func wideSynapses() Synapses {
	return Synapses{
		Load: wideLoad, Targets: wideTargets, Store: wideStore, Fill: wideFill[float32], FillWords: wideFill[uint32], Fetch: fetch, Touch: touchAll,
		Meet: wideMeet, Pending: widePending, Above: wideAbove, Oldest: wideOldest, Since: wideSince, Decay: wideDecay, Aged: wideAged, AgedNear: wideAgedNear, Gather: wideGather,
		Bound: wideBound, BoundSome: wideBoundSome, Amounts: wideAmounts, AddAt: wideAddAt, Pairs: widePairs, ShortPair: 16,
	}
}

// word is where numbers begin, as words.
func word[T uint32 | float32 | int32](list []T) *uint32 {
	return (*uint32)(unsafe.Pointer(unsafe.SliceData(list)))
}

// up is how many eights n entries take.
func up(n int) int { return (n + 7) / 8 }

// checkPieces panics where a piece does not lie in its array, or all of them in theirs.
func checkPieces(apart, joined int, starts []uint64, ends []uint32) {
	_, lo := starts[:len(ends)], uint32(0)
	for i, end := range ends {
		if end < lo || starts[i] > uint64(apart) || uint64(end-lo) > uint64(apart)-starts[i] {
			panic("BUG: a piece outside its array")
		}
		lo = end
	}
	if int(lo) > joined {
		panic("BUG: pieces outside their array")
	}
}

func wideLoad(out, from []float32, starts []uint64, ends []uint32) {
	checkPieces(len(from), len(out)-7, starts, ends)
	if len(ends) > 0 {
		loadAVX2(word(out), word(from), &starts[0], &ends[0], uint64(len(ends)), 0)
	}
}

func wideTargets(out, from []uint32, starts []uint64, ends []uint32, less uint32) {
	checkPieces(len(from), len(out)-7, starts, ends)
	if len(ends) > 0 {
		loadAVX2(word(out), word(from), &starts[0], &ends[0], uint64(len(ends)), less)
	}
}

func wideStore(to, from []float32, starts []uint64, ends []uint32) {
	checkPieces(len(to), len(from), starts, ends)
	if len(ends) > 0 {
		storeAVX2(word(to), word(from), &starts[0], &ends[0], uint64(len(ends)))
	}
}

func wideFill[T uint32 | float32](out, values []T, ends []uint32) {
	if n := len(ends); n > 0 {
		_, _ = out[ends[n-1]+6], values[n-1]
		fillAVX2(word(out), word(values), &ends[0], uint64(n))
	}
}

func fetch(a []float32, b []uint32, starts []uint64, ends []uint32) {
	if len(ends) > 0 {
		fetchAVX2(word(a), word(b), &starts[0], &ends[0], uint64(len(ends)))
	}
}

func wideMeet(lanes []uint32, values []float32, counts, ages []uint32, heads [][2]uint32, targets, after, base []uint32) (some, both uint32) {
	n := len(lanes) / 8
	if n > 0 {
		_, _, _, _, _, _ = values[8*n-1], counts[8*n-1], ages[8*n-1], targets[8*n-1], after[8*n-1], base[8*n-1]
		some, both = meetAVX2(&lanes[0], &values[0], &counts[0], &ages[0], &heads[0][0], &targets[0], &after[0], &base[0], uint64(n))
	}
	if m := 8 * n; m < len(lanes) {
		more, two := meet(lanes[m:], values[m:], counts[m:], ages[m:], heads, targets[m:], after[m:], base[m:])
		some, both = some+more, both+two
	}
	return some, both
}

func touchAll(array unsafe.Pointer, size uintptr, at []uint32) {
	if len(at) > 0 {
		touchAVX2((*uint8)(array), uint64(size), &at[0], uint64(len(at)))
	}
}

func widePending(counts, lanes []uint32, slots [][2]uint64, targets, after []uint32) (some, most uint32) {
	n := len(counts) / 8
	if n > 0 {
		_, _, _ = lanes[8*n-1], targets[8*n-1], after[8*n-1]
		some, most = pendingAVX2(&counts[0], &lanes[0], &slots[0][0], &targets[0], &after[0], uint64(n))
	}
	if m := 8 * n; m < len(counts) {
		more, largest := pending(counts[m:], lanes[m:], slots, targets[m:], after[m:])
		some, most = some+more, max(most, largest)
	}
	return some, most
}

func wideAbove(list, numbers []uint32, limit uint32) (found uint32) {
	n := len(numbers) / 8
	if n > 0 {
		_ = list[:8*n+7]
		found = aboveAVX2(&list[0], &numbers[0], limit, uint64(n))
	}
	for i := 8 * n; i < len(numbers); i++ {
		if numbers[i] > limit {
			list[found] = uint32(i)
			found++
		}
	}
	return found
}

func wideOldest(places, chosen, targets, counts []uint32) {
	if n := up(len(places)); n > 0 {
		_, _, _, _ = places[:8*n], chosen[:8*n], targets[:8*n], counts[:8*n]
		oldestAVX2(&places[0], &chosen[0], &targets[0], &counts[0], uint64(n))
	}
}

func wideSince(ages, lanes []uint32, slots [][2]uint64, places, base []uint32) {
	if n := up(len(ages)); n > 0 {
		_, _, _, _ = ages[:8*n], lanes[:8*n], places[:8*n], base[:8*n]
		sinceAVX2(&ages[0], &lanes[0], &slots[0][0], &places[0], &base[0], uint64(n))
	}
}

func wideDecay(out, x []float32, ages []uint32, t *Table) {
	n := up(len(out))
	if n == 0 || t.Until == 0 {
		decay(out, x, ages, t)
		return
	}
	_, _, _ = out[:8*n], x[:8*n], ages[:8*n]
	if t.High == nil {
		decayAVX2(&out[0], &x[0], &ages[0], &t.Low[0], t.Until-1, uint64(n))
	} else {
		decayLongAVX2(&out[0], &x[0], &ages[0], &t.Low[0], &t.High[0], t.Until-1, uint64(n))
	}
}

func wideAged(out, values []float32, last, at []uint32, now uint32, t *Table) {
	n := up(len(out))
	if n == 0 || t.Until == 0 {
		aged(out, values, last, at, now, t)
		return
	}
	_, _ = out[:8*n], at[:8*n]
	if t.High == nil {
		agedAVX2(&out[0], &values[0], &last[0], &at[0], now, &t.Low[0], t.Until-1, uint64(n))
	} else {
		agedLongAVX2(&out[0], &values[0], &last[0], &at[0], now, &t.Low[0], &t.High[0], t.Until-1, uint64(n))
	}
}

func wideAgedNear(out []float32, lanes, last, at []uint32, now, then uint32, t *Table) {
	n := up(len(out))
	if n == 0 || t.High != nil || t.Until == 0 {
		agedNear(out, lanes, last, at, now, then, t)
		return
	}
	_, _, _ = out[:8*n], lanes[:8*n], at[:8*n]
	agedNearAVX2(&out[0], &lanes[0], &last[0], &at[0], now, then, &t.Low[0], t.Until-1, uint64(n))
}

func wideGather(out, from []float32, at []uint32) {
	if n := up(len(out)); n > 0 {
		_, _ = out[:8*n], at[:8*n]
		gatherAVX2(&out[0], &from[0], &at[0], uint64(n))
	}
}

func wideBound(out, from []float32, low, high float32) bool {
	n, nan := len(out)/8, false
	if n > 0 {
		_ = from[8*n-1]
		nan = boundAVX2(&out[0], &from[0], low, high, uint64(n)) != 0
	}
	return bound(out[8*n:], from[8*n:], low, high) || nan
}

func wideBoundSome(out, from []float32, counts []uint32, low, high float32) bool {
	n, nan := len(out)/8, false
	if n > 0 {
		_, _ = from[8*n-1], counts[8*n-1]
		nan = boundSomeAVX2(&out[0], &from[0], &counts[0], low, high, uint64(n)) != 0
	}
	return boundSome(out[8*n:], from[8*n:], counts[8*n:], low, high) || nan
}

func wideAmounts(list []int32, out, from []float32, low, high, scale float32) bool {
	n, nan := len(list)/8, false
	if n > 0 {
		_, _ = out[8*n-1], from[8*n-1]
		nan = amountsAVX2(&list[0], &out[0], &from[0], low, high, scale, uint64(n)) != 0
	}
	return amounts(list[8*n:], out[8*n:], from[8*n:], low, high, scale) || nan
}

func wideAddAt(sums []int32, at []uint32, amounts []int32) {
	if n := len(amounts); n > 0 {
		_ = at[n-1]
		addAtAVX2(&sums[0], &at[0], &amounts[0], uint64(n))
	}
}
