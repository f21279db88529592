package serve_test

import (
	"slices"
	"testing"

	"burst/live/wire"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// TestRaster: a viewer is told each spike of the neurons that it has chosen, in the order in which it chose them; what is too much to
// keep is marked.
func TestRaster(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{LockStep: true, Socket: path})
	d := dial(t, path, wire.Hello{Role: wire.RoleDrive})
	chosen := []uint32{150, 3, 199, 0, 64}
	_, err := d.Bind(wire.Bind{Outputs: []wire.Output{{Place: wire.Place{Area: "crowd", Neurons: chosen}, Kind: "fired"}}})
	require.NoError(t, err)
	c := dial(t, path, wire.Hello{Role: wire.RoleView})
	for want, places := range map[string][]wire.Place{
		"at most 4096": {{Area: "crowd", Neurons: make([]uint32, 4097)}}, "less than 200": {{Area: "crowd", Neurons: []uint32{200}}}, "chosen twice": {{Area: "leg"}, {Area: "leg", Neurons: []uint32{2}}},
		"no area": {{Area: "no"}}, "want neurons": {{Area: "eye", Voxels: voxels()}},
	} {
		_, err := c.Bind(wire.Bind{Raster: places})
		require.ErrorContains(t, err, want)
	}
	_, err = d.Bind(wire.Bind{Raster: []wire.Place{{Area: "leg"}}})
	require.ErrorContains(t, err, "not for a client to drive")
	bound, err := c.Bind(wire.Bind{Raster: []wire.Place{{Area: "crowd", Neurons: chosen}, {Area: "leg"}}})
	require.NoError(t, err)
	require.Equal(t, 10, bound.Raster)
	got := map[uint64][]uint32{}
	bursts, lost := uint64(0), uint64(0)
	c.Raster = func(r *wire.Raster) {
		require.Equal(t, bursts, r.First)
		bursts += uint64(r.Bursts + r.Lost)
		lost += uint64(r.Lost)
		for _, x := range r.Spikes {
			require.Less(t, uint32(x.After), r.Bursts)
			got[r.First+uint64(x.After)] = append(got[r.First+uint64(x.After)], uint32(x.Entry))
		}
	}
	spikes := 0
	want := map[uint64][]uint32{}
	for i := range uint64(60) {
		x, err := d.Step(1)
		require.NoError(t, err)
		if list := slices.Clone(x.Outputs[0].Counts); len(list) > 0 {
			want[i] = list
			spikes += len(list)
		}
	}
	var v wire.View
	for v.Next < 60 {
		require.NoError(t, c.See(&v))
	}
	require.EqualValues(t, 60, bursts)
	require.Zero(t, lost)
	for burst := range uint64(60) {
		list := slices.DeleteFunc(got[burst], func(entry uint32) bool { return entry >= 5 }) // those of leg
		slices.Sort(list)
		require.Equal(t, want[burst], append([]uint32(nil), list...), "burst %d", burst)
	}
	require.Positive(t, spikes)

	_, err = d.Step(66_000) // more bursts than a frame can name
	require.NoError(t, err)
	for v.Next < 66_060 {
		require.NoError(t, c.See(&v))
	}
	require.EqualValues(t, 66_060, bursts)
	require.Positive(t, lost)
	_, err = c.Bind(wire.Bind{})
	require.NoError(t, err)
	_, err = d.Step(5)
	require.NoError(t, err)
	require.NoError(t, c.See(&v))
	require.EqualValues(t, 66_060, bursts, "none is wanted")
	require.NoError(t, s.stop())
}
