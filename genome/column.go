package genome

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// The bounds of a CSV file with parameters.
const (
	maxTable = 256 << 20 // bytes
	maxRows  = 1 << 24

	anyRows = math.MaxUint64 // instead of a number of neurons: rows as many as there are, up to maxRows
)

// fromColumn reads column(FILE, NAME): numbers in the parameter's base unit. rest is the text after the word column.
func (p *parser) fromColumn(n *yaml.Node, at *path, k *key, a *Area, rest string) {
	inside, open := strings.CutPrefix(strings.TrimSpace(rest), "(")
	inside, shut := strings.CutSuffix(inside, ")")
	comma := strings.LastIndexByte(inside, ',')
	if !open || !shut || comma < 0 {
		p.fault(n, at, "column(parameters.csv, "+k.Name+")", "expects column(FILE, NAME), a CSV file and its column, found %q", short(n.Value))
		return
	}
	if a.Neurons() == 0 {
		return // the area's size is at fault already
	}
	sound := func(x float64) string {
		switch y := math.Abs(float64(float32(x))); {
		case x < k.Min || x > k.Max || k.MinOpen && x == k.Min:
			return fmt.Sprintf("expects %s %s, found %g", k.Dims[0].article(), k.span(), x)
		case math.IsInf(y, 0) || y == 0 && x != 0:
			return fmt.Sprintf("expects a number that float32 can hold, found %g", x)
		}
		return ""
	}
	values, err := p.column(strings.TrimSpace(inside[:comma]), strings.TrimSpace(inside[comma+1:]), a.Neurons(), sound)
	if err != nil {
		p.fault(n, at, "", "%v", err)
		return
	}
	if a.Columns == nil {
		a.Columns = make(map[string][]float64)
	}
	a.Columns[k.Name] = values
	a.vary(k.Name, Value{Pos: pos(n), Kind: Column, Lo: -inf, Hi: inf})
}

// column reads a column of a CSV file inside the genome's folder. The file has a header, and then one row for each neuron of
// the area, in their order. Numbers are plain and finite. sound, unless nil, returns what else is wrong with a number, "" if
// nothing is; with anyRows there may be any number of rows. Other columns may hold anything. An error names the file, and for a bad row its line and content.
func (p *parser) column(file, name string, neurons uint64, sound func(float64) string) ([]float64, error) {
	if neurons > maxRows && neurons != anyRows {
		return nil, fmt.Errorf("expects an area of at most %d neurons for a column, found %d", maxRows, neurons)
	}
	r, err := p.openFile(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: maxTable + 1}
	values, err := readColumn(limited, name, neurons, sound)
	switch {
	case limited.N == 0:
		return nil, fmt.Errorf("expects a file of at most %d bytes, found more in %s", maxTable, file)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", short(file), err)
	}
	return values, nil
}

func readColumn(r io.Reader, name string, neurons uint64, sound func(float64) string) ([]float64, error) {
	c := csv.NewReader(r)
	c.ReuseRecord, c.TrimLeadingSpace = true, true
	head, err := c.Read()
	switch {
	case err == io.EOF:
		return nil, errors.New("expects a header line, found an empty file")
	case err != nil:
		return nil, csvError(err)
	}
	names := slices.Clone(head)
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	at := slices.Index(names, name)
	if at < 0 {
		return nil, missingColumn(name, names)
	}
	if slices.Index(names[at+1:], name) >= 0 {
		return nil, fmt.Errorf("column %q found twice in the header", name)
	}
	var values []float64
	for {
		row, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, csvError(err)
		}
		line, _ := c.FieldPos(at)
		switch {
		case neurons == anyRows && len(values) == maxRows:
			return nil, fmt.Errorf("line %d: expects at most %d rows, found a further row", line, maxRows)
		case uint64(len(values)) == neurons:
			return nil, fmt.Errorf("line %d: expects one row for each of %d neurons, found a further row", line, neurons)
		}
		x, wrong := columnNumber(row[at], sound)
		switch {
		case wrong != "" && neurons == anyRows:
			return nil, fmt.Errorf("line %d, column %s: %s", line, name, wrong)
		case wrong != "":
			return nil, fmt.Errorf("line %d, column %s, neuron %d: %s", line, name, len(values), wrong)
		}
		values = append(values, x)
	}
	if n := uint64(len(values)); n < neurons && neurons != anyRows {
		return nil, fmt.Errorf("expects one row for each neuron, found %d rows for %d neurons", n, neurons)
	}
	return values, nil
}

// columnNumber reads one field, or says what is wrong with it.
func columnNumber(text string, sound func(float64) string) (x float64, wrong string) {
	text = strings.TrimRight(text, " \t")
	if text == "" {
		return 0, "expects a number, found nothing"
	}
	x, m := number(text)
	switch {
	case m != nil:
		return 0, m.message
	case sound != nil:
		return x, sound(x)
	}
	return x, ""
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

// csvError rewords an error of the CSV reader in one line.
func csvError(err error) error {
	e := (*csv.ParseError)(nil)
	switch {
	case !errors.As(err, &e):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d: expects as many columns as in the header, found more or fewer", e.Line)
	}
	return fmt.Errorf("line %d: %w", e.Line, e.Err)
}
