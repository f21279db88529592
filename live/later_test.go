package live_test

import (
	"path/filepath"
	"testing"

	"burst/live"
	"burst/live/internal/inputlog"
	"burst/record/manifest"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestSetFrom: a value waits for its burst; of several that are due the one of the latest burst counts, the newest of these; and a
// value for a burst that has begun counts at once. While Run is at work it is the same.
func TestSetFrom(t *testing.T) {
	for _, free := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "run")
		s := session(t, run.Options{Folder: dir, Bursts: 20})
		f := s.Feeder("x")
		in := bound(t, f, live.Binding{Place: live.Place{Area: "leg", Neurons: []uint32{1}}, Largest: 100})
		set := func(from uint64, x float32) {
			require.NoError(t, f.SetFrom(from, live.Value{To: in, Amounts: []float32{x}}))
		}
		set(7, 3)
		set(5, 1)
		set(7, 4) // newer than 3
		set(9, 5)
		set(0, 9)
		set(12, 0)
		if free {
			require.NoError(t, s.Run(t.Context()))
		} else {
			for range 10 {
				require.NoError(t, s.Step(t.Context(), 1))
			}
			set(3, 6) // has begun: now, at 10
			for range 10 {
				require.NoError(t, s.Step(t.Context(), 1))
			}
		}
		require.NoError(t, s.Close())
		scale := s.Facts().Connectome.Scale
		type row struct{ burst, bursts, units uint64 }
		var got []row
		for _, e := range entries(t, dir) {
			require.Equal(t, inputlog.Inputs, e.Kind)
			require.Len(t, e.Stimuli, 1)
			got = append(got, row{e.Burst, e.Value, uint64(e.Stimuli[0].Amount / scale)})
		}
		want := []row{{0, 5, 9}, {5, 2, 1}, {7, 2, 4}, {9, 3, 5}}
		if !free {
			want = append(want[:3], row{9, 1, 5}, row{10, 2, 6})
		}
		require.Equal(t, want, got)
		require.Equal(t, ended(t, dir, manifest.Complete).Digest, replayed(t, dir, "reference", 1))
	}
	s := session(t, run.Options{})
	f := s.Feeder("x")
	in := bound(t, f, live.Binding{Place: live.Place{Area: "leg"}, Largest: 1})
	for range 256 {
		require.NoError(t, f.SetFrom(99, live.Value{To: in, Amounts: make([]float32, 5)}))
	}
	require.ErrorContains(t, f.SetFrom(99, live.Value{To: in, Amounts: make([]float32, 5)}), "256 values wait")
	require.NoError(t, f.Set(live.Value{To: in, Amounts: make([]float32, 5)}))
}
