package cuda

import (
	"runtime"
	"unsafe"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
)

// driving is what a backend holds of areas with psp_max. The kernels of kernels/driven.cu find the potential at which each neuron fired.
// The host turns potentials into amplitudes by the code of all backends, and puts these into a ring of lists, from which the kernels
// deliver.
type driving struct {
	rows             driven
	potential, found driver.Ptr
	module           *driver.Module
	kernels          drivenKernels

	lists      [][]engine.Amplitude // as engine.State.Amplitudes
	lengths    []uint64             // what is uploaded to before
	potentials []float32            // of those that fired
}

// driven is the struct of that name in kernels/driven.cu, field for field.
type driven struct {
	row, target, weight, delay, divide driver.Ptr
	fired                              amplitudes
}

// amplitudes is the struct of that name in kernels/amplitudes.cuh, field for field.
type amplitudes struct {
	lists, before driver.Ptr
	room          uint64
	delays        uint32
}

type drivenKernels struct {
	deliver    entry[drivenDeliverArgs]
	potentials entry[drivenPotentialsArgs]
	fired      entry[drivenFiredArgs]
}

// The kernels' parameters, in order.
type (
	drivenDeliverArgs struct {
		rows      driven
		t         uint64
		scale     int32
		areas     driver.Ptr
		areaCount uint32
		acc       driver.Ptr
	}
	drivenPotentialsArgs struct {
		network   network
		neurons   uint32
		potential driver.Ptr
	}
	drivenFiredArgs struct {
		queue, lengths, potential, found driver.Ptr
	}
)

// named are all kernels by the ends of their names.
func (k *drivenKernels) named() map[string]kernel {
	return map[string]kernel{"deliver": &k.deliver, "potentials": &k.potentials, "fired": &k.fired}
}

// drivenNeurons is how many neurons of the network have amplitudes when they fire.
func drivenNeurons(c *connectome.Connectome) (n uint64) {
	for i := range c.Areas {
		if a := &c.Areas[i]; a.PSPMax > 0 {
			n += uint64(a.Neurons.Count)
		}
	}
	return n
}

// layDrivenRows lays out driven synapses, from base on; nothing where there are none.
func layDrivenRows(d *connectome.Driven, base driver.Ptr) (driven, *arena) {
	a := &arena{base: base}
	if d == nil {
		return driven{}, a
	}
	return driven{row: put(a, d.Row), target: put(a, d.Target), weight: put(a, d.Weight), delay: put(a, d.Delay), divide: put(a, d.Divide)}, a
}

// shareOfDriven is as much of driven synapses as each of some devices has.
func shareOfDriven(d *connectome.Driven, devices uint64) *connectome.Driven {
	if d == nil {
		return nil
	}
	n := divUp(d.Synapses(), devices)
	share := &connectome.Driven{Row: d.Row, Target: d.Target[:n], Weight: d.Weight[:n], Divide: d.Divide}
	if d.Delay != nil {
		share.Delay = d.Delay[:n]
	}
	return share
}

// uploadDriven copies driven synapses to the device.
func (b *backend) uploadDriven(d *connectome.Driven) error {
	if d == nil {
		return nil
	}
	rows, a := layDrivenRows(d, b.plan.ptr[bufDrivenRows])
	b.drivenRows = rows
	return b.fill(a)
}

// layDriven lays out what else areas with psp_max need on the device, from base on, and how many bytes that takes.
func (b *backend) layDriven(base driver.Ptr) (*driving, uint64) {
	a, delays := &arena{base: base}, uint64(b.c.AmplitudeLists())
	x := &driving{rows: b.drivenRows}
	f := &x.rows.fired
	f.room, f.delays = drivenNeurons(b.c), uint32(delays)
	f.lists = a.take(size([]engine.Amplitude{{}}) * f.room * delays)
	f.before = a.take(8 * (delays + 1))
	x.potential, x.found = a.take(4*uint64(b.c.Neurons)), a.take(4*uint64(b.c.Neurons))
	x.lists, x.lengths = make([][]engine.Amplitude, delays), make([]uint64, delays+1)
	return x, a.bytes
}

// startDriven loads the kernels; a state must be written next.
func (b *backend) startDriven() error {
	if b.c.Driven == nil {
		return nil
	}
	x, _ := b.layDriven(b.plan.ptr[bufDriven])
	var err error
	if x.module, err = b.ctx.Load([]byte(b.drivenImage.PTX())); err != nil {
		return err
	}
	b.driving = x
	for name, k := range x.kernels.named() {
		if err := k.find(x.module, "driven_"+name); err != nil {
			return err
		}
	}
	return b.stream.Fill(x.potential, 0, 4*uint64(b.c.Neurons)) // of neurons of other models, it stays 0
}

// free gives back what startDriven took.
func (x *driving) free() error {
	if x == nil {
		return nil
	}
	for _, k := range x.kernels.named() {
		k.release()
	}
	return x.module.Unload()
}

// tellAmplitudes uploads the lengths of the lists. The caller waits for it before they change.
func (b *backend) tellAmplitudes() error {
	x := b.driving
	if x == nil {
		return nil
	}
	for d, list := range x.lists {
		x.lengths[d+1] = x.lengths[d] + uint64(len(list))
	}
	return b.stream.Upload(x.rows.fired.before, data(x.lengths), size(x.lengths))
}

// deliverDriven is step 1d, and keeps the potentials that the update changes. The caller waits before the next burst.
func (b *backend) deliverDriven() error {
	x := b.driving
	if x == nil {
		return nil
	}
	w := &b.args.dynamics.network
	if pairs := x.lengths[len(x.lists)]; pairs > 0 {
		args := drivenDeliverArgs{x.rows, b.number, b.c.Scale, w.areas, w.areaCount, w.acc}
		if err := x.kernels.deliver.launch(b, b.spread(32*pairs), args); err != nil {
			return err
		}
	}
	return x.kernels.potentials.launch(b, uint64(b.c.Neurons), drivenPotentialsArgs{*w, b.c.Neurons, x.potential})
}

// takeAmplitudes adds the amplitudes to a burst that has been delivered. After an *engine.AmplitudeError the state is that of an incomplete
// burst, as after a failed one.
func (b *backend) takeAmplitudes(out *engine.Burst) error {
	if out.Amplitudes = out.Amplitudes[:0]; b.driving == nil {
		return nil
	}
	if err := b.fetchPotentials(len(out.Fired)); err != nil {
		return b.failed("stepping", err)
	}
	var err error
	if out.Amplitudes, err = b.addAmplitudes(out.Amplitudes, out.Fired); err != nil {
		b.fault = err
		return err
	}
	if err := b.keepAmplitudes(out.Amplitudes); err != nil {
		return b.failed("stepping", err)
	}
	return nil
}

// addAmplitudes adds those of neurons that have fired, whose potentials are there. The error is the first *engine.AmplitudeError.
func (b *backend) addAmplitudes(list []engine.Amplitude, fired []uint32) ([]engine.Amplitude, error) {
	for i, n := range fired {
		a := &b.c.Areas[b.c.AreaOf(n)]
		if a.PSPMax == 0 {
			continue
		}
		one, err := engine.NewAmplitude(b.c, a, n, b.driving.potentials[i])
		if err != nil {
			return list, err
		}
		list = append(list, one)
	}
	return list, nil
}

// keepAmplitudes takes those of the burst in progress, of the whole network.
func (b *backend) keepAmplitudes(list []engine.Amplitude) error {
	x := b.driving
	oldest := x.lists[len(x.lists)-1]
	copy(x.lists[1:], x.lists)
	x.lists[0] = append(oldest[:0], list...)
	return b.uploadAmplitudes(b.number, x.lists[0])
}

// fetchPotentials downloads those of the neurons that have fired.
func (b *backend) fetchPotentials(fired int) error {
	x := b.driving
	if x.potentials = append(x.potentials[:0], make([]float32, fired)...); fired == 0 {
		return nil
	}
	args := drivenFiredArgs{b.queue(b.number), b.plan.ptr[bufLengths], x.potential, x.found}
	if err := x.kernels.fired.launch(b, uint64(fired), args); err != nil {
		return err
	}
	if err := b.stream.Download(data(x.potentials), x.found, size(x.potentials)); err != nil {
		return err
	}
	return b.stream.Synchronize()
}

// uploadAmplitudes puts those of a burst into the ring and waits.
func (b *backend) uploadAmplitudes(number uint64, list []engine.Amplitude) error {
	if len(list) == 0 {
		return nil
	}
	x := &b.driving.rows.fired
	at := x.lists + driver.Ptr(number%uint64(x.delays)*x.room*uint64(unsafe.Sizeof(list[0])))
	if err := b.stream.Upload(at, data(list), size(list)); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(list)
	return err
}

// SetAmplitudes replaces the amplitudes of the burst that is delay bursts back by those of all parts, ascending. If it fails, the next
// call returns the error.
func (b *backend) SetAmplitudes(delay int, list []engine.Amplitude) {
	if b.fault != nil {
		return
	}
	if err := b.ctx.Enter(); err != nil {
		_ = b.failed("taking the amplitudes", err)
		return
	}
	defer b.ctx.Leave()
	x := b.driving
	x.lists[delay-1] = append(x.lists[delay-1][:0], list...)
	if err := b.uploadAmplitudes(b.number+uint64(x.rows.fired.delays)-uint64(delay), x.lists[delay-1]); err != nil {
		_ = b.failed("taking the amplitudes", err)
	}
}

// read copies the amplitudes into a state.
func (x *driving) read(s *engine.State) {
	if x == nil {
		return
	}
	for d, list := range x.lists {
		s.Amplitudes[d] = append(s.Amplitudes[d][:0], list...)
	}
}

// writeDriven takes the amplitudes from a state.
func (b *backend) writeDriven(s *engine.State) error {
	x := b.driving
	if x == nil {
		return nil
	}
	for d, list := range s.Amplitudes {
		x.lists[d] = append(x.lists[d][:0], list...)
		if err := b.uploadAmplitudes(b.number+uint64(x.rows.fired.delays)-uint64(d)-1, x.lists[d]); err != nil {
			return err
		}
	}
	return nil
}
