package live

import (
	"fmt"
	"slices"
	"sync"

	"burst/engine"
	"burst/record"
	"burst/run"
)

// Kind says what an Output reports.
type Kind uint8

// The kinds.
const (
	Counts     Kind = iota // how often each entry has fired
	Fired                  // which entries have fired at all
	Rate                   // the mean rate of the neurons, in Hz
	Potentials             // of each neuron after the last burst, as the genome gives them, or Place.Variable; Options.Record must name them
)

// outputs is the Recorder of what is read.
type outputs struct {
	list []*Output
}

// Record gives a burst to all outputs.
func (o *outputs) Record(b *engine.Burst) error {
	for _, out := range o.list {
		out.record(b)
	}
	return nil
}

// tally is how often entries have fired.
type tally struct {
	counts  []uint32
	changed []uint32 // the entries whose count is not 0, in the order in which they have first fired, and room for one more
}

func newTally(entries int) tally { return tally{make([]uint32, entries), make([]uint32, 0, entries+1)} }

// clear forgets all: mostly few counts are not 0.
func (t *tally) clear() {
	for _, i := range t.changed {
		t.counts[i] = 0
	}
	t.changed = t.changed[:0]
}

// add counts neurons, which are numbered from first on as entries are.
func (t *tally) add(neurons []uint32, first uint32) {
	n, changed := len(t.changed), t.changed[:cap(t.changed)]
	for _, at := range neurons {
		at -= first
		count := t.counts[at]
		changed[n] = at // which counts if it is the first time
		if count == 0 {
			n++
		}
		t.counts[at] = count + 1
	}
	t.changed = t.changed[:n]
}

// Output reports what neurons have done. Read and View may be called at any time, by one goroutine at a time.
type Output struct {
	s        *Session
	kind     Kind
	first    uint32  // of the area's neurons
	end      uint32  // behind them
	entry    []int32 // of each neuron of the area its entry, −1 for none; nil: they are the same
	entries  int
	neurons  uint64  // of the place
	timestep float64 // ms
	at       []int   // Potentials: the places of the entries in Burst.Values
	rest     []float32

	mu         sync.Mutex
	next       uint64 // burst
	bursts     uint64
	spikes     uint64
	now, read  tally // since the last Read, and what it returned
	potentials []float32
	shown      []float32 // by View
}

// Reading is what Output.Read and Output.View return.
type Reading struct {
	Next       uint64    // the next burst: what is read is of those before it
	Bursts     uint64    // so many, since the Read before
	Counts     []uint32  // of Counts: one for each entry
	Fired      []uint32  // of Fired: entries, ascending
	Rate       float64   // of Rate: Hz
	Potentials []float32 // of Potentials: one for each entry
}

// Output makes an output of neurons or voxels.
func (s *Session) Output(p Place, k Kind) (*Output, error) {
	var o *Output
	err := s.do(func(r *run.Run) (err error) {
		if o, err = s.newOutput(p, k); err == nil {
			s.out.list = append(s.out.list, o)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("live: output: %w", err)
	}
	return o, nil
}

// Entries is how many entries its place has.
func (o *Output) Entries() int { return o.entries }

// Close ends the output; it receives nothing any more.
func (o *Output) Close() {
	_ = o.s.between(func(*run.Run) error { // which has no error of its own
		o.s.out.list = slices.DeleteFunc(o.s.out.list, func(x *Output) bool { return x == o })
		return nil
	})
}

func (s *Session) newOutput(p Place, k Kind) (*Output, error) {
	if k > Potentials {
		return nil, fmt.Errorf("kind %d, want Counts, Fired, Rate or Potentials", k)
	}
	variable := p.Variable
	if k == Potentials {
		p.Variable = ""
	}
	e, err := s.entries(p)
	if err != nil {
		return nil, err
	}
	a := &s.run.Connectome.Areas[e.area]
	o := &Output{s: s, kind: k, entries: e.n, first: a.Neurons.First, end: a.Neurons.End(), neurons: uint64(e.n) * uint64(e.each), timestep: s.run.Connectome.Timestep, next: s.run.Number()}
	if k == Potentials {
		return o, o.watch(s.run, &e, variable)
	}
	o.now, o.read = newTally(e.n), newTally(e.n)
	if e.list == nil {
		return o, nil
	}
	o.entry = slices.Repeat([]int32{-1}, int(a.Neurons.Count))
	for i, first := range e.list {
		for n := first; n < first+e.each; n++ {
			if o.entry[n] >= 0 {
				return nil, fmt.Errorf("neuron %d of area %q is named twice", n, a.Name)
			}
			o.entry[n] = int32(i)
		}
	}
	return o, nil
}

// watch finds the entries among the values that the backend delivers.
func (o *Output) watch(r *run.Run, e *entries, variable string) error {
	if e.each > 1 {
		return fmt.Errorf("potentials of voxels of %d neurons, want neurons", e.each)
	}
	a := &r.Connectome.Areas[e.area]
	which := 0
	if variable != "" {
		var err error
		if which, err = a.Model.FindRecordable(variable); err != nil {
			return err
		}
		if which >= len(a.Model.State) {
			return fmt.Errorf("%q is an input of the model %s, want a state variable; inputs are recorded alone", variable, a.Model.Name)
		}
	}
	for i := range e.n {
		n := o.first + e.first(i)
		k, found := slices.BinarySearchFunc(r.Values, engine.Probe{Neuron: n, Variable: uint32(which)}, engine.Probe.Compare)
		if !found && which > 0 {
			return fmt.Errorf("%[1]s of neuron %[2]d of area %[3]q is not recorded; want variables=%[3]s.%[1]s among what is recorded (--record, Options.Record, in Python record=)", variable, e.first(i), a.Name)
		}
		if !found {
			return fmt.Errorf("the potential of neuron %d of area %[2]q is not recorded; want potentials=%[2]s among what is recorded (--record, Options.Record, in Python record=)", e.first(i), a.Name)
		}
		o.at, o.rest = append(o.at, k), append(o.rest, r.Rest[k])
	}
	o.potentials = make([]float32, e.n)
	return nil
}

// record adds a burst.
func (o *Output) record(b *engine.Burst) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.next = b.Number + 1
	o.bursts++
	if o.kind == Potentials {
		for i, k := range o.at {
			o.potentials[i] = b.Values[k] + o.rest[i]
		}
		return
	}
	from, _ := slices.BinarySearch(b.Fired, o.first)
	count, _ := slices.BinarySearch(b.Fired[from:], o.end)
	if o.entry == nil {
		o.now.add(b.Fired[from:][:count], o.first)
		o.spikes += uint64(count)
		return
	}
	for _, n := range b.Fired[from:][:count] {
		if at := o.entry[n-o.first]; at >= 0 {
			o.now.add([]uint32{uint32(at)}, 0)
			o.spikes++
		}
	}
}

// Read returns in x what has happened since the last Read. It reuses the memory of x if that is large enough. If there was no burst in
// between, counts are 0 and potentials are unchanged.
func (o *Output) Read(x *Reading) {
	counts, fired, potentials := x.Counts[:0], x.Fired[:0], x.Potentials[:0]
	o.View(x)
	if x.Counts != nil {
		counts = slices.Grow(counts, len(x.Counts))[:len(x.Counts)]
		clear(counts)
		for _, i := range o.read.changed {
			counts[i] = x.Counts[i]
		}
	}
	x.Counts, x.Fired, x.Potentials = counts, append(fired, x.Fired...), append(potentials, x.Potentials...)
}

// View is Read without a copy: what it returns is the output's own memory. It is valid until the next View or Read and must not be changed.
func (o *Output) View(x *Reading) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read.clear()
	o.now, o.read = o.read, o.now
	*x = Reading{Next: o.next, Bursts: o.bursts}
	switch o.kind {
	case Counts:
		x.Counts = o.read.counts
	case Fired:
		if !slices.IsSorted(o.read.changed) { // those of one burst are
			slices.Sort(o.read.changed)
		}
		x.Fired = o.read.changed
	case Rate:
		x.Rate = record.Rate(o.spikes, o.neurons, o.bursts, o.timestep)
	case Potentials:
		o.shown = append(o.shown[:0], o.potentials...)
		x.Potentials = o.shown
	}
	o.bursts, o.spikes = 0, 0
}
