package record

import (
	"fmt"
	"slices"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

const learning = `burst: v1
timestep: 0.5 ms
areas:
  - {name: eye, neurons: 40}
  - {name: the leg, neurons: 20}
projections:
  - {from: the leg, to: eye, rule: all_to_all, weight: 1}
  - {from: eye, to: the leg, rule: fixed_indegree, indegree: 50, weight: "uniform(0.25, 1)", delay: "uniform(1, 4)", plasticity: {rule: stdp, w_max: 1}}
  - {from: the leg, to: the leg, rule: all_to_all, weight: -1, plasticity: {rule: vogels, w_max: 2}}
`

func learningNetwork(t *testing.T, record string) (*genome.Genome, *connectome.Connectome) {
	t.Helper()
	g, err := genome.Parse("learning.yaml", []byte(learning+record), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	return g, c
}

// TestPlanOfWeights says for each way of asking which synapses are kept.
func TestPlanOfWeights(t *testing.T) {
	plan := func(record string, requests ...string) Sampling {
		g, c := learningNetwork(t, record)
		p, _, err := NewPlan(g, c, requests)
		require.NoError(t, err, requests)
		for _, x := range p.Weights.Synapses { // every one is what the state has in its place
			q := &c.Plastic[x.Plastic]
			require.Equal(t, q.Projection, int(x.Projection))
			require.True(t, slices.IsSorted(x.Places))
			for i, place := range x.Places {
				port, k, source, here := q.SynapseAt(place)
				require.True(t, here)
				require.Equal(t, []uint32{source, c.NeuronOf(port), q.DelayOf(k)}, []uint32{x.Source[i], x.Target[i], x.Delay[i]})
			}
		}
		return p.Weights
	}
	sizes := func(s Sampling) (n []int) {
		for i := range s.Synapses {
			n = append(n, len(s.Synapses[i].Places))
		}
		return n
	}
	none := plan("")
	require.Nil(t, none.Synapses)
	require.Len(t, none.Histograms, 2, "histograms are kept unless they are refused")
	require.Zero(t, none.Every)
	require.Nil(t, plan("record: {histograms: false}").Histograms)
	require.NotNil(t, plan("record: {histograms: false}", "histograms=all").Histograms)
	require.Nil(t, plan("", "histograms=none").Histograms)

	require.Equal(t, []int{1000, 400}, sizes(plan("", "weights=all")))
	require.Equal(t, []int{400}, sizes(plan("", "weights=the leg:the leg")))
	require.Equal(t, []int{4}, sizes(plan("", "weights=the leg[3..4]:the leg[0..1]")))
	require.Equal(t, []int{7}, sizes(plan("", "weights=the leg[3..4]:the leg[0..1],the leg[4]:the leg[1..4]")), "each once")
	all := plan("", "weights=eye[7]:the leg")
	require.NotEmpty(t, all.Synapses[0].Source)
	for _, n := range all.Synapses[0].Source {
		require.EqualValues(t, 7, n)
	}
	block := "record: {weights: {every: 3 ms, synapses: [{from: the leg, to: the leg, sources: [3, 4], targets: [0, 1]}]}}"
	require.Equal(t, []int{4}, sizes(plan(block)))
	require.EqualValues(t, 6, plan(block).Every)
	require.Nil(t, plan(block, "weights=none").Synapses, "a flag replaces the block's")
	require.EqualValues(t, 20, plan(block, "weights=none every 10 ms").Every)
	require.EqualValues(t, 7, plan("", "weights=all every 7").Every)

	tenth := plan("", "weights=10%")
	require.InDelta(t, 100, sizes(tenth)[0], 30)
	require.InDelta(t, 40, sizes(tenth)[1], 20)
	require.Equal(t, tenth, plan("", "weights=10%"), "the same ones each time")
	half := plan("", "weights=eye:the leg 50%")
	for _, place := range tenth.Synapses[0].Places {
		require.Contains(t, half.Synapses[0].Places, place, "a larger share has those of a smaller one")
	}

	g, c := learningNetwork(t, "")
	for text, want := range map[string]string{
		"weights=eye":                 `weights: "eye", want all, none, a share such as 5%`,
		"weights=eye:the lag":         `weights: no area "the lag", want one of eye, the leg; did you mean "the leg"?`,
		"weights=the leg:eye":         `weights: "the leg:eye", want areas between which a projection learns, such as eye to the leg, the leg to the leg, found the leg to eye`,
		"weights=eye[39..40]:the leg": "numbers below 40",
		"weights=0%":                  `weights: "0%", want a share`,
		"weights=101%":                `want a share of synapses such as 5%, above 0%, at most 100%`,
		"weights=eye:the leg x%":      `"x%", want a share`,
		"weights=all every 0":         `weights: every "0", want bursts such as 1000, or a time of whole bursts of 0.5 ms, such as 500ms`,
		"weights=all every 0.7ms":     `every "0.7ms", want bursts`,
		"weights=":                    "want spikes= or",
		"wieghts=all":                 `did you mean "weights"?`,
		"histograms=al":               `histograms: "al", want all or none; did you mean "all"?`,
	} {
		_, _, err := NewPlan(g, c, []string{text})
		require.ErrorContains(t, err, want, text)
	}
	_, left := pick(c, &c.Plastic[1], &genome.Synapses{Share: 1}, nil, 399)
	require.Negative(t, left, "too many are told")
	g, err := genome.Parse("planned.yaml", []byte(planned), nil)
	require.NoError(t, err)
	still, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	_, _, err = NewPlan(g, still, []string{"weights=all"})
	require.ErrorContains(t, err, "weights: no projection of this network learns")
	g, part := learningNetwork(t, "")
	part.Plastic[0].In = part.Plastic[0].Onto()           // as a part was told
	part.Plastic[0].Target = part.Plastic[0].Target[:400] // as in a process that holds two fifths of them
	_, _, err = NewPlan(g, part, []string{"weights=all"})
	require.ErrorContains(t, err, "weights: a process that holds a part of the network does not know all synapses of projections[1]; want one process")
	_, _, err = NewPlan(g, part, nil)
	require.NoError(t, err)
}

// TestBins: every weight is in one bin, between its edges, also at bounds and where the product of the guess is rounded.
func TestBins(t *testing.T) {
	for _, bounds := range [][2]float32{{0, 0.01}, {-0.3, 0.1}, {-2, 0}, {1e-30, 1e30}, {0, 0}, {-7, -7}} {
		b := newBins(0, &connectome.Plastic{Lo: bounds[0], Hi: bounds[1]})
		weights := []float32{bounds[0], bounds[1]}
		for _, x := range b.Edges {
			weights = append(weights, min(max(float32(x), bounds[0]), bounds[1]))
		}
		counts := b.count(weights)
		sum := uint64(0)
		for k, n := range counts {
			want := uint64(0)
			for _, w := range weights {
				x := float64(w)
				if (k == 0 || x >= b.Edges[k]) && (k == bins-1 || x < b.Edges[k+1]) {
					want++
				}
			}
			require.Equal(t, want, n, "bin %d of %v", k, bounds)
			sum += n
		}
		require.EqualValues(t, len(weights), sum)
	}
	require.Equal(t, 0.01, newBins(0, &connectome.Plastic{Hi: 0.01}).Edges[bins], "edges are as people write them")
}

func TestDefaultEvery(t *testing.T) {
	_, c := learningNetwork(t, "")
	for planned, want := range map[uint64]uint64{0: 200, 100: 2, 1000: 10, 1001: 11} {
		require.Equal(t, want, DefaultEvery(c, planned), fmt.Sprint(planned))
	}
	s := Sampling{Every: 4, Histograms: []Bins{}}
	require.True(t, s.Due(8))
	require.False(t, s.Due(9))
	require.EqualValues(t, 3, s.Ahead(9))
	require.EqualValues(t, 4, s.Ahead(8))
	require.False(t, (&Sampling{Every: 4}).Due(8))
}

// BenchmarkSample is what a sample takes beside reading the state.
func BenchmarkSample(b *testing.B) {
	x := newBins(0, &connectome.Plastic{Hi: 1})
	s := engine.State{Plastic: []engine.Plastic{{Weight: make([]float32, 1<<20)}}}
	for i := range s.Plastic[0].Weight {
		s.Plastic[0].Weight[i] = float32(i%997) / 997
	}
	for b.Loop() {
		x.count(s.Plastic[0].Weight)
	}
}
