package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// roomFor has room for whole eights behind n entries; what stands there is a valid index.
func roomFor[T any](n int) []T { return make([]T, n+8) }

// slotsOf draws slots of lanes that fall, with zeros behind, and the one more that loops may read.
func slotsOf(r *rand.Rand, n int) [][2]uint64 {
	slots := make([][2]uint64, n+1)
	for j := range n {
		lane := uint64(r.IntN(1 << 15))
		for i := range 8 {
			slots[j][i/4] |= lane << (i % 4 * 16)
			lane -= min(lane, uint64(1+r.IntN(1<<r.IntN(14))))
			if r.IntN(9) == 0 {
				lane = 0
			}
		}
	}
	return slots
}

// TestSynapsesMatchPlainLoops: the assembly gives the bits of the plain loops.
func TestSynapsesMatchPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 17))
	one, two := Plain().Synapses, Best().Synapses
	for _, n := range lengths() {
		const neurons = 300
		slots := slotsOf(r, neurons)
		at, after, base, lanes := roomFor[uint32](n), roomFor[uint32](n), roomFor[uint32](n), roomFor[uint32](n)
		x, values, last := wild(r, n+8), wild(r, neurons), make([]uint32, neurons)
		const now, then = 1_000_000, 1 << 14
		for j := range last {
			before := slots[j][0]
			if before&0xffff < then && r.IntN(5) == 0 { // the first lane is of this burst
				slots[j][0], slots[j][1] = before<<16|then, slots[j][1]<<16|before>>48
			}
			if last[j] = now - then + uint32(before&0xffff); before&0xffff == 0 || r.IntN(9) == 0 {
				last[j] = now - r.Uint32N(1<<r.IntN(32))
				slots[j] = [2]uint64{slots[j][0] & 0xffff / then * then} // no lane tells of it
			}
		}
		for i := range n {
			at[i] = r.Uint32N(neurons)
			lanes[i] = uint32(slots[at[i]][0])
			after[i] = (lanes[i] & 0x7fff) - min(lanes[i]&0x7fff, r.Uint32N(1<<r.IntN(15)))
			after[i] *= 0x1_0001
			base[i] = r.Uint32N(1 << r.IntN(31))
		}
		counts, places := [2][]uint32{roomFor[uint32](n), roomFor[uint32](n)}, [2][]uint32{roomFor[uint32](n), roomFor[uint32](n)}
		chosen, list := [2][]uint32{roomFor[uint32](n), roomFor[uint32](n)}, [2][]uint32{roomFor[uint32](n), roomFor[uint32](n)}
		numbers, amounts := [2][]float32{roomFor[float32](n), roomFor[float32](n)}, [2][]int32{roomFor[int32](n), roomFor[int32](n)}
		sums := [2][]int32{make([]int32, neurons), make([]int32, neurons)}
		same := func(name string, lists [2][]uint32) {
			t.Helper()
			require.Equal(t, lists[0][:n], lists[1][:n], "%s of %d", name, n)
		}
		sameNumbers := func(name string) {
			t.Helper()
			requireSameNumbers(t, numbers[0][:n], numbers[1][:n], name)
		}
		var some, most, found [2]uint32
		for i, k := range []Synapses{one, two} {
			some[i], most[i] = k.Pending(counts[i][:n], lanes, slots, at, after)
			k.Oldest(places[i][:n], chosen[i], at, counts[i])
			found[i] = k.Above(list[i], counts[i][:n], 1)
		}
		require.Equal(t, some[0], some[1])
		require.Equal(t, most[0], most[1])
		require.Equal(t, found[0], found[1])
		same("Pending", counts)
		same("Oldest", places)
		same("Oldest", chosen)
		require.Equal(t, list[0][:found[0]], list[1][:found[1]])
		for i, k := range []Synapses{one, two} {
			k.Since(list[i][:n], lanes, slots, places[i], base)
		}
		same("Since", list)
		heads := make([][2]uint32, neurons)
		for j := range heads {
			heads[j] = [2]uint32{uint32(slots[j][0]), math.Float32bits(values[j])}
		}
		decays := make([]float32, 256) // as any are: finite and at least 0
		for i := range decays {
			decays[i] = r.Float32()
		}
		for _, table := range []Table{{Low: decays, Until: 200}, {}, {Low: decays, High: decays[100:140], Until: 40 * 256}} {
			for i, k := range []Synapses{one, two} {
				k.Decay(numbers[i][:n], x, base, &table)
			}
			sameNumbers("Decay")
			for i, k := range []Synapses{one, two} {
				k.Aged(numbers[i][:n], values, last, at, now, &table)
			}
			sameNumbers("Aged")
			aged := slices.Clone(numbers[0])
			for i, k := range []Synapses{one, two} {
				some[i], most[i] = k.Meet(list[i][:n], numbers[i], counts[i], places[i], heads, at, after, base)
				k.AgedNear(numbers[i][:n], list[i], last, at, now, then, &table)
			}
			sameNumbers("AgedNear")
			require.Equal(t, some[0], some[1])
			require.Equal(t, most[0], most[1])
			same("Meet", list)
			same("Meet", counts)
			same("Meet", places)
			for i := range n { // of 0 no age is looked for: its sign is that of the value
				if aged[i] == aged[i] || numbers[0][i] == numbers[0][i] {
					require.Equal(t, aged[i], numbers[0][i])
				}
			}
		}
		for i, k := range []Synapses{one, two} {
			k.Gather(numbers[i][:n], values, at)
		}
		sameNumbers("Gather")
		var nan [2]bool
		for i, k := range []Synapses{one, two} {
			nan[i] = k.Bound(numbers[i][:n], x, -1, 0)
		}
		sameNumbers("Bound")
		require.Equal(t, nan[0], nan[1])
		for i, k := range []Synapses{one, two} {
			nan[i] = k.BoundSome(numbers[i][:n], x, counts[i], -7, 5)
		}
		sameNumbers("BoundSome")
		require.Equal(t, nan[0], nan[1])
		for i := range n {
			if r.IntN(3) == 0 { // around a half
				x[i] = (float32(r.IntN(1<<r.IntN(24))) + 0.5) * float32(1-2*r.IntN(2))
				x[i] = math.Float32frombits(math.Float32bits(x[i]) + uint32(r.IntN(3)) - 1)
			}
		}
		for _, scale := range []float32{1, 997} {
			for i, k := range []Synapses{one, two} {
				nan[i] = k.Amounts(amounts[i][:n], numbers[i], x, -1<<20, 1<<20, scale)
				k.AddAt(sums[i], at, amounts[i][:n])
			}
			sameNumbers("Amounts")
			require.Equal(t, nan[0], nan[1])
			require.Equal(t, amounts[0][:n], amounts[1][:n])
		}
		require.Equal(t, sums[0], sums[1])
	}
}

// TestPiecesMatchPlainLoops loads and stores pieces of all lengths; nothing beside them changes.
func TestPiecesMatchPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 23))
	one, two := Plain().Synapses, Best().Synapses
	for range 200 {
		const rows = 1000
		from, words := wild(r, rows), make([]uint32, rows)
		for i := range words {
			words[i] = r.Uint32()
		}
		var starts []uint64
		var ends []uint32
		n, at := uint32(0), uint64(0)
		for range r.IntN(20) {
			piece := uint64(1 + r.IntN(1<<r.IntN(6)))
			if at += uint64(r.IntN(9)); at+piece > rows {
				break
			}
			n += uint32(piece)
			starts, ends = append(starts, at), append(ends, n)
			at += piece
		}
		if len(starts) > 0 && r.IntN(2) == 0 { // the last one ends with the array
			starts[len(starts)-1] = rows - uint64(n)
			if len(ends) > 1 {
				starts[len(starts)-1] = rows - uint64(n-ends[len(ends)-2])
			}
		}
		var out, to [2][]float32
		var targets [2][]uint32
		values := wild(r, len(ends))
		for i, k := range []Synapses{one, two} {
			out[i], targets[i], to[i] = roomFor[float32](int(n)), roomFor[uint32](int(n)), slices.Clone(from)
			k.Fetch(from, words, starts, ends)
			k.Targets(targets[i], words, starts, ends, 12345)
			k.Fill(out[i], values, ends)
			k.Store(to[i], out[i], starts, ends)
			k.Load(out[i], from, starts, ends)
		}
		requireSameNumbers(t, out[0][:n], out[1][:n], "Load")
		requireSameNumbers(t, to[0], to[1], "Store")
		require.Equal(t, targets[0][:n], targets[1][:n])
	}
}
