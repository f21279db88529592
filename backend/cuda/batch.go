package cuda

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
)

// grid is the shape of a launch whose blocks all run at once, in clusters of the given size.
type grid struct {
	blocks, threads, cluster uint32
	shared                   uint32 // bytes of a block's memory
	clusters                 driver.Clusters
}

// clusterCapability is the lowest compute capability of devices with clusters of several blocks.
const clusterCapability = 90

// usualCluster is how many blocks a cluster may have on every device that has clusters.
const usualCluster = 8

// ready makes a kernel ready for such launches, and reports whether a device with so many multiprocessors runs all blocks at once.
func (g *grid) ready(k *driver.Function, sms int) (fits bool, err error) {
	if err := k.AllowShared(g.shared); err != nil {
		return false, err
	}
	if g.cluster == 1 {
		each, err := k.BlocksPerSM(g.threads, g.shared)
		return each*sms >= int(g.blocks), err
	}
	if g.cluster > usualCluster {
		if err := k.AllowClusters(); err != nil {
			return false, err
		}
	}
	clusters, err := k.MostClusters(g.threads, g.shared, g.cluster)
	return clusters*int(g.cluster) >= int(g.blocks), err
}

// launch queues a kernel.
func (g *grid) launch(k *driver.Function, a *driver.Arguments, s *driver.Stream) error {
	if g.cluster > 1 {
		return k.LaunchClusters(&g.clusters, g.blocks, g.threads, g.shared, g.cluster, a, s)
	}
	return k.LaunchCooperative(g.blocks, g.threads, g.shared, a, s)
}

// program is a kernel of many bursts with its arguments.
type program struct {
	kernel *driver.Function
	params *driver.Arguments
}

// batch runs many bursts in one launch (choose.go). While it is on, the device holds the sums of later bursts in a ring, and the host holds
// the fire queues that a state needs.
type batch struct {
	module *driver.Module // that of the kernels

	program
	catchUp, queueRows             *driver.Function
	cutRows                        *driver.Function // of teams
	catchUpParams, queueRowsParams *driver.Arguments
	args                           runArgs
	catchUpArgs                    catchUpArgs
	queueRowsArgs                  queueRowsArgs
	grid

	host   *driver.HostMemory
	base   driver.Ptr // where kernels find it
	ids    []uint32   // of two launches by turns: of each block its ids, or a bit a neuron (host_room of kernels/run.cuh)
	fired  []uint32   // of each block how many of its neurons fired
	done   []uint64
	stamps []uint64  // by the device's clock
	values []float32 // of each burst the wanted state variables of the device's own neurons
	shape  ringShape
	lister lister

	on      bool
	stamp   uint64        // of the newest burst, 0 where the kernel has no clock
	took    time.Duration // between the newest burst and the one before
	history [][]uint32    // history[d-1] is the fire queue d bursts ago, while on
	joiner  joiner
	part    connectome.Part
	burst   engine.Burst

	joined []uint64  // bursts whose fire queues the host has got from other processes, and the device has not
	others []uint32  // scratch of deliverJoined
	ends   []int     // and of each burst where its neurons end
	spread []float32 // of spreadValues
}

// ringSlots is how many bursts' sums the ring holds, and ringBytes their size.
func ringSlots(maxDelay int) uint64             { return 1 << bits.Len(uint(maxDelay)) }
func ringBytes(c *connectome.Connectome) uint64 { return ringSlots(c.MaxDelay) * uint64(c.Ports) * 4 }

// addBatch adds the memory of launches of many bursts to the plan.
func (p *plan) addBatch(b *backend, t *tables) {
	c, s := b.c, b.ringShape()
	slots, ports := b.sumSlots()
	p.bytes[bufRing] = slots * ports * 4
	if b.choice.path == pathSums { // nothing is in a ring
		p.bytes[bufRing] = 0
	}
	if b.choice.path == pathEvent {
		p.addEvents(b)
	} else if b.exchanges() {
		p.planExchange(b, s.blocks)
	} else {
		p.bytes[bufQueue] = spikeBytes * uint64(c.Neurons)
	}
	if s.list.room > 0 {
		p.bytes[bufLists], p.bytes[bufNotes] = 2*s.most*s.list.bytes(), s.list.notes
		p.bytes[bufSpans], p.bytes[bufSpanCounts] = size(s.list.spans)+size(s.list.first), 2*4*uint64(len(s.list.spans))
	}
	if s.values > 0 {
		p.bytes[bufProbes] = probeBytes*s.values + 4*(s.blocks+1)
	}
	if b.choice.waits > 0 {
		p.bytes[bufWaits] = (waitsFromBytes + waitingBytes*b.tune.waitRows) * s.blocks
	}
	p.bytes[bufLocal] = b.choice.local
	p.bytes[bufSync] = haltAt + 8
	switch b.choice.path {
	case pathLate:
		p.bytes[bufLate] = b.lateBytes()
	case pathSums:
		p.bytes[bufLate] = 2 * turnsBytes
	}
	if b.choice.path.early() {
		p.bytes[bufSoon] = 4 * uint64(c.Neurons)
		if b.rows.delays > 0 {
			p.bytes[bufLater] = 2 * spikeBytes * uint64(c.Neurons)
		}
	}
	if sum := &b.choice.teams; sum.count > 0 {
		p.bytes[bufCut], p.bytes[bufTeamSums] = 4*uint64(c.Neurons)*(sum.count+1), 4*sum.size*sum.count*sum.ports
	}
	p.bytes[bufStimuli], p.bytes[bufInjected] = size(t.stimuli), size(t.injected)
}

// startBatch loads the chosen kernel and makes its launches ready. A device on which its grid does not fit goes without.
func (b *backend) startBatch(t *tables) error {
	if !b.many() {
		return nil
	}
	x := &b.batch
	s := b.ringShape()
	x.grid = grid{blocks: uint32(s.blocks), threads: b.threads(), shared: uint32(b.choice.shared), cluster: uint32(max(1, b.rows.shape.size))}
	if b.choice.gather {
		x.cluster = x.blocks
	}
	if err := b.loadBatch(t); err != nil {
		return err
	}
	fits, err := x.ready(x.kernel, b.sms)
	if err != nil || !fits {
		b.choice = choice{path: pathSingle, why: fmt.Sprintf("the device does not run %d blocks of %s at once", x.blocks, b.choice.path.kernel(b.c)), not: b.choice.not}
		return err
	}
	if err := x.allocate(b, &s); err != nil {
		return err
	}
	b.bindBatch(t, uint32(s.own))
	if b.exchanges() && b.share.devices <= 1 {
		if err := b.link([]*backend{b}, 0); err != nil {
			return err
		}
	}
	if b.choice.path == pathTeams {
		return b.cutRows()
	}
	return nil
}

// loadBatch loads the chosen kernel.
func (b *backend) loadBatch(t *tables) error {
	x := &b.batch
	names := []string{b.choice.path.kernel(b.c), "catch_up", "queue_rows"}
	switch b.choice.path {
	case pathTeams:
		names = append(names, "cut_rows")
	case pathEvent, pathLate, pathSums:
		names = names[:2]
	}
	functions := len(names)
	if b.choice.path == pathLocal && b.want.Stimuli {
		names = append(names, lastingLocal)
	}
	var err error
	if b.choice.path == pathClusters && !b.choice.outside {
		x.module = b.clusterCode // by which clusters were counted
	} else if x.module, err = b.loadMany(names, t.models); err != nil {
		return err
	} else if b.clusterCode != nil {
		err = b.clusterCode.Unload()
	}
	if b.clusterCode = nil; err != nil {
		return err
	}
	for i, f := range []**driver.Function{&x.kernel, &x.catchUp, &x.queueRows, &x.cutRows}[:functions] {
		if *f, err = x.module.Function(names[i]); err != nil {
			return err
		}
	}
	return nil
}

// loadMany brings kernels of launches of many bursts onto the device.
func (b *backend) loadMany(names []string, models []ownModel) (*driver.Module, error) {
	switch b.choice.path {
	case pathLearn, pathRanges:
	case pathLocal:
		l, _ := b.layLearning(0, b.choice.near)
		return b.loadLearning(b.localImage, names, l, models)
	case pathEvent:
		return b.loadFrom(b.eventImage.PTX(), b.eventImage.Name, names, nil)
	case pathLate, pathSums:
		return b.loadFrom(b.lateImage.PTX(), b.lateImage.Name, names, nil)
	default:
		return b.loadOnly(names, models)
	}
	l, _ := b.layLearning(0, b.choice.near)
	return b.loadLearning(b.learnImage, names, l, models)
}

// allocate takes the mapped memory in which bursts arrive.
func (x *batch) allocate(b *backend, s *ringShape) error {
	var err error
	x.shape = *s
	x.part, x.joiner.from = b.c.Part, []*batch{x}
	n, at := 2*s.most, s.at()
	if x.host, err = b.ctx.AllocHost(int(at.end), true); err != nil {
		x.host = nil
		return err
	}
	if x.base, err = x.host.DevicePtr(); err != nil {
		return err
	}
	m := unsafe.Pointer(unsafe.SliceData(x.host.Bytes()))
	x.done = unsafe.Slice((*uint64)(m), n)
	x.stamps = unsafe.Slice((*uint64)(unsafe.Add(m, at.stamps)), n)
	x.fired = unsafe.Slice((*uint32)(unsafe.Add(m, at.fired)), n*s.blocks)
	x.ids = unsafe.Slice((*uint32)(unsafe.Add(m, at.ids)), n*s.words())
	x.values = unsafe.Slice((*float32)(unsafe.Add(m, at.values)), n*s.values)
	if err := b.uploadProbes(); err != nil || s.list.room == 0 {
		return err
	}
	x.lister.totals = unsafe.Slice((*uint32)(unsafe.Add(m, at.totals)), n)
	x.lister.shape = s.list
	return x.lister.allocate(b)
}

// free gives the page-locked memory back.
func (x *batch) free() error {
	for _, p := range []*driver.Arguments{x.params, x.catchUpParams, x.queueRowsParams} {
		if p != nil {
			p.Release()
		}
	}
	return freeHost(&x.host)
}

// StepN advances n bursts with the genome's stimuli alone. It calls each for one burst after the other while later ones run. If each
// returns an error, the bursts that have begun are completed.
func (b *backend) StepN(n int, each func(*engine.Burst) error) error {
	if b.fault != nil {
		return b.fault
	}
	if err := b.ctx.Enter(); err != nil {
		return b.failed("stepping", err)
	}
	defer b.ctx.Leave()
	var refused error
	err := b.launchAll(uint64(n), func(out *engine.Burst) {
		if refused == nil {
			refused = each(out)
		}
	}, func() bool { return refused != nil })
	if err != nil {
		return b.failed("stepping", err)
	}
	return refused
}

// CanStepN reports whether StepN may be used.
func (b *backend) CanStepN() bool { return b.many() }

// launchAll keeps one launch running while another one's bursts are delivered.
func (b *backend) launchAll(n uint64, each func(*engine.Burst), stop func() bool) error {
	if err := b.lasting.end(b); err != nil {
		return err
	}
	if err := b.turnOn(n); err != nil {
		return err
	}
	x := &b.batch
	launched, first := uint64(0), b.number
	half := 0
	var sizes [2]uint64
	launch := func(k int) error {
		sizes[k] = 0
		if launched == n || stop() {
			return nil
		}
		sizes[k] = min(x.shape.most, n-launched)
		if err := b.launchBatch(&x.program, k, first+launched, sizes[k]); err != nil {
			return err
		}
		launched += sizes[k]
		return nil
	}
	if err := launch(0); err != nil {
		return err
	}
	for sizes[half] > 0 {
		if err := launch(1 - half); err != nil {
			return err
		}
		if err := b.deliverHalf(half, sizes[half], each); err != nil {
			return err
		}
		half = 1 - half
	}
	return nil
}

// launchBatch queues a launch of bursts into one half of the mapped memory.
func (b *backend) launchBatch(e *program, half int, first, bursts uint64) error {
	x := &b.batch
	s := &x.shape
	done := x.done[uint64(half)*s.most:][:bursts]
	for i := range done {
		atomic.StoreUint64(&done[i], 0)
	}
	r, at, base, h := &x.args.run, s.at(), x.base, uint64(half)*s.most
	r.done, r.stamps = base+driver.Ptr(8*h), base+driver.Ptr(at.stamps+8*h)
	r.fired = base + driver.Ptr(at.fired+4*h*s.blocks)
	r.ids = base + driver.Ptr(at.ids+4*h*s.words())
	r.wanted.values = base + driver.Ptr(at.values+4*h*s.values)
	r.first, r.bursts = first, bursts
	x.args.events.at = uint32(first % b.depth())
	if l := &s.list; l.room > 0 {
		r.list.lists = b.plan.ptr[bufLists] + driver.Ptr(h*l.bytes())
		r.list.totals = base + driver.Ptr(at.totals+4*h)
	}
	if err := b.moving.bring(b, first, bursts+1); err != nil { // a launch looks one burst ahead
		return err
	}
	if err := x.launch(e.kernel, e.params, b.stream); err != nil {
		return fmt.Errorf("path %s: %w", b.choice.path, err)
	}
	r.arrived, r.arrivedNext = r.arrivedNext, r.arrived
	l := &x.args.late
	l.told, l.toldNext = l.toldNext, l.told
	x.args.sums.told, x.args.sums.toldNext = x.args.sums.toldNext, x.args.sums.told
	return nil
}

// deliverHalf delivers the bursts of a launch, one by one as they come.
func (b *backend) deliverHalf(half int, bursts uint64, each func(*engine.Burst)) error {
	x, at := &b.batch, uint64(half)*b.batch.shape.most
	if x.lister.shape.room > 0 {
		return b.deliverLists(at, bursts, each)
	}
	for k := range bursts {
		if err := b.poll(&x.done[at+k], b.number); err != nil {
			return err
		}
		x.take(b, at+k)
		each(&x.burst)
	}
	return nil
}

// take makes the at-th burst of two launches, which is there, the newest fire queue.
func (x *batch) take(b *backend, at uint64) {
	if x.took = 0; x.stamp > 0 {
		x.took = time.Duration(x.stamps[at] - x.stamp)
	}
	x.stamp = x.stamps[at]
	x.keep(b, x.queue(at, x.history[len(x.history)-1]), at)
}

// keep makes who fired in the at-th burst of two launches, in the memory of the oldest fire queue, the newest one.
func (x *batch) keep(b *backend, fired []uint32, at uint64) {
	copy(x.history[1:], x.history)
	x.history[0] = fired
	x.burst = engine.Burst{Number: b.number, Fired: fired, Values: b.spreadValues(x.valuesIn(at))}
	b.number++
}

// valuesIn are the wanted state variables of the device's own neurons after the at-th burst of two launches.
func (x *batch) valuesIn(at uint64) []float32 {
	n := x.shape.values
	if n == 0 {
		return nil
	}
	return x.values[at*n:][:n:n]
}

// wordsIn is the room of a block at its place in a burst.
func (x *batch) wordsIn(place uint64) []uint32 {
	return x.ids[place*x.shape.room:][:x.shape.room]
}

// BurstTime is the time, by the device's clock, between the ends of the newest burst that StepN has delivered and of the one before. It is
// 0 if there is no such time, or if copying lists to the host takes longest.
func (b *backend) BurstTime() time.Duration {
	if !b.choice.path.keepsState() || b.want.FCL {
		return 0
	}
	return b.batch.took
}

// poll waits until burst number is announced.
func (b *backend) poll(done *uint64, number uint64) error {
	return b.wait(func() bool { return atomic.LoadUint64(done) == number+1 })
}

// wait waits for what a launch tells; after a while it lets the driver say whether the launch failed.
func (b *backend) wait(told func() bool) error {
	var start time.Time
	for spins := 1; !told(); spins++ {
		if spins%4096 != 0 {
			continue
		}
		if start.IsZero() {
			start = time.Now()
		}
		if time.Since(start) < b.tune.patience {
			runtime.Gosched()
			continue
		}
		if err := b.stream.Synchronize(); err != nil {
			return err
		}
		if !told() {
			return errors.New("a launch ended without its bursts")
		}
	}
	return nil
}

// turnOn makes the ring of the fire queues on the device, for so many bursts.
func (b *backend) turnOn(bursts uint64) error {
	x := &b.batch
	apart := b.apartFor(bursts)
	if x.on && apart == x.args.ranges.apart {
		return b.tellJoined()
	}
	if err := b.turnOff(); err != nil {
		return err
	}
	if !b.many() {
		return errors.New("this network has no launches of many bursts")
	}
	p := &b.plan
	if len(x.history) == 0 {
		x.history = make([][]uint32, b.c.Queues())
	}
	if err := b.downloadQueues(x.history); err != nil {
		return err
	}
	if n := p.bytes[bufRing]; n > 0 { // a network without ports has no sums
		if err := b.stream.Fill(p.ptr[bufRing], 0, n); err != nil {
			return err
		}
	}
	if n := p.bytes[bufLate]; b.choice.path == pathSums {
		if err := b.stream.Fill(p.ptr[bufLate], 0, n); err != nil {
			return err
		}
	}
	if b.choice.path.early() { // entries are looked at before it is known how many there are
		for _, of := range []slot{bufQueue, bufLater, bufLate} {
			if n := p.bytes[of]; n > 0 {
				if err := b.stream.Fill(p.ptr[of], 0, n); err != nil {
					return err
				}
			}
		}
	}
	first := 2
	switch b.choice.path {
	case pathDelayed, pathLate: // their queues begin empty
		first = 1
	case pathEvent: // its rows are delivered later
		first = int(b.rows.least) + 1
	case pathRanges:
		first = int(max(1, apart)) + 1
	}
	for d := first; d <= b.longestDelay(); d++ {
		if len(x.history[d-1]) == 0 || b.rows.synapses == 0 {
			continue
		}
		if err := b.catchUp(b.queue(b.before(uint64(d))), len(x.history[d-1]), uint64(d)); err != nil {
			return err
		}
	}
	if b.choice.waits > 0 { // what is due later than in the next burst is in the ring
		if err := b.stream.Fill(p.ptr[bufWaits], 0, waitsFromBytes*uint64(x.blocks)); err != nil {
			return err
		}
	}
	queued, newest := uint32(0), uint32(len(x.history[0]))
	if b.choice.path == pathEvent {
		if err := b.tellDue(); err != nil {
			return err
		}
	} else if b.exchanges() {
		if err := b.tellQueues(x.history); err != nil {
			return err
		}
	} else if !b.choice.path.early() && b.choice.path != pathRanges && newest > 0 {
		queued = newest
		if err := b.queueRows(int(newest)); err != nil {
			return err
		}
	}
	if b.learning != nil {
		x.args.learners, x.args.ranges = b.learning.all, b.learning.ranges
		x.args.ranges.apart, x.args.ranges.launches = apart, b.learning.launches(apart)
		if err := b.tellLengths(); err != nil {
			return err
		}
		if b.number > 0 {
			if err := b.count(b.number - 1); err != nil {
				return err
			}
		}
		if b.choice.path == pathLocal && b.number > 0 { // its launches begin without pending events
			if err := b.sweep(b.number-1, func(*learner, uint64) bool { return true }); err != nil {
				return err
			}
		}
	}
	lengths := [queues]uint32{}
	lengths[b.number%queues] = queued
	if err := b.stream.Upload(p.ptr[bufSync], unsafe.Pointer(&lengths), 4*queues); err != nil {
		return err
	}
	if err := b.stream.Fill(p.ptr[bufSync]+arrivedAt, 0, haltAt+8-arrivedAt); err != nil {
		return err
	}
	x.on, x.stamp, x.joined = true, 0, x.joined[:0]
	return b.stream.Synchronize()
}

// turnOff brings the fire queues back to where single bursts look for them.
func (b *backend) turnOff() error {
	x := &b.batch
	if !x.on {
		return nil
	}
	x.on = false
	return b.uploadQueues(x.history)
}

// downloadQueues copies the fire queues of the device.
func (b *backend) downloadQueues(queues [][]uint32) error {
	for i := range queues {
		number := b.before(uint64(i) + 1)
		q := slices.Grow(queues[i][:0], int(b.lengths[number]))[:b.lengths[number]]
		queues[i] = q
		if len(q) > 0 {
			if err := b.stream.Download(data(q), b.queue(number), size(q)); err != nil {
				return err
			}
		}
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(queues)
	return err
}

// uploadQueues replaces the fire queues of the device.
func (b *backend) uploadQueues(queues [][]uint32) error {
	for i, q := range queues {
		number := b.before(uint64(i) + 1)
		b.lengths[number] = uint64(len(q))
		if len(q) > 0 {
			if err := b.stream.Upload(b.queue(number), data(q), size(q)); err != nil {
				return err
			}
		}
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(queues)
	return err
}
