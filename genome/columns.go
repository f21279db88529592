package genome

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// NeuronColumn is a number of each neuron of an area, which formulas of projections read as source_NAME or target_NAME.
type NeuronColumn struct {
	formula.Column
	Each []float64 // in base units
}

// kernelDims are the dimensions that numbers in kernels may have, but for plain ones.
func kernelDims() map[Dimension]formula.Dim {
	return map[Dimension]formula.Dim{Length: {1}, Time: {0, 1}, Voltage: {0, 0, 1}, Current: {0, 0, 0, 1}, Conductance: {0, 0, 0, 0, 1}}
}

// columnDims are the dimensions that columns may have.
func columnDims() []Dimension {
	return []Dimension{Plain, Length, Time, Voltage, Current, Conductance}
}

// columns reads the columns of an area.
func (p *parser) columns(f *fields, a *Area) {
	n, at, k := f.get("columns")
	switch {
	case n == nil:
		return
	case n.Kind != yaml.MappingNode:
		p.fault(n, at, "", "expects a mapping of names to columns, found %s", found(n))
		return
	case len(n.Content) > 2*formula.MaxColumns:
		p.fault(n, at, "", "expects at most %d columns, found %d", formula.MaxColumns, len(n.Content)/2)
		return
	}
	for i := 0; i+1 < len(n.Content) && !p.full(); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		at := at.key(short(name.Value))
		switch {
		case !formula.ValidName(name.Value):
			p.fault(name, at, "", "expects a name of at most 40 letters, digits and \"_\", found %q", short(name.Value))
		case slices.ContainsFunc(a.Columns, func(c NeuronColumn) bool { return c.Name == name.Value }):
			p.fault(name, at, "", "found the column %s twice", name.Value)
		case !isColumn(value):
			p.fault(value, at, fmt.Sprintf("column(cells.csv, %s)", name.Value), "expects column(FILE, NAME) or column(FILE, NAME, UNIT), found %s", found(value))
		default:
			each, dim, _ := p.fromColumn(value, at, a.Neurons(), k.Free.Dims, func(float64) string { return "" })
			a.Columns = append(a.Columns, NeuronColumn{formula.Column{Name: name.Value, Dim: kernelDims()[dim]}, each})
		}
	}
}

// columnsOf are the columns that formulas of a projection may read at both ends.
func (p *parser) columnsOf(pr *Projection) (ends [2][]formula.Column) {
	for i, area := range []int{pr.From, pr.To} {
		if area < 0 {
			continue
		}
		for _, c := range p.g.Areas[area].Columns {
			ends[i] = append(ends[i], c.Column)
		}
	}
	return ends
}

// readable says what formulas of a projection may read.
func (p *parser) readable(pr *Projection) string {
	text := "d, dx, dy and dz"
	var names []string
	for i, end := range p.columnsOf(pr) {
		for _, c := range end {
			names = append(names, []string{"source_", "target_"}[i]+c.Name)
		}
	}
	if names != nil {
		text += ", " + strings.Join(names, ", ")
	}
	return text
}
