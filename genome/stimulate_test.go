package genome

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const stimulable = `burst: v1
areas:
  - {name: eye, size: [3, 2, 1], neurons_per_voxel: 2, aliases: [iic400, "aWluZgAAAAA="], threshold: 1.5, threshold_gradient: [1, 0, 0]}
  - {name: old eye, neurons: 4, threshold: 2.5, threshold_limit: 2.75}
  - {name: leg, neurons: 3, model: lif}
  - {name: noise, neurons: 1, model: poisson, params: {rate: 3 Hz}}
stimuli: [{area: leg, at: 3, neurons: all, amount: 1 mV}]
`

func TestStimulate(t *testing.T) {
	g, err := Parse("walk.yaml", []byte(stimulable), nil)
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 1, 2}, g.Stimuli[0].Neurons, "all in the genome's text")
	h, err := g.Stimulate([]string{
		"iic400=all every 10", "aWluZgAAAAA==0,1,0 2,0,0 at 7 amount 0.5", "old eye=3 0..1 until 20 every 5 ms from 10", "leg=1 every 2 amount 20 mV",
	})
	require.NoError(t, err)
	require.Len(t, h.Stimuli, 5)
	require.Len(t, g.Stimuli, 1, "the genome it was made from stays")
	s := h.Stimuli[1]
	require.Equal(t, 0, s.Area)
	require.EqualValues(t, 10, s.Every)
	require.Len(t, s.Neurons, 12)
	require.Equal(t, 4.0, s.Amounts[0], "whole and not below 1.5 + 2·1, the highest threshold")
	s = h.Stimuli[2]
	require.Equal(t, []uint32{2, 3, 8, 9}, s.Neurons)
	require.EqualValues(t, 7, s.At)
	require.Equal(t, []float64{0.5, 0.5, 0.5, 0.5}, s.Amounts)
	s = h.Stimuli[3]
	require.Equal(t, []uint32{0, 1, 3}, s.Neurons)
	require.Equal(t, []uint64{5, 10, 20}, []uint64{s.Every, s.From, s.Until})
	require.Equal(t, 2.5, s.Amounts[0], "not above the limit")
	require.Equal(t, 20.0, h.Stimuli[4].Amounts[0])
	again, err := Parse("again.yaml", h.Text(), nil)
	require.NoError(t, err)
	for i := range h.Stimuli {
		require.Equal(t, h.Stimuli[i].Neurons, again.Stimuli[i].Neurons, "the text has it")
	}
	h, err = h.Stimulate([]string{"eye=all at 1"})
	require.NoError(t, err)
	require.Len(t, h.Stimuli, 6)
}

func TestStimulateMistakes(t *testing.T) {
	g, err := Parse("walk.yaml", []byte(stimulable), nil)
	require.NoError(t, err)
	for s, want := range map[string]string{
		"eye all every 10":            "expects AREA=WHERE WHEN, such as eye=all every 10",
		"=all every 10":               "expects AREA=WHERE WHEN",
		"iic40=all every 10":          `no area "iic40", want one of eye, old eye, leg, noise; did you mean "iic400"?`,
		"xyzzy=all every 10":          `no area "xyzzy", want one of eye, old eye, leg, noise`,
		"eye=every 10":                "expects all, voxels or neurons after =",
		"eye=all evry 10":             `found "evry"; write all, voxels such as 0,1,2, or neurons such as 7 or 0..9, and then every, at, from, until, amount, port; did you mean "every"?`,
		"eye=all 1 every 10":          "expects either all or others, found both",
		"eye=0,1,0 evry 10":           `did you mean "every"?`,
		"eye=al every 10":             `did you mean "all"?`,
		"eye=0,1 every 10":            `found "0,1"; write all, voxels such as 0,1,2`,
		"eye=0,2,0 every 10":          "voxels[0][1]: expects a whole number 0…1, found 2",
		"eye=3 0,1,0 every 10":        "expects either neurons or voxels, found both",
		"eye=12 every 10":             "neurons[0]: expects a whole number 0…11, found 12",
		"eye=9..3 every 10":           `found "9..3"; write neurons such as 0..9`,
		"eye=0..99999999 every 10":    `write neurons such as 0..9, at most`,
		"eye=1 1 every 10":            "neuron 1 found again",
		"eye=all":                     "expects at or every, found neither",
		"eye=all every 10 at 3":       "expects either at or every, found both",
		"eye=all every":               "expects a value after every",
		"eye=all every 10 every 10":   "every found again",
		"eye=all every 0":             "every: expects a whole number",
		"eye=all every 10 amount {a}": "expects a value after amount",
		"eye=all every 10 amount 1mV": "amount: ",
		"leg=all every 10":            "expects an amount for the model lif",
		"noise=all every 10":          "expects an amount for the model poisson",
		"noise=all at 1 amount 1":     "area: expects an area that takes input, found noise",
	} {
		_, err := g.Stimulate([]string{s})
		require.ErrorContains(t, err, s+": ", s)
		require.ErrorContains(t, err, want, s)
	}
}

// TestStimulateNeedsText: a genome that was made in Go has no text to add to, and its areas may lack a model.
func TestStimulateNeedsText(t *testing.T) {
	g := &Genome{Areas: []Area{{Name: "eye", Size: [3]uint64{1, 1, 1}, PerVoxel: 1}}}
	_, err := g.Stimulate([]string{"eye=all every 10"})
	require.EqualError(t, err, "genome: only a genome that was read from a text can be given stimuli")
}

// The word all stands for every neuron, of stimuli and of potentials to record; any other word is a fault.
func TestAllNeurons(t *testing.T) {
	const head = "burst: v1\nareas: [{name: eye, neurons: 3}]\n"
	g, err := Parse("a.yaml", []byte(head+"record: {potentials: [{area: eye, neurons: all}]}\n"), nil)
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 1, 2}, g.Record.Potentials[0].Neurons)
	require.NoError(t, validate(t, compiled(t), head+"stimuli: [{area: eye, at: 1, neurons: all, amount: 1}]\n"))
	require.Error(t, validate(t, compiled(t), head+"stimuli: [{area: eye, at: 1, neurons: al, amount: 1}]\n"))
	_, err = Parse("a.yaml", []byte(head+"stimuli: [{area: eye, at: 1, neurons: al, amount: 1}]\n"), nil)
	require.ErrorContains(t, err, "expects a list of neurons or all, found al\n")
	require.ErrorContains(t, err, `did you mean "all"?`)
	_, err = Parse("a.yaml", []byte("burst: v1\nareas: [{name: eye, neurons: 16777217}]\nstimuli: [{area: eye, at: 1, neurons: all, amount: 1}]\n"), nil)
	require.ErrorContains(t, err, "expects an area of at most 16777216 neurons for all, found 16777217")
}

// Input reaches what sources, drives and stimuli lead to, over any number of projections that carry something.
func TestReached(t *testing.T) {
	const text = `burst: v1
areas:
  - {name: noise, neurons: 1, model: poisson, params: {rate: 3 Hz}, group: ipu}
  - {name: fed, neurons: 1, drive: {constant: 1}}
  - {name: lit, neurons: 1, group: ipu}
  - {name: a, neurons: 1}
  - {name: b, neurons: 1}
  - {name: weightless, neurons: 1}
  - {name: mute, neurons: 1, psp: 0, drive: {constant: 1}}
  - {name: after mute, neurons: 1}
  - {name: alone, neurons: 1, group: ipu, aliases: [iic400]}
  - {name: memory, neurons: 0, group: memory}
projections:
  - {from: a, to: b, rule: all_to_all, weight: "uniform(0, 1)"}
  - {from: noise, to: a, rule: all_to_all, weight: 1}
  - {from: fed, to: weightless, rule: all_to_all, weight: 0}
  - {from: mute, to: after mute, rule: all_to_all, weight: 1}
stimuli: [{area: lit, at: 3, neurons: all, amount: 1}]
`
	g, err := Parse("a.yaml", []byte(text), nil)
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, true, true, true, false, true, false, false, false}, g.Reached())
	require.Equal(t, []int{2, 8}, g.Sensors(), "a source needs no stimuli")
	require.Equal(t, "lit", g.Areas[2].Call())
	require.Equal(t, "iic400", g.Areas[8].Call())
	g.Projections = append(g.Projections, Projection{From: -1, To: -1, Rule: Edges})
	require.NotContains(t, g.Reached(), false, "edges may lead anywhere")
}
