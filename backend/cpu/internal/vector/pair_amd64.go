package vector

func widePairs(k *Pair, to *PairTargets, row *PairRow, again []uint32) (missed int, nan bool) {
	n := len(row.Weight)
	if n == 0 {
		return 0, false
	}
	_, _, _ = row.Targets[n-1], row.Next[n-1], again[(n-1)/perPair]
	found, bad := pairsAVX2(&k.Post.C[0], &row.Weight[0], &row.Targets[0], &to.Heads[0][0], &to.Sums[0], &to.Slots[0][0], &to.Last[0], &to.OfTarget[0], &to.OfSource[0], &again[0],
		&row.Next[0], &row.FarTargets[0], &row.FarWeight[0], uint64(n), row.X, row.After, row.Base, k.Shift[0])
	return int(found), bad != 0
}
