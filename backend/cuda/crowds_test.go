package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// crowds is a network of areas in which none, few, some, most and all neurons fire in a burst, times as large as its smallest. There
// are so many delays, from least on.
func crowds(least, delays uint16, times uint32) *connectome.Connectome {
	n := enginetest.Net{RunSeed: 5}
	total := uint32(0)
	for _, area := range []struct{ size, often uint32 }{{400, 0}, {168, 80_000_000}, {205, 900_000_000}, {242, 4_000_000_000}, {279, 1<<32 - 1}} {
		a := enginetest.LIF(area.size * times)
		a.Constant("refractory").Const = 0
		a.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 100_000, 1<<32-1-area.often)}
		n.Areas, total = append(n.Areas, a), total+a.Neurons.Count
	}
	r := rand.New(rand.NewPCG(4, 4))
	for from := range total {
		weight := r.Int32N(200) - 130
		for range 10 {
			n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(total), Weight: weight, Delay: least + uint16(r.UintN(uint(delays)))})
		}
	}
	return n.Build()
}

// TestCrowds brings the host ids of blocks in which few neurons fire and bits of those in which many do, from every kernel, and from
// several devices.
func TestCrowds(t *testing.T) {
	slow.Short(t)
	h := cudatest.Anywhere(t)
	if h != nil {
		h.Control("devices", 3)
		h.Control("multiprocessors", 6)
	}
	several := map[string]bool{"resident": true, "teams": true, "clusters": true} // devices each run another kernel
	tunes := paths()
	tunes["sums"] = summing()
	for name, tune := range tunes {
		lists := [][]int{{0}}
		if h != nil && several[name] {
			lists = append(lists, []int{1, 0}, []int{0, 2, 1})
		}
		least, delays := uint16(1), uint16(1)
		switch {
		case tune.delayedRow == 1:
			delays = 5
		case name == "sums":
			least = 5
		}
		c := crowds(least, delays, 1)
		for _, list := range lists {
			t.Run(fmt.Sprintf("%s %v", name, list), func(t *testing.T) { crowded(t, c, list, tune) })
		}
	}
}

// TestLargeCrowds is the same with blocks of fifteen hundred neurons, many of whose warps have bits to write and to bring, on all
// GPUs there are.
func TestLargeCrowds(t *testing.T) {
	cudatest.Device(t)
	list, err := Devices()
	require.NoError(t, err)
	run := func(c *connectome.Connectome, devices int, names ...string) {
		all := make([]int, devices)
		for i := range all {
			all[i] = i
		}
		for _, name := range names {
			tunes := paths()
			tunes["sums"] = summing()
			tune, known := tunes[name]
			require.True(t, known, name)
			tune.batchThreads = defaults.batchThreads
			t.Run(fmt.Sprintf("%s %v", name, all), func(t *testing.T) { crowded(t, c, all, tune) })
		}
	}
	run(crowds(1, 5, 200), 1, "delayed")
	run(crowds(5, 1, 200), 1, "sums")
	for k := 1; k <= len(list); k *= 2 {
		run(crowds(1, 1, 200*uint32(k)), k, "resident", "roaming", "teams", "clusters", "clusters of one")
	}
}

func crowded(t *testing.T, c *connectome.Connectome, list []int, tune tuning) {
	b, err := openCut(c, list, engine.Want{}, tune)
	require.NoError(t, err)
	ref, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	parts := []*backend{}
	if g, ok := b.(*group); ok {
		parts = g.parts
	} else {
		parts = append(parts, b.(*backend))
	}
	var want engine.Burst
	none, few, many := 0, 0, 0
	require.NoError(t, b.(engine.Batcher).StepN(12, func(got *engine.Burst) error {
		require.NoError(t, ref.Step(nil, &want))
		require.Equal(t, append([]uint32{}, want.Fired...), append([]uint32{}, got.Fired...), "burst %d", want.Number)
		for _, p := range parts {
			x := &p.batch
			at, blocks := want.Number%(2*x.shape.most), uint64(x.blocks)
			for _, count := range x.fired[at*blocks : (at+1)*blocks] {
				switch {
				case count == 0:
					none++
				case uint64(count) <= x.shape.room:
					few++
				default:
					many++
				}
			}
		}
		return nil
	}))
	sameState(t, ref, b)
	require.Positive(t, none)
	require.Positive(t, few)
	require.Positive(t, many)
	require.NoError(t, b.Close())
}
