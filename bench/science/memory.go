package main

import (
	"bytes"
	"fmt"

	"burst/engine"
	"burst/genomes"
)

// workingMemory is the network of Brunel and Wang (2001): rates before the cue, from 0.5 s to 1 s, and after it, from 2 s to 3 s.
// NEST's are testdata/nest_networks.py's.
func workingMemory(o options) ([]Check, error) {
	nest := elsewhere{8, "NEST", [][2]float64{{2.70, 0.77}, {2.97, 1.04}, {2.64, 0.68}, {8.87, 1.12}, {30.21, 1.94}, {1.89, 0.11}, {3.74, 0.30}, {11.64, 0.36}}}
	spans := []struct {
		name       string
		from, till uint64
	}{{"before", 5000, 10_000}, {"after", 20_000, 30_000}}
	names := []string{"cued", "other", "rest", "inhibitory"}
	text, err := genomes.Text("working-memory")
	if err != nil {
		return nil, err
	}
	found := make([][]float64, len(spans)*len(names))
	seeds := o.runs(2)
	for seed := range seeds {
		own := bytes.Replace(text, []byte("\nseed: 2001\n"), fmt.Appendf(nil, "\nseed: %d\n", 1+seed), 1)
		counts := make([]*activity, len(spans))
		for k := range counts {
			if counts[k], err = newActivity(own); err != nil {
				return nil, err
			}
		}
		err := simulate(o, "working-memory", own, spans[1].till, func(b *engine.Burst) error {
			for k := range spans {
				if spans[k].from <= b.Number && b.Number < spans[k].till {
					counts[k].add(b)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for k, s := range spans {
			for i, name := range names {
				at := k*len(names) + i
				found[at] = append(found[at], counts[k].rate(name, float64(s.till-s.from)*1e-4))
			}
		}
	}
	var checks []Check
	for k, s := range spans {
		for i, name := range names {
			at := k*len(names) + i
			checks = append(checks, nest.check(Check{Case: seedsOf("Brunel and Wang 2001", seeds), Quantity: fmt.Sprintf("%s %s the cue (Hz)", name, s.name)}, at, found[at]))
		}
	}
	return checks, nil
}

// gifCurve is the f-I curve of the neuron with escape noise: the mean rate of many against that of 8,000 in NEST.
func gifCurve(o options) ([]Check, error) {
	table, err := readNESTModels()
	if err != nil {
		return nil, err
	}
	var checks []Check
	for _, m := range table.Models {
		if m.Model != "gif" {
			continue
		}
		for k, current := range m.Current {
			m.Neurons = 8000
			ours, err := m.rate(o, current)
			if err != nil {
				return nil, err
			}
			checks = append(checks, Check{
				Case: "f-I curve, gif", Quantity: fmt.Sprintf("rate at %g pA (Hz)", current), Computed: fmt.Sprintf("%.3f (NEST)", m.Rate[k]),
				Ours: ours, Low: 0.995 * m.Rate[k], High: 1.005 * m.Rate[k], Digits: 3,
			})
		}
	}
	return checks, nil
}
