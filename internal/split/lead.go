package split

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"

	"burst/engine"
)

// backend is the leader. After a part has failed, every further call returns the same error.
type backend struct {
	member
	closed func() // called at the end of Close
	fault  error
	merged [2][]uint32  // scratch of mergeFired
	out    engine.Burst // the burst that StepN passes on
}

// command sends a command to all parts.
func (b *backend) command(words []uint32) error {
	if b.fault == nil {
		_, b.fault = b.x.Allgather(words)
	}
	return b.fault
}

// order makes a command with a number of 64 bits, which long decodes.
func order(what uint32, x uint64) []uint32 { return []uint32{what, uint32(x), uint32(x >> 32)} }

// Step runs one burst: each part runs it for its own neurons.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	words := append(b.words[:0], doStep)
	for _, s := range in {
		words = append(words, s.Port, uint32(s.Amount))
	}
	b.words = words
	if err := b.command(words); err != nil {
		return err
	}
	return b.lost(b.advance(1, course{
		next: given(in),
		take: func() []uint32 { return b.assemble(out) },
		last: func() bool { return false },
	}))
}

// CanStepN is true: all parts know the genome's stimuli.
func (b *backend) CanStepN() bool { return true }

// StepN equals n Steps, but needs one command for all of them and one Allgather per window.
func (b *backend) StepN(n int, each func(*engine.Burst) error) error {
	if err := b.command(order(doSteps, uint64(n))); err != nil {
		return err
	}
	var refused error // the error of each; the other parts have already begun the next window
	err := b.lost(b.advance(uint64(n), course{
		next: b.own,
		own:  true,
		take: func() []uint32 {
			fired := b.assemble(&b.out)
			if refused == nil {
				refused = each(&b.out)
			}
			return fired
		},
		last: func() bool { return refused != nil },
	}))
	return cmp.Or(err, refused)
}

// assemble joins the parts' lists of a burst, and returns the neurons that fired.
func (b *backend) assemble(out *engine.Burst) []uint32 {
	out.Number, out.Fired = b.taken, b.mergeFired(b.fired, out.Fired[:0])
	out.Candidates = b.mergeCandidates(out.Candidates[:0])
	out.Values = b.mergeValues(out.Values[:0])
	out.Amplitudes = append(out.Amplitudes[:0], b.amplitudes...)
	return out.Fired
}

// mergeFired merges ascending lists into one and appends it to out. It merges pairs of lists until one is left, and
// overwrites lists.
func (b *backend) mergeFired(lists [][]uint32, out []uint32) []uint32 {
	for pass := 0; len(lists) > 2; pass = 1 - pass {
		room, pairs := b.merged[pass][:0], 0
		for i := 0; i < len(lists); i += 2 {
			var second []uint32
			if i+1 < len(lists) {
				second = lists[i+1]
			}
			from := len(room)
			room = merge(room, lists[i], second)
			lists[pairs], pairs = room[from:], pairs+1
		}
		b.merged[pass], lists = room, lists[:pairs]
	}
	if len(lists) == 1 {
		return append(out, lists[0]...)
	}
	return merge(out, lists[0], lists[1])
}

// merge merges two ascending lists and appends the result to out. It avoids a branch on the values: it could not be predicted.
func merge(out, x, y []uint32) []uint32 {
	n := len(out)
	out = slices.Grow(out, len(x)+len(y))[:n+len(x)+len(y)]
	to, i, j := out[n:], 0, 0
	for i < len(x) && j < len(y) {
		first, fromX := y[j], 0
		if x[i] < first {
			first, fromX = x[i], 1
		}
		to[i+j] = first
		i, j = i+fromX, j+1-fromX
	}
	copy(to[i+j:], x[i:])
	copy(to[i+j:], y[j:])
	return out
}

// least returns the index of the list with the smallest first word; −1 if all lists are empty.
func least(lists [][]uint32) int {
	at, smallest := -1, uint32(math.MaxUint32)
	for i, list := range lists {
		if len(list) > 0 && (at < 0 || list[0] < smallest) {
			at, smallest = i, list[0]
		}
	}
	return at
}

// mergeCandidates merges the candidates of all parts, ascending by port.
func (b *backend) mergeCandidates(out []engine.Candidate) []engine.Candidate {
	rest := b.candidates
	for i := least(rest); i >= 0; i = least(rest) {
		k := rest[i]
		out = append(out, engine.Candidate{Port: k[0], Neuron: k[1], Sum: int32(k[2])})
		rest[i] = k[3:]
	}
	return out
}

// mergeValues takes each value from the part that owns the neuron.
func (b *backend) mergeValues(out []float32) []float32 {
	rest, part := b.values, b.x.Part()
	for _, p := range b.want.Values {
		i := part.Owner(p.Neuron)
		out = append(out, math.Float32frombits(rest[i][0]))
		rest[i] = rest[i][1:]
	}
	return out
}

// Device names the device of part 0 and the number of parts.
func (b *backend) Device() string {
	parts := fmt.Sprintf("%d parts", b.x.Part().Of)
	if d, named := b.part.(interface{ Device() string }); named {
		return d.Device() + ", " + parts
	}
	return runtime.GOARCH + ", " + parts
}

// Leading returns the backend of part 0.
func (b *backend) Leading() Part { return b.part }

// Close ends all parts and closes the leader's backend.
func (b *backend) Close() error {
	Dismiss(b.x)
	err := b.part.Close()
	b.closed()
	return err
}
