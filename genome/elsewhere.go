package genome

import (
	"fmt"
	"slices"
	"strings"
)

// foreign is what names of NEST and Brian2 are here. Where our name is the same there is no entry.
type foreign struct {
	theirs string // names, separated by blanks
	ours   string // the name of what does the same, where it stands in the same place; else ""
	say    string // what to write instead
}

const writeIt = "none of the models here does the same; write it under models:, docs/models.md has formulas to begin with"

// foreigners is the one list of such names.
func foreigners() []foreign {
	return []foreign{
		// models
		{"iaf_psc_exp", "lif_psc_exp", "the model lif_psc_exp does the same"},
		{"iaf_psc_delta", "lif", "the model lif does the same, with defaults of its own"},
		{"aeif_cond_exp aeif_cond_alpha aeif_psc_exp aeif_psc_alpha aeif_psc_delta iaf_psc_alpha iaf_cond_exp iaf_cond_alpha iaf_psc_exp_multisynapse iaf_psc_exp_htum iaf_chs_2007 " +
			"hh_psc_alpha hh_cond_exp_traub gif_psc_exp gif_cond_exp mat2_psc_exp amat2_psc_exp ht_neuron glif_psc glif_cond pp_psc_delta", "", writeIt},
		{"PoissonGroup", "poisson", "an area of model poisson does the same"},
		{"spike_generator SpikeGeneratorGroup", "spike_list", "an area of model spike_list does the same"},
		{"poisson_generator", "", "drive: {poisson: {rate: …, weight: …}} in the area that it reaches does the same, for each neuron on its own"},
		{"PoissonInput", "", "drive: {poisson: {rate: …, weight: …}} in the area that it reaches, rate being that of all N inputs together, draws Poisson numbers where PoissonInput draws binomial ones"},
		{"dc_generator", "", "drive: {constant: …, from: …, until: …} in the area that it reaches does the same"},
		{"step_current_generator", "", "a list of constant drives with from and until in the area that it reaches does the same"},
		{"noise_generator", "", "there is no current that is held; drive: {normal: {mean: …, sd: …}} adds a normal amount to the input in every burst, as a spike of that weight would"},
		{"ac_generator", "", "there is none; a model under models: can hold a phase as a state variable"},
		{"parrot_neuron", "", "none is needed: connect the source to the targets, the delays added up"},
		{"stdp_synapse static_synapse tsodyks_synapse bernoulli_synapse", "", "a synapse has a weight and a delay, and neither changes in a run: no model is named"},
		{"spike_recorder spike_detector SpikeMonitor", "", "record: {spikes: [AREA]} keeps the spikes of an area"},
		{"voltmeter multimeter StateMonitor", "", "record: {potentials: [{area: …, neurons: […]}]} keeps potentials"},
		{"PopulationRateMonitor", "", "none is needed: every run keeps the rates of all areas"},

		// parameters and state variables
		{"V_th", "threshold", "it is called threshold, a parameter under params"},
		{"V_reset", "reset", "it is called reset, a parameter under params; of izhikevich c"},
		{"E_L", "rest", "it is called rest, a parameter under params of lif and lif_psc_exp"},
		{"C_m", "C", "it is called C, a parameter under params of lif and lif_psc_exp"},
		{"tau_m", "tau", "it is called tau, a parameter under params of lif and lif_psc_exp"},
		{"t_ref", "refractory", "it is called refractory, a parameter under params"},
		{"I_e", "", "a constant current is a drive of the area: drive: {constant: …}"},
		{"V_m", "V", "it is called V; what it starts from stands under init, as in init: {V: …}"},
		{"U_m", "u", "it is called u; what it starts from stands under init of izhikevich"},
		{"tau_syn_ex tau_syn_in tau_syn", "", "of the models here lif_psc_exp alone has it, under params; a spike onto a lif neuron acts at once"},

		// connections
		{"fixed_probability", "pairwise_bernoulli", "the rule pairwise_bernoulli does the same"},
		{"symmetric_pairwise_bernoulli pairwise_poisson pairwise_avg_num_conns tripartite_bernoulli_with_pool", "", "no rule does the same; an edge list does: rule: edges, docs/edges.md"},
		{"allow_autapses", "autapses", "it is called autapses, a key of a projection"},
		{"allow_multapses", "multapses", "it is called multapses, a key of a projection"},
		{"syn_spec", "", "weight and delay stand in the projection itself"},
		{"conn_spec", "", "the rule and its keys stand in the projection itself"},
		{"synapse_model", "", "a synapse has a weight and a delay, and no model"},
		{"N", "", "it is called count, a key of the rule fixed_total_number; an area's number of neurons is called neurons"},
		{"connect", "", "which neurons are connected is said by rule, with p, indegree and the like beside it"},

		// the whole
		{"NeuronGroup populations", "areas", "neurons stand under areas"},
		{"Synapses connections", "projections", "synapses stand under projections"},
		{"resolution dt", "timestep", "it is called timestep, at the top of the genome"},
		{"rng_seed", "seed", "it is called seed, at the top of the genome"},
	}
}

// meant is what a name that is not among candidates stands for: the candidate that does the same, and, where the name is NEST's or
// Brian2's, what it is here.
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
