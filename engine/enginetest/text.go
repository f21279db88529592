package enginetest

import (
	"bufio"
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"burst/connectome"
	"burst/engine"
	"burst/internal/formula"
)

// textCase is a network, what it is given and what it must do, as testdata/README.txt describes them.
type textCase struct {
	file  string
	line  int
	name  string
	why   string
	net   Net
	model formula.Source // defined last
	start []setter
	input []engine.Stimulus // of every burst from here on
	steps []expectation
}

// setter changes the state before the first burst.
type setter func(s *engine.State) error

// expectation is one burst; nil means that a part is not looked at.
type expectation struct {
	line       int
	in         []engine.Stimulus
	fired      []uint32
	only       []uint32 // when not nil: look at these neurons alone
	candidates []engine.Candidate
	v          []float32
	more       [2][]float32
	refractory []uint16
	count      []uint16
}

// readCases reads every case under testdata but those of README.txt.
func readCases(files fs.FS) ([]*textCase, error) {
	names, err := fs.Glob(files, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	var all []*textCase
	for _, name := range names {
		if path.Base(name) == "README.txt" {
			continue
		}
		cases, err := readFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// readFile reads the cases of one file.
func readFile(files fs.FS, name string) ([]*textCase, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var cases []*textCase
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if words[0] == "case" {
			cases = append(cases, &textCase{file: name, line: n, name: strings.Join(words[1:], "_")})
			continue
		}
		if len(cases) == 0 {
			return nil, fmt.Errorf("%s:%d: %q before the first case", name, n, words[0])
		}
		if err := cases[len(cases)-1].read(n, words[0], words[1:]); err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", name, n, words[0], err)
		}
	}
	return cases, lines.Err()
}

// read takes one line of a case.
func (c *textCase) read(line int, word string, rest []string) error {
	switch word {
	case "why":
		c.why = strings.Join(rest, " ")
		return nil
	case "scale", "seed":
		x, err := strconv.ParseUint(rest[0], 0, 64)
		if word == "scale" {
			c.net.Scale = int32(x)
		} else {
			c.net.RunSeed = x
		}
		return err
	case "model":
		return c.define(rest)
	case "area":
		return c.area(rest)
	case "drive":
		return c.drive(rest)
	case "synapse":
		return c.synapse(rest)
	case "start":
		return c.setStart(rest[0], rest[1:])
	case "input":
		var err error
		c.input, err = stimuli(rest)
		return err
	case "burst":
		return c.burst(line, rest)
	case "train":
		return c.train(line, rest)
	case "spikes":
		return c.spikes(line, rest)
	}
	return c.expect(word, rest)
}

// area adds "MODEL COUNT key=value…".
func (c *textCase) area(words []string) error {
	n, err := strconv.ParseUint(words[1], 10, 32)
	if err != nil {
		return err
	}
	var a connectome.Area
	switch words[0] {
	case "feagi":
		a = FEAGI(uint32(n))
	case "lif":
		a = LIF(uint32(n))
	case "lif_psc_exp":
		a = PSCExp(uint32(n))
	case "izhikevich":
		a = Izhikevich(uint32(n))
	case "poisson":
		a = Poisson(uint32(n), 0)
	case "custom":
		return c.customArea(uint32(n), words[2:])
	case "spike_list":
		a = SpikeList(make([][]uint64, n)...)
	default:
		return fmt.Errorf("no model %s", words[0])
	}
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		if err := setParam(&a, key, value); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	c.net.Areas = append(c.net.Areas, a)
	return nil
}

// setParam sets one parameter by the name that the law gives it.
func setParam(a *connectome.Area, key, value string) error {
	switch key {
	case "accumulate":
		a.FEAGI.Accumulate = value == "true"
		return nil
	case "draw":
		a.FEAGI.FEAGIDraw = value == "feagi"
		return nil
	case "below", "from", "until":
		x, err := strconv.ParseUint(value, 0, 64)
		*map[string]*uint64{"below": &a.Poisson.Below, "from": &a.Poisson.From, "until": &a.Poisson.Until}[key] = x
		return err
	case "spikes": // neuron/burst/burst…,neuron/burst…
		return setSpikes(a, value)
	}
	numbers, err := floats(strings.Split(value, ","))
	if err != nil {
		return err
	}
	x := numbers[0]
	set, known := map[string]func(){
		"threshold": func() {
			a.LIF.Threshold, a.PSCExp.Threshold, a.Izhikevich.Threshold, a.FEAGI.Threshold.Const = x, x, x, x
			if len(numbers) > 1 {
				a.FEAGI.Threshold.Each = numbers
			}
		},
		"threshold_limit": func() { a.FEAGI.ThresholdLimit = x },
		"leak":            func() { a.FEAGI.Leak = x },
		"leak_amount":     func() { a.FEAGI.LeakAmount = x },
		"excitability":    func() { a.FEAGI.Excitability = x },
		"fire_limit":      func() { a.FEAGI.FireLimit = uint16(x) },
		"snooze":          func() { a.FEAGI.Snooze = uint16(x) },
		"refractory":      func() { a.FEAGI.Refractory, a.LIF.Refractory, a.PSCExp.Refractory = uint16(x), uint16(x), uint16(x) },
		"em1":             func() { a.LIF.EM1, a.PSCExp.EM1 = x, x },
		"reset":           func() { a.LIF.Reset, a.PSCExp.Reset = x, x },
		"p21ex":           func() { a.PSCExp.P21Ex = x },
		"p21in":           func() { a.PSCExp.P21In = x },
		"p11ex":           func() { a.PSCExp.P11Ex = x },
		"p11in":           func() { a.PSCExp.P11In = x },
		"half":            func() { a.Izhikevich.Half = x },
		"adt":             func() { a.Izhikevich.ADt = x },
		"b":               func() { a.Izhikevich.B = x },
		"c":               func() { a.Izhikevich.C = x },
		"d":               func() { a.Izhikevich.D = x },
		"V":               func() { a.V0.Value.A = float64(x) },
	}[key]
	if !known {
		return fmt.Errorf("no such parameter")
	}
	set()
	return nil
}

// setSpikes reads NEURON/BURST/BURST…,NEURON/BURST…, neurons and bursts ascending.
func setSpikes(a *connectome.Area, text string) error {
	lists := make([][]uint64, a.Neurons.Count)
	for _, one := range strings.Split(text, ",") {
		x, err := whole(strings.Split(one, "/"))
		if err != nil {
			return err
		}
		lists[x[0]] = x[1:]
	}
	*a = SpikeList(lists...)
	return nil
}

// drive adds "KIND AMOUNT [from=T] [until=T] [counts=N,…] [table=Q,…]" to the last area.
func (c *textCase) drive(words []string) error {
	x, err := strconv.ParseFloat(words[1], 64)
	if err != nil {
		return err
	}
	kinds := map[string]connectome.DriveKind{"inject": connectome.Inject, "poisson": connectome.Poisson, "term": connectome.Term, "noise": connectome.Noise}
	d := Always(kinds[words[0]], int32(x))
	if d.Kind == connectome.Term {
		d.Amount, d.Term = 0, x
	}
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		for _, text := range strings.Split(value, ",") {
			if key == "table" {
				amount, err := strconv.ParseInt(text, 10, 32)
				if err != nil {
					return err
				}
				d.Table = append(d.Table, int32(amount))
				continue
			}
			n, err := strconv.ParseUint(text, 0, 64)
			if err != nil {
				return err
			}
			switch key {
			case "from":
				d.From = n
			case "until":
				d.Until = n
			case "counts":
				d.Counts = append(d.Counts, uint32(n))
			}
		}
	}
	a := &c.net.Areas[len(c.net.Areas)-1]
	a.Drives = append(a.Drives, d)
	return nil
}

// synapse adds "FROM TO WEIGHT [DELAY]".
func (c *textCase) synapse(words []string) error {
	x := [4]int64{3: 1}
	for i, w := range words {
		var err error
		if x[i], err = strconv.ParseInt(w, 10, 32); err != nil {
			return err
		}
	}
	c.net.Synapses = append(c.net.Synapses, Synapse{uint32(x[0]), uint32(x[1]), int32(x[2]), uint8(x[3])})
	return nil
}

// setStart reads "V …", "I_ex …", "I_in …", "u …", "refractory …", "count …", "number T" or "queue D ID…".
func (c *textCase) setStart(what string, words []string) error {
	if k, further := variable(what); further || what == "V" {
		v, err := floats(words)
		c.start = append(c.start, func(s *engine.State) error {
			if further {
				return replace(s.More[k], v)
			}
			return replace(s.V, v)
		})
		return err
	}
	x, err := whole(words)
	c.start = append(c.start, func(s *engine.State) error {
		switch what {
		case "number":
			s.Number = x[0]
		case "refractory":
			return replace(s.Refractory, narrow[uint16](x))
		case "count":
			return replace(s.Count, narrow[uint16](x))
		case "queue":
			s.Queues[x[0]-1] = narrow[uint32](x[1:])
		default:
			return fmt.Errorf("start %s is not known", what)
		}
		return nil
	})
	return err
}

// variable is the place of a further variable in the state.
func variable(name string) (int, bool) {
	k, is := map[string]int{"I_ex": 0, "I_in": 1, "u": 0}[name]
	return k, is
}

// replace copies a whole slice.
func replace[T any](to, from []T) error {
	if copy(to, from) != len(to) || len(from) != len(to) {
		return fmt.Errorf("%d values, want %d", len(from), len(to))
	}
	return nil
}

// burst adds a burst with "PORT:AMOUNT…" on top of the standing input.
func (c *textCase) burst(line int, words []string) error {
	in, err := stimuli(words)
	in = append(in, c.input...)
	slices.SortFunc(in, func(a, b engine.Stimulus) int { return cmp.Compare(a.Port, b.Port) })
	c.steps = append(c.steps, expectation{line: line, in: in, fired: []uint32{}})
	return err
}

// expect adds what the last burst must show.
func (c *textCase) expect(word string, words []string) (err error) {
	if len(c.steps) == 0 {
		return fmt.Errorf("a burst wanted first")
	}
	e := &c.steps[len(c.steps)-1]
	var x []uint64
	switch word {
	case "V":
		e.v, err = floats(words)
		return err
	case "I_ex", "I_in", "u":
		k, _ := variable(word)
		e.more[k], err = floats(words)
		return err
	case "fcl":
		in, err := stimuli(words)
		e.candidates = []engine.Candidate{}
		for _, s := range in {
			e.candidates = append(e.candidates, engine.Candidate{Port: s.Port, Sum: s.Amount})
		}
		return err
	case "fired":
		x, err = whole(words)
		e.fired = narrow[uint32](x)
	case "refractory":
		x, err = whole(words)
		e.refractory = narrow[uint16](x)
	case "count":
		x, err = whole(words)
		e.count = narrow[uint16](x)
	default:
		return fmt.Errorf("no such line")
	}
	return err
}

// train adds a burst for every sign of "NEURON:PATTERN…", in which 1 is a spike and _ is none.
func (c *textCase) train(line int, words []string) error {
	for i, w := range words {
		neuron, pattern, _ := strings.Cut(w, ":")
		n, err := strconv.ParseUint(neuron, 10, 32)
		if err != nil {
			return err
		}
		if i == 0 {
			for range pattern {
				c.steps = append(c.steps, expectation{line: line, in: c.input, only: []uint32{}})
			}
		}
		last := c.steps[len(c.steps)-len(pattern):]
		for k, sign := range pattern {
			last[k].only = append(last[k].only, uint32(n))
			if sign == '1' {
				last[k].fired = append(last[k].fired, uint32(n))
			}
		}
	}
	return nil
}

// spikes adds "BURSTS NEURON T…": so many bursts, of which the neuron fires in bursts T alone, 0 being the case's first.
func (c *textCase) spikes(line int, words []string) error {
	x, err := whole(words)
	if err != nil {
		return err
	}
	for range x[0] {
		c.steps = append(c.steps, expectation{line: line, in: c.input, only: []uint32{uint32(x[1])}})
	}
	for _, t := range x[2:] {
		c.steps[t].fired = []uint32{uint32(x[1])}
	}
	return nil
}

// stimuli reads "PORT:AMOUNT…", ascending by port.
func stimuli(words []string) ([]engine.Stimulus, error) {
	in := []engine.Stimulus{}
	for _, w := range words {
		port, amount, _ := strings.Cut(w, ":")
		p, err := strconv.ParseUint(port, 10, 32)
		if err != nil {
			return nil, err
		}
		a, err := strconv.ParseInt(amount, 10, 32)
		if err != nil {
			return nil, err
		}
		in = append(in, engine.Stimulus{Port: uint32(p), Amount: int32(a)})
	}
	return in, nil
}

// floats reads float32 numbers, decimal or hexadecimal.
func floats(words []string) ([]float32, error) {
	list := []float32{}
	for _, w := range words {
		x, err := strconv.ParseFloat(w, 32)
		if err != nil {
			return nil, err
		}
		if math.IsNaN(x) {
			return nil, fmt.Errorf("NaN is no potential")
		}
		list = append(list, float32(x))
	}
	return list, nil
}

// whole reads whole numbers.
func whole(words []string) ([]uint64, error) {
	list := []uint64{}
	for _, w := range words {
		x, err := strconv.ParseUint(w, 0, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// narrow turns numbers into smaller ones.
func narrow[T uint16 | uint32](x []uint64) []T {
	list := []T{}
	for _, y := range x {
		list = append(list, T(y))
	}
	return list
}
