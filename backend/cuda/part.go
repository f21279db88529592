package cuda

import "runtime"

// Launch makes the newest fire queue of a part that of all parts, in any order. A failure is what the next call returns.
func (b *backend) Launch(fired []uint32) {
	if b.fault != nil {
		return
	}
	if err := b.ctx.Enter(); err != nil {
		_ = b.failed("taking the fire queue", err)
		return
	}
	defer b.ctx.Leave()
	if err := b.takeQueue(fired); err != nil {
		_ = b.failed("taking the fire queue", err)
	}
}

// takeQueue replaces the newest fire queue on the device and waits.
func (b *backend) takeQueue(fired []uint32) error {
	newest := b.before(1)
	b.lengths[newest] = uint64(len(fired))
	if len(fired) == 0 {
		return nil
	}
	err := b.stream.Upload(b.queue(newest), data(fired), size(fired))
	if err == nil {
		err = b.stream.Synchronize()
	}
	runtime.KeepAlive(fired)
	return err
}
