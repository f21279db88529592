package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

// runaway is a network in which one Izhikevich neuron leaves the numbers: −2,000,000 makes v² overflow within two bursts.
const runaway = `burst: v1
name: runaway
areas:
  - {name: calm, neurons: 3, threshold: 0.5, drive: {poisson: {rate: 90 Hz, weight: 1}}}
  - {name: wild, neurons: 21, model: izhikevich, params: {a: 0.02, b: 0.2, c: -65 mV, d: 8, threshold: 30 mV}}
projections:
  - {from: calm, to: wild, rule: all_to_all, weight: 7, delay: 3}
stimuli:
  - {area: wild, at: %d, neurons: [13], amount: -2000000}
`

// wild builds runaway with the stimulus at a burst.
func wild(t *testing.T, at uint64) *connectome.Connectome {
	t.Helper()
	g, err := genome.Parse("runaway.yaml", fmt.Appendf(nil, runaway, at), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	return c
}

// firstBad is the burst after which the reference, looked at after each, has a number that is not finite.
func firstBad(t *testing.T, c *connectome.Connectome) uint64 {
	t.Helper()
	b, err := backend.Open("reference", c, backend.Options{})
	require.NoError(t, err)
	defer b.Close()
	feed, s := engine.NewFeed(c, nil), engine.State{}
	for n := uint64(0); ; n++ {
		in, err := feed.Next(n)
		require.NoError(t, err)
		require.NoError(t, b.Step(in, &engine.Burst{}))
		require.NoError(t, b.ReadState(&s))
		if s.NotFinite() != nil {
			return n
		}
	}
}

// blind is a backend whose state must be read to be looked at, as a device's.
type blind struct{ engine.Backend }

// TestNotFiniteStopsTheRun: NaN and infinity end the run on every kind of backend with neuron, area and the very burst,
// whether the state was kept before it never, long ago or not long ago, and after a restart in between.
func TestNotFiniteStopsTheRun(t *testing.T) {
	for _, at := range []uint64{0, 100, 127, 128, 8190, 8191, 8192, 20_011} {
		c := wild(t, at)
		want := firstBad(t, c)
		require.Less(t, want-at, uint64(9))
		for _, name := range []string{"reference", "cpu", "blind"} {
			opened := name
			if name == "blind" {
				opened = "cpu"
			}
			b, err := backend.Open(opened, c, backend.Options{})
			require.NoError(t, err)
			if name == "blind" {
				b = blind{b}
			}
			e := engine.New(c, b, engine.Options{})
			if at == 20_011 {
				var s engine.State
				require.NoError(t, e.Run(context.Background(), 9_999))
				require.NoError(t, e.State(&s))
				require.NoError(t, e.Restore(&s))
			}
			err = errors.Join(e.Run(context.Background(), 30_000), e.Check())
			var n *engine.NumberError
			require.ErrorAs(t, err, &n, "%s at %d", name, at)
			require.Equal(t, "wild", n.Area)
			require.EqualValues(t, 13, n.Index)
			require.EqualValues(t, 16, n.Neuron)
			require.Equal(t, want, n.Burst, "%s at %d", name, at)
			require.Equal(t, want, n.After, "%s at %d", name, at)
			require.ErrorContains(t, err, "neuron 13 of area \"wild\" (id 16)")
			require.Contains(t, []string{"potential", "state variable u"}, n.Name)
			require.Equal(t, n.Variable == 1, n.Name == "state variable u")
			require.NotContains(t, err.Error(), "all were finite before")
			require.ErrorAs(t, e.State(&engine.State{}), &n, "no checkpoint can have it")
			require.ErrorAs(t, e.Run(context.Background(), 1), &n, "nor goes the run on")
			require.NoError(t, e.Restore(engine.NewState(c)))
			require.NoError(t, e.Run(context.Background(), at))
			require.NoError(t, b.Close())
		}
	}
}

// TestNotFiniteWithSources names the bursts between two looks: what a caller gave is not there to run them again.
func TestNotFiniteWithSources(t *testing.T) {
	c := wild(t, 100)
	b, err := backend.Open("cpu", c, backend.Options{})
	require.NoError(t, err)
	defer b.Close()
	e := engine.New(c, b, engine.Options{Sources: []engine.Source{list{}}})
	var n *engine.NumberError
	require.ErrorAs(t, e.Run(context.Background(), 1000), &n)
	require.EqualValues(t, 127, n.Burst)
	require.EqualValues(t, 64, n.After)
	require.ErrorContains(t, n, "after burst 127 (all were finite before burst 64)")
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

// BenchmarkCheck is the time of one look at a million neurons, which watchEvery bursts share.
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
