package connectome

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"burst/genome"
	"burst/internal/edgelist"
	"burst/internal/quanta"
	"burst/internal/tabular"
)

// edgeList makes the synapses of a list in a file. The ordinal of a synapse is its row, from 0.
type edgeList struct {
	*edgelist.Table
	targets uint64
}

func (r *edgeList) synapses(onto uint64) (least, most uint64) {
	n := uint64(len(r.Source))
	if onto < r.targets {
		return 0, n
	}
	return n, n
}

func (r *edgeList) row(uint64) (synapses uint64, known bool) { return 0, false }
func (r *edgeList) longest() uint64                          { return uint64(len(r.Source)) }
func (r *edgeList) unit() unit                               { return bySynapse }
func (r *edgeList) scattered() bool                          { return false }
func (r *edgeList) scratch() uint64                          { return 0 }
func (r *edgeList) sizeKey() string                          { return "file" }

func (r *edgeList) draw(lo, hi uint64, b *batch) {
	for k := lo; k < hi; k++ {
		b.add(uint64(r.Source[k]), uint64(r.Target[k]), k)
	}
}

// ends are the source and target neurons of a projection; for a list of the whole network all neurons.
func (p *plan) ends(pr *genome.Projection) (from, to Span) {
	if pr.From == genome.WholeNetwork {
		whole := Span{0, uint32(p.neurons)}
		return whole, whole
	}
	return p.areas[pr.From], p.areas[pr.To]
}

// newEdges reads the list of a projection, if it fits into memory.
func newEdges(p *plan, w *wiring) (rule, error) {
	pr := w.p
	_, taken := p.bytesOf(&p.load)
	var more []edgelist.More
	if w.learns != nil {
		for _, c := range w.learns.Listed {
			more = append(more, edgelist.More{Name: c.Column, Take: c.Take})
		}
	}
	perRow := edgelist.Bytes(1, len(more)) + bytesASynapse + uint64(4*len(more)) + DelayBytes(w.mostDelay())
	o := edgelist.Options{
		Source:   edgelist.Side{Count: uint64(w.from.Count), Of: p.sideName(pr.From)},
		Target:   edgelist.Side{Count: uint64(w.to.Count), Of: p.sideName(pr.To)},
		Timestep: p.g.Timestep, MostDelay: w.mostDelay(), MaxRows: (p.limit - min(p.limit, taken)) / perRow, Threads: p.workers,
		More: more, Others: w.learns != nil,
	}
	t, err := p.readEdges(pr.File, o)
	key := projectionKey(w.index, "file")
	var many *edgelist.TooManyError
	var rows tabular.Faults
	switch {
	case errors.As(err, &many):
		return nil, p.refuse(pr.FilePos, key, "bytes", add(taken, mul(many.Rows, perRow)), p.limit, add(taken, mul(many.Rows, perRow)))
	case errors.As(err, &rows):
		return nil, p.rowsOf(pr.FilePos, key, pr.File, rows)
	case err != nil:
		return nil, p.g.Fault(pr.FilePos, key, "%s: %s", pr.File, err)
	}
	if wrong := doubled(pr, t); wrong != "" {
		return nil, p.g.Fault(pr.FilePos, key, "%s: %s", pr.File, wrong)
	}
	if err := p.checkTargets(w, t); err != nil {
		return nil, err
	}
	w.weights, w.delays, w.listed = t.Weight, t.Delay, uint64(len(t.Source))
	if w.learns == nil { // whose ports are all the same
		w.chosen = t.Port
	}
	return &edgeList{t, w.ends.targets}, nil
}

// checkTargets refuses the first row that leads to a neuron without input, or to a port that there is not.
func (p *plan) checkTargets(w *wiring, t *edgelist.Table) error {
	i := w.p.To
	for k, n := range t.Target {
		if w.whole != nil && (i < 0 || !p.areas[i].Has(n)) {
			i = p.areaOf(n)
		}
		column, wrong := "target", ""
		m := p.g.Areas[i].Model
		switch {
		case len(m.Ports) == 0:
			wrong = fmt.Sprintf("found neuron %d of area %s, whose model %s takes no input", n, p.g.Areas[i].Name, m.Name)
		case t.Port != nil:
			column, wrong = "port", w.wrongPort(m, int(t.Port[k]))
		case w.p.Port == 0 && !m.BySign():
			wrong = fmt.Sprintf("found neuron %d of area %s, whose model %s has the ports %s, want a column port with their numbers, from 0", n, p.g.Areas[i].Name, m.Name, strings.Join(m.PortNames(), ", "))
		case w.whole == nil:
			return nil
		}
		if wrong != "" {
			return p.rowFault(w, tabular.Fault{Row: uint64(k) + 1, Line: p.lineOf(w, k), Column: column, Message: wrong})
		}
	}
	return nil
}

// wrongPort says what is wrong with a port of the model, from 0, that a row names; else it is empty.
func (w *wiring) wrongPort(m *genome.Model, port int) string {
	named := w.p.Port - 1
	if w.learns != nil {
		named = w.which()
	}
	switch {
	case port >= len(m.Ports):
		return fmt.Sprintf("%d, want 0…%d: the model %s has the ports %s", port, len(m.Ports)-1, m.Name, strings.Join(m.PortNames(), ", "))
	case named >= 0 && port != named && len(m.Ports) > 1:
		return fmt.Sprintf("%d, which is %s, want %d: the weights of this projection go to %s", port, m.Ports[port].Name, named, m.Ports[named].Name)
	}
	return ""
}

func (p *plan) readEdges(name string, o edgelist.Options) (t *edgelist.Table, err error) {
	err = p.withFile(name, func(f tabular.File) error {
		t, err = edgelist.Read(f, name, o)
		return err
	})
	return t, err
}

// lineOf is the line of the k-th row of a CSV file. It is 0, which messages leave out, if the file cannot be read again.
func (p *plan) lineOf(w *wiring, k int) (line uint64) {
	_ = p.withFile(w.p.File, func(f tabular.File) (err error) {
		line, err = tabular.Line(f, w.p.File, uint64(k)+1)
		return err
	})
	return line
}

func (p *plan) withFile(name string, read func(tabular.File) error) error {
	r, err := p.g.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := tabular.FileOf(r)
	if err != nil {
		return err
	}
	return read(f)
}

// sideName names the neurons at one end of a projection, for messages.
func (p *plan) sideName(area int) string {
	if area == genome.WholeNetwork {
		return "the network"
	}
	return p.g.Areas[area].Name
}

// rowsOf converts wrong rows of a file to faults of the genome's text, where it names the file.
func (p *plan) rowsOf(at genome.Pos, key, file string, rows tabular.Faults) error {
	var all genome.Faults
	for _, row := range rows {
		all = append(all, p.g.Fault(at, key, "%s: %s", file, row).(genome.Faults)...)
	}
	return all
}

func (p *plan) rowFault(w *wiring, row tabular.Fault) error {
	return p.rowsOf(w.p.FilePos, projectionKey(w.index, "file"), w.p.File, tabular.Faults{row})
}

// doubled describes weights or delays that are in both the file and the genome, or in neither.
func doubled(pr *genome.Projection, t *edgelist.Table) string {
	given := pr.Weight.Pos != genome.Pos{}
	switch {
	case t.Weight != nil && given:
		return "expects weight either in a column or in the genome, found both"
	case t.Weight == nil && !given:
		return "expects weight in a column or in the genome, found neither"
	case t.Delays && pr.Delay.Pos != pr.Pos:
		return "expects delay either in a column or in the genome, found both"
	}
	return ""
}

// latest is the longest delay that the wiring can have, in bursts; 2 where none is above 1 but one may round to 0, so that each is looked at.
func (w *wiring) latest() int {
	if w.delays != nil {
		most := uint16(1)
		for _, d := range w.delays {
			most = max(most, d)
		}
		return int(most)
	}
	lo, hi := w.delay.extent()
	least := 1.0
	if quanta.Nearest(lo) < 1 {
		least = 2
	}
	return int(min(max(least, quanta.Nearest(hi)), float64(w.mostDelay())))
}

// credit counts the wiring's synapses for the areas at their ends.
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
	return sort.Search(len(p.areas), func(i int) bool { return p.areas[i].End() > n })
}

// portOf is the port of neuron n that receives a weight.
func (p *plan) portOf(n uint32, weight int64) uint32 {
	i := p.areaOf(n)
	return portOf(p.areas[i], p.ports[i], n-p.areas[i].First, 0, weight < 0)
}

// checkRows refuses the first weight of a list that becomes 0 quanta without being 0, or exceeds the largest sum.
func (p *plan) checkRows(w *wiring) error {
	for k, x := range w.weights {
		if wrong := cmp.Or(quanta.TooSmall(x, p.scale), quanta.TooLarge(x, p.scale)); wrong != "" {
			return p.rowFault(w, tabular.Fault{Row: uint64(k) + 1, Line: p.lineOf(w, k), Column: "weight", Message: wrong})
		}
	}
	return nil
}
