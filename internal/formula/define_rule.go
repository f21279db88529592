package formula

import (
	"fmt"
	"slices"
)

// ReservedInRules lists the names that stand for something in every rule.
func ReservedInRules() []string {
	return append([]string{Weight, Out, PreToo, PostToo, AgePre, AgePost, Total, First, Decay}, Reserved()...)
}

// DefineRule checks a rule and makes its programs. Its names are valid, none is reserved or used twice.
func DefineRule(s *RuleSource) (*Rule, []Fault) {
	c := &compiler{source: &Source{Params: s.Params, Constants: s.Constants}, b: newBuilder(), scope: map[string]binding{}}
	r := &Rule{params: s.Params, constants: c.constants()}
	faults := c.faults
	handler := func(part Part, texts []string) *Handler {
		if len(texts) == 0 {
			return nil
		}
		h := newHandlerCompiler(s, part)
		made, wrong := h.compile(s, texts, r.constants)
		faults = append(faults, wrong...)
		if r.negative == "" {
			r.negative = h.negative
		}
		r.exponents = append(r.exponents, h.exponents...)
		return made
	}
	r.OnPost, r.OnPre = handler(InOnPost, s.OnPost), handler(InOnPre, s.OnPre)
	r.Every, r.OnSource = handler(InEvery, s.Every), handler(InOnSource, s.OnSource)
	if s.When != "" {
		r.When = handler(InWhen, []string{s.When})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return r, nil
}

// NoNegative is a function that the rule takes of the weight itself and that has no value below 0: "pow", "sqrt", "log" or "".
func (r *Rule) NoNegative() string { return r.negative }

// Exponents are names that the rule takes to the power of: those of parameters among them are worth to be Known.
func (r *Rule) Exponents() []string { return r.exponents }

// handlerCompiler is what the compiler of a handler knows beside that of a model.
type handlerCompiler struct {
	part      Part
	reads     []Read
	inputs    map[string]int // place in reads of a name
	decays    []string
	elsewhere map[string]string // where a name of the rule may stand that this handler does not have
	variables []string          // State
	known     map[string]float64
	negative  string
	exponents []string
}

// input is a name that handlers read.
type input struct {
	name  string
	read  Read
	flag  bool
	what  string
	parts []Part
}

// ruleInputs are all names that handlers of a rule read, with the handlers that may.
func ruleInputs(s *RuleSource) (list []input) {
	events := []Part{InOnPost, InOnPre, InEvery}
	several := func(names []string, kind ReadKind, what string, parts ...Part) {
		for k, name := range names {
			list = append(list, input{name, Read{kind, k}, false, what, parts})
		}
	}
	several(s.Pre, ReadPre, "a trace of the source", events...)
	several(s.Post, ReadPost, "a trace of the target", events...)
	several(s.Modulators, ReadModulator, "a modulator", events...)
	several(s.Source, ReadSource, "a variable of the source", InOnPre)
	several(s.Target, ReadTarget, "a variable of the target", append(events, InWhen)...)
	return append(list,
		input{PreToo, Read{ReadPreToo, 0}, true, "which tells whether the other event is in the same burst", []Part{InOnPost}},
		input{PostToo, Read{ReadPostToo, 0}, true, "which tells whether the other event is in the same burst", []Part{InOnPre}},
		input{AgePre, Read{ReadAgePre, 0}, false, "an age", events},
		input{AgePost, Read{ReadAgePost, 0}, false, "an age", events},
		input{Total, Read{ReadTotal, 0}, false, "the sum of the weights", []Part{InEvery}},
		input{First, Read{ReadFirst, 0}, true, "which tells of the source's first spike", []Part{InOnSource}})
}

// newHandlerCompiler sorts the names of a rule into those that a handler has and those that it has not.
func newHandlerCompiler(s *RuleSource, part Part) *handlerCompiler {
	h := &handlerCompiler{part: part, inputs: map[string]int{}, elsewhere: map[string]string{}, known: s.Known}
	not := func(name, what string, parts ...Part) {
		h.elsewhere[name] = fmt.Sprintf("%s; it may stand only in %s", what, listed(parts))
	}
	synapse := []Part{InOnPost, InOnPre, InEvery}
	switch {
	case part == InOnSource:
		h.variables = s.Source
	case part != InWhen:
		h.variables = append([]string{Weight}, s.Synapse...)
	}
	if part == InOnSource || part == InWhen {
		not(Weight, "the weight", synapse...)
		for _, name := range s.Synapse {
			not(name, "a variable of the synapse", synapse...)
		}
	}
	if part != InOnPre {
		not(Out, "what is delivered", InOnPre)
	}
	for _, in := range ruleInputs(s) {
		switch {
		case slices.Contains(in.parts, part):
			h.inputs[in.name] = len(h.reads)
			h.reads = append(h.reads, in.read)
		case slices.Contains(h.variables, in.name):
		case in.read.Kind == ReadSource:
			not(in.name, in.what, InOnPre, InOnSource)
		default:
			not(in.name, in.what, in.parts...)
		}
	}
	return h
}

// listed names parts, as in "on_post, on_pre and every".
func listed(parts []Part) (text string) {
	for i, p := range parts {
		switch {
		case i == 0:
		case i == len(parts)-1:
			text += " and "
		default:
			text += ", "
		}
		text += p.String()
	}
	return text
}

// compile makes the handler.
func (h *handlerCompiler) compile(s *RuleSource, texts []string, constants []constant) (*Handler, []Fault) {
	c := &compiler{source: &Source{}, b: newBuilder(), scope: map[string]binding{}, rule: h}
	c.bindValues(s.Params, constants)
	for k, name := range h.variables {
		c.source.State = append(c.source.State, Line{Name: name})
		c.scope[name] = binding{value{ref: c.b.load(State, k)}, aState}
	}
	for _, in := range ruleInputs(s) {
		if k, ok := h.inputs[in.name]; ok {
			v := value{ref: c.b.load(Input, k), flag: in.flag}
			if in.flag {
				v.ref = c.b.apply(Not, c.b.apply(Equal, v.ref, c.b.constant(0)))
			}
			c.scope[in.name] = binding{v, aRead}
		}
	}
	if h.part == InOnPre {
		c.scope[Out] = binding{role: unset}
		c.source.State = append(c.source.State, Line{Name: Out})
	}
	used := map[string]bool{}
	fired := c.b.load(Refractory, 0)
	if h.part == InWhen {
		fired = c.conditionOf(InWhen, texts[0], used).ref
	} else {
		c.unused(c.assignments(h.part, texts, used), used)
	}
	if c.b.full {
		c.fault(h.part, 0, wrong(0, "expects statements of at most %d operations, found more", maxCode))
	}
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	if last := len(c.source.State) - 1; h.part == InOnPre && c.scope[Out].role == unset {
		c.source.State = c.source.State[:last]
	}
	made := &Handler{Program: c.b.finish(c.states(), fired, c.names, len(h.reads))}
	h.trim(made)
	return made, nil
}

// trim drops the inputs that the program does not load, and the decays that no input uses.
func (h *handlerCompiler) trim(made *Handler) {
	place := map[uint16]uint16{}
	for i := range made.Program.Code {
		in := &made.Program.Code[i]
		if in.Op != Input {
			continue
		}
		k, ok := place[in.K]
		if !ok {
			k = uint16(len(made.Reads))
			read := h.reads[in.K]
			if read.Kind == ReadDecay {
				made.Decays = append(made.Decays, h.decays[read.K])
				read.K = len(made.Decays) - 1
			}
			place[in.K], made.Reads = k, append(made.Reads, read)
		}
		in.K = k
	}
	made.Program.Inputs = len(made.Reads)
}

// decay is decay(tau).
func (h *handlerCompiler) decay(c *compiler, n *node) (value, *Mistake) {
	tau := n.args[0]
	if b, ok := c.scope[tau.name]; tau.name == "" || ok && (b.role != aValue || tau.name == timeStep) {
		return value{}, wrong(tau.at, "expects decay of the name of a parameter or constant, found another argument")
	} else if _, m := c.lookup(tau); m != nil || !ok {
		return value{}, m
	}
	k := slices.Index(h.decays, tau.name)
	if k < 0 {
		k = len(h.decays)
		h.decays = append(h.decays, tau.name)
	}
	at := slices.Index(h.reads, Read{ReadDecay, k})
	if at < 0 {
		at = len(h.reads)
		h.reads = append(h.reads, Read{ReadDecay, k})
	}
	return value{ref: c.b.load(Input, at)}, nil
}

// power is pow by an exponent that needs none, as Known has it.
func (h *handlerCompiler) power(c *compiler, n *node, args []Ref) (Ref, bool) {
	if n.what != "pow" {
		return 0, false
	}
	if name := n.args[1].name; name != "" {
		h.exponents = append(h.exponents, name)
	}
	exponent, known := h.exponent(n.args[1])
	switch {
	case known && exponent == 0:
		return c.b.constant(1), true
	case known && exponent == 1:
		return args[0], true
	case known && exponent == 2:
		return c.b.apply(Mul, args[0], args[0]), true
	}
	return 0, false
}

func (h *handlerCompiler) exponent(n *node) (float64, bool) {
	if n.what == "" && n.name == "" {
		return n.x, true
	}
	x, known := h.known[n.name]
	return x, known && n.name != ""
}

// roots notes a function of the weight itself that has no value below 0.
func (h *handlerCompiler) roots(n *node) {
	if n.what != "pow" && n.what != "sqrt" && n.what != "log" || n.args[0].name != Weight {
		return
	}
	if n.what == "pow" {
		if x, known := h.exponent(n.args[1]); known && x == float64(int64(x)) {
			return
		}
	}
	h.negative = n.what
}
