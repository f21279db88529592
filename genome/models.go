package genome

// Models lists the neuron models in the order in which they are documented.
func Models() []*Model {
	return []*Model{&feagiModel, &lifModel, &pscExpModel, &izhikevichModel, &poissonModel, &spikeListModel}
}

// feagiModel is FEAGI's candidates-only law.
var feagiModel = Model{
	Name: "feagi", AreaLevel: true, Ports: 1, Input: Plain, Drive: []Dimension{Plain},
	Doc: "FEAGI's integrate-and-fire neuron: only candidates change",
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
	Name: "poisson",
	Doc:  "source that fires at random with probability rate·timestep in each burst",
	Params: []Param{
		{Name: "rate", Dim: Frequency, Min: 0, Max: inf, Needed: true, Doc: "spikes a second of each neuron; at most one a burst"},
	},
}

// spikeListModel is a source that fires as listed.
var spikeListModel = Model{
	Name: "spike_list",
	Doc:  "source that fires in the bursts that spikes lists",
}
