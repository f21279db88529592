package split

import (
	"cmp"
	"math"
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exchange"
)

// column is one array of the state as words of 32 bits: V, another variable, or an array of a plastic projection. Refractory
// times and counts share a word. Arrays of bursts have 64 bits and are two columns, the lower and the upper halves. each
// calls take for the entries of a part, ascending.
type column struct {
	each func(part connectome.Part, take func(i uint64))
	get  func(i uint64) uint32
	set  func(i uint64, word uint32)
}

func (m *member) columns(s *engine.State) []column {
	list := []column{}
	for _, values := range append([][]float32{s.V}, s.More...) {
		list = append(list, floats(m.each, values))
	}
	list = append(list, column{
		m.each,
		func(n uint64) uint32 { return uint32(s.Count[n])<<16 | uint32(s.Refractory[n]) },
		func(n uint64, word uint32) { s.Refractory[n], s.Count[n] = uint16(word), uint16(word>>16) },
	})
	for i := range s.Plastic {
		for _, a := range s.Plastic[i].Arrays() {
			each := m.eachOf(&m.c.Plastic[i], a)
			if len(a.Bursts) == 0 { // numbers; also an empty array, which may be nil in some parts
				list = append(list, floats(each, a.Numbers))
				continue
			}
			list = append(list, halves(each, func(i uint64) *uint64 { return &a.Bursts[i] })...)
		}
	}
	for i := range s.Memory {
		list = append(list, memory(&s.Memory[i])...)
	}
	return list
}

// memory are the columns of a memory area, which is equal in all parts, so that only part 0 sends it.
func memory(s *engine.Memory) []column {
	entries := func(n int) func(connectome.Part, func(uint64)) {
		return func(part connectome.Part, take func(uint64)) {
			if part.Index == 0 {
				for i := range uint64(n) {
					take(i)
				}
			}
		}
	}
	neurons := entries(len(s.Pattern))
	list := []column{{
		neurons,
		func(i uint64) uint32 { return s.Lifespan[i] },
		func(i uint64, word uint32) { s.Lifespan[i] = word },
	}, {
		neurons,
		func(i uint64) uint32 { return uint32(s.LongTerm[i]) },
		func(i uint64, word uint32) { s.LongTerm[i] = uint8(word) },
	}}
	list = append(list, halves(neurons, func(i uint64) *uint64 { return &s.Pattern[i] })...)
	return append(list, halves(entries(1), func(uint64) *uint64 { return &s.Lost })...)
}

// halves are the two columns of numbers of 64 bits: the lower and the upper halves.
func halves(each func(connectome.Part, func(uint64)), at func(i uint64) *uint64) []column {
	return []column{{
		each,
		func(i uint64) uint32 { return uint32(*at(i)) },
		func(i uint64, word uint32) { *at(i) = *at(i)>>32<<32 | uint64(word) },
	}, {
		each,
		func(i uint64) uint32 { return uint32(*at(i) >> 32) },
		func(i uint64, word uint32) { *at(i) = uint64(word)<<32 | uint64(uint32(*at(i))) },
	}}
}

func floats(each func(connectome.Part, func(uint64)), values []float32) column {
	return column{
		each,
		func(i uint64) uint32 { return math.Float32bits(values[i]) },
		func(i uint64, word uint32) { values[i] = math.Float32frombits(word) },
	}
}

// each calls take for the neurons of a part, ascending.
func (m *member) each(part connectome.Part, take func(n uint64)) {
	for n := part.Next(0); n < uint64(m.c.Neurons); n = part.Next(n + 1) {
		take(n)
	}
}

// eachOf returns a function that goes through a part's entries of an array. A part has the entries of its own target neurons.
// Entries of source neurons and of the whole network are equal in all parts, so only part 0 sends them.
func (m *member) eachOf(p *connectome.Plastic, a engine.Array) func(connectome.Part, func(uint64)) {
	return func(part connectome.Part, take func(uint64)) {
		switch a.By {
		case engine.ByTarget:
			for n := part.Next(uint64(p.To.First)); n < uint64(p.To.End()); n = part.Next(n + 1) {
				take(n - uint64(p.To.First))
			}
		case engine.BySynapse:
			place := uint64(0)
			for i, in := range p.Onto() {
				if end := place + uint64(in); part.Owns(p.To.First + uint32(i)%p.To.Count) {
					for ; place < end; place++ {
						take(place)
					}
				} else {
					place = end
				}
			}
		default:
			if part.Index == 0 {
				for i := range uint64(len(a.Numbers) + len(a.Bursts)) {
					take(i)
				}
			}
		}
	}
}

// giveState reads the part's state into s and sends it, column by column. got receives each column of all parts.
func (m *member) giveState(s *engine.State, got func(c column, all [][]uint32)) error {
	if err := exchange.Settle(m.x, m.part.ReadState(s)); err != nil {
		return err
	}
	for _, c := range m.columns(s) {
		words := m.words[:0]
		c.each(m.x.Part(), func(n uint64) { words = append(words, c.get(n)) })
		m.words = words
		all, err := m.x.Allgather(words)
		if err != nil {
			return err
		}
		got(c, all)
	}
	return nil
}

// ReadState collects the state of all parts in s.
func (b *backend) ReadState(s *engine.State) error {
	if err := b.command([]uint32{doRead}); err != nil {
		return err
	}
	return b.lost(b.giveState(s, func(c column, all [][]uint32) {
		for i, words := range all {
			c.each(connectome.Part{Index: i, Of: len(all)}, func(n uint64) {
				c.set(n, words[0])
				words = words[1:]
			})
		}
	}))
}

// WriteState sends the whole state to all parts.
func (b *backend) WriteState(s *engine.State) error {
	if err := b.command(order(doWrite, s.Number)); err != nil {
		return err
	}
	for _, c := range b.columns(s) {
		words := b.words[:0]
		c.each(connectome.Part{}, func(n uint64) { words = append(words, c.get(n)) })
		b.words = words
		if err := b.command(words); err != nil {
			return err
		}
	}
	for _, q := range s.Queues {
		if err := b.command(q); err != nil {
			return err
		}
	}
	for _, list := range s.Amplitudes {
		b.words = amplitudeWords(b.words[:0], list)
		if err := b.command(b.words); err != nil {
			return err
		}
	}
	b.at(s.Number)
	return b.lost(exchange.Settle(b.x, b.part.WriteState(s)))
}

// takeState receives the state that the leader sends.
func (m *member) takeState(number uint64) {
	s := &m.state
	s.Number = number
	s.Resize(m.c)
	for _, c := range m.columns(s) {
		words, err := m.receive()
		if err != nil {
			return
		}
		for n, word := range words {
			c.set(uint64(n), word)
		}
	}
	for d := range s.Queues {
		words, err := m.receive()
		if err != nil {
			return
		}
		s.Queues[d] = append([]uint32{}, words...)
	}
	for d := range s.Amplitudes {
		words, err := m.receive()
		if err != nil {
			return
		}
		s.Amplitudes[d] = amplitudesOf(words)
	}
	m.at(number)
	_ = exchange.Settle(m.x, m.part.WriteState(s)) // the leader gets the error
	m.state = engine.State{}                       // frees memory that is rarely needed
}

// lost keeps an error after which the parts are no longer in step.
func (b *backend) lost(err error) error {
	if b.fault == nil {
		b.fault = err
	}
	return err
}

// watcher is a leader whose parts can look for NaN and Inf.
type watcher struct{ *backend }

// findNotFinite encodes the first NaN or Inf of the part: neuron, variable, value, whether it has passed its bounds, and where it is; nil if
// there is none.
func (m *member) findNotFinite() []uint32 {
	x := m.part.(engine.Watcher).NotFinite()
	if x == nil {
		return nil
	}
	x.Locate(m.c)
	passed := uint32(0)
	if x.Passed {
		passed = 1
	}
	return append([]uint32{x.Neuron, uint32(x.Variable), math.Float32bits(x.Value), passed}, exchange.TextWords(x.Where)...)
}

// NotFinite returns the first NaN or Inf of the network, by variable, then by neuron; values of plastic projections come last.
// If a part cannot be reached, it returns nil, and the next call of another method returns the error.
func (w *watcher) NotFinite() *engine.NotFinite {
	if w.command([]uint32{doFinite}) != nil {
		return nil
	}
	all, err := w.x.Allgather(w.findNotFinite())
	if w.lost(err) != nil {
		return nil
	}
	var found []engine.NotFinite
	for _, words := range all {
		if len(words) != 0 {
			found = append(found, engine.NotFinite{
				Neuron: words[0], Variable: int(words[1]), Value: math.Float32frombits(words[2]), Passed: words[3] != 0, Where: exchange.WordsText(words[4:]),
			})
		}
	}
	if len(found) == 0 {
		return nil
	}
	first := slices.MinFunc(found, func(x, y engine.NotFinite) int {
		return cmp.Or(cmp.Compare(x.Where, y.Where), cmp.Compare(x.Variable, y.Variable), cmp.Compare(x.Neuron, y.Neuron))
	})
	return &first
}
