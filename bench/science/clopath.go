package main

import (
	"fmt"
	"strings"
)

// clopathNeuron is the adaptive exponential neuron of Clopath and others (2010), table 1, as NEST's aeif_psc_delta_clopath has it,
// with its test's numbers: potentials are relative to rest, in mV, currents in pA. A spike holds v at its peak for 21 steps. The rule
// reads it as NEST does: V is v of a step before, u_minus and u_plus are 4 ms older than that, as in the authors' code. So there are
// two neurons in one: the second gets its input, kept in "late", 41 steps after the first, and the low-pass filters are of it.
func clopathNeuron() string {
	const dynamics = `
      - rise# = slope*g/C*exp(min((v# - th#)/slope, 80))
      - spike# = hold# == 0 and v# + dt*rise# >= peak
      - v# = select(spike#, peak, v#)
      - w# = select(spike#, w# + b, w#)
      - z# = select(spike#, 400, z#)
      - th# = select(spike#, th_high, th#)
      - hold# = select(spike#, 21, hold#)
      - mid# = select(hold# == 0, v# + dt/2*(rise# + (z# - w# - g*v#)/C), v#)
      - mid_w# = w# + dt/2/tau_w*(a*v# - w#)
      - next# = select(hold# == 0, v# + dt*(rise# + (half_z*z# - mid_w# - g*mid#)/C) + in#, v#)
      - w# = select(hold# == 0, w# + dt/tau_w*(a*mid# - mid_w#), w#)
      - v# = select(hold# == 1, reset, next#)
      - z# = half_z*half_z*z#
      - th# = th_low + keep_th*(th# - th_low)
      - hold# = max(hold# - 1, 0)`
	first, second := strings.ReplaceAll(dynamics, "#", ""), strings.ReplaceAll(dynamics, "#", "_2")
	return `models:
  - name: clopath_aeif
    input: mV
    ports: [in]
    params: {C: 281 pF, g: 30, a: 4, b: 0.0805, slope: 2 mV, tau_w: 144 ms, peak: 103.6 mV, reset: 21 mV, th_low: 20.2 mV, th_high: 101 mV, tau_minus: 10 ms, tau_plus: 7 ms}
    constants: {half_z: exp(-dt/80), keep_th: exp(-dt/50), keep_minus: exp(-dt/tau_minus), keep_plus: exp(-dt/tau_plus)}
    state: {V: 0, v: 0, w: 0, z: 0, th: th_low, hold: 0, late: 0, wait: 0, v_2: 0, w_2: 0, z_2: 0, th_2: th_low, hold_2: 0, u_minus: 0, u_plus: 0}
    update:
      - V = v
      - wait = max(wait - 1, 0)
      - in_2 = select(wait == 1, late, 0)
      - late = select(in == 0, late, in)
      - wait = select(in == 0, wait, 42)` + first + second + `
      - u_minus = keep_minus*u_minus + (1 - keep_minus)*mid_2
      - u_plus = keep_plus*u_plus + (1 - keep_plus)*mid_2
    threshold: spike
`
}

// clopathRule is the rule clopath in NEST's test test_clopath_synapse.py, after the pairs of figure 2 of Clopath and others (2010):
// the weight sent with each spike of the source, as NEST 3.10 gives it. The last ones are those that the test holds NEST to.
func clopathRule(o options) ([]Check, error) {
	const before = 0.5
	var ours, wanted []float64
	for _, x := range []struct {
		pre    []float64
		after  float64 // ms from a spike of the source to the target's
		wanted []float64
	}{
		{[]float64{29, 129, 229, 329, 429}, -10, []float64{0.497265136, 0.494417578, 0.491586244, 0.488762440, 0.485942129}},
		{[]float64{29, 62.3, 95.7, 129, 162.3}, -10, []float64{0.497265136, 0.495516400, 0.493913569, 0.492324839, 0.490722434}},
		{[]float64{29, 49, 69, 89, 109}, -10, []float64{0.497265136, 0.500124355, 0.505236778, 0.510816454, 0.516477865}},
		{[]float64{129, 229, 329, 429, 529, 629}, 10, []float64{0.499999989, 0.499758688, 0.500163320, 0.500501354, 0.500808510, 0.501101361}},
		{[]float64{62.3, 95.6, 129, 162.3, 195.6, 229}, 10, []float64{0.499999989, 0.497957767, 0.500522343, 0.503069749, 0.505566011, 0.508012136}},
		{[]float64{49, 69, 89, 109, 129, 149}, 10, []float64{0.499999989, 0.497337107, 0.501985282, 0.507601435, 0.513313457, 0.519009609}},
	} {
		p := &pairing{
			weight: before, step: 0.1, delay: 0.1, pre: x.pre,
			rule: "{rule: clopath, theta_plus: 25.3 mV, theta_minus: 0 mV, w_max: 8 mV}", more: clopathNeuron(),
			model: "clopath_aeif", teacher: 80,
		}
		for _, t := range x.pre {
			p.post = append(p.post, t+x.after)
		}
		weights, _, err := p.run(o)
		if err != nil {
			return nil, err
		}
		ours, wanted = append(ours, weights[:len(x.pre)]...), append(wanted, x.wanted...)
	}
	for k := range ours {
		ours[k], wanted[k] = ours[k]-before, wanted[k]-before
	}
	most, err := worst(ours, wanted, coarse)
	return []Check{{
		Case: "clopath, NEST's trains", Quantity: fmt.Sprintf("%d weights, ±10 ms, 10-50 Hz (1e-6 + 1e-5·Δw)", len(wanted)),
		Computed: "0 (NEST)", Ours: most, High: 1, Digits: 2,
	}}, err
}
