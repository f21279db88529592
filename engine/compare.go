package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"burst/connectome"
)

// Difference is the first thing in which two backends, or two states, are not the same.
type Difference struct {
	Burst  uint64 // the burst that made it; of a state: the burst before State.Number, 0 for the first state
	Neuron uint32 // whose; of a candidate: the neuron of its port; 0 where Field has no neuron
	Field  string // "fired", "order", "candidate", "number", "V", "refractory", "count", "variable 1", "queue 3", "amplitude 1", "size", "values"
	A, B   string // what each has
	Entry  *Entry // the place in State.Plastic; nil: the difference is elsewhere. Locate fills in Neuron
}

// String describes the difference in one line.
func (d *Difference) String() string {
	return fmt.Sprintf("burst %d, neuron %d: %s is %s in one and %s in the other", d.Burst, d.Neuron, d.Field, d.A, d.B)
}

// Locate finds the synapse or neuron that Entry belongs to, and fills in Neuron and Field. Of a synapse, Neuron is the target.
func (d *Difference) Locate(c *connectome.Connectome) {
	if d.Entry != nil {
		d.Neuron, d.Field = d.Entry.locate(c)
	}
}

// Compare steps two backends side by side for the given number of bursts, each with the stimuli that next returns (nil:
// none), and reports the first difference, or nil. Fire queues and candidates are compared in every burst, whole states
// before the first burst, after every every-th one (0: none) and after the last. Both must have been opened with the
// same Want; errors are those of the backends and of next.
func Compare(a, b Backend, bursts uint64, next func(t uint64) ([]Stimulus, error), every uint64) (*Difference, error) {
	c := comparison{a: a, b: b}
	if d, err := c.states(); d != nil || err != nil {
		return d, err
	}
	start := c.stateA.Number
	for i := range bursts {
		if d, err := c.step(start+i, next); d != nil || err != nil {
			return d, err
		}
		if every != 0 && (i+1)%every == 0 && i+1 != bursts {
			if d, err := c.states(); d != nil || err != nil {
				return d, err
			}
		}
	}
	return c.states()
}

// comparison holds the memory that all steps of a Compare use.
type comparison struct {
	a, b           Backend
	burstA, burstB Burst
	stateA, stateB State
}

// step advances both by a burst and compares what they deliver.
func (c *comparison) step(t uint64, next func(t uint64) ([]Stimulus, error)) (*Difference, error) {
	var in []Stimulus
	if next != nil {
		var err error
		if in, err = next(t); err != nil {
			return nil, err
		}
	}
	if err := c.a.Step(in, &c.burstA); err != nil {
		return nil, err
	}
	if err := c.b.Step(in, &c.burstB); err != nil {
		return nil, err
	}
	return CompareBursts(&c.burstA, &c.burstB), nil
}

// states compares the whole states.
func (c *comparison) states() (*Difference, error) {
	if err := c.a.ReadState(&c.stateA); err != nil {
		return nil, err
	}
	if err := c.b.ReadState(&c.stateB); err != nil {
		return nil, err
	}
	return CompareStates(&c.stateA, &c.stateB), nil
}

// CompareBursts is the first difference between two bursts, or nil. The FCL comes first: it is made before the fire queue.
func CompareBursts(a, b *Burst) *Difference {
	if a.Number != b.Number {
		return &Difference{Burst: a.Number, Field: "number", A: number(a.Number), B: number(b.Number)}
	}
	if d := compareCandidates(a.Candidates, b.Candidates); d != nil {
		d.Burst = a.Number
		return d
	}
	if d := compareQueues(a.Fired, b.Fired); d != nil {
		d.Burst = a.Number
		return d
	}
	if d := compareAmplitudes(a.Amplitudes, b.Amplitudes); d != nil {
		d.Burst = a.Number
		return d
	}
	if !slices.EqualFunc(a.Values, b.Values, sameFloat) {
		return &Difference{Burst: a.Number, Field: "values", A: fmt.Sprint(a.Values), B: fmt.Sprint(b.Values)}
	}
	return nil
}

func compareCandidates(a, b []Candidate) *Difference {
	for i := range max(len(a), len(b)) {
		switch {
		case i < len(a) && i < len(b) && a[i] == b[i]:
			continue
		case i >= len(b) || i < len(a) && a[i].Port < b[i].Port:
			return &Difference{Neuron: a[i].Neuron, Field: "candidate", A: a[i].text(), B: "none"}
		case i >= len(a) || b[i].Port < a[i].Port:
			return &Difference{Neuron: b[i].Neuron, Field: "candidate", A: "none", B: b[i].text()}
		}
		return &Difference{Neuron: a[i].Neuron, Field: "candidate", A: a[i].text(), B: b[i].text()}
	}
	return nil
}

func (c Candidate) text() string {
	return fmt.Sprintf("port %d of neuron %d with %d quanta", c.Port, c.Neuron, c.Sum)
}

// compareQueues finds the first entry that differs; where a queue is not ascending there, its order is the difference.
func compareQueues(a, b []uint32) *Difference {
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i] == b[i] {
			continue
		}
		if unsorted(a, i) || unsorted(b, i) {
			return &Difference{Neuron: entry(a, b, i), Field: "order", A: around(a, i), B: around(b, i)}
		}
		inA := i < len(a) && (i >= len(b) || a[i] < b[i])
		return &Difference{Neuron: entry(a, b, i), Field: "fired", A: strconv.FormatBool(inA), B: strconv.FormatBool(!inA)}
	}
	return nil
}

// unsorted reports whether entry i, or the one after it, is not above its predecessor.
func unsorted(q []uint32, i int) bool {
	for j := max(i, 1); j < len(q) && j <= i+1; j++ {
		if q[j] <= q[j-1] {
			return true
		}
	}
	return false
}

// entry is the smaller of the i-th entries.
func entry(a, b []uint32, i int) uint32 {
	switch {
	case i >= len(a):
		return b[i]
	case i >= len(b):
		return a[i]
	}
	return min(a[i], b[i])
}

// around shows the entries next to the i-th.
func around(q []uint32, i int) string {
	lo, hi := max(0, min(i-1, len(q))), min(len(q), i+2)
	return fmt.Sprintf("%d from entry %d of %d", q[lo:hi], lo, len(q))
}

// CompareStates is the first difference between two states, or nil. The digest, which the engine keeps, is not compared.
func CompareStates(a, b *State) *Difference {
	d := compareStates(a, b)
	if d != nil && a.Number > 0 {
		d.Burst = a.Number - 1
	}
	return d
}

func compareStates(a, b *State) *Difference {
	if a.Number != b.Number {
		return &Difference{Field: "number", A: number(a.Number), B: number(b.Number)}
	}
	if x, y := a.size(), b.size(); x != y {
		return &Difference{Field: "size", A: x, B: y}
	}
	for i := range a.V {
		n := uint32(i)
		switch {
		case !sameFloat(a.V[i], b.V[i]):
			return &Difference{Neuron: n, Field: "V", A: potential(a.V[i]), B: potential(b.V[i])}
		case a.Refractory[i] != b.Refractory[i]:
			return &Difference{Neuron: n, Field: "refractory", A: number(a.Refractory[i]), B: number(b.Refractory[i])}
		case a.Count[i] != b.Count[i]:
			return &Difference{Neuron: n, Field: "count", A: number(a.Count[i]), B: number(b.Count[i])}
		}
	}
	for k := range a.More {
		for i, x := range a.More[k] {
			if y := b.More[k][i]; !sameFloat(x, y) {
				return &Difference{Neuron: uint32(i), Field: fmt.Sprintf("variable %d", k+1), A: potential(x), B: potential(y)}
			}
		}
	}
	for i := range a.Queues {
		if d := compareQueues(a.Queues[i], b.Queues[i]); d != nil {
			d.Field = fmt.Sprintf("queue %d: %s", i+1, d.Field)
			return d
		}
	}
	for i := range a.Amplitudes {
		if d := compareAmplitudes(a.Amplitudes[i], b.Amplitudes[i]); d != nil {
			d.Field = fmt.Sprintf("%s %d", d.Field, i+1)
			return d
		}
	}
	if d := comparePlastic(a.Plastic, b.Plastic); d != nil {
		return d
	}
	return compareMemory(a.Memory, b.Memory)
}

// size shows the lengths of a state's slices.
func (s *State) size() string {
	text := fmt.Sprintf("%d potentials, %d countdowns, %d counts, %d queues", len(s.V), len(s.Refractory), len(s.Count), len(s.Queues))
	for _, more := range s.More {
		text += fmt.Sprintf(", %d further variables", len(more))
	}
	if s.Amplitudes != nil {
		text += fmt.Sprintf(", %d lists of amplitudes", len(s.Amplitudes))
	}
	for i := range s.Plastic {
		text += s.Plastic[i].size()
	}
	for i := range s.Memory {
		text += s.Memory[i].size()
	}
	return text
}

func number[T uint16 | uint64](x T) string { return strconv.FormatUint(uint64(x), 10) }

// sameFloat compares bits. One NaN is as another: processors make different ones, and a run that has one ends.
func sameFloat(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

// potential shows the bits too, since potentials that print alike may differ.
func potential(v float32) string { return fmt.Sprintf("%v (%#08x)", v, math.Float32bits(v)) }
