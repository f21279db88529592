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
	AreaLevel bool      // parameters stand in the area itself rather than under params
	Input     Dimension // of weights and injected amounts
	Drive     []Dimension
	Params    []Param
	State     []Param // state variables that init may name
}

// Param describes one parameter or state variable.
type Param struct {
	Name    string
	Dim     Dimension
	Default float64
	Min     float64
	Max     float64
	MinOpen bool // Min itself is refused
	Whole   bool // whole numbers only (times: whole bursts)
	Doc     string
}

// Models lists the neuron models in the order in which they are documented.
func Models() []*Model { return []*Model{&feagiModel, &lifModel} }

var inf = math.Inf(1)

// feagiModel is FEAGI's candidates-only law.
var feagiModel = Model{
	Name: "feagi", AreaLevel: true, Input: Plain, Drive: []Dimension{Plain},
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
	Name: "lif", Input: Voltage, Drive: []Dimension{Current, Voltage},
	Doc: "leaky integrate-and-fire neuron with delta synapses (Brunel 2000, eq. 1)",
	Params: []Param{
		{Name: "tau", Dim: Time, Default: 20, Min: 0, MinOpen: true, Max: inf, Doc: "membrane time constant"},
		{Name: "C", Dim: Capacitance, Default: 250, Min: 0, MinOpen: true, Max: inf, Doc: "membrane capacitance; R = tau/C turns a current drive into a potential"},
		{Name: "rest", Dim: Voltage, Default: 0, Min: -inf, Max: inf, Doc: "resting potential"},
		{Name: "reset", Dim: Voltage, Default: 10, Min: -inf, Max: inf, Doc: "potential after a spike and while refractory"},
		{Name: "threshold", Dim: Voltage, Default: 20, Min: -inf, Max: inf, Doc: "potential from which the neuron fires"},
		{Name: "refractory", Dim: Time, Default: 2, Min: 0, Max: inf, Whole: true, Doc: "silence after a spike, whole bursts up to 65535"},
	},
	State: []Param{{Name: "V", Dim: Voltage, Min: -inf, Max: inf, Doc: "membrane potential, absolute"}},
}

// defaultText is the default as a genome would write it.
func (p *Param) defaultText() string {
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
