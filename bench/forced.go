package bench

import (
	"cmp"
	"fmt"

	"burst/genomes"
)

// forced lists networks whose firing is drawn: every neuron integrates its inputs and fires with a fixed probability in each
// burst, so that the work is known beforehand and compares with benchmarks that force neurons to fire.
var forced = map[string]struct {
	neurons, outdegree int
	share              float64
	weight, delay      string // as the genome says them; empty: one weight, and a delay of a burst
	mixed              bool   // whether a tenth of the neurons is of another model
}{
	"forced-100k":       {100_000, 100, 0.01, "", "", false},
	"forced-500k":       {500_000, 100, 0.01, "", "", false},
	"forced-1m":         {1_000_000, 100, 0.01, "", "", false},
	"forced-1m-1000":    {1_000_000, 1000, 0.01, "", "", false},
	"forced-1m-1000-10": {1_000_000, 1000, 0.1, "", "", false},

	// Of these each runs on a GPU in another way, by backend/cuda/choose.go.
	"forced-100k-1000":         {100_000, 1000, 0.01, "", "", false},
	"forced-100k-1000-weights": {100_000, 1000, 0.01, `"uniform(0.01, 0.02)"`, "", false},
	"forced-1m-delays":         {1_000_000, 100, 0.01, "", `"uniform(1, 4)"`, false},
	"forced-1m-400-delays":     {1_000_000, 400, 0.01, "", `"uniform(1, 4)"`, false},
	"forced-1m-mixed":          {1_000_000, 90, 0.01, "", "", true},
	"forced-4m":                {4_000_000, 50, 0.01, "", "", false},
}

// text is a workload's genome. A threshold that every potential passes leaves the decision to excitability; the constant
// drive makes every neuron a candidate.
func text(name string) ([]byte, error) {
	if _, learns := learningNetworks[name]; learns {
		return learning(name)
	}
	if _, ok := balanced[name]; ok {
		return balance(name), nil
	}
	if text, ok := gridText(name); ok {
		return text, nil
	}
	if ports, ok := ported[name]; ok {
		return portedText(name, ports), nil
	}
	f, ok := forced[name]
	if !ok {
		return genomes.Text(name)
	}
	projection := fmt.Sprintf("rule: fixed_outdegree, outdegree: %d, weight: %s", f.outdegree, cmp.Or(f.weight, "0.01"))
	if f.delay != "" {
		projection += ", delay: " + f.delay
	}
	area, more := "", ""
	if f.mixed {
		rest := f.neurons / 10
		f.neurons -= rest
		area = fmt.Sprintf("  - {name: last, neurons: %d}\n", rest)
		more = "  - {from: all, to: last, rule: fixed_outdegree, outdegree: 10, weight: 0.01}\n"
	}
	return fmt.Appendf(nil, `burst: v1
name: %s
seed: 1
areas:
  - {name: all, neurons: %d, model: feagi, threshold: -1000000, leak: 0.1, excitability: %g, drive: {constant: 1}}
%sprojections:
  - {from: all, to: all, %s}
%s`, name, f.neurons, f.share, area, projection, more), nil
}
