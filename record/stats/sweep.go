package stats

import (
	"math"
	"path/filepath"

	"burst/internal/durable"
	"burst/record/internal/tables"
)

// Table has a row for each run of a sweep. Columns are []uint64, []float64 or []string, all of one length; NaN stands
// for a figure that is not defined.
type Table struct{ t tables.Plain }

// Add appends a column.
func (t *Table) Add(name string, column any) { t.t.Add(name, column) }

// Write writes NAME.csv and NAME.parquet into a folder, each whole or not at all.
func (t *Table) Write(dir, name string) error {
	if err := durable.ReplaceBy(filepath.Join(dir, name+".csv"), t.t.CSV); err != nil {
		return err
	}
	return durable.ReplaceBy(filepath.Join(dir, name+".parquet"), t.t.Parquet)
}

// Spread is a figure of several runs: its mean and its standard deviation (of a sample: n − 1), which is 0 for a single run. Figures that
// are not defined do not count; where none is, neither are these.
type Spread struct {
	Mean Value `json:"mean"`
	SD   Value `json:"sd"`
}

// SpreadOf is the spread of figures.
func SpreadOf(figures []Value) Spread {
	var x []float64
	for _, v := range figures {
		if v.Defined() {
			x = append(x, float64(v))
		}
	}
	switch len(x) {
	case 0:
		return Spread{undefined, undefined}
	case 1:
		return Spread{Value(x[0]), 0}
	}
	mean, squares := squaresOf(x)
	return Spread{Value(mean), Value(math.Sqrt(squares / float64(len(x)-1)))}
}
