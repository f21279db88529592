package record

import (
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/record/internal/tables"
	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

const planned = `burst: v1
timestep: 1 ms
areas:
  - {name: eye, neurons: 7}
  - {name: leg, neurons: 5, model: lif, params: {tau: 10 ms, rest: -61.5 mV, reset: -60 mV, threshold: -50 mV, refractory: 2 ms}}
  - {name: tail, neurons: 3, aliases: [omot00, "Y21vdG8wMDE="]}
`

// TestPlan says for each way of asking whose rows are kept.
func TestPlan(t *testing.T) {
	type spans = []connectome.Span
	span := func(first, count uint32) connectome.Span { return connectome.Span{First: first, Count: count} }
	all := spans{span(0, 15)}
	cases := []struct {
		name       string
		block      string
		requests   []string
		spikes     spans
		potentials []uint32
		fcl        spans
	}{
		{"nothing said", "", nil, all, nil, nil},
		{"the block", "record: {spikes: [tail, eye], potentials: [{area: leg, neurons: [1, 4]}], fcl: true}", nil, spans{span(0, 7), span(12, 3)}, []uint32{8, 11}, all},
		{"a block without spikes", "record: {fcl: true}", nil, all, nil, all},
		{"a block that wants none", "record: {spikes: [], fcl: true}", nil, nil, nil, all},
		{"a flag replaces its table only", "record: {spikes: [tail], fcl: true}", []string{"spikes=eye[2..3]"}, spans{span(2, 2)}, nil, all},
		{"aliases", "record: {spikes: [omot00]}", []string{"potentials=Y21vdG8wMDE=[1],omot00[2]", "fcl=eye,Y21vdG8wMDE="}, spans{span(12, 3)}, []uint32{13, 14}, spans{span(0, 7), span(12, 3)}},
		{"none", "record: {spikes: [tail], fcl: true}", []string{"spikes=none", "fcl=none"}, nil, nil, nil},
		{"neighbours and overlaps are joined", "", []string{"spikes=leg,eye[3..6]", "spikes=eye[5..5]", "potentials=tail[2],leg[0..1]"}, spans{span(3, 9)}, []uint32{7, 8, 14}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, err := genome.Parse("planned.yaml", []byte(planned+c.block), nil)
			require.NoError(t, err)
			k, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			p, note, err := NewPlan(g, k, c.requests)
			require.NoError(t, err)
			require.Empty(t, note)
			require.Equal(t, c.spikes, p.Spikes)
			var potentials []uint32
			for _, k := range p.Potentials {
				require.Zero(t, p.Values[k].Variable)
				potentials = append(potentials, p.Values[k].Neuron)
			}
			require.Equal(t, c.potentials, potentials)
			require.Equal(t, c.fcl, p.FCL)
			for i, v := range p.Values {
				rest, n := float32(0), v.Neuron
				if n >= 7 && n < 12 {
					rest = -61.5
				}
				require.Equal(t, rest, p.Rest[i], "lif potentials are held relative to rest, feagi's are not")
			}
		})
	}
}

// TestNoSuggestionOfTheSameTable: a table named as it should be is not proposed again.
func TestNoSuggestionOfTheSameTable(t *testing.T) {
	_, _, err := NewPlan(&genome.Genome{}, &connectome.Connectome{}, []string{"spikes="})
	require.ErrorContains(t, err, `"spikes=", want spikes= or potentials= or variables= or fcl= or weights= or histograms=, then all`)
	require.NotContains(t, err.Error(), "did you mean")
}

// TestNoSuchArea: the nearest name or alias is proposed; what else the manifest needs of an area, its aliases too, is there.
func TestNoSuchArea(t *testing.T) {
	g, err := genome.Parse("planned.yaml", []byte(planned), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	for word, near := range map[string]string{"omot01": "omot00", "lag": "leg"} {
		_, _, err = NewPlan(g, c, []string{"spikes=" + word})
		require.ErrorContains(t, err, `no area "`+word+`", want one of `)
		require.ErrorContains(t, err, `; did you mean "`+near+`"?`)
	}
	areas := manifest.Areas(g, c)
	require.Nil(t, areas[0].Aliases)
	require.Equal(t, []string{"omot00", "Y21vdG8wMDE="}, areas[2].Aliases)
}

// TestParameterNamedRest: a parameter named rest is nothing but a parameter there, and potentials are recorded as the model holds them.
func TestParameterNamedRest(t *testing.T) {
	g, err := genome.Parse("own.yaml", []byte(`burst: v1
models:
  - {name: own, input: mV, params: {rest: -65 mV}, state: {v: -60 mV}, update: [v = v + 0.1*(rest - v) + input], threshold: v >= -50}
areas:
  - {name: a, neurons: 2, model: own}
  - {name: b, neurons: 2, model: own, params: {rest: "normal(-70 mV, 1 mV)"}}
  - {name: c, neurons: 2, model: lif_psc_exp}
`), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	p, _, err := NewPlan(g, c, []string{"potentials=all"})
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0, 0, 0, -70, -70}, p.Rest)
	unit := tables.Named(tables.Potentials).Schema(&manifest.Manifest{}).Metadata().ToMap()["burst.unit.potential"]
	require.Contains(t, unit, "models of the genome's own: as they hold it")
}

// TestLargeNetworksKeepAShare: every area keeps at least a neuron, and all together no more than the bound and that.
func TestLargeNetworksKeepAShare(t *testing.T) {
	g := &genome.Genome{}
	c := &connectome.Connectome{Neurons: 1_000_013, Areas: []connectome.Area{
		{Neurons: connectome.Span{Count: 13}}, {Neurons: connectome.Span{First: 13}}, {Neurons: connectome.Span{First: 13, Count: 1_000_000}},
	}}
	p, note, err := NewPlan(g, c, nil)
	require.NoError(t, err)
	require.Equal(t, []connectome.Span{{First: 0, Count: 1}, {First: 13, Count: 99_998}}, p.Spikes)
	require.Contains(t, note, "--record spikes=all keeps those of all 1000013")
	p, note, err = NewPlan(g, c, []string{"spikes=all"})
	require.NoError(t, err)
	require.Equal(t, []connectome.Span{{Count: 1_000_013}}, p.Spikes)
	require.Empty(t, note)
}

// TestSourcesHaveSpikesAlone: asked for by name their potentials and inputs are refused; all means those that there are.
func TestSourcesHaveSpikesAlone(t *testing.T) {
	parse := func(block string) (*genome.Genome, error) {
		return genome.Parse("sources.yaml", []byte(`burst: v1
areas:
  - {name: p, neurons: 2, model: poisson, params: {rate: 5 Hz}}
  - {name: l, neurons: 3, model: lif_psc_exp}
  - {name: s, neurons: 2, model: spike_list, spikes: [{neurons: [0], at: [1]}]}
`+block), nil)
	}
	g, err := parse("record: {fcl: true}\n")
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	for table, lack := range map[string]string{"potentials": "has no potential", "fcl": "takes no input"} {
		_, _, err := NewPlan(g, c, []string{table + "=p[0..1]"})
		require.ErrorContains(t, err, table+`: area "p" `+lack+`, its model poisson is a source; only its spikes can be recorded: spikes=p[0..1]`)
		_, _, err = NewPlan(g, c, []string{table + "=l,s"})
		require.ErrorContains(t, err, `area "s" `+lack+`, its model spike_list is a source`)
	}
	p, _, err := NewPlan(g, c, []string{"potentials=all", "fcl=all", "spikes=p,s"})
	require.NoError(t, err)
	require.Equal(t, []engine.Probe{{Neuron: 2}, {Neuron: 3}, {Neuron: 4}}, p.Values)
	require.Equal(t, []int{0, 1, 2}, p.Potentials)
	require.Len(t, p.Rest, 3)
	require.Equal(t, []connectome.Span{{Count: 7}}, p.FCL, "sources have no rows there")
	require.Equal(t, []connectome.Span{{Count: 2}, {First: 5, Count: 2}}, p.Spikes)
	_, err = parse("record: {potentials: [{area: s, neurons: [0]}]}\n")
	require.ErrorContains(t, err, "found s, whose model spike_list is a source: only its spikes can be recorded")
}
