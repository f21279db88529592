package split

import (
	"errors"
	"math"

	"burst/connectome"
	"burst/engine"
	"burst/exchange"
)

// What a part gives after a burst: whether it failed, whether no burst is to follow, and how many of the words that follow
// are fired neurons and candidates, three words each; the rest are potentials. A part that failed gives its error's text.
const (
	atFault = iota
	atLast
	atFired
	atCandidates
	atWords
)

// Kinds of failures.
const (
	fine = iota
	other
	deviceFault
	deviceLost
)

// give makes the words of the burst that the part has stepped.
func (m *member) give(fault error, last uint32) []uint32 {
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
	b := &m.mine
	words := append(m.words[:0], fine, last, uint32(len(b.Fired)), uint32(len(b.Candidates)))
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
	return words
}

// faultOf is what went wrong in a part that has given words.
func faultOf(part connectome.Part, words []uint32) error {
	text := exchange.WordsText(words[atFired:])
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

// follow runs bursts as the leader does, fewer where a part fails or the leader says that one is the last.
func (m *member) follow(n uint64, next func() ([]engine.Stimulus, error)) {
	for range n {
		in, fault := next()
		if fault == nil {
			fault = m.part.Step(in, &m.mine)
		}
		all, err := m.x.Gather(m.give(fault, 0))
		if err != nil || failed(all) >= 0 {
			return
		}
		m.fired = m.fired[:0]
		for _, words := range all {
			m.fired = append(m.fired, firedIn(words)...)
		}
		m.part.Launch(m.fired)
		m.next++
		if all[0][atLast] != 0 {
			return
		}
	}
}

func firedIn(words []uint32) []uint32 { return words[atWords:][:words[atFired]] }

// stimuliOf reads the words of doStep.
func stimuliOf(words []uint32) []engine.Stimulus {
	list := make([]engine.Stimulus, len(words)/2)
	for i := range list {
		list[i] = engine.Stimulus{Port: words[2*i], Amount: int32(words[2*i+1])}
	}
	return list
}
