package genome

// lifEventModel is lif, computed at inputs alone.
var lifEventModel = Model{
	Name: "lif_event", Number: 8, Lazy: true, Event: "lif", Ports: []Port{{"input", Voltage}}, Drive: []Dimension{Current, Voltage}, Term: steadyTerm,
	Doc: "lif neuron that is computed at inputs alone: silent neurons cost little",
	Equations: []string{
		"tau·dV/dt = rest − V + R·I, R = tau/C; a spike of weight w adds w to V",
		"between inputs V = V∞ + (V − V∞)·exp(−t/tau), V∞ = rest + R·I below threshold",
		"V ≥ threshold at an input: fires; V ← reset for refractory",
	},
	Precision: "V is rounded at inputs alone. Its decay between two is one factor, rounded once, so it is apart from the exact solution by less than lif's is.",
	Source:    "N. Brunel, Journal of Computational Neuroscience 8:183 (2000), eq. 1; A. Morrison et al., Neural Computation 19:47 (2007), exact solution between events",
	Params: []Param{
		{Name: "tau", Dim: Time, Default: 20, Min: 0, MinOpen: true, Max: inf, Same: true, Doc: "membrane time constant, at most 4096 bursts"},
		{Name: "C", Dim: Capacitance, Default: 250, Min: 0, MinOpen: true, Max: inf, Same: true, Doc: "membrane capacitance; R = tau/C turns a current drive into a potential"},
		{Name: "rest", Dim: Voltage, Default: 0, Min: -inf, Max: inf, Same: true, Doc: "resting potential"},
		{Name: "reset", Dim: Voltage, Default: 10, Min: -inf, Max: inf, Below: "threshold", Doc: "potential after a spike and while refractory"},
		{Name: "threshold", Dim: Voltage, Default: 20, Min: -inf, Max: inf, Doc: "potential from which the neuron fires, above V∞"},
		{Name: "refractory", Dim: Time, Default: 2, Min: 0, Max: inf, Whole: true, Doc: "silence after a spike, whole bursts up to 65535"},
	},
	Constants: []ModelConstant{
		overRest("threshold"), overRest("reset"), silence(),
		inBursts("tau"),
	},
	State: []Variable{{Name: "V", Dim: Voltage, Rest: "rest", Doc: "membrane potential, absolute"}},
}

// pscExpEventModel is lif_psc_exp, computed at inputs and where it may fire.
var pscExpEventModel = Model{
	Name: "lif_psc_exp_event", Number: 9, Lazy: true, Event: "lif_psc_exp", Ports: []Port{{"ex", Current}, {"in", Current}}, Drive: []Dimension{Current}, Term: steadyTerm,
	Doc: "lif_psc_exp neuron that is computed at inputs, and while it may fire: silent neurons cost little",
	Equations: []string{
		"C·dV/dt = −C/tau·(V − rest) + I_ex + I_in + I",
		"dI_ex/dt = −I_ex/tau_syn_ex, dI_in/dt = −I_in/tau_syn_in",
		"a spike of weight w ≥ 0 adds w to I_ex, one of w < 0 adds w to I_in",
		"V ≥ threshold, also between inputs: fires; V ← reset for refractory, while the currents go on",
	},
	Precision: "Variables are rounded at inputs and spikes alone. What they do between two is one factor each, rounded once, so they are apart from the exact solution by less than lif_psc_exp's are.",
	Source:    "S. Rotter and M. Diesmann, Biological Cybernetics 81:381 (1999), eq. 17; A. Morrison et al., Neural Computation 19:47 (2007), exact solution between events",
	Params: []Param{
		{Name: "C", Symbol: "C_m", Dim: Capacitance, Default: 250, Min: 0, MinOpen: true, Max: inf, Same: true, Doc: "membrane capacitance"},
		{Name: "tau", Symbol: "tau_m", Dim: Time, Default: 10, Min: 0, MinOpen: true, Max: inf, Same: true, Doc: "membrane time constant, at most 4096 bursts"},
		{Name: "tau_syn", Symbol: "tau_s", Dim: Time, Default: 2, Min: 0, MinOpen: true, Max: inf, Same: true, Doc: "time constant of both synaptic currents"},
		{Name: "tau_syn_ex", Symbol: "tau_s,ex", Dim: Time, Like: "tau_syn", Min: 0, MinOpen: true, Max: inf, Same: true, Doc: "time constant of the current of weights ≥ 0, at most 4096 bursts"},
		{Name: "tau_syn_in", Symbol: "tau_s,in", Dim: Time, Like: "tau_syn", Min: 0, MinOpen: true, Max: inf, Same: true, Doc: "time constant of the current of weights < 0, at most 4096 bursts"},
		{Name: "rest", Symbol: "E_L", Dim: Voltage, Default: -70, Min: -inf, Max: inf, Same: true, Doc: "resting potential"},
		{Name: "reset", Symbol: "V_r", Dim: Voltage, Default: -70, Min: -inf, Max: inf, Below: "threshold", Doc: "potential after a spike and while refractory"},
		{Name: "threshold", Symbol: "V_th", Dim: Voltage, Default: -55, Min: -inf, Max: inf, Doc: "potential from which the neuron fires"},
		{Name: "refractory", Symbol: "t_ref", Dim: Time, Default: 2, Min: 0, Max: inf, Whole: true, Doc: "silence after a spike, whole bursts up to 65535"},
	},
	Constants: []ModelConstant{
		overRest("threshold"), overRest("reset"), silence(),
		inBursts("tau"), inBursts("tau_syn_ex"), inBursts("tau_syn_in"),
		{Name: "capacity", Shared: true, Of: func(p Values, timestep float64) float64 { return p("C") / timestep }},
	},
	State: []Variable{
		{Name: "V", Dim: Voltage, Rest: "rest", Doc: "membrane potential, absolute; rest unless given"},
		{Name: "I_ex", Dim: Current, Doc: "current of weights ≥ 0"},
		{Name: "I_in", Dim: Current, Doc: "current of weights < 0"},
	},
}

// inBursts is a time constant in bursts.
func inBursts(param string) ModelConstant {
	return ModelConstant{Name: param, Shared: true, Of: func(p Values, timestep float64) float64 { return p(param) / timestep }}
}

// steadyTerm is the depolarisation in mV that a constant drive leads to, by which V∞ lies above rest.
func steadyTerm(p Values, d *Drive, _ float64) float64 {
	if d.Unit == Current {
		return float64(p("tau") / p("C") * d.Value)
	}
	return d.Value
}
