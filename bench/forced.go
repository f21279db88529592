package bench

import (
	"fmt"

	"burst/genomes"
)

// forced lists networks whose firing is drawn: every neuron integrates its inputs and fires with a fixed probability in each
// burst, so that the work is known beforehand and compares with benchmarks that force neurons to fire.
var forced = map[string]struct {
	neurons, outdegree int
	share              float64
}{
	"forced-100k":       {100_000, 100, 0.01},
	"forced-500k":       {500_000, 100, 0.01},
	"forced-1m":         {1_000_000, 100, 0.01},
	"forced-1m-1000":    {1_000_000, 1000, 0.01},
	"forced-1m-1000-10": {1_000_000, 1000, 0.1},
}

// text is a workload's genome. A threshold that every potential passes leaves the decision to excitability; the constant
// drive makes every neuron a candidate.
func text(name string) ([]byte, error) {
	f, ok := forced[name]
	if !ok {
		return genomes.Text(name)
	}
	return fmt.Appendf(nil, `burst: v1
name: %s
seed: 1
areas:
  - {name: all, neurons: %d, model: feagi, threshold: -1000000, leak: 0.1, excitability: %g, drive: {constant: 1}}
projections:
  - {from: all, to: all, rule: fixed_outdegree, outdegree: %d, weight: 0.01}
`, name, f.neurons, f.share, f.outdegree), nil
}
