package genome

import (
	"math"
	"strconv"
	"strings"
)

// Dimension is the physical dimension of a number; its base unit is the one potentials, times and so on are held in.
type Dimension uint8

// The dimensions and their base units.
const (
	Plain       Dimension = iota // no unit (FEAGI's numbers, counts, probabilities)
	Bursts                       // a whole number of bursts, written plain
	Time                         // ms
	Voltage                      // mV
	Current                      // pA
	Frequency                    // Hz
	Capacitance                  // pF
	Flag                         // true or false
)

// Model describes a neuron model to the genome's reader: what may be said of an area of this model.
// The law of the model itself stands in engine/doc.go.
type Model struct {
	Name      string
	Doc       string
	Equations []string // as papers write them; the law of a burst is engine/doc.go's
	Precision string   // what float32 costs, measured
	Source    string
	AreaLevel bool        // parameters stand in the area itself rather than under params
	Ports     int         // input ports of a neuron: 0 for source areas, 2 where input ≥ 0 and < 0 are kept apart
	Input     Dimension   // of weights and injected amounts
	Drive     []Dimension // of a constant drive
	Params    []Param
	State     []Param // state variables that init may name
	Custom    *Custom // of a model that the genome defines; nil for the models of Models
}

// Param describes one parameter or state variable.
type Param struct {
	Name    string
	Dim     Dimension
	Default float64
	Min     float64
	Max     float64
	MinOpen bool   // Min itself is refused
	Whole   bool   // whole numbers only (times: whole bursts)
	Needed  bool   // has no default
	Same    bool   // one value for all neurons of the area
	Like    string // the parameter whose value is the default, instead of Default
	Symbol  string // as papers write it
	Doc     string
}

// varies reports whether the parameter may differ from neuron to neuron.
func (p *Param) varies() bool { return !p.Same && !p.Whole && p.Dim != Flag }

var inf = math.Inf(1)

// defaultText is the default as a genome would write it.
func (p *Param) defaultText() string {
	switch {
	case p.Needed:
		return ""
	case p.Like != "":
		return p.Like
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
