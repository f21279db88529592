package engine

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"burst/connectome"
	"burst/internal/quanta"
)

// Feed collects the stimuli of a burst, from the genome and from the caller's sources: checked, one entry a port, ascending.
type Feed struct {
	c        *connectome.Connectome
	own      *scheduled
	sources  []Source   // own is the first
	lifts    bool       // whether some area rectifies
	gathered []Stimulus // of all sources, any order
	merged   []Stimulus // one a port, ascending, where gathered is not that
	least    int64      // the least room of any port, so that few sums need a look at that of their own; -1: not known yet

	summing sync.Once
	sums    map[uint32]int64 // of the genome's stimuli for a port: the sum of |amount|, as if all acted in one burst
}

// NewFeed makes a feed of c's scheduled stimuli and the given sources.
func NewFeed(c *connectome.Connectome, sources []Source) *Feed {
	lifts := slices.ContainsFunc(c.Areas, func(a connectome.Area) bool { return a.Lifted() })
	own := &scheduled{stimuli: c.Stimuli, off: make([]bool, len(c.Stimuli))}
	return &Feed{c: c, own: own, sources: append([]Source{own}, sources...), lifts: lifts, least: -1}
}

// over makes a feed of a network with other drives and stimuli, as many as before; those that are switched off stay so.
func (f *Feed) over(c *connectome.Connectome) *Feed {
	made := NewFeed(c, f.sources[1:])
	copy(made.own.off, f.own.off)
	made.own.turned = true
	return made
}

// turn switches one of the genome's stimuli.
func (f *Feed) turn(i int, on bool) { f.own.off[i], f.own.turned = !on, true }

// wholly says that all of the genome's stimuli are on: a Batcher knows no other way.
func (f *Feed) wholly() bool { return !slices.Contains(f.own.off, true) }

// Next is the input of Step for burst t, valid until the next call. It refuses ports that do not exist, and stimuli that,
// with the burst's synapses and drives, could make a sum leave int32.
func (f *Feed) Next(t uint64) ([]Stimulus, error) {
	f.gathered, f.merged = f.gathered[:0], f.merged[:0]
	for i, s := range f.sources {
		own := len(f.gathered)
		var err error
		if f.gathered, err = s.Stimuli(t, f.gathered); err != nil {
			return nil, err
		}
		if i > 0 { // the genome's are lifted
			f.lift(own)
		}
	}
	if f.least < 0 && len(f.gathered) > 0 && f.c.Ports > 0 {
		f.least = math.MaxInt32 - int64(slices.Max(f.c.Bound))
	}
	if f.ready() {
		return f.gathered, nil
	}
	slices.SortFunc(f.gathered, byPort)
	for i := 0; i < len(f.gathered); {
		port, sum := f.gathered[i].Port, int64(0)
		if err := f.there(port); err != nil {
			return nil, err
		}
		for ; i < len(f.gathered) && f.gathered[i].Port == port; i++ {
			sum += int64(f.gathered[i].Amount)
		}
		if size := max(sum, -sum); size > f.least {
			if room := f.c.Headroom(port); size > room {
				return nil, f.roomError(port, sum, room)
			}
		}
		if sum != 0 {
			f.merged = append(f.merged, Stimulus{Port: port, Amount: int32(sum)})
		}
	}
	return f.merged, nil
}

// ready says that what has been gathered can be given as it is, as that of one source mostly can: it ascends, and all is in room.
func (f *Feed) ready() bool {
	next, wrong := int64(0), int64(0) // wrong is negative once a difference is: a branch for each takes longer
	for _, s := range f.gathered {
		amount := int64(s.Amount)
		size := max(amount, -amount)
		wrong |= (int64(s.Port) - next) | (size - 1) | (f.least - size)
		next = int64(s.Port) + 1
	}
	return wrong >= 0 && next <= int64(f.c.Ports)
}

func byPort(a, b Stimulus) int { return int(int64(a.Port) - int64(b.Port)) }

// lift makes of each port's amounts from a place of gathered on what is sent, one for each port that rectifies.
func (f *Feed) lift(from int) {
	if !f.lifts {
		return
	}
	sums := map[uint32]int64{}
	kept := f.gathered[:from]
	for _, s := range f.gathered[from:] {
		if f.area(s.Port).Lifted() {
			sums[s.Port] += int64(s.Amount)
		} else {
			kept = append(kept, s)
		}
	}
	f.gathered = kept
	for port, sum := range sums {
		f.gathered = append(f.gathered, Stimulus{port, quanta.Clamp(f.area(port).Lift(sum))}) // which Next refuses if it was cut off
	}
}

// area is that of a port which may not be there.
func (f *Feed) area(port uint32) *connectome.Area {
	return &f.c.Areas[f.c.AreaOfPort(min(port, f.c.Ports-1))]
}

// Fits reports the first port at which stimuli could make a sum leave int32. It takes all of the genome's stimuli for a port as
// given in one burst and with the same sign, as Build's proof does. The error is a *RoomError, or says that a port does not
// exist.
func (f *Feed) Fits(in []Stimulus) error {
	f.summing.Do(f.sumOwn)
	wanted := map[uint32]int64{}
	for _, s := range in {
		if err := f.there(s.Port); err != nil {
			return err
		}
		amount := f.area(s.Port).Lift(int64(s.Amount))
		wanted[s.Port] += max(amount, -amount)
	}
	for _, s := range in {
		if room := f.c.Headroom(s.Port) - f.sums[s.Port]; wanted[s.Port] > room {
			return f.roomError(s.Port, wanted[s.Port], room)
		}
	}
	return nil
}

// sumOwn works out sums.
func (f *Feed) sumOwn() {
	f.sums = map[uint32]int64{}
	for i := range f.c.Stimuli {
		s := &f.c.Stimuli[i]
		for k, port := range s.Ports {
			amount := int64(s.Amounts[k])
			f.sums[port] += max(amount, -amount)
		}
	}
}

// there refuses a port that does not exist.
func (f *Feed) there(port uint32) error {
	if port >= f.c.Ports {
		return fmt.Errorf("stimulus for port %d, want less than %d", port, f.c.Ports)
	}
	return nil
}

// RoomError says that stimuli could make the sum of a port leave int32.
type RoomError struct {
	Port   uint32
	Area   string
	Index  uint32 // of the neuron in its area
	Amount int64  // quanta that were to be given
	Room   int64  // quanta of either sign that are left
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("stimuli of %d quanta for neuron %d of area %q, which has room for %d before its sum could "+
		"leave int32; lower the amounts or the genome's scale", e.Amount, e.Index, e.Area, e.Room)
}

func (f *Feed) roomError(port uint32, amount, room int64) error {
	a := f.area(port)
	i, _ := a.Input(port)
	return &RoomError{Port: port, Area: a.Name, Index: i, Amount: amount, Room: room}
}

// scheduled is the Source of the stimuli that the genome lists.
type scheduled struct {
	stimuli []connectome.Stimulus
	off     []bool // those that are switched off
	turned  bool   // some were, at some time, or are others than before
}

// Stimuli appends those of burst t.
func (s *scheduled) Stimuli(t uint64, in []Stimulus) ([]Stimulus, error) {
	for i := range s.stimuli {
		x := &s.stimuli[i]
		if s.off[i] || !x.Active(t) {
			continue
		}
		for k, p := range x.Ports {
			in = append(in, Stimulus{Port: p, Amount: x.Amounts[k]})
		}
	}
	return in, nil
}
