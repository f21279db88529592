package genome

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/tabular"
)

// maxRows bounds the neurons whose values come from a column, which the genome holds.
const (
	maxRows = 1 << 24
	anyRows = math.MaxUint64 // instead of a number of neurons: rows as many as there are, up to maxRows
)

// isColumn reports whether a value is column(…).
func isColumn(n *yaml.Node) bool {
	rest, is := strings.CutPrefix(strings.TrimLeft(n.Value, " "), "column")
	return n.Kind == yaml.ScalarNode && is && strings.HasPrefix(strings.TrimLeft(rest, " "), "(")
}

// fromColumn reads column(FILE, NAME) or column(FILE, NAME, UNIT): a number for each of so many neurons, in a unit of one of the
// dimensions; without UNIT in the base unit of the only one. sound returns what is wrong with a number, "" if nothing is.
func (p *parser) fromColumn(n *yaml.Node, at *path, neurons uint64, dims []Dimension, sound func(float64) string) (each []float64, dim Dimension, ok bool) {
	file, name, by, dim, ok := p.columnText(n, at, dims)
	if !ok || neurons == 0 { // the area's size is at fault already
		return nil, dim, false
	}
	each, err := p.column(file, name, neurons, func(x float64) (float64, string) {
		x, wrong := by.float32(x)
		if wrong == "" {
			wrong = sound(x)
		}
		return x, wrong
	})
	if p.fileFault(n, at, file, err) {
		return nil, dim, false
	}
	return each, dim, true
}

// float32 is a number of the unit in the base unit, as float64, or what is wrong with it.
func (u unit) float32(x float64) (base float64, wrong string) {
	x = float64(x*u.mul) / u.div
	if y := math.Abs(float64(float32(x))); math.IsInf(y, 0) || y == 0 && x != 0 {
		wrong = fmt.Sprintf("%g, want a number that float32 can hold", x)
	}
	return x, wrong
}

// columnText reads the text column(FILE, NAME) or column(FILE, NAME, UNIT).
func (p *parser) columnText(n *yaml.Node, at *path, dims []Dimension) (file, name string, by unit, dim Dimension, ok bool) {
	_, inside, _ := strings.Cut(n.Value, "(")
	inside, shut := strings.CutSuffix(strings.TrimSpace(inside), ")")
	parts := strings.Split(inside, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if !shut || len(parts) < 2 || len(parts) > 3 {
		p.fault(n, at, "column(cells.csv, "+at.name+")", "expects column(FILE, NAME) or column(FILE, NAME, UNIT), a file and its column, found %q", short(n.Value))
		return "", "", by, Plain, false
	}
	by, dim, wrong := columnUnit(parts[2:], dims)
	if wrong != "" {
		p.fault(n, at, "", "%s", wrong)
		return "", "", by, Plain, false
	}
	return parts[0], parts[1], by, dim, true
}

// fileFault reports what is wrong with a file, row by row, and whether anything is.
func (p *parser) fileFault(n *yaml.Node, at *path, file string, err error) bool {
	rows := (tabular.Faults)(nil)
	switch {
	case err == nil:
		return false
	case errors.As(err, &rows):
		for _, row := range rows {
			p.fault(n, at, "", "%s: %s", short(file), row.Error())
		}
	default:
		p.fault(n, at, "", "%v", err)
	}
	return true
}

// columnUnit is the unit of a column's numbers, which must be one of a dimension.
func columnUnit(named []string, dims []Dimension) (by unit, dim Dimension, wrong string) {
	var names []string
	for _, u := range units() {
		if slices.Contains(dims, u.dim) {
			names = append(names, u.name)
		}
	}
	wanted := "one of " + strings.Join(names, ", ")
	switch {
	case len(named) == 0 && len(dims) == 1:
		return unit{mul: 1, div: 1}, dims[0], ""
	case len(named) == 0 && slices.Contains(dims, Plain):
		return unit{mul: 1, div: 1}, Plain, ""
	case len(named) == 0:
		return by, dim, "expects a unit behind the column's name, " + wanted + ": column(FILE, NAME, " + names[0] + ")"
	case len(names) == 0:
		return by, dim, fmt.Sprintf("expects no unit behind the column's name, found %q", short(named[0]))
	}
	for _, u := range units() {
		if u.name == named[0] && slices.Contains(dims, u.dim) {
			return u, u.dim, ""
		}
	}
	return by, dim, fmt.Sprintf("expects a unit behind the column's name, %s, found %q", wanted, short(named[0]))
}

// column reads a column of a file inside the genome's folder, with one row for each neuron, in their order, or with anyRows. take converts a number,
// or says what is wrong with it. Other columns may hold anything.
func (p *parser) column(file, name string, neurons uint64, take func(float64) (float64, string)) ([]float64, error) {
	if neurons > maxRows && neurons != anyRows {
		return nil, fmt.Errorf("expects an area of at most %d neurons for a column, found %d", maxRows, neurons)
	}
	var values []float64
	o := tabular.Options{
		Header: func(names []string) ([]tabular.Column, error) {
			at, err := tabular.Find(names, name)
			if err == nil && at < 0 {
				err = missingColumn(name, names)
			}
			return []tabular.Column{{Name: name, At: at, Real: func(row uint64, x float64) (wrong string) {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return fmt.Sprintf("%v, want a finite number", x)
				}
				values[row], wrong = take(x)
				return wrong
			}}}, err
		},
		Room: func(rows uint64) error {
			switch {
			case neurons == anyRows && rows > maxRows:
				return fmt.Errorf("%d rows, want at most %d", rows, maxRows)
			case neurons != anyRows && rows != neurons:
				return fmt.Errorf("%d rows, want one for each of %d neurons", rows, neurons)
			}
			values = make([]float64, rows)
			return nil
		},
	}
	if err := p.read(file, o); err != nil {
		return nil, err
	}
	return values, nil
}

// read reads columns of a file inside the genome's folder. Errors name it, but for Faults of rows.
func (p *parser) read(file string, o tabular.Options) error {
	if end := tabular.Format(file); !slices.Contains(tabular.Formats(), end) {
		return fmt.Errorf("expects a file that ends in %s, found %q", strings.Join(tabular.Formats(), ", "), short(file))
	}
	r, err := p.openFile(file)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := tabular.FileOf(r)
	if err != nil {
		return err
	}
	err = tabular.Read(f, file, o)
	if rows := (tabular.Faults)(nil); err != nil && !errors.As(err, &rows) {
		return fmt.Errorf("%s: %w", short(file), err)
	}
	return err
}

func missingColumn(name string, names []string) error {
	text := fmt.Sprintf("no column %q in the header, which has %s", short(name), short(strings.Join(names, ", ")))
	if near := Nearest(name, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	if len(names) == 1 && strings.ContainsAny(names[0], ";\t") {
		text += "; columns are separated by commas"
	}
	return errors.New(text)
}
