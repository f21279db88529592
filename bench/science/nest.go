package main

// nestRules are the rules that docs/plasticity.md names beside synapses of NEST, on the trains of its test of stdp_synapse, with a delay
// of 1 ms, at which nine pairs fall into the same step: the weight sent with each spike of the source, as NEST 3.10 gives it.
func nestRules(o options) ([]Check, error) {
	const pairs = ", tau_plus: 16.8 ms, tau_minus: 33.7 ms, lambda: 0.01, alpha: 0.85, mu_plus: 0.4, mu_minus: 1, w_max: 15 mV}"
	var checks []Check
	for _, x := range []struct {
		synapse, rule string
		weight        float64 // mV
		wanted        []float64
	}{
		{"stdp_synapse", "{rule: stdp" + pairs, 5, []float64{5.000000000, 5.232562261, 5.106783332, 4.987616926, 5.268997043, 5.983977887, 5.719754782, 6.077383911, 6.420155269, 6.728743747, 7.072369522, 8.200009850, 7.565985736, 6.998088385, 7.193456817, 7.995966493, 7.286345532, 7.460942674, 7.548042355, 7.666568463}},
		{"stdp_nn_symm_synapse", "{rule: stdp_nearest_symmetric" + pairs, 5, []float64{5.000000000, 5.275169128, 5.231641175, 5.189734547, 5.262074262, 5.447137881, 5.402190932, 5.476186273, 5.553986567, 5.627459271, 5.706903183, 5.967035031, 5.917798161, 5.870395260, 5.934435088, 6.107481369, 6.057085608, 6.122566424, 6.183258595, 6.242955929}},
		{"stdp_nn_pre_centered_synapse", "{rule: stdp_nearest_pre_centered" + pairs, 5, []float64{5.000000000, 5.071036094, 5.029192541, 4.988907572, 5.269402382, 5.343807750, 5.299713427, 5.485990821, 5.563660434, 5.637004428, 5.716328180, 5.778164030, 5.730485626, 5.684583140, 5.950791522, 6.016200341, 5.966557784, 6.141069331, 6.201511961, 6.260972015}},
		{"stdp_nn_restr_synapse", "{rule: stdp_nearest_restricted" + pairs, 5, []float64{5.000000000, 5.071036094, 5.071036094, 5.071036094, 5.144809585, 5.220844499, 5.220844499, 5.297173784, 5.377354629, 5.453172182, 5.534804852, 5.598986129, 5.598986129, 5.598986129, 5.666351898, 5.735534167, 5.735534167, 5.805212913, 5.870167212, 5.933917277}},
		{"stdp_pl_synapse_hom", "{rule: stdp_power_law, w_max: 100 mV}", 5, []float64{5.000000000, 5.420606034, 5.342534208, 5.268109470, 5.783925629, 7.138504965, 6.951513336, 7.814753307, 8.832185604, 9.908176751, 11.138242610, 14.445855512, 13.798741488, 13.200880052, 14.250480760, 17.090232567, 16.217289030, 17.468301009, 18.682841194, 19.954180000}},
		{"stdp_triplet_synapse", "{rule: stdp_triplet, w_max: 8 mV}", 1, []float64{1.000000000, 1.000986114, 0.979927293, 0.958871068, 0.994477760, 1.161774529, 1.118619449, 1.256091112, 1.447514814, 1.679822537, 1.975062660, 2.855077493, 2.769560684, 2.684742076, 3.056446972, 4.030238311, 3.924271348, 4.484346185, 5.104691178, 5.771498013}},
		{"vogels_sprekeler_synapse", "{rule: vogels, eta: 0.001 mV, w_max: 1 mV}", -0.5, []float64{0.499880000, 0.504200343, 0.506797118, 0.509261394, 0.514734340, 0.526483048, 0.531092459, 0.540810650, 0.553005508, 0.566088972, 0.579113864, 0.603138084, 0.610331378, 0.617167999, 0.630454685, 0.652942905, 0.660957501, 0.677073041, 0.694989224, 0.712318906}},
		{"tsodyks2_synapse", "{rule: tsodyks_markram, U: 0.3, tau_rec: 130 ms, tau_fac: 530 ms, w_max: 8 mV}", 5, []float64{1.500000000, 1.802581963, 1.158322974, 0.487372717, 0.190322773, 0.101063945, 0.047748592, 0.040163210, 0.057270248, 0.061690875, 0.181452648, 0.152832473, 0.041531399, 0.038548145, 0.075906451, 0.076414875, 0.038840755, 0.038376010, 0.057230641, 0.061136720}},
	} {
		p := &pairing{weight: x.weight, rule: x.rule, step: 0.1, delay: 1, back: 1, pre: nestPre, post: nestPost}
		if x.synapse == "tsodyks2_synapse" {
			p.post = []float64{100} // the weight stays; what is sent can be told where the teacher is silent
		}
		weights, ours, err := p.run(o)
		if err != nil {
			return nil, err
		}
		if x.synapse != "tsodyks2_synapse" {
			ours = weights[:len(nestPre)]
		}
		for k := range ours {
			if x.weight < 0 {
				ours[k] = -ours[k]
			}
		}
		most, err := worst(ours, x.wanted, coarse)
		if err != nil {
			return nil, err
		}
		checks = append(checks, Check{
			Case: "NEST's trains", Quantity: x.synapse + ", delay 1 ms (1e-6 + 1e-5·w)", Computed: "0 (NEST)", Ours: most, High: 1, Digits: 2,
		})
	}
	return checks, nil
}
