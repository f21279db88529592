package serve

import (
	"math"
	"net/http"

	"burst/genome"
)

// Genome is what the genome says of areas and stimuli.
type Genome struct {
	Areas   []AreaParameters `json:"areas"`
	Stimuli []Stimulus       `json:"stimuli"` // in the order of their places, by which they are switched
}

// AreaParameters are the parameters of an area's model.
type AreaParameters struct {
	Name       string      `json:"name"`
	Model      string      `json:"model"`
	About      string      `json:"about"` // the model
	Input      string      `json:"input"` // unit of weights and amounts, of several ports the first's; "": a plain number
	Ports      []Port      `json:"ports,omitempty"`
	Parameters []Parameter `json:"parameters"`
}

// Parameter is one of a model.
type Parameter struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Choice string  `json:"choice,omitempty"` // the word that the value stands for
	Varied bool    `json:"varied,omitempty"` // it differs from neuron to neuron, and Value does not count
	Unit   string  `json:"unit"`
	About  string  `json:"about"`
}

// Port is an input of an area's neurons; inputs are bound to it by its name, or by its place in the list, from 1.
type Port struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// Stimulus is one of the genome's.
type Stimulus struct {
	Area    string   `json:"area"`
	At      uint64   `json:"at"`    // burst; if Every is 0
	Every   uint64   `json:"every"` // bursts
	From    uint64   `json:"from"`
	Until   *uint64  `json:"until"` // null: open
	Neurons int      `json:"neurons"`
	Largest *float64 `json:"largest"` // amount; null: it has none
}

func genomeShown(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) {
	g := s.facts.Genome
	x := Genome{Areas: make([]AreaParameters, len(g.Areas)), Stimuli: make([]Stimulus, len(g.Stimuli))}
	for i := range g.Areas {
		x.Areas[i] = parametersOf(&g.Areas[i])
	}
	for i := range g.Stimuli {
		p := &g.Stimuli[i]
		t := Stimulus{Area: g.Areas[p.Area].Name, At: p.At, Every: p.Every, From: p.From, Neurons: len(p.Neurons)}
		if p.Until != math.MaxUint64 {
			t.Until = &p.Until
		}
		for k := range p.Amounts {
			if t.Largest == nil || math.Abs(p.Amounts[k]) > math.Abs(*t.Largest) {
				t.Largest = &p.Amounts[k]
			}
		}
		x.Stimuli[i] = t
	}
	return x, nil
}

// parametersOf lists those of an area, in the order of its model.
func parametersOf(a *genome.Area) AreaParameters {
	x := AreaParameters{Name: a.Name, Parameters: []Parameter{}}
	m := a.Model
	if m == nil {
		return x
	}
	x.Model, x.About = m.Name, m.Doc
	for k, port := range m.Ports {
		if k == 0 {
			x.Input = port.Unit.BaseUnit()
		}
		x.Ports = append(x.Ports, Port{port.Name, port.Unit.BaseUnit()})
	}
	for i := range m.Params {
		p := &m.Params[i]
		y := Parameter{Name: p.Name, Value: a.Params[p.Name], Unit: p.Dim.BaseUnit(), About: p.Doc}
		_, y.Varied = a.Varied[p.Name]
		if p.Choices != nil {
			y.Choice = p.Choices[int(y.Value)]
		}
		if math.IsInf(y.Value, 0) || math.IsNaN(y.Value) { // which JSON has no number for
			y.Value, y.Choice = 0, "none"
		}
		x.Parameters = append(x.Parameters, y)
	}
	return x
}
