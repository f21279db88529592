package split

import (
	"fmt"
	"math"
	"runtime"

	"burst/connectome"
	"burst/engine"
)

// backend is the leader. Where a part has failed the network is lost: all that follows fails alike.
type backend struct {
	member
	closed func() // called at last
	fault  error
	rest   [][]uint32   // scratch of merging
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

// mergeFired puts the parts' fired neurons in one ascending list, slice by slice: those of a slice are one part's.
func (b *backend) mergeFired(all [][]uint32, out []uint32) []uint32 {
	rest := b.rest[:0]
	for _, words := range all {
		rest = append(rest, firedIn(words))
	}
	b.rest = rest
	for i := least(rest); i >= 0; i = least(rest) {
		n, slice := 1, rest[i][0]/connectome.Slice
		for n < len(rest[i]) && rest[i][n]/connectome.Slice == slice {
			n++
		}
		out = append(out, rest[i][:n]...)
		rest[i] = rest[i][n:]
	}
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
