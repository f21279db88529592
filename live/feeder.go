package live

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/quanta"
	"burst/run"
)

// Feeder is one who gives input: a camera, a robot, a driver. Set and Close may be called at any time, by one goroutine at a time.
type Feeder struct {
	s    *Session
	name string
	mu   sync.Mutex
	gone bool
	mine []*Input
}

// errFeederGone is the error of one that has closed.
var errFeederGone = errors.New("live: the feeder has closed")

// Feeder makes a feeder. Its name is for messages.
func (s *Session) Feeder(name string) *Feeder { return &Feeder{s: s, name: name} }

// Binding says what an Input is.
type Binding struct {
	Name string // for messages
	Place
	Port     int     // which of the neurons' ports, from 1; 0: as the law says, by the amount's sign, unless there are several to name
	PortName string  // instead of Port, the port's name in the area's model
	Largest  float32 // no amount will be larger, of either sign, in the port's unit
	Once     bool    // a value counts for one burst; else until there is another one
	HoldFor  uint64  // and for at most so many bursts; 0: no end
}

// Input is a handle that a feeder sets.
type Input struct {
	of        *Feeder
	name      string
	each      uint32 // neurons of an entry
	entries   int
	ports     [2][]uint32 // of each neuron of each entry, for amounts ≥ 0 and for those below
	largest   int64       // quanta
	scale     float64
	ascending bool // its stimuli are ascending by port, none twice
	quick     quick
	once      bool
	hold      uint64
	reserved  []engine.Stimulus

	scratch []engine.Stimulus // while the feeder makes it
	pending []engine.Stimulus // set, not yet received
	later   []later           // set for a burst that has not come
	fresh   bool
	gone    bool
	now     []engine.Stimulus // received
	until   uint64            // the first burst in which it no longer counts
}

// Feeder is whose input it is.
func (in *Input) Feeder() *Feeder { return in.of }

// Entries is how many amounts a dense value has.
func (in *Input) Entries() int { return in.entries }

// ends is when a value that counts from burst t on no longer does.
func (in *Input) ends(t uint64) uint64 {
	switch {
	case in.once:
		return t + 1
	case in.hold > 0 && t+in.hold > t:
		return t + in.hold
	}
	return math.MaxUint64
}

// Bind makes an input. It refuses the input if a sum could leave int32 with all bound inputs at their bounds and the genome's stimuli.
func (f *Feeder) Bind(b Binding) (*Input, error) {
	in := &Input{of: f, name: cmp.Or(b.Name, b.Place.Area), once: b.Once, hold: b.HoldFor}
	err := f.s.do(func(*run.Run) error {
		if err := in.bind(f.s, b); err != nil {
			return err
		}
		return f.s.inbox.admit(in)
	})
	if err != nil {
		return nil, fmt.Errorf("live: input %q of %s: %w", in.name, f.name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mine = append(f.mine, in)
	if f.gone {
		f.leave()
		return nil, errFeederGone
	}
	return in, nil
}

// admit adds an input if its reservation fits.
func (b *inbox) admit(in *Input) error {
	if err := b.fits(append(b.reserved(), in.reserved...)); err != nil {
		return err
	}
	b.inputs = append(b.inputs, in)
	return nil
}

// leaves says whether the input's feeder has closed, so that no further burst has it.
func (in *Input) leaves(b *inbox) bool {
	b.handed.Lock()
	defer b.handed.Unlock()
	return in.gone
}

// bind finds the ports of a binding.
func (in *Input) bind(s *Session, b Binding) error {
	e, err := s.entries(b.Place)
	if err != nil {
		return err
	}
	c := s.run.Connectome
	a := &c.Areas[e.area]
	port, err := portOf(a, b)
	if err != nil {
		return err
	}
	in.entries, in.each, in.scale, in.largest = e.n, e.each, float64(c.Scale), quanta.Of(float64(b.Largest), float64(c.Scale))
	if b.Largest != b.Largest || in.largest < 1 || in.largest > math.MaxInt32 {
		return fmt.Errorf("largest amount %v, want one from %v to %v, which are 1 to %d quanta", b.Largest, 1/in.scale, math.MaxInt32/in.scale, math.MaxInt32)
	}
	for sign, amount := range []int64{1, -1} {
		for i := range e.n {
			for k := range e.each {
				in.ports[sign] = append(in.ports[sign], a.PortOf(e.first(i)+k, port, amount))
			}
		}
	}
	in.ascending = strictlyAscending(in.ports[0]) && slices.Equal(in.ports[0], in.ports[1])
	in.quick = quickOf(in)
	in.reserved = reservations(in.ports, int32(in.largest))
	return nil
}

// portOf is the port that a binding asks for, from 1, or 0 for the law's choice.
func portOf(a *connectome.Area, b Binding) (int, error) {
	names := a.Model.PortNames()
	of := fmt.Sprintf("the model %s of area %q has the ports %s", a.Model.Name, a.Name, strings.Join(names, ", "))
	switch at := slices.Index(names, b.PortName); {
	case len(names) == 0:
		return 0, fmt.Errorf("area %q takes no input: its model %s is a source", a.Name, a.Model.Name)
	case b.PortName != "" && b.Port != 0:
		return 0, fmt.Errorf("port %d and port %q, want one of them", b.Port, b.PortName)
	case b.PortName != "" && at < 0:
		err := fmt.Errorf("port %q, want one by name: %s", b.PortName, of)
		if near := genome.Nearest(b.PortName, names); near != "" {
			err = fmt.Errorf("%w; did you mean %q?", err, near)
		}
		return 0, err
	case b.PortName != "":
		return at + 1, nil
	case b.Port < 0 || b.Port > len(names):
		return 0, fmt.Errorf("port %d, want 0 for the law's choice, or 1 to %d", b.Port, len(names))
	case b.Port == 0 && !a.Model.BySign():
		return 0, fmt.Errorf("port 0, want a name or 1 to %d: %s", len(names), of)
	}
	return b.Port, nil
}

func strictlyAscending(ports []uint32) bool {
	for i := 1; i < len(ports); i++ {
		if ports[i] <= ports[i-1] {
			return false
		}
	}
	return true
}

// reservations are the largest amounts for every port: one for each time that the input names it.
func reservations(ports [2][]uint32, largest int32) (list []engine.Stimulus) {
	for i, p := range ports[0] {
		list = append(list, engine.Stimulus{Port: p, Amount: largest})
		if q := ports[1][i]; q != p {
			list = append(list, engine.Stimulus{Port: q, Amount: -largest})
		}
	}
	return list
}

// Close removes the feeder. Its inputs are zero from the next burst on, in lock-step from the next Step on, and the room that Bind had
// reserved for them is free.
func (f *Feeder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	f.leave()
}

// Close takes one input away, as Feeder.Close does with all.
func (in *Input) Close() {
	f := in.of
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mine = slices.DeleteFunc(f.mine, func(x *Input) bool { return x == in })
	f.take([]*Input{in})
	in.of = &Feeder{s: f.s, name: f.name, gone: true}
}

// leave takes the feeder's inputs away.
func (f *Feeder) leave() { f.take(f.mine) }

// take takes inputs away.
func (f *Feeder) take(list []*Input) {
	b := &f.s.inbox
	b.handed.Lock()
	defer b.handed.Unlock()
	for _, in := range list {
		in.gone = true
	}
	b.fresh.Store(true)
}
