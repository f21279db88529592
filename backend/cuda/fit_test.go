package cuda

import (
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

// TestClustersAreCountedOnTheirKernel runs networks on devices of which fewer multiprocessors have room for the kernel of clusters than for
// others: alone a device takes fewer clusters, or none where there is no room for a pair; in a group, whose blocks all have neurons of the
// same spans, it goes without.
func TestClustersAreCountedOnTheirKernel(t *testing.T) {
	slow.Short(t)
	c := enginetest.Uniform(rand.New(rand.NewPCG(11, 0x73697a65))).Build()
	require.Greater(t, c.Neurons, uint32(500), "blocks enough on each device")
	name := "room for cluster_bursts" + modelSuffix(c)
	for room, most := range map[int64]uint64{8: 8, 4: 4, 1: 0} {
		for _, list := range [][]int{{0}, {1, 0}} {
			h := devices(t, 2)
			h.Control("multiprocessors", 8)
			h.Control(name, room)
			opened, spikes := againstReference(t, c, list, clustered(2), 2)
			require.Positive(t, spikes)
			var shape *clusterShape
			if g, ok := opened.(*group); ok {
				shape = &g.parts[0].rows.shape
			} else {
				shape = &opened.(*backend).rows.shape
			}
			blocks := shape.count * shape.size
			require.LessOrEqual(t, blocks, most, "devices %v", list)
			require.Equal(t, most == 8 || most == 4 && len(list) == 1, blocks > 0, "room for %d, devices %v", room, list)
			require.True(t, most < 8 || blocks > 4, "%d blocks, devices %v", blocks, list)
			require.Zero(t, h.Count("held"))
		}
	}
}

// TestGridsThatDoNotFit opens networks whose kernel the device does not run with all blocks at once: they go without launches of many bursts.
func TestGridsThatDoNotFit(t *testing.T) {
	c := crowds(1, 1, 1)
	h := cudatest.Host(t)
	tune := paths()["resident"]
	for room, many := range map[int64]bool{2: true, 1: false} {
		h.Control("room for resident_bursts"+modelSuffix(c), room)
		steps(t, c, tune, many)
	}
	require.Zero(t, h.Count("held"))
}

// steps runs a network by single bursts, and by many at a time where that is to be.
func steps(t *testing.T, c *connectome.Connectome, tune tuning, many bool) {
	t.Helper()
	b, err := openCut(c, []int{0}, engine.Want{}, tune)
	require.NoError(t, err)
	require.Equal(t, many, b.(engine.Batcher).CanStepN())
	ref, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	var got, want engine.Burst
	for range 5 {
		require.NoError(t, b.Step(nil, &got))
		require.NoError(t, ref.Step(nil, &want))
		require.Equal(t, append([]uint32{}, want.Fired...), append([]uint32{}, got.Fired...))
	}
	sameState(t, ref, b)
	require.NoError(t, b.Close())
}

// TestWithoutCooperativeLaunches opens networks on a device whose blocks may not wait for each other: each burst is launched by itself,
// without clusters, and the list of devices says why.
func TestWithoutCooperativeLaunches(t *testing.T) {
	h := devices(t, 2)
	list, err := Devices()
	require.NoError(t, err)
	require.Empty(t, list[0].SingleSteps)
	h.Control("cooperative", 0)
	list, err = Devices()
	require.NoError(t, err)
	require.True(t, list[0].Usable)
	require.Contains(t, list[0].SingleSteps, "no cooperative launches")
	c := enginetest.Uniform(rand.New(rand.NewPCG(2, 0x636c7573))).Build()
	for _, tune := range []tuning{defaults, clustered(2), paths()["teams"]} {
		steps(t, c, tune, false)
		b, err := openCut(c, []int{1, 0}, engine.Want{}, tune)
		require.NoError(t, err)
		require.False(t, b.(engine.Batcher).CanStepN())
		require.Zero(t, b.(*group).parts[0].rows.shape.count)
		require.NoError(t, b.Step(everyone(c.Ports), &engine.Burst{}))
		require.NoError(t, b.Close())
	}
}

// TestMeetingsDoNotOverflow: blocks that leave rows in every burst of a launch are counted in 16 bits, on devices of any size.
func TestMeetingsDoNotOverflow(t *testing.T) {
	c := uneven(100_000, 7, 100, 1)
	for _, sms := range []int{2, 132, 255, 256, 257, 600, 3125, 10_000} {
		b := onUsual(c, engine.Want{})
		b.sms = sms
		s := b.ringShape()
		require.Positive(t, s.most)
		require.Less(t, s.most*s.blocks, uint64(1<<16), "%d blocks, %d bursts", s.blocks, s.most)
		if sms < 256 {
			require.Equal(t, defaults.batch, s.most)
		}
	}
}
