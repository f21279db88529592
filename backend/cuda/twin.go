package cuda

import (
	"sync"

	"burst/connectome"
	"burst/engine"
)

// held is what several backends of one network share: the rows on a device, which the last one that is closed frees, and twins to be used
// again.
type held struct {
	mu    sync.Mutex
	users int
	first *backend   // nil once it is closed
	idle  []*backend // twins that were closed, while the first is open
}

// Twin opens a backend on the same device for c, which is b's network with another run seed. It uses b's rows, which no kernel writes, and
// has state, lists, tables and a stream of its own. Either may be closed first. A twin that was closed is used again, until the first
// backend of the network is closed: to take memory and load kernels takes longer than to write a state.
func (b *backend) Twin(c *connectome.Connectome) (engine.Backend, error) {
	if t := b.held.takeIdle(); t != nil {
		t.c = c
		t.args.inject.seed, t.args.dynamics.network.seed, t.batch.args.run.network.seed = c.RunSeed, c.RunSeed, c.RunSeed
		if err := t.WriteState(engine.NewState(c)); err == nil {
			return t, nil
		}
		t.Close() // another may do better
	}
	t := &backend{
		c: c, want: b.want, tune: b.tune, device: b.device, learnImage: b.learnImage, localImage: b.localImage, drivenImage: b.drivenImage, lastingImage: b.lastingImage,
		eventImage: b.eventImage,
		lateImage:  b.lateImage,
		sms:        b.sms, single: b.single, room: b.room, ringRoom: b.ringRoom, clusters: b.clusters, cluster: b.cluster, rows: b.rows, drivenRows: b.drivenRows,
	}
	err := t.selectUnit() // that of single bursts: b may have chosen another since
	if err != nil {
		return nil, err
	}
	if t.ctx, err = b.device.Retain(); err != nil {
		return nil, unavailable(err)
	}
	t.held = b.held
	t.held.mu.Lock()
	t.held.users++
	t.held.mu.Unlock()
	copy(t.plan.ptr[:lastOfRows+1], b.plan.ptr[:lastOfRows+1])
	return t.start()
}

// takeIdle is a twin that was closed, or nil.
func (h *held) takeIdle() *backend {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.idle)
	if n == 0 {
		return nil
	}
	t := h.idle[n-1]
	h.idle = h.idle[:n-1]
	return t
}

// keep keeps a twin, which does nothing, for another run seed. It says whether it does.
func (h *held) keep(t *backend) bool {
	if h == nil { // of several devices
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == nil || h.first == t {
		return false
	}
	h.idle = append(h.idle, t)
	return true
}

// leave says that a backend is closed. If it is the first, the twins are that are kept and were closed before.
func (h *held) leave(b *backend) (idle []*backend) {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first != b {
		return nil
	}
	idle, h.first, h.idle = h.idle, nil, nil
	return idle
}

// freePlan frees the memory on the device, but for rows that others use yet.
func (b *backend) freePlan() error {
	if b.held != nil {
		b.held.mu.Lock()
		defer b.held.mu.Unlock()
		if b.held.users--; b.held.users > 0 {
			clear(b.plan.ptr[:lastOfRows+1])
		}
	}
	return b.plan.free(b.ctx)
}
