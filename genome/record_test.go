package genome

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const learners = `burst: v1
timestep: 1 ms
areas:
  - {name: eye, neurons: 7}
  - {name: leg, neurons: 5}
projections:
  - {from: eye, to: leg, rule: all_to_all, weight: 1, plasticity: {rule: stdp, w_max: 2}}
  - {from: leg, to: eye, rule: all_to_all, weight: 1}
`

// TestRecordWeights: which synapses are kept, how often, and that histograms are unless they are refused.
func TestRecordWeights(t *testing.T) {
	read := func(record string) (Record, error) {
		g, err := Parse("learners.yaml", []byte(learners+"record: "+record), nil)
		if err != nil {
			return Record{}, err
		}
		return g.Record, nil
	}
	got, err := read("{weights: {every: 20 ms, synapses: [{from: eye, to: leg, share: 0.25}, {from: eye, to: leg, sources: [3, 1], targets: [4]}]}, histograms: false}")
	require.NoError(t, err)
	require.Equal(t, Record{Every: 20, NoHistograms: true, Weights: []Synapses{{From: 0, To: 1, Share: 0.25}, {From: 0, To: 1, Sources: []uint32{1, 3}, Targets: []uint32{4}, Share: 1}}}, got)
	got, err = read("{weights: {}, histograms: true}")
	require.NoError(t, err)
	require.Equal(t, Record{}, got)
	for text, want := range map[string]string{
		"{weights: {every: 0}}":                                          "learners.yaml:9:27: record.weights.every: expects",
		"{weights: {every: 0.5 ms}}":                                     "record.weights.every: expects",
		"{weights: {evry: 2}}":                                           `did you mean "every"?`,
		"{weights: [eye]}":                                               "record.weights: expects a mapping of keys",
		"{weights: {synapses: [{from: eye, to: lag}]}}":                  `did you mean "leg"?`,
		"{weights: {synapses: [{from: eye}]}}":                           `key "to" is missing`,
		"{weights: {synapses: [{from: leg, to: eye}]}}":                  "record.weights.synapses[0]: expects areas between which a projection learns, such as eye to leg, found leg to eye",
		"{weights: {synapses: [{from: eye, to: leg, share: 0}]}}":        "share: expects",
		"{weights: {synapses: [{from: eye, to: leg, share: 1.5}]}}":      "share: expects",
		"{weights: {synapses: [{from: eye, to: leg, sources: [7]}]}}":    "sources[0]: expects",
		"{weights: {synapses: [{from: eye, to: leg, targets: [1, 1]}]}}": "targets[1]",
		"{histograms: 3}":                                                "record.histograms: expects true or false",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err = Parse("still.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 3}]\nrecord: {weights: {synapses: [{from: a, to: a}]}}"), nil)
	require.ErrorContains(t, err, "found a to a in a genome where none does")
}

// TestFrozen: the rule is off and the bounds are the same, in whatever unit they were; the rest of the text stays.
func TestFrozen(t *testing.T) {
	g, err := Parse("frozen.yaml", []byte(`burst: v1
areas: [{name: a, neurons: 3, model: lif_psc_exp}, {name: b, neurons: 3}]
projections:
  - {from: a, to: a, rule: all_to_all, weight: 0.001 pA, delay: 2, plasticity: {rule: stdp, w_max: 0.00001 nA}, back: 2}
  - {from: a, to: b, rule: all_to_all, weight: 1}
  - {from: a, to: b, rule: all_to_all, weight: -0.1, plasticity: vogels}
`), nil)
	require.NoError(t, err)
	frozen, err := g.Frozen()
	require.NoError(t, err)
	for i, p := range frozen.Projections {
		old := g.Projections[i].Learning
		require.Equal(t, old == nil, p.Learning == nil)
		if old != nil {
			require.Equal(t, []any{"off", old.Lo, old.Hi, old.Back}, []any{p.Learning.Rule.Name, p.Learning.Lo, p.Learning.Hi, p.Learning.Back})
		}
	}
	feagi, err := Parse("feagi.yaml", []byte(`burst: v1
areas: [{name: a, neurons: 3, divide_psp: true}, {name: b, neurons: 3}]
projections:
  - {from: a, to: b, rule: all_to_all, weight: 2, plasticity: {rule: feagi, window: 4, constant: 2, bounds: [0, 3e38], overflow: fail}}
  - {from: a, to: a, rule: all_to_all, weight: 2, plasticity: {rule: feagi-february, ltp: 3}}
`), nil)
	require.NoError(t, err)
	feagi, err = feagi.Frozen()
	require.NoError(t, err)
	for i, want := range []struct {
		rule   string
		window float64
		fail   bool
	}{{"feagi", 4, true}, {"feagi-february", 3, false}} {
		l := feagi.Projections[i].Learning
		require.Equal(t, []any{want.rule, want.window, 0.0, want.fail}, []any{l.Rule.Name, l.Params["window"], l.Params["constant"], l.Fail})
	}
	again, err := frozen.Frozen()
	require.NoError(t, err)
	require.Equal(t, frozen.Text(), again.Text())
	still, err := Parse("still.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 3}]\n"), nil)
	require.NoError(t, err)
	same, err := still.Frozen()
	require.NoError(t, err)
	require.Same(t, still, same)
}
