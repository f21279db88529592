package cuda

import (
	"runtime"
	"unsafe"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
)

// ReadState copies the state from the device.
func (b *backend) ReadState(s *engine.State) error {
	if b.fault != nil {
		return b.fault
	}
	if err := b.ctx.Enter(); err != nil {
		return b.failed("reading the state", err)
	}
	defer b.ctx.Leave()
	if err := b.readState(s); err != nil {
		return b.failed("reading the state", err)
	}
	return nil
}

func (b *backend) readState(s *engine.State) error {
	s.Number = b.number
	s.Resize(b.c)
	if err := b.lasting.end(b); err != nil {
		return err
	}
	if b.c.Neurons == 0 {
		return nil
	}
	p := &b.plan
	for _, d := range p.variables(s, pitch(b.c)) {
		if err := b.stream.Download(d.host, d.device, d.bytes); err != nil {
			return err
		}
	}
	if err := b.readLearnt(s); err != nil {
		return err
	}
	b.memory.read(s)
	b.driving.read(s)
	if !b.batch.on {
		return b.downloadQueues(s.Queues)
	}
	for i, q := range b.batch.history {
		s.Queues[i] = append(s.Queues[i][:0], q...)
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(s)
	return err
}

// twin is memory of the host with that of the device that holds the same.
type twin struct {
	host   unsafe.Pointer
	device driver.Ptr
	bytes  uint64
}

// pitch is how many places a variable of all neurons has: kernels load those of four neurons at a time.
func pitch(c *connectome.Connectome) uint64 { return divUp(uint64(c.Neurons), four) * four }

// variables are the arrays of a state.
func (p *plan) variables(s *engine.State, pitch uint64) []twin {
	list := []twin{
		{data(s.V), p.ptr[bufV], size(s.V)}, {data(s.Refractory), p.ptr[bufRefractory], size(s.Refractory)},
		{data(s.Count), p.ptr[bufCount], size(s.Count)},
	}
	for k, more := range s.More {
		list = append(list, twin{data(more), p.ptr[bufMore] + driver.Ptr(4*uint64(k)*pitch), size(more)})
	}
	return list
}

// depth is how many fire queues the device holds: those of a state, and in networks that learn more, which are filled while the oldest
// ones are still read: two for each burst that blocks may be apart.
func (b *backend) depth() uint64 {
	depth := uint64(b.c.Queues())
	if len(b.c.Plastic) > 0 {
		depth += 2 * uint64(max(1, mayBeApart(b.c)))
	}
	return depth
}

// before is the number, modulo depth, of the burst d bursts ago.
func (b *backend) before(d uint64) uint64 {
	depth := b.depth()
	return (b.number%depth + depth - d) % depth
}

// WriteState replaces the state on the device. It also mends a backend that a failed burst has left in the middle.
func (b *backend) WriteState(s *engine.State) error {
	if b.lost {
		return b.fault
	}
	if err := b.ctx.Enter(); err != nil {
		return b.failed("writing the state", err)
	}
	defer b.ctx.Leave()
	if err := b.writeState(s); err != nil {
		return b.failed("writing the state", err)
	}
	b.fault = nil
	return nil
}

func (b *backend) writeState(s *engine.State) error {
	if err := b.lasting.end(b); err != nil {
		return err
	}
	b.number, b.batch.on = s.Number, false
	p := &b.plan
	neurons := uint64(b.c.Neurons)
	for _, u := range p.variables(s, pitch(b.c)) {
		if u.bytes == 0 {
			continue
		}
		if err := b.stream.Upload(u.device, u.host, u.bytes); err != nil {
			return err
		}
		if rest := u.bytes / neurons * (pitch(b.c) - neurons); rest > 0 { // kernels load it with the last neurons
			if err := b.stream.Fill(u.device+driver.Ptr(u.bytes), 0, rest); err != nil {
				return err
			}
		}
	}
	if n := p.bytes[bufAcc]; n > 0 {
		if err := b.stream.Fill(p.ptr[bufAcc], 0, n); err != nil {
			return err
		}
	}
	if err := b.writeMemory(s); err != nil {
		return err
	}
	if err := b.writeDriven(s); err != nil {
		return err
	}
	if err := b.uploadQueues(s.Queues); err != nil {
		return err
	}
	return b.writeLearnt(s)
}
