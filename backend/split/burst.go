package split

import (
	"cmp"
	"errors"
	"math"

	"burst/connectome"
	"burst/engine"
	"burst/exchange"
)

// What a part gives after a window of bursts: whether it failed, whether no window is to follow, and then of each burst how
// many fired neurons and candidates there are, the neurons, the candidates, three words each, and the potentials. A part that
// failed gives its error's text in place of bursts.
const (
	atFault = iota
	atLast
	atBursts
)

// Kinds of failures.
const (
	fine = iota
	other
	deviceFault
	deviceLost
)

// course says how a part goes through bursts.
type course struct {
	next func() ([]engine.Stimulus, error) // what the next burst injects
	take func() []uint32                   // takes a burst over, whose lists are the member's, and lists all that fired
	last func() bool                       // says, when a window has been stepped, that none is to follow
}

// advance runs n bursts, window by window: fewer where a part fails, whose error it gives, or the leader says that a window is
// the last.
func (m *member) advance(n uint64, c course) error {
	for ended := false; n > 0 && !ended; {
		size := min(n, m.window)
		n -= size
		fault := m.step(size, c)
		m.takeOver(m.gathered, c) // or the next Gather would forget them
		all, err := m.x.Gather(m.give(fault, c.last()))
		if err != nil {
			return cmp.Or(fault, err)
		}
		if i := failed(all); i >= 0 {
			if fault == nil {
				fault = faultOf(connectome.Part{Index: i, Of: len(all)}, all[i])
			}
			return fault
		}
		for i, words := range all {
			m.rest[i] = words[atBursts:]
		}
		m.gathered = m.next
		ended = all[0][atLast] != 0
	}
	m.takeOver(m.gathered, c)
	return nil
}

// step does the part's share of a window. Before each burst it takes over one of the window before, as nothing of that arrives
// sooner; so the leader hands bursts on as evenly as they are made.
func (m *member) step(size uint64, c course) error {
	m.words = append(m.words[:0], fine, 0)
	for range size {
		m.takeOver(min(m.taken+1, m.gathered), c)
		in, err := c.next()
		if err == nil {
			err = m.part.Step(in, &m.mine)
		}
		if err != nil {
			return err
		}
		m.add(&m.mine)
		m.next++
	}
	return nil
}

// takeOver takes over the bursts before one.
func (m *member) takeOver(until uint64, c course) {
	for ; m.taken < until; m.taken++ {
		for i, words := range m.rest {
			fired, candidates := words[0], 3*words[1]
			words = words[2:]
			m.fired[i], words = words[:fired], words[fired:]
			m.candidates[i], words = words[:candidates], words[candidates:]
			m.potentials[i], m.rest[i] = words[:m.wanted[i]], words[m.wanted[i]:]
		}
		m.part.Launch(int(m.next-m.taken), c.take())
	}
}

// add adds a burst to what the part gives.
func (m *member) add(b *engine.Burst) {
	words := append(m.words, uint32(len(b.Fired)), uint32(len(b.Candidates)))
	words = append(words, b.Fired...)
	for _, k := range b.Candidates {
		words = append(words, k.Port, k.Neuron, uint32(k.Sum))
	}
	part := m.x.Part()
	for i, n := range m.want.Potentials {
		if part.Owns(n) {
			words = append(words, math.Float32bits(b.Potentials[i]))
		}
	}
	m.words = words
}

// give is what the part gives of a window.
func (m *member) give(fault error, last bool) []uint32 {
	if fault != nil {
		var d *engine.DeviceError
		kind := uint32(other)
		if errors.As(fault, &d) {
			kind = deviceFault
			if d.Lost {
				kind = deviceLost
			}
		}
		return append([]uint32{kind, 1}, exchange.TextWords(fault.Error())...)
	}
	if last {
		m.words[atLast] = 1
	}
	return m.words
}

// faultOf is what went wrong in a part that has given words.
func faultOf(part connectome.Part, words []uint32) error {
	text := exchange.WordsText(words[atBursts:])
	err := error(&exchange.PartError{Part: part, Text: text})
	if kind := words[atFault]; kind == deviceFault || kind == deviceLost {
		err = &engine.DeviceError{Err: err, Lost: kind == deviceLost}
	}
	return err
}

// failed is the first part that failed, −1 without one.
func failed(all [][]uint32) int {
	for i, words := range all {
		if words[atFault] != fine {
			return i
		}
	}
	return -1
}

// own injects the genome's stimuli.
func (m *member) own() ([]engine.Stimulus, error) { return m.feed.Next(m.next) }

// given injects what was told.
func given(in []engine.Stimulus) func() ([]engine.Stimulus, error) {
	return func() ([]engine.Stimulus, error) { return in, nil }
}

// follow runs bursts as the leader does. Where that fails the leader learns it from the same words.
func (m *member) follow(n uint64, next func() ([]engine.Stimulus, error)) {
	_ = m.advance(n, course{next: next, take: m.join, last: func() bool { return false }})
}

// join puts the parts' fired neurons in one list, in any order.
func (m *member) join() []uint32 {
	m.all = m.all[:0]
	for _, list := range m.fired {
		m.all = append(m.all, list...)
	}
	return m.all
}

// stimuliOf reads the words of doStep.
func stimuliOf(words []uint32) []engine.Stimulus {
	list := make([]engine.Stimulus, len(words)/2)
	for i := range list {
		list[i] = engine.Stimulus{Port: words[2*i], Amount: int32(words[2*i+1])}
	}
	return list
}
