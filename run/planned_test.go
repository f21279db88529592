package run

import (
	"bytes"
	"io"
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

// opened is a file in memory.
type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

// TestPlannedOnce: on a machine without a GPU a network is planned once, whatever backends and builders are asked for, so that a list of
// spikes is opened as often as the cpu backend opens it.
func TestPlannedOnce(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	opens := func(o Options) int {
		n := 0
		g, err := genome.Parse("trains.yaml", []byte("burst: v1\nname: trains\nareas: [{name: a, neurons: 3, model: spike_list, file: s.csv}]\n"),
			func(string) (io.ReadCloser, error) {
				n++
				return opened{bytes.NewReader([]byte("neuron,burst\n0,1\n2,3\n"))}, nil
			})
		require.NoError(t, err)
		o.Bursts = 5
		r, err := New(t.Context(), g, o)
		require.NoError(t, err)
		require.NoError(t, r.Advance(t.Context(), r.End()))
		require.EqualValues(t, 2, r.engine.Spikes())
		require.NoError(t, r.Close())
		return n
	}
	want := opens(Options{Backend: "cpu"})
	require.Positive(t, want)
	require.Equal(t, want, opens(Options{Backend: "auto"}))
	require.Equal(t, want, opens(Options{Backend: "auto", GPUs: GPUs{Build: OnEither}}))
}
