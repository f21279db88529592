package serve_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"burst/connectome"
	"burst/live"
	"burst/run"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// numbers are those of 4 bytes that a text has.
func numbers(text string) (list []uint32) {
	for at := 0; at < len(text); at += 4 {
		list = append(list, binary.LittleEndian.Uint32([]byte(text[at:])))
	}
	return list
}

// TestNetworkRoutes: neurons, synapses, weights and potentials are those of the built network and of the state.
func TestNetworkRoutes(t *testing.T) {
	s := start(t, serve.Options{Paused: true})
	_, view, control := s.tokens()
	code, text := s.call("POST", "/v1/control", control, `{"do":"step","bursts":300}`)
	require.Equal(t, 200, code, text)
	same, err := live.New(context.Background(), network(t, loop), live.Options{Options: run.Options{Backend: "reference"}})
	require.NoError(t, err)
	defer same.Close()
	require.NoError(t, same.Step(context.Background(), 300))
	state, err := same.State()
	require.NoError(t, err)
	c := same.Facts().Connectome

	synapses := 0
	for _, id := range []string{"0", "23", "30", "223", "228"} {
		var n serve.Neuron
		s.get("/v1/neurons/"+id, &n)
		a := &c.Areas[c.AreaOf(n.ID)]
		require.EqualValues(t, 300, n.Burst)
		require.Equal(t, a.Name, n.Area)
		require.Equal(t, n.ID, a.Neurons.First+n.Index)
		require.Equal(t, state.V[n.ID]+float32(a.V0.Rest), n.State["V"])
		require.Equal(t, state.Refractory[n.ID], n.Refractory)
		var list serve.Synapses
		s.get("/v1/neurons/"+id+"/synapses", &list)
		var want []serve.Synapse
		for k := c.Row[n.ID]; k < c.Row[n.ID+1]; k++ {
			want = append(want, serve.Synapse{Target: c.NeuronOf(c.Target[k]), Weight: float64(c.Weight[k]) / float64(c.Scale), Delay: c.DelayOf(k), Projection: -1})
		}
		if p := &c.Plastic[0]; p.From.Has(n.ID) {
			for k := p.Row[n.ID-p.From.First]; k < p.Row[n.ID-p.From.First+1]; k++ {
				want = append(want, serve.Synapse{Target: c.NeuronOf(p.Target[k]), Weight: float64(state.Plastic[0].Weight[p.Places()[k]]), Delay: p.DelayOf(k), Projection: 1})
			}
		}
		require.ElementsMatch(t, want, list.Rows)
		require.EqualValues(t, len(want), list.Total)
		synapses += len(want)
	}
	require.Positive(t, synapses)
	var first serve.Neuron
	s.get("/v1/neurons/23", &first)
	require.Equal(t, [3]uint32{3, 2, 0}, first.Voxel)

	_, text = s.call("GET", "/v1/potentials?area=crowd", view, "")
	list := numbers(text)
	require.Len(t, list, 200)
	for i, bits := range list {
		require.Equal(t, state.V[24+i], math.Float32frombits(bits))
	}
	_, text = s.call("GET", "/v1/projections/1/weights", view, "")
	checkWeights(t, &c.Plastic[0], c, state.Plastic[0].Weight, numbers(text))
	for path, want := range map[string]int{
		"/v1/neurons/229": 404, "/v1/neurons/-1": 404, "/v1/neurons/x/synapses": 404, "/v1/projections/0/weights": 501, "/v1/projections/2/weights": 404, "/v1/potentials?area=no": 404,
	} {
		code, text := s.call("GET", path, view, "")
		require.Equal(t, want, code, "%s: %s", path, text)
	}
	do := func(what string, want int) string {
		t.Helper()
		code, text := s.call("POST", "/v1/control", control, what)
		require.Equal(t, want, code, text)
		return text
	}
	do(`{"do":"keep","state":"here"}`, 200)
	crowd := func() string {
		_, text := s.call("GET", "/v1/potentials?area=crowd", view, "")
		return text
	}
	here := crowd()
	do(`{"do":"step","bursts":40}`, 200)
	require.NotEqual(t, here, crowd())
	require.Contains(t, do(`{"do":"restore","state":"there"}`, 409), "only [here]")
	do(`{"do":"restore","state":"here"}`, 200)
	require.Equal(t, here, crowd())
	s.get("/v1/neurons/30", &first)
	require.EqualValues(t, 340, first.Burst)
	do(`{"do":"keep"}`, 409)
	for i := range 7 {
		do(fmt.Sprintf(`{"do":"keep","state":"%d"}`, i), 200)
	}
	require.Contains(t, do(`{"do":"keep","state":"more"}`, 409), "8 states are kept")
	do(`{"do":"reset"}`, 200)
	s.get("/v1/neurons/30", &first)
	require.Zero(t, first.State["V"], "of the state that it was reset to")
}

// checkWeights holds an answer to the synapses and weights of a projection.
func checkWeights(t *testing.T, p *connectome.Plastic, c *connectome.Connectome, weights []float32, got []uint32) {
	t.Helper()
	require.Len(t, got, 4*len(weights))
	changed := 0
	for k, place := range p.Places() {
		source, target, delay, w := got[4*k], got[4*k+1], got[4*k+2], math.Float32frombits(got[4*k+3])
		require.True(t, p.From.Has(source))
		require.True(t, p.Row[source-p.From.First] <= uint64(k) && uint64(k) < p.Row[source-p.From.First+1])
		require.Equal(t, c.NeuronOf(p.Target[k]), target)
		require.Equal(t, p.DelayOf(uint64(k)), delay)
		require.Equal(t, weights[place], w)
		if w != p.Initial(uint64(k), c.Scale) {
			changed++
		}
	}
	require.Positive(t, changed, "some have learnt")
}

// TestPresentState: of a run in lock-step those with the control token always see the present state, others perhaps one from before.
func TestPresentState(t *testing.T) {
	s := start(t, serve.Options{LockStep: true})
	_, view, control := s.tokens()
	seen := func(token string) uint64 {
		var n serve.Neuron
		code, text := s.call("GET", "/v1/neurons/30", token, "")
		require.Equal(t, 200, code, text)
		require.NoError(t, json.Unmarshal([]byte(text), &n))
		return n.Burst
	}
	require.Zero(t, seen(view))
	s.KeepState(time.Hour)
	code, text := s.call("POST", "/v1/control", control, `{"do":"step","bursts":3}`)
	require.Equal(t, 200, code, text)
	require.Zero(t, seen(view))
	require.EqualValues(t, 3, seen(control))
}
