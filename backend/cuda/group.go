package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"burst/backend/cuda/driver"
	"burst/connectome"
	"burst/engine"
)

// group is one network on several devices of this process, a part of it on each. Single bursts are exchanged through the
// host; in launches of many the devices tell each other who fired (kernels/exchange.cuh).
type group struct {
	c       *connectome.Connectome
	want    engine.Want
	parts   []*backend
	stop    *driver.HostMemory // tells launches not to wait any more
	in      [][]engine.Stimulus
	out     []engine.Burst
	fired   []uint32 // the newest fire queue, while it is being uploaded
	scratch engine.State
	history [][]uint32 // of all parts, while their batches are on
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

// openGroup cuts c into a part for each device and uploads them side by side.
func openGroup(c *connectome.Connectome, o Options, tune tuning) (engine.Backend, error) {
	if err := checkDevices(o.Devices); err != nil {
		return nil, err
	}
	if !c.Part.Whole() {
		return nil, fmt.Errorf("cuda: part %d of %d of a network on %d devices, want one device", c.Part.Index, c.Part.Of, len(o.Devices))
	}
	k := len(o.Devices)
	g := &group{c: c, want: o.Want, in: make([][]engine.Stimulus, k), out: make([]engine.Burst, k)}
	if err := g.attach(o, tune); err != nil {
		return nil, errors.Join(unavailable(err), g.letGo())
	}
	if err := g.start(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// checkDevices refuses lists that make no sense on any machine.
func checkDevices(list []int) error {
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
func (g *group) attach(o Options, tune tuning) error {
	fewest := 0
	for i, device := range o.Devices {
		b := &backend{c: g.c, want: o.Want, tune: tune, share: share{devices: len(o.Devices), self: i}}
		if err := b.attach(device); err != nil {
			return err
		}
		g.parts = append(g.parts, b)
		if fewest = b.sms; i > 0 {
			fewest = min(fewest, g.parts[0].sms)
		}
		for _, other := range g.parts[:i] {
			if err := checkPeers(b.device, other.device); err != nil {
				return err
			}
		}
	}
	for _, b := range g.parts {
		b.sms = fewest
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

// start cuts one part after the other and uploads it while the next is cut. Parts that cannot be started are left out of
// the group, so that Close frees the others.
func (g *group) start() error {
	errs := make([]error, len(g.parts))
	started := make([]*backend, len(g.parts))
	var cutting sync.Mutex
	var all sync.WaitGroup
	for i, b := range g.parts {
		all.Go(func() {
			cutting.Lock()
			b.c = g.c.Cut(connectome.Part{Index: i, Of: len(g.parts)})
			cutting.Unlock()
			if _, errs[i] = b.start(); errs[i] == nil {
				started[i] = b
				uploaded := *b.c
				uploaded.Target, uploaded.Weight, uploaded.Delay = nil, nil, nil
				b.c = &uploaded
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		g.parts = slices.DeleteFunc(started, func(b *backend) bool { return b == nil })
		return err
	}
	return g.link()
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
