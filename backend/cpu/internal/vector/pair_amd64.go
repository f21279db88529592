package vector

import (
	"slices"
	"unsafe"
)

// pairAhead is how many synapses ahead rows are asked for.
const pairAhead = 192

// widePairs asks for heads and sums of the next row, and for a row that comes later.
func widePairs(k *Pair, to *PairArrays, rows []PairRow, again []PairMiss) (done, missed int, nan bool) {
	ahead, asked := uint64(0), 0
	for !nan && done < len(rows) {
		for ; asked < len(rows)-1 && (asked <= done || ahead < pairAhead); asked++ {
			ahead += rows[asked].To - rows[asked].From
		}
		row, next, far := &rows[done], rows[min(done+1, len(rows)-1)].From, rows[asked].From
		n := row.To - row.From
		ahead -= min(ahead, n)
		if done++; n == 0 {
			continue
		}
		weight, targets := to.Weight[row.From:row.To], to.Targets[row.From:row.To]
		if next+n > uint64(len(to.Targets)) {
			next = row.From
		}
		to.places = slices.Grow(to.places[:0], up(int(n)))
		at := to.places[:up(int(n))]
		found, bad := pairsAVX2(&k.Post.C[0], &weight[0], &targets[0], &to.Heads[0][0], &to.Sums[0], &to.Slots[0][0], &to.Last[0], &to.OfTarget[0], &to.OfSource[0], &at[0],
			&to.Targets[next], &to.Targets[far], &to.Weight[far], n, row.X, row.After*0x1_0001, row.Base, k.Shift[0])
		for _, place := range at[:found] {
			again[missed] = PairMiss{uint32(done - 1), place}
			missed++
		}
		nan = bad != 0
	}
	return done, missed, nan
}

// widestPairs takes sixteen synapses at a time.
func widestPairs(k *Pair, to *PairArrays, rows []PairRow, again []PairMiss) (done, missed int, nan bool) {
	if len(rows) == 0 {
		return 0, 0, false
	}
	_, _ = to.Heads[15], to.Sums[15]
	made, found, bad := pairsAVX512(&k.Post.C[0], &to.Weight[0], &to.Targets[0], &to.Heads[0][0], &to.Sums[0], &to.Slots[0][0], &to.Last[0], &to.OfTarget[0], &to.OfSource[0],
		&rows[0].From, uint64(len(rows)), (*uint32)(unsafe.Pointer(unsafe.SliceData(again))), k.Shift[0])
	return int(made), int(found), bad != 0
}
