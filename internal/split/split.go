// Package split runs one network on several backends, each of which holds a part of it (connectome.Part). Part 0 is the
// leader: Open returns a backend for the whole network, which tells the other parts what to do. The other parts call Serve.
// If the smallest delay is d bursts, each part runs a window of d bursts by itself. Then the parts exchange the fire queues
// of these bursts. The connectome is never sent, and the state only when it is read or written.
package split

import (
	"fmt"
	"sync"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exchange"
)

// Part is a backend that holds one part of a network. Its Step delivers the bursts of the part's own neurons, and its states
// have values for these neurons only. SetQueue replaces the fire queue of the burst that is delay bursts back (1 is the newest
// burst) by the spikes of all parts, which ascend only in the leading part. SetQueue is called before the first Step in which
// one of these spikes arrives. A part that is an engine.Batcher runs the bursts of a window together, where they have the genome's
// stimuli alone: SetQueue is called for all of the window before then.
type Part interface {
	engine.Backend
	SetQueue(delay int, fired []uint32)
}

// DrivenPart is a Part for networks with driven synapses. SetAmplitudes is SetQueue for the amplitudes of the same burst, ascending.
type DrivenPart interface {
	Part
	SetAmplitudes(delay int, list []engine.Amplitude)
}

// OpenPart opens the backend of a part in the state before burst 0.
type OpenPart func(c *connectome.Connectome, w engine.Want) (Part, error)

// The commands of the leader to the other parts. Each is followed by the words named here.
const (
	doOpen   uint32 = iota // Want.FCL, then neuron and variable of each of Want.Values
	doStep                 // port and amount of each stimulus
	doSteps                // a number of bursts, with the genome's own stimuli
	doRead                 // the state
	doWrite                // the state's Number; its columns and queues follow, one message each
	doFinite               // look for NaN and Inf
	doClose
)

// member is the data of every part, the leader included.
type member struct {
	c      *connectome.Connectome
	x      exchange.Exchange
	part   Part
	want   engine.Want
	feed   *engine.Feed
	window uint64       // number of bursts between two exchanges
	mine   engine.Burst // the part's last burst
	words  []uint32     // that the part sends
	all    []uint32     // neurons that fired, of all parts
	state  engine.State

	next, gathered, taken uint64 // the next burst to step, to exchange, and to take over

	rest                      [][]uint32         // received from each part: the bursts that are not taken over yet
	wanted                    []int              // number of recorded values of each part
	fired, candidates, values [][]uint32         // of each part, in the burst that is being taken over
	amplitudes                []engine.Amplitude // of all parts
}

// at sets the number of the next burst.
func (m *member) at(number uint64) { m.next, m.gathered, m.taken = number, number, number }

// Open opens the leader. c is part 0 of the connectome. All other parts must call Serve.
func Open(c *connectome.Connectome, x exchange.Exchange, w engine.Want, open OpenPart) (engine.Backend, error) {
	return lead(c, x, w, open, func() {})
}

func lead(c *connectome.Connectome, x exchange.Exchange, w engine.Want, open OpenPart, closed func()) (engine.Backend, error) {
	b := &backend{member: member{c: c, x: x, want: w, feed: engine.NewFeed(c, nil)}, closed: closed}
	fcl := uint32(0)
	if w.FCL {
		fcl = 1
	}
	words := []uint32{doOpen, fcl}
	for _, p := range w.Values {
		words = append(words, p.Neuron, p.Variable)
	}
	if _, err := x.Allgather(words); err != nil {
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

// open opens the part's backend. If this fails in one part, it fails in all.
func (m *member) open(open OpenPart) (err error) {
	m.part, err = open(m.c, m.want)
	told := exchange.Settle(m.x, err)
	if told == nil {
		told = m.agree()
	}
	if told != nil && err == nil {
		m.part.Close() // told is the error to report
	}
	return told
}

// Dismiss ends Serve in the other parts. It is for a leader that will not call Open.
func Dismiss(x exchange.Exchange) {
	_, _ = x.Allgather([]uint32{doClose}) // a part that cannot be reached has ended
}

// Serve runs one of the other parts as the leader says, until the leader closes. An error of a part is returned by the
// leader. An error of Serve means that the leader cannot be reached.
func Serve(c *connectome.Connectome, x exchange.Exchange, open OpenPart) error {
	m := &member{c: c, x: x, feed: engine.NewFeed(c, nil)}
	words, err := m.receive()
	if err != nil || words[0] == doClose {
		return err
	}
	m.want.FCL = words[1] != 0
	for words = words[2:]; len(words) > 0; words = words[2:] {
		m.want.Values = append(m.want.Values, engine.Probe{Neuron: words[0], Variable: words[1]})
	}
	if m.open(open) != nil {
		return nil // the leader returns the error
	}
	defer m.part.Close()
	for {
		words, err := m.receive()
		if err != nil || words[0] == doClose {
			return err
		}
		m.do(words[0], words[1:])
	}
}

// receive waits for the next command of the leader.
func (m *member) receive() ([]uint32, error) {
	all, err := m.x.Allgather(nil)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// do carries out a command. It returns early if a part fails or if the parts cannot reach each other. In the first case the
// leader gets the error from the same words, in the second the next Allgather fails too.
func (m *member) do(what uint32, words []uint32) {
	switch what {
	case doStep:
		m.follow(1, course{next: given(stimuliOf(words))})
	case doSteps:
		m.follow(long(words), course{next: m.own, own: true})
	case doRead:
		_ = m.giveState(&m.state, func(column, [][]uint32) {})
	case doWrite:
		m.takeState(long(words))
	case doFinite:
		_, _ = m.x.Allgather(m.findNotFinite())
	default:
		panic(fmt.Sprintf("BUG: the leader says %d", what))
	}
}

// long decodes a number of 64 bits from two words.
func long(words []uint32) uint64 { return uint64(words[1])<<32 | uint64(words[0]) }

// Local opens a network whose parts are all in this process. Each of the other parts has a goroutine.
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
