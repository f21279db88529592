package genome

import (
	"math"

	"burst/internal/exact"
)

// Models lists the neuron models in the order in which they are documented.
func Models() []*Model {
	return []*Model{&feagiModel, &lifModel, &pscExpModel, &izhikevichModel, &lifEventModel, &pscExpEventModel, &poissonModel, &spikeListModel, &memoryModel}
}

// feagiModel is FEAGI's candidates-only law.
var feagiModel = Model{
	Name: "feagi", Number: 0, AreaLevel: true, Lazy: true, Ports: []Port{{"input", Plain}},
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
		{Name: "leak", Dim: Plain, Default: 0, Min: 0, Max: inf, Doc: "share of the potential lost in a burst in which a candidate does not fire"},
		{Name: "leak_amount", Dim: Plain, Default: 0, Min: 0, Max: inf, Doc: "amount lost in such a burst, down to 0 (FEAGI's older dialect)"},
		{Name: "refractory", Dim: Bursts, Default: 0, Min: 0, Max: 65535, Whole: true, Doc: "bursts of silence after firing"},
		{Name: "excitability", Dim: Plain, Default: 1, Min: 0, Max: 1, Doc: "probability of firing once the threshold is reached"},
		{Name: "fire_limit", Dim: Bursts, Default: 0, Min: 0, Max: 65535, Whole: true, Doc: "consecutive fires allowed; 0 means no limit"},
		{Name: "snooze", Dim: Bursts, Default: 0, Min: 0, Max: 65535, Whole: true, Doc: "bursts added to the refractory time when fire_limit is reached"},
		{Name: "accumulate", Dim: Flag, Default: 1, Max: 1, Doc: "whether the potential is kept between bursts"},
		{Name: "rectify", Dim: Flag, Default: 0, Max: 1, Doc: "inputs that cancel make a candidate; a sum below 0 counts as 0"},
		{Name: "always_recover", Dim: Flag, Default: 0, Max: 1, Doc: "whether refractory time passes in every burst"},
		{Name: "draw", Choices: []string{"philox", "feagi"}, Max: 1, Doc: "random numbers of excitability: Philox, or FEAGI's own hash"},
	},
	Keys: []string{"threshold_gradient", "psp_max"},
	Constants: []ModelConstant{
		same("threshold"),
		{Name: "threshold_limit", Shared: true, Infinite: true, Of: func(p Values, _ float64) float64 {
			if limit := p("threshold_limit"); limit != 0 {
				return limit
			}
			return inf
		}},
		shared("leak"), shared("leak_amount"),
		{Name: "keep", Shared: true, Of: func(p Values, _ float64) float64 { return float64(1 - float32(p("leak"))) }}, // the factor of step 4d
		counted("refractory"), counted("fire_limit"), counted("snooze"), counted("accumulate"), counted("draw"),
		shared("excitability"), // compared with FEAGI's hash
		later(counted("rectify")), later(counted("always_recover")),
	},
	Chance: func(p Values, _ float64) float64 { return p("excitability") },
	State:  []Variable{{Name: "V", Dim: Plain, Doc: "potential"}},
}

// lifModel is the leaky integrate-and-fire neuron with delta synapses (Brunel 2000).
var lifModel = Model{
	Name: "lif", Number: 1, Ports: []Port{{"input", Voltage}}, Drive: []Dimension{Current, Voltage}, Term: leakyTerm,
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
		{Name: "reset", Dim: Voltage, Default: 10, Min: -inf, Max: inf, Below: "threshold", Doc: "potential after a spike and while refractory"},
		{Name: "threshold", Dim: Voltage, Default: 20, Min: -inf, Max: inf, Doc: "potential from which the neuron fires"},
		{Name: "refractory", Dim: Time, Default: 2, Min: 0, Max: inf, Whole: true, Doc: "silence after a spike, whole bursts up to 65535"},
	},
	Constants: []ModelConstant{leak(), overRest("threshold"), overRest("reset"), silence()},
	State:     []Variable{{Name: "V", Dim: Voltage, Rest: "rest", Doc: "membrane potential, absolute"}},
}

// pscExpModel is the leaky integrate-and-fire neuron with exponential currents (Rotter and Diesmann 1999), whose defaults
// are those of NEST's iaf_psc_exp.
var pscExpModel = Model{
	Name: "lif_psc_exp", Aliases: []string{"iaf_psc_exp"}, Number: 2, Ports: []Port{{"ex", Current}, {"in", Current}}, Drive: []Dimension{Current}, Term: leakyTerm,
	Doc: "leaky integrate-and-fire neuron with exponential synaptic currents, integrated exactly (Rotter and Diesmann 1999)",
	Equations: []string{
		"C·dV/dt = −C/tau·(V − rest) + I_ex + I_in + I(t)",
		"dI_ex/dt = −I_ex/tau_syn_ex, dI_in/dt = −I_in/tau_syn_in",
		"a spike of weight w ≥ 0 adds w to I_ex, one of w < 0 adds w to I_in",
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
		{Name: "reset", Symbol: "V_r", Dim: Voltage, Default: -70, Min: -inf, Max: inf, Below: "threshold", Doc: "potential after a spike and while refractory"},
		{Name: "threshold", Symbol: "V_th", Dim: Voltage, Default: -55, Min: -inf, Max: inf, Doc: "potential from which the neuron fires"},
		{Name: "refractory", Symbol: "t_ref", Dim: Time, Default: 2, Min: 0, Max: inf, Whole: true, Doc: "silence after a spike, whole bursts up to 65535"},
	},
	Constants: []ModelConstant{
		leak(), reaching("p21ex", "tau_syn_ex"), reaching("p21in", "tau_syn_in"), decaying("p11ex", "tau_syn_ex"), decaying("p11in", "tau_syn_in"),
		overRest("threshold"), overRest("reset"), silence(),
	},
	State: []Variable{
		{Name: "V", Dim: Voltage, Rest: "rest", Doc: "membrane potential, absolute; rest unless given"},
		{Name: "I_ex", Dim: Current, Doc: "current of weights ≥ 0"},
		{Name: "I_in", Dim: Current, Doc: "current of weights < 0"},
	},
}

// izhikevichModel is Izhikevich's simple model (2003), whose defaults are those of a regular spiking neuron.
var izhikevichModel = Model{
	Name: "izhikevich", Number: 3, Ports: []Port{{"input", Plain}}, Drive: []Dimension{Plain},
	Term: func(_ Values, d *Drive, _ float64) float64 { return d.Value },
	Doc:  "Izhikevich's simple model (Izhikevich 2003), two half steps for v and one for u",
	Equations: []string{
		"dv/dt = 0.04·v² + 5·v + 140 − u + I, du/dt = a·(b·v − u), times in ms",
		"v ≥ threshold: fires; v ← c, u ← u + d",
	},
	Precision: "Over 2,000 s at 1 ms under normal input 9,415 of 9,421 spikes fell into the same burst as in a float64 run of the same law.",
	Source:    "E. Izhikevich, IEEE Transactions on Neural Networks 14:1569 (2003), eqs. 1-3, integrated as the paper's script does",
	Params: []Param{
		{Name: "a", Symbol: "a", Dim: Plain, Default: 0.02, Min: -inf, Max: inf, Doc: "rate of the recovery u, 1/ms"},
		{Name: "b", Symbol: "b", Dim: Plain, Default: 0.2, Min: -inf, Max: inf, Doc: "sensitivity of u to v"},
		{Name: "c", Symbol: "c", Dim: Voltage, Default: -65, Min: -inf, Max: inf, Below: "threshold", Doc: "potential after a spike"},
		{Name: "d", Symbol: "d", Dim: Plain, Default: 8, Min: -inf, Max: inf, Doc: "added to u by a spike"},
		{Name: "threshold", Symbol: "v_peak", Dim: Voltage, Default: 30, Min: -inf, Max: inf, Doc: "potential at which the spike is cut off"},
	},
	Constants: []ModelConstant{
		{Name: "half", Of: func(_ Values, timestep float64) float64 { return timestep / 2 }},
		{Name: "adt", Of: func(p Values, timestep float64) float64 { return float64(p("a") * timestep) }},
		same("b"), same("c"), same("d"), same("threshold"),
	},
	State: []Variable{
		{Name: "V", Dim: Voltage, Start: -65, Doc: "membrane potential v; -65 mV unless given"},
		{Name: "u", Dim: Plain, From: func(k []float32, v float32) float32 { return float32(k[2] * v) }, Doc: "recovery; b·v unless given"},
	},
}

// poissonModel is a source of random spikes.
var poissonModel = Model{
	Name:      "poisson",
	Number:    4,
	Doc:       "source that fires at random with probability rate·timestep in each burst",
	Equations: []string{"fires in a burst with probability rate·factor·timestep, from burst from up to burst until"},
	Params: []Param{
		{Name: "rate", Dim: Frequency, Min: 0, Max: inf, Needed: true, Once: true, Doc: "spikes a second of each neuron; at most one a burst"},
	},
	Keys:   []string{"from", "until", "factor"},
	Chance: func(p Values, timestep float64) float64 { return float64(p("rate")*timestep) / 1000 },
}

// spikeListModel is a source whose spikes are listed in the genome.
var spikeListModel = Model{
	Name:      "spike_list",
	Number:    5,
	Doc:       "source that fires in the bursts that spikes lists",
	Equations: []string{"fires in the bursts listed under spikes"},
	Keys:      []string{"spikes"},
}

// memoryModel is an area of FEAGI's memory.
var memoryModel = Model{
	Name:   "memory",
	Number: 7,
	Doc:    "FEAGI's memory area: a neuron for each pattern of spikes that other areas repeat",
	Equations: []string{
		"pattern of burst t: who fired in the areas upstream in bursts t − temporal_depth … t − 1",
		"new: the lowest free neuron fires and lives for lifespan bursts",
		"known: its neuron fires and lives lifespan_growth bursts longer",
		"a neuron that has long_term bursts left keeps its pattern for good; one that has none left is free again",
	},
	Source: "feagi-core, plasticity (2026)",
	Params: []Param{
		{Name: "temporal_depth", Dim: Bursts, Default: 1, Min: 1, Max: 255, Whole: true, Doc: "bursts of a pattern"},
		{Name: "lifespan", Dim: Bursts, Default: 9, Min: 1, Max: mostLifespan, Whole: true, Doc: "bursts that a new pattern is kept"},
		{Name: "lifespan_growth", Dim: Bursts, Default: 1, Min: 0, Max: mostLifespan, Whole: true, Doc: "bursts that it is kept longer each time it is seen"},
		{Name: "long_term", Dim: Bursts, Default: 100, Min: 1, Max: mostLifespan, Whole: true, Doc: "bursts left from which on a pattern is kept for good"},
		{Name: "spare_seen", Dim: Flag, Default: 0, Max: 1, Doc: "whether a pattern does not age in a burst in which it is seen"},
	},
	Keys:      []string{"upstream"},
	Constants: []ModelConstant{counted("temporal_depth"), counted("lifespan"), counted("lifespan_growth"), counted("long_term"), counted("spare_seen")},
}

// mostLifespan is the largest lifespan in bursts; float32 holds all whole numbers up to there.
const mostLifespan = 1 << 24

// same is a constant that equals a parameter.
func same(param string) ModelConstant {
	return ModelConstant{Name: param, Of: func(p Values, _ float64) float64 { return p(param) }}
}

// shared is same, for a parameter that has one value for all neurons of an area.
func shared(param string) ModelConstant {
	c := same(param)
	c.Shared = true
	return c
}

// counted is shared, for a whole number.
func counted(param string) ModelConstant {
	c := shared(param)
	c.Whole = true
	return c
}

// later is a constant that hashes include only if it is not 0.
func later(c ModelConstant) ModelConstant {
	c.Later = true
	return c
}

// overRest is a parameter minus rest.
func overRest(param string) ModelConstant {
	return ModelConstant{Name: param, Of: func(p Values, _ float64) float64 { return p(param) - p("rest") }}
}

// silence is the refractory time in bursts.
func silence() ModelConstant {
	return ModelConstant{Name: "refractory", Of: func(p Values, timestep float64) float64 { return math.Floor(p("refractory")/timestep + 0.5) }}
}

// leak is em1, see decay.
func leak() ModelConstant {
	return ModelConstant{Name: "em1", Of: func(p Values, timestep float64) float64 { return decay(p("tau"), timestep) }}
}

// decay is expm1(−dt/tau), the share of the potential lost in a burst, negative.
func decay(tau, timestep float64) float64 { return exact.Expm1(-timestep / tau) }

// decaying is the share of a current with the time constant tau that is left after a burst.
func decaying(name, tau string) ModelConstant {
	return ModelConstant{Name: name, Of: func(p Values, timestep float64) float64 { return exact.Exp(-timestep / p(tau)) }}
}

// reaching is the potential in mV that a current of 1 pA with the time constant tau adds to V in a burst.
func reaching(name, tau string) ModelConstant {
	return ModelConstant{Name: name, Of: func(p Values, timestep float64) float64 { return Propagator(p(tau), p("tau"), p("C"), timestep) }}
}

// Propagator is P21 of Rotter and Diesmann (1999), the potential in mV that a current of 1 pA at the beginning of a step has
// made at its end: β/C·(exp(−dt/tau) − exp(−dt/s)) with β = tau·s/(tau − s), written with expm1 because the difference
// loses digits where tau and s are close; dt/C·exp(−dt/tau) where they are equal. Where expm1 would be infinite, exp(−dt/tau) is
// taken out in place of exp(−dt/s).
func Propagator(s, tau, c, dt float64) float64 {
	gap := tau - s
	if math.Abs(gap) < float64(1e-9*tau) {
		return float64(dt / c * exact.Exp(-dt/tau))
	}
	beta := float64(tau*s) / gap
	if dt/beta > 700 {
		return float64(float64(-beta/c*exact.Exp(-dt/tau)) * exact.Expm1(-dt/beta))
	}
	return float64(float64(beta/c*exact.Exp(-dt/s)) * exact.Expm1(dt/beta))
}

// leakyTerm is what a constant drive adds to V of a leaky neuron in a burst: −expm1(−dt/tau)·R·I, with R = tau/C, ms/pF being GΩ
// and pA·GΩ mV.
func leakyTerm(p Values, d *Drive, timestep float64) float64 {
	return float64(-decay(p("tau"), timestep) * steadyTerm(p, d, timestep)) // the steady potential under the drive
}
