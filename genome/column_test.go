package genome

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// columnOf reads column V of a text for three neurons, none above 50.
func columnOf(text string) ([]float64, error) {
	open := func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	p := &parser{open: open, g: &Genome{named: map[string]bool{}}}
	return p.column("v.csv", "V", 3, func(x float64) string {
		if x > 50 {
			return fmt.Sprintf("expects at most 50, found %g", x)
		}
		return ""
	})
}

func TestColumn(t *testing.T) {
	for _, text := range []string{
		"V\n1.5\n-2\n3e-3\n", "\ufeffname,V\r\na,1.5\r\n\"b\nb\",-2\r\nc,\"3e-3\"", "a,V ,V\n0,1,1.5\n\n0,1, -2 \n0,1,.003\n",
	} {
		if v, err := columnOf(text); err != nil || !slices.Equal(v, []float64{1.5, -2, 0.003}) {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func TestColumnMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "v.csv: expects a header line, found an empty file"},
		{"no header", "1\n2\n3\n", `no column "V"`},
		{"misspelt", "Vs,x\n1,1\n", `did you mean "Vs"?`},
		{"semicolons", "n;V\n1;2\n", "separated by commas"},
		{"twice", "V,V\n1,1\n2,2\n3,3\n", `column "V" found twice`},
		{"not a number", "V\n1\ntwo\n3\n", `line 3, column V, neuron 1: expects a decimal number, found "two"`},
		{"NaN", "V\n1\n2\nnan\n", "line 4, column V, neuron 2: expects a finite number"},
		{"infinite", "V\n1\n-inf\n3\n", "expects a finite number"},
		{"out of range", "V\n1\n1e999\n3\n", "out of range"},
		{"hexadecimal", "V\n1\n0x10\n3\n", "expects a decimal number"},
		{"with a unit", "V\n1\n2 mV\n3\n", "expects a decimal number"},
		{"nothing", "V,W\n1,1\n,2\n3,3\n", "line 3, column V, neuron 1: expects a number, found nothing"},
		{"too few rows", "V\n1\n2\n", "expects one row for each neuron, found 2 rows for 3 neurons"},
		{"too many rows", "V\n1\n2\n3\n4\n", "line 5: expects one row for each of 3 neurons, found a further row"},
		{"short row", "V,W\n1,1\n2\n3,3\n", "line 3: expects as many columns as in the header"},
		{"open quote", "V\n1\n\"2\n3\n", "line 4: extraneous or missing"},
		{"unsound", "V\n1\n51\n3\n", "line 3, column V, neuron 1: expects at most 50, found 51"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := columnOf(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	p := &parser{open: nil, g: &Genome{named: map[string]bool{}}}
	if _, err := p.column("v.csv", "V", 3, nil); err == nil {
		t.Error("a text without a folder opens files")
	}
	if _, err := p.column("v.csv", "V", 1<<40, nil); err == nil || !strings.Contains(err.Error(), "at most 16777216 neurons") {
		t.Errorf("%v", err)
	}
}

// A parameter of an area may come from a column, in its own range.
func TestParameterFromColumn(t *testing.T) {
	parse := func(value, text string) (*Genome, error) {
		genome := "burst: v1\nareas:\n  - {name: a, neurons: 3, model: lif, params: {tau: \"" + value + "\"}}\n"
		return Parse("net.yaml", []byte(genome), func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	}
	g, err := parse("column(sub/cells.csv, tau_m)", "tau_m\n10\n20.5\n3e1\n")
	if err != nil {
		t.Fatal(err)
	}
	if a := g.Areas[0]; a.Varied["tau"].Kind != Column || !slices.Equal(a.Columns["tau"], []float64{10, 20.5, 30}) || len(g.Files) != 1 || g.Files[0].Path != "sub/cells.csv" || g.Files[0].Bytes != 18 {
		t.Errorf("%+v of %v", a, g.Files)
	}
	for _, c := range []struct{ value, text, want string }{
		{"column(c.csv, t)", "t\n1\n0\n2\n", "net.yaml:3:53: areas[0].params.tau: c.csv: line 3, column t, neuron 1: expects a time above 0 ms, found 0"},
		{"column(c.csv, t)", "t\n1\n1e39\n2\n", "neuron 1: expects a number that float32 can hold"},
		{"column(c.csv, t)", "t\n1\n1e-50\n2\n", "neuron 1: expects a number that float32 can hold"},
		{"column(c.csv, t)", "t\n1\n", "expects one row for each neuron, found 1 rows for 3 neurons"},
		{"column(c.csv)", "", "expects column(FILE, NAME)"},
		{"column c.csv, t", "", "tau"},
		{"column(c.csv, t", "", "expects column(FILE, NAME)"},
	} {
		if _, err := parse(c.value, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.value, err, c.want)
		}
	}
}
