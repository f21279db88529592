package cuda

import (
	"fmt"
	"runtime"
	"slices"

	"burst/internal/cuda/driver"
)

// SetQueue replaces the fire queue of the burst that is delay bursts back by the spikes of all parts, in any order. If it
// fails, the next call returns the error.
func (b *backend) SetQueue(delay int, fired []uint32) {
	if b.fault != nil {
		return
	}
	b.memory.replace(delay, fired)
	if x := &b.batch; x.on {
		x.history[delay-1] = append(x.history[delay-1][:0], fired...)
		x.joined = append(x.joined, b.number-uint64(delay))
		return
	}
	if err := b.ctx.Enter(); err != nil {
		_ = b.failed("taking the fire queue", err)
		return
	}
	defer b.ctx.Leave()
	if err := b.takeQueue(b.before(uint64(delay)), fired); err != nil {
		_ = b.failed("taking the fire queue", err)
	}
}

// tellJoined tells the device, before the next launch, who fired in other processes in bursts that its launches have run.
func (b *backend) tellJoined() error {
	x := &b.batch
	joined := x.joined
	if x.joined = joined[:0]; len(joined) == 0 {
		return nil
	}
	switch b.choice.path {
	case pathClusters, pathSums:
		return b.tellQueues(x.history)
	case pathTeams: // all delays are 1
		return b.tellNewest()
	}
	return b.deliverJoined(joined)
}

// deliverJoined delivers the rows of other processes' neurons to the ring. Their ids lie where the queues of single bursts do otherwise.
func (b *backend) deliverJoined(bursts []uint64) error {
	x := &b.batch
	x.others = x.others[:0]
	for _, t := range bursts {
		for _, n := range x.history[b.number-t-1] {
			if !b.c.Part.Owns(n) {
				x.others = append(x.others, n)
			}
		}
		x.ends = append(x.ends, len(x.others))
	}
	ends := x.ends
	if x.ends = ends[:0]; len(x.others) == 0 || b.rows.synapses == 0 {
		return nil
	}
	at := b.plan.ptr[bufQueues]
	if err := b.stream.Upload(at, data(x.others), size(x.others)); err != nil {
		return err
	}
	first := 0
	for i, t := range bursts {
		if length := ends[i] - first; length > 0 {
			if err := b.catchUp(at+driver.Ptr(4*first), length, b.number-t); err != nil {
				return err
			}
		}
		first = ends[i]
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(x.others)
	return err
}

// catchUp delivers to the ring what a fire queue of d bursts ago still has to deliver.
func (b *backend) catchUp(queue driver.Ptr, length int, d uint64) error {
	x := &b.batch
	x.catchUpArgs = catchUpArgs{run: x.args.run, queue: queue, length: uint32(length), firedAt: b.number - d, least: uint32(d)}
	x.catchUpArgs.run.delay, x.catchUpArgs.run.late = b.delays() // kernels that know the one delay are not told
	if err := x.catchUp.Launch(uint32(8*b.sms), b.tune.threads, x.catchUpParams, b.stream); err != nil {
		return fmt.Errorf("catch_up: %w", err)
	}
	return nil
}

// tellNewest makes the newest fire queue, of all processes, that of the next launch.
func (b *backend) tellNewest() error {
	newest := b.batch.history[0]
	if len(newest) > 0 {
		if err := b.stream.Upload(b.queue(b.before(1)), data(newest), size(newest)); err != nil {
			return err
		}
		if err := b.queueRows(len(newest)); err != nil {
			return err
		}
	}
	length := []uint32{uint32(len(newest))}
	if err := b.stream.Upload(b.plan.ptr[bufSync]+driver.Ptr(4*(b.number%queues)), data(length), 4); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(newest)
	runtime.KeepAlive(length)
	return err
}

// queueRows makes the queue of the newest burst's fire queue, which lies where those of single bursts do.
func (b *backend) queueRows(length int) error {
	x := &b.batch
	x.queueRowsArgs = queueRowsArgs{run: x.args.run, fired: b.queue(b.before(1)), length: uint32(length)}
	if err := x.queueRows.Launch(uint32(divUp(uint64(length), uint64(b.tune.threads))), b.tune.threads, x.queueRowsParams, b.stream); err != nil {
		return fmt.Errorf("queue_rows: %w", err)
	}
	return nil
}

// spreadValues are the values of a launch's burst in the places of all that are wanted: a process has those of its own neurons.
func (b *backend) spreadValues(own []float32) []float32 {
	if len(own) == len(b.want.Values) {
		return own
	}
	x := &b.batch
	x.spread = slices.Grow(x.spread[:0], len(b.want.Values))
	for _, p := range b.want.Values {
		value := float32(0)
		if b.c.Part.Owns(p.Neuron) {
			value, own = own[0], own[1:]
		}
		x.spread = append(x.spread, value)
	}
	return x.spread
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
