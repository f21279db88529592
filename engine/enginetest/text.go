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
	"burst/genome"
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
	amplitudes []engine.Amplitude
	v          []float32
	more       [][]float32 // of further variables, by their places
	refractory []uint16
	count      []uint16
	learnt     []learnt
	kept       []kept
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
	case "plastic":
		return c.plastic(rest)
	case "rule":
		return c.rule(rest)
	case "learns":
		return c.learns(rest)
	case "divide":
		x, err := whole(rest)
		for _, n := range x {
			c.net.Divide = append(c.net.Divide, int32(n))
		}
		return err
	case "bursts":
		return c.bursts(line, rest)
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
	if words[0] == "custom" {
		return c.customArea(uint32(n), words[2:])
	}
	if !slices.ContainsFunc(genome.Models(), func(m *genome.Model) bool { return m.Name == words[0] }) {
		return fmt.Errorf("no model %s", words[0])
	}
	a := Of(words[0], uint32(n))
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		if err := setParam(&a, key, value); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	c.net.Areas = append(c.net.Areas, a)
	return nil
}

// setParam sets a constant by its name, or V, below, from, until, factor, spikes or upstream.
func setParam(a *connectome.Area, key, value string) (err error) {
	whole := map[string]*uint64{"below": &a.Chance.Const, "from": &a.From, "until": &a.Until}[key]
	switch {
	case whole != nil:
		*whole, err = strconv.ParseUint(value, 0, 64)
		return err
	case key == "psp_max":
		most, err := strconv.ParseInt(value, 10, 32)
		a.PSPMax = int32(most)
		return err
	case key == "spikes": // neuron/burst/burst…,neuron/burst…
		return setSpikes(a, value)
	case key == "factor": // burst/value,burst/value…
		a.Factor, err = steps(value)
		return err
	case key == "upstream": // area,area…
		return setUpstream(a, value)
	}
	numbers, err := floats(strings.Split(word(a.Model, key, value), ","))
	switch {
	case err != nil:
		return err
	case key == "V":
		a.V0.Value.A = float64(numbers[0])
	case !slices.Contains(a.Model.ConstantNames(), key):
		return fmt.Errorf("unknown parameter")
	default:
		k := a.Constant(key)
		if k.Const = numbers[0]; len(numbers) > 1 {
			k.Each = numbers
		}
	}
	return nil
}

// word is the number that a word stands for as a value of a parameter, else what was given.
func word(m *genome.Model, key, value string) string {
	for i := range m.Params {
		p, words := &m.Params[i], []string{"false", "true"}
		if p.Name != key {
			continue
		}
		if p.Choices != nil {
			words = p.Choices
		}
		if at := slices.Index(words, value); at >= 0 {
			return strconv.Itoa(at)
		}
	}
	return value
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

// drive adds "KIND AMOUNT [from=T] [until=T] [port=K] [counts=N,…] [table=Q,…] [factor=T/X,…] [mean=X] [amounts=Q,…] [means=X,…] [sds=X,…]" to the last area, a port from 1
// on.
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
	mean := 0.0
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		if slices.Contains([]string{"factor", "mean", "amounts", "means", "sds"}, key) {
			continue // below, with all else known
		}
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
			case "port":
				d.Port = int(n)
			case "counts":
				d.Counts = append(d.Counts, uint32(n))
			}
		}
	}
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "mean":
			mean, err = strconv.ParseFloat(value, 64)
		case "factor":
			d.Moving = &connectome.Moving{Scale: 1, Amount: x}
			d.Moving.Factor, err = steps(value)
		case "amounts", "means", "sds":
			err = own(&d, key, value)
		}
		if err != nil {
			return err
		}
	}
	if m := d.Moving; m != nil && d.Kind == connectome.Poisson {
		m.Amount, m.Most = mean, math.MaxInt
		m.Most = len(d.At(m.Factor.Hi).Counts)
	}
	a := &c.net.Areas[len(c.net.Areas)-1]
	a.Drives = append(a.Drives, d)
	return nil
}

// own reads a number for each neuron: amounts and means of a Poisson drive, or means and sds of a normal one, in units of one quantum.
func own(d *connectome.Drive, key, value string) error {
	if d.Own == nil {
		d.Own = &connectome.Own{Scale: 1, Begin: []uint64{0}}
	}
	o := d.Own
	for _, text := range strings.Split(value, ",") {
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return err
		case key == "amounts":
			o.Amounts = append(o.Amounts, int32(x))
		case key == "sds":
			o.SD = append(o.SD, x)
		case d.Kind == connectome.Noise:
			o.Mean = append(o.Mean, x)
		default:
			one := connectome.Drive{Kind: connectome.Poisson, Moving: &connectome.Moving{Amount: x, Most: math.MaxInt}}
			o.Counts = append(o.Counts, one.At(1).Counts...)
			o.Rows, o.Begin = append(o.Rows, uint32(len(o.Rows))), append(o.Begin, uint64(len(o.Counts)))
		}
	}
	return nil
}

// steps reads a factor BURST/VALUE,BURST/VALUE…, bursts ascending.
func steps(text string) (*genome.Factor, error) {
	f := &genome.Factor{Timestep: 1}
	for _, one := range strings.Split(text, ",") {
		at, value, _ := strings.Cut(one, "/")
		t, err := strconv.ParseUint(at, 0, 64)
		x, err2 := strconv.ParseFloat(value, 64)
		if err := cmp.Or(err, err2); err != nil {
			return nil, err
		}
		f.At, f.Values = append(f.At, t), append(f.Values, x)
	}
	f.Bound()
	return f, nil
}

// synapse adds "FROM TO WEIGHT [DELAY]".
func (c *textCase) synapse(words []string) error {
	s, err := readSynapse(words)
	c.net.Synapses = append(c.net.Synapses, s)
	return err
}

// readSynapse reads "FROM TO WEIGHT [DELAY]".
func readSynapse(words []string) (Synapse, error) {
	x := [4]int64{3: 1}
	for i, w := range words {
		var err error
		if x[i], err = strconv.ParseInt(w, 10, 32); err != nil {
			return Synapse{}, err
		}
	}
	return Synapse{uint32(x[0]), uint32(x[1]), int32(x[2]), uint16(x[3])}, nil
}

// setStart reads "V …", that of a further variable such as "u …", "refractory …", "count …", "number T" or "queue D ID…".
func (c *textCase) setStart(what string, words []string) error {
	if what == "amplitudes" {
		d, err := strconv.Atoi(words[0])
		list, err2 := amplitudes(words[1:])
		c.start = append(c.start, func(s *engine.State) error {
			s.Amplitudes[d-1] = list
			return nil
		})
		return cmp.Or(err, err2)
	}
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
	for _, m := range genome.Models() {
		if k := slices.IndexFunc(m.State, func(v genome.Variable) bool { return v.Name == name }); k > 0 {
			return k - 1, true
		}
	}
	return 0, false
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
		return fmt.Errorf("no burst before it")
	}
	e := &c.steps[len(c.steps)-1]
	if k, further := variable(word); further {
		for len(e.more) <= k {
			e.more = append(e.more, nil)
		}
		e.more[k], err = floats(words)
		return err
	}
	var x []uint64
	switch word {
	case "weights", "learnt":
		return e.expectLearnt(word, words)
	case "patterns", "lifespans", "longterm", "lost":
		return e.expectKept(word, words)
	case "V":
		e.v, err = floats(words)
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
	case "amplitudes":
		e.amplitudes, err = amplitudes(words)
	case "refractory":
		x, err = whole(words)
		e.refractory = narrow[uint16](x)
	case "count":
		x, err = whole(words)
		e.count = narrow[uint16](x)
	default:
		return fmt.Errorf("unknown line")
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
			return nil, fmt.Errorf("a potential cannot be NaN")
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
func narrow[T uint8 | uint16 | uint32](x []uint64) []T {
	list := []T{}
	for _, y := range x {
		list = append(list, T(y))
	}
	return list
}
