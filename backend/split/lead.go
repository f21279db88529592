package split

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"burst/connectome"
	"burst/engine"
)

// backend is the leader. Where a part has failed the network is lost: all that follows fails alike.
type backend struct {
	member
	closed func() // called at last
	fault  error
	rest   [][]uint32   // scratch of merging
	merged [2][]uint32  // likewise
	out    engine.Burst // of StepN
}

// tell says what all parts do next.
func (b *backend) tell(words []uint32) error {
	if b.fault == nil {
		_, b.fault = b.x.Gather(words)
	}
	return b.fault
}

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
	return b.burst(in, nil, 0, out)
}

// CanStepN is true: all parts know the genome's stimuli.
func (b *backend) CanStepN() bool { return true }

// StepN equals n Steps without the message that tells of each.
func (b *backend) StepN(n int, each func(*engine.Burst) error) error {
	if err := b.tell([]uint32{doSteps, uint32(n), uint32(uint64(n) >> 32)}); err != nil {
		return err
	}
	var refused error // by each
	for i := range n {
		in, fault := b.feed.Next(b.next)
		last := uint32(0)
		if refused != nil {
			last = 1 // the others are in this burst already
		}
		if err := b.burst(in, fault, last, &b.out); err != nil {
			return err
		}
		if refused != nil {
			return refused
		}
		if refused = each(&b.out); refused != nil && i == n-1 {
			return refused
		}
	}
	return nil
}

// burst does the leader's share of a burst and makes the whole one.
func (b *backend) burst(in []engine.Stimulus, fault error, last uint32, out *engine.Burst) error {
	if fault == nil {
		fault = b.part.Step(in, &b.mine)
	}
	all, err := b.x.Gather(b.give(fault, last))
	if err != nil {
		b.fault = err
		return err
	}
	if i := failed(all); i >= 0 {
		if b.fault = fault; fault == nil {
			b.fault = faultOf(connectome.Part{Index: i, Of: len(all)}, all[i])
		}
		return b.fault
	}
	out.Number, out.Fired = b.next, b.mergeFired(all, out.Fired[:0])
	out.Candidates = b.mergeCandidates(all, out.Candidates[:0])
	out.Potentials = b.mergePotentials(all, out.Potentials[:0])
	b.part.Launch(out.Fired)
	b.next++
	return nil
}

// mergeFired puts the parts' fired neurons in one ascending list, appended to out: two lists at a time, then two of what they
// made, as all other parts wait for it.
func (b *backend) mergeFired(all [][]uint32, out []uint32) []uint32 {
	lists := b.rest[:0]
	for _, words := range all {
		lists = append(lists, firedIn(words))
	}
	b.rest = lists
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
func (b *backend) mergeCandidates(all [][]uint32, out []engine.Candidate) []engine.Candidate {
	rest := b.rest[:0]
	for _, words := range all {
		rest = append(rest, words[atWords+words[atFired]:][:3*words[atCandidates]])
	}
	b.rest = rest
	for i := least(rest); i >= 0; i = least(rest) {
		k := rest[i]
		out = append(out, engine.Candidate{Port: k[0], Neuron: k[1], Sum: int32(k[2])})
		rest[i] = k[3:]
	}
	return out
}

// mergePotentials takes each from the part that its neuron belongs to.
func (b *backend) mergePotentials(all [][]uint32, out []float32) []float32 {
	rest := b.rest[:0]
	for _, words := range all {
		rest = append(rest, words[atWords+words[atFired]+3*words[atCandidates]:])
	}
	b.rest = rest
	part := b.x.Part()
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
