package vector

import "math"

// Pair is a pair rule: on_post and on_pre change a weight w to w + C·(E + w/M)·(t + D), rounded at each step, where t is the trace of
// the other side. Every number stands eight times, for the eight lanes.
type Pair struct {
	Post, Pre        PairStep
	Low, High, Scale [8]float32
	Shift            [8]uint32 // what targets are more than their indices
	Now, Then        [8]uint32 // as in Synapses.AgedNear

	_ [6][8]uint32 // scratch
}

// PairStep is a handler of a pair rule. Final is the largest age at which t is not 0 for sure.
type PairStep struct {
	C, E, M, D [8]float32
	Final      [8]uint32
}

// PairArrays are the synapses of a projection, what their targets have, and the tables of the two traces. Heads and Sums have 16 entries
// at least.
type PairArrays struct {
	Weight   []float32
	Targets  []uint32
	Heads    [][2]uint32
	Slots    [][2]uint64
	Last     []uint32
	Sums     []int32
	OfSource []float32
	OfTarget []float32
	places   []uint32 // scratch of Pairs: of the eights of a row that are missed
}

// PairRow are the synapses From ≤ k < To of one source. X is the source's trace after its last spike; After and Base are as in
// Synapses.Meet, but After stands once.
type PairRow struct {
	From, To    uint64
	X           float32
	After, Base uint32
	_           uint32
}

// PairMiss is an eight of a row, or what the row has of it: its first synapse is At behind the row's first one.
type PairMiss struct{ Row, At uint32 }

// Spread is a number eight times.
func Spread[T any](x T) (out [8]T) {
	for i := range out {
		out[i] = x
	}
	return out
}

// perPair is how many synapses a pair rule works on together.
const perPair = 8

func pairs(k *Pair, to *PairArrays, rows []PairRow, again []PairMiss) (done, missed int, nan bool) {
	for !nan && done < len(rows) {
		row := &rows[done]
		for lo := row.From; lo < row.To; lo += perPair {
			hi := min(lo+perPair, row.To)
			if anyThird(k, to, to.Targets[lo:hi], row.After) {
				again[missed] = PairMiss{uint32(done), uint32(lo - row.From)}
				missed++
				continue
			}
			for i := lo; i < hi; i++ {
				nan = k.one(to, row, &to.Weight[i], to.Targets[i]-k.Shift[0]) || nan
			}
		}
		done++
	}
	return done, missed, nan
}

// anyThird reports whether a target has more than two events.
func anyThird(k *Pair, to *PairArrays, targets []uint32, after uint32) bool {
	for _, target := range targets {
		if to.Slots[target-k.Shift[0]][0]>>32&0xffff > uint64(after) {
			return true
		}
	}
	return false
}

// one takes a synapse through its pending events and that of its source, and delivers.
func (k *Pair) one(to *PairArrays, row *PairRow, w *float32, j uint32) (nan bool) {
	low, high, scale := k.Low[0], k.High[0], k.Scale[0]
	lane, limit := to.Heads[j][0]&^(1<<31), row.After
	for _, event := range [2]uint32{lane >> 16, lane & 0xffff} {
		if event > limit {
			x := float32(row.X * pairTable(to.OfSource, &k.Post, event+row.Base))
			*w = within(k.Post.after(*w, x), low, high)
			nan = nan || *w != *w
		}
	}
	event := lane & 0xffff
	if event == k.Then[0] {
		event = lane >> 16
	}
	age, y := k.Then[0]-event, math.Float32frombits(to.Heads[j][1])
	if event == 0 && y != 0 {
		age = k.Now[0] - to.Last[j]
	}
	*w = k.Pre.after(*w, float32(y*pairTable(to.OfTarget, &k.Pre, age)))
	var amount [1]int32
	var out [1]float32
	bad := amounts(amount[:], out[:], []float32{*w}, low, high, scale)
	*w = out[0]
	to.Sums[j] += amount[0]
	return nan || bad
}

func pairTable(low []float32, s *PairStep, age uint32) float32 {
	if age > s.Final[0] {
		return 0
	}
	return low[age]
}

// after is a weight after the step.
func (s *PairStep) after(w, t float32) float32 {
	f := float32(s.C[0] * float32(s.E[0]+float32(w/s.M[0])))
	return w + float32(f*float32(t+s.D[0]))
}
