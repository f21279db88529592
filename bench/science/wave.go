package main

import (
	"fmt"
	"math"
	"strings"

	"burst/engine"
)

// The strip of the example wave: neurons 1 um apart behind those that begin, and what its neurons and synapses are.
const (
	waveFirst, waveNeurons = 400, 10_000
	waveTau                = 10.0  // ms
	waveThreshold          = 20.0  // mV
	waveReach              = 200.0 // um
	waveDelay              = 1.0   // ms
	waveConduction         = 300.0 // um/ms
)

// wave is the example wave with its weight, a larger one and one too small: how many neurons the pulse reaches, and how fast.
func wave(o options) ([]Check, error) {
	text, err := example("wave")
	if err != nil {
		return nil, err
	}
	const name = "Bressloff 2000, wave"
	var checks []Check
	for _, weight := range []float64{0.3, 0.4, 0.15} {
		reached, spikes, speed, err := travel(o, strings.ReplaceAll(text, "weight: 0.3 mV", fmt.Sprintf("weight: %g mV", weight)))
		if err != nil {
			return nil, err
		}
		share := Check{Case: name, Quantity: fmt.Sprintf("neurons that fire, weight %g mV (%%)", weight), Ours: 100 * float64(reached) / waveNeurons, Digits: 1}
		want := waveSpeed(weight)
		if want == 0 {
			share.Computed, share.High = "no pulse (closed form)", 10
			checks = append(checks, share)
			continue
		}
		share.Computed, share.Low, share.High = "100", 100, 100
		checks = append(checks, share,
			Check{Case: name, Quantity: fmt.Sprintf("spikes of one of them, weight %g mV", weight), Computed: "1", Ours: float64(spikes) / float64(max(1, reached)), Low: 1, High: 1, Digits: 2},
			Check{Case: name, Quantity: fmt.Sprintf("speed, weight %g mV (um/ms)", weight), Computed: fmt.Sprintf("%.1f (closed form)", want), Ours: speed, Low: 0.97 * want, High: 1.03 * want, Digits: 1})
	}
	return checks, nil
}

// waveSpeed is the speed of the stable pulse in um/ms; 0: there is none. Behind the front a source at the distance y is heard when
// y/u ≥ delay, with 1/speed = 1/u + 1/conduction. What arrived has decayed by exp(−(y/u − delay)/tau). With a neuron each um, of which
// exp(−y/reach) are connected, the sum is the threshold where weight·reach·exp(−u·delay/reach)·u·tau/(u·tau + reach) is. The
// faster one of two solutions is stable.
func waveSpeed(weight float64) float64 {
	sum := func(u float64) float64 {
		return weight * waveReach * math.Exp(-u*waveDelay/waveReach) * u * waveTau / (u*waveTau + waveReach)
	}
	lo := 1.0
	for u := 1.0; u < 2000; u++ {
		if sum(u) > sum(lo) {
			lo = u
		}
	}
	if sum(lo) < waveThreshold {
		return 0
	}
	hi := 1e5
	for range 100 {
		if u := (lo + hi) / 2; sum(u) > waveThreshold {
			lo = u
		} else {
			hi = u
		}
	}
	return 1 / (1/lo + 1/waveConduction)
}

// travel runs the strip and fits a line to the times of spikes between a fifth and four fifths of it.
func travel(o options, text string) (reached, spikes int, speed float64, err error) {
	const step, bursts = 0.1, 900
	seen := make([]bool, waveNeurons)
	var n, x, t, xx, xt float64
	_, err = learned(o, text, bursts, recorder(func(b *engine.Burst) error {
		for _, id := range b.Fired {
			if id < waveFirst {
				continue
			}
			if at := id - waveFirst; !seen[at] {
				seen[at] = true
				reached++
			}
			spikes++
			if at := float64(id-waveFirst) + 0.5; at > 0.2*waveNeurons && at < 0.8*waveNeurons {
				time := float64(b.Number) * step
				n, x, t, xx, xt = n+1, x+at, t+time, xx+at*at, xt+at*time
			}
		}
		return nil
	}))
	return reached, spikes, (n*xx - x*x) / (n*xt - x*t), err
}
