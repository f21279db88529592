package engine_test

import (
	"context"
	"errors"
	"fmt"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// spikes is a Recorder that prints who fires.
type spikes struct{}

func (spikes) Record(b *engine.Burst) error {
	if len(b.Fired) > 0 {
		fmt.Println("burst", b.Number, "fired", b.Fired)
	}
	return nil
}

// From a genome's text to its fire queues.
func Example() {
	text := `
burst: v1
areas:
  - {name: eye, neurons: 2}
  - {name: leg, neurons: 1, threshold: 2}
projections:
  - {from: eye, to: leg, rule: all_to_all, weight: 1, delay: 3}
stimuli:
  - {area: eye, at: 1, neurons: [0, 1], amount: 1}
`
	g, err := genome.Parse("example.yaml", []byte(text), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := backend.Open("cpu", c, backend.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	e := engine.New(c, b, engine.Options{Recorders: []engine.Recorder{spikes{}}})
	if err := e.Run(context.Background(), 10); err != nil {
		fmt.Println(err)
	}
	// Output:
	// burst 1 fired [0 1]
	// burst 4 fired [2]
}

// field is a world with a light: a Source, which lights the eye, and a Recorder, which takes it away for a while when the
// leg moves.
type field struct {
	eye, leg connectome.Span // ports of one, neurons of the other
	amount   int32
	light    uint64 // the burst from which on there is light
}

// Stimuli is asked before burst t, when the bursts before it have been recorded.
func (f *field) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	if t < f.light {
		return in, nil
	}
	for i := range f.eye.Count {
		in = append(in, engine.Stimulus{Port: f.eye.First + i, Amount: f.amount})
	}
	return in, nil
}

func (f *field) Record(b *engine.Burst) error {
	for _, n := range b.Fired {
		if f.leg.Has(n) {
			fmt.Println("burst", b.Number, "the leg moves")
			f.light = b.Number + 5
		}
	}
	return nil
}

// build makes the network of a genome's text.
func build(text string) (*connectome.Connectome, error) {
	g, err := genome.Parse("example.yaml", []byte(text), nil)
	if err != nil {
		return nil, err
	}
	return connectome.Build(g, connectome.Options{})
}

const reflex = `
burst: v1
areas:
  - {name: eye, neurons: 3}
  - {name: leg, neurons: 1, threshold: 3}
projections:
  - {from: eye, to: leg, rule: all_to_all, weight: 1, delay: 2}
`

// A closed loop: what fires changes the world, and the world what is seen.
func ExampleSource() {
	c, err := build(reflex)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := backend.Open("cpu", c, backend.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	eye, leg := &c.Areas[0], &c.Areas[1]                           // in the genome's order
	f := &field{eye: eye.Ports, leg: leg.Neurons, amount: c.Scale} // c.Scale quanta are 1
	e := engine.New(c, b, engine.Options{Sources: []engine.Source{f}, Recorders: []engine.Recorder{f}})
	if err := e.Run(context.Background(), 20); err != nil {
		fmt.Println(err)
	}
	// Output:
	// burst 2 the leg moves
	// burst 3 the leg moves
	// burst 4 the leg moves
	// burst 11 the leg moves
	// burst 12 the leg moves
	// burst 13 the leg moves
}

// A state goes on elsewhere, here on another backend: the same digest as without a break.
func ExampleEngine_Restore() {
	c, err := build(reflex + "stimuli: [{area: eye, every: 1, neurons: [0, 1, 2], amount: 1}]\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	one, err := backend.Open("cpu", c, backend.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer one.Close()
	other, err := backend.Open("reference", c, backend.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer other.Close()
	ctx := context.Background()
	var half engine.State
	e := engine.New(c, one, engine.Options{})
	if err := errors.Join(e.Run(ctx, 50), e.State(&half), e.Run(ctx, 50)); err != nil {
		fmt.Println(err)
	}
	r := engine.New(c, other, engine.Options{})
	if err := errors.Join(r.Restore(&half), r.Run(ctx, 50)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(r.Number(), "bursts, the same digest:", r.Digest() == e.Digest())
	// Output:
	// 100 bursts, the same digest: true
}
