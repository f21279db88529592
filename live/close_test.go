package live_test

import (
	"context"
	"testing"

	"burst/live"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestInputsAndOutputsClose: an input that is closed counts no more and leaves its room to others, those of its feeder stay; an output
// that is closed is told nothing.
func TestInputsAndOutputsClose(t *testing.T) {
	s := session(t, run.Options{})
	f := s.Feeder("camera")
	half := []uint32{0, 1, 2}
	a := bound(t, f, live.Binding{Name: "a", Place: live.Place{Area: "eye", Neurons: half}, Largest: 2})
	b := bound(t, f, live.Binding{Name: "b", Place: live.Place{Area: "eye", Neurons: []uint32{5}}, Largest: 2})
	fired, closed := output(t, s, "eye", live.Counts), output(t, s, "eye", live.Counts)
	require.Equal(t, 24, fired.Entries())
	require.NoError(t, f.Set(live.Value{To: a, Amounts: []float32{1, 1, 1}}, live.Value{To: b, Amounts: []float32{1}}))
	require.NoError(t, s.Step(context.Background(), 5))
	var x live.Reading
	fired.Read(&x)
	require.Positive(t, x.Counts[0])
	a.Close()
	closed.Close()
	closed.Read(&live.Reading{})
	require.Error(t, f.Set(live.Value{To: a, Amounts: []float32{1, 1, 1}}))
	require.NoError(t, s.Step(context.Background(), 5))
	require.Equal(t, digest(t, s), s.Digest())
	fired.Read(&x)
	require.Zero(t, x.Counts[0])
	require.Positive(t, x.Counts[5])
	closed.Read(&x)
	require.Zero(t, x.Bursts)
}
