package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
)

// group is one network on several devices of this process, with a part on each. Single bursts are exchanged through the host. In launches
// of many bursts, the devices store the ids of neurons that fired into each other's memory (kernels/exchange.cuh).
type group struct {
	c       *connectome.Connectome
	want    engine.Want
	parts   []*backend
	stop    *driver.HostMemory // tells launches not to wait any more
	in      [][]engine.Stimulus
	out     []engine.Burst
	fired   []uint32 // the newest fire queue, while it is being uploaded
	scratch engine.State
	values  []float32  // the newest burst's
	history [][]uint32 // of all parts, while their batches are on
	spare   spares
	fault   error
	lost    bool
}

// PeerError says that two devices cannot use each other's memory.
type PeerError struct{ Device, Peer int }

func (e *PeerError) Error() string {
	return fmt.Sprintf("device %d cannot use the memory of device %d; name devices of one host that are linked (`nvidia-smi topo -p2p r` lists them)", e.Device, e.Peer)
}

// Unwrap says that these devices are not available together.
func (e *PeerError) Unwrap() error { return driver.ErrUnavailable }

// Parts makes the parts of a network for the devices that share it; connectome.Parts makes them from a genome.
type Parts interface {
	// Of is how many there are.
	Of() int
	// Head is the network without synapses and bounds, which is known before any part is made. Its longest delay is a lower bound.
	Head() *connectome.Connectome
	// Least is how many synapses a part surely has.
	Least(connectome.Part) uint64
	// Each makes all parts, maybe at the same time, and calls use with each, after which nothing of the part is used any more.
	Each(use func(*connectome.Connectome) error) error
	// Whole is the network without its synapses, once all parts are made.
	Whole() (*connectome.Connectome, error)
}

// OpenParts opens a network on several devices, each of which holds a part; one device alone holds all of it. The devices must be able to
// use each other's memory. Afterwards parts.Whole() describes the network. As far as possible, what cannot be opened is refused before
// anything is built. m is the Maker of the parts, whose rows stay on the devices if they can; nil: the host builds.
func OpenParts(parts Parts, devices []int, m *Maker, w engine.Want) (engine.Backend, error) {
	return openParts(parts, devices, m, w, defaults)
}

func openParts(parts Parts, devices []int, m *Maker, w engine.Want, tune tuning) (engine.Backend, error) {
	if err := checkDevices(devices); err != nil {
		return nil, err
	}
	k := len(devices)
	if parts.Of() != k {
		return nil, fmt.Errorf("cuda: a network in %d parts for %d devices, want a part for each", parts.Of(), k)
	}
	g := &group{c: parts.Head(), want: w, in: make([][]engine.Stimulus, k), out: make([]engine.Burst, k)}
	if err := g.attach(devices, tune); err != nil {
		return nil, errors.Join(unavailable(err), g.letGo())
	}
	if err := g.start(parts, m); err != nil {
		return nil, errors.Join(err, g.drop())
	}
	if k == 1 {
		return g.parts[0], nil
	}
	if err := g.link(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// checkDevices refuses lists that make no sense on any machine.
func checkDevices(list []int) error {
	if len(list) == 0 {
		return errors.New("cuda: no devices for a network, want at least 1")
	}
	if len(list) > mostDevices {
		return fmt.Errorf("cuda: %d devices, want at most %d", len(list), mostDevices)
	}
	for i, d := range list {
		if slices.Contains(list[:i], d) {
			return fmt.Errorf("cuda: device %d is named twice", d)
		}
	}
	return nil
}

// attach takes hold of the devices, which all get the same grid.
func (g *group) attach(devices []int, tune tuning) error {
	for i, device := range devices {
		b := &backend{want: g.want, tune: tune, share: share{devices: len(devices), self: i}}
		b.isPartOf(g.c)
		if err := b.attach(device); err != nil {
			return err
		}
		g.parts = append(g.parts, b)
		for _, other := range g.parts[:i] {
			if err := checkPeers(b.device, other.device); err != nil {
				return err
			}
		}
	}
	first := g.parts[0]
	sms, room, ring := first.sms, first.room, first.ringRoom
	for _, b := range g.parts {
		sms, room, ring = min(sms, b.sms), min(room, b.room), min(ring, b.ringRoom)
	}
	for _, b := range g.parts {
		b.sms, b.room, b.ringRoom = sms, room, ring
	}
	return nil
}

// checkPeers refuses devices of which one cannot use the other's memory.
func checkPeers(a, b *driver.Device) error {
	for range 2 {
		can, err := a.CanAccessPeer(b)
		if err != nil {
			return err
		}
		if !can {
			return &PeerError{a.Index(), b.Index()}
		}
		a, b = b, a
	}
	return nil
}

// letGo releases devices that hold nothing yet.
func (g *group) letGo() error {
	var errs []error
	for _, b := range g.parts {
		errs = append(errs, b.ctx.Release())
	}
	return errors.Join(errs...)
}

// isPartOf gives the device its part of a network whose synapses are not here.
func (b *backend) isPartOf(c *connectome.Connectome) {
	own := *c
	own.Part = connectome.Part{Index: b.share.self, Of: b.share.devices}
	b.c = &own
}

// start builds the parts, whose synapses the host holds one after the other and GPUs at the same time. It first tries everything that can
// fail on a device. What needs the whole network is done last, on all devices at the same time.
func (g *group) start(parts Parts, m *Maker) error {
	made := make([]*tables, len(g.parts))
	err := g.beside(func(b *backend) (err error) {
		if made[b.share.self], err = b.begin(); err != nil {
			return err
		}
		return b.checkLeast(parts.Least(b.c.Part), made[b.share.self])
	})
	if err != nil {
		return err
	}
	if err := g.agree(parts.Least(connectome.Part{}), made); err != nil {
		return err
	}
	m.into(g.parts)
	err = parts.Each(func(c *connectome.Connectome) error {
		i := c.Part.Index
		b := g.parts[i]
		if err := g.enter(b, func() error { return b.takeRows(c, m, made[i]) }); err != nil {
			return b.named(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if g.c, err = parts.Whole(); err != nil {
		return err
	}
	lag := uint64(0)
	for _, b := range g.parts {
		lag = max(lag, b.rows.lag())
	}
	return g.beside(func(b *backend) error {
		b.isPartOf(g.c)
		b.share.lag = lag
		return b.finish(made[b.share.self])
	})
}

// agree gives all devices the grid of clusters of four blocks, before their rows are known, if such clusters suit the smallest number of
// synapses that the network can have and every device can run so many clusters.
func (g *group) agree(synapses uint64, made []*tables) error {
	row := synapses / uint64(max(1, g.c.Neurons)) // of all devices together
	first := g.parts[0]
	q := question{b: first, c: first.c}
	if len(g.parts) == 1 || row < uint64(first.tune.clusterRow) || g.c.MaxDelay != 1 || q.lacks([]want{many, placeable}) != "" {
		return nil
	}
	before := g.parts[0].sms
	grid := before
	for _, b := range g.parts {
		if err := g.enter(b, func() error { return b.countClusters(g.c) }); err != nil {
			return err
		}
		if short := b.isShort(row / uint64(len(g.parts))); b.clusterSizes(g.c, short)[0] != 4 || b.clusters[4] == 0 {
			return nil
		}
		grid = min(grid, 4*int(b.clusters[4]))
	}
	agreed := true
	for i, b := range g.parts {
		b.sms = grid
		fits := func(rounds uint64) bool { return b.clusterShape(b.c, made[i], 4, rounds).count > 0 }
		agreed = agreed && slices.ContainsFunc(b.roundsOf(b.c), fits)
	}
	for _, b := range g.parts {
		if b.share.short = agreed; !agreed {
			b.sms = before
		}
	}
	return nil
}

// checkLeast refuses a part that the device has no room for, going by what is known before it is built.
func (b *backend) checkLeast(synapses uint64, t *tables) error {
	b.rows = b.leastRows(synapses)
	b.makePlan(t)
	m, err := b.plan.compare(b.ctx)
	if err == nil && m.Need > m.Free {
		m.Least = true
		return m
	}
	return err
}

// beside does something with all devices at once; the error is that of all.
func (g *group) beside(do func(b *backend) error) error {
	errs := make([]error, len(g.parts))
	var all sync.WaitGroup
	for i, b := range g.parts {
		all.Go(func() {
			if err := g.enter(b, func() error { return do(b) }); err != nil {
				errs[i] = b.named(err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// drop releases devices that are not linked yet, whatever they hold.
func (g *group) drop() error {
	var errs []error
	for _, b := range g.parts {
		if err := b.ctx.Enter(); err != nil {
			errs = append(errs, err, b.ctx.Release())
			continue
		}
		errs = append(errs, b.release())
		b.ctx.Leave()
	}
	return errors.Join(errs...)
}

// link lets the devices use each other's memory.
func (g *group) link() error {
	if !g.CanStepN() {
		return nil
	}
	var stop driver.Ptr
	err := g.enter(g.parts[0], func() (err error) {
		if g.stop, err = g.parts[0].ctx.AllocHost(8, true); err != nil {
			g.stop = nil
			return err
		}
		clear(g.stop.Bytes())
		stop, err = g.stop.DevicePtr()
		return err
	})
	if err != nil {
		return err
	}
	return g.each(func(b *backend) error { return b.link(g.parts, stop) })
}

// enter does something with a part's device.
func (g *group) enter(b *backend, do func() error) error {
	if err := b.ctx.Enter(); err != nil {
		return err
	}
	defer b.ctx.Leave()
	return do()
}

// each does something with every device in turn; the error is the first one's.
func (g *group) each(do func(b *backend) error) error {
	for _, b := range g.parts {
		if err := g.enter(b, func() error { return do(b) }); err != nil {
			return b.failed("stepping", err)
		}
	}
	return nil
}

// failed keeps the first failure, since which the state is not known.
func (g *group) failed(err error) error {
	if g.fault == nil {
		g.fault = err
		var e *engine.DeviceError
		g.lost = errors.As(err, &e) && e.Lost
	}
	return g.fault
}

// Device names the GPUs.
func (g *group) Device() string {
	numbers := make([]string, len(g.parts))
	for i, b := range g.parts {
		numbers[i] = fmt.Sprint(b.device.Index())
	}
	return fmt.Sprintf("%d × %s (devices %s)", len(g.parts), g.parts[0].Device(), strings.Join(numbers, ", "))
}

// Close frees what the devices hold.
func (g *group) Close() error {
	var errs []error
	for _, b := range g.parts { // whose launches store into each other's memory to their end
		errs = append(errs, g.enter(b, b.stream.Synchronize))
	}
	if g.stop != nil {
		errs = append(errs, g.enter(g.parts[0], func() error { return freeHost(&g.stop) }))
	}
	for _, b := range g.parts {
		errs = append(errs, b.Close())
	}
	if g.fault != nil && g.lost {
		return g.fault
	}
	return errors.Join(errs...)
}
