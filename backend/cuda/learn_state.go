package cuda

import (
	"math"
	"runtime"
	"unsafe"

	"burst/engine"
	"burst/internal/cuda/driver"
)

// readLearnt has all pending events applied and copies what has been learnt. Nothing of the sweep can be seen later.
func (b *backend) readLearnt(s *engine.State) error {
	if b.learning == nil {
		return nil
	}
	if b.number > 0 {
		if err := b.sweep(b.number-1, func(*learner, uint64) bool { return true }); err != nil {
			return err
		}
	}
	for i := range b.learning.list {
		x, own := &b.learning.list[i], &s.Plastic[i]
		for _, d := range x.twins(own) {
			if d.bytes > 0 {
				if err := b.stream.Download(d.host, d.device, d.bytes); err != nil {
					return err
				}
			}
		}
		rows := make([]float32, x.arg.synapses)
		for k, values := range x.synapses(own) {
			if len(rows) == 0 {
				break
			}
			if err := b.stream.Download(data(rows), x.values(k), size(rows)); err != nil {
				return err
			}
			if err := b.stream.Synchronize(); err != nil {
				return err
			}
			x.p.ToState(rows, values)
		}
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(s)
	return err
}

// synapses are the arrays of a state by synapse, and values is where the k-th of them lies, in the order of the rows.
func (x *learner) synapses(s *engine.Plastic) [][]float32 {
	return append([][]float32{s.Weight}, s.Synapse...)
}

func (x *learner) values(k int) driver.Ptr {
	if k == 0 {
		return x.arg.weight
	}
	return x.arg.more + driver.Ptr(4*uint64(k-1)*x.arg.synapses)
}

// twins are all other arrays.
func (x *learner) twins(s *engine.Plastic) (list []twin) {
	several := func(values [][]float32, at driver.Ptr) {
		for _, v := range values {
			list = append(list, twin{data(v), at, size(v)})
			at += driver.Ptr(size(v))
		}
	}
	bursts := func(v []uint64, at driver.Ptr) { list = append(list, twin{data(v), at, size(v)}) }
	several(s.Pre, x.senders.traces)
	several(s.Source, x.senders.variables)
	bursts(s.PreLast, x.senders.last)
	several(s.Post, x.told.traces)
	bursts(s.PostLast, x.told.last)
	several([][]float32{s.Modulator}, x.kept.level)
	bursts(s.ModulatorLast, x.kept.levelLast)
	return list
}

// writeLearnt replaces what has been learnt, when the fire queues are there.
func (b *backend) writeLearnt(s *engine.State) error {
	if b.learning == nil {
		return nil
	}
	if err := b.checkShared(s); err != nil {
		return err
	}
	if err := b.tellLengths(); err != nil {
		return err
	}
	for i := range b.learning.list {
		x, own := &b.learning.list[i], &s.Plastic[i]
		for _, u := range x.twins(own) {
			if u.bytes > 0 {
				if err := b.stream.Upload(u.device, u.host, u.bytes); err != nil {
					return err
				}
			}
		}
		rows := make([]float32, x.arg.synapses)
		for k, values := range x.synapses(own) {
			if len(rows) == 0 {
				break
			}
			x.p.FromState(rows, values)
			if err := b.stream.Upload(x.values(k), data(rows), size(rows)); err != nil {
				return err
			}
			if err := b.stream.Synchronize(); err != nil {
				return err
			}
		}
		if err := x.begin(b, own); err != nil {
			return err
		}
	}
	if err := b.replay(); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(s)
	return err
}

// begin makes what is live the state's, with no event pending.
func (x *learner) begin(b *backend, own *engine.Plastic) error {
	a := &x.arg
	sources, targets := uint64(a.sources), uint64(a.targets)
	for _, c := range []struct {
		to, from driver.Ptr
		bytes    uint64
	}{
		{a.live.traces, x.senders.traces, 4 * uint64(a.preCount) * sources},
		{a.live.variables, x.senders.variables, 4 * uint64(a.sourceVariables) * sources},
		{a.live.last, x.senders.last, 8 * sources},
		{a.level, x.kept.level, 4 * uint64(a.modulators)},
		{a.levelLast, x.kept.levelLast, 8 * uint64(a.modulators)},
	} {
		if c.to != c.from && c.bytes > 0 {
			if err := b.stream.Copy(c.to, c.from, c.bytes); err != nil {
				return err
			}
		}
	}
	for _, f := range []struct {
		at    driver.Ptr
		bytes uint64
	}{{a.ring.at, 8 * uint64(a.ring.places) * targets}, {a.applied, 8 * sources}} {
		if f.bytes > 0 {
			if err := b.stream.Fill(f.at, 0, f.bytes); err != nil {
				return err
			}
		}
	}
	if heard := x.hearing(own); len(heard) > 0 {
		if err := b.stream.Upload(a.heard, data(heard), size(heard)); err != nil {
			return err
		}
	}
	none := sweeps{before: b.number}
	if err := b.stream.Upload(a.swept, unsafe.Pointer(&none), uint64(unsafe.Sizeof(none))); err != nil {
		return err
	}
	return b.stream.Synchronize()
}

// hearing is what each target's heard is, of which a state has the traces after its last event and the burst of the spike.
func (x *learner) hearing(own *engine.Plastic) []uint32 {
	const high, low, traces = 1, 4, 6 // as words
	words := uint64(x.arg.heardBytes) / 4
	list := make([]uint32, words*uint64(x.arg.targets))
	for j, last := range own.PostLast {
		one := list[uint64(j)*words:][:words]
		if last > 0 {
			last += x.arg.lagRead
		}
		one[low], one[high] = uint32(last), uint32(last>>32)
		for k, v := range own.Post {
			one[traces+k] = math.Float32bits(v[j])
		}
	}
	return list
}

// replay takes the spikes of the fire queues in that have been taken in before the burst to come.
func (b *backend) replay() error {
	l, h := b.learning, b.learning.all.history
	oldest := b.number - min(b.number, l.all.queues)
	if n := l.spans.slots * l.spans.neurons; n > 0 {
		if err := b.stream.Fill(l.spans.since, 255, n); err != nil {
			return err
		}
		if err := b.stream.Fill(l.spans.run, 0, n); err != nil {
			return err
		}
	}
	for s := oldest; s < b.number; s++ {
		if s+1 < b.number { // the burst to come counts the newest
			if err := b.count(s); err != nil {
				return err
			}
		}
		for i := range l.list {
			x := &l.list[i]
			if x.windowed() {
				continue
			}
			if x.ownSources && x.senders != x.arg.live && s+uint64(x.arg.least) < b.number {
				if err := x.launchSources(b, s); err != nil {
					return err
				}
			}
			if t := s + x.arg.lag; x.ownTargets && x.arg.told.last == 0 && t < b.number { // they have been applied
				if err := l.kernels.events.launch(b, b.fired(s), eventsArgs{x.arg, h, t}); err != nil {
					return err
				}
			}
			if s > oldest {
				if err := l.kernels.modulators.launch(b, 32*uint64(x.arg.modulators), modulatorsArgs{x.arg, h, s, oldest}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
