package genome

// Models lists the neuron models in the order in which they are documented.
func Models() []*Model {
	return []*Model{&feagiModel, &lifModel, &pscExpModel, &izhikevichModel, &poissonModel, &spikeListModel}
}

// feagiModel is FEAGI's candidates-only law.
var feagiModel = Model{
	Name: "feagi", AreaLevel: true, Ports: 1, Input: Plain, Drive: []Dimension{Plain},
	Doc: "FEAGI's integrate-and-fire neuron: only candidates change",
	Equations: []string{
		"V ← V + input (input alone without accumulate)",
		"threshold ≤ V ≤ threshold_limit: fires with probability excitability; V ← 0",
		"else V ← V·(1 − leak), then V ← max(V − leak_amount, 0) where V > 0",
	},
	Precision: "FEAGI computes in float32 too.",
	Source:    "feagi-core, burst engine, neural dynamics (2026)",
	Params: []Param{
		{Name: "threshold", Dim: Plain, Default: 1, Min: -inf, Max: inf, Doc: "potential from which the neuron fires"},
		{Name: "threshold_limit", Dim: Plain, Default: 0, Min: 0, Max: inf, Doc: "potential above which it does not fire; 0 means no limit"},
		{Name: "leak", Dim: Plain, Default: 0, Min: 0, Max: 1, Doc: "share of the potential lost in a burst in which a candidate does not fire"},
		{Name: "leak_amount", Dim: Plain, Default: 0, Min: 0, Max: inf, Doc: "amount lost likewise, down to 0 (FEAGI's older dialect)"},
		{Name: "refractory", Dim: Bursts, Default: 0, Min: 0, Max: 65535, Whole: true, Doc: "bursts of silence after firing"},
		{Name: "excitability", Dim: Plain, Default: 1, Min: 0, Max: 1, Doc: "probability of firing once the threshold is reached"},
		{Name: "fire_limit", Dim: Bursts, Default: 0, Min: 0, Max: 65535, Whole: true, Doc: "consecutive fires allowed; 0 means no limit"},
		{Name: "snooze", Dim: Bursts, Default: 0, Min: 0, Max: 65535, Whole: true, Doc: "bursts added to the refractory time when fire_limit is reached"},
		{Name: "accumulate", Dim: Flag, Default: 1, Max: 1, Doc: "whether the potential is kept between bursts"},
	},
	State: []Param{{Name: "V", Dim: Plain, Min: -inf, Max: inf, Doc: "potential"}},
}

// lifModel is the leaky integrate-and-fire neuron with delta synapses (Brunel 2000).
var lifModel = Model{
	Name: "lif", Ports: 1, Input: Voltage, Drive: []Dimension{Current, Voltage},
	Doc: "leaky integrate-and-fire neuron with delta synapses (Brunel 2000, eq. 1)",
	Equations: []string{
		"tau·dV/dt = rest − V + R·I(t), R = tau/C; a spike of weight w adds w to V",
		"V ≥ threshold: fires; V ← reset for refractory",
	},
	Precision: "Over 200 s at 0.1 ms under Poisson input of 10 kHz, 12,614 of 12,617 spikes fell into the same burst as in a float64 run of the same law, and none was lost. " +
		"At 1000 pA into 250 pF (tau 10 ms, 15 mV to go) the exact solution crosses threshold 0.0004 steps after step 47, so that a last bit decides between 47 and 48 steps.",
	Source: "N. Brunel, Journal of Computational Neuroscience 8:183 (2000)",
	Params: []Param{
		{Name: "tau", Dim: Time, Default: 20, Min: 0, MinOpen: true, Max: inf, Doc: "membrane time constant"},
		{Name: "C", Dim: Capacitance, Default: 250, Min: 0, MinOpen: true, Max: inf, Doc: "membrane capacitance; R = tau/C turns a current drive into a potential"},
		{Name: "rest", Dim: Voltage, Default: 0, Min: -inf, Max: inf, Same: true, Doc: "resting potential"},
		{Name: "reset", Dim: Voltage, Default: 10, Min: -inf, Max: inf, Doc: "potential after a spike and while refractory"},
		{Name: "threshold", Dim: Voltage, Default: 20, Min: -inf, Max: inf, Doc: "potential from which the neuron fires"},
		{Name: "refractory", Dim: Time, Default: 2, Min: 0, Max: inf, Whole: true, Doc: "silence after a spike, whole bursts up to 65535"},
	},
	State: []Param{{Name: "V", Dim: Voltage, Min: -inf, Max: inf, Doc: "membrane potential, absolute"}},
}

// pscExpModel is the leaky integrate-and-fire neuron with exponential currents (Rotter and Diesmann 1999), whose defaults
// are those of NEST's iaf_psc_exp.
var pscExpModel = Model{
	Name: "lif_psc_exp", Ports: 2, Input: Current, Drive: []Dimension{Current},
	Doc: "leaky integrate-and-fire neuron with exponential synaptic currents, integrated exactly (Rotter and Diesmann 1999)",
	Equations: []string{
		"C·dV/dt = −C/tau·(V − rest) + I_ex + I_in + I(t)",
		"dI_ex/dt = −I_ex/tau_syn_ex, dI_in/dt = −I_in/tau_syn_in; a spike of weight w ≥ 0 adds w to I_ex, one of w < 0 to I_in",
		"V ≥ threshold: fires; V ← reset for refractory, while the currents go on",
	},
	Precision: "Over 200 s at 0.1 ms under Poisson input of 16.8 kHz all 24,914 spikes fell into the same burst as in a float64 run of the same law; potentials were apart by at most 1e-5 mV. " +
		"At 1000 pA (constants as in lif's note) 48 steps are found where the exact solution needs 47.0004.",
	Source: "S. Rotter and M. Diesmann, Biological Cybernetics 81:381 (1999), eq. 17; NEST's iaf_psc_exp",
	Params: []Param{
		{Name: "C", Symbol: "C_m", Dim: Capacitance, Default: 250, Min: 0, MinOpen: true, Max: inf, Doc: "membrane capacitance"},
		{Name: "tau", Symbol: "tau_m", Dim: Time, Default: 10, Min: 0, MinOpen: true, Max: inf, Doc: "membrane time constant"},
		{Name: "tau_syn", Symbol: "tau_s", Dim: Time, Default: 2, Min: 0, MinOpen: true, Max: inf, Doc: "time constant of both synaptic currents"},
		{Name: "tau_syn_ex", Symbol: "tau_s,ex", Dim: Time, Like: "tau_syn", Min: 0, MinOpen: true, Max: inf, Doc: "time constant of the current of weights ≥ 0"},
		{Name: "tau_syn_in", Symbol: "tau_s,in", Dim: Time, Like: "tau_syn", Min: 0, MinOpen: true, Max: inf, Doc: "time constant of the current of weights < 0"},
		{Name: "rest", Symbol: "E_L", Dim: Voltage, Default: -70, Min: -inf, Max: inf, Same: true, Doc: "resting potential"},
		{Name: "reset", Symbol: "V_r", Dim: Voltage, Default: -70, Min: -inf, Max: inf, Doc: "potential after a spike and while refractory"},
		{Name: "threshold", Symbol: "V_th", Dim: Voltage, Default: -55, Min: -inf, Max: inf, Doc: "potential from which the neuron fires"},
		{Name: "refractory", Symbol: "t_ref", Dim: Time, Default: 2, Min: 0, Max: inf, Whole: true, Doc: "silence after a spike, whole bursts up to 65535"},
	},
	State: []Param{
		{Name: "V", Dim: Voltage, Min: -inf, Max: inf, Doc: "membrane potential, absolute; rest unless given"},
		{Name: "I_ex", Dim: Current, Min: -inf, Max: inf, Doc: "current of weights ≥ 0"},
		{Name: "I_in", Dim: Current, Min: -inf, Max: inf, Doc: "current of weights < 0"},
	},
}

// izhikevichModel is Izhikevich's simple model (2003), whose defaults are those of a regular spiking neuron.
var izhikevichModel = Model{
	Name: "izhikevich", Ports: 1, Input: Plain, Drive: []Dimension{Plain},
	Doc: "Izhikevich's simple model (Izhikevich 2003), two half steps for v and one for u",
	Equations: []string{
		"dv/dt = 0.04·v² + 5·v + 140 − u + I, du/dt = a·(b·v − u), times in ms",
		"v ≥ threshold: fires; v ← c, u ← u + d",
	},
	Precision: "Over 2,000 s at 1 ms under normal input 9,415 of 9,421 spikes fell into the same burst as in a float64 run of the same law.",
	Source:    "E. Izhikevich, IEEE Transactions on Neural Networks 14:1569 (2003), eqs. 1-3, integrated as the paper's script does",
	Params: []Param{
		{Name: "a", Symbol: "a", Dim: Plain, Default: 0.02, Min: -inf, Max: inf, Doc: "rate of the recovery u, 1/ms"},
		{Name: "b", Symbol: "b", Dim: Plain, Default: 0.2, Min: -inf, Max: inf, Doc: "sensitivity of u to v"},
		{Name: "c", Symbol: "c", Dim: Voltage, Default: -65, Min: -inf, Max: inf, Doc: "potential after a spike"},
		{Name: "d", Symbol: "d", Dim: Plain, Default: 8, Min: -inf, Max: inf, Doc: "added to u by a spike"},
		{Name: "threshold", Symbol: "v_peak", Dim: Voltage, Default: 30, Min: -inf, Max: inf, Doc: "potential at which the spike is cut off"},
	},
	State: []Param{
		{Name: "V", Dim: Voltage, Min: -inf, Max: inf, Doc: "membrane potential v; -65 mV unless given"},
		{Name: "u", Dim: Plain, Min: -inf, Max: inf, Doc: "recovery; b·v unless given"},
	},
}

// poissonModel is a source of random spikes.
var poissonModel = Model{
	Name:      "poisson",
	Doc:       "source that fires at random with probability rate·timestep in each burst",
	Equations: []string{"fires in a burst with probability rate·timestep, from burst from up to burst until"},
	Params: []Param{
		{Name: "rate", Dim: Frequency, Min: 0, Max: inf, Needed: true, Doc: "spikes a second of each neuron; at most one a burst"},
	},
}

// spikeListModel is a source that fires as listed.
var spikeListModel = Model{
	Name:      "spike_list",
	Doc:       "source that fires in the bursts that spikes lists",
	Equations: []string{"fires in the bursts listed under spikes"},
}
