package split

import (
	"cmp"
	"math"
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/exchange"
)

// column is one array of the state: V, a further variable, or the countdowns and counts, which share a word.
type column struct {
	get func(n uint32) uint32
	set func(n uint32, word uint32)
}

func columns(s *engine.State) []column {
	list := []column{}
	for _, values := range append([][]float32{s.V}, s.More...) {
		list = append(list, column{
			func(n uint32) uint32 { return math.Float32bits(values[n]) },
			func(n uint32, word uint32) { values[n] = math.Float32frombits(word) },
		})
	}
	return append(list, column{
		func(n uint32) uint32 { return uint32(s.Count[n])<<16 | uint32(s.Refractory[n]) },
		func(n uint32, word uint32) { s.Refractory[n], s.Count[n] = uint16(word), uint16(word>>16) },
	})
}

// each calls take for the neurons of a part, ascending.
func (m *member) each(part connectome.Part, take func(n uint32)) {
	for n := part.Next(0); n < uint64(m.c.Neurons); n = part.Next(n + 1) {
		take(uint32(n))
	}
}

// giveState reads the part's state into s and gives it, column by column; got is told what the others have given.
func (m *member) giveState(s *engine.State, got func(c column, all [][]uint32)) error {
	if err := exchange.Settle(m.x, m.part.ReadState(s)); err != nil {
		return err
	}
	for _, c := range columns(s) {
		words := m.words[:0]
		m.each(m.x.Part(), func(n uint32) { words = append(words, c.get(n)) })
		m.words = words
		all, err := m.x.Gather(words)
		if err != nil {
			return err
		}
		got(c, all)
	}
	return nil
}

// ReadState gathers the whole state.
func (b *backend) ReadState(s *engine.State) error {
	if err := b.tell([]uint32{doRead}); err != nil {
		return err
	}
	return b.lost(b.giveState(s, func(c column, all [][]uint32) {
		for i, words := range all {
			b.each(connectome.Part{Index: i, Of: len(all)}, func(n uint32) {
				c.set(n, words[0])
				words = words[1:]
			})
		}
	}))
}

// WriteState gives all parts the state.
func (b *backend) WriteState(s *engine.State) error {
	if err := b.tell(order(doWrite, s.Number)); err != nil {
		return err
	}
	for _, c := range columns(s) {
		words := b.words[:0]
		b.each(connectome.Part{}, func(n uint32) { words = append(words, c.get(n)) })
		b.words = words
		if err := b.tell(words); err != nil {
			return err
		}
	}
	for _, q := range s.Queues {
		if err := b.tell(q); err != nil {
			return err
		}
	}
	b.at(s.Number)
	return b.lost(exchange.Settle(b.x, b.part.WriteState(s)))
}

// takeState takes the state that the leader gives.
func (m *member) takeState(number uint64) {
	n, s := m.c.Neurons, &m.state
	s.Number = number
	s.V, s.Refractory, s.Count = make([]float32, n), make([]uint16, n), make([]uint16, n)
	s.More, s.Queues = make([][]float32, m.c.Variables()), make([][]uint32, m.c.MaxDelay)
	for k := range s.More {
		s.More[k] = make([]float32, n)
	}
	for _, c := range columns(s) {
		words, err := m.told()
		if err != nil {
			return
		}
		for n, word := range words {
			c.set(uint32(n), word)
		}
	}
	for d := range s.Queues {
		words, err := m.told()
		if err != nil {
			return
		}
		s.Queues[d] = append([]uint32{}, words...)
	}
	m.at(number)
	_ = exchange.Settle(m.x, m.part.WriteState(s)) // the leader has it
	m.state = engine.State{}                       // memory that is hardly ever needed
}

// lost keeps an error after which the parts are not together any more.
func (b *backend) lost(err error) error {
	if b.fault == nil {
		b.fault = err
	}
	return err
}

// watcher is a leader whose parts can look for numbers that are none.
type watcher struct{ *backend }

// findNotFinite is what the part has found: nothing, or neuron, variable and value.
func (m *member) findNotFinite() []uint32 {
	x := m.part.(engine.Watcher).NotFinite()
	if x == nil {
		return nil
	}
	return []uint32{x.Neuron, uint32(x.Variable), math.Float32bits(x.Value)}
}

// NotFinite is the first variable's first neuron. Where a part cannot be reached the next call of another method says so.
func (w *watcher) NotFinite() *engine.NotFinite {
	if w.tell([]uint32{doFinite}) != nil {
		return nil
	}
	all, err := w.x.Gather(w.findNotFinite())
	if w.lost(err) != nil {
		return nil
	}
	var found []engine.NotFinite
	for _, words := range all {
		if len(words) != 0 {
			found = append(found, engine.NotFinite{Neuron: words[0], Variable: int(words[1]), Value: math.Float32frombits(words[2])})
		}
	}
	if len(found) == 0 {
		return nil
	}
	first := slices.MinFunc(found, func(x, y engine.NotFinite) int {
		return cmp.Or(cmp.Compare(x.Variable, y.Variable), cmp.Compare(x.Neuron, y.Neuron))
	})
	return &first
}
