package cuda

import (
	"unsafe"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
)

// listedBytes is the size of listed in kernels/network.cuh, which is engine.Candidate.
const listedBytes = uint64(unsafe.Sizeof(engine.Candidate{}))

// candidate is the struct of that name in kernels/network.cuh, field for field.
type candidate struct {
	port uint32
	sum  int32 // quanta
}

// output is the page-locked memory in which a burst's results arrive. The lengths of the lists are known only then. So the first copy
// brings the lengths and as much of the lists as the last burst suggests; a second one brings the rest, if any.
type output struct {
	host       *driver.HostMemory
	lengths    []uint64 // of the fire queue and of the list
	fired      []uint32
	candidates []engine.Candidate
	all        []engine.Candidate // the list, where it arrives in several pieces
	values     []float32          // of Want.Values
	kept       []uint16           // of their neurons, where these are of a model with Event: the bursts of silence, then the counts
	currents   [2][]float32       // and the currents
	likely     [2]uint64          // entries to fetch with the lengths
}

// outputLengths is the room of the lists' lengths.
const outputLengths = 16

// capacities are how many entries of both lists are fetched at once.
func capacities(c *connectome.Connectome, w engine.Want, tune tuning) (fired, candidates uint64) {
	if w.FCL {
		candidates = min(uint64(c.Ports), tune.entries)
	}
	return min(uint64(c.Neurons), tune.entries), candidates
}

// outputBytes is the size of the memory that results arrive in.
func outputBytes(c *connectome.Connectome, w engine.Want, tune tuning) uint64 {
	fired, candidates := capacities(c, w, tune)
	return outputLengths + listedBytes*candidates + 4*fired + (4+8+4)*uint64(len(w.Values))
}

func (o *output) allocate(b *backend) error {
	fired, candidates := capacities(b.c, b.want, b.tune)
	firedAt := outputLengths + listedBytes*candidates
	valuesAt := firedAt + 4*fired
	var err error
	if o.host, err = b.ctx.AllocHost(int(outputBytes(b.c, b.want, b.tune)), false); err != nil {
		o.host = nil
		return err
	}
	m := unsafe.Pointer(unsafe.SliceData(o.host.Bytes()))
	o.lengths = unsafe.Slice((*uint64)(m), 2)
	o.candidates = unsafe.Slice((*engine.Candidate)(unsafe.Add(m, outputLengths)), candidates)
	o.fired = unsafe.Slice((*uint32)(unsafe.Add(m, firedAt)), fired)
	o.values = unsafe.Slice((*float32)(unsafe.Add(m, valuesAt)), len(b.want.Values))
	n := uint64(len(o.values))
	for k := range o.currents {
		o.currents[k] = unsafe.Slice((*float32)(unsafe.Add(m, valuesAt+4*n*uint64(k+1))), n)
	}
	o.kept = unsafe.Slice((*uint16)(unsafe.Add(m, valuesAt+12*n)), 2*n)
	return nil
}

func (o *output) free() error { return freeHost(&o.host) }

// expect sets what to fetch next time, a quarter more than now.
func (o *output) expect(list int, entries uint64, capacity int) uint64 {
	o.likely[list] = min(entries+entries/4+64, uint64(capacity))
	return entries
}

// deliver fetches the burst's results; this is where a burst waits for the device.
func (b *backend) deliver(out *engine.Burst) error {
	o, p := &b.output, &b.plan.ptr
	out.Number = b.number
	firedNow, listNow := min(o.likely[0], uint64(len(o.fired))), min(o.likely[1], uint64(len(o.candidates)))
	if err := b.stream.Download(unsafe.Pointer(&o.lengths[0]), p[bufLengths], 16); err != nil {
		return err
	}
	if err := b.fetchFired(0, firedNow); err != nil {
		return err
	}
	if err := b.fetchList(0, listNow); err != nil {
		return err
	}
	if err := b.fetchValues(); err != nil {
		return err
	}
	if err := b.stream.Synchronize(); err != nil {
		return err
	}
	out.Values = append(out.Values[:0], o.values...)
	b.fade(out.Values)
	fired := o.expect(0, o.lengths[0], len(o.fired))
	b.lengths[b.number%b.depth()] = fired
	if err := b.takeFired(out, firedNow, fired); err != nil {
		return err
	}
	out.Candidates = nil
	if !b.want.FCL {
		return nil
	}
	return b.takeList(out, listNow, o.expect(1, o.lengths[1], len(o.candidates)))
}

// fetchFired queues the download of n entries of the fire queue from one on.
func (b *backend) fetchFired(first, n uint64) error {
	if n == 0 {
		return nil
	}
	return b.stream.Download(unsafe.Pointer(&b.output.fired[0]), b.queue(b.number)+driver.Ptr(4*first), 4*n)
}

func (b *backend) fetchList(first, n uint64) error {
	if n == 0 {
		return nil
	}
	return b.stream.Download(unsafe.Pointer(&b.output.candidates[0]), b.plan.ptr[bufList]+driver.Ptr(listedBytes*first), listedBytes*n)
}

// fetchValues queues the download of the wanted values, one for each run of neighbours.
func (b *backend) fetchValues() error {
	list := b.want.Values
	for from := 0; from < len(list); {
		until, next := from+1, list[from]
		for next.Neuron++; until < len(list) && list[until] == next; next.Neuron++ {
			until++
		}
		if err := b.fetchVariable(b.output.values[from:until], list[from]); err != nil {
			return err
		}
		if b.fades {
			if err := b.fetchKept(from, until); err != nil {
				return err
			}
		}
		from = until
	}
	return nil
}

// fetchVariable queues the download of a variable of neighbours.
func (b *backend) fetchVariable(to []float32, first engine.Probe) error {
	at := b.plan.ptr[bufV] + driver.Ptr(4*uint64(first.Neuron))
	if k := first.Variable; k > 0 {
		at = b.plan.ptr[bufMore] + driver.Ptr(4*(uint64(k-1)*pitch(b.c)+uint64(first.Neuron)))
	}
	return b.stream.Download(unsafe.Pointer(&to[0]), at, 4*uint64(len(to)))
}

// fetchKept queues the download of what else the wanted values from ≤ k < until, of neighbours, depend on in areas with Decay.
func (b *backend) fetchKept(from, until int) error {
	o, first := &b.output, b.want.Values[from]
	for k := range min(b.c.Variables(), len(o.currents)) {
		first.Variable = uint32(k + 1)
		if err := b.fetchVariable(o.currents[k][from:until], first); err != nil {
			return err
		}
	}
	for k, buffer := range []slot{bufRefractory, bufCount} {
		to := o.kept[k*len(o.values)+from:]
		if err := b.stream.Download(unsafe.Pointer(&to[0]), b.plan.ptr[buffer]+driver.Ptr(2*uint64(first.Neuron)), 2*uint64(until-from)); err != nil {
			return err
		}
	}
	return nil
}

// fade makes wanted values of areas with Decay what they read now.
func (b *backend) fade(values []float32) {
	if !b.fades {
		return
	}
	o := &b.output
	for i, p := range b.want.Values {
		a := &b.c.Areas[b.c.AreaOf(p.Neuron)]
		if a.Decay == nil || int(p.Variable) > a.Variables() {
			continue
		}
		x := connectome.Kept{Ex: o.currents[0][i], In: o.currents[1][i], Refractory: o.kept[i], Count: o.kept[len(values)+i]}
		if p.Variable == 0 {
			x.V = values[i]
		}
		values[i] = a.Reads(p.Variable, x)
	}
}

// takeFired hands the fire queue over: what has arrived, then the rest.
func (b *backend) takeFired(out *engine.Burst, arrived, total uint64) error {
	o := &b.output
	out.Fired = append(out.Fired[:0], o.fired[:min(arrived, total)]...)
	for have := uint64(len(out.Fired)); have < total; have = uint64(len(out.Fired)) {
		n := min(total-have, uint64(len(o.fired)))
		if err := b.fetchFired(have, n); err != nil {
			return err
		}
		if err := b.stream.Synchronize(); err != nil {
			return err
		}
		out.Fired = append(out.Fired, o.fired[:n]...)
	}
	return nil
}

// takeList hands the fire candidate list over: where it lies, if all of it has arrived, else copied together.
func (b *backend) takeList(out *engine.Burst, arrived, total uint64) error {
	o := &b.output
	if total <= arrived {
		out.Candidates = o.candidates[:total:total]
		return nil
	}
	o.all = append(o.all[:0], o.candidates[:arrived]...)
	for have := arrived; have < total; have = uint64(len(o.all)) {
		n := min(total-have, uint64(len(o.candidates)))
		if err := b.fetchList(have, n); err != nil {
			return err
		}
		if err := b.stream.Synchronize(); err != nil {
			return err
		}
		o.all = append(o.all, o.candidates[:n]...)
	}
	out.Candidates = o.all
	return nil
}
