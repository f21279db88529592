package main

import (
	"bytes"
	_ "embed"
	"fmt"

	"burst/engine"
)

//go:embed testdata/population-bursts.yaml
var synchronyText []byte

// synchrony is the network of Tsodyks, Uziel and Markram (2000), whose synapses draw U, tau_rec and tau_fac: how often most of it fires
// together.
func synchrony(o options) ([]Check, error) {
	const (
		settle, bursts, seconds = 10_000, 110_000, 10.0
		bin                     = 10 // bursts, 1 ms
		together                = 20 // of 500 neurons in a bin
		apart                   = 50 // bins from one population burst to the next
	)
	nest := elsewhere{6, "NEST", [][2]float64{{7.70, 0.63}, {23.32, 2.26}, {0.42, 0.35}}}
	var found [3][]float64
	seeds := o.runs(1)
	for seed := range seeds {
		text := bytes.Replace(synchronyText, []byte("\nseed: 2000\n"), fmt.Appendf(nil, "\nseed: %d\n", 1+seed), 1)
		a, err := newActivity(text)
		if err != nil {
			return nil, err
		}
		counts := make([]int, (bursts-settle)/bin)
		if err := simulate(o, "population-bursts", text, bursts, func(b *engine.Burst) error {
			if b.Number >= settle {
				a.add(b)
				counts[(b.Number-settle)/bin] += len(b.Fired)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		times, last := 0.0, -apart-1
		for i, n := range counts {
			if n <= together {
				continue
			}
			if i-last > apart {
				times++
			}
			last = i
		}
		for k, x := range []float64{a.rate("E", seconds), a.rate("I", seconds), times / seconds} {
			found[k] = append(found[k], x)
		}
	}
	var checks []Check
	for k, quantity := range []string{"rate of E (Hz)", "rate of I (Hz)", "population bursts (Hz)"} {
		checks = append(checks, nest.check(Check{Case: seedsOf("Tsodyks, Uziel, Markram 2000", seeds), Quantity: quantity}, k, found[k]))
	}
	checks[2].Low = max(checks[2].Low, 0.05) // there are some
	return checks, nil
}
