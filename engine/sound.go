package engine

import (
	"fmt"

	"burst/connectome"
)

// How often the engine looks for NaN and Inf, in bursts: a Watcher every watchEvery, other backends every readEvery. Reading V
// in the host's memory takes about a quarter of a burst; copying the state, or bringing it from a device, takes a few bursts
// to a few dozen.
const (
	watchEvery = 64
	readEvery  = 8192
)

// NotFinite is a number of the state that is NaN or infinite.
type NotFinite struct {
	Neuron   uint32
	Variable int // 0 is V, k the k-th further one
	Value    float32

	Entry *Entry // where the number is in State.Plastic; nil: it is a variable of Neuron
	Where string // the place of Entry in words, filled in by Locate; Neuron is then its neuron, of a synapse the target

	Passed bool // the entry is of a synapse whose weight has left its bounds, which makes it NaN; filled in by Locate
}

// Locate finds the synapse or neuron that Entry belongs to, and fills in Neuron and Where. In a network in parts, the part that
// has the synapse calls it.
func (x *NotFinite) Locate(c *connectome.Connectome) {
	if x.Entry == nil || x.Where != "" {
		return
	}
	x.Neuron, x.Where = x.Entry.locate(c)
	if p := &c.Plastic[x.Entry.Plastic]; x.Entry.By == BySynapse && p.Fails() {
		x.Passed = true
		x.Where += fmt.Sprintf(", has left %g…%g, beyond which sums of inputs could overflow,", p.Lo, p.Hi)
	}
}

// name is what errors call the variable; Locate has been called.
func (x *NotFinite) name(c *connectome.Connectome) string {
	if x.Where != "" {
		return x.Where
	}
	a := &c.Areas[c.AreaOf(x.Neuron)]
	if x.Variable == 0 && a.Custom == nil {
		return "potential"
	}
	return "state variable " + a.Variable(x.Variable)
}

// NumberError says that a state variable of a neuron, or a number that a projection has learnt, has become NaN or infinite.
type NumberError struct {
	NotFinite
	Area  string
	Name  string // potential, or that of the state variable, or Where
	Index uint32 // of the neuron in its area
	After uint64 // the number was finite before this burst
	Burst uint64 // and is not finite after this one
}

func (e *NumberError) Error() string {
	when := fmt.Sprintf("after burst %d", e.Burst)
	if e.After < e.Burst {
		when += fmt.Sprintf(" (all were finite before burst %d)", e.After)
	}
	switch {
	case e.Passed:
		return fmt.Sprintf("neuron %d of area %q (id %d): %s %s; a smaller scale leaves more room (--set scale=N)", e.Index, e.Area, e.Neuron, e.Name, when)
	case e.Where != "":
		return fmt.Sprintf("neuron %d of area %q (id %d): %s, is %v %s; parameters and amounts with which the rule cannot run away keep it "+
			"finite", e.Index, e.Area, e.Neuron, e.Name, e.Value, when)
	}
	return fmt.Sprintf("%s of neuron %d of area %q (id %d) is %v %s; a smaller timestep, or parameters and weights that cannot "+
		"run away, keep it finite", e.Name, e.Index, e.Area, e.Neuron, e.Value, when)
}

// NotFinite is the first number of s that is NaN or infinite, nil if all are finite.
func (s *State) NotFinite() *NotFinite {
	if x := FindNotFinite(s.V, s.More); x != nil {
		return x
	}
	for i := range s.Plastic {
		for _, a := range s.Plastic[i].Arrays() {
			if n := firstNotFinite(a.Numbers); n >= 0 {
				return &NotFinite{Value: a.Numbers[n], Entry: &Entry{Plastic: i, Array: a.Name, By: a.By, At: uint64(n)}}
			}
		}
	}
	return nil
}

// FindNotFinite is the first number of a state's variables that is NaN or infinite, nil if all are finite.
func FindNotFinite(v []float32, more [][]float32) *NotFinite {
	if n := firstNotFinite(v); n >= 0 {
		return &NotFinite{Neuron: uint32(n), Value: v[n]}
	}
	for k, values := range more {
		if n := firstNotFinite(values); n >= 0 {
			return &NotFinite{Neuron: uint32(n), Variable: k + 1, Value: values[n]}
		}
	}
	return nil
}

// firstNotFinite is the index of the first NaN or Inf, -1 without one. Eight at a time: a finite sum times 0 is 0. If it is
// not, which also happens when large numbers overflow, the rest is looked at one by one.
func firstNotFinite(values []float32) int {
	rest := values
	for ; len(rest) >= 8; rest = rest[8:] {
		x := rest[:8]
		sum := ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
		if sum*0 != 0 {
			break
		}
	}
	for i, x := range rest {
		if x*0 != 0 {
			return len(values) - len(rest) + i
		}
	}
	return -1
}

// Check looks for NaN and Inf in the state. The first is returned as a *NumberError; after it only Restore works. Run calls
// it now and then.
func (e *Engine) Check() error {
	if e.failed != nil {
		return e.failed
	}
	if w, ok := e.b.Backend.(Watcher); ok {
		return e.judge(w.NotFinite())
	}
	if err := e.b.ReadState(&e.read); err != nil {
		return err
	}
	if err := e.judge(e.read.NotFinite()); err != nil {
		return err
	}
	e.kept, e.read = e.read, e.kept
	return nil
}

// look calls Check when it is due: every checkEvery bursts, or as soon as the backend returns after that. A finite state is kept
// now and then, for locate.
func (e *Engine) look() error {
	if every := e.b.checkEvery(); e.number/every == e.looked/every {
		return nil
	}
	e.looked = e.number
	if err := e.Check(); err != nil {
		return err
	}
	if e.number-e.kept.Number >= readEvery && e.replayable() {
		if len(e.c.Plastic) == 0 {
			return e.b.ReadState(&e.kept)
		}
		if err := e.b.ReadState(&e.read); err != nil { // which may apply events that wait in the backend: a Watcher sees them only then
			return err
		}
		if err := e.judge(e.read.NotFinite()); err != nil {
			return err
		}
		e.kept, e.read = e.read, e.kept
	}
	return nil
}

// judge returns the error for what was found.
func (e *Engine) judge(x *NotFinite) error {
	if x == nil {
		e.sound = e.number
		return nil
	}
	e.failed = e.locate(x)
	return e.failed
}

// checkEvery is how many bursts lie between two looks.
func (d *Digest) checkEvery() uint64 {
	if _, ok := d.Backend.(Watcher); ok {
		return watchEvery
	}
	return readEvery
}
