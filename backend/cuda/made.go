package cuda

import (
	"errors"
	"math/bits"
	"runtime"
	"slices"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/quanta"
	"burst/internal/weights"
)

// made are the rows of a part that a Maker has left on a device, as uploadRows would bring them there.
type made struct {
	site     *site
	b        building // what of it is to stay: row, target, weight, delays
	values   driver.Ptr
	delays   uint64 // bytes of each
	unplaced string // why rows are not of places
	least    uint32 // no delay is smaller
	packing
	coded rows       // of places: how they lie; of others nothing
	more  driver.Ptr // of places: further units
}

// free gives the rows back where nobody has taken them. A nil made has none.
func (m *made) free() error {
	if m == nil {
		return nil
	}
	if err := m.site.ctx.Enter(); err != nil {
		return err
	}
	defer m.site.ctx.Leave()
	var errs []error
	for _, p := range m.lists() {
		if p != 0 {
			errs = append(errs, m.site.ctx.Free(p))
		}
	}
	return errors.Join(errs...)
}

// lists are the rows by the buffers that they are to be.
func (m *made) lists() map[slot]driver.Ptr {
	return map[slot]driver.Ptr{bufRow: m.b.row, bufTarget: m.b.target, bufWeight: m.b.weight, bufValues: m.values, bufDelay: m.b.shortDelay | m.b.longDelay, bufMorePlaces: m.more}
}

// into has rows stay for the backends of a network's parts, as far as they are on the Maker's devices. A nil Maker makes none.
func (m *Maker) into(parts []*backend) {
	if m == nil {
		return
	}
	for i, b := range parts {
		if i < len(m.devices) && m.devices[i] == b.device.Index() {
			m.takers[i] = b
		}
	}
}

// take gives a backend the rows that have stayed for it; nil: they have come back, or the host has made them.
func (m *Maker) take(b *backend) *made {
	if m == nil {
		return nil
	}
	i := slices.Index(m.takers, b)
	if i < 0 {
		return nil
	}
	rows := m.made[i]
	m.made[i] = nil
	return rows
}

// toMake asks about rows of a recipe that are yet to be made, and begin at row. Drawn delays count as different.
func (b *backend) toMake(r *connectome.Recipe, row []uint64) *question {
	c := *b.c
	c.Row, c.MaxDelay = row, r.Longest
	rows := lengthsOf(&c)
	return &question{b: b, c: &c, r: &rows, oneDelay: func() bool {
		differs := func(p connectome.ProjectionRecipe) bool {
			return !p.None && (p.Delay.Kind != genome.Const || int(p.Steps) != r.Longest)
		}
		return !slices.ContainsFunc(r.Projections, differs)
	}}
}

// keep makes synapses that stay on the device, packed as the host would pack them for the taker.
func (w *work) keep(row, sums []uint64, unplaced string) (connectome.Placed, error) {
	m, b, n := &made{site: w.site, unplaced: unplaced, least: leastOf(w.r)}, w.building(), row[len(row)-1]
	m.portBits = uint32(bits.Len32(w.r.Ports))
	most := w.taker.tune.mostWeights(w.r.Ports)
	list := []room{{&b.target, readBytes(n), false}}
	if w.labels = constants(w.r); w.labels == nil || len(w.labels) > most {
		w.labels, list = nil, append(list, room{&b.weight, readBytes(n), false})
	}
	if err := w.take(list...); err != nil {
		return connectome.Placed{}, err
	}
	for _, l := range list { // what follows the last synapse is read, as if it were one
		if err := w.stream.Fill(*l.to+driver.Ptr(l.bytes-2*load), 0, 2*load); err != nil {
			return connectome.Placed{}, err
		}
	}
	var f finishing
	if w.labels != nil {
		if err := w.list(m); err != nil {
			return connectome.Placed{}, err
		}
		f.values = m.values
	}
	hash := make([]uint64, 1)
	if err := w.take(room{&f.hash, size(hash), true}); err != nil {
		return connectome.Placed{}, err
	}
	placed, err := w.make(&b, row, sums, f)
	if err != nil {
		return placed, err
	}
	if err := errors.Join(w.stream.Download(data(hash), f.hash, size(hash)), w.stream.Synchronize()); err != nil {
		return placed, err
	}
	placed.Hash = hash[0]
	if m.delays, err = w.narrowed(&b, n, placed.Longest); err != nil {
		return placed, err
	}
	if w.labels == nil && b.joinBits == 0 {
		if w.labels, err = w.weights(b, n); err != nil {
			return placed, err
		}
		if w.labels != nil {
			if err := w.pack(&b, m, n); err != nil {
				return placed, err
			}
		}
	}
	if w.labels == nil {
		if m.delayBits, err = w.join(&b, n, placed.Longest); err != nil {
			return placed, err
		}
	}
	m.b, placed.Kept, w.made = b, true, m
	w.leave(m)
	return placed, nil
}

// leave leaves rows on the device.
func (w *work) leave(m *made) {
	for _, p := range m.lists() {
		w.taken = slices.DeleteFunc(w.taken, func(taken driver.Ptr) bool { return taken == p })
	}
}

// narrowed brings the delays of n synapses, the longest of so many bursts, to the bytes each that these take, and says how many.
func (w *work) narrowed(b *building, n uint64, longest int) (uint64, error) {
	bytes := connectome.DelayBytes(longest)
	switch {
	case b.joinBits > 0 || bytes == b.delayBytes():
		return bytes, nil
	case bytes == 0:
		return 0, w.give(&b.shortDelay, &b.longDelay)
	}
	if err := w.take(room{&b.shortDelay, n, false}); err != nil {
		return 0, err
	}
	if err := overAll(w, n, &w.site.shorten, narrowArgs{*b, n, b.shortDelay}); err != nil {
		return 0, err
	}
	return bytes, w.give(&b.longDelay)
}

// join is joined for n synapses on the device, whose delays of two bytes it puts into the words of weights.
func (w *work) join(b *building, n uint64, longest int) (uint32, error) {
	if b.longDelay == 0 {
		return b.joinBits, nil
	}
	var at driver.Ptr
	wide, delayBits := make([]uint32, 1), uint32(bits.Len(uint(longest)))
	if err := w.take(room{&at, size(wide), true}); err != nil {
		return 0, err
	}
	err := errors.Join(overAll(w, n, &w.site.find, wideArgs{*b, n, delayBits, at}), w.stream.Download(data(wide), at, size(wide)), w.stream.Synchronize())
	if err != nil || wide[0] > 0 {
		return 0, err
	}
	if err := overAll(w, n, &w.site.join, joinArgs{*b, n, delayBits}); err != nil {
		return 0, err
	}
	return delayBits, w.give(&b.longDelay)
}

// constants are the weights of all projections, ascending; nil where one is drawn.
func constants(r *connectome.Recipe) []int32 {
	var list []int32
	for i := range r.Projections {
		switch p := &r.Projections[i]; {
		case p.None:
		case p.Weight.Kind != genome.Const:
			return nil
		default:
			list = append(list, quanta.Clamp(p.Fixed))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// foundSlots is FOUND_SLOTS of kernels/kept_rows.cuh.
const foundSlots = 1 << 14

// weights are those of n synapses, ascending; nil where there are more than the taker packs.
func (w *work) weights(b building, n uint64) ([]int32, error) {
	most := w.taker.tune.mostWeights(w.r.Ports)
	if most == 0 {
		return nil, nil
	}
	found, count := make([]uint64, foundSlots), make([]uint32, 1)
	var onDevice struct{ found, count driver.Ptr }
	if err := w.take(room{&onDevice.found, size(found), true}, room{&onDevice.count, size(count), true}); err != nil {
		return nil, err
	}
	err := errors.Join(
		overAll(w, n, &w.site.collect, collectArgs{b, n, onDevice.found, onDevice.count, uint32(most)}),
		w.stream.Download(data(found), onDevice.found, size(found)), w.stream.Download(data(count), onDevice.count, size(count)), w.stream.Synchronize(),
	)
	runtime.KeepAlive(found)
	if err != nil || int(count[0]) > most {
		return nil, err
	}
	list := []int32{}
	for _, entry := range found {
		if entry != 0 {
			list = append(list, int32(uint32(entry)))
		}
	}
	slices.Sort(list)
	return list, nil
}

// list brings the weights of labels to the device.
func (w *work) list(m *made) error {
	m.table = &weights.Table{List: w.labels}
	if err := w.take(room{&m.values, size(w.labels), false}); err != nil {
		return err
	}
	return errors.Join(w.stream.Upload(m.values, data(w.labels), size(w.labels)), w.stream.Synchronize())
}

// pack joins weights that are in words of their own with their ports, as labels.
func (w *work) pack(b *building, m *made, n uint64) error {
	if err := w.list(m); err != nil {
		return err
	}
	if err := overAll(w, n, &w.site.pack, packArgs{*b, n, m.values, uint32(len(w.labels))}); err != nil {
		return err
	}
	return w.give(&b.weight)
}

// soon is delayedOf for rows that have stayed, whose numbers of synapses with delay 1 it leaves at to.
func (m *made) soon(r *rows, to driver.Ptr) (delayed, error) {
	w := &work{site: m.site, tune: makingDefaults}
	soon, err := w.soonOf(m.b, to)
	return delayed{soon: uint32(soon / r.filled), later: uint32((r.synapses - soon) / r.filled)}, errors.Join(err, w.free())
}

// soonOf counts the synapses of each row that have delay 1, and all of them.
func (w *work) soonOf(b building, to driver.Ptr) (uint64, error) {
	var at driver.Ptr
	sum := make([]uint64, 1)
	if err := w.take(room{&at, size(sum), true}); err != nil {
		return 0, err
	}
	err := errors.Join(overAll(w, b.neurons, &w.site.soon, soonArgs{b, to, at}), w.stream.Download(data(sum), at, size(sum)), w.stream.Synchronize())
	return sum[0], err
}

// overAll launches a kernel whose threads share n pieces of work.
func overAll[A any](w *work, n uint64, k *entry[A], args A) error {
	if err := use(w.site, k); err != nil {
		return err
	}
	blocks := min(divUp(n, uint64(w.tune.threads)), uint64(32*w.sms))
	return k.launchGrid(uint32(blocks), w.tune.threads, 0, w.stream, args)
}
