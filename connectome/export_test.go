package connectome

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/genomes"
	"burst/internal/edgelist"
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
		"long delays":           "burst: v1\nareas: [{name: a, neurons: 40}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: 7, delay: \"uniform(1, 60000)\"}]\n",
		"named ports":           receptors,
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
				require.NoError(t, want.Export(&list, end, nil))
				again, err := g.Rewired("wiring"+end, nil, want.Scale)
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
	_, err := (&genome.Genome{}).Rewired("w.csv", nil, 1)
	require.ErrorContains(t, err, "read from a text")
}

// A writer that fails ends the export.
func TestExportFails(t *testing.T) {
	c := build(t, network(1, areaOf("feagi", 300)).join(genome.Projection{Rule: genome.AllToAll, Weight: constant(1)}))
	for _, after := range []int{0, 1, 2} {
		require.ErrorIs(t, exportTo(&failing{left: after}, c.exportStatic), io.ErrShortWrite, "%d writes", after)
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
		require.NoError(t, exportTo(&got, build(t, network(1, areaOf("feagi", neurons)).join(all)).exportStatic))
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

// TestExportLearnt: a network that learns is the same when it is read back from lists; one that has learnt starts from what it
// delivers, and nothing leaves the bounds.
func TestExportLearnt(t *testing.T) {
	const high = 0.3336 // at the scale 1000 the nearest quantum lies above it
	text := strings.Replace(fmt.Sprintf(plasticText, "2"), "halve, bounds: [0, 2]", fmt.Sprintf("halve, bounds: [0, %g]", high), 1)
	g, err := genome.Parse("mixed.yaml", []byte(text), nil)
	require.NoError(t, err)
	c := build(t, g)
	back := func(learnt func(int) []float32) *Connectome {
		files := map[string][]byte{}
		write := func(name string, export func(io.Writer) error) {
			var b bytes.Buffer
			require.NoError(t, export(&b))
			files[name] = b.Bytes()
		}
		write("still.parquet", func(w io.Writer) error { return c.ExportStatic(w, "still.parquet") })
		lists := map[int]string{}
		for i := range c.Plastic {
			name := fmt.Sprintf("learnt-%d.csv", i)
			lists[c.Plastic[i].Projection] = name
			write(name, func(w io.Writer) error { return c.ExportPlastic(w, name, i, learnt) })
		}
		text, err := g.Rewired("still.parquet", lists, c.Scale)
		require.NoError(t, err)
		again, err := genome.Parse("again.yaml", text, func(name string) (io.ReadCloser, error) { return memFile{bytes.NewReader(files[name])}, nil })
		require.NoError(t, err, "%s", text)
		return build(t, again)
	}
	same := back(nil)
	require.Equal(t, c.Hash(), same.Hash())
	require.Equal(t, c.Wiring(c.Hash()), same.Wiring(same.Hash()))

	weights := map[int][]float32{1: make([]float32, c.Plastic[0].Whole()), 2: nil}
	for k := range weights[1] {
		weights[1][k] = []float32{0, 2, 0.0004, 0.0006, 1.23456789, 1.9999}[k%6] // bounds, and either side of half a quantum
	}
	got := back(func(projection int) []float32 { return weights[projection] })
	p, q := &c.Plastic[0], &got.Plastic[0]
	want, have := make([]float32, p.Whole()), make([]float32, p.Whole())
	p.EachPlace(func(k, place uint64) { want[place] = float32(Quanta(weights[1][place], c.Scale)) / float32(c.Scale) })
	rows := make([]float32, p.Whole())
	for k := range rows {
		rows[k] = q.Initial(uint64(k), got.Scale)
	}
	q.ToState(rows, have)
	at := 0
	for _, in := range p.Onto() { // equal synapses change places with their weights
		n := int(in)
		slices.Sort(want[at : at+n])
		slices.Sort(have[at : at+n])
		at += n
	}
	require.Equal(t, want, have)
	require.Equal(t, firsts(&c.Plastic[1]), firsts(&got.Plastic[1]), "where nothing was learnt the weights are the first ones")

	weights[2] = slices.Repeat([]float32{high}, int(c.Plastic[1].Whole()))
	got = back(func(projection int) []float32 { return weights[projection] })
	require.Equal(t, slices.Repeat([]int32{333}, len(got.Plastic[1].Target)), firsts(&got.Plastic[1]))

	var list bytes.Buffer
	require.NoError(t, c.Export(&list, "x.csv", func(projection int) []float32 { return weights[projection] }))
	require.Contains(t, list.String(), ",1.2345678806304932,", "a list alone has the weights as they are")
}

// TestWiring: rules, their numbers and bounds are no part of it, all else is.
func TestWiring(t *testing.T) {
	wiring := func(text string) uint64 {
		g, err := genome.Parse("mixed.yaml", []byte(text), nil)
		require.NoError(t, err)
		c := build(t, g)
		return c.Wiring(c.Hash())
	}
	text := fmt.Sprintf(plasticText, "2")
	want := wiring(text)
	for old, other := range map[string]string{"up: 0.1": "up: 0.2", "plasticity: grow": "plasticity: {rule: grow, bounds: [0, 5]}", "delay: 3, plasticity: grow": "delay: 3, plasticity: halve", ", plasticity: halve}": "}"} {
		require.Contains(t, text, old)
		require.Equal(t, want, wiring(strings.Replace(text, old, other, 1)), other)
	}
	for old, other := range map[string]string{"uniform(0, 1)": "uniform(0, 0.9)", "delay: 3": "delay: 4", "indegree: 50": "indegree: 51", "seed: 5": "seed: 6", "threshold: 1}": "threshold: 2}"} {
		require.Contains(t, text, old)
		require.NotEqual(t, want, wiring(strings.Replace(text, old, other, 1)), other)
	}
	g, err := genome.Parse("mixed.yaml", []byte(strings.ReplaceAll(strings.ReplaceAll(text, ", plasticity: halve", ""), ", plasticity: grow", "")), nil)
	require.NoError(t, err)
	still := build(t, g)
	require.Equal(t, want, still.Wiring(still.Hash()))
	require.Equal(t, still.Hash(), still.Wiring(still.Hash()), "without plasticity it is the hash")
}

// TestWiringWithoutStimuli: the wiring of a network that rectifies does not depend on its stimuli, and adds up over parts.
func TestWiringWithoutStimuli(t *testing.T) {
	text := `burst: v1
scale: 64
areas:
  - {name: eye, neurons: 150, threshold: 1, rectify: true, drive: [{constant: 1}, {poisson: {rate: 100 Hz, weight: 2}}]}
  - {name: mind, neurons: 90, threshold: %d, rectify: true}
projections:
  - {from: eye, to: mind, rule: all_to_all, weight: 2, plasticity: {rule: feagi, bounds: [0, 100]}}
  - {from: eye, to: mind, rule: pairwise_bernoulli, p: 0.3, weight: -1, delay: 2, merge: true}
  - {from: mind, to: mind, rule: pairwise_bernoulli, p: 0.3, weight: 3, merge: true}
  - {from: mind, to: mind, rule: pairwise_bernoulli, p: 0.3, weight: -1, merge: true}
`
	wirings, hashes := map[uint64]bool{}, map[uint64]bool{}
	for stimuli := range 300 {
		if stimuli > 2 && stimuli < 299 {
			continue
		}
		list := ""
		for range stimuli {
			list += "\n  - {area: mind, neurons: all, every: 3, amount: 1}"
		}
		if stimuli > 0 {
			list = "stimuli:" + list
		}
		g, err := genome.Parse("lifted.yaml", []byte(fmt.Sprintf(text, 2)+list), nil)
		require.NoError(t, err)
		c := build(t, g)
		wirings[c.Wiring(c.Hash())], hashes[c.Hash()] = true, true
		sum := uint64(0)
		for i := range 3 {
			part := c.Cut(Part{i, 3})
			sum += part.Wiring(part.Hash())
		}
		require.Equal(t, c.Wiring(c.Hash()), sum)
	}
	require.Len(t, wirings, 1)
	require.Greater(t, len(hashes), 1)
	g, err := genome.Parse("lifted.yaml", fmt.Appendf(nil, text, 3), nil)
	require.NoError(t, err)
	other := build(t, g)
	require.False(t, wirings[other.Wiring(other.Hash())], "another threshold is another network")
}

// firsts are the quanta that the synapses start from.
func firsts(p *Plastic) (list []int32) {
	for k := range p.Synapses() {
		list = append(list, p.First(k))
	}
	return list
}
