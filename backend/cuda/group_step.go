package cuda

import (
	"cmp"
	"errors"
	"slices"

	"burst/connectome"
	"burst/engine"
)

// owner is the part that holds neuron n.
func (g *group) owner(n uint32) int { return int(n / connectome.Slice % uint32(len(g.parts))) }

// Step advances one burst on all devices at once; who fired travels through the host.
func (g *group) Step(in []engine.Stimulus, out *engine.Burst) error {
	if g.fault != nil {
		return g.fault
	}
	for q := range g.in {
		g.in[q] = g.in[q][:0]
	}
	for _, s := range in {
		q := g.owner(g.c.NeuronOf(s.Port))
		g.in[q] = append(g.in[q], s)
	}
	if g.launches() {
		return g.stepLaunched(out)
	}
	if err := g.each(func(b *backend) error { return b.burst(g.in[b.share.self]) }); err != nil {
		return g.failed(err)
	}
	if err := g.each(func(b *backend) error { return b.deliver(&g.out[b.share.self]) }); err != nil {
		return g.failed(err)
	}
	g.gather(out)
	if err := g.takeAmplitudes(out); err != nil {
		return err
	}
	g.fired = append(g.fired[:0], out.Fired...)
	err := g.each(func(b *backend) error {
		b.lengths[b.number%b.depth()] = uint64(len(g.fired))
		queue := b.queue(b.number)
		b.memory.keep(g.fired)
		b.number++
		if len(g.fired) == 0 {
			return nil
		}
		return b.stream.Upload(queue, data(g.fired), size(g.fired))
	})
	if err != nil {
		return g.failed(err)
	}
	return nil
}

// gather makes one burst of those of the parts.
func (g *group) gather(out *engine.Burst) {
	out.Number, out.Fired, out.Candidates = g.out[0].Number, out.Fired[:0], out.Candidates[:0]
	for q := range g.out {
		out.Fired = append(out.Fired, g.out[q].Fired...)
		out.Candidates = append(out.Candidates, g.out[q].Candidates...)
	}
	slices.Sort(out.Fired)
	slices.SortFunc(out.Candidates, func(a, b engine.Candidate) int { return int(int64(a.Port) - int64(b.Port)) })
	out.Values = out.Values[:0]
	for i, p := range g.want.Values {
		out.Values = append(out.Values, g.out[g.owner(p.Neuron)].Values[i])
	}
}

// takeAmplitudes adds the amplitudes of all parts to a burst that has been gathered, and gives them to every part. An error is that of the
// first neuron, as on one device.
func (g *group) takeAmplitudes(out *engine.Burst) error {
	if out.Amplitudes = out.Amplitudes[:0]; g.c.Driven == nil {
		return nil
	}
	if err := g.each(func(b *backend) error { return b.fetchPotentials(len(g.out[b.share.self].Fired)) }); err != nil {
		return g.failed(err)
	}
	var first *engine.AmplitudeError
	for q, b := range g.parts {
		var err error
		out.Amplitudes, err = b.addAmplitudes(out.Amplitudes, g.out[q].Fired)
		var beyond *engine.AmplitudeError
		if errors.As(err, &beyond) && (first == nil || beyond.Neuron < first.Neuron) {
			first = beyond
		}
	}
	if first != nil {
		return g.failed(first)
	}
	slices.SortFunc(out.Amplitudes, func(a, b engine.Amplitude) int { return cmp.Compare(a.Neuron, b.Neuron) })
	if err := g.each(func(b *backend) error { return b.keepAmplitudes(out.Amplitudes) }); err != nil {
		return g.failed(err)
	}
	return nil
}

// launches reports whether one launch on each device can be the burst with the stimuli of in.
func (g *group) launches() bool {
	for _, b := range g.parts {
		if !b.launches(g.in[b.share.self]) {
			return false
		}
	}
	return true
}

// stepLaunched is Step in one launch on each device.
func (g *group) stepLaunched(out *engine.Burst) error {
	if err := g.turnOn(); err != nil {
		return g.failed(err)
	}
	r := g.startMergers(1)
	err := g.each(func(b *backend) error { return b.launchGiven(&b.batch.program, g.in[b.share.self], 1) })
	if err == nil {
		var burst engine.Burst
		err = g.take(r, 0, &burst)
		copyBurst(out, burst.Number, burst.Fired, burst.Values)
	}
	if err != nil {
		err = g.failed(g.halt(err))
	}
	r.end()
	return err
}

// ReadState puts together the state of all parts.
func (g *group) ReadState(s *engine.State) error {
	if g.fault != nil {
		return g.fault
	}
	for q, b := range g.parts {
		to := s
		if q > 0 {
			to = &g.scratch
		}
		if err := b.ReadState(to); err != nil {
			return g.failed(err)
		}
		if q > 0 {
			take(s, &g.scratch, b.c.Part)
		}
	}
	return nil
}

// take copies what part p has of its neurons.
func take(to, from *engine.State, p connectome.Part) {
	n := uint64(len(to.V))
	for first := p.Next(0); first < n; first = p.Next(first + connectome.Slice) {
		end := min(first+connectome.Slice, n)
		copy(to.V[first:end], from.V[first:end])
		copy(to.Refractory[first:end], from.Refractory[first:end])
		copy(to.Count[first:end], from.Count[first:end])
		for k := range to.More {
			copy(to.More[k][first:end], from.More[k][first:end])
		}
	}
}

// WriteState gives every part the whole state. It also mends a group that a failed burst has left in the middle.
func (g *group) WriteState(s *engine.State) error {
	if g.lost {
		return g.fault
	}
	for _, b := range g.parts {
		if err := b.WriteState(s); err != nil {
			return g.failed(err)
		}
	}
	if g.stop != nil {
		clear(g.stop.Bytes())
	}
	g.fault = nil
	return nil
}
