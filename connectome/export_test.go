package connectome

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/edgelist"
	"burst/genome"
	"burst/genomes"
)

// exportable has networks of every kind of weight, delay and scale.
func exportable(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{
		"auto scale, drawn values": `burst: v1
seed: 8
scale: auto
timestep: 0.25 ms
areas:
  - {name: a, size: [5, 3, 1], neurons_per_voxel: 4, drive: {constant: 0.3}}
  - {name: b, size: [1, 11, 7], model: lif, init: {V: "normal(3 mV, 1 mV)"}}
projections:
  - {from: a, to: b, rule: fixed_indegree, indegree: 13, weight: "lognormal(-3.7 mV, 1.9 mV)", delay: "uniform(1, 200)"}
  - {from: b, to: a, rule: pairwise_bernoulli, p: 0.3, weight: "normal(0.01, 2)"}
`,
		"two inputs, sources, factors": `burst: v1
seed: 21
timestep: 0.1 ms
areas:
  - {name: P, neurons: 6, model: poisson, params: {rate: 30 Hz}}
  - {name: E, neurons: 40, model: lif_psc_exp}
  - {name: F, size: [3, 4, 2], psp: 2.5}
  - {name: D, size: [3, 4, 2], divide_psp: true}
  - {name: I, neurons: 17, model: izhikevich}
projections:
  - {from: P, to: E, rule: all_to_all, weight: 30 pA, delay: 1.5 ms}
  - {from: E, to: E, rule: fixed_total_number, count: 900, weight: "normal(10 pA, 60 pA)", delay: "normal(1.5 ms, 0.7 ms) >= 0.1 ms"}
  - {from: F, to: D, rule: projector, weight: 3, merge: true}
  - {from: F, to: D, rule: block_to_block, weight: -1, merge: true}
  - {from: D, to: F, rule: all_to_all, weight: 1, attractivity: 37}
  - {from: D, to: I, rule: randomizer, weight: -2, delay: 9}
`,
		"finest scale":          "burst: v1\nscale: 16777216\nareas: [{name: a, neurons: 40}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: \"uniform(-1, 1)\"}]\n",
		"coarse scale, odd":     "burst: v1\nscale: 3\nareas: [{name: a, neurons: 40}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: \"normal(1000000, 400000)\"}]\n",
		"no synapses, no name":  "burst: v1\nareas: [{name: a, neurons: 2}]\n",
		"flow style, no blanks": "{burst: v1, areas: [{name: a, neurons: 9}], projections: [{from: a, to: a, rule: one_to_one, weight: 7}], scale: auto}",
	}
	for _, name := range []string{"quickstart", "c-elegans"} {
		text, err := genomes.Text(name)
		require.NoError(t, err)
		all[name] = string(text)
	}
	return all
}

// A network written to a list and read back must be the same, whatever the format.
func TestExportAndBack(t *testing.T) {
	for name, text := range exportable(t) {
		g, err := genome.Parse("net.yaml", []byte(text), genomes.Open)
		require.NoError(t, err, name)
		want := build(t, g)
		for _, end := range genome.EdgeFormats() {
			t.Run(name+end, func(t *testing.T) {
				var list bytes.Buffer
				w, err := edgelist.NewWriter(&list, end)
				require.NoError(t, err)
				require.NoError(t, want.Export(w))
				again, err := g.Rewired("wiring"+end, want.Scale)
				require.NoError(t, err)
				g2, err := genome.Parse("other.yaml", again, func(string) (io.ReadCloser, error) { return memFile{bytes.NewReader(list.Bytes())}, nil })
				require.NoError(t, err, "%s", again)
				got := build(t, g2)
				assert.Equal(t, want.Hash(), got.Hash())
				assert.Equal(t, want.Row, got.Row)
				assert.Equal(t, want.Target, got.Target)
				assert.Equal(t, want.Weight, got.Weight)
				assert.Equal(t, want.Delay, got.Delay)
				for port, most := range want.Bound { // merging keeps the bound of what was merged
					assert.LessOrEqual(t, got.Bound[port], most)
				}
				assert.Equal(t, []any{want.Name, want.Seed, want.RunSeed, want.Scale, want.MaxDelay, want.Timestep}, []any{got.Name, got.Seed, got.RunSeed, got.Scale, got.MaxDelay, got.Timestep})
				assert.Equal(t, want.Stimuli, got.Stimuli)
			})
		}
	}
	_, err := (&genome.Genome{}).Rewired("w.csv", 1)
	require.ErrorContains(t, err, "no text")
}

// A writer that fails ends the export.
func TestExportFails(t *testing.T) {
	c := build(t, network(1, areaOf("feagi", 300)).join(genome.Projection{Rule: genome.AllToAll, Weight: constant(1)}))
	for _, after := range []int{0, 1, 2} {
		require.ErrorIs(t, c.Export(&failing{left: after}), io.ErrShortWrite, "%d writes", after)
	}
}

// sizes notes how many rows each block has.
type sizes []int

func (s *sizes) Write(b *edgelist.Block) error {
	*s = append(*s, len(b.Source))
	return nil
}
func (s *sizes) Close() error { return nil }

// Synapses are handed on in full blocks, then those that are left, if any.
func TestExportInBlocks(t *testing.T) {
	all := genome.Projection{Rule: genome.AllToAll, Weight: constant(1)}
	for neurons, want := range map[uint64]sizes{0: nil, 256: {exportRows}, 257: {exportRows, 257*257 - exportRows}} {
		var got sizes
		require.NoError(t, build(t, network(1, areaOf("feagi", neurons)).join(all)).Export(&got))
		require.Equal(t, want, got)
	}
}

// failing takes a few calls.
type failing struct{ left int }

func (f *failing) Write(*edgelist.Block) error {
	if f.left--; f.left < 0 {
		return io.ErrShortWrite
	}
	return nil
}
func (f *failing) Close() error { return io.ErrShortWrite }
