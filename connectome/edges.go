package connectome

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"burst/edgelist"
	"burst/genome"
)

// edgeList connects what a list in a file names; the ordinal of a synapse is its row, from 0.
type edgeList struct{ *edgelist.Table }

func (r *edgeList) total() (uint64, bool) { return uint64(len(r.Source)), true }
func (r *edgeList) units() uint64         { return uint64(len(r.Source)) }

func (r *edgeList) wire(lo, hi uint64, b *batch) {
	for k := lo; k < hi; k++ {
		b.add(uint64(r.Source[k]), uint64(r.Target[k]), k)
	}
}

// ends are the neurons that a projection joins; all of them for a list of the whole network.
func (p *plan) ends(pr *genome.Projection) (from, to Span) {
	if pr.From == genome.WholeNetwork {
		whole := Span{0, uint32(p.neurons)}
		return whole, whole
	}
	return p.areas[pr.From], p.areas[pr.To]
}

// newEdges reads the list of a projection, as far as memory allows.
func (p *plan) newEdges(w *wiring) (rule, error) {
	pr := w.p
	_, taken := p.bytes()
	perRow := edgelist.Bytes(1) + bytesASynapse + bytesOfADelay
	o := edgelist.Options{
		Source:   edgelist.Side{Count: uint64(w.from.Count), Of: p.sideName(pr.From)},
		Target:   edgelist.Side{Count: uint64(w.to.Count), Of: p.sideName(pr.To)},
		Timestep: p.g.Timestep, MaxRows: (p.limit - min(p.limit, taken)) / perRow, Threads: p.workers,
	}
	t, err := p.readEdges(pr.File, o)
	key := projectionKey(w.index, "file")
	var many *edgelist.TooManyError
	var rows edgelist.Faults
	switch {
	case errors.As(err, &many):
		return nil, p.refuse(pr.FilePos, key, "bytes", add(taken, mul(many.Rows, perRow)), p.limit, add(taken, mul(many.Rows, perRow)))
	case errors.As(err, &rows):
		return nil, p.rowFaults(w, rows)
	case err != nil:
		return nil, p.g.Fault(pr.FilePos, key, "%s: %s", pr.File, err)
	}
	if wrong := doubled(pr, t); wrong != "" {
		return nil, p.g.Fault(pr.FilePos, key, "%s: %s", pr.File, wrong)
	}
	if err := p.checkTargets(w, t); err != nil {
		return nil, err
	}
	return &edgeList{t}, nil
}

// checkTargets refuses the first row of a list of the whole network that leads to a neuron without input.
func (p *plan) checkTargets(w *wiring, t *edgelist.Table) error {
	if w.whole == nil {
		return nil
	}
	for k, n := range t.Target {
		if i := p.areaOf(n); p.ports[i].Count == 0 {
			return p.rowFault(w, edgelist.Fault{Row: uint64(k) + 1, Line: p.lineOf(w, k), Column: "target", Message: fmt.Sprintf(
				"neuron %d of area %s found, whose model %s takes no input", n, p.g.Areas[i].Name, p.g.Areas[i].Model.Name)})
		}
	}
	return nil
}

func (p *plan) readEdges(name string, o edgelist.Options) (t *edgelist.Table, err error) {
	err = p.withFile(name, func(f edgelist.File) error {
		t, err = edgelist.Read(f, name, o)
		return err
	})
	return t, err
}

// lineOf is the line of the k-th row of a CSV file; 0, which messages leave out, where it cannot be read again.
func (p *plan) lineOf(w *wiring, k int) (line uint64) {
	_ = p.withFile(w.p.File, func(f edgelist.File) (err error) {
		line, err = edgelist.Line(f, w.p.File, uint64(k)+1)
		return err
	})
	return line
}

func (p *plan) withFile(name string, read func(edgelist.File) error) error {
	r, err := p.g.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	f, ok := r.(edgelist.File)
	if !ok {
		return fmt.Errorf("expects a file that can be read at any place, found a %T", r)
	}
	return read(f)
}

// sideName says whose neurons a projection's end counts.
func (p *plan) sideName(area int) string {
	if area == genome.WholeNetwork {
		return "the network"
	}
	return p.g.Areas[area].Name
}

// rowFaults are wrong rows as faults of the genome's text.
func (p *plan) rowFaults(w *wiring, rows edgelist.Faults) error {
	var all genome.Faults
	for _, row := range rows {
		all = append(all, p.rowFault(w, row).(genome.Faults)...)
	}
	return all
}

func (p *plan) rowFault(w *wiring, row edgelist.Fault) error {
	return p.g.Fault(w.p.FilePos, projectionKey(w.index, "file"), "%s: %s", w.p.File, row)
}

// doubled says when weights or delays stand in the file and beside it, or nowhere.
func doubled(pr *genome.Projection, t *edgelist.Table) string {
	given := pr.Weight.Pos != genome.Pos{}
	switch {
	case t.Weight != nil && given:
		return "a column weight found beside weight in the genome, one of them wanted"
	case t.Weight == nil && !given:
		return "no column weight found, wanted there or as weight in the genome"
	case t.Delays && pr.Delay.Pos != pr.Pos:
		return "a column of delays found beside delay in the genome, one of them wanted"
	}
	return ""
}

// takeColumns lets the columns of a list stand for the projection's weight and delay.
func (w *wiring) takeColumns() {
	r, ok := w.rule.(*edgeList)
	if !ok {
		return
	}
	w.weights = r.Weight
	if w.delays = r.Delay; w.delays != nil {
		w.steps = 0
	}
}

// longest is the longest delay that the wiring can have, in bursts.
func (w *wiring) longest() int {
	if w.delays != nil {
		most := uint8(1)
		for _, d := range w.delays {
			most = max(most, d)
		}
		return int(most)
	}
	_, hi := w.delay.extent()
	return int(min(max(1, nearest(hi)), 255))
}

// credit adds the wiring's synapses to the areas at their ends.
func (p *plan) credit(w *wiring, s *Sizes) {
	if w.p.From != genome.WholeNetwork {
		s.add(w.p.From, w.p.To, w.synapses)
		return
	}
	r := w.rule.(*edgeList)
	pairs := map[[2]int]uint64{}
	for k := range r.Source {
		if !p.part.Owns(r.Target[k]) || w.keep < 100 && !w.attracts(uint64(k)) {
			continue
		}
		pairs[[2]int{p.areaOf(r.Source[k]), p.areaOf(r.Target[k])}]++
	}
	order := slices.SortedFunc(maps.Keys(pairs), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, pair := range order {
		s.add(pair[0], pair[1], pairs[pair])
	}
}

// areaOf is the area of neuron n.
func (p *plan) areaOf(n uint32) int {
	lo, hi := 0, len(p.areas)
	for lo < hi {
		if m := (lo + hi) / 2; p.areas[m].End() <= n {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// portOf is the port of neuron n that a weight goes to.
func (p *plan) portOf(n uint32, weight int64) uint32 {
	i := p.areaOf(n)
	t := n - p.areas[i].First
	if neurons := p.areas[i].Count; weight < 0 && p.ports[i].Count > neurons {
		t += neurons
	}
	return p.ports[i].First + t
}

// checkRows refuses the first weight of a list that is not 0 and becomes no quantum, or more than any sum may be.
func (p *plan) checkRows(w *wiring) error {
	for k, x := range w.weights {
		if wrong := cmp.Or(p.tooSmall(x), p.tooLarge(x)); wrong != "" {
			return p.rowFault(w, edgelist.Fault{Row: uint64(k) + 1, Line: p.lineOf(w, k), Column: "weight", Message: wrong})
		}
	}
	return nil
}
