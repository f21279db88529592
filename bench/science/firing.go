package main

import (
	"fmt"
	"strings"

	"burst/engine"
)

// firingCurve counts, for each current, the steps from reset to threshold of a neuron of the model, lif or lif_psc_exp, and
// compares the rate with the closed form on a grid of 0.1 ms.
func firingCurve(o options, model string) ([]Check, error) {
	points := []struct {
		current, steps int // pA; steps of 0.1 ms to threshold, 0 for never
	}{{300, 0}, {375, 0}, {376, 593}, {380, 434}, {400, 278}, {450, 180}, {500, 139}, {600, 99}, {750, 70}, {1000, 48}}
	const refractory = 20
	text := []byte("burst: v1\nname: f-I curve\ntimestep: 0.1 ms\nareas:\n")
	for _, p := range points {
		text = fmt.Appendf(text, "  - {name: I%d, neurons: 1, model: %s, drive: {constant: %d pA},"+
			" params: {tau: 10 ms, C: 250 pF, rest: 0 mV, reset: 0 mV, threshold: 15 mV, refractory: 2 ms}}\n", p.current, model, p.current)
	}
	spikes := make([][]uint64, len(points))
	err := simulate(o, "f-I curve", text, 200_000, func(b *engine.Burst) error {
		for _, n := range b.Fired {
			spikes[n] = append(spikes[n], b.Number)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var checks []Check
	for i, p := range points {
		c := Check{Case: "f-I curve, " + model, Quantity: fmt.Sprintf("steps to threshold at %d pA", p.current), Low: float64(p.steps), High: float64(p.steps)}
		if c.Computed = "never fires"; p.steps > 0 {
			c.Computed = fmt.Sprintf("%d (%.4f Hz)", p.steps, 10_000/float64(p.steps+refractory))
		}
		if c.Ours, err = interval(spikes[i], refractory); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Quantity, err)
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// interval is the number of steps from reset to threshold, the same in every cycle; 0 for a neuron that never fires.
func interval(spikes []uint64, refractory uint64) (float64, error) {
	if len(spikes) == 0 {
		return 0, nil
	}
	first := spikes[0] + 1
	var odd []string
	for i := 1; i < len(spikes); i++ {
		if d := spikes[i] - spikes[i-1] - refractory; d != first {
			odd = append(odd, fmt.Sprint(d))
		}
	}
	if odd != nil {
		return 0, fmt.Errorf("intervals of %s steps beside %d", strings.Join(odd, ", "), first)
	}
	return float64(first), nil
}
