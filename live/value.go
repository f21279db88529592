package live

import (
	"fmt"
	"slices"

	"burst/engine"
	"burst/internal/quanta"
)

// Value is what an Input is set to: an amount for each of its entries, or for some, the others being 0.
type Value struct {
	To      *Input
	At      []uint32 // the entries that have an amount; nil: all in order
	Amounts []float32
}

func (v *Value) feeder() *Feeder {
	if v.To == nil {
		return &Feeder{gone: true}
	}
	return v.To.of
}

// Set sets inputs of this feeder, all from the same burst on. If one of the values is refused, none is set.
func (f *Feeder) Set(values ...Value) error { return f.SetFrom(0, values...) }

// mostLater is how many values of an input can wait for their burst.
const mostLater = 256

// SetFrom is Set for values that count from a given burst on, or from the next burst if that one has begun. If several values wait for the
// same burst, the newest counts. In lock-step a value counts from the first Step that begins at its burst or later.
func (f *Feeder) SetFrom(burst uint64, values ...Value) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.makeAll(values); err != nil {
		return err
	}
	b := &f.s.inbox
	b.handed.Lock()
	defer b.handed.Unlock()
	for i := range values {
		if in := values[i].To; burst > 0 && len(in.later) == mostLater {
			return in.refuse("%d values wait for their burst already, which is the most", mostLater)
		}
	}
	for i := range values {
		in := values[i].To
		if burst > 0 {
			in.later = append(in.later, later{burst, slices.Clone(in.scratch)})
			continue
		}
		in.pending, in.scratch, in.fresh = in.scratch, in.pending, true
	}
	b.fresh.Store(true)
	return nil
}

// Check is the error that Set would have. Nothing is set.
func (f *Feeder) Check(values ...Value) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.makeAll(values)
}

// makeAll makes stimuli of values that are set at once.
func (f *Feeder) makeAll(values []Value) error {
	switch {
	case f.gone:
		return errFeederGone
	case f.s.closed.Load():
		return ErrClosed
	}
	for i := range values {
		if err := f.make(values[i], values[:i]); err != nil {
			return err
		}
	}
	return nil
}

// later is a value that waits for its burst.
type later struct {
	from    uint64
	stimuli []engine.Stimulus
}

// due makes the waiting value that is to count in burst t the one that does: that of the latest burst, the newest of these.
func (in *Input) due(t uint64) {
	at := -1
	for i := range in.later {
		if x := &in.later[i]; x.from <= t && (at < 0 || x.from >= in.later[at].from) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	in.now, in.until = append(in.now[:0], in.later[at].stimuli...), in.ends(t)
	in.later = slices.DeleteFunc(in.later, func(x later) bool { return x.from <= t })
}

// make makes stimuli of a value: at once where that is possible, else entry by entry, with the same result.
func (f *Feeder) make(v Value, before []Value) error {
	in := v.To
	if in == nil || in.of != f {
		return fmt.Errorf("live: %s sets an input that it has not bound", f.name)
	}
	for i := range before {
		if before[i].To == in {
			return in.refuse("is set twice at once")
		}
	}
	want := in.entries
	if v.At != nil {
		want = len(v.At)
	}
	if len(v.Amounts) != want {
		return in.refuse("%d amounts, want %d", len(v.Amounts), want)
	}
	if in.quickly(v) {
		return nil
	}
	return in.slowly(v)
}

// slowly makes stimuli of a value entry by entry.
func (in *Input) slowly(v Value) error {
	in.scratch = in.scratch[:0]
	for i, x := range v.Amounts {
		at := i
		if v.At != nil {
			at = int(v.At[i])
			if at >= in.entries || i > 0 && v.At[i] <= v.At[i-1] {
				return in.refuse("an amount for entry %d, want ascending ones below %d", at, in.entries)
			}
		}
		if err := in.add(at, x); err != nil {
			return err
		}
	}
	if !in.ascending {
		in.scratch = summed(in.scratch)
	}
	return nil
}

// add gives an amount to the neurons of an entry.
func (in *Input) add(at int, x float32) error {
	q := quanta.Of(float64(x), in.scale)
	if x != x || q > in.largest || -q > in.largest {
		return in.refuse("amount %v for entry %d, want at most the %v of either sign that were bound", x, at, float64(in.largest)/in.scale)
	}
	if q == 0 {
		return nil
	}
	ports, each := in.ports[0], int(in.each)
	if q < 0 {
		ports = in.ports[1]
	}
	if each == 1 {
		in.scratch = append(in.scratch, engine.Stimulus{Port: ports[at], Amount: int32(q)})
		return nil
	}
	for _, p := range ports[at*each : (at+1)*each] {
		in.scratch = append(in.scratch, engine.Stimulus{Port: p, Amount: int32(q)})
	}
	return nil
}

// refuse is the error of a value, which names input and feeder.
func (in *Input) refuse(format string, args ...any) error {
	return fmt.Errorf("live: input %q of %s: %s", in.name, in.of.name, fmt.Sprintf(format, args...))
}
