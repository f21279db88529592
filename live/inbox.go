package live

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"burst/connectome"
	"burst/engine"
	"burst/live/internal/inputlog"
)

// inbox is the Source of a session: what feeders have set. Its upper fields are those of the goroutine that runs bursts.
type inbox struct {
	c    *connectome.Connectome
	fits func([]engine.Stimulus) error
	log  *Log
	from uint64 // the first burst that is not the log's

	stepping bool // lock-step: what counts was decided when the Step began
	begin    uint64
	end      uint64
	stimuli  []engine.Stimulus // until burst change: those of the only input that has some, or joined
	joined   []engine.Stimulus
	change   uint64
	covered  uint64 // the first burst that the log's last entry says nothing of
	due      uint64 // the first burst for which a value waits
	entry    inputlog.Entry
	inputs   []*Input

	fresh  atomic.Bool // some input has a pending value
	handed sync.Mutex  // guards what feeders and bursts share: pending, later, fresh and gone of all inputs
}

// step begins a Step to a burst, whose inputs are what is there now.
func (b *inbox) step(from, to uint64) {
	b.stepping, b.begin, b.end = true, from, to
	b.receive(from)
	b.merge(from)
}

// free begins a stretch of Run.
func (b *inbox) free() { b.stepping, b.change = false, 0 }

// receive takes what feeders have set, for burst t and those after it.
func (b *inbox) receive(t uint64) bool {
	if !b.fresh.Load() && t < b.due {
		return false
	}
	b.handed.Lock()
	defer b.handed.Unlock()
	b.fresh.Store(false)
	b.due = math.MaxUint64
	for _, in := range b.inputs {
		if in.fresh {
			in.fresh = false
			in.now, in.pending = in.pending, in.now
			in.until = in.ends(t)
		}
		in.due(t)
		for i := range in.later {
			b.due = min(b.due, in.later[i].from)
		}
	}
	b.inputs = slices.DeleteFunc(b.inputs, func(in *Input) bool { return in.gone })
	return true
}

// merge adds up the amounts of all inputs in burst t, and finds until which burst they stay the same. Each input's amounts are ascending by
// port. If only one input gives amounts, they are not copied.
func (b *inbox) merge(t uint64) {
	b.stimuli, b.joined, b.change = nil, b.joined[:0], math.MaxUint64
	ascending := true
	for _, in := range b.inputs {
		if t >= in.until || len(in.now) == 0 {
			continue
		}
		b.change = min(b.change, in.until)
		n := len(b.stimuli)
		if n == 0 {
			b.stimuli = in.now
			continue
		}
		ascending = ascending && b.stimuli[n-1].Port < in.now[0].Port
		if len(b.joined) == 0 {
			b.joined = append(b.joined, b.stimuli...)
		}
		b.joined = append(b.joined, in.now...)
		b.stimuli = b.joined
	}
	if b.stepping {
		b.change = min(b.change, b.end)
	}
	if !ascending {
		b.stimuli = summed(b.stimuli)
	}
}

// summed sorts stimuli by port and adds up those of one port. Reservations keep the sums within int32.
func summed(list []engine.Stimulus) []engine.Stimulus {
	slices.SortFunc(list, func(a, b engine.Stimulus) int { return int(int64(a.Port) - int64(b.Port)) })
	return joined(list)
}

// joined adds up stimuli of one port, which are neighbours.
func joined(list []engine.Stimulus) []engine.Stimulus {
	out := list[:0]
	for i := 0; i < len(list); {
		s := list[i]
		for i++; i < len(list) && list[i].Port == s.Port; i++ {
			s.Amount += list[i].Amount
		}
		if s.Amount != 0 {
			out = append(out, s)
		}
	}
	return out
}

// Stimuli gives those of burst t, once they are in the log.
func (b *inbox) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	if t < b.from {
		return b.log.Stimuli(t, in)
	}
	if b.stepping {
		if t == b.begin || t >= b.change {
			b.merge(t)
			if err := b.logged(t, b.change-t); err != nil {
				return nil, err
			}
		}
		return append(in, b.stimuli...), nil
	}
	if fresh := b.receive(t); fresh || t >= b.change {
		b.merge(t)
	}
	if len(b.stimuli) > 0 || t < b.covered {
		if err := b.logged(t, 1); err != nil {
			return nil, err
		}
	}
	return append(in, b.stimuli...), nil
}

// logged logs the stimuli as those of n bursts. A Step is logged when it begins and whenever one of its inputs ends, not all at once. So
// entries of what happens between its bursts come in order.
func (b *inbox) logged(t, n uint64) error {
	b.entry = inputlog.Entry{Kind: inputlog.Inputs, Burst: t, Value: n, Stimuli: b.stimuli}
	b.log.add(&b.entry)
	b.covered = t + n
	return b.log.flush()
}

// QuietUntil says when there may be stimuli. While Run goes on, a feeder may set one at any time; Bind waits for a boundary.
func (b *inbox) QuietUntil(t uint64) uint64 {
	switch {
	case t < b.from:
		return min(b.log.QuietUntil(t), b.from)
	case b.stepping && t != b.begin && len(b.stimuli) == 0:
		return b.change
	case !b.stepping && len(b.inputs) == 0 && t >= b.covered:
		return math.MaxUint64
	}
	return t
}
