package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEventMatchesPlainLoops has neurons whose bursts are now, later, before and long before, and some that get no input; tables of decay
// that are shorter and longer than what fits registers.
func TestEventMatchesPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 7))
	fired, silent, again := 0, 0, 0
	for _, now := range []uint32{5, 70_000, 1<<32 - 3} {
		for i, n := range lengths() {
			ages := []int{6, 128, 129, 300}[i%4]
			k := Event{Scale: 997, Threshold: 17.3, Reset: -2.1, Refractory: uint32(n), Now: now}
			for age := range ages - 1 {
				k.Decay = append(k.Decay, float32(math.Exp(-float64(age)/7)))
			}
			k.Decay = append(k.Decay, 0)
			reach := []uint32{9, 140, 400}[r.IntN(3)]
			acc, v := sums(r, n), values(r, n)
			cells := make([]Cell, n)
			var list []uint32
			for i := range cells {
				cells[i] = Cell{v[i], now + 2 - r.Uint32N(reach)}
				if r.IntN(20) == 0 {
					cells[i].Last = now - 1<<31 + r.Uint32N(1<<20)
				}
				if r.IntN(5) > 0 {
					list = append(list, uint32(i))
				}
			}
			wantCells, wantAcc, wantList := slices.Clone(cells), slices.Clone(acc), slices.Clone(list)
			want := Plain().Event(&k, wantCells, wantAcc, wantList)
			for _, i := range list {
				require.Zero(t, wantAcc[i])
				if int32(now-cells[i].Last) <= 0 {
					require.Equal(t, cells[i], wantCells[i], "a silent neuron")
					silent++
				}
			}
			fired += want
			if want > 0 && wantList[want-1] == list[len(list)-1] {
				again++
			}
			for _, kernels := range sets()[1:] {
				gotCells, gotAcc, gotList := slices.Clone(cells), slices.Clone(acc), slices.Clone(list)
				got := kernels.Event(&k, gotCells, gotAcc, gotList)
				require.Equal(t, wantList[:want], gotList[:got], "%s: %d neurons", kernels.Name, n)
				require.Equal(t, wantAcc, gotAcc, "%s: %d neurons", kernels.Name, n)
				require.Equal(t, bitsOfCells(wantCells), bitsOfCells(gotCells), "%s: %d neurons", kernels.Name, n)
			}
		}
	}
	require.Greater(t, fired, 100)
	require.Greater(t, silent, 100)
	require.Positive(t, again, "the last neuron, which fills lanes that are left over, never fired")
}

// bitsOfCells tells −0 from +0.
func bitsOfCells(cells []Cell) (list []uint64) {
	for _, c := range cells {
		list = append(list, uint64(math.Float32bits(c.V))<<32|uint64(c.Last))
	}
	return list
}

func TestCandidatesAreThePlacesOfSums(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 7))
	for _, blocks := range []int{0, 1, 3, 16, 17, 40} {
		for _, share := range []int{1, 2, 10, 1000} {
			acc := make([]int32, blocks*Block)
			want := []uint32{}
			for i := range acc {
				if r.IntN(share) == 0 {
					acc[i] = int32(r.Uint32())
				}
				if acc[i] != 0 {
					want = append(want, uint32(i))
				}
			}
			for _, kernels := range sets() {
				list := make([]uint32, len(acc)+Spare)
				n := kernels.Candidates(acc, list)
				require.Equal(t, want, list[:n], "%s: %d blocks", kernels.Name, blocks)
			}
		}
	}
}
