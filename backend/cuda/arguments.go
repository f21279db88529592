package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"burst/internal/cuda/driver"
)

// The kernels, in the order of a burst.
const (
	kernelInject = iota
	kernelFiredRows
	kernelPropagation
	kernelPlaces
	kernelDynamics
	kernelListSums
	kernelListIDs
	kernelCount
)

var kernelNames = [kernelCount]string{"inject", "fired_rows", "synaptic_propagation_fcl", "deliver_places", "neural_dynamics_fcl", "list_sums", "list_ids"}

// arguments hold one struct a kernel; its fields are the kernel's parameters in order.
type arguments struct {
	inject      injectArgs
	firedRows   firedRowsArgs
	propagation propagationArgs
	places      placesArgs
	dynamics    dynamicsArgs
	listSums    listSumsArgs
	listIDs     listIDsArgs
}

type injectArgs struct {
	stimuli       driver.Ptr
	stimulusCount uint64
	drives        driver.Ptr
	driveCount    uint32
	counts, table driver.Ptr
	seed, t       uint64
	acc           driver.Ptr
	own           part
}

type firedRowsArgs struct {
	offset, count       uint64
	before              driver.Ptr
	delays              uint32
	t                   uint64
	queues              driver.Ptr
	neurons             uint64
	row, delay, late    driver.Ptr
	rows                synapses
	start, length, sums driver.Ptr
}

type propagationArgs struct {
	count               uint64
	start, length, sums driver.Ptr
	rows                synapses
	acc                 driver.Ptr
}

// synapses is the struct of that name in kernels/network.cuh, field for field.
type synapses struct {
	target, weight, values driver.Ptr
	portBits, portMask     uint32
	delayBits              uint32
}

// placesArgs are those of deliver_places.
type placesArgs struct {
	places    places
	own       part
	areas     driver.Ptr
	areaCount uint32
	values    driver.Ptr
	queue     driver.Ptr
	length    uint32
	acc       driver.Ptr
}

type dynamicsArgs struct {
	network    network
	neurons    uint32
	fired      driver.Ptr
	ports      uint32
	candidates driver.Ptr
}

// network is the struct of that name in kernels/neural_dynamics_fcl.cu, field for field.
type network struct {
	areas              driver.Ptr
	areaCount          uint32
	constants, numbers driver.Ptr
	terms, addends     driver.Ptr
	seed, t            uint64
	scale              int32
	acc                driver.Ptr
	v, more            driver.Ptr
	pitch              uint64
	variables          uint32
	refractory, count  driver.Ptr
	own                part
}

// part is the struct of that name in kernels/network.cuh.
type part struct{ index, of uint32 }

type listSumsArgs struct {
	fired          driver.Ptr
	firedWords     uint64
	firedSums      driver.Ptr
	candidates     driver.Ptr
	candidateWords uint64
	candidateSums  driver.Ptr
}

type listIDsArgs struct {
	fired         driver.Ptr
	neurons       uint32
	firedSums     driver.Ptr
	queue         driver.Ptr
	candidates    driver.Ptr
	ports         uint32
	candidateSums driver.Ptr
	areas         driver.Ptr
	areaCount     uint32
	acc           driver.Ptr
	list          driver.Ptr
	lengths       driver.Ptr
}

// delays are the addresses of the rows' delays: one byte each, or two if some are above 255. Both are 0 if all delays are 1, or if they lie
// in the words of weights.
func (b *backend) delays() (short, late driver.Ptr) {
	if b.rows.delays > 1 {
		return 0, b.plan.ptr[bufDelay]
	}
	return b.plan.ptr[bufDelay], 0
}

// bind fills in what stays the same in all bursts.
func (b *backend) bind(t *tables) {
	p, c := &b.plan.ptr, b.c
	firedSums := p[bufSums] + driver.Ptr(b.plan.firedSums)
	candidateSums := p[bufSums] + driver.Ptr(b.plan.candidateSums)
	rowSums := p[bufSums] + driver.Ptr(b.plan.rows)
	own := part{uint32(c.Part.Index), uint32(max(1, c.Part.Of))}
	short, late := b.delays()
	b.args = arguments{
		inject: injectArgs{
			stimuli: p[bufInput] + driver.Ptr(b.plan.head), drives: p[bufDrives], counts: p[bufCounts], table: p[bufTable], seed: c.RunSeed, acc: p[bufAcc], own: own,
		},
		firedRows: firedRowsArgs{
			before: p[bufInput], delays: uint32(b.depth()), queues: p[bufQueues], neurons: uint64(c.Neurons),
			row: p[bufRow], delay: short, late: late, rows: b.synapses(), start: p[bufStart], length: p[bufLength], sums: rowSums,
		},
		propagation: propagationArgs{
			start: p[bufStart], length: p[bufLength], sums: rowSums, rows: b.synapses(), acc: p[bufAcc],
		},
		places: placesArgs{places: b.places(), own: own, areas: p[bufAreas], areaCount: uint32(len(t.areas)), values: p[bufValues], acc: p[bufAcc]},
		dynamics: dynamicsArgs{
			network: network{
				areas: p[bufAreas], areaCount: uint32(len(t.areas)), constants: p[bufConstants], numbers: p[bufNumbers],
				terms: p[bufTerms], addends: p[bufAddends],
				seed: c.RunSeed, scale: c.Scale, acc: p[bufAcc],
				v: p[bufV], more: p[bufMore], pitch: pitch(c), variables: uint32(c.Variables()),
				refractory: p[bufRefractory], count: p[bufCount], own: own,
			},
			neurons: c.Neurons, fired: p[bufFired], ports: c.Ports, candidates: p[bufCandidates],
		},
		listSums: listSumsArgs{
			fired: p[bufFired], firedWords: divUp(uint64(c.Neurons), 32), firedSums: firedSums,
			candidates: p[bufCandidates], candidateWords: divUp(uint64(c.Ports), 32), candidateSums: candidateSums,
		},
		listIDs: listIDsArgs{
			fired: p[bufFired], neurons: c.Neurons, firedSums: firedSums,
			candidates: p[bufCandidates], ports: c.Ports, candidateSums: candidateSums,
			areas: p[bufAreas], areaCount: uint32(len(t.areas)), acc: p[bufAcc], list: p[bufList], lengths: p[bufLengths],
		},
	}
	a := &b.args
	for k, s := range [kernelCount]any{&a.inject, &a.firedRows, &a.propagation, &a.places, &a.dynamics, &a.listSums, &a.listIDs} {
		b.params[k] = driver.Params(s)
	}
}

// launch queues a kernel with at least so many threads.
func (b *backend) launch(kernel int, threads uint64) error {
	return b.launchBlocks(kernel, divUp(threads, uint64(b.tune.threads)))
}

func (b *backend) launchBlocks(kernel int, blocks uint64) error {
	if err := b.kernel[kernel].Launch(uint32(blocks), b.tune.threads, b.params[kernel], b.stream); err != nil {
		return fmt.Errorf("%s: %w", kernelNames[kernel], err)
	}
	return nil
}

// upload copies the tables to the device, clears the lists and waits.
func (b *backend) upload(t *tables) error {
	for _, u := range []struct {
		to   slot
		from unsafe.Pointer
	}{
		{bufAreas, data(t.areas)}, {bufConstants, data(t.constants)}, {bufNumbers, data(t.numbers)},
		{bufTerms, data(t.terms)}, {bufAddends, data(t.addends)},
		{bufStimuli, data(t.stimuli)}, {bufInjected, data(t.injected)},
		{bufDrives, data(t.drives)}, {bufCounts, data(t.counts)}, {bufTable, data(t.amounts)}, {bufOwn, data(t.own)},
	} {
		if n := b.plan.bytes[u.to]; n > 0 {
			if err := b.stream.Upload(b.plan.ptr[u.to], u.from, n); err != nil {
				return err
			}
		}
	}
	// Lists are downloaded a little beyond their ends; what lies there is to be defined.
	for _, list := range []slot{bufQueues, bufList} {
		if n := b.plan.bytes[list]; n > 0 {
			if err := b.stream.Fill(b.plan.ptr[list], 0, n); err != nil {
				return err
			}
		}
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(t)
	return err
}

// data is the address of a slice's first element.
func data[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }
