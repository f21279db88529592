package cuda

import (
	"unsafe"

	"burst/internal/cuda/driver"
)

// runArgs are the parameters of run_bursts, and what learn_bursts, local_bursts and event_bursts have beside; run is the struct of that name in kernels/run.cuh, field for
// field.
type runArgs struct {
	run      run
	learners learners
	ranges   ranges
	locals   locals
	events   eventLists
	late     lateQueues
	sums     sumsTurns
}

// of are the parameters of the path's kernel.
func (a *runArgs) of(p path) []unsafe.Pointer {
	list := []unsafe.Pointer{unsafe.Pointer(&a.run)}
	switch p {
	case pathLearn:
		list = append(list, unsafe.Pointer(&a.learners))
	case pathRanges:
		list = append(list, unsafe.Pointer(&a.learners), unsafe.Pointer(&a.ranges))
	case pathLocal:
		list = append(list, unsafe.Pointer(&a.learners), unsafe.Pointer(&a.locals))
	case pathEvent:
		list = append(list, unsafe.Pointer(&a.events))
	case pathLate:
		list = append(list, unsafe.Pointer(&a.late))
	case pathSums:
		list = append(list, unsafe.Pointer(&a.sums))
	}
	return list
}

type run struct {
	network       network
	drives        driver.Ptr
	counts, table driver.Ptr
	stimuli       driver.Ptr
	stimulusCount uint64
	amounts       driver.Ptr
	given         driver.Ptr
	givenCount    uint64

	row      driver.Ptr
	all      synapses
	delay    driver.Ptr
	late     driver.Ptr
	partsLog uint32

	ring                  driver.Ptr
	slotMask, ports       uint32
	neurons, blockNeurons uint32

	queue, length, arrived driver.Ptr
	arrivedNext            driver.Ptr
	ids, fired, done       driver.Ptr
	first, bursts          uint64

	driveCount, termCount, countEntries, tableEntries uint32
	cached, tabled, gathered                          uint32

	ownRows, longest uint32
	mostPartsLog     uint32
	stamps           driver.Ptr
	valueCount       uint32

	soon, later, laterLength          driver.Ptr
	laterParts, mostLaterParts, front uint32
	warpRows                          uint32

	devices, further uint32
	exchange, waited driver.Ptr

	list   listing
	sum    teams
	packed places
	wanted probes

	waits, waitsFrom        driver.Ptr
	waitsMask, waitsLongest uint32
	byFour                  uint32 // with what lies before it, for kernels of large networks alone
}

// catchUpArgs are the parameters of catch_up.
type catchUpArgs struct {
	run     run
	queue   driver.Ptr
	length  uint32
	firedAt uint64
	least   uint32
}

// queueRowsArgs are the parameters of queue_rows.
type queueRowsArgs struct {
	run    run
	fired  driver.Ptr
	length uint32
}

// waitingBytes is the size of waiting in kernels/run.cuh. Before them lies for each block where those of each burst begin, waitsFromBytes.
const waitingBytes, waitsFromBytes = 16, 4 * mostWaits

// spikeBytes is the size of spike in kernels/run.cuh.
const spikeBytes = 16

// bindBatch fills in what stays the same in all launches.
func (b *backend) bindBatch(t *tables, own uint32) {
	p, c, x := &b.plan.ptr, b.c, &b.batch
	mean, resident := b.rows.mean, b.choice.path.keepsState() || b.choice.path == pathEvent || b.share.devices > 1
	ownRows, longest := ownRows(b.tune.ownSynapses, mean), b.tune.ownSynapses/4
	if b.choice.path.early() {
		mean = b.rows.delayed.soon
		ownRows, longest = soonRows(b.tune.ownSynapses, mean)
	}
	short, late := b.delays()
	slots, ports := b.sumSlots()
	least, most := laterParts(b.rows.delayed.later, b.rows.mean)
	x.args.run = run{
		network: b.args.dynamics.network,
		drives:  p[bufDrives], counts: p[bufCounts], table: p[bufTable],
		stimuli: p[bufStimuli], stimulusCount: uint64(len(c.Stimuli)), amounts: p[bufInjected],
		row: p[bufRow], all: b.synapses(), delay: short, late: late,
		partsLog: partsLog(mean, resident), mostPartsLog: partsLog(mean, false),
		ring: p[bufRing], slotMask: uint32(slots - 1), ports: uint32(ports),
		neurons: c.Part.Count(c.Neurons), blockNeurons: own,
		queue: p[bufQueue], length: p[bufSync], arrived: p[bufSync] + arrivedAt, arrivedNext: p[bufSync] + arrivedAt + 8,
		driveCount: uint32(len(t.drives)), termCount: uint32(len(t.terms)),
		countEntries: uint32(len(t.counts)), tableEntries: uint32(len(t.amounts)), cached: flag(b.choice.cached), tabled: flag(b.choice.tabled),
		gathered: flag(b.choice.gather),
		ownRows:  ownRows, longest: longest, valueCount: uint32(b.plan.bytes[bufValues] / 4),
		soon: p[bufSoon], later: p[bufLater], laterLength: p[bufSync] + laterLengthAt,
		laterParts: least, mostLaterParts: most, front: frontWarps(uint64(own), x.threads), warpRows: warpRows(uint64(own), x.threads),
		devices: uint32(max(1, b.share.devices)), further: flag(mostPorts(b.c) > 2), exchange: p[bufExchange], waited: p[bufWaited],
		list:   x.lister.listing(p),
		sum:    b.teams(),
		packed: b.places(),
		wanted: x.probes(p),
		byFour: flag(b.choice.byFour),
	}
	if longest := b.choice.waits; longest > 0 {
		r, entries := &x.args.run, p[bufWaits]+waitsFromBytes*driver.Ptr(x.blocks)
		r.waits, r.waitsFrom, r.waitsMask, r.waitsLongest = entries, p[bufWaits], uint32(b.tune.waitRows-1), longest
	}
	if b.choice.learnt > 0 {
		x.args.run.sum.room = uint32(b.choice.learnt) // there are no teams
	}
	switch b.choice.path {
	case pathEvent:
		b.bindEvents(x)
	case pathLate:
		b.bindLate(x)
	case pathSums:
		b.bindSums(x)
	}
	x.params, x.catchUpParams, x.queueRowsParams = driver.ParamsAt(x.args.of(b.choice.path)), driver.Params(&x.catchUpArgs), driver.Params(&x.queueRowsArgs)
}
