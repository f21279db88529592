package cpu

import (
	"slices"
	"unsafe"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/formula"
)

// task is what blocks of synapses go through, after the post events that are pending.
type task uint8

const (
	settles task = iota // nothing
	arrives             // a pre event, 1b
	sweeps              // the rule's sweep, 6
)

// block works on synapses of many rows together: stretch lists pieces of rows, flush joins them to blocks of at most a chunk and
// takes these through their task, array by array (vector.Synapses).
type block struct {
	task task
	t    uint64
	till uint32 // the latest post events to apply, as the ring's lanes count bursts
	pieces
	post      []vector.Table // of traces
	pre       []vector.Table
	variables [][]float32 // per synapse: those of its source
	all, few  entries     // the block's synapses; those of them that have a further event
	near      []float32   // the first traces of targets
	counts    []uint32    // post events that are pending
	skips     []uint32    // later ones that are not to be applied yet
	chosen    []uint32    // flags
	which     []uint32    // the entries of few, in the block
	left      []uint32    // events of few
	at        []uint32    // the next one's entry in the list of places, or its place
	amounts   []int32
	out       []float32
	long      []uint32 // synapses with more events than a slot has
	places    []uint32 // of these events
	tally     []uint32 // scratch
	broken    bool     // there is a weight that is NaN
}

// entries are synapses with what on_post reads.
type entries struct {
	weight  []float32
	synapse [][]float32
	target  []uint32
	after   []uint32    // the last pre event as the ring's lanes count bursts, twice
	base    []uint32    // add it to a lane: how many bursts the last pre event was before
	past    [][]float32 // traces of the source after that event
	lanes   []uint32    // of heads
	places  []uint32
	ages    []uint32
}

// pieces are stretches of rows, in the order of blocks: those of a block begin behind the ones of the block before.
type pieces struct {
	n           uint32   // synapses of the last block
	blocks      []int    // ends of the others
	starts      []uint64 // in the rows
	ends        []uint32 // in the block
	before      []uint64 // burst of the last pre event plus 1; 0: none
	after, base []uint32
	past        [][]float32
	source      [][]float32 // variables
	value       []float32   // scratch
}

// mostBlocks are gathered before the first of them is worked on.
const mostBlocks = 64

// roomy is a chunk and room for vector.Synapses.
const roomy = chunk + 8

func newEntries(p *connectome.Plastic) entries {
	words := func() []uint32 { return make([]uint32, roomy) }
	return entries{
		weight: make([]float32, roomy), synapse: lists(len(p.Synapse), roomy), target: words(), after: words(), base: words(),
		past: lists(len(p.Pre), roomy), lanes: words(), places: words(), ages: words(),
	}
}

func entriesBytes(p *connectome.Plastic) uint64 {
	return 4 * roomy * uint64(1+len(p.Synapse)+6+len(p.Pre))
}

func newBlock(p *connectome.Plastic) block {
	words := func() []uint32 { return make([]uint32, roomy) }
	b := block{
		pieces: pieces{past: make([][]float32, len(p.Pre)), source: make([][]float32, len(p.Source))}, variables: lists(len(p.Source), roomy),
		all: newEntries(p), few: newEntries(p), counts: words(), skips: words(), chosen: words(), which: words(), left: words(), at: words(),
		near: make([]float32, roomy), amounts: make([]int32, roomy), out: make([]float32, roomy),
	}
	for k := range p.Pre {
		b.pre = append(b.pre, tableOf(&p.Pre[k].Table))
	}
	for k := range p.Post {
		b.post = append(b.post, tableOf(&p.Post[k].Table))
	}
	return b
}

func tableOf(t *connectome.Table) vector.Table {
	return vector.Table{Low: t.Low, High: t.High, Until: uint32(t.Until)}
}

// blockBytes is the memory of a block without its pieces.
func blockBytes(p *connectome.Plastic) uint64 {
	return 2*entriesBytes(p) + 4*roomy*uint64(9+len(p.Source)) + uint64(len(p.Pre)+len(p.Post))*uint64(unsafe.Sizeof(vector.Table{}))
}

// begin starts on a task of burst t, and on post events of bursts before till.
func (s *share) begin(what task, t, till uint64) {
	s.task, s.t, s.till = what, t, s.ring.lane(till)
}

// stretch adds the synapses from ≤ k < to, of one source and delay.
func (s *share) stretch(i uint32, from, to uint64, m moment) {
	after := max(m.last, s.had(i)) - s.ring.epoch
	base := uint32(longAgo)
	if m.last > 0 && s.t-m.last < longAgo-2*mostBursts {
		base = uint32(s.ring.epoch - m.last)
	}
	for from < to {
		if s.n == chunk {
			s.blocks, s.n = append(s.blocks, len(s.starts)), 0
			if len(s.blocks) == mostBlocks {
				s.flush()
			}
		}
		n := min(to-from, uint64(chunk-s.n))
		s.n += uint32(n)
		s.starts, s.ends, s.before = append(s.starts, from), append(s.ends, s.n), append(s.before, m.last)
		s.pieces.after, s.pieces.base = append(s.pieces.after, uint32(after)*0x1_0001), append(s.pieces.base, base)
		for k := range s.past {
			x := float32(0)
			if m.last > 0 {
				x = m.traces[k][m.at]
			}
			s.past[k] = append(s.past[k], x)
		}
		for k := range s.source {
			s.source[k] = append(s.source[k], m.variables[k][m.at])
		}
		from += n
	}
}

// flush works on all blocks and empties the list of pieces.
func (s *share) flush() {
	if s.n > 0 {
		s.blocks = append(s.blocks, len(s.starts))
	}
	k, lo := &s.w.b.kernels.Synapses, 0
	for i, hi := range s.blocks {
		if i+1 < len(s.blocks) {
			next := s.blocks[i+1]
			k.Fetch(s.l.weight, s.l.p.Target, s.starts[hi:next], s.ends[hi:next])
		}
		s.work(lo, hi)
		lo = hi
	}
	p := &s.pieces
	p.n, p.blocks, p.starts, p.ends, p.before, p.after, p.base = 0, p.blocks[:0], p.starts[:0], p.ends[:0], p.before[:0], p.after[:0], p.base[:0]
	for _, lists := range [][][]float32{p.past, p.source} {
		for k := range lists {
			lists[k] = lists[k][:0]
		}
	}
}

// work takes the pieces lo ≤ i < hi through the task.
func (s *share) work(lo, hi int) {
	k, l, e := &s.w.b.kernels.Synapses, s.l, &s.all
	starts, ends := s.starts[lo:hi], s.ends[lo:hi]
	k.Load(e.weight, l.weight, starts, ends)
	for i, list := range e.synapse {
		k.Load(list, l.synapse[i], starts, ends)
	}
	s.loadTargets(starts, ends)
	changed := s.task != settles
	if s.onPost != nil {
		if s.applyPending(lo, ends) {
			changed = true
		}
	}
	switch s.task {
	case arrives:
		s.arrive(lo, ends)
	case sweeps:
		s.apply(s.every, lo, ends)
		s.keep(&s.all, s.every, int(ends[len(ends)-1]), nil)
	}
	if changed {
		k.Store(l.weight, e.weight, starts, ends)
		for i, list := range e.synapse {
			k.Store(l.synapse[i], list, starts, ends)
		}
	}
}

// loadTargets finds the targets of pieces.
func (s *share) loadTargets(starts []uint64, ends []uint32) {
	own, n := s.w.b.own, ends[len(ends)-1]
	shift := s.ahead
	if own.Whole() {
		shift += s.g.lo
	}
	list := s.all.target
	s.w.b.kernels.Targets(list, s.l.p.Target, starts, ends, shift)
	if !own.Whole() {
		for q, neuron := range list[:n] {
			list[q] = own.Count(neuron) - s.g.lo
		}
	}
	clear(list[n:min(n+8, roomy)]) // indices too
}

// applyPending runs on_post for the pending events of the block, each synapse's oldest first. It reports whether there was one.
func (s *share) applyPending(lo int, ends []uint32) bool {
	k, e, n := &s.w.b.kernels.Synapses, &s.all, ends[len(ends)-1]
	k.FillWords(e.after, s.pieces.after[lo:], ends)
	k.FillWords(e.base, s.pieces.base[lo:], ends)
	some, more := k.Meet(e.lanes[:n], s.near, s.counts, e.ages, s.ring.heads, e.target, e.after, e.base)
	if some == 0 {
		return false
	}
	for i, list := range e.past {
		k.Fill(list, s.past[i][lo:], ends)
	}
	dense := 2*some >= n && s.till == s.ring.lane(s.t+1) // or else some events stay for later
	limit := uint32(0)
	if dense {
		limit, some = 1, more
	}
	m := 0
	if some > 0 {
		m = s.collect(s.which[:k.Above(s.which, s.counts[:n], limit)], dense)
	}
	if dense {
		s.applyDense(int(n))
	}
	s.applyFew(m, nil)
	s.applyLong()
	return true
}

// collect finds all events of synapses of the block, and returns how many of these synapses come first in which, with left and at.
// Where the block is worked on whole, that has the oldest event of those with two, and the others' counts become 0.
func (s *share) collect(index []uint32, dense bool) int {
	k, all, e, n := &s.w.b.kernels.Synapses, &s.all, &s.few, len(index)
	for q, x := range index {
		e.target[q], e.after[q], e.lanes[q] = all.target[x], all.after[x], all.lanes[x]
	}
	clear(e.target[n:min(n+8, roomy)])
	left, skips := s.left[:n], s.skips[:n]
	k.Pending(left, e.lanes, s.ring.slots, e.target, e.after)
	if s.till < s.ring.lane(s.t+1) {
		for q := range e.after[:n] {
			e.after[q] = s.till * 0x1_0001
		}
		k.Pending(skips, e.lanes, s.ring.slots, e.target, e.after)
	} else {
		clear(skips)
	}
	s.long = s.long[:0]
	m := 0
	for q, x := range index {
		count, skip := left[q], skips[q]
		if count == perSlot { // there may be more
			s.long, s.counts[x] = append(s.long, x), 0
			continue
		}
		count -= min(skip, count)
		switch {
		case dense && count == 2:
			count = 1
		case dense:
			s.counts[x] = 0
		}
		if count > 0 {
			s.which[m], s.left[m], s.at[m] = x, count, perSlot*e.target[q]+skip+count-1
			m++
		}
	}
	return m
}

// applyDense runs on_post for one event of each synapse of the block that has a count.
func (s *share) applyDense(n int) {
	e, h := &s.all, s.onPost
	if len(s.asks) > 0 || len(e.synapse) > 0 {
		s.w.b.kernels.Oldest(e.places[:n], s.chosen, e.target, s.counts)
	}
	s.runPost(e, n)
	s.keep(e, h, n, s.counts)
}

// column is the i-th variable of entries: the weight, then those of the rule.
func (s *share) column(e *entries, i int) []float32 {
	if i == 0 {
		return e.weight
	}
	return e.synapse[i-1]
}

// applyFew runs on_post for the first m synapses of which, which have as many events left as left says. Each round takes one
// event of each. Synapses with the most events come first, so each keeps its place from round to round. With a list of places,
// at is the event's entry there, without one its place. Later events come before earlier ones.
func (s *share) applyFew(m int, list []uint32) {
	if m == 0 {
		return
	}
	s.sortByLeft(m)
	k, e, all, h, n := &s.w.b.kernels.Synapses, &s.few, &s.all, s.onPost, m
	index := s.which[:m]
	clear(s.which[m:min(m+8, roomy)])
	for i := range h.results {
		k.Gather(s.column(e, i)[:m], s.column(all, i), index)
	}
	for i := range e.past {
		k.Gather(e.past[i][:m], all.past[i], index)
	}
	for q, x := range index {
		e.base[q], e.lanes[q] = all.base[x], all.lanes[x]
	}
	for round := uint32(1); n > 0; round++ {
		for q, at := range s.at[:n] {
			at -= round - 1
			if list != nil {
				at = list[at]
				e.lanes[q] = uint32(s.ring.slots[at/perSlot][0])
			}
			e.places[q] = at
		}
		clear(e.places[n:min(n+8, roomy)])
		k.Since(e.ages[:n], e.lanes, s.ring.slots, e.places, e.base)
		s.runPost(e, n)
		s.keep(e, h, n, nil)
		for n > 0 && s.left[n-1] == round {
			n--
		}
	}
	for i := range h.results {
		if h.changes(i) {
			values, to := s.column(e, i)[:m], s.column(all, i)
			for q, x := range index {
				to[x] = values[q]
			}
		}
	}
}

// sortByLeft sorts the first m of which, left and at by falling left.
func (s *share) sortByLeft(m int) {
	most, same := s.left[0], true
	for _, left := range s.left[1:m] {
		same = same && left == most
		most = max(most, left)
	}
	if same {
		return
	}
	s.tally = slices.Grow(s.tally[:0], int(most)+1)[:most+1]
	clear(s.tally)
	for _, left := range s.left[:m] {
		s.tally[left]++
	}
	before := uint32(0)
	for left := most; left > 0; left-- {
		s.tally[left], before = before, before+s.tally[left]
	}
	which, left, at := s.few.target, s.few.after, s.counts
	copy(which, s.which[:m])
	copy(left, s.left[:m])
	copy(at, s.at[:m])
	for q, n := range left[:m] {
		to := s.tally[n]
		s.which[to], s.left[to], s.at[to] = which[q], n, at[q]
		s.tally[n]++
	}
}

// applyLong does so for the synapses whose events are in several slots.
func (s *share) applyLong() {
	s.places = s.places[:0]
	m := 0
	for _, q := range s.long {
		had := len(s.places)
		s.places = s.ring.chain(s.all.target[q], s.all.after[q]&0xffff, s.till, s.places)
		if n := len(s.places) - had; n > 0 {
			s.which[m], s.left[m], s.at[m] = q, uint32(n), uint32(len(s.places)-1)
			m++
		}
	}
	s.long = s.long[:0]
	s.applyFew(m, s.places)
}

// runPost runs on_post for n entries, each with the event of its age, which is at its place in the ring, 1a.
func (s *share) runPost(e *entries, n int) {
	k, h := &s.w.b.kernels.Synapses, s.onPost
	places, ages := e.places[:n], e.ages[:n]
	for i := range h.results {
		h.from(i, s.column(e, i))
	}
	asked := 0
	for i, read := range h.reads {
		in := h.input(i)[:n]
		switch read.Kind {
		case formula.ReadPre:
			k.Decay(in, e.past[read.K], ages, &s.pre[read.K])
		case formula.ReadPreToo:
			now := s.ring.lane(s.t + 1)
			for q, age := range ages {
				in[q] = flagNumber(s.task == arrives && age-e.base[q] == now)
			}
		case formula.ReadAgePre:
			for q, age := range ages {
				in[q] = ageNumber(age)
			}
		default:
			k.Gather(in, s.ring.notes[asked], places)
			asked++
		}
	}
	h.run(uint32(n))
}

// keep takes over what a handler made of n entries, of those alone that have a count if there are counts, and brings weights within
// their bounds. A weight that was NaN stays as it was, with the synapse's variables.
func (s *share) keep(e *entries, h *handler, n int, counts []uint32) {
	k, p, made := &s.w.b.kernels, s.l.p, h.made(0)
	if s.broken {
		for q, w := range e.weight[:n] {
			if w != w || counts != nil && counts[q] == 0 {
				continue
			}
			for i, list := range e.synapse {
				list[q] = h.made(1 + i)[q]
			}
			k.Bound(e.weight[q:q+1], made[q:q+1], p.Lo, p.Hi)
		}
		return
	}
	if counts == nil {
		s.broken = k.Bound(e.weight[:n], made, p.Lo, p.Hi)
	} else {
		s.broken = k.BoundSome(e.weight[:n], made, counts, p.Lo, p.Hi)
	}
	s.keepVariables(e, h, n, counts != nil)
}

// keepVariables does so with the variables of the synapses: of all, or of those chosen.
func (s *share) keepVariables(e *entries, h *handler, n int, some bool) {
	for i, list := range e.synapse {
		switch {
		case !h.changes(1 + i):
		case some:
			s.w.b.kernels.Select(list[:n], s.chosen, h.made(1+i), list)
		default:
			copy(list[:n], h.made(1+i))
		}
	}
}

// apply runs on_pre or every for the whole block, 1b or 6; what it makes is to be kept.
func (s *share) apply(h *handler, lo int, ends []uint32) {
	for i := 0; i <= len(s.all.synapse); i++ {
		h.from(i, s.column(&s.all, i))
	}
	for i, read := range h.reads {
		s.read(read, h.input(i), lo, ends)
	}
	h.run(ends[len(ends)-1])
}

// read fills an input of on_pre or every for the block of the pieces from lo on.
func (s *share) read(r formula.Read, in []float32, lo int, ends []uint32) {
	l, p, k, t := s.l, s.l.p, &s.w.b.kernels.Synapses, s.t
	targets := s.all.target[:ends[len(ends)-1]]
	each := func(value func(i int) float32) {
		s.value = s.value[:0]
		for i := range ends {
			s.value = append(s.value, value(lo+i))
		}
		k.Fill(in, s.value, ends)
	}
	now := uint32(t + 1)
	switch r.Kind {
	case formula.ReadPre:
		each(func(i int) float32 { return aged(&p.Pre[r.K].Table, s.past[r.K][i], s.before[i], 0, t) })
	case formula.ReadPost:
		if r.K == 0 && s.onPost != nil && s.task == arrives {
			copy(in[:len(targets)], s.near)
			k.AgedNear(in[:len(targets)], s.all.lanes, s.last, targets, now, s.ring.lane(t+1), &s.post[0])
			return
		}
		k.Aged(in[:len(targets)], s.traces[r.K], s.last, targets, now, &s.post[r.K])
	case formula.ReadModulator:
		now := l.now[r.K]
		if s.task == sweeps {
			now = l.after[r.K]
		}
		each(func(int) float32 { return now })
	case formula.ReadSource:
		k.Fill(in, s.source[r.K][lo:], ends)
	case formula.ReadTarget:
		k.Gather(in[:len(targets)], s.variable(r.K), targets)
	case formula.ReadPostToo:
		for q, j := range targets {
			in[q] = float32(s.now[j])
		}
	case formula.ReadAgePre:
		each(func(i int) float32 {
			if last := s.before[i]; last > 0 {
				return float32(min(t+1-last, formula.MaxAge))
			}
			return formula.MaxAge
		})
	case formula.ReadAgePost:
		for q, j := range targets {
			in[q] = ageNumber(now - s.last[j])
		}
	case formula.ReadTotal:
		scale := float32(s.w.b.c.Scale)
		for q, j := range targets {
			in[q] = float32(s.total[j]) / scale
		}
	default:
		panic("BUG: a handler reads what it cannot")
	}
}

// arrive is 1b: on_pre, and what the synapses deliver.
func (s *share) arrive(lo int, ends []uint32) {
	e, h, p, n := &s.all, s.onPre, s.l.p, int(ends[len(ends)-1])
	w, k := s.w, &s.w.b.kernels.Synapses
	amounts, targets, scale := s.amounts[:n], e.target[:n], float32(s.w.b.c.Scale)
	if h != nil {
		s.apply(h, lo, ends)
	}
	switch out := 1 + len(e.synapse); {
	case h != nil && len(h.results) > out:
		nan := k.Amounts(amounts, s.out, h.made(out), min(p.Lo, 0), max(p.Hi, 0), scale)
		for q := 0; s.broken && q < n; q++ {
			if w := e.weight[q]; w != w {
				amounts[q], s.out[q], nan = 0, w, true
			}
		}
		s.keep(e, h, n, nil)
		for q := 0; nan && q < n; q++ {
			if x := s.out[q]; x != x {
				e.weight[q], s.broken = x, true
			}
		}
	case h != nil && !s.broken:
		s.broken = k.Amounts(amounts, e.weight, h.made(0), p.Lo, p.Hi, scale)
		s.keepVariables(e, h, n, false)
	default:
		if h != nil {
			s.keep(e, h, n, nil)
		}
		k.Amounts(amounts, s.out, e.weight, min(p.Lo, 0), max(p.Hi, 0), scale)
	}
	w.read += uint64(n)
	w.learnt += 16 * uint64(n)
	if p.Lift != 0 {
		for q, x := range amounts {
			amounts[q] = int32(connectome.Lift(int64(x), p.Lift))
		}
	}
	k.AddAt(w.acc[s.slot:], targets, amounts)
	if w.marking {
		for _, j := range targets {
			w.mark(s.slot + j)
		}
	}
}
