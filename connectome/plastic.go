package connectome

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/formula"
	"burst/internal/quanta"
)

// Plastic is a plastic projection. It has rows of its own; its synapses are not in the rows of the Connectome. In a part of a
// network, Row, Target, Delay and Weight are those of the part, and all else is that of the whole network.
//
// Its synapses have two orders. Rows are sorted by (delay, port, weight), like those of the Connectome. The state of a run has
// weights sorted by port, source, delay and initial weight. Synapses that are equal in all four see the same events; those of a list
// whose variables start from its columns are in the order of the list. Places maps the order of the rows to that of the state.
type Plastic struct {
	Projection int // in the genome
	Rule       *genome.Plasticity
	From, To   Span   // neurons
	Ports      Span   // of the target area
	Port       uint32 // which of the targets' ports, from 0

	Row    []uint64 // one entry per source and one more; the synapses of the i-th source are Row[i] ≤ k < Row[i+1]
	Target []uint32 // port
	Weight []int32  // initial, in quanta, not lifted; nil if all are Same
	Same   int32
	Delay  Delays   // none if all are Steps
	Steps  uint16   // bursts
	In     []uint32 // per port of Ports: number of synapses onto it in the whole network; nil in that, see Onto

	Lag             uint32 // L: a spike of the target in burst u is a post event of burst u + Lag
	Longest         uint32 // the largest delay
	Lo, Hi          float32
	Below, Above    float32 // what a weight beyond Lo or Hi becomes: that bound, or NaN, which ends the run
	Divide          []int32 // per source, what its spikes divide by; nil: nothing
	Lift            int64   // of the target area; see Unlift
	PSPMax          int32   // of the source area; above 0 what a spike delivers follows its amplitude
	Pre, Post       []Trace
	Modulators      []Modulator
	Source          []float32       // initial values of the source's variables
	Synapse         []float32       // initial values of the further variables of a synapse
	Drawn           []*genome.Value // per variable, what its initial values are drawn from; nil, or none for it: they are those of Synapse
	Listed          [][]float32     // per variable, what each synapse has it start from, in the order of the rows; nil, or none for it: as the two above say
	TargetVariables []int           // per Rule.Target: the state variable of the target's model, 0 for V
	OnPost          *Handler        // nil: there is no such handler
	OnPre           *Handler
	Every           *Handler
	OnSource        *Handler
	When            *Handler
	Window          Window
}

// Handler is a program with its parameters and tables.
type Handler struct {
	*formula.Handler
	Params []float32
	Decays []Table
}

// Trace is a trace with the table of its decay.
type Trace struct {
	Table  Table
	Amount float32
	Set    bool
}

// Modulator is a trace of the projection. Each spike of an area adds Amount.
type Modulator struct {
	Trace
	From  Span   // neurons
	Delay uint32 // a spike of burst s is an event of burst s + Delay
}

// Window has the parameters of FEAGI's rules.
type Window struct {
	Kind   genome.Window
	Bursts uint32
	Up     float32 // added if both ends fired
	Down   float32 // subtracted if only one end fired
}

// mostPlastic is the largest initial weight of a plastic synapse in quanta. Up to here a weight in float32 converts back to the
// same number of quanta.
const mostPlastic = 1 << 22

// Queues is the number of fire queues in the state: enough for the largest delay, for plasticity and for memory areas.
func (c *Connectome) Queues() int {
	most := uint32(c.MaxDelay)
	for i := range c.Plastic {
		p := &c.Plastic[i]
		most = max(most, p.Longest, p.Lag, p.Longest+p.Window.Bursts)
		for k := range p.Modulators {
			most = max(most, p.Modulators[k].Delay)
		}
	}
	for _, a := range c.Memories() {
		most = max(most, uint32(a.Constant("temporal_depth").Const))
	}
	return int(most)
}

// Synapses is the number of the projection's synapses onto the part.
func (p *Plastic) Synapses() uint64 { return uint64(len(p.Target)) }

// Whole is the number of the projection's synapses in the whole network, which is the number of its weights in a state.
func (p *Plastic) Whole() uint64 {
	if p.In == nil {
		return p.Synapses()
	}
	n := uint64(0)
	for _, in := range p.In {
		n += uint64(in)
	}
	return n
}

// Onto is, per port of Ports, the number of synapses onto it in the whole network.
func (p *Plastic) Onto() []uint32 {
	if p.In != nil {
		return p.In
	}
	onto := make([]uint32, p.Ports.Count)
	for _, port := range p.Target {
		onto[port-p.Ports.First]++
	}
	return onto
}

// DelayOf is the delay of synapse k in bursts.
func (p *Plastic) DelayOf(k uint64) uint32 {
	if p.Delay.None() {
		return uint32(p.Steps)
	}
	return p.Delay.At(k)
}

// Least is the smallest delay of the part's synapses, the longest where it has none.
func (p *Plastic) Least() uint32 {
	switch {
	case len(p.Target) == 0:
		return max(1, p.Longest)
	case p.Delay.None():
		return uint32(p.Steps)
	}
	least, _ := p.Delay.extremes()
	return least
}

// Quanta converts a weight w to quanta, before it is lifted: round(w·scale) in float32, ties away from zero; 0 for NaN.
func Quanta(w float32, scale int32) int32 {
	if w != w {
		return 0
	}
	return int32(quanta.Nearest(float64(float32(w * float32(scale)))))
}

// Fails says that a weight which passes a bound ends the run.
func (p *Plastic) Fails() bool { return p.Below != p.Lo || p.Above != p.Hi }

// Delivers is what a synapse of the weight q, in quanta, delivers of a spike of a source, before it is lifted. Only where PSPMax is above 0
// does the spike's amplitude matter.
func (p *Plastic) Delivers(q int32, source uint32, amplitude, scale int32) int64 {
	if p.PSPMax == 0 {
		return int64(p.Share(q, source))
	}
	by := int32(0)
	if p.Divide != nil {
		by = p.Divide[source]
	}
	return Delivers(q, amplitude, scale, by)
}

// Share is what a spike of the source delivers of q quanta, before it is lifted: where its area divides, q divided by the number of
// its synapses, rounded up in size, as weights that stay are.
func (p *Plastic) Share(q int32, source uint32) int32 {
	if p.Divide == nil {
		return q
	}
	return int32(shareOf(int64(q), int64(p.Divide[source])))
}

// shareOf is q/by, rounded up in size.
func shareOf(q, by int64) int64 {
	if q < 0 {
		return -((-q + by - 1) / by)
	}
	return (q + by - 1) / by
}

// First is the weight that synapse k starts from, in quanta, not lifted.
func (p *Plastic) First(k uint64) int32 {
	if p.Weight == nil {
		return p.Same
	}
	return p.Weight[k]
}

// Initial is First in the weight's unit.
func (p *Plastic) Initial(k uint64, scale int32) float32 {
	return float32(p.First(k)) / float32(scale)
}

// Places returns the place of every synapse of the rows in the order of the state. It takes 8 bytes per synapse.
func (p *Plastic) Places() []uint64 {
	places := make([]uint64, len(p.Target))
	p.EachPlace(func(k, place uint64) { places[k] = place })
	return places
}

// EachPlace goes through the rows and tells the place of each synapse in the order by target.
func (p *Plastic) EachPlace(take func(k, place uint64)) {
	next := p.places()
	for k, port := range p.Target {
		at := &next[port-p.Ports.First]
		take(uint64(k), *at)
		*at++
	}
}

// places is where the synapses onto each port begin in the order of the state.
func (p *Plastic) places() []uint64 {
	next := make([]uint64, p.Ports.Count+1)
	for i, n := range p.Onto() {
		next[i+1] = next[i] + uint64(n)
	}
	return next
}

// SynapseAt returns the port of the synapse at a place in the order of the state. If this part has the synapse, it also returns
// its number in the rows and its source neuron.
func (p *Plastic) SynapseAt(place uint64) (port uint32, k uint64, source uint32, here bool) {
	port = p.Ports.First
	for rest, onto := place, p.Onto(); rest >= uint64(onto[port-p.Ports.First]); port++ {
		rest -= uint64(onto[port-p.Ports.First])
	}
	p.EachPlace(func(synapse, at uint64) {
		if at == place {
			k, here = synapse, true
		}
	})
	for here && p.Row[source+1] <= k {
		source++
	}
	return port, k, p.From.First + source, here
}

// ToState copies values of the part's synapses, in the order of the rows, to an array of a state.
func (p *Plastic) ToState(rows, state []float32) {
	p.stretches(func(lo, hi uint64, next []uint64) {
		rows := rows[lo:hi]
		for k, port := range p.Target[lo:hi] {
			at := &next[port-p.Ports.First]
			state[*at] = rows[k]
			*at++
		}
	})
}

// FromState copies values from an array of a state to the order of the rows.
func (p *Plastic) FromState(rows, state []float32) {
	p.stretches(func(lo, hi uint64, next []uint64) {
		rows := rows[lo:hi]
		for k, port := range p.Target[lo:hi] {
			at := &next[port-p.Ports.First]
			rows[k] = state[*at]
			*at++
		}
	})
}

// stretches cuts the rows into stretches, one a processor. next has the place of a stretch's first synapse onto each port; the others
// follow. So that next takes at most a byte a synapse there are fewer stretches where ports have few.
func (p *Plastic) stretches(do func(lo, hi uint64, next []uint64)) {
	n, ports := p.Synapses(), uint64(p.Ports.Count)
	count := max(1, min(uint64(runtime.GOMAXPROCS(0)), n/(8*ports+1)))
	next := make([][]uint64, count)
	parallel(int(count), count, func(_ int, i uint64) {
		own := make([]uint64, ports)
		for _, port := range p.Target[n*i/count : n*(i+1)/count] {
			own[port-p.Ports.First]++
		}
		next[i] = own
	})
	at := uint64(0)
	for port := range ports {
		begin := at
		for i := range next {
			next[i][port], at = at, at+next[i][port]
		}
		if p.In != nil {
			at = begin + uint64(p.In[port]) // other parts have the rest
		}
	}
	parallel(int(count), count, func(_ int, i uint64) { do(n*i/count, n*(i+1)/count, next[i]) })
}

// static is the plan without plastic and driven projections.
func (p *plan) static() *plan {
	var still []*wiring
	for i := range p.wirings {
		if w := &p.wirings[i]; w.learns == nil && w.drives == 0 {
			still = append(still, w)
		}
	}
	if len(still) == len(p.wirings) {
		return p
	}
	return p.only(still...)
}

// side is the sign of the weights of a projection that learns, whose bounds do not cross 0 where signs have ports of their own.
func (w *wiring) side() int64 {
	if w.learns.Hi <= 0 && w.learns.Lo < 0 {
		return -1
	}
	return 1
}

// which of the targets' ports takes all weights of a projection that learns, from 0.
func (w *wiring) which() int { return int((w.port(0, 0, 0) - w.ports.First) / w.to.Count) }

// bound is the largest |weight| that a synapse of the weight q can come to deliver, in quanta, lifted. While it is not known yet what
// there is room for, weights that may fail are taken to stay.
func (w *wiring) bound(source uint32, q int64, scale float64) uint64 {
	switch {
	case w.learns == nil && w.drives > 0:
		return w.drivenBound(source, q, scale)
	case w.learns == nil:
		return quanta.Magnitude(q)
	}
	by := int64(1)
	if w.out != nil {
		by = int64(max(1, w.out[source]))
	}
	delivers := func(q int64) uint64 {
		if w.drives > 0 {
			return w.drivenBound(source, q, scale)
		}
		if quanta.Magnitude(q) < quanta.Overflow {
			q = shareOf(q, by)
		}
		return quanta.Magnitude(lift(q, w.lifting))
	}
	if w.learns.Fail && !w.settled {
		return max(delivers(q), delivers(0), w.start)
	}
	return max(delivers(bounded(w.low, scale)), delivers(bounded(w.high, scale)), delivers(0))
}

// bounded is what a bound delivers, as Quanta but for what int32 cannot hold.
func bounded(w float32, scale float64) int64 { return quanta.Of(float64(float32(w*float32(scale))), 1) }

// makePlastic makes the synapses of all plastic projections.
func (p *plan) makePlastic(c *Connectome, sums []uint64, progress *meter) error {
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.learns == nil {
			continue
		}
		rows := &Connectome{Neurons: c.Neurons, MaxDelay: 1, Part: c.Part}
		if err := p.only(w).wire(rows, sums, progress); err != nil {
			return err
		}
		c.ByRule += rows.ByRule
		made, err := p.newPlastic(w, c, rows)
		if err != nil {
			return err
		}
		c.Plastic = append(c.Plastic, made)
		if made.PSPMax > 0 {
			c.MaxDelay = max(c.MaxDelay, int(made.Longest)) // amplitudes are kept for so long
		}
	}
	return nil
}

// newPlastic makes one of rows that have been wired.
func (p *plan) newPlastic(w *wiring, c, rows *Connectome) (Plastic, error) {
	m := p.plasticRows(w, rows)
	same := !w.varies() && len(m.Weight) > 0
	if same {
		m.Weight = m.Weight[:1]
	}
	if err := p.checkStart(w, &m, c.Scale); err != nil {
		return m, err
	}
	if same {
		m.Weight, m.Same = nil, m.Weight[0]
	}
	if m.Rule.Window == genome.WindowNone {
		p.takeListed(w, &m)
		return m, p.takeRule(w, &m)
	}
	m.Window = newWindow(w.learns, math.Abs(w.factor))
	if w.side() < 0 && m.Rule.Window != genome.WindowPython {
		m.Window.Up, m.Window.Down = -m.Window.Up, -m.Window.Down // a weight < 0 grows away from 0
	}
	return m, nil
}

// plasticRows is a projection that learns with its synapses, but without what its rule needs.
func (p *plan) plasticRows(w *wiring, rows *Connectome) Plastic {
	m := Plastic{
		Projection: w.index, Rule: w.learns.Rule, From: w.from, To: w.to, Ports: w.ports, Port: uint32(w.which()),
		Target: rows.Target, Weight: rows.Weight, Delay: rows.Delay, Steps: 1,
		Lag: uint32(max(1, 2*w.learns.Back)), Longest: uint32(rows.MaxDelay),
		Lo: w.low, Hi: w.high, Below: w.below, Above: w.above, Lift: p.lifts[w.p.To], PSPMax: p.pspMax(w.p.From),
	}
	for _, n := range w.out {
		m.Divide = append(m.Divide, int32(n))
	}
	first := rows.Row[w.from.First]
	for n := w.from.First; n <= w.from.End(); n++ {
		m.Row = append(m.Row, rows.Row[n]-first)
	}
	if w.delay.Kind == genome.Const && w.delays == nil {
		m.Delay, m.Steps, m.Longest = Delays{}, w.steps, uint32(w.steps)
	}
	if p.inParts() {
		m.In = m.Onto()
	}
	return m
}

// checkStart refuses weights that a synapse cannot start from.
func (p *plan) checkStart(w *wiring, m *Plastic, scale int32) error {
	for k, q := range m.Weight {
		switch x := m.Initial(uint64(k), scale); {
		case !keeps(q, scale):
			most := quanta.Magnitude(int64(slices.MaxFunc(m.Weight, func(a, b int32) int { return cmp.Compare(quanta.Magnitude(int64(a)), quanta.Magnitude(int64(b))) })))
			return p.g.Fault(w.weight.Pos, projectionKey(w.index, "weight"), "synapse %d has %d quanta, want at most %d where weights change; write scale: %d or less",
				k, q, mostPlastic, max(1, uint64(scale)*mostPlastic/most))
		case !within(x, m.Lo, m.Hi):
			return p.g.Fault(w.weight.Pos, projectionKey(w.index, "weight"), "synapse %d starts from the weight %g, want one within the bounds %g…%g of its plasticity", k, x, m.Lo, m.Hi)
		}
	}
	return nil
}

// keeps says that a weight of q quanta is as many again when it has been a float32.
func keeps(q, scale int32) bool {
	return quanta.Magnitude(int64(q)) <= mostPlastic || Quanta(float32(q)/float32(scale), scale) == q
}

func within(x, low, high float32) bool { return low <= x && x <= high }

// takeRule fills in what the rule of m computes with: traces, variables, modulators and its programs.
func (p *plan) takeRule(w *wiring, m *Plastic) error {
	l, rule := w.learns, m.Rule
	for _, tau := range rule.Taus() {
		if bursts := l.Value(tau, p.g.Timestep) / p.g.Timestep; !(bursts <= MaxTau) {
			return p.g.Fault(l.Pos, projectionKey(w.index, "plasticity"), "a time constant is %g bursts, want at most %d", bursts, MaxTau)
		}
	}
	value := func(v genome.RuleValue) float32 { return float32(l.Value(v, p.g.Timestep)) }
	trace := func(tau, amount genome.RuleValue, set bool) Trace {
		return Trace{p.table(l.Value(tau, p.g.Timestep) / p.g.Timestep), value(amount), set}
	}
	for _, t := range rule.Pre {
		m.Pre = append(m.Pre, trace(t.Tau, t.Amount, t.Set))
	}
	for _, t := range rule.Post {
		m.Post = append(m.Post, trace(t.Tau, t.Amount, t.Set))
	}
	for _, t := range rule.Modulators {
		i, err := p.g.FindArea(t.From)
		if err != nil {
			return p.g.Fault(l.Pos, projectionKey(w.index, "plasticity"), "%v", err)
		}
		m.Modulators = append(m.Modulators, Modulator{trace(t.Tau, t.Amount, false), p.areas[i], uint32(t.Delay)})
	}
	for _, v := range rule.Source {
		m.Source = append(m.Source, value(v.Start))
	}
	if err := p.takeStarts(l, m); err != nil {
		return err
	}
	for _, name := range rule.Target {
		for k, v := range p.g.Areas[w.p.To].Model.State {
			if v.Name == name {
				m.TargetVariables = append(m.TargetVariables, k)
			}
		}
	}
	d := rule.Definition()
	m.OnPost, m.OnPre = p.newHandler(l, d.OnPost), p.newHandler(l, d.OnPre)
	m.Every, m.OnSource, m.When = p.newHandler(l, d.Every), p.newHandler(l, d.OnSource), p.newHandler(l, d.When)
	return nil
}

// moreColumns is the number of columns that variables of the synapses start from.
func (w *wiring) moreColumns() int {
	if w.learns == nil {
		return 0
	}
	return len(w.learns.Listed)
}

// takeListed puts what the rows of a list have their synapses' variables start from into the order of the rows of m.
func (p *plan) takeListed(w *wiring, m *Plastic) {
	if w.moreColumns() == 0 {
		return
	}
	more := w.rule.(*edgeList).More
	m.Listed = make([][]float32, len(m.Rule.Synapse))
	for _, c := range w.learns.Listed {
		m.Listed[c.Variable] = make([]float32, m.Synapses())
	}
	order := p.listOrder(w, m)
	spans(p.workers, uint64(len(order)), 1<<14, func(_ int, lo, hi uint64) {
		for i, c := range w.learns.Listed {
			for k := lo; k < hi; k++ {
				m.Listed[c.Variable][k] = more[i][order[k]]
			}
		}
	})
}

// listOrder is the rows of a list, from 0, of which the synapses of m are made, in their order.
func (p *plan) listOrder(w *wiring, m *Plastic) []uint64 {
	list, order, next := w.rule.(*edgeList), make([]uint64, m.Synapses()), slices.Clone(m.Row)
	for k, s := range list.Source {
		if p.part.Owns(w.to.First+list.Target[k]) && (w.keep == 100 || w.attracts(uint64(k))) {
			order[next[s]] = uint64(k)
			next[s]++
		}
	}
	keys := make([]listedRow, p.workers)
	spans(p.workers, uint64(w.from.Count), 1<<8, func(worker int, lo, hi uint64) {
		own := &keys[worker]
		for s := lo; s < hi; s++ {
			own.rows = order[m.Row[s]:m.Row[s+1]]
			own.row = row{own.target[:0], own.weight[:0], newDelays(uint64(len(own.rows)), int(m.Longest))}
			for i, k := range own.rows { // the values have been checked
				t := list.Target[k]
				q, _ := w.quanta(uint32(s), t, k, p.scale)
				own.target, own.weight = append(own.target, t), append(own.weight, quanta.Clamp(q))
				if w.delays != nil {
					own.delay.set(uint64(i), uint64(w.delays[k]))
				} else {
					x, _ := w.delay.of(uint32(s), t, k)
					own.delay.set(uint64(i), uint64(quanta.Nearest(x)))
				}
			}
			sort.Sort(own)
		}
	})
	return order
}

// listedRow is a neuron's synapses with their rows of a list, to be sorted as rows of the network are, and equal ones by their rows.
type listedRow struct {
	row
	rows []uint64
}

func (l *listedRow) Swap(i, j int) {
	l.row.Swap(i, j)
	l.rows[i], l.rows[j] = l.rows[j], l.rows[i]
}

func (l *listedRow) Less(i, j int) bool {
	c := l.compare(i, j)
	return c < 0 || c == 0 && l.rows[i] < l.rows[j]
}

// takeStarts fills in what the variables of the synapses start from.
func (p *plan) takeStarts(l *genome.Learning, m *Plastic) error {
	m.Drawn = make([]*genome.Value, len(m.Rule.Synapse))
	for k, v := range m.Rule.Synapse {
		given, is := l.Starts[v.Name]
		switch {
		case !is:
			m.Synapse = append(m.Synapse, float32(l.Value(v.Start, p.g.Timestep)))
		case given.Kind == genome.Const:
			m.Synapse = append(m.Synapse, float32(given.A))
		default:
			m.Synapse, m.Drawn[k] = append(m.Synapse, 0), &given
			s := m.start(k, p.g.Seed)
			wrong := s.probe()
			if lo, hi := s.extent(); wrong == "" && !(finite(float32(lo)) && finite(float32(hi))) {
				wrong = fmt.Sprintf("draws reach from %g to %g, want them within ±3.4e38 (float32)", lo, hi)
			}
			if wrong != "" {
				return p.g.Fault(given.Pos, projectionKey(m.Projection, "plasticity."+v.Name), "%s", wrong)
			}
		}
	}
	return nil
}

// StartWeights fills list, the weights of a state, with those that the synapses start from. In a part of a network the weights of others'
// synapses are 0.
func (p *Plastic) StartWeights(scale int32, list []float32) {
	if p.Weight == nil && p.In == nil {
		same := p.Initial(0, scale)
		spans(runtime.GOMAXPROCS(0), uint64(len(list)), 1<<14, func(_ int, lo, hi uint64) { fill(list[lo:hi], same) })
		return
	}
	if p.In != nil {
		clear(list)
	}
	p.stretches(func(lo, hi uint64, next []uint64) {
		for k := lo; k < hi; k++ {
			at := &next[p.Target[k]-p.Ports.First]
			list[*at] = p.Initial(k, scale)
			*at++
		}
	})
}

// Start fills list, the array of a state of the k-th variable of the synapses, with what the variable starts from. In a part of a network
// what is drawn or listed for others' synapses is 0.
func (p *Plastic) Start(k int, seed uint64, list []float32) {
	if k < len(p.Listed) && p.Listed[k] != nil {
		if p.In != nil {
			clear(list)
		}
		p.ToState(p.Listed[k], list)
		return
	}
	if k >= len(p.Drawn) || p.Drawn[k] == nil {
		fill(list, p.Synapse[k])
		return
	}
	s := p.start(k, seed)
	if p.In != nil {
		clear(list)
		p.stretches(func(lo, hi uint64, next []uint64) {
			for _, port := range p.Target[lo:hi] {
				at := &next[port-p.Ports.First]
				x, _ := s.at(*at) // the bounds have been probed
				list[*at] = float32(x)
				*at++
			}
		})
		return
	}
	spans(runtime.GOMAXPROCS(0), uint64(len(list)), 1<<14, func(_ int, lo, hi uint64) { s.fill(lo, list[lo:hi], 0) })
}

// start draws what the k-th variable of the synapses starts from, by their places in the order of the state.
func (p *Plastic) start(k int, seed uint64) sampler {
	return newSampler(*p.Drawn[k], seed, exact.SynapseDraw, p.Projection|k<<variableShift)
}

// variableShift is where a draw of a synapse's variable has the number of the variable, above that of the projection.
const variableShift = 28

func (p *plan) newHandler(l *genome.Learning, h *formula.Handler) *Handler {
	if h == nil {
		return nil
	}
	made := &Handler{Handler: h}
	for _, x := range l.Values(h.Program.Params, p.g.Timestep) {
		made.Params = append(made.Params, float32(x))
	}
	for _, tau := range l.Values(h.Decays, p.g.Timestep) {
		made.Decays = append(made.Decays, p.table(tau/p.g.Timestep))
	}
	return made
}

// table is NewTable, made once for all traces of a time constant.
func (p *plan) table(tau float64) Table {
	t, made := p.tables[tau]
	if !made {
		t = NewTable(tau)
		p.tables[tau] = t
	}
	return t
}

// newWindow works out the steps of FEAGI's rules: whole ones times the source's psp, 0 where the numbers are negative; of the Python
// server, whose weights hold the psp, as they are.
func newWindow(l *genome.Learning, psp float64) Window {
	step := func(by string) float32 {
		if l.Rule.Window == genome.WindowPython {
			return float32(l.Params["constant"] * l.Params[by])
		}
		return float32(max(0, float64(math.Floor(l.Params["constant"])*math.Floor(l.Params[by]))) * psp)
	}
	return Window{Kind: l.Rule.Window, Bursts: uint32(l.Params["window"]), Up: step("ltp"), Down: step("ltd")}
}

// bytes is the memory of its arrays, but for the tables of traces, which several share.
func (p *Plastic) bytes() uint64 {
	n := size(p.Row) + size(p.Target) + size(p.Weight) + p.Delay.Bytes() + size(p.In) + size(p.Divide)
	for _, list := range p.Listed {
		n += size(list)
	}
	return n
}

// apartHere is the number of the part's synapses that have rows of their own: those that are plastic or driven.
func (c *Connectome) apartHere() uint64 {
	n := c.Driven.Synapses()
	for i := range c.Plastic {
		n += c.Plastic[i].Synapses()
	}
	return n
}

// plasticHash adds to the workers' sums the share of the projections that change in Hash. Each adds the hash of each of its synapses, folded on from what
// its rule and numbers make: fold, from 3 on, over its place among these projections, Lag, bounds, window, parameters, programs, and PSPMax
// where it is above 0. Behind it are what a synapse's variables start from in a list, each with its number.
func (c *Connectome) plasticHash(sums []uint64) {
	for i := range c.Plastic {
		p := &c.Plastic[i]
		head := p.fold(fold(3, uint64(i)))
		p.eachSynapse(sums, func(k, synapse uint64) uint64 { return p.foldListed(fold(head, synapse), k) })
	}
}

func (p *Plastic) foldListed(h, k uint64) uint64 {
	for v, list := range p.Listed {
		if list != nil {
			h = foldBits(fold(h, uint64(v)), list[k])
		}
	}
	return h
}

// Wiring makes of Hash the hash without the rules by which weights change: such synapses count as all others do, with the weights that
// they start from, and stimuli, which by their number decide how areas that rectify lift their input, have no part in it. Networks of the
// same wiring can go on with each other's weights. Like Hash it can be added up over parts. Without plastic projections it is Hash.
func (c *Connectome) Wiring(hash uint64) uint64 {
	sums := make([]uint64, runtime.GOMAXPROCS(0))
	for i := range c.Plastic {
		p := &c.Plastic[i]
		head := p.fold(fold(3, uint64(i)))
		p.eachSynapse(sums, func(k, synapse uint64) uint64 { return synapse - p.foldListed(fold(head, synapse), k) })
	}
	if len(c.Plastic) > 0 {
		c.unliftHash(sums)
	}
	for _, s := range sums {
		hash += s
	}
	return hash
}

// eachSynapse adds what is made of the hash of each synapse to the workers' sums.
func (p *Plastic) eachSynapse(sums []uint64, of func(k, synapse uint64) uint64) {
	spans(len(sums), uint64(p.From.Count), 1<<12, func(worker int, lo, hi uint64) {
		for s := lo; s < hi; s++ {
			for k := p.Row[s]; k < p.Row[s+1]; k++ {
				sums[worker] += of(k, synapseHash(p.From.First+uint32(s), p.Target[k], p.First(k), p.DelayOf(k)))
			}
		}
	})
}

func (p *Plastic) fold(h uint64) uint64 {
	whole := func(list ...uint64) {
		for _, x := range list {
			h = fold(h, x)
		}
	}
	floats := func(list ...float32) {
		whole(uint64(len(list)))
		for _, x := range list {
			h = foldBits(h, x)
		}
	}
	table := func(t *Table) {
		whole(t.Until)
		floats(t.Low...)
		floats(t.High...)
	}
	whole(uint64(p.Lag), uint64(p.Window.Kind), uint64(p.Window.Bursts))
	floats(p.Lo, p.Hi, p.Window.Up, p.Window.Down)
	floats(p.Source...)
	floats(p.Synapse...)
	for k, v := range p.Drawn {
		if v != nil {
			whole(uint64(k), uint64(v.Kind), uint64(bit(v.Clip)), uint64(bit(v.LoOpen)), uint64(bit(v.HiOpen)))
			for _, x := range []float64{v.A, v.B, v.Lo, v.Hi} {
				whole(math.Float64bits(x))
			}
		}
	}
	for _, list := range [][]Trace{p.Pre, p.Post} {
		whole(uint64(len(list)))
		for i := range list {
			floats(list[i].Amount)
			whole(uint64(bit(list[i].Set)))
			table(&list[i].Table)
		}
	}
	for i := range p.Modulators {
		m := &p.Modulators[i]
		whole(uint64(m.From.First), uint64(m.From.Count), uint64(m.Delay))
		floats(m.Amount)
		table(&m.Table)
	}
	for _, k := range p.TargetVariables {
		whole(uint64(k))
	}
	whole(p.Rule.Every)
	for n, list := range []*Handler{p.OnPost, p.OnPre, p.Every, p.OnSource, p.When} {
		if list == nil {
			continue
		}
		whole(uint64(n))
		whole(list.Program.Words()...)
		for _, r := range list.Reads {
			whole(uint64(r.Kind)<<32 | uint64(r.K))
		}
		floats(list.Params...)
		for k := range list.Decays {
			table(&list.Decays[k])
		}
	}
	if p.Fails() {
		floats(p.Below, p.Above)
	}
	for _, n := range p.Divide {
		whole(uint64(n))
	}
	if p.PSPMax > 0 {
		whole(uint64(p.PSPMax))
	}
	return h
}

func bit(x bool) int {
	if x {
		return 1
	}
	return 0
}

// cut returns part of a plastic projection.
func (p *Plastic) cut(c *Connectome, part Part) Plastic {
	cut := *p
	cut.Row, cut.Target, cut.Weight, cut.Listed, cut.In = make([]uint64, len(p.Row)), nil, nil, make([][]float32, len(p.Listed)), p.Onto()
	for v, list := range p.Listed {
		if list != nil {
			cut.Listed[v] = []float32{}
		}
	}
	var delays []uint16
	for s := range p.From.Count {
		for k := p.Row[s]; k < p.Row[s+1]; k++ {
			if !part.Owns(c.NeuronOf(p.Target[k])) {
				continue
			}
			cut.Target, delays = append(cut.Target, p.Target[k]), append(delays, uint16(p.DelayOf(k)))
			if p.Weight != nil {
				cut.Weight = append(cut.Weight, p.Weight[k])
			}
			for v, list := range p.Listed {
				if list != nil {
					cut.Listed[v] = append(cut.Listed[v], list[k])
				}
			}
		}
		cut.Row[s+1] = uint64(len(cut.Target))
	}
	if !p.Delay.None() {
		cut.Delay = newDelays(uint64(len(delays)), int(p.Longest))
		cut.Delay.putBursts(delays)
	}
	return cut
}
