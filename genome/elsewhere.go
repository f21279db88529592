package genome

import (
	"fmt"
	"slices"
	"strings"
)

// foreign translates names of NEST and Brian2. Names that mean the same here have no entry.
type foreign struct {
	theirs string // names, separated by blanks
	ours   string // our name for the same thing, if it stands in the same place; else ""
	say    string // what to write instead
}

const (
	writeIt    = "no model that comes with burst does the same; write it under models:, docs/models.md has formulas to start from"
	writeRule  = "no rule that comes with burst does the same; write it under plasticity:, docs/plasticity-rules.md says how"
	spikesOnly = "neurons send each other spikes alone; what would flow in every burst, as a rate, a potential or a current, is missing"
	prepared   = "spikes that a program has drawn beforehand come from a file: an area of model spike_list with file: …, docs/genome.md"
	afterwards = "it is computed after the run: burst stats, or a program that reads the recorded spikes, docs/results.md"
)

// foreigners is the one list of such names.
func foreigners() []foreign {
	return []foreign{
		// models
		{"aeif_psc_delta aeif_cond_alpha_multisynapse aeif_cond_beta_multisynapse iaf_cond_beta iaf_cond_alpha_mc iaf_psc_exp_multisynapse " +
			"iaf_psc_alpha_multisynapse iaf_psc_exp_htum iaf_chs_2007 iaf_tum_2000 iaf_bw_2001 iaf_bw_2001_exact hh_psc_alpha hh_psc_alpha_gap " +
			"hh_cond_beta_gap_traub gif_cond_exp gif_cond_exp_multisynapse gif_psc_exp_multisynapse gif_pop_psc_exp amat2_psc_exp ht_neuron " +
			"glif_cond glif_psc_double_alpha pp_psc_delta pp_cond_exp_mc_urbanczik ginzburg_neuron mcculloch_pitts_neuron erfc_neuron " +
			"iaf_cond_exp_sfa_rr iaf_chxk_2008 ignore_and_fire cm_default aeif_psc_delta_clopath hh_psc_alpha_clopath aeif_cond_alpha_astro " +
			"astrocyte_lr_1994", "", writeIt},
		{"lin_rate_ipn lin_rate_opn tanh_rate_ipn tanh_rate_opn gauss_rate_ipn sigmoid_rate_ipn sigmoid_rate_gg_1998_ipn threshold_lin_rate_ipn " +
			"threshold_lin_rate_opn rate_transformer_lin rate_transformer_tanh rate_transformer_gauss rate_transformer_sigmoid " +
			"rate_transformer_sigmoid_gg_1998 rate_transformer_threshold_lin siegert_neuron step_rate_generator gap_junction diffusion_connection " +
			"sic_connection rate_connection_delayed rate_connection_instantaneous", "", spikesOnly},
		{"eprop_iaf eprop_iaf_adapt eprop_iaf_adapt_bsshslm_2020 eprop_iaf_bsshslm_2020 eprop_iaf_psc_delta eprop_iaf_psc_delta_adapt eprop_readout " +
			"eprop_readout_bsshslm_2020 eprop_synapse eprop_synapse_bsshslm_2020 eprop_learning_signal_connection " +
			"eprop_learning_signal_connection_bsshslm_2020", "", "learning by gradients is missing"},
		{"iaf_psc_delta_ps iaf_psc_exp_ps iaf_psc_exp_ps_lossless iaf_psc_alpha_ps", "", "spikes come at whole bursts, not between them; the model of the name without _ps, " +
			"such as iaf_psc_exp, does the same in a small timestep"},
		{"PoissonGroup", "poisson", "an area of model poisson does the same"},
		{"parrot_neuron_ps", "parrot", "spikes come at whole bursts, not between them; model: parrot does the same in a small timestep"},
		{"poisson_generator_ps", "poisson", "spikes come at whole bursts, not between them; an area of model poisson does the same in a small timestep"},
		{"gamma_sup_generator ppd_sup_generator sinusoidal_gamma_generator mip_generator pulsepacket_generator", "", prepared},
		{"spike_dilutor", "", "a model of your own passes some spikes on: threshold: in > 0 and random() < p, docs/models.md"},
		{"correlation_detector correlomatrix_detector correlospinmatrix_detector", "", afterwards},
		{"weight_recorder", "", "record: {weights: …} keeps weights of synapses that learn"},
		{"volume_transmitter", "", "none is needed: a rule's modulator names the area whose spikes it counts, as in plasticity: {rule: stdp_dopamine, da: AREA}"},
		{"spike_generator SpikeGeneratorGroup spike_train_injector", "spike_list", "an area of model spike_list does the same"},
		{"poisson_generator", "", "drive: {poisson: {rate: …, weight: …}} in the area that it reaches does the same, for each neuron on its own"},
		{"PoissonInput", "", "drive: {poisson: {rate: …, weight: …}} in the area that it reaches, with the summed rate of all N inputs, draws Poisson instead of binomial numbers"},
		{"dc_generator", "", "drive: {constant: …, from: …, until: …} in the area that it reaches does the same"},
		{"step_current_generator", "", "drive: {constant: 1 pA, factor: {steps: {at: […], values: […]}}} in the area that it reaches does the same"},
		{"sinusoidal_poisson_generator", "", "model: poisson with factor: {sine: …} is such a source; a drive poisson with one does it for each neuron of an area"},
		{"inhomogeneous_poisson_generator", "", "model: poisson with factor: {steps: …} is such a source; a drive poisson with one does it for each neuron of an area"},
		{"noise_generator", "", "no drive holds a random current for several bursts; drive: {normal: {mean: …, sd: …}} adds a normal amount to the input in every burst, like a spike of that weight"},
		{"ac_generator", "", "drive: {constant: 1 pA, factor: {sine: {amplitude: …, frequency: …}}} in the area that it reaches does the same"},
		{"static_synapse static_synapse_hom_w bernoulli_synapse", "", "a synapse has a weight and a delay, and no model; weights change where the projection has plasticity"},
		{"spike_recorder spike_detector spin_detector SpikeMonitor", "", "record: {spikes: [AREA]} keeps the spikes of an area"},
		{"voltmeter multimeter StateMonitor", "", "record: {potentials: [{area: …, neurons: […]}]} keeps potentials"},
		{"PopulationRateMonitor", "", "none is needed: every run keeps the rates of all areas"},

		// parameters and state variables
		{"V_th", "threshold", "it is called threshold, a parameter under params"},
		{"V_reset", "reset", "it is called reset, a parameter under params; izhikevich calls it c"},
		{"E_L", "rest", "it is called rest, a parameter under params of lif and lif_psc_exp"},
		{"C_m", "C", "it is called C, a parameter under params of lif and lif_psc_exp"},
		{"tau_m", "tau", "it is called tau, a parameter under params of lif and lif_psc_exp"},
		{"t_ref", "refractory", "it is called refractory, a parameter under params"},
		{"I_e", "", "a constant current is a drive of the area: drive: {constant: …}"},
		{"V_m", "V", "it is called V; its initial value stands under init, as in init: {V: …}"},
		{"U_m", "u", "it is called u; its initial value stands under init, for izhikevich"},
		{"tau_syn_ex tau_syn_in tau_syn", "", "models whose synapses last have it, under params; a spike onto a lif neuron acts at once"},

		// plasticity
		{"stdp_synapse stdp_synapse_hom", "stdp", "plasticity: stdp does the same"},
		{"stdp_pl_synapse_hom", "stdp_power_law", "plasticity: stdp_power_law does the same"},
		{"stdp_nn_symm_synapse", "stdp_nearest_symmetric", "plasticity: stdp_nearest_symmetric does the same"},
		{"stdp_nn_pre_centered_synapse", "stdp_nearest_pre_centered", "plasticity: stdp_nearest_pre_centered does the same"},
		{"stdp_nn_restr_synapse", "stdp_nearest_restricted", "plasticity: stdp_nearest_restricted does the same"},
		{"stdp_triplet_synapse", "stdp_triplet", "plasticity: stdp_triplet does the same"},
		{"vogels_sprekeler_synapse", "vogels", "plasticity: vogels does the same, for weights ≤ 0"},
		{"stdp_dopamine_synapse", "stdp_dopamine", "plasticity: stdp_dopamine has dopamine too, by sweeps"},
		{"clopath_synapse", "clopath", "plasticity: clopath does the same, for a written model"},
		{"tsodyks2_synapse", "tsodyks_markram", "plasticity: tsodyks_markram does the same, with u starting from U; tsodyks_markram_per_synapse takes distributions"},
		{"jonke_synapse ht_synapse stdp_facetshw_synapse_hom", "", writeRule},
		{"quantal_stp_synapse", "", "release at random is missing; tsodyks_markram releases its mean"},
		{"urbanczik_synapse", "", "rules that read a dendrite's potential are missing"},
		{"cont_delay_synapse", "", "a delay is whole bursts; a smaller timestep makes it finer"},
		{"tsodyks_synapse tsodyks_synapse_hom", "tsodyks_markram", "plasticity: tsodyks_markram is NEST's tsodyks2_synapse, without tau_psc"},
		{"Wmax", "w_max", "it is called w_max, a parameter of the rule"},

		// connections
		{"fixed_probability", "pairwise_bernoulli", "the rule pairwise_bernoulli does the same"},
		{"symmetric_pairwise_bernoulli", "pairwise_bernoulli", "the rule pairwise_bernoulli with symmetric: true does the same"},
		{"pairwise_avg_num_conns", "average", "it is called average, a key of the rule pairwise_poisson"},
		{"make_symmetric", "symmetric", "it is called symmetric, a key of pairwise_bernoulli and distance"},
		{"tripartite_bernoulli_with_pool", "", "no rule does the same; an edge list does: rule: edges, docs/edges.md"},
		{"allow_autapses", "autapses", "it is called autapses, a key of a projection"},
		{"allow_multapses", "multapses", "it is called multapses, a key of a projection"},
		{"receptor_type receptor", "to", "to: {area: NAME, port: NAME} says which input of the neurons takes the weights"},
		{"syn_spec", "", "weight and delay stand in the projection itself"},
		{"conn_spec", "", "the rule and its keys stand in the projection itself"},
		{"synapse_model", "plasticity", "a synapse has a weight and a delay; the rule by which its weight changes is called plasticity"},
		{"N", "", "it is called count, a key of the rule fixed_total_number; an area's number of neurons is called neurons"},
		{"connect", "", "the key rule says which neurons are connected, with p, indegree and others beside it"},

		// the whole
		{"NeuronGroup populations", "areas", "neurons stand under areas"},
		{"Synapses connections", "projections", "synapses stand under projections"},
		{"resolution dt", "timestep", "it is called timestep, at the top of the genome"},
		{"rng_seed", "seed", "it is called seed, at the top of the genome"},
	}
}

// meant finds the candidate that an unknown name stands for, and, if the name is NEST's or Brian2's, what to write instead.
func meant(word string, candidates []string) (suggestion, say string) {
	for _, f := range foreigners() {
		if !slices.Contains(strings.Fields(f.theirs), word) {
			continue
		}
		if f.ours != "" && slices.Contains(candidates, f.ours) {
			suggestion = f.ours
		}
		return suggestion, fmt.Sprintf("a name of another simulator: %s", f.say)
	}
	return Nearest(word, candidates), ""
}
