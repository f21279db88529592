package connectome

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/exact"
)

const ownNet = `burst: v1
timestep: 0.1 ms
models:
  - name: own
    input: mV
    ports: [up, down]
    params: {tau: 17 ms, top: 20 mV, gain: 0.3, refractory: 1.5 ms}
    constants: {em1: expm1(-dt/tau), half: top/2}
    state: {v: "normal(3 mV, 1 mV)", w: gain*v, x: 7 mV}
    update: [v = v + em1*v + up + down, w = w*half + x]
    threshold: v >= top
    reset: [v = 0]
areas:
  - {name: a, neurons: 500, model: own, params: {tau: "uniform(10 ms, 20 ms)"}, init: {x: "uniform(-1 mV, 1 mV)"}, drive: [{constant: -0.7 mV}, {poisson: {rate: 900 Hz, weight: 2 mV}}]}
projections:
  - {from: a, to: a, rule: one_to_one, weight: -2 mV}
`

func own(t *testing.T, text string) (*Connectome, error) {
	g, err := genome.Parse("own.yaml", []byte(text), nil)
	require.NoError(t, err)
	return Build(g, Options{})
}

// TestOwnModel works constants out once in float64, one a neuron where they depend on a parameter that varies, and states
// from what is drawn.
func TestOwnModel(t *testing.T) {
	c, err := own(t, ownNet)
	require.NoError(t, err)
	a := &c.Areas[0]
	require.Equal(t, []string{"top", "em1", "half"}, a.Custom.Program.Params)
	require.Equal(t, uint16(15), a.Custom.Refractory.Const)
	require.Nil(t, a.Constants[0].Each)
	require.Equal(t, float32(10), a.Constants[2].Const)
	each := a.Constants[1].Each
	require.Len(t, each, 500)
	low, high := float32(exact.Expm1(-0.1/10.0)), float32(exact.Expm1(-0.1/20.0))
	for _, x := range each {
		require.True(t, low <= x && x <= high, "%v", x)
	}
	require.NotEqual(t, each[0], each[1])

	alike, err := own(t, strings.Replace(ownNet, `params: {tau: "uniform(10 ms, 20 ms)"}, `, "", 1))
	require.NoError(t, err)
	require.EqualValues(t, 4*500, c.Bytes()-alike.Bytes(), "a constant a neuron")
	drawn, err := own(t, strings.Replace(ownNet, `params: {tau: "uniform(10 ms, 20 ms)"}`, `params: {gain: "uniform(0.1, 0.2)"}`, 1))
	require.NoError(t, err)
	require.EqualValues(t, 4*500, drawn.Bytes()-alike.Bytes(), "what a state begins with, too")

	silent, err := own(t, strings.Replace(ownNet, `params: {tau: "uniform(10 ms, 20 ms)"}`, `params: {refractory: "normal(2 ms, 0.5 ms) > 0 ms < 4 ms"}`, 1))
	require.NoError(t, err)
	require.EqualValues(t, 2*500, silent.Bytes()-alike.Bytes(), "a refractory time a neuron")
	require.NotEqual(t, alike.Hash(), silent.Hash())
	bursts, other := silent.Areas[0].Custom.Refractory.Each, slices.Clone(silent.Areas[0].Custom.Refractory.Each)
	require.Less(t, slices.Max(bursts), uint16(41))
	require.NotEqual(t, bursts[0], bursts[1])
	other[499]++
	before := silent.Hash()
	silent.Areas[0].Custom.Refractory.Each = other
	require.NotEqual(t, before, silent.Hash(), "every neuron's counts")
	_, err = own(t, strings.Replace(ownNet, `params: {tau: "uniform(10 ms, 20 ms)"}`, `params: {refractory: "normal(2 ms, 9 ms)"}`, 1))
	require.ErrorContains(t, err, "refractory is -")
	_, err = own(t, strings.Replace(ownNet, `params: {tau: "uniform(10 ms, 20 ms)"}`, `params: {refractory: "uniform(6553 ms, 6555 ms)"}`, 1))
	require.ErrorContains(t, err, "want at most 65535 bursts")

	v, more := make([]float32, 500), [][]float32{make([]float32, 500), make([]float32, 500)}
	c.InitialState(v, more)
	for n := range v {
		require.Equal(t, float32(float32(0.3)*v[n]), more[0][n], "w of v")
		require.True(t, -1 <= more[1][n] && more[1][n] <= 1, "what init says is drawn")
	}
	require.NotEqual(t, v[0], v[1])

	require.Equal(t, uint32(500), c.Target[0], "a weight < 0 goes to the second port")
	require.Equal(t, Inject, a.Drives[0].Kind)
	require.Equal(t, int32(-700), a.Drives[0].Amount)
	require.Equal(t, uint32(2000*len(a.Drives[1].Counts)), c.Bound[0], "Poisson drive alone")
	require.Equal(t, uint32(700+2000), c.Bound[500], "constant drive and synapse")
}

// TestOwnModelHash tells models apart that differ in an operator, a parameter or what they start from.
func TestOwnModelHash(t *testing.T) {
	seen := map[uint64]string{}
	for _, change := range [][2]string{
		{"", ""}, {"up + down", "up - down"}, {"top: 20 mV", "top: 21 mV"}, {"w: gain*v", "w: gain/v"}, {"refractory: 1.5 ms", "refractory: 1.6 ms"},
		{"x: \"uniform(-1 mV, 1 mV)\"", "x: \"uniform(-1 mV, 2 mV)\""}, {"v >= top", "v > top"}, {"[v = 0]", "[v = -0.0]"},
	} {
		c, err := own(t, strings.Replace(ownNet, change[0], change[1], 1))
		require.NoError(t, err)
		h := c.Hash()
		require.NotContains(t, seen, h, "%v and %v", change, seen[h])
		seen[h] = change[1]
	}
}

// TestOwnModelRefusals: what only the numbers show.
func TestOwnModelRefusals(t *testing.T) {
	for _, c := range []struct{ name, old, new, message string }{
		{"constant beyond float32", "half: top/2", "half: top/(top - 20)", "areas[0].half"},
		{"no number", "half: top/2", "half: log(-top)", "areas[0].half"},
		{"one neuron's constant", "half: top/2", "half: exp(89*tau/top)", "areas[0].half"},
		{"state that starts from infinity", "w: gain*v", "w: gain/(top - 20)", "own.yaml:9:41: areas[0].init.w: w of neuron 0 is computed as +Inf, want a finite number"},
		{"one neuron's start", "w: gain*v", "w: exp(30/v)", "init.w: w of neuron 146 is computed as +Inf"},
		{"sum beyond 32 bits", "weight: -2 mV}", "weight: -2147483 mV}", "2147483647"},
	} {
		_, err := own(t, strings.Replace(ownNet, c.old, c.new, 1))
		require.ErrorContains(t, err, c.message, c.name)
		var faults genome.Faults
		require.ErrorAs(t, err, &faults, "a mistake of the genome")
	}
}
