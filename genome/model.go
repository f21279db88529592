package genome

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"burst/internal/formula"
)

// Dimension is the physical dimension of a number. A Genome holds numbers in the base units of their dimensions.
type Dimension uint8

// The dimensions and their base units.
const (
	Plain       Dimension = iota // no unit (FEAGI's numbers, counts, probabilities)
	Bursts                       // a whole number of bursts, without a unit
	Time                         // ms
	Voltage                      // mV
	Current                      // pA
	Frequency                    // Hz
	Capacitance                  // pF
	Conductance                  // nS
	Flag                         // true or false
	Weight                       // for plasticity rules: in the unit of the projection's weights
	Length                       // um
)

// Model describes a neuron model for all packages: the keys of its areas, and the constants and state variables of its
// neurons. engine/doc.go defines its formula, and each backend implements it.
type Model struct {
	Name      string
	Aliases   []string // further names by which areas may choose it
	Number    uint8    // identifies the model in kernels and hashes; unique, and never changed
	Doc       string
	Equations []string // as in papers; engine/doc.go defines the computation of a burst
	Precision string   // measured effect of float32
	Longest   float64  // ms, the longest timestep for which it is compared with other programs; 0: it holds for any
	Source    string

	AreaLevel bool        // parameters are keys of the area, not of params, with one value for all neurons
	Lazy      bool        // only candidates are updated
	Event     string      // variables decay by a table of the bursts since the last input, constant drives are part of rest; the model that is the same in every burst
	Ports     []Port      // inputs of a neuron, at most 16; none for sources
	Drive     []Dimension // of constant drives that are a term of the formula

	// Term is what a constant drive adds in a burst to the model's formula; nil: it is injected at a port.
	Term func(p Values, d *Drive, timestep float64) float64

	Params    []Param
	Keys      []string        // further keys of an area: threshold_gradient, psp_max, from, until, factor, spikes
	Constants []ModelConstant // numbers that the formula uses, in its order

	// Chance is the probability, 0…1, that a neuron's random draw of 32 bits lets it fire; nil: there is no draw.
	Chance func(p Values, timestep float64) float64

	State  []Variable // the potential first; empty for sources
	Custom *Custom    // for a model that is written as formulas: the genome's own, and those of Written; nil for those of Models
}

// Values returns a neuron's parameter by its name, in base units.
type Values func(name string) float64

// Param describes one parameter.
type Param struct {
	Name    string
	Dim     Dimension
	Default float64
	Min     float64
	Max     float64
	MinOpen bool     // Min itself is not allowed
	Whole   bool     // whole numbers only (times: whole bursts)
	Needed  bool     // has no default
	Same    bool     // one value for all neurons of the area
	Once    bool     // a rate of at most one a burst
	Like    string   // the parameter whose value is the default, instead of Default
	Below   string   // the parameter that is greater
	Choices []string // the allowed words; the value is the index of the word
	Symbol  string   // as in papers
	Doc     string
}

// ModelConstant is a number that is computed once from parameters.
type ModelConstant struct {
	Name     string
	Of       func(p Values, timestep float64) float64 // the result is rounded to float32; it reads every parameter that it depends on
	Shared   bool                                     // equal for all neurons of an area; such constants come last
	Whole    bool                                     // hashes take it as a whole number
	Infinite bool                                     // may be infinite
	Later    bool                                     // added to the model later: hashes include it only if it is not 0
}

// Variable is a state variable, which init may name.
type Variable struct {
	Name  string
	Dim   Dimension
	Start float64                              // initial value, unless the genome gives one
	Rest  string                               // the parameter that is the initial value instead; backends store the difference from it
	From  func(k []float32, v float32) float32 // computes the initial value instead, from the neuron's constants and its V
	Doc   string
}

// Recordable are the names of what can be recorded of a neuron: its state variables, in their order, then its ports.
func (m *Model) Recordable() []string {
	var names []string
	for _, v := range m.State {
		names = append(names, v.Name)
	}
	return append(names, m.PortNames()...)
}

// FindRecordable is the place of a name in Recordable; the error proposes the nearest.
func (m *Model) FindRecordable(name string) (int, error) {
	names := m.Recordable()
	if k := slices.Index(names, name); k >= 0 {
		return k, nil
	}
	hint := ""
	if near := Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return 0, fmt.Errorf("%q, want a state variable or an input of the model %s: %s%s", name, m.Name, strings.Join(names, ", "), hint)
}

// Has reports whether areas of the model have key, one of the keys that only some models have.
func (m *Model) Has(key string) bool { return slices.Contains(m.Keys, key) }

// HasConstant reports whether the model has a constant of that name.
func (m *Model) HasConstant(name string) bool { return slices.Contains(m.ConstantNames(), name) }

// Own is the number of constants that may differ from neuron to neuron; they come first.
func (m *Model) Own() int {
	if m.Custom != nil {
		return len(m.ConstantNames())
	}
	n := 0
	for n < len(m.Constants) && !m.Constants[n].Shared {
		n++
	}
	return n
}

// ConstantNames are the names of the constants, in order.
func (m *Model) ConstantNames() []string {
	if m.Custom != nil {
		return m.Custom.Definition().Program.Params
	}
	names := make([]string, len(m.Constants))
	for i := range m.Constants {
		names[i] = m.Constants[i].Name
	}
	return names
}

// Work computes the constants of those names.
func (m *Model) Work(names []string, p Values, timestep float64) []float64 {
	if m.Custom != nil {
		return m.Custom.Definition().Values(names, p, timestep)
	}
	list := make([]float64, len(names))
	for i, name := range names {
		at := slices.IndexFunc(m.Constants, func(c ModelConstant) bool { return c.Name == name })
		list[i] = m.Constants[at].Of(p, timestep)
	}
	return list
}

// Depends lists the parameters that the constant of that name depends on, the most important one first.
func (m *Model) Depends(name string) []string {
	if m.Custom != nil {
		return m.Custom.Definition().Depends(name)
	}
	return Asked(func(p Values) { m.Work([]string{name}, p, 1) })
}

// Asked lists the parameters that f reads.
func Asked(f func(p Values)) (names []string) {
	f(func(name string) float64 {
		names = append(names, name)
		return 1
	})
	return names
}

// varies reports whether a parameter of the model may differ from neuron to neuron.
func (m *Model) varies(p *Param) bool {
	if p.Same || p.Whole && p.Name != formula.Quiet || p.Dim == Flag || p.Choices != nil {
		return false
	}
	return !slices.ContainsFunc(m.Constants, func(c ModelConstant) bool {
		return c.Shared && slices.Contains(Asked(func(of Values) { c.Of(of, 1) }), p.Name)
	})
}

var inf = math.Inf(1)

// defaultText is the default as a genome would write it.
func (p *Param) defaultText() string {
	switch {
	case p.Needed:
		return ""
	case p.Like != "":
		return p.Like
	case p.Choices != nil:
		return p.Choices[int(p.Default)]
	}
	x := strconv.FormatFloat(p.Default, 'g', -1, 64)
	switch p.Dim {
	case Flag:
		return strconv.FormatBool(p.Default != 0)
	case Plain, Bursts:
		return x
	}
	unit := p.Dim.example()
	return x + unit[strings.LastIndexByte(unit, ' '):]
}

// ModelNamed is the model of Models or Written with that name or alias; nil if there is none.
func ModelNamed(name string) *Model {
	for _, m := range slices.Concat(Models(), Written()) {
		if m.Name == name || slices.Contains(m.Aliases, name) {
			return m
		}
	}
	return nil
}
