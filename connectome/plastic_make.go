package connectome

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"burst/genome"
	"burst/internal/formula"
	"burst/internal/quanta"
)

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
