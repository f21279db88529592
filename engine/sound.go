package engine

import (
	"fmt"

	"burst/connectome"
)

// How often the engine looks for numbers that are none: reading through V takes a backend that holds it in the host's
// memory about as long as a quarter of a burst, and bringing the state from a device, or copying it, as long as a few
// bursts to a few dozen.
const (
	WatchEvery = 64
	readEvery  = 8192
)

// NotFinite is a number of the state that is NaN or infinite.
type NotFinite struct {
	Neuron   uint32
	Variable int // 0 is V, k the k-th further one
	Value    float32
}

// name is what errors call the variable.
func (x *NotFinite) name(c *connectome.Connectome) string {
	a := &c.Areas[c.AreaOf(x.Neuron)]
	if x.Variable == 0 && a.Model != connectome.CustomModel {
		return "potential"
	}
	return "state variable " + a.Variable(x.Variable)
}

// NumberError says that a neuron's equations have left the real numbers.
type NumberError struct {
	NotFinite
	Area  string
	Name  string // potential, or that of the state variable
	Index uint32 // of the neuron in its area
	After uint64 // the number was sound before this burst,
	Burst uint64 // and is not after this one
}

func (e *NumberError) Error() string {
	when := fmt.Sprintf("after burst %d", e.Burst)
	if e.After < e.Burst {
		when += fmt.Sprintf(" (all were finite before burst %d)", e.After)
	}
	return fmt.Sprintf("%s of neuron %d of area %q (id %d) is %v %s; a smaller timestep, or parameters and weights that cannot "+
		"run away, keep it finite", e.Name, e.Index, e.Area, e.Neuron, e.Value, when)
}

// NotFinite is the first number of s that is NaN or infinite, nil when all are sound.
func (s *State) NotFinite() *NotFinite { return FindNotFinite(s.V, s.More) }

// FindNotFinite is the first number of a state's variables that is NaN or infinite, nil when all are sound.
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

// firstNotFinite is the index of the first such value, -1 without one. Eight at a time: a finite sum times 0 is 0. Where it is not, which
// numbers near float32's largest bring about, too, the rest is looked at one by one.
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

// Check looks for numbers that are not finite; the first is a *NumberError, which ends the engine's work but for Restore.
// Run does so now and then.
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

// look is Check where it is due: between two calls of the backend, at a multiple of the bursts between two looks or, after
// many at a time, at the first chance behind one. A state that is sound is kept now and then, for locate.
func (e *Engine) look() error {
	if every := e.b.checkEvery(); e.number/every == e.looked/every {
		return nil
	}
	e.looked = e.number
	if err := e.Check(); err != nil {
		return err
	}
	if e.number-e.kept.Number >= readEvery && e.replayable() {
		return e.b.ReadState(&e.kept)
	}
	return nil
}

// judge makes an error of what was found.
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
		return WatchEvery
	}
	return readEvery
}
