package amounts

import (
	"math"
	"math/rand/v2"
	"testing"

	"burst/engine"
	"burst/internal/quanta"

	"github.com/stretchr/testify/require"
)

// lengths have fours, a rest of any size, and neither.
var lengths = []int{0, 1, 3, 4, 5, 7, 8, 63, 64, 66, 1000}

// drawn are amounts: ordinary ones, zeros of both signs, tiny ones, halves of a quantum and their neighbours, and the largest.
func drawn(r *rand.Rand, n int, scale float64, largest int64) []float32 {
	list := make([]float32, n)
	for i := range list {
		q := float64(r.Int64N(2*largest+1) - largest)
		half := float32((math.Trunc(q/2) + 0.5) / scale)
		switch r.IntN(10) {
		case 0:
			list[i] = 0
		case 1:
			list[i] = float32(math.Copysign(0, -1))
		case 2:
			list[i] = math.SmallestNonzeroFloat32 * float32(r.IntN(90)-45)
		case 3:
			list[i] = half
		case 4:
			list[i] = math.Nextafter32(half, 0)
		case 5:
			list[i] = math.Nextafter32(half, float32(q))
		case 6:
			list[i] = float32(math.Copysign(float64(largest), q) / scale)
		case 7: // with scales just below a power of two, the number before half a quantum
			list[i] = float32(math.Copysign(math.Exp2(math.Round(math.Log2(0.5/scale))), q))
		default:
			list[i] = float32(q / scale)
		}
		if math.Abs(float64(list[i])*scale) >= float64(largest)+0.5 {
			list[i] = float32(q / 2 / scale)
		}
	}
	return list
}

// by is what a Maker should give, by the law's rounding of each amount.
func by(ports []uint32, list []float32, scale float64, largest int64) (made []engine.Stimulus, good int) {
	for i, x := range list {
		q := quanta.Of(float64(x), scale)
		if x != x || quanta.Magnitude(q) > uint64(largest) {
			return made, i
		}
		if q != 0 {
			made = append(made, engine.Stimulus{Port: ports[i], Amount: int32(q)})
		}
	}
	return made, len(list)
}

// TestMakers: all give what the law's rounding gives, up to the first amount that is to be refused, and write nothing behind the list.
func TestMakers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	refused := []float32{float32(math.NaN()), -float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32}
	zeros, stops := 0, 0
	for range 300 {
		for _, n := range lengths {
			scale := math.Ldexp(1, r.IntN(25))
			switch r.IntN(3) {
			case 0:
				scale = float64(1 + r.IntN(quanta.MaxScale))
			case 1:
				scale = math.Nextafter(scale, 0)
			}
			largest := 1 + r.Int64N(1<<(1+r.IntN(31))-1)
			ports, list := make([]uint32, n), drawn(r, n, scale, largest)
			for i := range ports {
				ports[i] = r.Uint32()
			}
			for range r.IntN(3) {
				if n > 0 {
					beyond := float32(math.Copysign(float64(largest)+0.5, float64(r.IntN(2))-0.5) / scale)
					list[r.IntN(n)] = append(refused, beyond, math.Nextafter32(beyond, 0))[r.IntN(8)]
				}
			}
			want, last := by(ports, list, scale, largest)
			const guard = 0xABCDEF
			room := make([]engine.Stimulus, n+8)
			for i := range room {
				room[i].Port = guard
			}
			for _, made := range makers() {
				some, good := made(room[:n], ports, list, scale, largest)
				require.Equal(t, last, good, "%v", list)
				require.Equal(t, want, append([]engine.Stimulus(nil), room[:some]...))
				for _, x := range room[n:] {
					require.EqualValues(t, guard, x.Port, "behind the list")
				}
			}
			zeros += last - len(want)
			if last < n {
				stops++
			}
		}
	}
	require.Greater(t, zeros, 10_000, "amounts that are no quantum")
	require.Greater(t, stops, 500, "lists with an amount to refuse")
}

// BenchmarkMakers is what 1,000 amounts take, the fastest last.
func BenchmarkMakers(b *testing.B) {
	list, ports, room := make([]float32, 1000), make([]uint32, 1000), make([]engine.Stimulus, 1000)
	for i := range list {
		list[i], ports[i] = float32(i)/2000, uint32(i)
	}
	for i, made := range makers() {
		b.Run([]string{"go", "avx2", "avx512"}[i], func(b *testing.B) {
			for b.Loop() {
				made(room, ports, list, 1000, 1000)
			}
		})
	}
}
