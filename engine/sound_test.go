package engine_test

import (
	"context"
	"math"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

// runaway is a network in which one Izhikevich neuron leaves the numbers: -2,000,000 makes v² overflow within two bursts.
const runaway = `burst: v1
name: runaway
areas:
  - {name: calm, neurons: 3, threshold: 0.5}
  - {name: wild, neurons: 21, model: izhikevich, params: {a: 0.02, b: 0.2, c: -65 mV, d: 8, threshold: 30 mV}}
stimuli:
  - {area: wild, at: 100, neurons: [13], amount: -2000000}
`

// TestNotFiniteStopsTheRun: NaN and infinity end the run on every backend with neuron, area and burst.
func TestNotFiniteStopsTheRun(t *testing.T) {
	g, err := genome.Parse("runaway.yaml", []byte(runaway), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	for _, name := range []string{"reference", "cpu"} {
		b, err := backend.Open(name, c, backend.Options{})
		require.NoError(t, err)
		e := engine.New(c, b, engine.Options{})
		err = e.Run(context.Background(), 1000)
		var n *engine.NumberError
		require.ErrorAs(t, err, &n, name)
		require.Equal(t, "wild", n.Area)
		require.EqualValues(t, 13, n.Index)
		require.EqualValues(t, 16, n.Neuron)
		require.EqualValues(t, 127, n.Burst)
		require.EqualValues(t, 64, n.After)
		require.ErrorContains(t, err, "neuron 13 of area \"wild\" (id 16)")
		require.ErrorAs(t, e.State(&engine.State{}), &n, "no checkpoint can have it")
		require.NoError(t, b.Close())
	}
}

// TestEveryNumberIsLookedAt plants each kind at every place, among values whose products with 0 are sound.
func TestEveryNumberIsLookedAt(t *testing.T) {
	for n := 1; n < 40; n++ {
		for at := range n {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				v, more := make([]float32, n), [][]float32{make([]float32, n), make([]float32, n)}
				for i := range v {
					v[i], more[0][i], more[1][i] = math.MaxFloat32, -math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1))
				}
				require.Nil(t, engine.FindNotFinite(v, more))
				more[1][at] = float32(bad)
				require.Equal(t, 2, engine.FindNotFinite(v, more).Variable)
				v[at] = float32(bad)
				x := engine.FindNotFinite(v, more)
				require.EqualValues(t, at, x.Neuron)
				require.Zero(t, x.Variable)
			}
		}
	}
}

// BenchmarkCheck is the time of one look at a million neurons, which WatchEvery bursts share.
func BenchmarkCheck(b *testing.B) {
	v := make([]float32, 1_000_000)
	for b.Loop() {
		engine.FindNotFinite(v, nil)
	}
}

// TestNotFiniteNamesTheVariable: of a model that the genome defines, the variable is named.
func TestNotFiniteNamesTheVariable(t *testing.T) {
	const text = `burst: v1
models:
  - {name: square, state: {v: 0, growth: 1.7}, update: [growth = growth*growth], threshold: v > 1}
areas: [{name: wild, neurons: 3, model: square}]
`
	g, err := genome.Parse("square.yaml", []byte(text), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	b, err := backend.Open("cpu", c, backend.Options{})
	require.NoError(t, err)
	defer b.Close()
	require.ErrorContains(t, engine.New(c, b, engine.Options{}).Run(context.Background(), 100), `state variable growth of neuron 0 of area "wild"`)
}
