package bench

import (
	"fmt"
	"regexp"
	"strings"

	"burst/genomes"
)

// learning is burst-100k with the pair rule of STDP: learning-100k, all of its synapses plastic, steps so small that it fires as before;
// learning-100k-silent, as many plastic ones beside the static ones, from sources that never fire.
func learning(name string) ([]byte, error) {
	text, err := genomes.Text("burst-100k")
	if err != nil {
		return nil, err
	}
	network := strings.Replace(string(text), "name: burst-100k\n", "name: "+name+"\n", 1)
	if name == "learning-100k" {
		network = regexp.MustCompile(`weight: (-?)([\d.]+) mV`).ReplaceAllStringFunc(network, func(weight string) string {
			if strings.Contains(weight, "-") {
				return weight + ", plasticity: {rule: stdp, lambda: 1e-4, alpha: 1.05, w_max: 0.004 mV, mu_plus: 0, mu_minus: 0, bounds: [-0.004 mV, 0 mV]}"
			}
			return weight + ", plasticity: {rule: stdp, lambda: 1e-4, alpha: 1.05, w_max: 0.001 mV, mu_plus: 0, mu_minus: 0}"
		})
		return []byte(network), nil
	}
	areas, projections, found := strings.Cut(network, "projections:\n")
	if !found {
		panic("BUG: burst-100k has no projections")
	}
	return fmt.Appendf(nil, `%s  - {name: silent, neurons: 100000, model: spike_list, spikes: []}
projections:
%s  - {from: silent, to: E, rule: fixed_outdegree, outdegree: 80, weight: 0.0005 mV, plasticity: {rule: stdp, w_max: 0.001 mV}}
  - {from: silent, to: I, rule: fixed_outdegree, outdegree: 20, weight: 0.0005 mV, plasticity: {rule: stdp, w_max: 0.001 mV}}
`, areas, projections), nil
}
