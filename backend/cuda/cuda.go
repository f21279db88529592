// Package cuda advances a network on an NVIDIA GPU by the law of package engine, with the same bits as the reference. The
// connectome and the state are uploaded once; a burst launches the kernels of package kernels on one stream, waits once,
// and brings the fire queue and, where wanted, the fire candidate list back. It needs no cgo and no CUDA toolkit: package
// driver finds the NVIDIA driver at run time.
package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
	"burst/internal/quanta"
	"burst/kernels"
)

// Options of Open; the zero value uses the first device and delivers no FCL.
type Options struct {
	Device int // as nvidia-smi numbers the devices that CUDA_VISIBLE_DEVICES leaves, from 0 on
	Want   engine.Want
	Beside int // backends that use the device at once, this one included: each takes a part of its multiprocessors; 0: one
}

// tuning is what changes speed and memory but no result.
type tuning struct {
	parts   int    // of the device's multiprocessors, one of which the backend uses; 0: one, which is all
	threads uint32 // a block; a multiple of 32
	pairs   uint64 // of neuron and delay that one round of propagation takes; 0: as many as neurons
	entries uint64 // of a list that the page-locked buffers hold, at most
	ptx     string // instead of the embedded code; empty: the embedded code

	unpacked       bool          // synapses of 8 bytes even where 4 would do
	plain          bool          // no launches of many bursts
	batch          uint64        // bursts of such a launch, at most
	batchThreads   uint32        // a block of it
	uncached       bool          // no copies of state and tables in its shared memory
	roaming        bool          // run_bursts, even where resident_bursts could be used
	teamRow        uint32        // synapses a row from which teams of blocks sum them (kernels/teams.cuh); 0: they never do
	teamLeast      uint64        // synapses from which they do
	teamMost       uint64        // blocks of a team, at most MOST_BLOCKS of kernels/teams.cuh
	listed         bool          // resident_bursts even where one model's rows without delays could be delivered by the warps that update (kernels/early_rows.cuh)
	delayedRow     uint32        // synapses a row from which rows with delays are split (kernels/early_rows.cuh); 0: they never are
	aheadRow       uint32        // likewise where neurons decide a burst ahead (kernels/ahead.cuh)
	lateRow        uint32        // likewise where delays are several bursts (kernels/late_rows.cuh)
	clusterRow     uint32        // synapses a row from which clusters of blocks sum them (kernels/clusters.cuh); 0: they never do
	clusterLeast   uint32        // neurons from which they do
	clusterDelayed uint64        // synapses from which they do where delays are above 1
	clusterPairs   uint32        // neurons from which clusters have two blocks
	clustersApart  uint32        // bursts that their blocks are apart at most where delays are above 1, 0 or 1
	clusterSize    uint64        // blocks of a cluster, 1, 2 or 4; 0: what suits its network
	outside        uint64        // clusters leave their neurons' state in global memory, where they can, and sum in so many rounds; 0: only where it does not fit
	drawLeast      uint64        // neurons of a block from which it draws for many at a time
	waitLongest    uint32        // bursts for which synapses wait in their rows, at most; 0: rows are delivered whole
	waitRow        uint32        // synapses a row, for each burst of these, from which they do
	waitRing       uint64        // bytes of the sums of bursts to come from which they do
	waitRows       uint64        // of a block that may wait at a time, a power of two
	gather         int           // blocks of a launch that is one cluster, at most 16; 0: there are no such launches
	gatherNeurons  uint32        // of networks whose launches are one cluster, at most
	gatherLearning uint32        // likewise, where something learns
	fewThreads     uint32        // a block of launches for small networks: those that are one cluster
	fewLearning    uint32        // and those of networks that learn and have so many neurons at most
	fewSynapses    uint64        // of small networks, at most
	localBlocks    int           // of launches whose blocks hold all that their neurons need, at most 16; 0: there are none
	localNeurons   uint32        // of networks that have them, at most
	slotBytes      uint64        // that their slots may take a synapse
	staging        uint64        // bytes of page-locked memory that are filled at a time on the way to the device, at least those of a row's slots
	rangeLeast     uint64        // synapses that learn from which blocks have ranges of their targets (kernels/learn_ranges.cu); 0: they never do
	rangePart      uint64        // and synapses of a row that a block has, from which they do
	events         uint32        // of each target of a projection that learns, which are remembered
	sumsApart      uint32        // bursts that blocks are apart at most where they sum rows; below 2 they meet in every burst
	sumsParts      int           // of a device from which they do, each of a trial
	sumsRow        uint32        // synapses a row from which they do
	sumsLeast      uint32        // neurons
	sumsUnits      uint64        // and units of a row that a block has
	sumsUpdate     uint32        // warps of such a block that update neurons, at most
	sumsDraw       uint32        // and those that draw
	apart          uint32        // bursts that blocks are apart at most where delays are several bursts; below 2 they meet in every burst
	ownSynapses    uint32        // about so many a block of resident_bursts delivers by itself
	linger         time.Duration // for which a launch waits for the next Step, and Steps follow each other; 0: there are no such launches
	patience       time.Duration // after which the driver is asked whether a launch that tells nothing has failed
}

var defaults = tuning{
	threads: 256, entries: 1 << 18, batch: 256, batchThreads: 1024, events: 32, apart: 4, ownSynapses: 16384, delayedRow: 512, aheadRow: 256, lateRow: 100,
	teamRow: 400, teamLeast: 2_000_000, teamMost: 4, staging: 32 << 20, linger: 400 * time.Microsecond, patience: 50 * time.Millisecond,
	clusterRow: 400, clusterLeast: 10_000, clusterDelayed: 300_000_000, clustersApart: 1, clusterPairs: 500_000, slotBytes: 6,
	sumsApart: 8, sumsParts: 2, sumsRow: 100, sumsLeast: 2_000, sumsUnits: 4, sumsUpdate: 7, sumsDraw: 9,
	gather: 16, gatherNeurons: 5_000, gatherLearning: 2_000, fewThreads: 512, fewLearning: 10_000, fewSynapses: 1_000_000,
	localBlocks: 16, localNeurons: 1_100,
	rangeLeast: 80_000_000, rangePart: 32, drawLeast: 4096, waitLongest: 32, waitRow: 8, waitRing: 128 << 20, waitRows: 1 << 13,
}

// Open uploads c to a GPU, in the state before burst 0. The error wraps engine.ErrUnavailable when this machine cannot run
// CUDA, and is a *MemoryError when the network does not fit the device.
func Open(c *connectome.Connectome, o Options) (engine.Backend, error) {
	return open(c, o, defaults)
}

// LearningError says that several devices or processes cannot share a network that learns.
type LearningError struct {
	Projection int // the first that learns, in the genome
	Rule       string
}

func (e *LearningError) Error() string {
	return fmt.Sprintf("projections[%d] learns (%s), and a GPU holds such networks whole so far; want one process and one device, or --backend cpu", e.Projection, e.Rule)
}

func open(c *connectome.Connectome, o Options, tune tuning) (engine.Backend, error) {
	if len(c.Plastic) > 0 && !c.Part.Whole() {
		return nil, &LearningError{c.Plastic[0].Projection, c.Plastic[0].Rule.Name}
	}
	if o.Beside > 1 {
		tune = tune.beside(o.Beside)
	}
	b := &backend{c: c, want: o.Want, tune: tune}
	if err := b.attach(o.Device); err != nil {
		return nil, unavailable(err)
	}
	return b.start()
}

// start makes an attached backend ready; where it fails, nothing is left behind.
func (b *backend) start() (engine.Backend, error) {
	if err := b.ctx.Enter(); err != nil {
		return nil, errors.Join(unavailable(err), b.ctx.Release())
	}
	defer b.ctx.Leave()
	if err := b.prepare(); err != nil {
		b.release()
		return nil, b.named(err)
	}
	return b, nil
}

// named says on which device Open failed.
func (b *backend) named(err error) error {
	return unavailable(fmt.Errorf("cuda: device %d: %w", b.device.Index(), err))
}

// unavailable makes errors of the driver that mean "not on this machine" errors of the engine that say so.
func unavailable(err error) error {
	if errors.Is(err, driver.ErrUnavailable) {
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
	}
	return err
}

// backend holds one network on one device.
type backend struct {
	c    *connectome.Connectome
	want engine.Want
	tune tuning

	fades  bool // a wanted value is of a neuron whose variables decay by ages
	device *driver.Device
	ctx    *driver.Context
	image  kernels.Image
	module *driver.Module
	stream *driver.Stream
	sms    int
	single string // why each burst is launched by itself; empty: launches of many can be
	room   uint64 // bytes of shared memory that a block of a launch of many bursts may have, beside what its kernel takes for itself
	// ringRoom is how many bytes the sums of bursts to come may take in launches of many.
	ringRoom uint64
	// clusters is, by the number of blocks of a cluster, how many clusters of blocks with the most shared memory the device runs at once;
	// 0: none. They are counted for the kernel that would be launched.
	clusters    [mostClustered + 1]uint64
	clusterCode *driver.Module
	cluster     bool // whether the device has clusters of several blocks

	choice  choice
	plan    plan
	rows    rows
	kernel  [kernelCount]*driver.Function
	params  [kernelCount]*driver.Arguments
	args    arguments
	input   input
	output  output
	batch   batch
	lasting lasting
	share   share

	moving     moving
	memory     memory
	learning   *learning // nil: nothing learns
	learnImage kernels.Image
	localImage kernels.Image

	drivenRows  driven   // where the driven synapses lie
	driving     *driving // nil: there are no driven synapses
	drivenImage kernels.Image

	lastingImage kernels.Image
	eventImage   kernels.Image
	lateImage    kernels.Image

	number  uint64   // the next burst
	lengths []uint64 // of the fire queue of burst b at b mod depth
	driven  uint64   // neurons with drives that go into acc, one for each such drive

	uploading time.Duration // by takeRows
	held      *held         // its rows, with the twins that use them; nil before they are there

	fault error // the first failure since which the state is not known
	lost  bool  // the context does not work any more, either
}

// attach finds the device and the code for it, and takes hold of its context.
func (b *backend) attach(device int) error {
	d, err := driver.Open("")
	if err != nil {
		return err
	}
	if b.device, err = d.Device(device); err != nil {
		return err
	}
	if err := b.selectUnit(); err != nil {
		return err
	}
	if b.want.Stimuli {
		if b.lastingImage, err = selectImage(d, b.device, kernels.Lasting()); err != nil {
			return err
		}
	}
	if apartByDelays(b.c) {
		if b.lateImage, err = selectImage(d, b.device, kernels.Late()); err != nil {
			return err
		}
	}
	if eventful(b.c) {
		if b.eventImage, err = selectImage(d, b.device, kernels.Event()); err != nil {
			return err
		}
	}
	if len(b.c.Plastic) > 0 {
		if b.learnImage, err = selectImage(d, b.device, kernels.Learn()); err != nil {
			return err
		}
		if b.localImage, err = selectImage(d, b.device, kernels.Local()); err != nil {
			return err
		}
	}
	if b.c.Driven != nil {
		if b.drivenImage, err = selectImage(d, b.device, kernels.Driven()); err != nil {
			return err
		}
	}
	if b.sms, err = b.device.Attribute(driver.MultiprocessorCount); err != nil {
		return err
	}
	if b.single, err = singleSteps(b.device); err != nil {
		return err
	}
	if b.room, err = sharedRoom(b.device); err != nil {
		return err
	}
	memory, err := b.device.TotalMemory()
	if err != nil {
		return err
	}
	b.cluster = b.image.Capability >= clusterCapability
	parts := max(1, b.tune.parts)
	b.sms = max(1, b.sms/parts)
	b.ringRoom = memory / ringShare / uint64(parts)
	go b.image.PTX() // takes some milliseconds to unpack, a context a hundred
	b.ctx, err = b.device.Retain()
	return err
}

// images are those of the unit that has the network's models, or lists candidates in launches of many bursts.
func images(c *connectome.Connectome, listed bool, chosen *choice) []kernels.Image {
	switch {
	case listed && builtIn(c):
		return kernels.Lists()
	case listed:
		return kernels.CustomLists()
	case !builtIn(c):
		return kernels.Custom()
	case chosen.large():
		return kernels.Large()
	case chosen.outside:
		return kernels.Outside()
	case hasInstants(c) || c.MaxDelay > quanta.MaxApart:
		return kernels.Moving()
	}
	return kernels.Images()
}

// selectUnit finds the code for the network as it is known.
func (b *backend) selectUnit() error {
	d, err := driver.Open("")
	if err == nil {
		b.image, err = selectImage(d, b.device, images(b.c, b.listed(), &b.choice))
	}
	return err
}

// selectImage is the one of them for a device; there being none means that the device is not available.
func selectImage(d *driver.Driver, v *driver.Device, images []kernels.Image) (kernels.Image, error) {
	capability, err := v.Capability()
	if err != nil {
		return kernels.Image{}, err
	}
	image, err := kernels.Choose(images, capability, kernels.ISA(d.Version()))
	if err != nil {
		return kernels.Image{}, fmt.Errorf("%w: device %d: %w", driver.ErrUnavailable, v.Index(), err)
	}
	return image, nil
}

// prepare loads the code, takes the memory and uploads the network.
func (b *backend) prepare() error {
	t, err := b.begin()
	if err != nil {
		return err
	}
	switch {
	case b.held == nil:
		b.held = &held{users: 1, first: b}
		err = b.takeRows(b.c, nil, t)
	case b.rows.placed(): // rows are there, their kernel is not
		err = b.countClusters(b.c)
	}
	if err != nil {
		return err
	}
	return b.finish(t)
}

// begin loads the code.
func (b *backend) begin() (*tables, error) {
	t := makeTables(b.c)
	var err error
	if b.stream, err = b.ctx.Stream(); err != nil {
		return nil, err
	}
	if err := b.load(t.models); err != nil {
		return nil, err
	}
	return t, b.tryClusters()
}

// tryClusters asks the device whether it runs a cluster of all blocks of a small network's launch. The kernel does not matter: the blocks'
// memory does.
func (b *backend) tryClusters() error {
	if !b.cluster || b.c.Neurons > math.MaxUint16 {
		return nil
	}
	blocks := uint32(min(b.sms, max(1, b.tune.localBlocks, b.tune.gather)))
	g := grid{blocks: blocks, threads: min(b.tune.batchThreads, b.tune.fewThreads) + tellers, cluster: blocks, shared: uint32(b.room)}
	var err error
	b.cluster, err = g.ready(b.kernel[0], b.sms)
	return err
}

// makePlan computes the sizes for the network as it is known, and keeps what is allocated.
func (b *backend) makePlan(t *tables) {
	taken := b.plan.ptr
	b.fades = slices.ContainsFunc(b.want.Values, func(p engine.Probe) bool { return b.c.Areas[b.c.AreaOf(p.Neuron)].Decay != nil })
	b.plan = makePlan(b.c, b.rows, b.want, b.tune, t)
	if b.choice = b.choose(t); b.many() {
		b.plan.addBatch(b, t)
	}
	b.plan.bytes[bufInstants] = b.instantSlots() * b.plan.instants
	if len(b.c.Plastic) > 0 {
		_, learnt := b.layLearning(0, b.choice.near)
		b.plan.bytes[bufLearnt] = learnt.bytes
	}
	if b.c.Driven != nil {
		_, b.plan.bytes[bufDriven] = b.layDriven(0)
	}
	b.plan.ptr = taken
}

// finish takes all memory but that of the rows, which are there, and uploads the tables and the state before burst 0.
func (b *backend) finish(t *tables) error {
	b.driven = t.driven
	b.lengths = make([]uint64, b.depth())
	b.makePlan(t)
	if err := b.selectUnit(); err != nil { // drawn delays, and how rows are delivered, are known only now
		return err
	}
	if err := b.plan.allocate(b.ctx, slotCount-1); err != nil {
		return err
	}
	if err := b.input.allocate(b); err != nil {
		return err
	}
	if err := b.output.allocate(b); err != nil {
		return err
	}
	b.bind(t)
	if err := b.startBatch(t); err != nil {
		return err
	}
	if err := b.lasting.start(b); err != nil {
		return err
	}
	if err := b.startMoving(t); err != nil {
		return err
	}
	if err := b.upload(t); err != nil {
		return err
	}
	if err := b.startLearning(); err != nil {
		return err
	}
	if err := b.startLocal(); err != nil {
		return err
	}
	if err := b.startDriven(); err != nil {
		return err
	}
	b.startMemory(t)
	return b.writeState(engine.NewState(b.c))
}

// load brings the kernels of single bursts onto the device.
func (b *backend) load(models []ownModel) error {
	var err error
	names := kernelNames
	if b.module, err = b.loadOnly(names[:], models); err != nil {
		return err
	}
	for k, name := range names {
		if b.kernel[k], err = b.module.Function(name); err != nil {
			return err
		}
	}
	return nil
}

// loadOnly brings some kernels onto the device, with the models that the genome defines.
func (b *backend) loadOnly(names []string, models []ownModel) (*driver.Module, error) {
	ptx := b.tune.ptx
	if ptx == "" {
		ptx = b.image.PTX()
	}
	return b.loadFrom(ptx, b.image.Name, names, models)
}

// loadFrom is loadOnly for kernels of a text.
func (b *backend) loadFrom(ptx, image string, names []string, models []ownModel) (*driver.Module, error) {
	ptx, err := only(ptx, names)
	if err == nil && len(models) > 0 {
		ptx, err = spliceModels(ptx, models)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", image, err)
	}
	m, err := b.ctx.Load([]byte(ptx))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", image, err)
	}
	return m, nil
}

// Close frees what the backend holds.
func (b *backend) Close() error {
	if err := b.ctx.Enter(); err != nil {
		return b.failed("closing", err)
	}
	defer b.ctx.Leave()
	if b.fault == nil && b.idles() && b.held.keep(b) {
		return nil
	}
	var err error
	for _, t := range b.held.leave(b) {
		err = cmp.Or(err, t.release())
	}
	err = cmp.Or(b.release(), err)
	if b.lost {
		return b.fault
	}
	if err != nil {
		return b.failed("closing", err)
	}
	return nil
}

// idles reports whether nothing of the backend runs any more, in a context that is entered.
func (b *backend) idles() bool { return b.lasting.end(b) == nil && b.stream.Synchronize() == nil }

// release frees everything that there is, in a context that is entered, and returns the first failure.
func (b *backend) release() error {
	var errs []error
	if b.stream != nil {
		errs = append(errs, b.lasting.end(b), b.stream.Synchronize())
	}
	errs = append(errs, b.lasting.free(), b.batch.lister.free(), b.freePlan(), b.input.free(), b.output.free(), b.batch.free(), freeHost(&b.moving.host), b.learning.free(), b.driving.free())
	for _, p := range b.params {
		if p != nil {
			p.Release()
		}
	}
	for _, m := range []*driver.Module{b.lasting.module, b.batch.module, b.clusterCode, b.module} {
		if m != nil {
			errs = append(errs, m.Unload())
		}
	}
	if b.stream != nil {
		errs = append(errs, b.stream.Destroy())
	}
	errs = append(errs, b.ctx.Release())
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// failed keeps the first failure. From then on the state on the device is unknown, until WriteState replaces it. That does not help if the
// context is lost.
func (b *backend) failed(doing string, err error) error {
	if b.lost {
		return b.fault
	}
	b.lost = driver.Sticky(err)
	cure := ""
	if b.lost {
		cure = "; the device's context is lost, start a new process"
	}
	b.fault = &engine.DeviceError{Err: fmt.Errorf("cuda: device %d, burst %d: %s: %w%s", b.device.Index(), b.number, doing, err, cure), Lost: b.lost}
	return b.fault
}
