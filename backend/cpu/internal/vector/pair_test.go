package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPairsMatchPlainLoops: the assembly gives the bits of the plain loops, and changes nothing beside the row.
func TestPairsMatchPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 31))
	all, missed, broken := 0, 0, 0
	for round := range 4000 {
		const neurons, shift, then, rows = 200, 1000, 1 << 14, 120
		to := PairArrays{Slots: slotsOf(r, neurons), Heads: make([][2]uint32, neurons), Last: make([]uint32, neurons), OfSource: make([]float32, 1+r.IntN(300)), OfTarget: make([]float32, 1+r.IntN(300))}
		values := wild(r, neurons)
		for j := range neurons {
			lane, slot := uint64(then-r.IntN(100)), &to.Slots[j]
			switch second := lane - uint64(1+r.IntN(40)); r.IntN(20) {
			case 0: // any events
			case 1:
				*slot = [2]uint64{}
			case 2, 3:
				*slot = [2]uint64{lane | second<<16 | (second-uint64(31+r.IntN(3)))<<32}
			case 4, 5, 6:
				*slot = [2]uint64{lane | second<<16}
			default:
				*slot = [2]uint64{lane}
			}
			to.Last[j] = 1_000_000 - uint32(r.IntN(500))
			if round%7 > 0 {
				values[j] = r.Float32()
			}
			to.Heads[j] = [2]uint32{Head(slot[0]), math.Float32bits(values[j])}
		}
		for _, list := range [][]float32{to.OfSource, to.OfTarget} {
			for i := range list {
				list[i] = r.Float32()
			}
		}
		var k Pair
		for _, step := range []*PairStep{&k.Post, &k.Pre} {
			step.C, step.E, step.D = Spread([]float32{r.Float32() - 0.5, r.Float32() - 0.5, float32(math.Copysign(0, -1))}[r.IntN(3)]), Spread(float32(r.IntN(2))), Spread(float32(r.IntN(2))*r.Float32())
			step.M = Spread([]float32{1, -0.7, float32(math.Inf(1))}[r.IntN(3)])
		}
		k.Post.Final, k.Pre.Final = Spread(uint32(len(to.OfSource)-1)), Spread(uint32(len(to.OfTarget)-1))
		k.Low, k.High, k.Scale = Spread(float32(-1)), Spread(float32(1)), Spread(float32(100_000))
		k.Shift, k.Now, k.Then = Spread(uint32(shift)), Spread(uint32(1_000_000)), Spread(uint32(then))
		targets, weights := make([]uint32, rows), make([]float32, rows)
		for i := range rows {
			targets[i], weights[i] = shift+r.Uint32N(neurons), 2*r.Float32()-1
			if r.IntN(20) == 0 {
				weights[i] = float32(math.Copysign(0, -1))
			}
		}
		var list []PairRow
		for at := uint64(0); at < rows; {
			row := PairRow{From: at, To: at + uint64(r.IntN(rows+1-int(at))), X: r.Float32(), After: uint32(then - r.IntN(60))}
			if r.IntN(4) == 0 {
				row.To = min(row.To, at+20)
			}
			row.Base = -row.After + uint32(r.IntN(40))
			at = row.To + uint64(r.IntN(3))
			list = append(list, row)
		}
		var again [2][]PairMiss
		var done [2]int
		var nan [2]bool
		var sums [2][]int32
		var made [2][]float32
		sets := sets()
		for i, s := range []Synapses{Plain().Synapses, sets[round%len(sets)].Synapses} {
			made[i], sums[i], again[i] = slices.Clone(weights), make([]int32, neurons), make([]PairMiss, rows+len(list))
			mine := to
			mine.Sums, mine.Weight, mine.Targets = sums[i], made[i], targets
			n := 0
			done[i], n, nan[i] = s.Pairs(&k, &mine, list, again[i])
			again[i] = again[i][:n]
		}
		require.Equal(t, done[0], done[1])
		requireSameNumbers(t, made[0], made[1], "Pairs")
		require.Equal(t, sums[0], sums[1])
		require.Equal(t, again[0], again[1])
		require.Equal(t, nan[0], nan[1])
		all, missed, broken = all+rows, missed+len(again[0]), broken+map[bool]int{true: 1}[nan[0]]
	}
	if missed == 0 || broken == 0 || 16*missed > all {
		t.Errorf("of %d synapses %d eights were missed; %d rows had NaN", all, missed, broken)
	}
}
