package split

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"

	"burst/engine"
)

// backend is the leader. Where a part has failed the network is lost: all that follows fails alike.
type backend struct {
	member
	closed func() // called at last
	fault  error
	merged [2][]uint32  // scratch of mergeFired
	out    engine.Burst // of StepN
}

// tell says what all parts do next.
func (b *backend) tell(words []uint32) error {
	if b.fault == nil {
		_, b.fault = b.x.Gather(words)
	}
	return b.fault
}

// order is what the leader tells with a number, which long reads.
func order(what uint32, x uint64) []uint32 { return []uint32{what, uint32(x), uint32(x >> 32)} }

// Step is the law of a burst; each part does it for its own neurons.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	words := append(b.words[:0], doStep)
	for _, s := range in {
		words = append(words, s.Port, uint32(s.Amount))
	}
	b.words = words
	if err := b.tell(words); err != nil {
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

// StepN equals n Steps, without the message that tells of each and with one Gather a window.
func (b *backend) StepN(n int, each func(*engine.Burst) error) error {
	if err := b.tell(order(doSteps, uint64(n))); err != nil {
		return err
	}
	var refused error // by each; the others are in the next window already
	err := b.lost(b.advance(uint64(n), course{
		next: b.own,
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

// assemble makes the whole burst that is taken over, and gives who fired.
func (b *backend) assemble(out *engine.Burst) []uint32 {
	out.Number, out.Fired = b.taken, b.mergeFired(b.fired, out.Fired[:0])
	out.Candidates = b.mergeCandidates(out.Candidates[:0])
	out.Potentials = b.mergePotentials(out.Potentials[:0])
	return out.Fired
}

// mergeFired appends ascending lists, which it uses up, to out as one: two lists at a time, then two of what they made.
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

// merge appends two ascending lists to out as one. Which comes next cannot be foretold, so it is computed, not branched on.
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

// least is the list with the smallest first word, −1 when all are empty.
func least(lists [][]uint32) int {
	at, smallest := -1, uint32(math.MaxUint32)
	for i, list := range lists {
		if len(list) > 0 && (at < 0 || list[0] < smallest) {
			at, smallest = i, list[0]
		}
	}
	return at
}

// mergeCandidates puts the parts' candidates in one list, ascending by port.
func (b *backend) mergeCandidates(out []engine.Candidate) []engine.Candidate {
	rest := b.candidates
	for i := least(rest); i >= 0; i = least(rest) {
		k := rest[i]
		out = append(out, engine.Candidate{Port: k[0], Neuron: k[1], Sum: int32(k[2])})
		rest[i] = k[3:]
	}
	return out
}

// mergePotentials takes each from the part that its neuron belongs to.
func (b *backend) mergePotentials(out []float32) []float32 {
	rest, part := b.potentials, b.x.Part()
	for _, n := range b.want.Potentials {
		i := part.Owner(n)
		out = append(out, math.Float32frombits(rest[i][0]))
		rest[i] = rest[i][1:]
	}
	return out
}

// Device names what the parts run on.
func (b *backend) Device() string {
	parts := fmt.Sprintf("%d parts", b.x.Part().Of)
	if d, named := b.part.(interface{ Device() string }); named {
		return d.Device() + ", " + parts
	}
	return runtime.GOARCH + ", " + parts
}

// Close ends all parts.
func (b *backend) Close() error {
	Dismiss(b.x)
	err := b.part.Close()
	b.closed()
	return err
}
