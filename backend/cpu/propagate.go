package cpu

import (
	"slices"

	"burst/backend/cpu/internal/vector"
	"burst/engine"
)

// propagate is step 1.
func (w *worker) propagate() {
	switch {
	case w.rows.first == nil && w.rows.rooms.Room == 0:
		w.decide(0)
	case w.rows.single != 0:
		w.listFired()
		w.decide(w.listed())
		w.deliver()
	default: // begin has delivered the runs of older spikes
		w.launch()
		w.fly(w.now % uint64(len(w.due)))
	}
}

// flies reports whether the worker has rows of several delays, which are delivered run by run.
func (w *worker) flies() bool { return w.rows.first != nil && w.rows.single == 0 }

// batch is how many row offsets are prefetched at once.
const batch = 32

// listFired lists the spans of the rows of the neurons that fired the least delay ago.
func (w *worker) listFired() {
	if w.early.burst == w.now+1 {
		w.early.burst = 0
		w.spans, w.early.spans = w.early.spans, w.spans
		w.ids = w.ids[:0]
		return
	}
	w.listFor(0)
}

// listed is how many units the listed rows have.
func (w *worker) listed() uint64 {
	units := w.rows.mean * uint64(len(w.ids))
	for _, s := range w.spans {
		units += s.To - s.From
	}
	return units
}

// listFor lists those that are due so many bursts after the one in progress.
func (w *worker) listFor(later int) {
	w.spans, w.ids = w.spans[:0], w.ids[:0]
	delay := w.rows.least
	if b := w.b; w.ran+later >= delay && b.window == delay {
		boxes := b.boxesOf(w.ran + later - delay)
		w.ids = slices.Grow(w.ids, fires(boxes))
		for k := range boxes {
			w.listRows(boxes[k].fired)
		}
	} else {
		w.listRows(b.queues.before(w.now+uint64(later), delay))
	}
}

// early are the spans of the next burst, listed while this one is updated: then their memory is asked for long before it is needed.
type early struct {
	burst uint64 // the next one plus 1; 0: none is listed
	spans []vector.Span
}

// listNext lists the spans of the next burst, if it is known by now who fired.
func (w *worker) listNext() {
	b := w.b
	if w.early.burst != 0 || w.rows.single == 0 || w.rows.first == nil || !b.own.Whole() || (w.ran+1)%b.window == 0 {
		return
	}
	w.spans, w.early.spans = w.early.spans, w.spans
	w.listFor(1)
	w.spans, w.early.spans = w.early.spans, w.spans
	w.early.burst = w.now + 2
}

// fetchNext asks for the next burst's share of rows that slots from ≤ k < to are of all of the worker's.
func (w *worker) fetchNext(from, to uint32) {
	n, slots := uint64(len(w.early.spans)), uint64(len(w.acc))
	if w.early.burst != 0 {
		w.b.kernels.FetchSpans(w.rows.units, w.early.spans[n*uint64(from)/slots:n*uint64(min(uint64(to), slots))/slots])
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

// headUnits are prefetched of a row when its flight is launched.
const headUnits = 64

// launch makes flights of the spikes whose first synapses can arrive now: those of least bursts ago. Newer queues may not
// have the spikes of other parts of the network yet (backend.SetQueue).
func (w *worker) launch() {
	w.listFired()
	if w.rows.ahead > 0 {
		w.heads = w.heads[:0]
		for _, row := range w.spans {
			w.heads = append(w.heads, vector.Span{From: row.From, To: min(row.To, row.From+headUnits)})
		}
		w.b.kernels.FetchSpans(w.rows.units, w.heads)
	}
	longest := uint64(len(w.due))
	fired := uint32((w.now + longest - uint64(w.rows.least)) % longest)
	for _, row := range w.spans {
		w.send(vector.Launch(w.rows.units, row.From, row.To, fired))
	}
}

// send puts a flight, if it has a run, into the list of the burst in which that is due.
func (w *worker) send(f vector.Flight) {
	if f.From < f.To {
		at := int(f.Due)
		if longest := len(w.due); at >= longest {
			at -= longest
		}
		w.due[at] = append(w.due[at], f)
	}
}

// fly delivers the runs that are due. Flights that have more runs wait for the next one's burst.
func (w *worker) fly(now uint64) {
	r, flights := &w.rows, w.due[now]
	if w.marking && r.bursts == 1 {
		for _, f := range flights {
			w.markAll(vector.Slots(w.named[:0], r.units[f.From+vector.RunUnits:f.From+uint64(f.Units)]))
		}
	}
	for _, f := range flights {
		w.read += uint64(f.Units)
	}
	w.b.kernels.FetchRuns(r.units, flights[:min(r.ahead, len(flights))])
	w.b.kernels.DeliverRuns(w.coming[:r.sums()*len(w.acc)], w.place*len(w.acc), r.units, flights, r.ahead)
	for _, f := range flights { // in any order: sums do not depend on it
		w.send(f)
	}
	w.due[now] = flights[:0]
}

// restore prepares for a new state: it makes the flights of the state's fire queues, sets the counts of work to zero, and
// makes all blocks live.
func (w *worker) restore(state *engine.State) {
	for i := range w.groups {
		g := &w.groups[i]
		g.wake()
		if g.event != nil {
			g.event.write(uint32(w.b.number), g.state)
		}
	}
	w.updated, w.read, w.ofRows, w.draws, w.learnt = w.blocked, 0, 0, 0, 0
	w.marking, w.early.burst, w.begun = false, 0, false
	for i, s := range w.shares {
		s.restore(&state.Plastic[i])
	}
	if w.rows.single != 0 {
		return
	}
	longest := uint64(w.b.c.MaxDelay)
	w.due = make([][]vector.Flight, longest)
	clear(w.coming)
	w.goTo(0)
	var parts []vector.Span
	for age := uint64(w.rows.least) + 1; age <= longest; age++ { // of a spike, seen from the next burst
		parts = parts[:0]
		for _, n := range w.b.queues.back(int(age)) {
			f := vector.Launch(w.rows.units, w.rows.first[n], w.rows.first[n+1], uint32((w.b.number+longest-age)%longest))
			for ; f.From < f.To; f.Next(w.rows.units) {
				delay := uint64(w.rows.units[f.From])
				if delay >= age {
					break
				}
				if delay+uint64(w.rows.bursts) > age {
					parts = append(parts, vector.Span{From: f.From + vector.RunUnits, To: f.From + uint64(f.Units)})
				}
			}
			w.send(f)
		}
		w.deliverRest(parts, int(age-uint64(w.rows.least))%w.rows.bursts)
	}
}

// deliverRest delivers runs of which the first bursts, so many, have been delivered before.
func (w *worker) deliverRest(parts []vector.Span, before int) {
	if len(parts) == 0 {
		return
	}
	all := make([]int32, w.rows.bursts*len(w.acc))
	w.b.kernels.Deliver(all, w.rows.units, parts, 1)
	for i, sum := range all[before*len(w.acc):] { // the next burst's sums are the first ones
		w.coming[i] += sum
	}
}

// deliver adds the weights of the listed spans to the sums and, with marking, marks their slots.
func (w *worker) deliver() {
	r := &w.rows
	w.b.kernels.Deliver(w.acc, r.units, w.spans, r.ahead)
	w.b.kernels.DeliverRooms(w.coming, &r.rooms, w.ids)
	if !w.marking {
		return
	}
	for _, n := range w.ids {
		w.markAll(vector.Slots(w.named[:0], r.rooms.Row(n)))
	}
	for _, s := range w.spans {
		w.markAll(vector.Slots(w.named[:0], r.units[s.From:s.To]))
	}
}

// markAll marks slots, a list whose memory the worker goes on with.
func (w *worker) markAll(slots []uint32) {
	for _, slot := range slots {
		w.mark(slot)
	}
	w.named = slots
}
