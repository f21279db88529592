package cpu

import (
	"slices"

	"burst/backend/cpu/internal/vector"
	"burst/engine"
)

// flight is a spike with runs still to deliver to a worker: the segments of the next run, and the end of the row.
type flight struct {
	next vector.Span
	end  uint64
}

// propagate is step 1.
func (w *worker) propagate() {
	if w.rows.first == nil && w.rows.rooms.Room == 0 {
		return
	}
	if w.rows.single != 0 {
		w.listFired()
		w.deliver()
		return
	}
	if w.rows.bursts > 1 {
		w.listFired()
		w.deliverRuns()
		return
	}
	w.launch()
	now := w.now % uint64(len(w.due))
	w.spans = w.spans[:0]
	for _, f := range w.due[now] {
		w.spans = append(w.spans, f.next)
	}
	w.deliver()
	w.follow(now)
}

// batch is how many row offsets are prefetched at once.
const batch = 32

// listFired lists the spans of the rows of the neurons that fired the least delay ago.
func (w *worker) listFired() {
	w.spans, w.ids = w.spans[:0], w.ids[:0]
	delay := w.rows.least
	if b := w.b; w.ran >= delay && b.window == delay {
		boxes := b.boxesOf(w.ran - delay)
		w.ids = slices.Grow(w.ids, fires(boxes))
		for k := range boxes {
			w.listRows(boxes[k].fired)
		}
	} else {
		w.listRows(b.queues.before(w.now, delay))
	}
}

// listRows adds the spans of the rows of the neurons in a fire queue to the list.
func (w *worker) listRows(queue []uint32) {
	if w.rows.rooms.Room > 0 {
		w.ids = append(w.ids, queue...)
		return
	}
	first := w.rows.first
	w.b.kernels.FetchRows(first, queue[:min(batch, len(queue))])
	for len(queue) > 0 {
		n := min(batch, len(queue))
		w.b.kernels.FetchRows(first, queue[n:min(2*batch, len(queue))])
		for _, id := range queue[:n] {
			w.spans = append(w.spans, vector.Span{From: first[id], To: first[id+1]})
		}
		queue = queue[n:]
	}
}

// launch makes flights of the spikes whose first synapses can arrive now: those of least bursts ago. Newer queues may not
// have the spikes of other parts of the network yet (backend.SetQueue).
func (w *worker) launch() {
	longest, least := uint64(len(w.due)), uint64(w.rows.least)
	before := w.now%longest + longest - least
	w.listFired()
	for _, row := range w.spans {
		if row.From < row.To {
			delay, next := w.rows.run(row.From)
			at := (before + delay) % longest
			w.due[at] = append(w.due[at], flight{next, row.To})
		}
	}
}

// follow moves the flights of this burst that have more runs to the burst in which the next run is due.
func (w *worker) follow(now uint64) {
	longest := uint64(len(w.due))
	for _, f := range w.due[now] { // in any order: sums do not depend on it
		if f.next.To < f.end {
			delay, next := w.rows.run(f.next.To)
			at := (now + delay - w.rows.delayBefore(f.next.From)) % longest
			w.due[at] = append(w.due[at], flight{next, f.end})
		}
	}
	w.due[now] = w.due[now][:0]
}

// restore prepares for a new state: it makes the flights of the state's fire queues, sets the counts of work to zero, and
// makes all blocks live.
func (w *worker) restore(state *engine.State) {
	for i := range w.groups {
		g := &w.groups[i]
		g.wake()
		if g.event != nil {
			g.event.write(uint32(w.b.number), w.b.keptOf(g))
		}
	}
	w.updated, w.read, w.draws, w.learnt = w.blocked, 0, 0, 0
	w.marking = false
	for i, s := range w.shares {
		s.restore(&state.Plastic[i])
	}
	if w.rows.single != 0 {
		return
	}
	longest, each := uint64(w.b.c.MaxDelay), w.rows.bursts > 1
	if each {
		clear(w.coming)
	} else {
		w.due = make([][]flight, longest)
	}
	for age := uint64(w.rows.least) + 1; age <= longest; age++ { // of a spike, seen from the next burst
		for _, n := range w.b.queues.back(int(age)) {
			for at, end := w.rows.first[n], w.rows.first[n+1]; at < end; {
				delay, next := w.rows.run(at)
				if delay >= age && each {
					w.b.kernels.Deliver(w.sumsOf(w.b.number+delay-age), w.rows.units, []vector.Span{next}, w.rows.ahead)
				} else if delay >= age {
					in := (w.b.number%longest + delay - age) % longest
					w.due[in] = append(w.due[in], flight{next, end})
					break
				}
				at = next.To
			}
		}
	}
}

// deliverRuns adds the weights in all runs of the listed rows to the sums of their bursts.
func (w *worker) deliverRuns() {
	r := &w.rows
	w.runs.Now = int64(w.now%w.runs.Bursts) - int64(r.least)
	w.b.kernels.DeliverRuns(&w.runs, r.units, w.spans, r.ahead)
	for _, s := range w.spans {
		w.read += s.To - s.From
	}
}

// deliver adds the weights of the listed spans to the sums and, with marking, marks their slots.
func (w *worker) deliver() {
	r := &w.rows
	w.b.kernels.Deliver(w.acc, r.units, w.spans, r.ahead)
	w.b.kernels.DeliverRooms(w.acc, &r.rooms, w.ids)
	for _, s := range w.spans {
		w.read += s.To - s.From
	}
	w.read += r.mean * uint64(len(w.ids))
	if !w.marking {
		return
	}
	for _, n := range w.ids {
		w.slots = vector.Slots(w.slots[:0], r.rooms.Row(n))
		for _, slot := range w.slots {
			w.mark(slot)
		}
	}
	for _, s := range w.spans {
		w.slots = vector.Slots(w.slots[:0], r.units[s.From:s.To])
		for _, slot := range w.slots {
			w.mark(slot)
		}
	}
}
