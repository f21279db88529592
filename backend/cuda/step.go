package cuda

import (
	"time"
	"unsafe"

	"burst/engine"
	"burst/internal/cuda/driver"
)

// input is the mapped memory that a burst's numbers are uploaded from: the lengths of the fire queues added up, and the stimuli, which
// launches of many bursts read where they are.
type input struct {
	host    *driver.HostMemory
	before  []uint64
	stimuli []engine.Stimulus
	given   driver.Ptr        // where kernels find the stimuli
	own     []engine.Stimulus // scratch of owned
}

func (in *input) allocate(b *backend) error {
	var err error
	if in.host, err = b.ctx.AllocHost(int(b.plan.bytes[bufInput]), true); err != nil {
		in.host = nil
		return err
	}
	m := unsafe.Pointer(unsafe.SliceData(in.host.Bytes()))
	in.before = unsafe.Slice((*uint64)(m), b.depth()+1)
	in.stimuli = unsafe.Slice((*engine.Stimulus)(unsafe.Add(m, b.plan.head)), b.plan.stimuli)
	base, err := in.host.DevicePtr()
	in.given = base + driver.Ptr(b.plan.head)
	return err
}

func (in *input) free() error { return freeHost(&in.host) }

// freeHost gives page-locked memory back once.
func freeHost(m **driver.HostMemory) error {
	if *m == nil {
		return nil
	}
	err := (*m).Free()
	*m = nil
	return err
}

// Step advances one burst.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	if b.fault != nil {
		return b.fault
	}
	if err := b.ctx.Enter(); err != nil {
		return b.failed("stepping", err)
	}
	defer b.ctx.Leave()
	if own := b.owned(in); b.launches(own) {
		if err := b.stepLaunched(own, out); err != nil {
			return b.failed("stepping", err)
		}
		return nil
	} else if err := b.lasting.end(b); err != nil {
		return b.failed("stepping", err)
	} else if err := b.burst(own); err != nil {
		return b.failed("stepping", err)
	}
	if err := b.deliver(out); err != nil {
		return b.failed("stepping", err)
	}
	if err := b.takeAmplitudes(out); err != nil {
		return err
	}
	b.memory.keep(out.Fired)
	b.number++
	return nil
}

// launches reports whether one launch can be the burst with these stimuli.
func (b *backend) launches(in []engine.Stimulus) bool {
	return b.many() && len(in) <= len(b.input.stimuli)
}

// stepLaunched is Step in one launch, which takes less time than those of the plain kernels.
func (b *backend) stepLaunched(in []engine.Stimulus, out *engine.Burst) error {
	if err := b.turnOn(1); err != nil {
		return err
	}
	x := &b.batch
	if err := b.lasting.step(b, in); err != nil {
		return err
	}
	listed := x.shape.list.room > 0
	if listed {
		if err := x.lister.fetch(b.plan.ptr[bufLists], 0); err != nil {
			return err
		}
	}
	if !b.lasting.told {
		x.take(b, 0)
	}
	copyBurst(out, x.burst.Number, x.burst.Fired, x.burst.Values)
	b.lasting.left = time.Now()
	if !listed {
		return nil
	}
	var err error
	out.Candidates, err = x.lister.take(0)
	return err
}

// copyBurst copies a burst without its candidates for the caller of Step. The fire queue is the backend's history, and the caller may pass
// its memory to another backend.
func copyBurst(out *engine.Burst, number uint64, fired []uint32, values []float32) {
	out.Number, out.Candidates, out.Amplitudes = number, nil, out.Amplitudes[:0]
	out.Fired, out.Values = append(out.Fired[:0], fired...), append(out.Values[:0], values...)
}

// launchGiven queues a launch of the next burst with these stimuli, which include those of the genome, and of the bursts after it that have
// no other stimuli.
func (b *backend) launchGiven(e *program, in []engine.Stimulus, bursts uint64) error {
	r := &b.batch.args.run
	own := r.stimulusCount
	r.given, r.givenCount, r.stimulusCount = b.input.given, uint64(copy(b.input.stimuli, in)), 0
	err := b.launchBatch(e, 0, b.number, bursts)
	r.givenCount, r.stimulusCount = 0, own
	return err
}

// owned are the stimuli for the backend's part of the network. The others would make candidates of ports that other parts have.
func (b *backend) owned(in []engine.Stimulus) []engine.Stimulus {
	if b.c.Part.Whole() {
		return in
	}
	own := b.input.own[:0]
	for _, s := range in {
		if b.c.Part.Owns(b.c.NeuronOf(s.Port)) {
			own = append(own, s)
		}
	}
	b.input.own = own
	return own
}

// burst queues the law of a burst. Inputs are sums, so injecting before propagating is the same.
func (b *backend) burst(in []engine.Stimulus) error {
	if err := b.turnOff(); err != nil {
		return err
	}
	if err := b.remember(); err != nil {
		return err
	}
	if err := b.inject(in); err != nil {
		return err
	}
	if err := b.propagate(); err != nil {
		return err
	}
	if err := b.tellAmplitudes(); err != nil {
		return err
	}
	if err := b.learn(); err != nil {
		return err
	}
	if err := b.deliverDriven(); err != nil {
		return err
	}
	if err := b.update(); err != nil {
		return err
	}
	return b.sweepAll()
}

// inject is step 2, and uploads the burst's numbers. More stimuli than the buffer holds go in several rounds.
func (b *backend) inject(in []engine.Stimulus) error {
	b.addUp()
	if err := b.moving.bring(b, b.number, 1); err != nil {
		return err
	}
	a := &b.args.inject
	a.t, a.driveCount = b.number, uint32(b.plan.bytes[bufDrives]/uint64(unsafe.Sizeof(drive{})))
	driven := b.driven
	for {
		n := copy(b.input.stimuli, in)
		in = in[n:]
		if err := b.stream.Upload(b.plan.ptr[bufInput], unsafe.Pointer(&b.input.before[0]), b.plan.head+8*uint64(n)); err != nil {
			return err
		}
		if a.stimulusCount = uint64(n); a.stimulusCount+driven > 0 {
			if err := b.launch(kernelInject, a.stimulusCount+driven); err != nil {
				return err
			}
		}
		if len(in) == 0 {
			return nil
		}
		a.driveCount, driven = 0, 0
		if err := b.stream.Synchronize(); err != nil { // the buffer is still being read
			return err
		}
	}
}

// addUp fills the input with the fire queues' lengths.
func (b *backend) addUp() {
	b.input.before[0] = 0
	for d := uint64(1); d <= b.depth(); d++ {
		b.input.before[d] = b.input.before[d-1] + b.lengths[b.before(d)]
	}
}

// longestDelay is that of the device's own rows; other parts of the network may have longer ones.
func (b *backend) longestDelay() int {
	if b.rows.delays > 0 {
		return b.c.MaxDelay
	}
	return 1
}

// propagate is step 1, in rounds of as many pairs of neuron and delay as the buffers hold.
func (b *backend) propagate() error {
	if b.rows.synapses == 0 {
		return nil
	}
	if b.rows.placed() {
		return b.propagatePlaces()
	}
	total := b.input.before[b.longestDelay()]
	for offset := uint64(0); offset < total; offset += b.plan.pairs {
		if err := b.propagateRound(offset, min(total-offset, b.plan.pairs)); err != nil {
			return err
		}
	}
	return nil
}

func (b *backend) propagateRound(offset, count uint64) error {
	r, p := &b.args.firedRows, &b.args.propagation
	r.offset, r.count, r.t, p.count = offset, count, b.number, count
	if bottom := divUp(count, 32); nodes(count) > bottom {
		if err := b.stream.Fill(r.sums+driver.Ptr(8*bottom), 0, 8*(nodes(count)-bottom)); err != nil {
			return err
		}
	}
	if err := b.launch(kernelFiredRows, count); err != nil {
		return err
	}
	// Eight blocks a multiprocessor keep it busy; fewer do where a thread has less than the eight synapses that it takes.
	const blocksPerSM, perThread = 8, 8
	blocks := min(uint64(b.sms*blocksPerSM), divUp(b.rows.synapses, uint64(b.tune.threads)*perThread))
	return b.launchBlocks(kernelPropagation, blocks)
}

// propagatePlaces is propagate for rows of places, all of which have one delay.
func (b *backend) propagatePlaces() error {
	due := b.before(b.rows.lag())
	fired := b.lengths[due]
	if fired == 0 {
		return nil
	}
	b.args.places.queue, b.args.places.length = b.queue(due), uint32(fired)
	const blocksPerSM = 8
	return b.launchBlocks(kernelPlaces, min(uint64(b.sms*blocksPerSM), divUp(fired*b.rows.shape.count, uint64(b.tune.threads))))
}

// update is steps 3, 4, 5 and 7.
func (b *backend) update() error {
	n, ports := uint64(b.c.Neurons), uint64(b.c.Ports)
	if n == 0 {
		return b.stream.Fill(b.plan.ptr[bufLengths], 0, b.plan.bytes[bufLengths])
	}
	if err := b.stream.Fill(b.plan.ptr[bufSums], 0, b.plan.rows); err != nil {
		return err
	}
	b.args.dynamics.network.t = b.number
	if err := b.launch(kernelDynamics, max(n, ports)); err != nil {
		return err
	}
	if err := b.launch(kernelListSums, divUp(max(n, ports), 32)); err != nil {
		return err
	}
	b.args.listIDs.queue = b.queue(b.number)
	return b.launch(kernelListIDs, max(n, ports))
}

// queue is where the fire queue of a burst lies.
func (b *backend) queue(number uint64) driver.Ptr {
	return b.plan.ptr[bufQueues] + driver.Ptr(number%b.depth()*uint64(b.c.Neurons)*4)
}
