package sweep

import (
	"math"
	"strings"

	"burst/record/picture"
	"burst/record/stats"
)

// WriteMaps draws heat maps of a sweep over one axis or more into its folder, of the means over seeds and trials, and returns their files:
// rate-AREA, cv-AREA and synchrony-AREA of each area for two axes and more, and the same of all areas in one for a single axis. The last axis
// goes to the right, the others upwards.
func (r *Result) WriteMaps(dir, format string) ([]string, error) {
	cells := r.Cells()
	if len(r.Plan.Axes) == 0 || len(cells) == 0 {
		return nil, nil
	}
	last := &r.Plan.Axes[len(r.Plan.Axes)-1]
	base := picture.Map{X: last.Name(), Columns: last.Values, Y: "area"}
	figures := []struct {
		name, key string
		of        func(*CellArea) stats.Spread
	}{
		{"rate", "rate (Hz)", func(a *CellArea) stats.Spread { return a.Rate }},
		{"cv", "CV of intervals", func(a *CellArea) stats.Spread { return a.CV }},
		{"synchrony", "synchrony", func(a *CellArea) stats.Spread { return a.Synchrony }},
	}
	var maps []picture.Map
	for _, f := range figures {
		one := base
		one.Name, one.Title, one.Key = f.name, f.key, f.key
		for _, area := range r.areas() {
			g := r.grid(cells, area, f.of)
			if len(r.Plan.Axes) == 1 {
				one.Rows, one.Values = append(one.Rows, area), append(one.Values, g.values[0])
				continue
			}
			m := base
			m.Name, m.Title, m.Key, m.Y = f.name+"-"+fileName(area), f.key+" of "+area, f.key, g.label
			m.Rows, m.Values = g.rows, g.values
			maps = append(maps, m)
		}
		if len(one.Rows) > 0 {
			maps = append(maps, one)
		}
	}
	return picture.WriteMaps(dir, format, maps)
}

// fileName is an area's name as a part of a file's name.
func fileName(area string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, c) {
			return '-'
		}
		return c
	}, area)
}

// grid is one figure of an area over a sweep.
type grid struct {
	label  string // of the rows
	rows   []string
	values [][]float64
}

// grid has a row for each combination of all axes but the last, whose values are the columns.
func (r *Result) grid(cells []Cell, area string, of func(*CellArea) stats.Spread) grid {
	axes := r.Plan.Axes
	upward, wide := axes[:len(axes)-1], len(axes[len(axes)-1].Values)
	var g grid
	for i := range upward {
		if i > 0 {
			g.label += "; "
		}
		g.label += upward[i].Name()
	}
	at := map[string]*Cell{}
	for i := range cells {
		at[strings.Join(cells[i].Values, "\n")] = &cells[i]
	}
	rows := 1
	for i := range upward {
		rows *= len(upward[i].Values)
	}
	for k := range rows {
		values := make([]string, len(axes))
		for i, rest := len(upward)-1, k; i >= 0; i-- {
			values[i], rest = upward[i].Values[rest%len(upward[i].Values)], rest/len(upward[i].Values)
		}
		row := make([]float64, wide)
		for x, v := range axes[len(axes)-1].Values {
			values[len(axes)-1], row[x] = v, math.NaN()
			if c := at[strings.Join(values, "\n")]; c != nil {
				for i := range c.Areas {
					if c.Areas[i].Name == area {
						row[x] = float64(of(&c.Areas[i]).Mean)
					}
				}
			}
		}
		g.rows, g.values = append(g.rows, strings.Join(values[:len(upward)], "; ")), append(g.values, row)
	}
	return g
}
