package connectome

import (
	"fmt"
	"strings"
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

// plasticText has plastic projections with drawn and constant delays beside others.
const plasticText = `burst: v1
seed: 5
plasticity:
  - {name: grow, params: {up: 0.1}, synapse: {c: 0}, source: {r: 1}, bounds: [0, 2], on_source: [r = 1], on_pre: ["c = r", "w = w + up*c"]}
  - {name: halve, bounds: [0, 2], on_pre: [w = w/2]}
areas:
  - {name: a, neurons: 700, threshold: 1}
  - {name: b, neurons: 300, model: izhikevich, params: {a: 0.02, b: 0.2, c: -65 mV, d: 8, threshold: 30 mV}}
projections:
  - {from: a, to: b, rule: fixed_indegree, indegree: 40, weight: 0.5, delay: %s}
  - {from: a, to: b, rule: fixed_indegree, indegree: 50, weight: "uniform(0, 1)", delay: 3, plasticity: grow}
  - {from: a, to: a, rule: fixed_outdegree, outdegree: 30, weight: 0.25, delay: "uniform(1, 9)", plasticity: halve}
`

// dividedText has a plastic projection whose weights are divided.
const dividedText = `burst: v1
areas: [{name: a, neurons: 5000, divide_psp: true}, {name: b, neurons: 10}]
projections: [{from: a, to: b, rule: fixed_outdegree, outdegree: 2, weight: 1, plasticity: {rule: feagi, bounds: [0, 9]}}]
`

// TestPlasticSizes: the memory of rows and of the state is known before anything is built.
func TestPlasticSizes(t *testing.T) {
	for _, delay := range []string{"1", "2"} {
		g, err := genome.Parse("mixed.yaml", fmt.Appendf(nil, plasticText, delay), nil)
		require.NoError(t, err)
		c, err := Build(g, Options{})
		require.NoError(t, err)
		s, err := Measure(g, Options{})
		require.NoError(t, err)
		require.Equal(t, c.Total(), s.Synapses)
		require.EqualValues(t, 300*50+700*30, s.Plastic)
		require.InEpsilon(t, c.Bytes(), s.Bytes, 0.002)
		require.GreaterOrEqual(t, s.Peak, s.Bytes)
		require.EqualValues(t, 15_000*4*2+700*(8+4)+300*8+21_000*4+700*8+700*8, s.Learnt)
		require.Equal(t, []LearningSizes{{1, 300 * 50, c.Plastic[0].LearntBytes()}, {2, 700 * 30, c.Plastic[1].LearntBytes()}}, s.Learning)
		require.Equal(t, s.Learnt, c.Plastic[0].LearntBytes()+c.Plastic[1].LearntBytes())
	}
}

// TestPartsRefusePlasticity before anything is planned.
func TestPartsRefusePlasticity(t *testing.T) {
	g, err := genome.Parse("mixed.yaml", fmt.Appendf(nil, plasticText, "1"), nil)
	require.NoError(t, err)
	_, err = NewParts(g, 2, Options{})
	require.ErrorContains(t, err, "mixed.yaml:11:")
	require.ErrorContains(t, err, "projections[1].plasticity: a network with plastic weights cannot be built in parts")
}

// TestSynapseAt finds every synapse by its place, in the whole network and in the part that has it.
func TestSynapseAt(t *testing.T) {
	g, err := genome.Parse("mixed.yaml", fmt.Appendf(nil, plasticText, "1"), nil)
	require.NoError(t, err)
	c, err := Build(g, Options{})
	require.NoError(t, err)
	parts := []*Connectome{c.Cut(Part{0, 2}), c.Cut(Part{1, 2})}
	for i := range c.Plastic {
		places := c.Plastic[i].Places()
		for s := range c.Plastic[i].From.Count {
			for k := c.Plastic[i].Row[s]; k < c.Plastic[i].Row[s+1]; k += 211 {
				port, found, source, here := c.Plastic[i].SynapseAt(places[k])
				require.True(t, here)
				require.Equal(t, [3]uint64{uint64(c.Plastic[i].Target[k]), k, uint64(c.Plastic[i].From.First + s)}, [3]uint64{uint64(port), found, uint64(source)})
				for _, part := range parts {
					p := &part.Plastic[i]
					port, found, source, here := p.SynapseAt(places[k])
					require.Equal(t, c.Plastic[i].Target[k], port)
					require.Equal(t, part.Part.Owns(c.NeuronOf(port)), here)
					if here {
						require.Equal(t, [3]uint64{uint64(port), uint64(c.Plastic[i].From.First + s)}, [3]uint64{uint64(p.Target[found]), uint64(source)})
					}
				}
			}
		}
	}
}

// TestPlasticSide: a synapse that learns stands at the port of its bounds' sign, whatever weight it starts from.
func TestPlasticSide(t *testing.T) {
	for _, rule := range []string{"one_to_one", "all_to_all", "pairwise_bernoulli, p: 0.5", "fixed_indegree, indegree: 3", "fixed_outdegree, outdegree: 3", "fixed_total_number, count: 20"} {
		for weight, side := range map[string]uint32{"0 pA": 1, "-5 pA": 1, `"uniform(-5 pA, 0 pA)"`: 1, "-0 pA": 1} {
			for bounds, side := range map[string]uint32{"[-9 pA, 0 pA]": side, "[0 pA, 9 pA]": 0} {
				if side == 0 && strings.Contains(weight, "5") {
					continue
				}
				g, err := genome.Parse("sides.yaml", fmt.Appendf(nil, "burst: v1\nareas:\n  - {name: a, neurons: 10, model: lif_psc_exp}\nprojections:\n"+
					"  - {from: a, to: a, rule: %s, weight: %s, plasticity: {rule: stdp, bounds: %s}}\n", rule, weight, bounds), nil)
				require.NoError(t, err)
				c, err := Build(g, Options{})
				require.NoError(t, err)
				require.NotEmpty(t, c.Plastic[0].Target)
				for _, port := range c.Plastic[0].Target {
					require.Equal(t, side, port/10, "%s, weight %s, bounds %s: port %d", rule, weight, bounds, port)
				}
			}
		}
	}
}

// TestDividedPlasticSize: what spikes divide by takes memory too.
func TestDividedPlasticSize(t *testing.T) {
	g, err := genome.Parse("divided.yaml", []byte(dividedText), nil)
	require.NoError(t, err)
	c, err := Build(g, Options{})
	require.NoError(t, err)
	s, err := Measure(g, Options{})
	require.NoError(t, err)
	require.InEpsilon(t, c.Bytes(), s.Bytes, 0.002)
	require.Equal(t, int32(2), c.Plastic[0].Divide[77])
}
