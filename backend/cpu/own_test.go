package cpu

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"

	"github.com/stretchr/testify/require"
)

// TestWorkersShareNoPage: what a worker writes in every burst lies in pages of its own, whatever its size.
func TestWorkersShareNoPage(t *testing.T) {
	const pageBytes = 4096
	for _, neurons := range []uint32{7, 1000, 90_000} {
		b := open(enginetest.Net{Areas: []connectome.Area{enginetest.LIF(neurons), enginetest.PSCExp(neurons)}}.Build(), engine.Want{}, 5, vector.Best())
		owner := map[uintptr]int{}
		for i, w := range b.workers {
			first := reflect.ValueOf(w.memory).Pointer()
			require.Zero(t, first%pageBytes)
			for page := first / pageBytes; page <= (first+uintptr(len(w.memory))-1)/pageBytes; page++ {
				require.NotContains(t, owner, page)
				owner[page] = i
			}
			within := func(pointer any) {
				require.Equal(t, i, owner[reflect.ValueOf(pointer).Pointer()/pageBytes])
			}
			within(w.dice)
			within(w.draw)
			for _, g := range w.groups {
				if g.lo < g.hi {
					within(&g.v[len(g.v)-1])
					within(&g.more[1][0])
					within(&g.r[0])
					within(&g.spikes[0])
					within(&g.live[len(g.live)-1])
				}
			}
		}
		require.NoError(t, b.Close())
	}
}

// TestCutsAreEven: areas of all sizes are dealt to workers so that each has as many neurons as the others.
func TestCutsAreEven(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for range 50 {
		var n enginetest.Net
		all := uint32(0)
		for range 1 + r.IntN(12) {
			count := 1 + r.Uint32N(1+r.Uint32N(40_000))
			all += count
			n.Areas = append(n.Areas, enginetest.LIF(count))
		}
		workers := 1 + r.IntN(20)
		b := &backend{c: n.Build()}
		has, next := make([]uint32, workers), uint32(0)
		for _, cuts := range b.cuts(workers) {
			require.Len(t, cuts, workers+1)
			for i := range has {
				require.Equal(t, next, cuts[i])
				require.LessOrEqual(t, cuts[i], cuts[i+1])
				has[i] += cuts[i+1] - cuts[i]
				next = cuts[i+1]
			}
		}
		require.Equal(t, all, next)
		for i, x := range has {
			require.InDelta(t, float64(all)/float64(workers), float64(x), cutAlign+1, "worker %d of %d", i, workers)
		}
	}
}
