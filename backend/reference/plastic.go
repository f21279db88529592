package reference

import (
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/formula"
)

// learner is a projection whose synapses change. It looks at every synapse in every burst.
type learner struct {
	b      *backend
	p      *connectome.Plastic
	s      *engine.Plastic
	place  []uint64 // of synapse k in the state
	source []uint32 // of synapse k, counted from 0 in its area
	run    map[*connectome.Handler]*formula.Runner
}

func newLearner(b *backend, i int) *learner {
	p := &b.c.Plastic[i]
	l := &learner{b: b, p: p, s: &b.state.Plastic[i], place: p.Places(), run: map[*connectome.Handler]*formula.Runner{}}
	for s := range p.From.Count {
		for range p.Row[s+1] - p.Row[s] {
			l.source = append(l.source, s)
		}
	}
	for _, h := range []*connectome.Handler{p.OnPost, p.OnPre, p.Every, p.OnSource, p.When} {
		if h != nil {
			l.run[h] = formula.NewRunner(h.Program)
		}
	}
	return l
}

// propagate is steps 1a and 1b: the post and pre events of burst t, and what is delivered.
func (l *learner) propagate(t uint64) {
	if l.p.Window.Kind != 0 {
		l.window(t)
		return
	}
	post := make([]bool, l.p.To.Count)
	for j := range post {
		post[j] = l.postEvent(uint32(j), t)
	}
	for k := range l.p.Target {
		e := &event{t: t, k: k, source: l.source[k], target: l.target(k), delay: uint64(l.p.DelayOf(uint64(k)))}
		e.pre, e.post = l.b.fired(l.p.From.First+e.source, t-e.delay), post[e.target]
		if e.post {
			l.handle(l.p.OnPost, e) // 1a
		}
		if e.pre {
			l.deliver(k, l.handle(l.p.OnPre, e)) // 1b
		}
	}
	l.raiseConditions(t, post)
}

// event is a synapse in a burst.
type event struct {
	t, delay       uint64
	k              int
	source, target uint32 // counted from 0 in their areas
	pre, post      bool   // it has an event of that kind in burst t
	sweep          bool   // step 6: events of burst t count
	total          float32
}

// target is the neuron of synapse k, counted from 0 in its area.
func (l *learner) target(k int) uint32 {
	return (l.p.Target[k] - l.p.Ports.First) % l.p.To.Count
}

// postEvent says whether target j has a post event in burst t.
func (l *learner) postEvent(j uint32, t uint64) bool {
	if l.p.When == nil {
		return l.b.fired(l.p.To.First+j, t-uint64(l.p.Lag))
	}
	h, none := l.p.When, []float32{0}
	in := formula.Neuron{State: none, Params: h.Params, Inputs: l.inputs(h, &event{t: t, target: j})}
	return l.run[h].Run(&in, none)
}

// handle runs a handler and gives what the synapse delivers. A weight that is NaN stays NaN; an out that is NaN makes it NaN.
func (l *learner) handle(h *connectome.Handler, e *event) (out float32) {
	at := l.place[e.k]
	w := &l.s.Weight[at]
	if h == nil || *w != *w {
		return *w
	}
	in := formula.Neuron{State: []float32{*w}, Params: h.Params, Inputs: l.inputs(h, e)}
	for _, values := range l.s.Synapse {
		in.State = append(in.State, values[at])
	}
	next := make([]float32, len(h.Program.Next))
	l.run[h].Run(&in, next)
	*w = l.clamp(next[0])
	for k, values := range l.s.Synapse {
		values[at] = next[1+k]
	}
	if out = *w; len(next) > 1+len(l.s.Synapse) { // on_pre that assigns it
		if out = next[1+len(l.s.Synapse)]; out != out {
			*w = out
		}
	}
	return out
}

// clamp brings a weight within its bounds, and makes +0 of −0.
func (l *learner) clamp(w float32) float32 {
	switch {
	case w < l.p.Lo:
		w = l.p.Below
	case l.p.Hi < w:
		w = l.p.Above
	}
	return w + 0
}

// deliver adds out to the sum of the synapse's port.
func (l *learner) deliver(k int, out float32) {
	low, high := min(l.p.Lo, 0), max(l.p.Hi, 0)
	switch {
	case out < low:
		out = low
	case high < out:
		out = high
	}
	q := l.p.Delivers(connectome.Quanta(out, l.b.c.Scale), l.source[k], l.amplitude(k), l.b.c.Scale)
	l.b.acc[l.p.Target[k]] += int32(connectome.Lift(q, l.p.Lift))
}

// amplitude is that of the spike that synapse k delivers, where its area has a psp_max.
func (l *learner) amplitude(k int) int32 {
	if l.p.PSPMax == 0 {
		return 0
	}
	list, n := l.b.state.Amplitudes[l.p.DelayOf(uint64(k))-1], l.p.From.First+l.source[k]
	for _, x := range list {
		if x.Neuron == n {
			return x.Quanta
		}
	}
	return 0
}

// raiseConditions is step 1c of rules with a condition, whose post events the fire queues do not tell.
func (l *learner) raiseConditions(t uint64, post []bool) {
	if l.p.When == nil {
		return
	}
	for j := range post {
		if post[j] {
			l.raise(l.p.Post, l.s.Post, l.s.PostLast, j, t)
		}
	}
}

// raise lets the traces of a source or target have an event at burst s.
func (l *learner) raise(traces []connectome.Trace, values [][]float32, last []uint64, n int, s uint64) {
	for k := range traces {
		values[k][n] = raised(&traces[k], values[k][n], last[n], s, traces[k].Amount)
	}
	last[n] = s + 1
}

// raised is a trace's value after an event at burst s, of its value after the one at burst last−1; there was none where last is 0.
func raised(trace *connectome.Trace, x float32, last, s uint64, amount float32) float32 {
	switch {
	case trace.Set:
		return amount
	case last == 0:
		return amount
	}
	return float32(x*trace.Table.At(s+1-last)) + amount
}

// settle is step 1c: the spikes of burst s leave the queues, and what they raise becomes state.
func (l *learner) settle(s uint64, fired []uint32) {
	for _, n := range fired {
		if l.p.From.Has(n) {
			i := n - l.p.From.First
			l.step(l.source0(i), s)
			l.raise(l.p.Pre, l.s.Pre, l.s.PreLast, int(i), s)
		}
		if l.p.To.Has(n) && l.p.When == nil {
			l.raise(l.p.Post, l.s.Post, l.s.PostLast, int(n-l.p.To.First), s)
		}
	}
	for k := range l.p.Modulators {
		m := &l.p.Modulators[k]
		if spikes := count(fired, m.From); spikes > 0 {
			l.s.Modulator[k] = raised(&m.Trace, l.s.Modulator[k], l.s.ModulatorLast[k], s, float32(m.Amount*float32(spikes)))
			l.s.ModulatorLast[k] = s + 1
		}
	}
}

// count is how many of the neurons are among those that fired.
func count(fired []uint32, among connectome.Span) (n uint32) {
	for _, id := range fired {
		if among.Has(id) {
			n++
		}
	}
	return n
}

// sourceState is the variables of a source and the burst of its last spike plus 1.
type sourceState struct {
	values [][]float32 // of the state: entry i belongs to the source
	i      uint32
	last   uint64
}

func (l *learner) source0(i uint32) *sourceState {
	return &sourceState{l.s.Source, i, l.s.PreLast[i]}
}

// step runs on_source for a spike of burst s.
func (l *learner) step(x *sourceState, s uint64) {
	if h := l.p.OnSource; h != nil {
		in := formula.Neuron{Params: h.Params}
		for _, values := range x.values {
			in.State = append(in.State, values[x.i])
		}
		for _, r := range h.Reads {
			switch {
			case r.Kind == formula.ReadFirst:
				in.Inputs = append(in.Inputs, flag(x.last == 0))
			case x.last == 0:
				in.Inputs = append(in.Inputs, 0)
			default:
				in.Inputs = append(in.Inputs, h.Decays[r.K].At(s+1-x.last))
			}
		}
		l.run[h].Run(&in, in.State)
		for k, values := range x.values {
			values[x.i] = in.State[k]
		}
	}
	x.last = s + 1
}

func flag(x bool) float32 {
	if x {
		return 1
	}
	return 0
}

// inputs are what a handler reads, in the order of its Reads.
func (l *learner) inputs(h *connectome.Handler, e *event) (in []float32) {
	for _, r := range h.Reads {
		in = append(in, l.read(r, e))
	}
	return in
}

func (l *learner) read(r formula.Read, e *event) float32 {
	switch r.Kind {
	case formula.ReadPre:
		x, last := l.history(&l.p.Pre[r.K], l.s.Pre[r.K], l.s.PreLast, l.p.From.First, e.source, e.before(e.delay))
		return aged(&l.p.Pre[r.K].Table, x, last, e.delay, e.t)
	case formula.ReadPost:
		x, last := l.postHistory(&l.p.Post[r.K], l.s.Post[r.K], e)
		return aged(&l.p.Post[r.K].Table, x, last, l.lag(), e.t)
	case formula.ReadModulator:
		return l.modulator(r.K, e)
	case formula.ReadSource:
		return l.sourceValue(r.K, e)
	case formula.ReadTarget:
		return l.b.variable(l.p.To.First+e.target, l.p.TargetVariables[r.K])
	case formula.ReadPreToo:
		return flag(e.pre)
	case formula.ReadPostToo:
		return flag(e.post)
	case formula.ReadAgePre:
		_, last := l.history(nil, nil, l.s.PreLast, l.p.From.First, e.source, e.before(e.delay))
		return age(last, e.delay, e.t)
	case formula.ReadAgePost:
		_, last := l.postHistory(nil, nil, e)
		return age(last, l.lag(), e.t)
	case formula.ReadTotal:
		return e.total
	}
	panic("BUG: a handler reads what it cannot")
}

// before is the first burst whose spikes the synapse does not see yet, when they are events so many bursts later.
func (e *event) before(delay uint64) uint64 {
	end := e.t
	if e.sweep {
		end++
	}
	return end - min(end, delay)
}

// lag is L; of a rule with a condition the state tells the burst of the event itself.
func (l *learner) lag() uint64 {
	if l.p.When != nil {
		return 0
	}
	return uint64(l.p.Lag)
}

// history is a trace after the last spike of a neuron before burst end, and the burst of that spike plus 1: the state tells of
// those that have left the queues, the queues of the others. Without a trace it is the burst alone.
func (l *learner) history(trace *connectome.Trace, values []float32, lasts []uint64, first, i uint32, end uint64) (x float32, last uint64) {
	last = lasts[i]
	if trace != nil {
		x = values[i]
	}
	for s := l.b.oldest(); s < end; s++ {
		if l.b.fired(first+i, s) {
			if trace != nil {
				x = raised(trace, x, last, s, trace.Amount)
			}
			last = s + 1
		}
	}
	return x, last
}

func (l *learner) postHistory(trace *connectome.Trace, values []float32, e *event) (x float32, last uint64) {
	if l.p.When == nil {
		return l.history(trace, values, l.s.PostLast, l.p.To.First, e.target, e.before(l.lag()))
	}
	if trace != nil {
		x = values[e.target]
	}
	return x, l.s.PostLast[e.target]
}

// aged is a trace's value in burst t, of its value after the spike of burst last−1, an event so many bursts later.
func aged(table *connectome.Table, x float32, last, delay, t uint64) float32 {
	if last == 0 {
		return 0
	}
	return float32(x * table.At(t-(last-1+delay)))
}

// age is how many bursts before burst t that event was.
func age(last, delay, t uint64) float32 {
	if last == 0 {
		return formula.MaxAge
	}
	return float32(min(t-(last-1+delay), formula.MaxAge))
}

func (l *learner) modulator(k int, e *event) float32 {
	m := &l.p.Modulators[k]
	x, last, delay := l.s.Modulator[k], l.s.ModulatorLast[k], uint64(m.Delay)
	for s := l.b.oldest(); s < e.before(delay); s++ {
		if n := count(l.b.queueOf(s), m.From); n > 0 {
			x, last = raised(&m.Trace, x, last, s, float32(m.Amount*float32(n))), s+1
		}
	}
	return aged(&m.Table, x, last, delay, e.t)
}

// sourceValue is a variable of the source after the spike that is delivered.
func (l *learner) sourceValue(k int, e *event) float32 {
	x := &sourceState{i: 0, last: l.s.PreLast[e.source]}
	for _, values := range l.s.Source {
		x.values = append(x.values, []float32{values[e.source]})
	}
	for s := l.b.oldest(); s <= e.t-e.delay; s++ {
		if l.b.fired(l.p.From.First+e.source, s) {
			l.step(x, s)
		}
	}
	return x.values[k][0]
}

// sweep is step 6, after which burst t is over.
func (l *learner) sweep(t uint64) {
	h := l.p.Every
	if h == nil || (t+1)%l.p.Rule.Every != 0 {
		return
	}
	total := make([]int64, l.p.To.Count)
	for k := range l.p.Target {
		total[l.target(k)] += int64(connectome.Quanta(l.s.Weight[l.place[k]], l.b.c.Scale))
	}
	for k := range l.p.Target {
		j := l.target(k)
		l.handle(h, &event{t: t, k: k, source: l.source[k], target: j, delay: uint64(l.p.DelayOf(uint64(k))), sweep: true,
			total: float32(total[j]) / float32(l.b.c.Scale)})
	}
}

// window is FEAGI's rules. In burst t a synapse of delay d counts the spikes of its ends in bursts t−d−W+1 … t−d.
func (l *learner) window(t uint64) {
	for k := range l.p.Target {
		at, d := l.place[k], uint64(l.p.DelayOf(uint64(k)))
		i, j := l.p.From.First+l.source[k], l.p.To.First+l.target(k)
		w := &l.s.Weight[at]
		if l.p.Window.Kind == genome.WindowRelease && l.b.fired(i, t-d) {
			l.deliver(k, *w) // the weight from before the burst of the spike
		}
		*w = l.clamp(l.learnt(*w, l.counts(i, t, d), l.counts(j, t, d), t, d))
		if l.p.Window.Kind != genome.WindowRelease && l.b.fired(i, t-d) {
			l.deliver(k, *w)
		}
	}
}

// counts is in how many bursts of the window a neuron fired.
func (l *learner) counts(n uint32, t, d uint64) (fired uint32) {
	for back := range uint64(l.p.Window.Bursts) {
		if t >= d+back && l.b.fired(n, t-d-back) {
			fired++
		}
	}
	return fired
}

// learnt is the weight of a synapse whose ends fired in so many bursts of the window.
func (l *learner) learnt(w float32, source, target uint32, t, d uint64) float32 {
	past := uint32(min(uint64(l.p.Window.Bursts), max(t+1, d)-d)) // bursts of the window that there have been
	switch l.p.Window.Kind {
	case genome.WindowRelease:
		switch {
		case past < l.p.Window.Bursts:
		case source > 0 && target > 0:
			return w + l.p.Window.Up
		case source > 0 || target > 0:
			return w - l.p.Window.Down
		}
	case genome.WindowFebruary:
		switch {
		case past < l.p.Window.Bursts || source == 0 && target == 0:
		case source == past && target == past:
			return w + l.p.Window.Up
		default:
			return w - l.p.Window.Down
		}
	case genome.WindowPython:
		switch {
		case past == 0 || source < past:
		case target == past:
			return w + l.p.Window.Up
		default:
			return w - l.p.Window.Down
		}
	}
	return w
}

// oldest is the first burst that the queues tell of.
func (b *backend) oldest() uint64 {
	return b.state.Number - min(b.state.Number, uint64(len(b.state.Queues)))
}

// queueOf is the fire queue of burst s; none where the queues do not tell of it.
func (b *backend) queueOf(s uint64) []uint32 {
	if back := b.state.Number - s; s < b.state.Number && back <= uint64(len(b.state.Queues)) {
		return b.state.Queues[back-1]
	}
	return nil
}

// fired says whether neuron n fired in burst s.
func (b *backend) fired(n uint32, s uint64) bool {
	_, in := slices.BinarySearch(b.queueOf(s), n)
	return in
}

// variable is a state variable of a neuron, V or the k-th further one.
func (b *backend) variable(n uint32, k int) float32 {
	if k == 0 {
		return b.state.V[n]
	}
	return b.state.More[k-1][n]
}
