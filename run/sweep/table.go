package sweep

import (
	"fmt"
	"math"
	"slices"

	"burst/record/stats"
)

// table has a row for each row of the result.
func (r *Result) table() *stats.Table {
	t := &stats.Table{}
	whole(t, r, "point", func(x *Row) uint64 { return uint64(x.Point) })
	for i := range r.Plan.Axes {
		r.addAxis(t, i)
	}
	whole(t, r, "seed", func(x *Row) uint64 { return x.Seed })
	whole(t, r, "run_seed", func(x *Row) uint64 { return x.RunSeed })
	t.Add("digest", each(r, func(x *Row) string { return x.Digest }))
	t.Add("weight_digest", each(r, func(x *Row) string { return x.Weights }))
	whole(t, r, "bursts", func(x *Row) uint64 { return x.Bursts })
	whole(t, r, "spikes", func(x *Row) uint64 { return x.Spikes })
	for _, name := range r.areas() {
		of := func(figure func(*Area) float64) []float64 {
			return each(r, func(x *Row) float64 {
				if a := x.area(name); a != nil {
					return figure(a)
				}
				return math.NaN()
			})
		}
		t.Add(name+" spikes", of(func(a *Area) float64 { return float64(a.Spikes) }))
		t.Add(name+" rate_hz", of(func(a *Area) float64 { return float64(a.Rate) }))
		t.Add(name+" active", of(func(a *Area) float64 { return float64(a.Active) }))
		t.Add(name+" isi_cv", of(func(a *Area) float64 { return float64(a.CV) }))
		t.Add(name+" synchrony", of(func(a *Area) float64 { return float64(a.Synchrony) }))
	}
	t.Add("total_s", each(r, func(x *Row) float64 { return x.Seconds }))
	t.Add("error", each(r, func(x *Row) string { return x.Error }))
	return t
}

// addAxis adds an axis as numbers, with their unit in the name, or as text.
func (r *Result) addAxis(t *stats.Table, i int) {
	a := &r.Plan.Axes[i]
	if _, unit, numbers := a.Numbers(); numbers {
		name := a.Name()
		if unit != "" {
			name = fmt.Sprintf("%s (%s)", name, unit)
		}
		t.Add(name, each(r, func(x *Row) float64 { n, _, _ := quantity(x.Values[i]); return n }))
		return
	}
	t.Add(a.Name(), each(r, func(x *Row) string { return x.Values[i] }))
}

func each[T any](r *Result, of func(*Row) T) []T {
	list := make([]T, len(r.Rows))
	for i := range r.Rows {
		list[i] = of(&r.Rows[i])
	}
	return list
}

func whole(t *stats.Table, r *Result, name string, of func(*Row) uint64) { t.Add(name, each(r, of)) }

// areas are the names of all areas, in the order in which they are met.
func (r *Result) areas() (names []string) {
	for i := range r.Rows {
		for _, a := range r.Rows[i].Areas {
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// area is the part of an area; nil: it has none of that name.
func (x *Row) area(name string) *Area {
	for i := range x.Areas {
		if x.Areas[i].Name == name {
			return &x.Areas[i]
		}
	}
	return nil
}

// Cell is the points of the same values, over seeds and trials.
type Cell struct {
	Values []string   `json:"values"`
	Runs   int        `json:"runs"` // that did not fail
	Areas  []CellArea `json:"areas"`
}

// CellArea is an area over the points of a cell.
type CellArea struct {
	Name      string       `json:"name"`
	Neurons   uint32       `json:"neurons"`
	Spikes    stats.Spread `json:"spikes"`
	Rate      stats.Spread `json:"rate_hz"`
	CV        stats.Spread `json:"isi_cv"`
	Synchrony stats.Spread `json:"synchrony"`
}

// Cells are the cells of which a point has a row, in order.
func (r *Result) Cells() []Cell {
	cells := []Cell{}
	for from := 0; from < len(r.Rows); {
		end := from + 1
		for end < len(r.Rows) && slices.Equal(r.Rows[end].Values, r.Rows[from].Values) {
			end++
		}
		cells = append(cells, cellOf(r.Rows[from:end]))
		from = end
	}
	return cells
}

func cellOf(rows []Row) Cell {
	c := Cell{Values: rows[0].Values, Areas: []CellArea{}}
	for i := range rows {
		if rows[i].Error == "" {
			c.Runs++
		}
	}
	for _, name := range (&Result{Rows: rows}).areas() {
		var figures [4][]stats.Value
		out := CellArea{Name: name}
		for i := range rows {
			if a := rows[i].area(name); a != nil {
				out.Neurons = a.Neurons
				for k, v := range []stats.Value{stats.Value(a.Spikes), a.Rate, a.CV, a.Synchrony} {
					figures[k] = append(figures[k], v)
				}
			}
		}
		out.Spikes, out.Rate, out.CV, out.Synchrony = stats.SpreadOf(figures[0]), stats.SpreadOf(figures[1]), stats.SpreadOf(figures[2]), stats.SpreadOf(figures[3])
		c.Areas = append(c.Areas, out)
	}
	return c
}
