package engine_test

import (
	"context"
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
