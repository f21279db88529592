package cuda

import "runtime"

// SetQueue replaces the fire queue of the burst that is delay bursts back by the spikes of all parts, in any order. If it
// fails, the next call returns the error.
func (b *backend) SetQueue(delay int, fired []uint32) {
	if b.fault != nil {
		return
	}
	if err := b.ctx.Enter(); err != nil {
		_ = b.failed("taking the fire queue", err)
		return
	}
	defer b.ctx.Leave()
	b.memory.replace(delay, fired)
	if err := b.takeQueue(b.before(uint64(delay)), fired); err != nil {
		_ = b.failed("taking the fire queue", err)
	}
}

// takeQueue replaces the fire queue of a burst, by its number modulo depth, on the device and waits.
func (b *backend) takeQueue(number uint64, fired []uint32) error {
	b.lengths[number] = uint64(len(fired))
	if len(fired) == 0 {
		return nil
	}
	err := b.stream.Upload(b.queue(number), data(fired), size(fired))
	if err == nil {
		err = b.stream.Synchronize()
	}
	runtime.KeepAlive(fired)
	return err
}
