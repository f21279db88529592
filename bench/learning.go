package bench

import (
	"fmt"
	"regexp"
	"strings"
)

// learningNetworks are those of learning, and what they are made of. The others are static twins.
var learningNetworks = map[string]string{
	"learning-100k": "burst-100k", "learning-100k-silent": "burst-100k", "learning-1m": "burst-1m",
	"learning-1m-1000": "burst-1m-1000", "burst-1m-1000": "burst-1m",
}

// learning is burst-100k or burst-1m with the pair rule of STDP, all of its synapses plastic, steps so small that it fires as before;
// learning-100k-silent has as many plastic ones beside the static ones, from sources that never fire; burst-1m-1000 has ten times the
// synapses of burst-1m, of a tenth of the weight.
func learning(name string) ([]byte, error) {
	base := learningNetworks[name]
	text, err := text(base)
	if err != nil {
		return nil, err
	}
	network := strings.Replace(string(text), "name: "+base+"\n", "name: "+name+"\n", 1)
	weight := regexp.MustCompile(`weight: (-?)([\d.]+) mV`)
	switch name {
	case "burst-1m-1000":
		network = regexp.MustCompile(`outdegree: (\d+)`).ReplaceAllString(network, "outdegree: ${1}0")
		return []byte(weight.ReplaceAllString(network, "weight: ${1}${2}e-1 mV")), nil
	case "learning-100k-silent":
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
	digits := ""
	if base == "burst-1m-1000" {
		weight, digits = regexp.MustCompile(`weight: (-?)([\d.]+e-1) mV`), "e-1"
	}
	return []byte(weight.ReplaceAllStringFunc(network, func(weight string) string {
		if strings.Contains(weight, ": -") {
			return weight + ", plasticity: {rule: stdp, lambda: 1e-4, alpha: 1.05, w_max: 0.004" + digits + " mV, mu_plus: 0, mu_minus: 0, bounds: [-0.004" + digits + " mV, 0 mV]}"
		}
		return weight + ", plasticity: {rule: stdp, lambda: 1e-4, alpha: 1.05, w_max: 0.001" + digits + " mV, mu_plus: 0, mu_minus: 0}"
	})), nil
}
