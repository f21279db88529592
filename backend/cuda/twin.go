package cuda

import (
	"sync"

	"burst/connectome"
	"burst/engine"
)

// held are the rows on a device that several backends of one network use. The last one that is closed frees them.
type held struct {
	mu    sync.Mutex
	users int
}

// Twin opens a backend on the same device for c, which is b's network with another run seed. It uses b's rows, which no kernel writes, and
// has state, lists, tables and a stream of its own. Either may be closed first.
func (b *backend) Twin(c *connectome.Connectome) (engine.Backend, error) {
	t := &backend{
		c: c, want: b.want, tune: b.tune, device: b.device, learnImage: b.learnImage, drivenImage: b.drivenImage, lastingImage: b.lastingImage,
		eventImage: b.eventImage,
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
