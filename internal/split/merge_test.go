package split

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
)

// fired are the parts' neurons of a burst in which about one of share neurons fires, and all of them in order.
func fired(parts int, neurons, share uint32) (all [][]uint32, want []uint32) {
	r := rand.New(rand.NewPCG(uint64(parts), uint64(neurons)))
	all = make([][]uint32, parts)
	for n := range neurons {
		if owner := (connectome.Part{Of: parts}).Owner(n); r.Uint32N(share) == 0 && owner != 2 { // part 2 never fires
			all[owner] = append(all[owner], n)
			want = append(want, n)
		}
	}
	return all, want
}

func TestFiredNeuronsAreMerged(t *testing.T) {
	for _, parts := range []int{1, 2, 3, 4, 5, 8, 13} {
		b := &backend{}
		for _, neurons := range []uint32{70_001, 1, 1000} { // buffers shrink and grow
			all, want := fired(parts, neurons, 3)
			require.True(t, slices.Equal(want, b.mergeFired(slices.Clone(all), nil)), "%d parts, %d neurons", parts, neurons)
			require.Equal(t, append([]uint32{9}, want...), b.mergeFired(slices.Clone(all), []uint32{9}), "what is there stays")
		}
	}
}

// BenchmarkMerge is burst-1m's fire queue.
func BenchmarkMerge(b *testing.B) {
	for _, parts := range []int{2, 4, 16} {
		lead, out, lists := &backend{}, []uint32(nil), make([][]uint32, parts)
		all, want := fired(parts, 1_000_000, 100)
		b.Run(fmt.Sprint(parts, " parts"), func(b *testing.B) {
			for b.Loop() {
				copy(lists, all)
				out = lead.mergeFired(lists, out[:0])
			}
			b.ReportMetric(float64(len(want)), "spikes")
		})
	}
}
