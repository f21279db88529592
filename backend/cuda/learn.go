package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/formula"
)

// The types from decay to history are the structs of kernels/plastic.cuh, field for field; learned is its learning.

type decay struct {
	low, high driver.Ptr
	until     uint64
}

type trace struct {
	table  decay
	amount float32
	set    uint32
}

type modulator struct {
	trace
	from, count uint32
	delay       uint64
}

type reading struct{ kind, k, note uint32 }

type handler struct {
	program, states, outs, reads, there uint32
	list, params, decays                driver.Ptr
}

type senders struct{ traces, variables, last driver.Ptr }

type receivers struct{ traces, last driver.Ptr }

type eventRing struct {
	at, note, next driver.Ptr
	places, notes  uint32
}

type sweeps struct{ before, full [2]uint64 }

type learned struct {
	from, sources, to, targets, port uint32
	least, longest, steps            uint32
	row, target, delay               driver.Ptr
	weight, more                     driver.Ptr
	synapses, lag, lagRead           uint64
	low, high, below, above          float32
	scale                            int32
	lift                             int64
	divide, acc                      driver.Ptr

	onPost, onPre, every, onSource, when handler
	pre, post                            driver.Ptr
	preCount, postCount, modulators      uint32
	values, sourceVariables              uint32
	modulatorList                        driver.Ptr

	live, before                 senders
	slots                        uint32
	heard                        receivers
	ring                         eventRing
	swept                        driver.Ptr
	now, after, level, levelLast driver.Ptr
	total, v, further            driver.Ptr
	pitch                        uint64
	states                       driver.Ptr
}

type history struct {
	queues         driver.Ptr
	neurons, depth uint64
	lengths        driver.Ptr
}

// oneLearner and learners are learner and learners of kernels/learn_bursts.cu.
type oneLearner struct {
	l            learned
	settled      senders
	settledHeard receivers
	every        uint64
	partsLog     uint32
}

type learners struct {
	list          driver.Ptr
	count, queues uint64
	history       history
}

// spans and window are the structs of those names in kernels/learn_windows.cu.
type spans struct {
	since, run     driver.Ptr
	neurons, slots uint64
}

type window struct {
	kind, bursts uint32
	up, down     float32
}

// notNoted is NOT_NOTED, mostReads MOST_READS of kernels/plastic.cuh.
const (
	notNoted  = math.MaxUint32
	mostReads = 96
)

// learning is what a device holds of the plastic projections. In single bursts each has kernels of its own between propagation
// and update; launches of many bursts take them all (all). Traces and variables may lie there twice: live, with the spikes that
// are still in the fire queues, and as the state has them, without these.
type learning struct {
	list     []learner
	all      learners
	lengths  driver.Ptr // of the fire queues, as the backend's
	spans    spans      // of FEAGI's rules
	programs []*formula.Program
	module   *driver.Module
	kernels  learnKernels
}

// learner is one of them.
type learner struct {
	p        *connectome.Plastic
	arg      learned
	kept     learned // with the levels of modulators that the state has, and the longest delay
	senders  senders // as the state has them; those of arg where that is the same
	heard    receivers
	window   window
	partsLog uint32
}

// arena lays arrays out in one piece of memory, from base on, and keeps what is to be copied there.
type arena struct {
	base   driver.Ptr
	bytes  uint64
	copies []copying
	tables map[*float32]driver.Ptr
}

type copying struct {
	to    driver.Ptr
	from  unsafe.Pointer
	bytes uint64
}

// take is room for so many bytes.
func (a *arena) take(bytes uint64) driver.Ptr {
	const grain = 256
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
	return decay{list(t.Low), list(t.High), t.Until}
}

func (a *arena) traces(list []connectome.Trace) []trace {
	var made []trace
	for i := range list {
		made = append(made, trace{a.table(&list[i].Table), list[i].Amount, flag(list[i].Set)})
	}
	return made
}

// layLearning lays out what projections that learn need on the device, from base on.
func (b *backend) layLearning(base driver.Ptr) (*learning, *arena) {
	a := &arena{base: base, tables: map[*float32]driver.Ptr{}}
	l := &learning{}
	longest := uint64(0)
	numbers := map[string]uint32{}
	for i := range b.c.Plastic {
		p := &b.c.Plastic[i]
		l.list = append(l.list, b.layLearner(a, p, func(h *formula.Program) uint32 {
			code := ruleCode(h, "", "", "", "", "")
			number, known := numbers[code]
			if !known {
				number = uint32(len(l.programs))
				numbers[code] = number
				l.programs = append(l.programs, h)
			}
			return number
		}))
		if p.Window.Kind != genome.WindowNone {
			longest = max(longest, uint64(p.Longest))
		}
	}
	l.lengths = a.take(8 * b.depth())
	l.all = learners{count: uint64(len(l.list)), queues: uint64(b.c.Queues()), history: b.historyAt(l.lengths)}
	var list []oneLearner
	for i := range l.list {
		list = append(list, l.list[i].one())
	}
	l.all.list = put(a, list)
	if longest > 0 {
		l.spans = spans{neurons: uint64(b.c.Neurons), slots: longest + 1}
		l.spans.since, l.spans.run = a.take(l.spans.bytes()), a.take(l.spans.bytes())
	}
	return l, a
}

// one is the learner as launches of many bursts take it.
func (x *learner) one() oneLearner {
	o := oneLearner{l: x.arg, partsLog: x.partsLog}
	if x.senders != x.arg.live {
		o.settled = x.senders
	}
	if x.heard != x.arg.heard {
		o.settledHeard = x.heard
	}
	if x.p.Every != nil {
		o.every = x.p.Rule.Every
	}
	return o
}

func (s *spans) bytes() uint64 { return s.neurons * s.slots }

// leastDelay is the smallest delay of a projection's synapses, the longest where there are none.
func leastDelay(p *connectome.Plastic) uint32 {
	if p.Delay == nil && len(p.Target) > 0 {
		return uint32(p.Steps)
	}
	least := max(1, p.Longest)
	for _, d := range p.Delay {
		least = min(least, uint32(d))
	}
	return least
}

// layLearner lays out one of them. number is that of a program among the network's.
func (b *backend) layLearner(a *arena, p *connectome.Plastic, number func(*formula.Program) uint32) learner {
	c, at := b.c, &b.plan.ptr
	n, sources, targets := p.Synapses(), uint64(p.From.Count), uint64(p.To.Count)
	floats := func(count, each int, n uint64) driver.Ptr { return a.take(4 * uint64(count*each) * n) }
	newSenders := func(slots int) senders {
		return senders{floats(len(p.Pre), slots, sources), floats(len(p.Source), slots, sources), a.take(8 * uint64(slots) * sources)}
	}
	newReceivers := func() receivers { return receivers{floats(len(p.Post), 1, targets), a.take(8 * targets)} }
	x := learned{
		from: p.From.First, sources: p.From.Count, to: p.To.First, targets: p.To.Count, port: p.Ports.First,
		least: leastDelay(p), longest: max(1, p.Longest), steps: uint32(p.Steps),
		row: put(a, p.Row), target: put(a, p.Target), delay: put(a, p.Delay),
		weight: a.take(4 * n), more: floats(len(p.Synapse), 1, n), synapses: n, lag: uint64(p.Lag), lagRead: uint64(p.Lag),
		low: p.Lo, high: p.Hi, below: p.Below, above: p.Above, scale: c.Scale, lift: p.Lift, divide: put(a, p.Divide), acc: at[bufAcc],
		pre: put(a, a.traces(p.Pre)), post: put(a, a.traces(p.Post)),
		preCount: uint32(len(p.Pre)), postCount: uint32(len(p.Post)), modulators: uint32(len(p.Modulators)),
		values: uint32(1 + len(p.Synapse)), sourceVariables: uint32(len(p.Source)),
		swept: a.take(uint64(unsafe.Sizeof(sweeps{}))), v: at[bufV], further: at[bufMore], pitch: uint64(c.Neurons),
	}
	if p.When != nil {
		x.lagRead = 0 // the state tells of the event itself
	}
	states := make([]uint32, len(p.TargetVariables))
	for k, v := range p.TargetVariables {
		states[k] = uint32(v)
	}
	x.states = put(a, states)
	lay := func(h *connectome.Handler, states int) handler { return a.handler(h, states, number) }
	x.onPost, x.onPre, x.every = lay(p.OnPost, 1+len(p.Synapse)), lay(p.OnPre, 1+len(p.Synapse)), lay(p.Every, 1+len(p.Synapse))
	x.onSource, x.when = lay(p.OnSource, len(p.Source)), lay(p.When, 0)
	if p.OnPost != nil {
		for _, r := range notedReads(p.OnPost) {
			if r.note != notNoted {
				x.ring.notes++
			}
		}
	}
	if p.Every != nil {
		x.total = a.take(8 * targets)
	}
	x.slots = x.longest - x.least + 1
	x.live, x.before, x.heard = newSenders(1), newSenders(int(x.slots)), newReceivers()
	x.ring.places = uint32(max(1, b.tune.events))
	places := uint64(x.ring.places)
	x.ring.at, x.ring.note, x.ring.next = a.take(8*places*targets), a.take(4*places*uint64(x.ring.notes)*targets), a.take(4*targets)

	l := learner{p: p, senders: x.live, heard: x.heard, partsLog: partsLog(uint32(n/max(1, sources)), false)}
	depth := uint32(c.Queues())
	if x.least != depth {
		l.senders = newSenders(1)
	}
	if p.When == nil && p.Lag != depth {
		l.heard = newReceivers()
	}
	l.kept = x
	for _, y := range []struct {
		to    *learned
		delay func(own uint32) uint32
	}{{&x, func(own uint32) uint32 { return own }}, {&l.kept, func(uint32) uint32 { return depth }}} {
		var list []modulator
		for k := range p.Modulators {
			m := &p.Modulators[k]
			raised := a.traces([]connectome.Trace{m.Trace})[0]
			list = append(list, modulator{raised, m.From.First, m.From.Count, uint64(y.delay(m.Delay))})
		}
		k := uint64(len(list))
		y.to.modulatorList = put(a, list)
		y.to.now, y.to.after, y.to.level, y.to.levelLast = a.take(4*k), a.take(4*k), a.take(4*k), a.take(8*k)
	}
	l.arg = x
	w := &p.Window
	l.window = window{uint32(w.Kind), w.Bursts, w.Up, w.Down}
	return l
}

// handler lays out one of a rule, whose program has so many states.
func (a *arena) handler(h *connectome.Handler, states int, number func(*formula.Program) uint32) handler {
	if h == nil {
		return handler{}
	}
	if len(h.Reads) > mostReads {
		panic(fmt.Sprintf("BUG: a handler reads %d numbers", len(h.Reads)))
	}
	var decays []decay
	for i := range h.Decays {
		decays = append(decays, a.table(&h.Decays[i]))
	}
	return handler{
		program: number(h.Program), states: uint32(states), outs: flag(len(h.Program.Next) > states), reads: uint32(len(h.Reads)), there: 1,
		list: put(a, notedReads(h)), params: put(a, h.Params), decays: put(a, decays),
	}
}

// notedReads are what a handler reads. What is of the target's side is noted with post events.
func notedReads(h *connectome.Handler) (list []reading) {
	notes := uint32(0)
	for _, r := range h.Reads {
		one := reading{uint32(r.Kind), uint32(r.K), notNoted}
		switch r.Kind {
		case formula.ReadPost, formula.ReadModulator, formula.ReadTarget, formula.ReadAgePost:
			one.note = notes
			notes++
		}
		list = append(list, one)
	}
	return list
}

// startLearning loads the kernels and uploads the tables.
func (b *backend) startLearning() error {
	if len(b.c.Plastic) == 0 {
		return nil
	}
	l, a := b.layLearning(b.plan.ptr[bufLearnt])
	var names []string
	for name := range l.kernels.named() {
		names = append(names, "learn_"+name)
	}
	var err error
	if l.module, err = b.loadLearning(names, l.programs, nil); err != nil {
		return err
	}
	b.learning = l
	if err := l.kernels.find(l.module); err != nil {
		return err
	}
	return b.fill(a)
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
func (b *backend) loadLearning(names []string, rules []*formula.Program, models []ownModel) (*driver.Module, error) {
	image := b.learnImage
	ptx, err := only(image.PTX(), names)
	if err == nil && len(rules) > 0 {
		ptx, err = spliceRules(ptx, rules)
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
