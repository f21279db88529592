package split

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exchange"
)

// The words that a part sends after a window of bursts. The first says whether the part failed, the second whether this
// window is the last one. Then follows each burst: the number of fired neurons, the number of candidates, the fired
// neurons, the candidates (three words each), the values, and in a network with driven synapses the number of amplitudes and the
// amplitudes (two words each). A part that failed sends its error's text instead of bursts.
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

// course is how a part runs bursts: the leader and the other parts do it differently.
type course struct {
	next func() ([]engine.Stimulus, error) // returns the stimuli of the next burst
	own  bool                              // reports whether they are the genome's alone
	take func() []uint32                   // uses the lists of a burst, which are in the member, and returns all neurons that fired
	last func() bool                       // reports, after a window, whether it is the last one
}

// advance runs n bursts, window by window. It runs fewer if a part fails, and returns that error, or if the leader says that
// a window is the last one.
func (m *member) advance(n uint64, c course) error {
	for ended := false; n > 0 && !ended; {
		size := min(n, m.window)
		n -= size
		fault := m.step(size, c)
		m.takeOver(m.gathered, c) // the next Allgather overwrites them
		all, err := m.x.Allgather(m.give(fault, c.last()))
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

// step runs the part's bursts of a window. Before each burst it takes over one burst of the previous window: none of its spikes
// arrives earlier. So the leader passes bursts on at an even rate.
func (m *member) step(size uint64, c course) error {
	m.words = append(m.words[:0], fine, 0)
	if many, ok := m.part.(engine.Batcher); ok && c.own && many.CanStepN() {
		m.takeOver(m.gathered, c)
		return many.StepN(int(size), func(out *engine.Burst) error {
			m.add(out)
			m.next++
			return nil
		})
	}
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

// takeOver reads the received words of all bursts before until, and gives the part their fire queues.
func (m *member) takeOver(until uint64, c course) {
	for ; m.taken < until; m.taken++ {
		for i, words := range m.rest {
			fired, candidates := words[0], 3*words[1]
			words = words[2:]
			m.fired[i], words = words[:fired], words[fired:]
			m.candidates[i], words = words[:candidates], words[candidates:]
			m.values[i], m.rest[i] = words[:m.wanted[i]], words[m.wanted[i]:]
		}
		delay := int(m.next - m.taken)
		if m.c.Driven != nil {
			m.takeAmplitudes()
		}
		m.part.SetQueue(delay, c.take())
		if delay <= m.c.AmplitudeLists() {
			m.part.(DrivenPart).SetAmplitudes(delay, m.amplitudes)
		}
	}
}

// takeAmplitudes reads the amplitudes of all parts.
func (m *member) takeAmplitudes() {
	m.amplitudes = m.amplitudes[:0]
	for i, words := range m.rest {
		end := 1 + 2*words[0]
		m.amplitudes = append(m.amplitudes, amplitudesOf(words[1:end])...)
		m.rest[i] = words[end:]
	}
	slices.SortFunc(m.amplitudes, func(a, b engine.Amplitude) int { return cmp.Compare(a.Neuron, b.Neuron) })
}

// amplitudesOf decodes amplitudes of two words each.
func amplitudesOf(words []uint32) []engine.Amplitude {
	list := make([]engine.Amplitude, len(words)/2)
	for i := range list {
		list[i] = engine.Amplitude{Neuron: words[2*i], Quanta: int32(words[2*i+1])}
	}
	return list
}

// amplitudeWords encodes them.
func amplitudeWords(words []uint32, list []engine.Amplitude) []uint32 {
	for _, x := range list {
		words = append(words, x.Neuron, uint32(x.Quanta))
	}
	return words
}

// add adds a burst to the words that the part sends.
func (m *member) add(b *engine.Burst) {
	words := append(m.words, uint32(len(b.Fired)), uint32(len(b.Candidates)))
	words = append(words, b.Fired...)
	for _, k := range b.Candidates {
		words = append(words, k.Port, k.Neuron, uint32(k.Sum))
	}
	part := m.x.Part()
	for i, p := range m.want.Values {
		if part.Owns(p.Neuron) {
			words = append(words, math.Float32bits(b.Values[i]))
		}
	}
	if m.c.Driven != nil {
		words = amplitudeWords(append(words, uint32(len(b.Amplitudes))), b.Amplitudes)
	}
	m.words = words
}

// give returns the words that the part sends after a window.
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

// faultOf decodes the error of a part that failed and sent words.
func faultOf(part connectome.Part, words []uint32) error {
	text := exchange.WordsText(words[atBursts:])
	err := error(&exchange.PartError{Part: part, Text: text})
	if kind := words[atFault]; kind == deviceFault || kind == deviceLost {
		err = &engine.DeviceError{Err: err, Lost: kind == deviceLost}
	}
	return err
}

// failed returns the first part that failed; −1 if none did.
func failed(all [][]uint32) int {
	for i, words := range all {
		if words[atFault] != fine {
			return i
		}
	}
	return -1
}

// own returns the genome's stimuli of the next burst.
func (m *member) own() ([]engine.Stimulus, error) { return m.feed.Next(m.next) }

// given returns the stimuli that the leader sent.
func given(in []engine.Stimulus) func() ([]engine.Stimulus, error) {
	return func() ([]engine.Stimulus, error) { return in, nil }
}

// follow runs the same bursts as the leader. It drops the error, because the leader gets it from the same words.
func (m *member) follow(n uint64, c course) {
	c.take, c.last = m.join, func() bool { return false }
	_ = m.advance(n, c)
}

// join puts the fired neurons of all parts in one list, in no particular order.
func (m *member) join() []uint32 {
	m.all = m.all[:0]
	for _, list := range m.fired {
		m.all = append(m.all, list...)
	}
	return m.all
}

// stimuliOf decodes the stimuli of doStep.
func stimuliOf(words []uint32) []engine.Stimulus {
	list := make([]engine.Stimulus, len(words)/2)
	for i := range list {
		list[i] = engine.Stimulus{Port: words[2*i], Amount: int32(words[2*i+1])}
	}
	return list
}
