package main

import (
	"bytes"
	_ "embed"
	"fmt"

	"burst/engine"
)

//go:embed testdata/clusters.yaml
var clustersText []byte

// clusters is the network of Litwin-Kumar and Doiron (2012), whose fifty clusters come and go, from 0.5 s to 2 s. The other values are
// testdata/clusters.c's.
func clusters(o options) ([]Check, error) {
	const (
		settle, bursts, seconds = 5000, 20_000, 1.5
		size, many              = 80, 50   // neurons of a cluster, clusters
		bin                     = 1000     // bursts, 0.1 s
		active                  = size * 2 // spikes of a bin, 20 Hz
	)
	c := elsewhere{8, "C", [][2]float64{{3.231, 0.127}, {4.183, 0.131}, {0.688, 0.097}, {3.383, 0.370}}}
	var found [4][]float64
	seeds := o.runs(1)
	for seed := range seeds {
		text := bytes.Replace(clustersText, []byte("\nseed: 2012\n"), fmt.Appendf(nil, "\nseed: %d\n", 1+seed), 1)
		a, err := newActivity(text)
		if err != nil {
			return nil, err
		}
		var counts [(bursts - settle) / bin][many]int
		if err := simulate(o, "clusters", text, bursts, func(b *engine.Burst) error {
			if b.Number < settle {
				return nil
			}
			a.add(b)
			for _, n := range b.Fired {
				if n < many*size {
					counts[(b.Number-settle)/bin][n/size]++
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
		up := 0
		for i := range counts {
			for _, n := range counts[i] {
				if n > active {
					up++
				}
			}
		}
		for k, x := range []float64{a.rate("E", seconds), a.rate("I", seconds), meanCV(a.trains), 100 * float64(up) / float64(len(counts)*many)} {
			found[k] = append(found[k], x)
		}
	}
	var checks []Check
	for k, quantity := range []string{"rate of E (Hz)", "rate of I (Hz)", "CV of intervals", "clusters above 20 Hz (%)"} {
		checks = append(checks, c.check(Check{Case: seedsOf("Litwin-Kumar and Doiron 2012", seeds), Quantity: quantity}, k, found[k]))
	}
	return checks, nil
}
