package enginetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// plastic adds "FROM TO key=value…", a projection between two areas, by their numbers, that changes.
func (c *textCase) plastic(words []string) error {
	x, err := whole(words[:2])
	if err != nil {
		return err
	}
	p := Plastic{From: int(x[0]), To: int(x[1]), Values: map[string]float32{}, Hi: 1}
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		v, err := strconv.ParseFloat(value, 32)
		if err != nil {
			return err
		}
		switch key {
		case "lag":
			p.Lag = uint32(v)
		case "every":
			p.Every = uint64(v)
		case "low":
			p.Lo = float32(v)
		case "high":
			p.Hi = float32(v)
		case "divide":
			p.Divide = slices.Repeat([]int32{int32(v)}, int(c.net.Areas[p.From].Neurons.Count))
		case "port":
			p.Port = int(v)
		case "fails":
			p.Fails = v != 0
		default:
			return fmt.Errorf("unknown key %s", key)
		}
	}
	c.net.Plastic = append(c.net.Plastic, p)
	return nil
}

// rule takes "PART TEXT": a part of the rule of the last projection that changes.
func (c *textCase) rule(words []string) error {
	p, text := &c.net.Plastic[len(c.net.Plastic)-1], strings.Join(words[1:], " ")
	statements := map[string]*[]string{"on_post": &p.Rule.OnPost, "on_pre": &p.Rule.OnPre, "every": &p.Rule.Every, "on_source": &p.Rule.OnSource}
	if list := statements[words[0]]; list != nil {
		*list = append(*list, text)
		return nil
	}
	if words[0] == "when" {
		p.Rule.When = text
		return nil
	}
	set := map[string]float64{}
	var names []string
	for _, w := range words[1:] {
		name, value, found := strings.Cut(w, "=")
		if names = append(names, name); !found {
			continue
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return err
		}
		set[name] = x
	}
	trace := func() connectome.Trace {
		amount, isSet := set["set"]
		made := Trace(set["tau"], float32(amount+set["add"]), isSet)
		if set["tau"] == 0 {
			made.Table = connectome.Table{Low: slices.Repeat([]float32{1}, 1000), Until: 1000}
		}
		return made
	}
	switch first := names[0]; words[0] {
	case "params":
		for _, name := range names {
			p.Rule.Params, p.Values[name] = append(p.Rule.Params, name), float32(set[name])
		}
	case "pre":
		p.Rule.Pre, p.Pre = append(p.Rule.Pre, first), append(p.Pre, trace())
	case "post":
		p.Rule.Post, p.Post = append(p.Rule.Post, first), append(p.Post, trace())
	case "modulator":
		p.Rule.Modulators, p.Of = append(p.Rule.Modulators, first), append(p.Of, PlasticModulator{trace(), int(set["area"]), uint32(set["delay"])})
	case "synapse":
		p.Rule.Synapse, p.Synapse, p.Drawn = append(p.Rule.Synapse, first), append(p.Synapse, float32(set[first])), append(p.Drawn, nil)
		if set["high"] != set["low"] {
			p.Drawn[len(p.Drawn)-1] = uniform(set["low"], set["high"])
		}
	case "source":
		p.Rule.Source, p.Source = append(p.Rule.Source, first), append(p.Source, float32(set[first]))
	case "target":
		p.Rule.Target, p.Target = append(p.Rule.Target, first), append(p.Target, int(set[first]))
	case "window":
		kinds := map[string]genome.Window{"release": genome.WindowRelease, "february": genome.WindowFebruary, "python": genome.WindowPython}
		p.Window = connectome.Window{Kind: kinds[first], Bursts: uint32(set["bursts"]), Up: float32(set["up"]), Down: float32(set["down"])}
	default:
		return fmt.Errorf("a rule has no part %q", words[0])
	}
	return nil
}

// learns adds "FROM TO WEIGHT [DELAY]" to the last projection that changes, neurons counted in their areas.
func (c *textCase) learns(words []string) error {
	s, err := readSynapse(words)
	p := &c.net.Plastic[len(c.net.Plastic)-1]
	p.Synapses = append(p.Synapses, s)
	return err
}

// bursts adds so many bursts, of which only the last is looked at, by the lines that follow.
func (c *textCase) bursts(line int, words []string) error {
	x, err := whole(words)
	if err != nil {
		return err
	}
	for range x[0] {
		c.steps = append(c.steps, expectation{line: line, in: c.input, only: []uint32{}})
	}
	return nil
}

// learnt is what a projection's weights, or a variable of its synapses, must be.
type learnt struct {
	projection int
	array      string // as engine.Array has it
	values     []float32
}

// expectLearnt reads "PROJECTION X…" of weights, or "PROJECTION K X…" of the k-th variable of the synapses.
func (e *expectation) expectLearnt(word string, words []string) error {
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	l, rest := learnt{projection: n, array: "weight"}, words[1:]
	if word == "learnt" {
		l.array, rest = "synapse variable "+rest[0], rest[1:]
	}
	l.values, err = floats(rest)
	e.learnt = append(e.learnt, l)
	return err
}

// checkLearnt compares it with a state.
func (e *expectation) checkLearnt(s *engine.State) error {
	for _, l := range e.learnt {
		want := s.Clone()
		for _, a := range want.Plastic[l.projection].Arrays() {
			if a.Name != l.array {
				continue
			}
			if err := replace(a.Numbers, l.values); err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
		if d := engine.CompareStates(s, want); d != nil {
			return fmt.Errorf("%s is %s, want %s", d.Field, d.A, d.B)
		}
	}
	return nil
}
