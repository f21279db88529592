// Package split makes one network of backends that each hold a part of it (connectome.Part). Part 0 leads: Open gives it a
// backend that does for the whole network what an engine asks, and tells the other parts what to do, which Serve. Where no
// synapse is faster than d bursts, the parts step a window of d bursts on what they know, then gather the fire queues of all of
// them, so that each goes on from the whole ones. Nothing of the connectome ever travels, and of the state only what is read
// or written.
package split

import (
	"fmt"
	"slices"
	"sync"

	"burst/connectome"
	"burst/engine"
	"burst/exchange"
)

// Part is a backend of one part. Its Step delivers what the part's own neurons make. Launch makes the fire queue of the burst
// ago bursts ago, 1 the newest, that of all parts, in any order on parts that do not lead; it comes before the first Step in
// which one of these spikes arrives. In States it fills and takes the entries of its own neurons.
type Part interface {
	engine.Backend
	Launch(ago int, fired []uint32)
}

// OpenPart opens the backend of a part in the state before burst 0.
type OpenPart func(c *connectome.Connectome, w engine.Want) (Part, error)

// What the leader tells the others to do.
const (
	doOpen   uint32 = iota // Want.FCL, then Want.Potentials
	doStep                 // port and amount of each stimulus
	doSteps                // a number of bursts, with the genome's own stimuli
	doRead                 // the state
	doWrite                // Number; then come the state's columns and queues
	doFinite               // look for numbers that are none
	doClose
)

// member is what every part has, the leader too.
type member struct {
	c      *connectome.Connectome
	x      exchange.Exchange
	part   Part
	want   engine.Want
	feed   *engine.Feed
	window uint64       // bursts that parts step before they gather
	mine   engine.Burst // of the part
	words  []uint32     // what the part gives
	all    []uint32     // that fired
	state  engine.State

	next, gathered, taken uint64 // the bursts to step next, to gather next, and to take over next

	rest                          [][]uint32 // what each part has given of the bursts to take over
	wanted                        []int      // how many potentials of each part are
	fired, candidates, potentials [][]uint32 // of each part, in the burst that is taken over
}

// at makes a burst the next one.
func (m *member) at(number uint64) { m.next, m.gathered, m.taken = number, number, number }

// Open opens the leader, part 0, of which c is the part; the others must serve.
func Open(c *connectome.Connectome, x exchange.Exchange, w engine.Want, open OpenPart) (engine.Backend, error) {
	return lead(c, x, w, open, func() {})
}

func lead(c *connectome.Connectome, x exchange.Exchange, w engine.Want, open OpenPart, closed func()) (engine.Backend, error) {
	b := &backend{member: member{c: c, x: x, want: w, feed: engine.NewFeed(c, nil)}, closed: closed}
	fcl := uint32(0)
	if w.FCL {
		fcl = 1
	}
	if _, err := x.Gather(append([]uint32{doOpen, fcl}, w.Potentials...)); err != nil {
		return nil, err
	}
	if err := b.open(open); err != nil {
		return nil, err
	}
	if _, watches := b.part.(engine.Watcher); watches {
		return &watcher{b}, nil
	}
	return b, nil
}

// open opens the part; where that fails in one, it fails in all.
func (m *member) open(open OpenPart) (err error) {
	m.part, err = open(m.c, m.want)
	told := exchange.Settle(m.x, err)
	if told == nil {
		told = m.agree()
	}
	if told != nil && err == nil {
		m.part.Close() // what went wrong is told already
	}
	return told
}

// Dismiss ends the parts that serve before the leader has opened.
func Dismiss(x exchange.Exchange) {
	_, _ = x.Gather([]uint32{doClose}) // a part that cannot be reached has ended
}

// Serve does what the leader says with another part of its network, until the leader closes. What goes wrong in a part the
// leader reports; Serve's error says that it cannot be reached.
func Serve(c *connectome.Connectome, x exchange.Exchange, open OpenPart) error {
	m := &member{c: c, x: x, feed: engine.NewFeed(c, nil)}
	words, err := m.told()
	if err != nil || words[0] == doClose {
		return err
	}
	m.want = engine.Want{FCL: words[1] != 0, Potentials: slices.Clone(words[2:])}
	if m.open(open) != nil {
		return nil // the leader knows
	}
	defer m.part.Close()
	for {
		words, err := m.told()
		if err != nil || words[0] == doClose {
			return err
		}
		m.do(words[0], words[1:])
	}
}

// told waits for what the leader says.
func (m *member) told() ([]uint32, error) {
	all, err := m.x.Gather(nil)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// do is what the leader said. It ends early where a part fails, which the leader learns from the same words, or where the
// parts cannot reach each other, which they learn again at once.
func (m *member) do(what uint32, words []uint32) {
	switch what {
	case doStep:
		m.follow(1, given(stimuliOf(words)))
	case doSteps:
		m.follow(long(words), m.own)
	case doRead:
		_ = m.giveState(&m.state, func(column, [][]uint32) {})
	case doWrite:
		m.takeState(long(words))
	case doFinite:
		_, _ = m.x.Gather(m.findNotFinite())
	default:
		panic(fmt.Sprintf("BUG: the leader says %d", what))
	}
}

// long is the number that two words make.
func long(words []uint32) uint64 { return uint64(words[1])<<32 | uint64(words[0]) }

// Local opens a network whose parts are all in this process, a goroutine each.
func Local(parts []*connectome.Connectome, w engine.Want, open OpenPart) (engine.Backend, error) {
	ends := exchange.Local(len(parts))
	var serving sync.WaitGroup
	for i, c := range parts[1:] {
		serving.Go(func() {
			if err := Serve(c, ends[i+1], open); err != nil {
				ends[i+1].Abort(err)
			}
		})
	}
	b, err := lead(parts[0], ends[0], w, open, serving.Wait)
	if err != nil {
		serving.Wait()
	}
	return b, err
}
