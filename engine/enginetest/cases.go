package enginetest

import (
	"embed"
	"fmt"
	"slices"
	"testing"

	"burst/engine"
	"burst/internal/slow"
)

//go:embed testdata
var testdata embed.FS

// runCases runs the wanted cases of testdata, each as a subtest of its name.
func runCases(t *testing.T, open Open, wanted func(*textCase) bool) {
	cases, err := readCases(testdata)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if c.why == "" || len(c.steps) == 0 || seen[c.name] {
			t.Errorf("%s:%d: case %s lacks a reason or bursts, or its name is taken", c.file, c.line, c.name)
		}
		seen[c.name] = true
		if !wanted(c) {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.run(t, open) })
	}
}

// run steps through one case.
func (c *textCase) run(t *testing.T, open Open) {
	n := c.net.Build()
	b := start(t, open, n, engine.Want{FCL: true})
	s := read(t, b)
	for _, set := range c.start {
		if err := set(s); err != nil {
			t.Fatalf("%s:%d: %v", c.file, c.line, err)
		}
	}
	write(t, b, s)
	var out engine.Burst
	steps := c.steps
	if !slow.Full() {
		steps = steps[:min(len(steps), 700)] // some go on for thousands: each is a launch on a GPU that is played by the host
	}
	for _, e := range steps {
		for i := range e.candidates {
			e.candidates[i].Neuron = n.NeuronOf(e.candidates[i].Port)
		}
		step(t, b, e.in, &out)
		err := shape(&out)
		if err == nil {
			err = e.check(&out)
		}
		if err == nil && e.looksAtState() {
			err = e.checkState(read(t, b))
		}
		if err != nil {
			t.Fatalf("%s:%d: burst %d, %v\nwhy: %s", c.file, e.line, out.Number, err, c.why)
		}
	}
}

// shape reports the first thing in a burst that no network may show.
func shape(out *engine.Burst) error {
	for i := 1; i < len(out.Fired); i++ {
		if out.Fired[i-1] >= out.Fired[i] {
			return fmt.Errorf("neuron %d: fired is entry %d after neuron %d, want ascending ids", out.Fired[i], i, out.Fired[i-1])
		}
	}
	for i, c := range out.Candidates {
		if c.Sum == 0 {
			return fmt.Errorf("neuron %d: candidate's sum is 0, want no candidate", c.Neuron)
		}
		if i > 0 && out.Candidates[i-1].Port >= c.Port {
			return fmt.Errorf("neuron %d: candidate of port %d comes after port %d, want ascending ports", c.Neuron, c.Port, out.Candidates[i-1].Port)
		}
	}
	return nil
}

// check compares what a burst delivered.
func (e *expectation) check(out *engine.Burst) error {
	fired := out.Fired
	if e.only != nil {
		fired = slices.DeleteFunc(slices.Clone(fired), func(n uint32) bool { return !slices.Contains(e.only, n) })
	}
	want := slices.Sorted(slices.Values(e.fired))
	a, b := &engine.Burst{Fired: fired}, &engine.Burst{Fired: want}
	if e.amplitudes != nil {
		a.Amplitudes, b.Amplitudes = out.Amplitudes, e.amplitudes
	}
	if e.candidates != nil {
		a.Candidates, b.Candidates = out.Candidates, e.candidates
	}
	if d := engine.CompareBursts(a, b); d != nil {
		return fmt.Errorf("neuron %d: %s is %s, want %s", d.Neuron, d.Field, d.A, d.B)
	}
	return nil
}

func (e *expectation) looksAtState() bool {
	return e.v != nil || e.more != nil || e.refractory != nil || e.count != nil || e.learnt != nil || e.kept != nil
}

// checkState compares what a burst left.
func (e *expectation) checkState(s *engine.State) error {
	if err := e.checkLearnt(s); err != nil {
		return err
	}
	if err := e.checkKept(s); err != nil {
		return err
	}
	want := &engine.State{Number: s.Number, V: s.V, Refractory: s.Refractory, Count: s.Count, More: slices.Clone(s.More), Queues: s.Queues, Amplitudes: s.Amplitudes, Plastic: s.Plastic, Memory: s.Memory}
	if e.v != nil {
		want.V = e.v
	}
	for k, more := range e.more {
		if more != nil {
			want.More[k] = more
		}
	}
	if e.refractory != nil {
		want.Refractory = e.refractory
	}
	if e.count != nil {
		want.Count = e.count
	}
	if d := engine.CompareStates(s, want); d != nil {
		return fmt.Errorf("neuron %d: %s is %s, want %s", d.Neuron, d.Field, d.A, d.B)
	}
	return nil
}
