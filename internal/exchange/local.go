package exchange

import (
	"sync"

	"burst/connectome"
)

// Local joins parts that are goroutines of this process.
func Local(parts int) []Exchange {
	m := &meeting{turns: [2][][]uint32{make([][]uint32, parts), make([][]uint32, parts)}}
	m.turned.L = &m.mu
	list := make([]Exchange, parts)
	for i := range list {
		list[i] = &local{m, connectome.Part{Index: i, Of: parts}}
	}
	return list
}

// meeting is where the parts wait for each other. The words of a turn stay valid until the turn after the next one.
type meeting struct {
	mu     sync.Mutex
	turned sync.Cond
	turn   uint64
	came   int
	turns  [2][][]uint32
	cause  error // of the end
}

// local is one part's end of a meeting.
type local struct {
	m    *meeting
	part connectome.Part
}

func (l *local) Part() connectome.Part { return l.part }

func (l *local) Allgather(own []uint32) ([][]uint32, error) {
	m := l.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cause != nil {
		return nil, m.cause
	}
	turn := m.turn
	all := m.turns[turn%2]
	all[l.part.Index] = append(all[l.part.Index][:0], own...)
	if m.came++; m.came == len(all) {
		m.came = 0
		m.turn++
		m.turned.Broadcast()
		return all, nil
	}
	for m.turn == turn && m.cause == nil {
		m.turned.Wait()
	}
	if m.turn == turn {
		return nil, m.cause
	}
	return all, nil
}

func (l *local) Abort(cause error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.cause == nil {
		l.m.cause = &PartError{l.part, cause.Error()}
	}
	l.m.turned.Broadcast()
}

// Close leaves. A part that still calls Allgather would wait for ever, so it gets an error.
func (l *local) Close() error {
	l.Abort(ErrClosed)
	return nil
}
