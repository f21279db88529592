package bench

import (
	"fmt"
	"strings"
)

// ported lists networks of a model of the genome's own by how many ports a neuron has: a million neurons with 1,000 synapses each, which all
// ports have in equal parts. Each port has a conductance, and who fires is drawn, so that the ports alone differ.
var ported = map[string]int{"ports-1m-1000-1": 1, "ports-1m-1000-4": 4}

// portedText is the genome of one of them.
func portedText(name string, ports int) []byte {
	const neurons, outdegree = 1_000_000, 1000
	var names, state, update, sum, projections strings.Builder
	for k := range ports {
		fmt.Fprintf(&names, ", r%d: plain", k)
		fmt.Fprintf(&state, ", g%d: 0", k)
		fmt.Fprintf(&update, "g%d = 0.8*g%[1]d + r%[1]d, ", k)
		fmt.Fprintf(&sum, " + g%d", k)
		fmt.Fprintf(&projections, "  - {from: all, to: {area: all, port: r%d}, rule: fixed_outdegree, outdegree: %d, weight: 0.01}\n", k, outdegree/ports)
	}
	return fmt.Appendf(nil, `burst: v1
name: %s
seed: 1
scale: 1000
models:
  - name: cell
    ports: {%s}
    state: {v: 0%s}
    update: [%sv = 0.9*v%s]
    threshold: random() < 0.01
areas:
  - {name: all, neurons: %d, model: cell}
projections:
%s`, name, names.String()[2:], state.String(), update.String(), sum.String(), neurons, projections.String())
}
