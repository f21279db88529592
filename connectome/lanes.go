package connectome

// A row of bernoulli is a chain: each draw's index follows from the gap before. Chains of several rows, in lanes beside each other,
// do not wait for one another.

const (
	mostLanes   = 32
	leastLanes  = 8
	mostAhead   = 1 << 16 // synapses in all lanes, about
	mostAtOnce  = 4       // rules whose rows a goroutine draws in turn
	leastChance = 0x1p-30 // below, gaps are mostly in doubt
)

// lanes are rows of a rule that are drawn and not yet asked for.
type lanes struct {
	rule     *bernoulli
	first, n uint64 // sources first ≤ s < first+n
	rows     [mostLanes][]uint32
}

// ahead is the row of a source, drawn beside those that follow it below until. It reports false where that does not pay.
func (r *bernoulli) ahead(s, until uint64, b *batch) (row []uint32, ok bool) {
	if r.lanes == 1 {
		return nil, false
	}
	var l *lanes
	for i := range b.lanes {
		if one := &b.lanes[i]; one.rule == r || one.rule == nil {
			l = one
			break
		}
	}
	if l == nil {
		clear(b.lanes[:]) // those of another area
		l = &b.lanes[0]
	}
	if s-l.first >= l.n {
		n := min(r.lanes, until-s)
		if n < leastLanes/2 {
			return nil, false
		}
		l.rule, l.first, l.n = r, s, n
		r.fill(l)
	}
	return l.rows[s-l.first], true
}

// fill draws the rows.
func (r *bernoulli) fill(l *lanes) {
	var index, x, at [mostLanes]uint64 // of the chains that go on: of the next draw, its word, the target from where its gap counts
	var lane [mostLanes]int
	n := int(l.n)
	for i := range n {
		s := l.first + uint64(i)
		at[i], lane[i], l.rows[i] = r.start(s), i, l.rows[i][:0]
		index[i] = s*r.targets + at[i]
	}
	for n > 0 {
		r.draws.Pick(index[:n], x[:n])
		for i := n - 1; i >= 0; i-- {
			gap, left := r.gaps.of(x[i]), r.targets-at[i]
			if gap < float64(left) {
				skip := uint64(gap)
				l.rows[lane[i]] = append(l.rows[lane[i]], uint32(at[i]+skip))
				at[i] += skip + 1
				index[i] += skip + 1
				if at[i] < r.targets {
					continue
				}
			}
			n--
			index[i], at[i], lane[i] = index[n], at[n], lane[n]
		}
	}
}
