package exact

import "math"

// wideBlock is how many numbers wideNormals turns at a time.
const wideBlock = 256

// centreTable and tailTable are the numbers of the assembly, in its order.
var (
	centreTable = struct {
		rational
		square float64
	}{centre, 0.180625}
	tailTable = struct {
		rational
		shift            float64
		series           [11]float64 // those of logSeries
		bias, one, sqrt2 float64
		ln2Lo, ln2Hi     float64
		significand      uint64
		far              float64
	}{
		middle, 1.6, [11]float64{2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3},
		1023, 1, math.Sqrt2, ln2Lo, ln2Hi, 1<<52 - 1, 5,
	}
)

// wideNormals is Normals for four numbers at once: all as if they lay in the centre, then anew those that do not, one after the other.
func wideNormals(words []uint64, z []float64) {
	var where [wideBlock]uint16 // of numbers in the tails
	var tails [wideBlock]uint64
	var found [wideBlock]float64
	for len(words) >= 4 {
		n := min(len(words), wideBlock) &^ 3
		centreAVX2(&centreTable.num[0], &words[0], &z[0], uint64(n/4))
		m := 0
		for i, x := range words[:n] {
			k := (x ^ uint64(int64(x)>>63)) >> 11
			where[m&(wideBlock-1)], tails[m&(wideBlock-1)] = uint16(i), x
			m += int((k - centreFrom) >> 63)
		}
		whole := m &^ 3
		for done := 0; done < whole; {
			done += 4 * int(tailAVX2(&tailTable.num[0], &tails[done], &found[done], uint64((whole-done)/4)))
			for end := min(done+4, whole); done < end; done++ { // of four some lie beyond e^−25
				found[done] = Normal(tails[done])
			}
		}
		for i := whole; i < m; i++ {
			found[i] = Normal(tails[i])
		}
		for i, at := range where[:m] {
			z[at] = found[i]
		}
		words, z = words[n:], z[n:]
	}
	for i, x := range words {
		z[i] = Normal(x)
	}
}
