package genome

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nestNames are all models of neurons, devices and synapses of NEST 3.10 (nest.node_models, nest.synapse_models), without those that
// end in _lbl or _hpc, which do the same in another form.
const nestNames = `
	ac_generator aeif_cond_alpha aeif_cond_alpha_astro aeif_cond_alpha_multisynapse aeif_cond_beta_multisynapse aeif_cond_exp aeif_psc_alpha
	aeif_psc_delta aeif_psc_delta_clopath aeif_psc_exp amat2_psc_exp astrocyte_lr_1994 cm_default correlation_detector
	correlomatrix_detector correlospinmatrix_detector dc_generator eprop_iaf eprop_iaf_adapt eprop_iaf_adapt_bsshslm_2020
	eprop_iaf_bsshslm_2020 eprop_iaf_psc_delta eprop_iaf_psc_delta_adapt eprop_readout eprop_readout_bsshslm_2020 erfc_neuron
	gamma_sup_generator gauss_rate_ipn gif_cond_exp gif_cond_exp_multisynapse gif_pop_psc_exp gif_psc_exp gif_psc_exp_multisynapse
	ginzburg_neuron glif_cond glif_psc glif_psc_double_alpha hh_cond_beta_gap_traub hh_cond_exp_traub hh_psc_alpha hh_psc_alpha_clopath
	hh_psc_alpha_gap ht_neuron iaf_bw_2001 iaf_bw_2001_exact iaf_chs_2007 iaf_chxk_2008 iaf_cond_alpha iaf_cond_alpha_mc iaf_cond_beta
	iaf_cond_exp iaf_cond_exp_sfa_rr iaf_psc_alpha iaf_psc_alpha_multisynapse iaf_psc_alpha_ps iaf_psc_delta iaf_psc_delta_ps iaf_psc_exp
	iaf_psc_exp_htum iaf_psc_exp_multisynapse iaf_psc_exp_ps iaf_psc_exp_ps_lossless iaf_tum_2000 ignore_and_fire
	inhomogeneous_poisson_generator izhikevich lin_rate_ipn lin_rate_opn mat2_psc_exp mcculloch_pitts_neuron mip_generator multimeter
	noise_generator parrot_neuron parrot_neuron_ps poisson_generator poisson_generator_ps pp_cond_exp_mc_urbanczik pp_psc_delta
	ppd_sup_generator pulsepacket_generator rate_transformer_gauss rate_transformer_lin rate_transformer_sigmoid
	rate_transformer_sigmoid_gg_1998 rate_transformer_tanh rate_transformer_threshold_lin siegert_neuron sigmoid_rate_gg_1998_ipn
	sigmoid_rate_ipn sinusoidal_gamma_generator sinusoidal_poisson_generator spike_dilutor spike_generator spike_recorder
	spike_train_injector spin_detector step_current_generator step_rate_generator tanh_rate_ipn tanh_rate_opn threshold_lin_rate_ipn
	threshold_lin_rate_opn voltmeter volume_transmitter weight_recorder bernoulli_synapse clopath_synapse cont_delay_synapse
	diffusion_connection eprop_learning_signal_connection eprop_learning_signal_connection_bsshslm_2020 eprop_synapse
	eprop_synapse_bsshslm_2020 gap_junction ht_synapse jonke_synapse quantal_stp_synapse rate_connection_delayed
	rate_connection_instantaneous sic_connection static_synapse static_synapse_hom_w stdp_dopamine_synapse stdp_facetshw_synapse_hom
	stdp_nn_pre_centered_synapse stdp_nn_restr_synapse stdp_nn_symm_synapse stdp_pl_synapse_hom stdp_synapse stdp_synapse_hom
	stdp_triplet_synapse tsodyks2_synapse tsodyks_synapse tsodyks_synapse_hom urbanczik_synapse vogels_sprekeler_synapse
`

// TestNamesOfNEST: each of NEST's models is one here by that name, or what to write instead is told.
func TestNamesOfNEST(t *testing.T) {
	for _, name := range strings.Fields(nestNames) {
		if ModelNamed(name) != nil {
			continue
		}
		_, say := meant(name, nil)
		require.NotEmpty(t, say, name)
	}
}
