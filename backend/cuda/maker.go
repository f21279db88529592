package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/exact"
	"burst/internal/quanta"
	"burst/kernels"
)

// Maker builds networks on GPUs: it is the connectome.Options.Maker whose synapses kernels draw, place and sort (kernels/build.cu). Rows of
// parts that OpenParts opens stay on the device and are packed there, or coded if they are to be rows of places and can be. All others come back to the
// host, and are packed and uploaded as those that the host has built. Goroutines may use it at the same time, each for a part of its own;
// those of one device wait for each other.
//
// While it builds, a device holds the rows, 8 bytes a synapse (4 where all weights are constants that can be packed) and mostly what its delay
// takes at last; 12 bytes a neuron and 8 a port; where a rule chooses without multapses, tables of choices, mostly up to 64 MiB; and where a rule has
// a kernel or mask, stretches, up to 3/8 of a byte a synapse, places and trees. Before rows are there, stretches may take 64 MiB of any network.
type Maker struct {
	devices []int
	// by device
	busy   []sync.Mutex
	sites  []*site    // nil: not used yet
	takers []*backend // for whom rows stay; nil: they come back
	made   []*made    // that have stayed, until somebody takes them; nil: none have
	tune   making
}

// making is what changes a Maker's speed but no result.
type making struct {
	threads uint32 // of a block that draws, at most 256
	classes []class
	tables  uint64 // bytes of all tables of choices, where one fits
	staging uint64 // bytes that come from the device at a time
	wide    bool   // keys of 8 bytes even where 4 would do
	keyBits uint32 // that a synapse may take where rows are made in shared memory, at most 64
	cuts    uint64 // bytes of stretches that may lie on a device at a time while synapses are placed, however few these are
	counted uint64 // and while they are counted, when their rows are not there yet
}

// class are rows of up to most synapses, which blocks of so many threads make in shared memory, as far as they fit. Blocks of the last class
// make longer rows in place.
type class struct {
	most    uint64
	threads uint32
}

var makingDefaults = making{threads: 256, classes: []class{{512, 32}, {1024, 64}, {2048, 128}, {4096, 256}, {math.MaxUint64, 1024}}, tables: 64 << 20, staging: 32 << 20, keyBits: 64, cuts: 1 << 16, counted: 64 << 20}

// NewMaker builds on devices: of several, part i of a network on the i-th. The context of each that was used stays until Close.
func NewMaker(devices []int) *Maker {
	k := len(devices)
	return &Maker{devices: slices.Clone(devices), busy: make([]sync.Mutex, k), sites: make([]*site, k), takers: make([]*backend, k), made: make([]*made, k), tune: makingDefaults}
}

// Close lets go of the devices. A nil Maker has none.
func (m *Maker) Close() error {
	if m == nil {
		return nil
	}
	var errs []error
	for i, s := range m.sites {
		if s != nil {
			errs = append(errs, m.made[i].free(), s.close())
		}
		m.sites[i], m.takers[i], m.made[i] = nil, nil, nil
	}
	return errors.Join(errs...)
}

// Count is that of connectome.Maker. The error wraps engine.ErrUnavailable when this machine cannot run CUDA.
func (m *Maker) Count(r *connectome.Recipe, row []uint64) (made []uint64, err error) {
	err = m.on(r, func(w *work) error {
		made, err = w.count(row)
		return err
	})
	return made, err
}

// Place is that of connectome.Maker.
func (m *Maker) Place(r *connectome.Recipe, row []uint64, room func() (connectome.Synapses, error), sums []uint64) (placed connectome.Placed, err error) {
	var refused error // by the host, which has nothing to do with the device
	err = m.on(r, func(w *work) error {
		defer clear(w.starts)
		if w.taker != nil && r.Keeps && row[r.Neurons] > 0 {
			q := w.taker.toMake(r, row)
			lacks := q.lacks([]want{many, placeable, alike})
			if lacks == "" && w.codes(q) {
				placed, lacks, err = w.code(q, sums)
			}
			if lacks != "" && err == nil {
				placed, err = w.keep(row, sums, lacks)
			}
			if placed.Kept || err != nil {
				return err
			}
		}
		var to connectome.Synapses
		if to, refused = room(); refused == nil {
			placed, err = w.place(row, to, sums)
		}
		return err
	})
	return placed, cmp.Or(refused, err)
}

// on does a recipe's work on its device, whose memory it then gives back.
func (m *Maker) on(r *connectome.Recipe, do func(w *work) error) (err error) {
	i := r.Part.Index % len(m.devices)
	m.busy[i].Lock()
	defer m.busy[i].Unlock()
	s := m.sites[i]
	if s == nil {
		if s, err = newSite(m.devices[i]); err != nil {
			return unavailable(fmt.Errorf("building on device %d: %w", m.devices[i], err))
		}
		m.sites[i] = s
	}
	if err := s.ctx.Enter(); err != nil {
		return fmt.Errorf("building on device %d: %w", m.devices[i], err)
	}
	defer s.ctx.Leave()
	w := &work{site: s, r: r, tune: m.tune, taker: m.takers[i]}
	err = do(w)
	if err = errors.Join(err, w.free()); err != nil {
		return fmt.Errorf("building on device %d: %w", m.devices[i], err)
	}
	m.made[i] = w.made
	return nil
}

// site is a device with the kernels that build.
type site struct {
	ctx           *driver.Context
	image, other  kernels.Image    // kernels of build.cu, and of near.cu
	modules       []*driver.Module // of kernels that have been used
	stream        *driver.Stream
	sms           int
	room          uint64                               // bytes of shared memory that a block may have
	starts        map[*connectome.FieldRecipe][]uint64 // see stretches
	count, place  entry[makeArgs]
	byFormula     entry[makeArgs]
	cut           entry[cutArgs]
	countNear     entry[nearArgs]
	placeNear     entry[nearArgs]
	narrow, wide  entry[finishArgs]
	long          entry[finishArgs]
	collect       entry[collectArgs]
	pack          entry[packArgs]
	shorten       entry[narrowArgs]
	find          entry[wideArgs]
	join          entry[joinArgs]
	soon          entry[soonArgs]
	stretch, code entry[codeArgs]
}

// The kernels' parameters, in order.
type (
	makeArgs struct {
		building   building
		projection projection
	}
	finishArgs struct {
		building  building
		finishing finishing
	}
	collectArgs struct {
		building     building
		synapses     uint64
		found, count driver.Ptr
		most         uint32
	}
	packArgs struct {
		building building
		synapses uint64
		values   driver.Ptr
		count    uint32
	}
	narrowArgs struct {
		building building
		synapses uint64
		to       driver.Ptr
	}
	wideArgs struct {
		building  building
		synapses  uint64
		delayBits uint32
		wide      driver.Ptr
	}
	joinArgs struct {
		building  building
		synapses  uint64
		delayBits uint32
	}
	soonArgs struct {
		building  building
		soon, sum driver.Ptr
	}
)

func newSite(device int) (*site, error) {
	d, err := driver.Open("")
	if err != nil {
		return nil, err
	}
	v, err := d.Device(device)
	if err != nil {
		return nil, err
	}
	s := &site{starts: map[*connectome.FieldRecipe][]uint64{}}
	if s.image, err = selectImage(d, v, kernels.Build()); err != nil {
		return nil, err
	}
	if s.other, err = selectImage(d, v, kernels.Near()); err != nil {
		return nil, err
	}
	if s.sms, err = v.Attribute(driver.MultiprocessorCount); err != nil {
		return nil, err
	}
	if s.room, err = sharedRoom(v); err != nil {
		return nil, err
	}
	if s.ctx, err = v.Retain(); err != nil {
		return nil, err
	}
	if err := s.ctx.Enter(); err != nil {
		return nil, errors.Join(err, s.ctx.Release())
	}
	defer s.ctx.Leave()
	if s.stream, err = s.ctx.Stream(); err != nil {
		return nil, errors.Join(err, s.free())
	}
	return s, nil
}

// load brings a kernel of an image onto the device.
func (s *site) load(image kernels.Image, k kernel, name string) error {
	text, err := only(image.PTX(), []string{name})
	if err != nil {
		return fmt.Errorf("%s: %w", image.Name, err)
	}
	m, err := s.ctx.Load([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %s: %w", image.Name, name, err)
	}
	s.modules = append(s.modules, m)
	return k.find(m, name)
}

// use makes a kernel ready. Only those that are used are loaded: the driver takes up to a third of a second to compile one for the first time.
func use[A any](s *site, k *entry[A]) error {
	for image, list := range s.named() {
		for name, other := range list {
			if k.f == nil && other == kernel(k) {
				return s.load(image, k, name)
			}
		}
	}
	return nil
}

// named are all kernels by their names in each image.
func (s *site) named() map[kernels.Image]map[string]kernel {
	return map[kernels.Image]map[string]kernel{
		s.image: {
			"count_synapses": &s.count, "place_synapses": &s.place, "make_narrow_rows": &s.narrow, "make_wide_rows": &s.wide, "make_long_rows": &s.long,
			"collect_weights": &s.collect, "pack_rows": &s.pack, "narrow_delays": &s.shorten, "find_wide": &s.find, "join_delays": &s.join, "count_soon": &s.soon,
			"count_stretches": &s.stretch, "code_rows": &s.code,
		},
		s.other: {
			"cut_trees": &s.cut, "count_near": &s.countNear, "place_near": &s.placeNear, "place_by_formula": &s.byFormula,
		},
	}
}

func (s *site) close() error {
	if err := s.ctx.Enter(); err != nil {
		return errors.Join(err, s.ctx.Release())
	}
	defer s.ctx.Leave()
	return s.free()
}

// free gives back everything, in a context that is entered.
func (s *site) free() error {
	var errs []error
	if s.stream != nil {
		errs = append(errs, s.stream.Synchronize(), s.stream.Destroy())
	}
	for _, list := range s.named() {
		for _, k := range list {
			k.release()
		}
	}
	for _, m := range s.modules {
		errs = append(errs, m.Unload())
	}
	return errors.Join(append(errs, s.ctx.Release())...)
}

// work is a recipe on its device.
type work struct {
	*site
	r      *connectome.Recipe
	tune   making
	taker  *backend // for whom rows can stay; nil: for nobody
	labels []int32  // of constant weights that are packed from the start
	made   *made    // that stay
	taken  []driver.Ptr
	laid   map[unsafe.Pointer]driver.Ptr          // see lay
	fields map[*connectome.FieldRecipe]driver.Ptr // see fieldOf
}

func (w *work) free() error {
	errs := []error{w.stream.Synchronize()}
	for _, p := range w.taken {
		errs = append(errs, w.ctx.Free(p))
	}
	return errors.Join(errs...)
}

// RoomError says that a device has too little memory to build on. What is built may need less.
type RoomError struct {
	Need, Free uint64 // bytes
	cause      error  // of the driver; nil: it was not asked
}

func (e *RoomError) Error() string {
	text := fmt.Sprintf("%d bytes of its memory are needed and %d are free; free the device, choose another with --device, or build the network on the host (--build host)", e.Need, e.Free)
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap is what the driver said.
func (e *RoomError) Unwrap() error { return e.cause }

// room is a list on the device that is to be taken.
type room struct {
	to    *driver.Ptr
	bytes uint64 // 0: there is none
	clear bool
}

// take takes memory for lists, if there is enough for all of them.
func (w *work) take(list ...room) error {
	need := uint64(0)
	for _, l := range list {
		need += l.bytes
	}
	free, _, err := w.ctx.MemoryInfo()
	if err != nil {
		return err
	}
	if need > free {
		return &RoomError{need, free, nil}
	}
	for _, l := range list {
		if l.bytes == 0 {
			continue
		}
		if *l.to, err = w.ctx.Alloc(l.bytes); err != nil {
			return &RoomError{need, free, err}
		}
		w.taken = append(w.taken, *l.to)
		if l.clear {
			if err := w.stream.Fill(*l.to, 0, l.bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// give gives back lists that take has taken, where there are any.
func (w *work) give(list ...*driver.Ptr) error {
	errs := []error{w.stream.Synchronize()}
	for _, p := range list {
		if at := slices.Index(w.taken, *p); *p != 0 && at >= 0 {
			errs = append(errs, w.ctx.Free(*p))
			w.taken = slices.Delete(w.taken, at, at+1)
		}
		*p = 0
	}
	return errors.Join(errs...)
}

// stage does something with memory of the host through which copies of at most so many bytes go.
func (w *work) stage(most uint64, do func(s *staging) error) error {
	return stage(w.ctx, w.stream, min(most, w.tune.staging), do)
}

// count is Count.
func (w *work) count(row []uint64) ([]uint64, error) {
	b, made := w.building(), make([]uint64, len(w.r.Projections))
	if !slices.ContainsFunc(w.r.Projections, func(q connectome.ProjectionRecipe) bool { return !q.Known }) {
		return made, nil
	}
	if err := w.take(room{&b.row, size(row), true}, room{&b.made, size(made), true}, room{&b.tables, w.tableBytes(), false}); err != nil {
		return nil, err
	}
	for i := range w.r.Projections {
		q := &w.r.Projections[i]
		if q.Known {
			continue
		}
		p, err := w.projection(i)
		switch {
		case err != nil:
		case q.Field != nil && q.Field.Near:
			err = w.near(&w.site.countNear, b, p, q.Field, max(w.tune.counted, 4*q.Least)) // what rows will take
		default:
			err = w.draw(&w.site.count, b, p)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.stage(min(size(row), smallStaging), func(s *staging) error {
		return errors.Join(s.addTo(row, b.row), s.download(data(made), b.made, size(made)))
	})
	return made, err
}

// smallStaging is for lists that are a number a neuron or port: to lock more memory takes longer than a few more copies.
const smallStaging = 4 << 20

// place makes synapses for the host. They are packed on the device where all weights are constants, which the host unpacks.
func (w *work) place(row []uint64, to connectome.Synapses, sums []uint64) (connectome.Placed, error) {
	b, n := w.building(), uint64(len(to.Target))
	if n == 0 {
		return connectome.Placed{Longest: 1}, nil
	}
	list := []room{{&b.target, 4 * n, false}}
	if w.labels = constants(w.r); w.labels == nil || b.portBits == 32 || len(w.labels) > 1<<(32-b.portBits) {
		w.labels, list = nil, append(list, room{&b.weight, 4 * n, false})
	}
	if err := w.take(list...); err != nil {
		return connectome.Placed{}, err
	}
	placed, err := w.make(&b, row, sums, finishing{})
	if err != nil {
		return placed, err
	}
	err = w.stage(4*n, func(s *staging) error {
		return errors.Join(
			s.download(data(to.Target), b.target, size(to.Target)), s.download(data(to.Weight), b.weight, size(to.Weight)*uint64(flag(b.weight != 0))),
			s.download(data(to.Delay.Short), b.shortDelay, size(to.Delay.Short)), s.download(data(to.Delay.Long), b.longDelay, size(to.Delay.Long)),
		)
	})
	if err == nil && w.labels != nil {
		inShares(len(to.Target), func(lo, hi int) {
			for k, word := range to.Target[lo:hi] {
				to.Target[lo+k], to.Weight[lo+k] = word&(1<<b.portBits-1), w.labels[word>>b.portBits]
			}
		})
	}
	return placed, err
}

// make makes all synapses in sorted rows, for whose ports and weights there is room. f says what is wanted of them.
func (w *work) make(b *building, row, sums []uint64, f finishing) (connectome.Placed, error) {
	placed, n := connectome.Placed{Longest: 1}, row[len(row)-1]
	found, along := make([]uint32, 2), w.along()
	list := []room{
		{&b.row, size(row), false}, {&b.cursor, 4 * uint64(w.r.Neurons), true}, {&b.sums, size(sums), true},
		{&b.found, size(found), true}, {&b.tables, w.tableBytes(), false}, {&f.drawn, size(along), false},
	}
	keyBits := w.keyBits(b)
	stays := f.hash != 0                                // or else the host has made room for delays
	waits := stays && b.keyBytes > 0 && len(along) == 0 // keys have the delays, and how long these are is known before rows are made
	if !waits {
		list = append(list, b.delays(n, connectome.DelayBytes(w.r.Longest)))
	}
	if err := w.take(list...); err != nil {
		return placed, err
	}
	f.count = uint32(len(along))
	err := w.stage(min(size(row), smallStaging), func(s *staging) error {
		if err := errors.Join(s.upload(b.row, data(row), size(row)), s.upload(f.drawn, data(along), size(along))); err != nil {
			return err
		}
		for i := range w.r.Projections {
			if err := w.placeBefore(*b, i, 3*n/8); err != nil {
				return err
			}
		}
		if waits {
			if err := errors.Join(s.download(data(found), b.found, size(found)), w.layDelays(b, n, int(found[0]))); err != nil {
				return err
			}
		}
		if err := w.makeRows(*b, row, keyBits, f); err != nil {
			return err
		}
		return errors.Join(s.download(data(found), b.found, size(found)), s.addTo(sums, b.sums))
	})
	placed.Longest, placed.Bad, b.keyBytes = max(1, int(found[0])), found[1] != 0, 0
	return placed, err
}

// along are the projections whose synapses are drawn where rows are made, ascending by their sources.
func (w *work) along() (list []projection) {
	for i := range w.r.Projections {
		if p := w.plain(i); p.units > 0 && drawnAlong(&w.r.Projections[i]) {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(p, q projection) int { return cmp.Compare(p.from, q.from) })
	return list
}

// layDelays makes room for the delays of n synapses that are keys yet, the longest of so many bursts: none where they can lie in the words
// of weights.
func (w *work) layDelays(b *building, n uint64, longest int) error {
	bytes, delayBits := connectome.DelayBytes(longest), uint32(bits.Len(uint(longest)))
	if least, most := extentOf(w.r); bytes == 2 && b.weight != 0 && bits.Len32(uint32(max(^least, most)))+int(delayBits) < 32 {
		few, err := w.weights(*b, n)
		if err != nil {
			return err
		}
		if few == nil { // or else they are packed with their ports
			b.joinBits = delayBits
			return nil
		}
	}
	return w.take(b.delays(n, bytes))
}

// placeBefore places the i-th projection's synapses, unless they are made along with their rows. Stretches may take so many bytes at a time.
func (w *work) placeBefore(b building, i int, stretches uint64) error {
	q := &w.r.Projections[i]
	if drawnAlong(q) {
		return nil
	}
	f := q.Field
	p, err := w.projection(i)
	switch {
	case err != nil:
		return err
	case f != nil && f.Near:
		return w.near(&w.site.placeNear, b, p, f, max(w.tune.cuts, stretches))
	case f != nil:
		return w.draw(&w.site.byFormula, b, p)
	}
	return w.draw(&w.site.place, b, p)
}

// projection is what kernels take of the i-th one, with what its formulas read.
func (w *work) projection(i int) (p projection, err error) {
	p = w.plain(i)
	if f := w.r.Projections[i].Field; f != nil && p.units > 0 {
		p.formulas, err = w.fieldOf(f)
	}
	return p, err
}

// plain is projection without what formulas read.
func (w *work) plain(i int) projection {
	q := &w.r.Projections[i]
	p := projectionOf(q, w.r.Scale)
	p.index = uint32(i)
	if w.labels != nil {
		p.label = uint32(sort.Search(len(w.labels), func(i int) bool { return w.labels[i] >= quanta.Clamp(q.Fixed) }))
	}
	return p
}

// draw launches a kernel that draws all synapses of a projection.
func (w *work) draw(k *entry[makeArgs], b building, p projection) error {
	if p.units == 0 {
		return nil
	}
	if err := use(w.site, k); err != nil {
		return err
	}
	threads, blocks := w.tune.threads, divUp(p.units, uint64(w.tune.threads))
	if p.slots > 0 {
		threads, blocks = 32, w.choosers(&p)/32
	}
	return k.launchGrid(uint32(min(blocks, uint64(32*w.sms))), threads, 0, w.stream, makeArgs{b, p})
}

// choosers is how many threads choose without multapses, in warps: each has a table. Above a MiB, tables take half a byte a synapse at most.
func (w *work) choosers(p *projection) uint64 {
	tables := min(w.tune.tables, max(1<<20, p.units*p.count/2))
	return 32 * max(1, min(divUp(p.units, 32), tables/(4*p.slots)/32, uint64(32*w.sms)))
}

// tableBytes is the memory of all threads' tables of choices.
func (w *work) tableBytes() (most uint64) {
	for i := range w.r.Projections {
		if p := projectionOf(&w.r.Projections[i], w.r.Scale); p.slots > 0 && p.units > 0 {
			most = max(most, 4*p.slots*w.choosers(&p))
		}
	}
	return most
}

// keyBits is how many bits of a key a synapse takes, and sets what kernels know of keys.
func (w *work) keyBits(b *building) uint32 {
	if b.weight == 0 {
		b.lowBits = uint32(bits.Len(uint(len(w.labels) - 1)))
	} else {
		least, most := extentOf(w.r)
		b.least, b.lowBits = least, uint32(bits.Len32(uint32(most)-uint32(least)))
	}
	if w.r.Longest > 1 {
		b.delayBits = uint32(bits.Len(uint(w.r.Longest)))
	}
	n := b.lowBits + b.portBits + b.delayBits
	if w.tune.wide {
		n = max(n, 33)
	}
	switch {
	case n > w.tune.keyBits:
	case n <= 32:
		b.keyBytes = 4
	case b.weight != 0:
		b.keyBytes = 8
	}
	return n
}

// extentOf is an interval that holds all weights.
func extentOf(r *connectome.Recipe) (least, most int32) {
	least, most = math.MaxInt32, math.MinInt32
	for i := range r.Projections {
		if q := &r.Projections[i]; !q.None {
			least, most = min(least, q.Weights[0]), max(most, q.Weights[1])
		}
	}
	return least, most
}

// makeRows makes all rows complete, whose starts are known, of synapses whose keys take so many bits.
func (w *work) makeRows(b building, row []uint64, keyBits uint32, f finishing) error {
	k, keyBytes, log := &w.site.narrow, uint64(4), 4
	if keyBits > 32 {
		k, keyBytes, log = &w.site.wide, 8, 3
	}
	longest, sizes := spread(row)
	room := uint64(0) // of 2^log keys, with gaps between them; 0: there are none
	for _, c := range w.tune.classes {
		if keyBits > w.tune.keyBits {
			break
		}
		most := min(c.most, longest)
		log = max(log, bits.Len64(most-1))
		for room = roomOf(keyBytes, log); room > w.room; room = roomOf(keyBytes, log) {
			log--
			most = 1 << log
		}
		if most <= f.least {
			continue
		}
		f.most = most
		if sizes>>bits.Len64(f.least)<<bits.Len64(f.least)&(2<<log-1) != 0 {
			if err := w.launchRows(k, c.threads, room, b, f); err != nil {
				return err
			}
		}
		f.least = most
	}
	if longest <= f.least {
		return nil
	}
	if f.most = longest; room > 0 {
		f.roomLog = uint32(log)
	}
	return w.launchRows(&w.site.long, w.tune.classes[len(w.tune.classes)-1].threads, room, b, f)
}

// roomOf is the shared memory that 2^log keys and the gaps between them take.
func roomOf(keyBytes uint64, log int) uint64 { return keyBytes<<log + keyBytes<<log*keyBytes/128 }

// launchRows launches a kernel that makes rows, whose blocks have so many bytes of shared memory.
func (w *work) launchRows(k *entry[finishArgs], threads uint32, shared uint64, b building, f finishing) error {
	const plain = 48 << 10 // more is to be asked for
	if err := use(w.site, k); err != nil {
		return err
	}
	if shared > plain {
		if err := k.f.AllowShared(uint32(shared)); err != nil {
			return err
		}
	}
	return k.launchGrid(uint32(min(b.neurons, uint64(32*w.sms))), threads, uint32(shared), w.stream, finishArgs{b, f})
}

// spread is the length of the longest row, and which lengths there are: bit i of sizes stands for 2^(i−1) < length ≤ 2^i.
func spread(row []uint64) (longest, sizes uint64) {
	var all sync.Mutex
	inShares(len(row)-1, func(lo, hi int) {
		most, seen := uint64(0), uint64(0)
		for n := lo; n < hi; n++ {
			if length := row[n+1] - row[n]; length > 0 {
				most, seen = max(most, length), seen|1<<bits.Len64(length-1)
			}
		}
		all.Lock()
		longest, sizes = max(longest, most), sizes|seen
		all.Unlock()
	})
	return longest, sizes
}

// building is the struct of that name in kernels/build.cuh, field for field.
type building struct {
	keys                        [20]uint32
	row, cursor, target, weight driver.Ptr
	shortDelay, longDelay       driver.Ptr
	sums, made, found, tables   driver.Ptr
	first, neurons              uint64
	own                         part
	portBits, lowBits           uint32
	least                       int32
	delayBits, joinBits         uint32
	keyBytes                    uint32
}

// delays is the list of n delays of so many bytes each.
func (b *building) delays(n, bytes uint64) room {
	if bytes == 1 {
		return room{&b.shortDelay, n, false}
	}
	return room{&b.longDelay, bytes * n, false}
}

// delayBytes is how many bytes a delay takes, as far as there are lists.
func (b *building) delayBytes() uint64 {
	return uint64(flag(b.shortDelay != 0) + 2*flag(b.longDelay != 0))
}

// philoxSteps are added to the keys of a round of Philox for the next one.
var philoxSteps = [2]uint32{0x9E3779B9, 0xBB67AE85}

// finishing is the struct of that name in kernels/build_rows.cuh, field for field.
type finishing struct {
	drawn          driver.Ptr
	count, roomLog uint32
	least, most    uint64
	values, hash   driver.Ptr
}

// building is what kernels know before there is memory.
func (w *work) building() building {
	b := building{neurons: uint64(w.r.Neurons), own: part{uint32(w.r.Part.Index), uint32(max(1, w.r.Part.Of))}, portBits: uint32(bits.Len32(w.r.Ports))}
	b.keys[0], b.keys[1] = uint32(w.r.Seed), uint32(w.r.Seed>>32)
	for i := range len(b.keys) - 2 {
		b.keys[i+2] = b.keys[i] + philoxSteps[i%2]
	}
	return b
}

// projection is the struct of that name in kernels/build.cuh, field for field.
type projection struct {
	number, sources, targets, count, units, share, keep uint64
	pairs                                               connectome.Permutation
	slots                                               uint64
	p, log, scale, factor                               float64
	lift, fixed                                         int64
	weight, delay                                       sampler
	rule, from, to, port, split                         uint32
	noSelf, both                                        uint32
	fixedDelay, longestDelay                            uint32
	index, label                                        uint32
	formulas                                            driver.Ptr
}

// sampler is the struct of that name there.
type sampler struct {
	a, b, low, high, mu, sd          float64
	kind, lowOpen, highOpen, clipped uint32
}

// ruleNumbers and kindNumbers are those of kernels/build.cuh.
var (
	ruleNumbers = map[genome.Rule]uint32{
		genome.OneToOne: 0, genome.AllToAll: 1, genome.FixedIndegree: 2, genome.FixedOutdegree: 3, genome.FixedTotalNumber: 4,
		genome.PairwiseBernoulli: 5, genome.PairwisePoisson: 6, genome.DistanceRule: 7,
	}
	kindNumbers = map[genome.ValueKind]uint32{genome.Const: 0, genome.Uniform: 1, genome.Normal: 2, genome.LogNormal: 3, genome.Distance: 4}
)

// projectionOf is what kernels take of a projection.
func projectionOf(q *connectome.ProjectionRecipe, scale float64) projection {
	p := projection{
		number: uint64(q.Number), sources: uint64(q.From.Count), targets: uint64(q.To.Count), count: q.Count, keep: q.Keep, pairs: q.Pairs,
		p: q.P, scale: scale, factor: q.Factor, lift: q.Lift, fixed: q.Fixed, weight: samplerOf(&q.Weight), delay: samplerOf(&q.Delay),
		rule: ruleNumbers[q.Rule], from: q.From.First, to: q.To.First, port: q.Port, split: q.Split,
		noSelf: flag(q.NoSelf), both: flag(q.Both), fixedDelay: uint32(q.Steps), longestDelay: uint32(q.Longest),
	}
	switch q.Rule {
	case genome.AllToAll:
		p.units = p.sources * p.targets
	case genome.FixedIndegree, genome.FixedOutdegree:
		if p.units = p.sources; q.Rule == genome.FixedIndegree {
			p.units = p.targets
		}
		switch near := q.Field != nil && q.Field.Near; {
		case q.Distinct:
			p.slots = 1 << bits.Len64(2*q.Count)
		case !near:
			p.units *= q.Count
		}
	case genome.FixedTotalNumber:
		p.units = q.Count
	case genome.PairwiseBernoulli:
		if p.units = p.sources; q.P < 1 {
			p.log = exact.Log1p(-q.P)
		}
	case genome.PairwisePoisson:
		p.units, p.p = p.sources, q.Average
	case genome.DistanceRule:
		p.units = p.sources
	default: // OneToOne
		if p.units = p.sources; q.NoSelf {
			p.units = 0
		}
	}
	if q.None {
		p.units = 0
	}
	each := uint64(1)
	switch q.Rule {
	case genome.AllToAll:
		each = p.targets
	case genome.FixedIndegree, genome.FixedOutdegree:
		each = p.count
	}
	p.share = math.MaxUint64 / max(1, each)
	return p
}

// drawnAlong reports whether synapses are drawn where their rows are made, as along of kernels/build.cuh.
func drawnAlong(q *connectome.ProjectionRecipe) bool {
	return q.Field == nil && (q.Rule == genome.OneToOne || q.Rule == genome.AllToAll || q.Rule == genome.FixedOutdegree && !q.Distinct)
}

func samplerOf(s *connectome.Sampler) sampler {
	a := s.A
	if s.Kind == genome.Distance {
		a = s.Per
	}
	return sampler{a, s.B, s.Lo, s.Hi, s.Mu, s.SD, kindNumbers[s.Kind], flag(s.LoOpen), flag(s.HiOpen), flag(s.Clip)}
}
