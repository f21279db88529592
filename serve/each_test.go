package serve_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"burst/live"
	"burst/live/wire"
	"burst/run"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// TestOutputOfAVariable: an output of potentials may name a state variable in their place; which one is looked for in the model.
func TestOutputOfAVariable(t *testing.T) {
	path := socketIn(t)
	start(t, serve.Options{LockStep: true, Socket: path, Options: live.Options{Options: run.Options{Record: []string{"potentials=leg"}}}})
	c := dial(t, path, wire.Hello{Role: wire.RoleDrive})
	leg := wire.Output{Place: wire.Place{Area: "leg"}, Kind: "potentials"}
	named, wrong := leg, leg
	named.Variable, wrong.Variable = "V", "W"
	_, err := c.Bind(wire.Bind{Outputs: []wire.Output{leg, wrong}})
	require.ErrorContains(t, err, `"W", want a state variable or an input of the model`)
	_, err = c.Bind(wire.Bind{Outputs: []wire.Output{leg, named}})
	require.NoError(t, err)
	x, err := c.Step(30)
	require.NoError(t, err)
	require.Equal(t, x.Outputs[0].Values, x.Outputs[1].Values)
}

// TestEachBurst: one step with inputs of each burst and outputs of each is as many steps of a burst, and replays.
func TestEachBurst(t *testing.T) {
	bound := wire.Bind{
		Inputs: append(eyeAndLeg.Inputs[:1:1], wire.Input{Name: "crowd", Place: wire.Place{Area: "crowd", Neurons: []uint32{3}}, Largest: 2}),
		Outputs: append(eyeAndLeg.Outputs[:2:2], wire.Output{Place: wire.Place{Area: "leg"}, Kind: "fired"},
			wire.Output{Place: wire.Place{Area: "leg"}, Kind: "potentials"}),
	}
	begin := func(folder string) (*served, *wire.Client) {
		path := socketIn(t)
		o := serve.Options{LockStep: true, Socket: path, Options: live.Options{Options: run.Options{Folder: folder, Record: []string{"potentials=leg"}}}}
		s := start(t, o)
		c := dial(t, path, wire.Hello{Role: wire.RoleDrive})
		_, err := c.Bind(bound)
		require.NoError(t, err)
		return s, c
	}
	const n = 30
	var all, counts []float32
	var want wire.Result
	_, one := begin("")
	var digest uint64
	for i := range n {
		now := amounts(float32(i) / n)
		all = append(all, now...)
		inputs := []wire.Amounts{{Handle: 0, Amounts: now}}
		if i == 0 {
			inputs = append(inputs, wire.Amounts{Handle: 1, Amounts: []float32{2}})
		}
		x, err := one.Step(1, inputs...)
		require.NoError(t, err)
		digest = x.Digest
		want.Counts, want.Values = append(want.Counts, x.Outputs[0].Counts...), append(want.Values, x.Outputs[3].Values...)
		counts = append(counts, x.Outputs[1].Values...)
	}

	dir := filepath.Join(t.TempDir(), "run")
	s, c := begin(dir)
	series := []wire.Amounts{{Handle: 0, Amounts: all, Series: true}, {Handle: 1, Amounts: []float32{2}}}
	x, err := c.StepEach(n, []uint16{3, 0, 1}, series...)
	require.NoError(t, err)
	require.Equal(t, digest, x.Digest)
	require.EqualValues(t, n, x.Next)
	require.Len(t, x.Outputs, 3)
	require.Equal(t, want.Values, x.Outputs[0].Values)
	require.Equal(t, want.Counts, x.Outputs[1].Counts)
	require.Equal(t, counts, x.Outputs[2].Values)

	// What is refused is refused before anything is run.
	all[24*(n-1)+3] = 5
	for text, ask := range map[string]func() (*wire.Stepped, error){
		"burst 29 of the step: live: input \"eye\" of a client: amount 5 for entry 3": func() (*wire.Stepped, error) { return c.StepEach(n, nil, series...) },
		"output 4 is not bound":                   func() (*wire.Stepped, error) { return c.StepEach(n, []uint16{4}) },
		"output 2 tells which entries have fired": func() (*wire.Stepped, error) { return c.StepEach(n, []uint16{2}) },
		"output 0 is named twice":                 func() (*wire.Stepped, error) { return c.StepEach(n, []uint16{0, 0}) },
		"want at most 838859 bursts":              func() (*wire.Stepped, error) { return c.StepEach(900_000, []uint16{0}) },
	} {
		_, err := ask()
		require.ErrorContains(t, err, text)
	}

	// Without outputs of each burst, all are told of all bursts together.
	all[24*(n-1)+3] = 0
	x, err = c.StepEach(n, nil, series...)
	require.NoError(t, err)
	require.EqualValues(t, 2*n, x.Next)
	require.Len(t, x.Outputs, 4)
	require.Len(t, x.Outputs[0].Counts, 5)
	digest = x.Digest
	require.NoError(t, s.stop())
	require.Equal(t, fmt.Sprintf("%016x", digest), replayed(t, dir))
}
