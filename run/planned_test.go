package run

import (
	"io"
	"testing"
	"testing/fstest"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

// TestPlannedOnce: on a machine without a GPU a network is planned once, whatever backends and builders are asked for, so that a list of
// spikes is opened as often as the cpu backend opens it.
func TestPlannedOnce(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	opens := func(o Options) int {
		n := 0
		g, err := genome.Parse("trains.yaml", []byte("burst: v1\nname: trains\nareas: [{name: a, neurons: 3, model: spike_list, file: s.csv}]\n"),
			func(string) (io.ReadCloser, error) {
				n++
				return fstest.MapFS{"s.csv": {Data: []byte("neuron,burst\n0,1\n2,3\n")}}.Open("s.csv")
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

// TestWrongRecordIsRefusedBeforeBuilding: a large network takes long to build, so a wrong request does not wait for that.
func TestWrongRecordIsRefusedBeforeBuilding(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	g, err := genome.Parse("pair.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 3}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: 1}]\n"), nil)
	require.NoError(t, err)
	for _, o := range []Options{{Backend: "cpu"}, {Backend: "auto"}, {Backend: "auto", GPUs: GPUs{Build: OnEither}}} {
		for request, want := range map[string]string{
			"spikes=b": `record spikes: no area "b"`, "variables=a.w": `record variables: `, "weights=all": "record weights: no projection of this network learns",
			"spikes=all": "",
		} {
			built := false
			o.Record = []string{request}
			o.Tell = func(e Event) { built = built || e == Event(Began{"building"}) }
			r, err := New(t.Context(), g, o)
			if want == "" {
				require.NoError(t, err)
				require.NoError(t, r.Close())
				require.True(t, built)
				continue
			}
			require.ErrorContains(t, err, want)
			require.ErrorAs(t, err, new(*PlanError))
			require.False(t, built, request)
		}
	}
}
