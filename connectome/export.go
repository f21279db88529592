package connectome

import (
	"errors"
	"fmt"
	"io"

	"burst/genome"
	"burst/internal/edgelist"
	"burst/internal/quanta"
)

// exportRows is the number of synapses per call.
const exportRows = 1 << 16

// Export writes a list of all synapses to w. The ending of name chooses the format (genome.EdgeFormats). The columns are
// source, target, weight, delay (bursts) and port. Neurons are numbered through the network. Synapses are in the order of
// their rows; those of plastic projections come last. Weights are in the unit of the target's input: quanta/Scale in
// float64. As |quanta| < 2^31 and Scale ≤ 2^24, its error times Scale is far below half a quantum, so the rule edges reads
// back the same quanta.
//
// learnt gives the weights that plastic projections have learnt, in the order of a state, by their place in the genome; they are
// written as they are. It may be nil, and where it gives nil a projection has the weights that it starts from.
func (c *Connectome) Export(w io.Writer, name string, learnt func(projection int) []float32) error {
	return listTo(w, name, func(e *exporter) error {
		if err := c.exportStatic(e); err != nil {
			return err
		}
		for i := range c.Plastic {
			p := &c.Plastic[i]
			weights := learntBy(p, learnt)
			err := c.exportPlastic(e, p, Span{}, Span{}, func(k, place uint64) (float64, error) {
				if weights == nil {
					return float64(p.First(k)) / float64(c.Scale), nil
				}
				return float64(weights[place]), nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ExportStatic is Export without plastic projections.
func (c *Connectome) ExportStatic(w io.Writer, name string) error {
	return listTo(w, name, c.exportStatic)
}

// ExportPlastic is Export of Plastic[i] alone, as a list that such a projection can start from: neurons are counted in their areas,
// and learnt weights are those that the rule edges takes, whole quanta within the bounds. What variables start from in a list of the
// genome stands in the columns genome.StartColumn.
func (c *Connectome) ExportPlastic(w io.Writer, name string, i int, learnt func(projection int) []float32) error {
	p := &c.Plastic[i]
	weights := learntBy(p, learnt)
	var names []string
	var values [][]float32
	for v, list := range p.Listed {
		if list != nil {
			names, values = append(names, genome.StartColumn(p.Rule.Synapse[v].Name)), append(values, list)
		}
	}
	return listTo(w, name, func(e *exporter) error {
		e.b.More = make([][]float64, len(values))
		return c.exportPlastic(e, p, p.From, p.To, func(k, place uint64) (float64, error) {
			for i, list := range values {
				e.b.More[i] = append(e.b.More[i], float64(list[k]))
			}
			q := p.First(k)
			if weights != nil {
				q = Quanta(weights[place], c.Scale)
			}
			for float32(q)/float32(c.Scale) > p.Hi { // a bound itself is rounded
				q--
			}
			for float32(q)/float32(c.Scale) < p.Lo {
				q++
			}
			if quanta.Magnitude(int64(q)) > mostPlastic {
				return 0, fmt.Errorf("projections[%d] has learnt a weight of %d quanta, of which it can start from at most %d; choose a smaller scale", p.Projection, q, mostPlastic)
			}
			return float64(q) / float64(c.Scale), nil
		})
	}, names...)
}

func learntBy(p *Plastic, learnt func(projection int) []float32) []float32 {
	if learnt == nil {
		return nil
	}
	return learnt(p.Projection)
}

// listTo writes a list.
func listTo(w io.Writer, name string, rows func(*exporter) error, more ...string) error {
	list, err := edgelist.NewWriter(w, name, more...)
	if err != nil {
		return err
	}
	return exportTo(list, rows)
}

func exportTo(w edgelist.Writer, rows func(*exporter) error) error {
	e := exporter{w: w}
	if err := rows(&e); err != nil {
		return err
	}
	if len(e.b.Source) > 0 {
		if err := w.Write(&e.b); err != nil {
			return err
		}
	}
	return w.Close()
}

// exporter gathers rows.
type exporter struct {
	w edgelist.Writer
	b edgelist.Block
}

// add is a synapse between neurons.
func (e *exporter) add(source, target uint32, weight float64, delay uint32, port uint8) error {
	e.b.Add(source, target, weight, uint16(delay), port)
	if len(e.b.Source) < exportRows {
		return nil
	}
	err := e.w.Write(&e.b)
	e.b.Reset()
	return err
}

// exportStatic writes the synapses whose weights do not change.
func (c *Connectome) exportStatic(e *exporter) error {
	if c.Driven != nil {
		return errors.New("a list cannot tell what synapses deliver that follows the potential (psp_max); want a network without")
	}
	for n := range c.Neurons {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			a := &c.Areas[c.AreaOfPort(c.Target[k])]
			i, port := a.Input(c.Target[k])
			if err := e.add(n, a.Neurons.First+i, float64(a.sum(c.Weight[k]))/float64(c.Scale), c.DelayOf(k), uint8(port)); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportPlastic writes the synapses of a plastic projection, neurons counted from the first of from and to.
func (c *Connectome) exportPlastic(e *exporter, p *Plastic, from, to Span, weight func(k, place uint64) (float64, error)) error {
	places := p.Places()
	for s := range p.From.Count {
		for k := p.Row[s]; k < p.Row[s+1]; k++ {
			a := &c.Areas[c.AreaOfPort(p.Target[k])]
			i, port := a.Input(p.Target[k])
			x, err := weight(k, places[k])
			if err == nil {
				err = e.add(p.From.First+s-from.First, a.Neurons.First+i-to.First, x, p.DelayOf(k), uint8(port))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
