package connectome

import (
	"math"
	"sync"
)

// inOrder says that the rows are to be made without being counted first: those of a part where every area is a strip and
// somewhere the lengths of rows are known only by drawing them. Their number must be known well enough to have room for them.
func (p *plan) inOrder() bool {
	unknown := false
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.keep == 0 || w.counted {
			_, ok := w.known(p.part)
			unknown = unknown || w.keep > 0 && !ok
			continue
		}
		if _, ok := w.rule.(*outdegree); !ok {
			return false
		}
		unknown = true
	}
	return unknown && len(p.loose) == 0 && !p.part.Whole()
}

// likely is a number of synapses that is hardly ever exceeded: eight standard deviations above the mean.
func (p *plan) likely() uint64 {
	sum := uint64(0)
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.counted {
			sum = add(sum, w.synapses)
			continue
		}
		n, _ := w.rule.total()
		mean := float64(n) * (float64(w.own(p.part)) / float64(w.to.Count)) * (float64(w.keep) / 100)
		sum = add(sum, min(n, uint64(mean+8*math.Sqrt(mean))+1))
	}
	return sum
}

// wireInOrder is wire with room for so many synapses, more if need be.
func (p *plan) wireInOrder(c *Connectome, room uint64, sums []uint64, progress *meter) error {
	progress.total = 2*room + 1
	out := &store{row: p.room(room), early: map[uint64]arrival{}}
	c.Delay = out.row.delay // that there are delays
	err := p.place(c, out, sums, progress)
	c.ByRule = p.byRule()
	progress.add(progress.total)
	return err
}

// settleAll sets the numbers of synapses that were made.
func (p *plan) settleAll(workers []placer) {
	for i := range p.wirings {
		n := uint64(0)
		for k := range workers {
			n += workers[k].made[i]
		}
		p.wirings[i].settle(n)
	}
}

// store is where rows go that are made in the order of their sources by goroutines that do not know how long those before
// theirs are.
type store struct {
	mu    sync.RWMutex // held for writing while the arrays are replaced
	row   row
	turn  sync.Mutex
	piece uint64             // whose turn it is
	at    uint64             // where its rows go
	early map[uint64]arrival // pieces that are made before some ahead of them
}

// arrival is so many synapses of a piece, whose place goes to a channel.
type arrival struct {
	synapses uint64
	at       chan<- uint64
}

// place gives a piece its place, as soon as all pieces before it have theirs. Whoever brings the piece whose turn it is gives those
// that wait behind it theirs too, so that none of these has to run before the next can; reply is the caller's, for one place at a time.
func (s *store) place(piece, synapses uint64, reply chan uint64) (at uint64) {
	s.turn.Lock()
	s.early[piece] = arrival{synapses, reply}
	for next, ok := s.early[s.piece]; ok; next, ok = s.early[s.piece] {
		delete(s.early, s.piece)
		next.at <- s.at
		s.at, s.piece = s.at+next.synapses, s.piece+1
	}
	s.turn.Unlock()
	return <-reply
}

// put copies the rows of a piece to their place.
func (s *store) put(at uint64, r row) {
	end := at + uint64(len(r.target))
	s.mu.RLock()
	for uint64(len(s.row.target)) < end {
		s.mu.RUnlock()
		s.grow(end)
		s.mu.RLock()
	}
	defer s.mu.RUnlock()
	copy(s.row.target[at:], r.target)
	copy(s.row.weight[at:], r.weight)
	if s.row.delay != nil {
		copy(s.row.delay[at:], r.delay)
	}
}

// grow makes room where draws have exceeded what is likely.
func (s *store) grow(least uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := uint64(len(s.row.target)); n < least {
		s.row = s.row.grown(least + least/16)
	}
}
