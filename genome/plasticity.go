package genome

import (
	"slices"

	"burst/internal/formula"
)

// Plasticity is a rule by which the synapses of a projection change. The genome defines it, or it is one of Plasticities.
type Plasticity struct {
	Pos        Pos
	Name       string
	Doc        string   // of a built-in rule, like Origin
	Origin     string   // author and year
	Equations  []string // traces and statements, for the documentation
	Params     []Param  // of dimension Weight: in the unit of the projection's weights
	Pre        []Trace
	Post       []Trace
	Modulators []Modulator
	Source     []RuleVariable   // variables of each source neuron
	Synapse    []RuleVariable   // variables of each synapse, beside the weight
	Target     []string         // state variables of the target's model that the rule reads
	Bounds     *[2]RuleValue    // least and largest weight, of dimension Weight or with a unit; nil: the projection gives them
	Every      uint64           // bursts from one sweep to the next; 0: no sweeps, or a parameter gives it and only Learning.Rule has it
	When       bool             // a condition makes post events, not the target's spikes
	Window     Window           // one of FEAGI's rules, without formulas; else WindowNone
	Definition func() *Handlers // nil for FEAGI's rules; that of a built-in rule is compiled by the first call

	source *formula.RuleSource
	every  RuleValue
}

// Handlers are the checked formulas of a rule.
type Handlers = formula.Rule

// Trace is a number of each source or target neuron. Events raise it, and it decays with time.
type Trace struct {
	Name   string
	Tau    RuleValue // time constant, > 0
	Amount RuleValue
	Set    bool // an event sets the trace to Amount; otherwise it adds Amount
}

// Modulator is a number of the whole projection that the spikes of an area raise.
type Modulator struct {
	Name   string
	From   string // name of the area; "": the projection gives it
	Tau    RuleValue
	Amount RuleValue // added for each spike
	Delay  float64   // bursts, 1…255, set in Learning.Rule: a spike in burst s is an event of burst s + Delay

	delay RuleValue
}

// RuleVariable is a variable and its initial value.
type RuleVariable struct {
	Name  string
	Start RuleValue
	Limit Param // of a built-in rule: the range of what a projection gives in place of Start, and what it means; without Doc: any
}

// RuleValue is a number, or the name of a parameter or constant of the rule.
type RuleValue struct {
	Name   string // "": Number
	Number float64
	Dim    Dimension
}

// Window names FEAGI's rules. They depend on the bursts of a window in which both ends of a synapse fired.
type Window uint8

// The windows; engine/doc.go has their steps.
const (
	WindowNone     Window = iota
	WindowRelease         // as in the released server: any burst of the window, checked in every burst
	WindowFebruary        // as in the sources of February 2026: all bursts of the window
	WindowPython          // as in the Python server of 2025
)

// Learning is the plasticity of a projection.
type Learning struct {
	Pos    Pos
	Rule   *Plasticity        // with the values of this projection: sweeps, modulators, and programs compiled for its exponents
	Params map[string]float64 // every parameter of Rule in base units, defaults filled in
	Starts map[string]Value   // by variable of the synapse: what the projection has it start from, in base units; of others the rule's Start
	Listed []ListedStart      // the same of variables that start from columns of the projection's edge list
	Lo, Hi float64            // bounds of the weight, in the target model's input unit
	Fail   bool               // a weight that the proof against overflow has no room for ends the run; the scale is that of weights that stay
	Back   float64            // dendritic share of the delay, whole bursts, 0 ≤ Back ≤ delay
}

// ListedStart is a column of an edge list: what a variable of each synapse starts from.
type ListedStart struct {
	Pos      Pos
	Variable int                                          // of Rule.Synapse
	Column   string                                       // its name in the list
	Take     func(x float64) (base float64, wrong string) // a number of it in base units, or what is wrong with it; float32 holds it
}

// Value computes a value of the rule from the projection's parameters, in float64. The caller rounds it.
func (l *Learning) Value(v RuleValue, timestep float64) float64 {
	if v.Name == "" {
		return v.Number
	}
	if x, ok := l.Params[v.Name]; ok {
		return x
	}
	return l.Values([]string{v.Name}, timestep)[0]
}

// Values computes parameters, constants and dt, as Definition.Values of package formula does.
func (l *Learning) Values(names []string, timestep float64) []float64 {
	return l.Rule.Definition().Values(names, func(p string) float64 { return l.Params[p] }, timestep)
}

// Taus are the time constants of the rule's traces, modulators and decays.
func (r *Plasticity) Taus() (list []RuleValue) {
	for _, t := range slices.Concat(r.Pre, r.Post) {
		list = append(list, t.Tau)
	}
	for _, m := range r.Modulators {
		list = append(list, m.Tau)
	}
	if h := r.Definition().OnSource; h != nil {
		for _, name := range h.Decays {
			list = append(list, RuleValue{Name: name})
		}
	}
	return list
}
