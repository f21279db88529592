package cuda

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/formula"
	"burst/kernels"
)

// learning is what a device holds of the plastic projections. In single bursts each projection has kernels of its own between propagation
// and update; launches of many bursts handle all of them (all). Traces and variables may be there twice: live, with the spikes that are
// still in the fire queues, and without these spikes, as the state has them.
type learning struct {
	list     []learner
	all      learners
	slices   []slice // of path ranges, as are
	ranges   ranges
	lengths  driver.Ptr         // of the fire queues, as the backend's
	spans    spans              // of FEAGI's rules
	programs []*formula.Program // of all handlers but on_post and on_pre
	handlers []handlerCode      // of these
	posts    []handlerCode      // of on_post of rules of pairs
	pres     []handlerCode      // and of their on_pre
	module   *driver.Module
	kernels  learnKernels
}

// learner is one of them.
type learner struct {
	p       *connectome.Plastic
	arg     learned
	kept    learned   // with the levels of modulators that the state has, and the longest delay
	senders senders   // as the state has them; those of arg where that is the same
	told    receivers // likewise
	window  window
	parts   uint32 // of a row, each of which a warp delivers

	ownTargets, ownSources bool // whether the records of targets and of sources are its own, not shared with one before (owner)
}

// arena lays arrays out in one piece of memory, from base on, and keeps what is to be copied there.
type arena struct {
	base   driver.Ptr
	bytes  uint64
	copies []copying
	tables map[*float32]driver.Ptr
	fixed  *arena // of what is small and does not change
	near   uint64 // so many entries of a trace's table lie there, too
}

type copying struct {
	to    driver.Ptr
	from  unsafe.Pointer
	bytes uint64
}

// grain is what arrays are aligned to.
const grain = 256

// take is room for so many bytes.
func (a *arena) take(bytes uint64) driver.Ptr {
	grain := uint64(grain)
	if a.fixed == nil {
		grain = 16 // packed
	}
	at := a.base + driver.Ptr(a.bytes)
	a.bytes += divUp(bytes, grain) * grain
	return at
}

// put is room for a list, which is copied there; null where it is empty.
func put[T any](a *arena, list []T) driver.Ptr {
	if len(list) == 0 {
		return 0
	}
	at := a.take(size(list))
	a.copies = append(a.copies, copying{at, data(list), size(list)})
	return at
}

// table is a table of decay, once for all who have it.
func (a *arena) table(t *connectome.Table) decay {
	list := func(list []float32) driver.Ptr {
		if len(list) == 0 {
			return 0
		}
		at, there := a.tables[&list[0]]
		if !there {
			at = put(a, list)
			a.tables[&list[0]] = at
		}
		return at
	}
	return decay{low: list(t.Low), high: list(t.High), until: t.Until}
}

// nearTable is one whose first entries blocks copy into their memory.
func (a *arena) nearTable(t *connectome.Table) decay {
	d := a.table(t)
	if a.near == 0 || len(t.Low) == 0 || t.High != nil {
		return d
	}
	near := t.Low[:min(a.near, uint64(len(t.Low)), t.Until)]
	at, there := a.fixed.tables[&near[0]]
	if !there {
		at = put(a.fixed, near)
		a.fixed.tables[&near[0]] = at
	}
	d.near, d.close = at, uint64(len(near))
	return d
}

func (a *arena) traces(list []connectome.Trace) []trace {
	var made []trace
	for i := range list {
		made = append(made, trace{a.nearTable(&list[i].Table), list[i].Amount, flag(list[i].Set)})
	}
	return made
}

// layLearning lays out what projections that learn need on the device, from base on. What blocks copy into their own memory comes first,
// with so many bytes for the first entries of traces' tables.
func (b *backend) layLearning(base driver.Ptr, near uint64) (*learning, *arena) {
	l, _ := b.layBehind(base, 0, near)
	return b.layBehind(base, l.all.fixedBytes, near)
}

// layBehind lays out what blocks copy from base on, and all else so many bytes behind it.
func (b *backend) layBehind(base driver.Ptr, room, near uint64) (*learning, *arena) {
	fixed := &arena{base: base, tables: map[*float32]driver.Ptr{}}
	a := &arena{base: base, bytes: divUp(room, grain) * grain, tables: map[*float32]driver.Ptr{}, fixed: fixed}
	a.near = near / 4 / max(1, traceTables(b.c))
	l := &learning{}
	place := fixed.take(uint64(unsafe.Sizeof(oneLearner{})) * uint64(len(b.c.Plastic)))
	longest := uint64(0)
	numbers := map[string]uint32{}
	for i := range b.c.Plastic {
		p := &b.c.Plastic[i]
		l.list = append(l.list, b.layLearner(a, p, l, numbers))
		if l.list[i].windowed() {
			longest = max(longest, uint64(p.Longest))
		}
	}
	if longest > 0 {
		l.spans = spans{neurons: uint64(b.c.Neurons), slots: longest + 1}
		l.spans.since, l.spans.run = a.take(l.spans.bytes()), a.take(l.spans.bytes())
	}
	l.lengths = a.take(8 * b.depth())
	l.all = learners{count: uint64(len(l.list)), queues: uint64(b.c.Queues()), history: b.historyAt(l.lengths), fired: l.spans}
	var list []oneLearner
	for i := range l.list {
		list = append(list, l.list[i].one())
	}
	l.all.least, l.all.longest = l.delays()
	l.layTasks(fixed)
	l.all.small, l.all.large = l.cut(fixed, smallPart, uint64(b.c.Neurons)), l.cut(fixed, largePart, uint64(b.c.Neurons))
	l.all.list, l.all.fixedBytes = place, fixed.bytes
	l.all.copied, l.all.lists = uint64(flag(b.choice.learnt > 0)), driver.Ptr(flag(b.choice.rounds))
	l.all.alone = flag(b.rows.synapses == 0)
	a.copies = append(append(a.copies, fixed.copies...), copying{place, data(list), size(list)})
	if b.choice.path == pathRanges {
		b.layRanges(l, a)
	}
	return l, a
}

// nearRoom is how much of a block's memory the first entries of traces' tables may take: an age is rarely larger.
const nearRoom = 16 << 10

// traceTables is how many tables traces have.
func traceTables(c *connectome.Connectome) uint64 {
	tables := map[*float32]bool{}
	for i := range c.Plastic {
		for _, t := range slices.Concat(c.Plastic[i].Pre, c.Plastic[i].Post) {
			if len(t.Table.Low) > 0 {
				tables[&t.Table.Low[0]] = true
			}
		}
	}
	return uint64(len(tables))
}

// windowed reports whether it learns by one of FEAGI's rules.
func (x *learner) windowed() bool { return windowed(x.p) }

func windowed(p *connectome.Plastic) bool { return p.Window.Kind != genome.WindowNone }

// one is the learner as launches of many bursts take it.
func (x *learner) one() oneLearner {
	o := oneLearner{l: x.arg, rule: x.window, settledLevels: levels{x.kept.level, x.kept.levelLast}, shares: flag(!x.ownTargets)}
	if x.settlesSources() {
		o.settled = x.senders
	}
	if x.settlesTargets() {
		o.settledHeard = x.told
	}
	if x.p.Every != nil {
		o.every = x.p.Rule.Every
	}
	return o
}

// settlesSources and settlesTargets report whether spikes that leave the fire queues are taken into arrays of its own, as a state has them.
func (x *learner) settlesSources() bool {
	return x.ownSources && (x.windowed() || x.senders != x.arg.live)
}
func (x *learner) settlesTargets() bool {
	return x.ownTargets && (x.windowed() || x.arg.told.last == 0)
}

// Of synapses: so many does a warp deliver of a row where there are few, and where there are many.
const smallPart, largePart = 32, 256

// partsOf is into how many parts rows are cut.
func (x *learned) partsOf(synapses uint64) uint32 {
	return uint32(max(1, divUp(x.synapses/max(1, uint64(x.sources)), synapses)))
}

// The kinds of task.
const (
	taskNote = iota
	taskLaunch
	taskSettleSources
	taskSettleTargets
)

// layTasks lays out what comes before the synapses of each burst: first what is about the spikes of the burst before.
func (l *learning) layTasks(a *arena) {
	var own, others []task
	for i := range l.list {
		one := l.list[i].one()
		x, all := &one.l, &l.all
		add := func(wanted bool, kind, delay uint32) {
			if !wanted {
				return
			}
			to := &others
			if delay == 1 {
				to = &own
			}
			*to = append(*to, task{uint32(i), kind})
		}
		switch {
		case l.list[i].windowed():
		case x.when.there != 0:
			all.watching = 1
			add(true, taskNote, 0)
			add(l.list[i].ownSources, taskLaunch, x.least)
		default:
			add(l.list[i].ownTargets, taskNote, uint32(x.lag))
			add(l.list[i].ownSources, taskLaunch, x.least)
		}
		add(one.settled.last != 0, taskSettleSources, 0)
		add(one.settledHeard.last != 0, taskSettleTargets, 0)
		all.changing |= flag(one.every > 0)
	}
	list := append(own, others...)
	l.all.tasks, l.all.own, l.all.all = put(a, list), uint64(len(own)), uint64(len(list))
}

// delays are the smallest and the largest of projections whose synapses learn at spikes.
func (l *learning) delays() (least, longest uint64) {
	least = math.MaxUint64
	for i := range l.list {
		a := &l.list[i].arg
		if l.list[i].windowed() {
			continue
		}
		least, longest = min(least, uint64(a.least)), max(longest, uint64(a.longest))
	}
	return least, longest
}

// cut lays out the rows that spikes of each area deliver, in parts of the given number of synapses, or longer ones if 32 bits cannot count
// the parts of all neurons.
func (l *learning) cut(a *arena, synapses, neurons uint64) cutting {
	var spans []sending
	var list []parted
	for i := range l.list {
		from := &l.list[i].arg
		if slices.ContainsFunc(spans, func(s sending) bool { return s.first == from.from }) {
			continue // areas have no neurons in common
		}
		s := sending{first: from.from, count: from.sources, begin: uint32(len(list))}
		for k := range l.list {
			if x := &l.list[k].arg; x.from == s.first && !l.list[k].windowed() {
				parts := x.partsOf(synapses)
				for part := range parts {
					list = append(list, parted{uint32(k), part, parts})
				}
				s.parts += parts
			}
		}
		slices.SortStableFunc(list[s.begin:], func(x, y parted) int { return cmp.Compare(l.usual(y), l.usual(x)) })
		spans = append(spans, s)
	}
	most := uint32(0)
	for _, s := range spans {
		most = max(most, s.parts)
	}
	if uint64(most)*neurons > math.MaxUint32 && most > uint32(len(l.list)) {
		return l.cut(a, 2*synapses, neurons)
	}
	return cutting{put(a, spans), put(a, list), uint32(len(spans)), most}
}

// usual is how many synapses a part of a row has in the mean: deliver_row of kernels/learn_synapses.cu.
func (l *learning) usual(p parted) uint64 {
	x := &l.list[p.learner].arg
	mean := divUp(x.synapses, max(1, uint64(x.sources)))
	each := divUp(divUp(mean, uint64(p.parts)), 32) * 32
	return min(each, mean-min(mean, each*uint64(p.part)))
}

// heardBytes is the size of a target's heard, whole sectors.
func heardBytes(p *connectome.Plastic) uint32 {
	const sector, before = 32, 24 // bytes, and those before the traces
	return uint32(divUp(before+8*uint64(len(p.Post)), sector) * sector)
}

func (s *spans) bytes() uint64 { return s.neurons * s.slots }

// layLearner lays out one of them, l's next one. numbers has those of all code by its text.
func (b *backend) layLearner(a *arena, p *connectome.Plastic, l *learning, numbers map[string]uint32) learner {
	c, at := b.c, &b.plan.ptr
	n, sources, targets := p.Synapses(), uint64(p.From.Count), uint64(p.To.Count)
	floats := func(count, each int, n uint64) driver.Ptr { return a.take(4 * uint64(count*each) * n) }
	newSenders := func(slots int) senders {
		return senders{floats(len(p.Pre), slots, sources), floats(len(p.Source), slots, sources), a.take(8 * uint64(slots) * sources)}
	}
	newReceivers := func() receivers { return receivers{floats(len(p.Post), 1, targets), a.take(8 * targets)} }
	x := learned{
		from: p.From.First, sources: p.From.Count, to: p.To.First, targets: p.To.Count, port: p.Ports.First + p.Port*p.To.Count,
		least: p.Least(), longest: max(1, p.Longest), steps: uint32(p.Steps),
		row: put(a, p.Row), target: put(a, p.Target), delay: put(a, p.Delay.Short), late: put(a, p.Delay.Long),
		weight: a.take(4 * n), more: floats(len(p.Synapse), 1, n), synapses: n, lag: uint64(p.Lag), lagRead: uint64(p.Lag),
		bounds: limits{p.Lo, p.Hi, p.Below, p.Above}, scale: c.Scale, lift: p.Lift, divide: put(a, p.Divide), acc: at[bufAcc],
		pre: put(a.fixed, a.traces(p.Pre)), post: put(a.fixed, a.traces(p.Post)),
		preCount: uint32(len(p.Pre)), postCount: uint32(len(p.Post)), modulators: uint32(len(p.Modulators)),
		values: uint32(1 + len(p.Synapse)), sourceVariables: uint32(len(p.Source)),
		applied: a.take(8 * sources), v: at[bufV], further: at[bufMore], pitch: pitch(c),
	}
	if p.When != nil {
		x.lagRead = 0 // the state tells of the event itself
	}
	states := make([]uint32, len(p.TargetVariables))
	for k, v := range p.TargetVariables {
		states[k] = uint32(v)
	}
	x.states = put(a.fixed, states)
	x.every, x.onSource, x.when = l.rule(a, p.Every, 1+len(p.Synapse), numbers), l.rule(a, p.OnSource, len(p.Source), numbers), l.rule(a, p.When, 0, numbers)
	x.onPost, x.onPre = l.handler(a, p, p.OnPost, true, numbers), l.handler(a, p, p.OnPre, false, numbers)
	if x.pairs = b.pairing(p); x.pairs != noPairs || b.choice.path == pathLocal && localPairs(p) {
		if changesAlike(p) {
			x.every.pair = pairOf(&l.pres, "every ", p, p.Every, numbers)
		}
		x.onPost.pair, x.onPre.pair = pairOf(&l.posts, "post ", p, p.OnPost, numbers), pairOf(&l.pres, "pre ", p, p.OnPre, numbers)
	}
	if p.Every != nil && slices.ContainsFunc(p.Every.Reads, func(r formula.Read) bool { return r.Kind == formula.ReadTotal }) {
		x.total = a.take(8 * targets)
	}
	x.slots = max(x.longest-x.least+1, 2*b.choice.ranges.apart)
	x.heardBytes = heardBytes(p)
	made, depth := learner{p: p, parts: x.partsOf(smallPart)}, uint32(c.Queues())
	if y := l.owner(p, sendAlike); y != nil {
		x.live, x.before, made.senders = y.arg.live, y.arg.before, y.senders
	} else {
		x.live, x.before, made.ownSources = newSenders(1), newSenders(int(x.slots)), true
		if made.senders = x.live; x.least != depth {
			made.senders = newSenders(1)
		}
	}
	if y := l.owner(p, hearAlike); y != nil {
		x.heard, x.ring, x.swept, x.told, made.told = y.arg.heard, y.arg.ring, y.arg.swept, y.arg.told, y.told
	} else {
		places := uint64(max(1, b.tune.events))
		x.heard, x.swept = a.take(uint64(x.heardBytes)*targets), a.take(uint64(unsafe.Sizeof(sweeps{})))
		x.ring = eventRing{
			at: a.take(8 * places * targets), note: a.take(4 * places * uint64(x.onPost.reads) * targets), places: uint32(places), notes: x.onPost.reads,
			ahead: max(1, 2*b.choice.ranges.apart) - 1,
		}
		if made.told, made.ownTargets = newReceivers(), true; p.When != nil || p.Lag == depth {
			x.told = made.told
		}
	}
	made.kept = x
	for _, y := range []struct {
		to    *learned
		delay func(own uint32) uint32
	}{{&x, func(own uint32) uint32 { return own }}, {&made.kept, func(uint32) uint32 { return depth }}} {
		var list []modulator
		for k := range p.Modulators {
			m := &p.Modulators[k]
			raised := a.traces([]connectome.Trace{m.Trace})[0]
			list = append(list, modulator{raised, m.From.First, m.From.Count, uint64(y.delay(m.Delay))})
		}
		k := uint64(len(list))
		y.to.modulatorList = put(a, list)
		y.to.now, y.to.after, y.to.level, y.to.levelLast = a.take(8*k), a.take(4*k), a.take(4*k), a.take(8*k)
	}
	made.arg = x
	w := &p.Window
	made.window = window{uint32(w.Kind), w.Bursts, w.Up, w.Down}
	return made
}

// numberOf is the number of a piece of code among those of its kind, of which there are so many; fresh: it is the next one.
func numberOf(numbers map[string]uint32, code string, count int) (number uint32, fresh bool) {
	number, known := numbers[code]
	if !known {
		number = uint32(count)
		numbers[code] = number
	}
	return number, !known
}

// rule lays out a handler but on_post and on_pre, whose program has so many states.
func (l *learning) rule(a *arena, h *connectome.Handler, states int, numbers map[string]uint32) handler {
	if h == nil {
		return handler{}
	}
	number, fresh := numberOf(numbers, ruleCode(h.Program, "", "", "", "", ""), len(l.programs))
	if fresh {
		l.programs = append(l.programs, h.Program)
	}
	var list []reading
	for _, r := range h.Reads {
		list = append(list, reading{uint32(r.Kind), uint32(r.K)})
	}
	return a.handler(h, number, states, list)
}

// handler lays out on_pre or, with an event, on_post.
func (l *learning) handler(a *arena, p *connectome.Plastic, h *connectome.Handler, event bool, numbers map[string]uint32) handler {
	if h == nil {
		return handler{}
	}
	code, list := newHandlerCode(p, h, event)
	number, fresh := numberOf(numbers, code.code(handlerPlace{}), len(l.handlers))
	if fresh {
		l.handlers = append(l.handlers, code)
	}
	return a.handler(h, number, 1+len(p.Synapse), list)
}

// Whether a rule is one of pairs: pairing of kernels/plastic.cuh.
const noPairs, somePairs, longPairs = 0, 1, 2

// roundBytes is a warp's room for rounds: ROUND of kernels/learn_synapses.cu. The code of an on_post is long from so many instructions on.
const roundBytes, longCode = 2 * 256, 100

// pairing sorts rules. Those of pairs kernels deliver without what only other rules need (deliver_pairs of kernels/learn_synapses.cu): one
// trace a side is all that on_post and on_pre read, and the weight is all that a synapse has.
func (b *backend) pairing(p *connectome.Plastic) uint32 {
	const mostEvents = 255 // of a target that rounds can count
	switch {
	case !pairs(p):
		return noPairs
	case len(p.OnPost.Program.Code) < longCode || b.tune.events > mostEvents:
		return somePairs
	}
	return longPairs
}

// long reports whether a rule is of pairs with a long on_post.
func (b *backend) long() bool {
	return slices.ContainsFunc(b.c.Plastic, func(p connectome.Plastic) bool { return b.pairing(&p) == longPairs })
}

func pairs(p *connectome.Plastic) bool { return len(p.Synapse) == 0 && localPairs(p) }

// localPairs reports whether path local runs a rule as one of pairs: a synapse may then have a further variable.
func localPairs(p *connectome.Plastic) bool {
	only := func(h *connectome.Handler, kind formula.ReadKind) bool {
		other := func(r formula.Read) bool { return r.Kind != kind }
		return h != nil && len(h.Program.Next) == 1+len(p.Synapse) && !slices.ContainsFunc(h.Reads, other)
	}
	return only(p.OnPost, formula.ReadPre) && only(p.OnPre, formula.ReadPost) && len(p.Pre) == 1 && len(p.Post) == 1 && len(p.Synapse) <= 1 &&
		len(p.Divide) == 0 && p.Lift == 0
}

// changesAlike reports whether path local runs every of a rule of pairs as it does on_pre: it reads no more than a modulator.
func changesAlike(p *connectome.Plastic) bool {
	h := p.Every
	return h != nil && len(h.Program.Next) == 1+len(p.Synapse) && len(h.Reads) <= 1 &&
		!slices.ContainsFunc(h.Reads, func(r formula.Read) bool { return r.Kind != formula.ReadModulator })
}

// pairOf is the number of a handler's code among those of its kind.
func pairOf(list *[]handlerCode, kind string, p *connectome.Plastic, h *connectome.Handler, numbers map[string]uint32) uint32 {
	code, _ := newHandlerCode(p, h, kind == "post ")
	number, fresh := numberOf(numbers, kind+code.pair(pairPlace{}), len(*list))
	if fresh {
		*list = append(*list, code)
	}
	return number
}

func (a *arena) handler(h *connectome.Handler, number uint32, states int, list []reading) handler {
	if len(h.Reads) > mostReads {
		panic(fmt.Sprintf("BUG: a handler reads %d numbers", len(h.Reads)))
	}
	var decays []decay
	for i := range h.Decays {
		decays = append(decays, a.table(&h.Decays[i]))
	}
	return handler{
		program: number, states: uint32(states), outs: flag(len(h.Program.Next) > states), reads: uint32(len(list)), there: 1,
		list: put(a.fixed, list), params: put(a.fixed, h.Params), decays: put(a.fixed, decays),
	}
}

// startLearning loads the kernels and uploads the tables.
func (b *backend) startLearning() error {
	if len(b.c.Plastic) == 0 {
		return nil
	}
	l, a := b.layLearning(b.plan.ptr[bufLearnt], b.choice.near)
	var names []string
	for name := range l.kernels.named() {
		names = append(names, "learn_"+name)
	}
	var err error
	if l.module, err = b.loadLearning(b.learnImage, names, l, nil); err != nil {
		return err
	}
	b.learning = l
	if err := l.kernels.find(l.module); err != nil {
		return err
	}
	copied := l.all.fixedBytes // with what lies between its arrays
	if b.choice.path == pathLocal {
		copied = b.plan.bytes[bufLearnt] // also records that nothing has been written to yet
	}
	if err := b.stream.Fill(b.plan.ptr[bufLearnt], 0, copied); err != nil {
		return err
	}
	if err := b.fill(a); err != nil || b.choice.path != pathRanges {
		return err
	}
	return b.cutRanges()
}

// fill uploads the arrays of an arena.
func (b *backend) fill(a *arena) error {
	most := uint64(0)
	for _, x := range a.copies {
		most = max(most, x.bytes)
	}
	return b.withStaging(most, func(s *staging) error {
		for _, x := range a.copies {
			if err := s.upload(x.to, x.from, x.bytes); err != nil {
				return err
			}
		}
		return nil
	})
}

// loadLearning brings some kernels of networks that learn onto the device.
func (b *backend) loadLearning(image kernels.Image, names []string, l *learning, models []ownModel) (*driver.Module, error) {
	ptx, err := only(image.PTX(), names)
	if err == nil && len(l.programs) > 0 {
		ptx, err = spliceRules(ptx, l.programs)
	}
	if err == nil && len(l.handlers) > 0 {
		ptx, err = spliceHandlers(ptx, l.handlers)
	}
	if err == nil && len(l.posts) > 0 {
		if ptx, err = splicePairs(ptx, postRemark, l.posts); err == nil {
			ptx, err = splicePairs(ptx, preRemark, l.pres)
		}
	}
	if err == nil && len(models) > 0 {
		ptx, err = spliceModels(ptx, models)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", image.Name, err)
	}
	m, err := b.ctx.Load([]byte(ptx))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", image.Name, err)
	}
	return m, nil
}

// free gives back what startLearning took.
func (l *learning) free() error {
	if l == nil {
		return nil
	}
	l.kernels.release()
	return l.module.Unload()
}
