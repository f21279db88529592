package genome

// lifEventModel is lif, computed at inputs alone.
var lifEventModel = Model{
	Name: "lif_event", Number: 8, Lazy: true, Event: true, Ports: []Port{{"input", Voltage}}, Drive: []Dimension{Current, Voltage}, Term: steadyTerm,
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
		{Name: "tau", Shared: true, Of: func(p Values, timestep float64) float64 { return p("tau") / timestep }},
	},
	State: []Variable{{Name: "V", Dim: Voltage, Rest: "rest", Doc: "membrane potential, absolute"}},
}

// steadyTerm is the depolarisation in mV that a constant drive leads to, by which V∞ lies above rest.
func steadyTerm(p Values, d *Drive, _ float64) float64 {
	if d.Unit == Current {
		return float64(p("tau") / p("C") * d.Value)
	}
	return d.Value
}
