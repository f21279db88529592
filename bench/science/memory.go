package main

import (
	_ "embed"
	"fmt"
	"regexp"

	"burst/engine"
	"burst/genomes"
)

//go:embed testdata/decision.yaml
var decisionText []byte

// workingMemory is the network of Brunel and Wang (2001): rates before the cue and after it. NEST's are testdata/nest_networks.py's.
func workingMemory(o options) ([]Check, error) {
	text, err := genomes.Text("working-memory")
	if err != nil {
		return nil, err
	}
	return o.ratesIn(2, "working-memory", "Brunel and Wang 2001", text, []string{"cued", "other", "rest", "inhibitory"},
		[]stretch{{"before the cue", 5000, 10_000}, {"after the cue", 20_000, 30_000}},
		elsewhere{8, "NEST", [][2]float64{{2.70, 0.77}, {2.97, 1.04}, {2.64, 0.68}, {8.87, 1.12}, {30.21, 1.94}, {1.89, 0.11}, {3.74, 0.30}, {11.64, 0.36}}})
}

// decision is the network of Wang (2002): rates before the motion and in the second half of it. When A comes to its rate differs much from
// run to run, so that there are always eight.
func decision(o options) ([]Check, error) {
	return o.ratesIn(8, "decision", "Wang 2002", decisionText, []string{"A", "B", "rest", "inhibitory"},
		[]stretch{{"before the motion", 5000, 10_000}, {"in the motion", 15_000, 20_000}},
		elsewhere{108, "NEST", [][2]float64{{2.55, 0.44}, {2.52, 0.44}, {2.52, 0.22}, {8.34, 0.36}, {33.87, 2.53}, {1.67, 0.35}, {4.46, 0.24}, {14.23, 0.37}}})
}

// stretch is bursts from ≤ n < till of a run.
type stretch struct {
	name       string
	from, till uint64
}

// ratesIn compares rates of areas in stretches of a network, of several seeds, at least few, with those computed elsewhere: stretch by stretch.
func (o options) ratesIn(few int, network, published string, text []byte, areas []string, spans []stretch, other elsewhere) ([]Check, error) {
	found := make([][]float64, len(spans)*len(areas))
	seeds := o.runs(few)
	for seed := range seeds {
		own := regexp.MustCompile(`(?m)^seed: \d+$`).ReplaceAll(text, fmt.Appendf(nil, "seed: %d", 1+seed))
		counts := make([]*activity, len(spans))
		for k := range counts {
			var err error
			if counts[k], err = newActivity(own); err != nil {
				return nil, err
			}
		}
		err := simulate(o, network, own, spans[len(spans)-1].till, func(b *engine.Burst) error {
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
			for i, name := range areas {
				at := k*len(areas) + i
				found[at] = append(found[at], counts[k].rate(name, float64(s.till-s.from)*1e-4))
			}
		}
	}
	var checks []Check
	for k, s := range spans {
		for i, name := range areas {
			at := k*len(areas) + i
			checks = append(checks, other.check(Check{Case: seedsOf(published, seeds), Quantity: fmt.Sprintf("%s %s (Hz)", name, s.name)}, at, found[at]))
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
