package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/run"
)

// field is a world with a light: a Source, which lights the eye, and a Recorder, which takes the light away for a while when the
// leg moves.
type field struct {
	eye, leg connectome.Span // ports of one, neurons of the other
	amount   int32
	light    uint64 // the burst from which on there is light
}

// Stimuli is asked before burst t, when the bursts before it have been recorded.
func (f *field) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	for i := range f.eye.Count {
		if t >= f.light {
			in = append(in, engine.Stimulus{Port: f.eye.First + i, Amount: f.amount})
		}
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

const reflex = `
burst: v1
areas:
  - {name: eye, neurons: 3}
  - {name: leg, neurons: 1, threshold: 3}
projections:
  - {from: eye, to: leg, rule: all_to_all, weight: 1, delay: 2}
`

// A closed loop: what fires changes the world, and the world what is seen. The run stops after ten bursts and goes on, with the
// same world.
func Example() {
	g, err := genome.Parse("reflex.yaml", []byte(reflex), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "burst")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, f := context.Background(), &field{}
	world := run.Options{Backend: "cpu", Sources: []engine.Source{f}, Recorders: []engine.Recorder{f}}
	begin := world
	begin.Runs, begin.Bursts = dir, 20
	r, err := run.New(ctx, g, begin)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := r.Connectome
	f.eye, f.leg, f.amount = c.Areas[0].Ports, c.Areas[1].Neurons, c.Scale // c.Scale quanta are 1
	if err := errors.Join(r.Advance(ctx, 10), r.Close()); err != nil {
		fmt.Println(err)
		return
	}
	r, err = run.Resume(ctx, r.Folder, world)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it goes on at burst", r.Number())
	if err := errors.Join(r.Advance(ctx, r.End()), r.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// burst 2 the leg moves
	// burst 3 the leg moves
	// burst 4 the leg moves
	// it goes on at burst 10
	// burst 11 the leg moves
	// burst 12 the leg moves
	// burst 13 the leg moves
}
