package bench

import "fmt"

// balanced lists random networks of excitation and inhibition whose excitatory synapses learn by stdp_power_law: 9,000 excitatory and 2,250
// inhibitory synapses onto each neuron, four excitatory neurons for each inhibitory one, a delay of 1.5 ms that is dendritic, and alpha
// currents.
var balanced = map[string]struct {
	excitatory, inhibitory int // neurons
	tauSyn, rate           string
	rule                   string // its parameters
}{
	// NEST's pynest/examples/hpc_benchmark.py; the number is its scale, of which the script holds weights and rates to 1 and above.
	"hpc-benchmark-small": {180, 45, hpcTauSyn, hpcRate, ""},
	"hpc-benchmark-1":     {9_000, 2_250, hpcTauSyn, hpcRate, ""},
	"hpc-benchmark-20":    {180_000, 45_000, hpcTauSyn, hpcRate, ""},
	// A. Morrison, A. Aertsen, M. Diesmann, Neural Computation 19:1437 (2007).
	"morrison-2007": {90_000, 22_500, "0.33 ms", "20880 Hz", ", tau_plus: 20 ms, tau_minus: 20 ms, alpha: 0.1057"},
}

const hpcTauSyn, hpcRate = "0.32582722403722841 ms", "20856.0372 Hz"

// balance is the genome of one of them.
func balance(name string) []byte {
	b := balanced[name]
	area := fmt.Sprintf(`model: lif_psc_alpha
    params: {C: 250 pF, tau: 10 ms, tau_syn_ex: %s, tau_syn_in: %[1]s, rest: 0 mV, reset: 0 mV, threshold: 20 mV, refractory: 0.5 ms}
    drive: {poisson: {rate: %s, weight: 45.609600316540956 pA}}
    init: {V: "normal(5.7 mV, 7.2 mV)"}`, b.tauSyn, b.rate)
	return fmt.Appendf(nil, `burst: v1
name: %s
seed: 1
timestep: 0.1 ms
scale: auto
areas:
  - name: E
    neurons: %d
    %s
  - name: I
    neurons: %d
    %[3]s
projections:
  - {from: E, to: E, rule: fixed_indegree, indegree: 9000, autapses: false, weight: 45.609600316540956 pA, delay: 1.5 ms, back: 1.5 ms,
     plasticity: {rule: stdp_power_law%[5]s}}
  - {from: E, to: I, rule: fixed_indegree, indegree: 9000, weight: 45.609600316540956 pA, delay: 1.5 ms}
  - {from: I, to: E, rule: fixed_indegree, indegree: 2250, weight: -228.04800158270478 pA, delay: 1.5 ms}
  - {from: I, to: I, rule: fixed_indegree, indegree: 2250, autapses: false, weight: -228.04800158270478 pA, delay: 1.5 ms}
`, name, b.excitatory, area, b.inhibitory, b.rule)
}
