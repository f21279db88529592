package connectome

import (
	"fmt"
	"math"
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

const openText = `burst: v1
%s
areas:
  - {name: a, neurons: 6}
  - {name: part, neurons: 4, divide_psp: true, psp: -2}
  - {name: b, neurons: 3, rectify: true}
  - {name: c, neurons: 3}
stimuli: [{area: c, neurons: [0], amount: 5, at: 0}]
projections:
  - {from: a, to: c, rule: all_to_all, weight: 3%s}
  - {from: a, to: b, rule: all_to_all, weight: 1.5%s}
  - {from: part, to: c, rule: all_to_all, weight: 6%s}
  - {from: a, to: c, rule: all_to_all, weight: %d}
`

// open is the network with rules that learn without a ceiling, or without any.
func open(t *testing.T, head string, learns bool, others int) (*genome.Genome, *Connectome, error) {
	t.Helper()
	up, down := "", ""
	if learns {
		up, down = ", plasticity: {rule: feagi, bounds: [0, 3e38], overflow: fail}", ", plasticity: {rule: feagi, bounds: [-3e38, 0], overflow: fail}"
	}
	text := fmt.Sprintf(openText, head, up, up, down, others)
	g, err := genome.Parse("open.yaml", []byte(text), nil)
	require.NoError(t, err)
	c, err := Build(g, Options{})
	return g, c, err
}

// TestRoom: the scale is that of weights that stay, and what they leave of 2^30 quanta goes in equal shares to weights without a ceiling.
func TestRoom(t *testing.T) {
	_, still, err := open(t, "scale: auto", false, 2)
	require.NoError(t, err)
	g, c, err := open(t, "scale: auto", true, 2)
	require.NoError(t, err)
	require.Equal(t, still.Scale, c.Scale)
	require.Len(t, c.Plastic, 3)
	scale := float64(c.Scale)
	others := uint64(math.Round((6*2 + 5) * scale))              // onto the first neuron of c
	first := uint64(6*3*scale) + 4*uint64(math.Ceil(12*scale/3)) // what weights that may fail start with
	share := (1<<30 - others - first) / (6 + 4)
	a, b, part := &c.Plastic[0], &c.Plastic[1], &c.Plastic[2]
	require.InEpsilon(t, 3+float64(share)/scale, a.Hi, 2e-7)
	require.InEpsilon(t, -12-float64(3*share)/scale, part.Lo, 2e-7, "three synapses of a source share")
	require.Equal(t, []int32{3, 3, 3, 3}, part.Divide)
	lift := uint64(c.Areas[2].lifts())
	require.NotZero(t, lift)
	require.InDelta(t, float64(1<<30/6/lift)/scale, b.Hi, 1e-3)
	for _, p := range c.Plastic {
		require.True(t, p.Fails())
		require.True(t, (p.Below != p.Below) != (p.Above != p.Above), "one bound is cut, the other one is 0")
	}
	for port, bound := range c.Bound {
		require.LessOrEqual(t, bound, uint32(1<<30), "port %d", port)
	}
	require.Greater(t, c.Bound[c.Areas[3].Ports.First], uint32(1<<30-100-others), "all but the stimulus is taken")
	s, err := Measure(g, Options{})
	require.NoError(t, err)
	require.Equal(t, []Room{{0, 0, a.Hi, true}, {1, 0, b.Hi, true}, {2, part.Lo, 0, true}}, s.Rooms)

	_, c, err = open(t, "scale: 1000", true, 2)
	require.NoError(t, err)
	require.Greater(t, c.Plastic[0].Hi, float32(1e5))
	_, c, err = open(t, "scale: 8000000", true, 9)
	require.NoError(t, err, "what a network starts with always has room")
	require.Less(t, c.Plastic[0].Hi, float32(8))
	_, _, err = open(t, "scale: 16777216", true, 9)
	require.ErrorContains(t, err, "the largest scale that fits is")
}

// TestRoomOfParts: every part of a network has the bounds of the whole.
func TestRoomOfParts(t *testing.T) {
	g, c, err := open(t, "scale: auto", true, 2)
	require.NoError(t, err)
	for i := range 3 {
		part, err := Build(g, Options{Part: Part{Index: i, Of: 3}})
		require.NoError(t, err)
		for k := range c.Plastic {
			require.Equal(t, []float32{c.Plastic[k].Lo, c.Plastic[k].Hi}, []float32{part.Plastic[k].Lo, part.Plastic[k].Hi})
			require.Equal(t, c.Plastic[k].Divide, part.Plastic[k].Divide)
		}
	}
}

// TestRoomHalvesTheScale: where all that a network starts with stays whole quanta, a smaller scale leaves more room.
func TestRoomHalvesTheScale(t *testing.T) {
	const text = `burst: v1
scale: auto
areas:
  - {name: a, neurons: 1, model: poisson, params: {rate: 9 Hz}}
  - {name: b, neurons: 1%s}
stimuli: [{area: b, neurons: [0], amount: %s, at: 0}]
projections:
  - {from: a, to: b, rule: all_to_all, weight: %s}
  - {from: a, to: b, rule: all_to_all, weight: %s, plasticity: {rule: feagi, bounds: [0, 3e38], overflow: %s}}
`
	for _, c := range []struct {
		more, amount, other, weight, overflow string
		scale                                 int32
	}{
		{"", "5", "3", "1.5", "fail", 1 << 10},
		{"", "5", "3", "1.5", "refuse", 0},
		{"", "5", "3", "0.000244140625", "fail", 1 << 12},
		{"", "5", "0.1", "1", "fail", 1 << 20},
		{"", "0.1", "1", "1", "fail", 1 << 20},
		{"", "5", `"uniform(1, 2)"`, "1", "fail", 1 << 20},
		{", drive: {constant: 0.1}", "5", "1", "1", "fail", 1 << 20},
		{", drive: {poisson: {rate: 5 Hz, weight: 0.1}}", "5", "1", "1", "fail", 1 << 20},
		{", drive: {constant: 1}", "5", "1", "1", "fail", 1 << 10},
	} {
		g, err := genome.Parse("halves.yaml", fmt.Appendf(nil, text, c.more, c.amount, c.other, c.weight, c.overflow), nil)
		require.NoError(t, err)
		made, err := Build(g, Options{})
		if c.scale == 0 {
			require.ErrorContains(t, err, "quanta")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.scale, made.Scale, "%+v", c)
	}
}
