package genome

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// morphologies has every key of FEAGI's rules and genes.
const morphologies = `burst: v1
scale: auto
areas:
  - {name: eye, size: [12, 5, 3], neurons_per_voxel: 2, group: ipu, devices: 3, psp: -2.5, divide_psp: true}
  - {name: hand, size: [7, 4, 2], group: "left hand"}
projections:
  - {from: eye, to: hand, rule: projector, axes: zyx, from_end: y, weight: 3, attractivity: 37, merge: true}
  - {from: eye, to: hand, rule: expander, weight: 1}
  - {from: eye, to: hand, rule: reducer, weight: 1}
  - {from: eye, to: hand, rule: block_to_block, divide: [10, 2, 4294967296], weight: 1}
  - {from: eye, to: hand, rule: lateral_pairs, weight: 1}
  - {from: eye, to: hand, rule: last_to_first, weight: 1}
  - {from: eye, to: hand, rule: randomizer, weight: 1}
  - from: eye
    to: hand
    rule: composite
    src_seed: [4, 2, 1]
    src_pattern: [[1, 2], [3, 0], [1, 1]]
    mapper: {rule: patterns, patterns: [[[3, "*", 0], ["?", 3, "!"]], [[77, 0, 0], [0, 88, 0]]]}
    weight: 1
  - {from: hand, to: eye, rule: composite, src_seed: [2, 2, 2], mapper: {rule: projector, axes: yxz}, weight: 1}
  - {from: hand, to: eye, rule: composite, src_seed: [2, 2, 2], mapper: {rule: block_to_block}, weight: 1}
stimuli:
  - {area: eye, at: 3, voxels: [[11, 4, 2], [0, 0, 1]], amount: 1.5}
record: {potentials: [{area: hand, voxels: [[6, 0, 1]]}]}
`

// Every key of FEAGI's rules and genes must come through with its defaults.
func TestMorphologies(t *testing.T) {
	g, err := Parse("morphologies.yaml", []byte(morphologies), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, compiled(t), morphologies); err != nil {
		t.Error(err)
	}
	eye, hand := &g.Areas[0], &g.Areas[1]
	if eye.Group != "ipu" || eye.Devices != 3 || eye.Factor() != -2.5 || !eye.DividePSP {
		t.Errorf("eye: %+v", eye)
	}
	if hand.Group != "left hand" || hand.Devices != 0 || hand.Factor() != 1 || hand.DividePSP {
		t.Errorf("hand: %+v", hand)
	}
	if p := g.Projections[0]; p.Axes != ZYX || p.FromEnd != YAxis || p.LeaveOut != 63 || !p.Merge || p.Weight.A != 3 {
		t.Errorf("projector: %+v", p)
	}
	for i, want := range []Rule{Projector, Expander, Reducer, BlockToBlock, LateralPairs, LastToFirst, Randomizer, Composite, Composite, Composite} {
		if p := g.Projections[i]; p.Rule != want || i > 0 && (p.LeaveOut != 0 || p.Merge) {
			t.Errorf("projection %d: %+v", i, p)
		}
	}
	c := g.Projections[7]
	pattern := Pattern{
		From: [3]PatternElem{{Coord: 3}, {Kind: Any}, {}},
		To:   [3]PatternElem{{Kind: Same}, {Coord: 3}, {Kind: Other}},
	}
	nowhere := Pattern{From: [3]PatternElem{{Coord: 77}, {}, {}}, To: [3]PatternElem{{}, {Coord: 88}, {}}}
	if c.Blocks != [3]uint64{4, 2, 1} || c.Choose != [3][2]uint64{{1, 2}, {3, 0}, {1, 1}} || c.Mapper.Rule != Patterns || !reflect.DeepEqual(c.Mapper.Patterns, []Pattern{pattern, nowhere}) {
		t.Errorf("composite: %+v %+v", c, c.Mapper)
	}
	if c = g.Projections[8]; c.Choose != [3][2]uint64{{1, 0}, {1, 0}, {1, 0}} || c.Mapper.Axes != YXZ || c.Mapper.FromEnd != NoAxis {
		t.Errorf("composite: %+v %+v", c, c.Mapper)
	}
	if p := g.Projections[3]; p.Divide != [3]uint64{10, 2, 1 << 32} {
		t.Errorf("block to block: %+v", p)
	}
	if c = g.Projections[9]; c.Mapper.Divide != [3]uint64{1, 1, 1} {
		t.Errorf("block to block: %+v", c.Mapper)
	}
	if s := g.Stimuli[0]; !reflect.DeepEqual(s.Neurons, []uint32{2, 3, 358, 359}) || len(s.Amounts) != 4 || s.Amounts[3] != 1.5 {
		t.Errorf("stimulus: %+v", s)
	}
	if r := g.Record.Potentials[0]; !reflect.DeepEqual(r.Neurons, []uint32{49}) {
		t.Errorf("record: %+v", r)
	}
	if first, count := eye.Voxel(11, 4, 2); first != 358 || count != 2 {
		t.Errorf("voxel: %d, %d", first, count)
	}
}

// Every mistake in a key of FEAGI's rules and genes must be found in its line and column, alone.
func TestMorphologyMistakes(t *testing.T) {
	for _, m := range []planted{
		{name: "attractivity as a share", old: "attractivity: 37", new: "attractivity: ‹0.37", shape: true},
		{name: "attractivity beyond all", old: "attractivity: 37", new: "attractivity: ‹101", shape: true},
		{name: "axes that are no order", old: "axes: zyx", new: "axes: ‹xxy", shape: true},
		{name: "axes of another rule", old: "rule: expander", new: "rule: expander, ‹axes: zyx"},
		{name: "end of no axis", old: "from_end: y", new: "from_end: ‹w", shape: true},
		{name: "merge of a rule that goes by targets", old: "rule: reducer", new: "rule: fixed_indegree, indegree: 3, ‹merge: true"},
		{name: "block of nothing", old: "src_seed: [4, 2, 1]", new: "src_seed: [4, ‹0, 1]", shape: true},
		{name: "nothing chosen", old: "[3, 0], [1, 1]", new: "[‹0, 3], [1, 1]"},
		{name: "divided by nothing", old: "divide: [10, 2,", new: "divide: [10, ‹0,", shape: true},
		{name: "divided by too much", old: "4294967296", new: "‹4294967297", shape: true},
		{name: "two divisors", old: "[10, 2, 4294967296]", new: "‹[10, 2]", shape: true},
		{name: "mapper that draws", old: "mapper: {rule: projector", new: "mapper: {rule: ‹randomizer", shape: true},
		{name: "mapper without a rule", old: "mapper: {rule: projector, axes: yxz}", new: "mapper: ‹{axes: yxz}", shape: true},
		{name: "key of another mapper", old: "rule: projector, axes: yxz", new: "rule: reducer, ‹axes: yxz"},
		{name: "composite without a mapper", old: "  - {from: hand, to: eye, rule: composite, src_seed: [2, 2, 2], mapper: {rule: projector, axes: yxz}", new: "  - ‹{from: hand, to: eye, rule: composite, src_seed: [2, 2, 2]"},
		{name: "a coordinate below 0", old: "[[3, ", new: "[[‹-4, ", shape: true},
		{name: "voxel outside its area", old: "[11, 4, 2], [0", new: "[11, ‹5, 2], [0"},
		{name: "voxel twice", old: "[0, 0, 1]]", new: "[0, 0, 1], ‹[0, 0, 1]]"},
		{name: "voxels and neurons", old: "voxels: [[6, 0, 1]]", new: "neurons: [1], ‹voxels: [[6, 0, 1]]"},
		{name: "nothing to record", old: "{area: hand, voxels: [[6, 0, 1]]}", new: "‹{area: hand}"},
		{name: "a distribution to divide", old: "from_end: y, weight: 3", new: `from_end: y, weight: ‹"normal(3, 1)"`},
		{name: "psp beyond float32", old: "psp: -2.5", new: "psp: ‹1e39", shape: true},
		{name: "half a device", old: "devices: 3", new: "devices: ‹0.5", shape: true},
	} {
		t.Run(m.name, func(t *testing.T) {
			if !strings.Contains(morphologies, m.old) {
				t.Fatalf("no %q", m.old)
			}
			text := strings.Replace(morphologies, m.old, m.new, 1)
			at := position([]byte(text), strings.Index(text, "‹"))
			text = strings.Replace(text, "‹", "", 1)
			_, err := Parse("planted.yaml", []byte(text), nil)
			faults, _ := err.(Faults)
			if len(faults) != 1 || faults[0].Line != at.Line || faults[0].Column != at.Column {
				t.Errorf("want one fault at %d:%d, found:\n%v", at.Line, at.Column, err)
			}
			if err := validate(t, compiled(t), text); (err != nil) != m.shape {
				t.Errorf("the schema says %v, want a refusal: %v", err, m.shape)
			}
		})
	}
}

// Lists of neurons may have ranges, and all stands for all.
func TestNeuronRanges(t *testing.T) {
	const text = `burst: v1
areas:
  - {name: s, neurons: 12, model: spike_list, spikes: [{neurons: all, at: [3]}, {neurons: [9..11, 0, 4..4], at: [5]}]}
  - {name: e, neurons: 12}
stimuli: [{area: e, at: 1, neurons: [2..4, 7], amount: 1}]
record: {potentials: [{area: e, neurons: [0..11]}]}
`
	require.NoError(t, validate(t, compiled(t), text))
	g, err := Parse("a.yaml", []byte(text), nil)
	require.NoError(t, err)
	var at5 []uint32
	for _, s := range g.Areas[0].Spikes {
		if s.Burst == 5 {
			at5 = append(at5, s.Neuron)
		}
	}
	require.Len(t, g.Areas[0].Spikes, 12+5)
	require.Equal(t, []uint32{0, 4, 9, 10, 11}, at5)
	require.Equal(t, []uint32{2, 3, 4, 7}, g.Stimuli[0].Neurons)
	require.Len(t, g.Record.Potentials[0].Neurons, 12)

	for list, want := range map[string]string{
		"[9..12]":     "expects a range of neurons within 0..11 such as 0..9, found 9..12",
		"[4..2]":      "expects a range of neurons within 0..11 such as 0..9, found 4..2",
		"[1..]":       "expects a range of neurons within 0..11 such as 0..9, found 1..",
		"[0..3, 3]":   "neuron 3 found again in the list",
		"0..3":        "did you mean \"[0..3]\"?",
		"[0..-3]":     "expects a range of neurons",
		"[[0..3]]":    "expects a whole number 0…11",
		"[{a: 0..3}]": "expects a whole number 0…11",
	} {
		_, err := Parse("a.yaml", []byte(strings.Replace(text, "[2..4, 7]", list, 1)), nil)
		require.ErrorContains(t, err, want, list)
	}
}
