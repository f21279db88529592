package genome

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// readColumn reads column V of a text for three neurons, none above 50.
func readColumn(text string) ([]float64, error) {
	p := &parser{open: holding(text), g: &Genome{named: map[string]bool{}}}
	return p.column("v.csv", "V", 3, func(x float64) (float64, string) {
		if x > 50 {
			return x, fmt.Sprintf("%g, want at most 50", x)
		}
		return x, ""
	})
}

// memory is a file in memory.
type memory struct{ *strings.Reader }

func (memory) Close() error { return nil }

// holding opens a file with that text, whatever its name.
func holding(text string) Opener {
	return func(string) (io.ReadCloser, error) { return memory{strings.NewReader(text)}, nil }
}

func TestColumn(t *testing.T) {
	for _, text := range []string{
		"V\n1.5\n-2\n3e-3\n", "\ufeffname,V\r\na,1.5\r\n\"b, b\",-2\r\nc,\"3e-3\"", "a,W ,V\n0,1,1.5\n\n0,1, -2 \n0,1,.003\n",
	} {
		if v, err := readColumn(text); err != nil || !slices.Equal(v, []float64{1.5, -2, 0.003}) {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func TestColumnMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "v.csv: no header, want a first line"},
		{"no header", "1\n2\n3\n", `no column "V"`},
		{"misspelt", "Vs,x\n1,1\n", `did you mean "Vs"?`},
		{"semicolons", "n;V\n1;2\n", "separated by commas"},
		{"twice", "V,V\n1,1\n2,2\n3,3\n", `column "V" found twice`},
		{"not a number", "V\n1\ntwo\n3\n", `row 2 (line 3), column V: "two", want a number`},
		{"NaN", "V\n1\n2\nnan\n", "row 3 (line 4), column V: NaN, want a finite number"},
		{"infinite", "V\n1\n-inf\n3\n", "column V: -Inf, want a finite number"},
		{"out of range", "V\n1\n1e999\n3\n", "+Inf, want a finite number"},
		{"hexadecimal", "V\n1\n0x10\n3\n", `"0x10", want a number`},
		{"with a unit", "V\n1\n2 mV\n3\n", `"2 mV", want a number`},
		{"nothing", "V,W\n1,1\n,2\n3,3\n", `row 2 (line 3), column V: "", want a number`},
		{"too few rows", "V\n1\n2\n", "v.csv: 2 rows, want one for each of 3 neurons"},
		{"too many rows", "V\n1\n2\n3\n4\n", "v.csv: 4 rows, want one for each of 3 neurons"},
		{"short row", "V,W\n1,1\n2\n3,3\n", "row 2 (line 3): 1 columns, want 2 as in the header"},
		{"open quote", "V\n1\n\"2\n3\n", "a text in quotes goes over the end of its line"},
		{"unsound", "V\n1\n51\n3\n", "row 2 (line 3), column V: 51, want at most 50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := readColumn(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
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
		return Parse("net.yaml", []byte(genome), holding(text))
	}
	g, err := parse("column(sub/cells.csv, tau_m)", "tau_m\n10\n20.5\n3e1\n")
	if err != nil {
		t.Fatal(err)
	}
	if a := g.Areas[0]; a.Varied["tau"].Kind != Column || !slices.Equal(a.Varied["tau"].Each, []float64{10, 20.5, 30}) || len(g.Files) != 1 || g.Files[0].Path != "sub/cells.csv" || g.Files[0].Bytes != 18 {
		t.Errorf("%+v of %v", a, g.Files)
	}
	for _, c := range []struct{ value, text, want string }{
		{"column(c.csv, t)", "t\n1\n0\n2\n", "net.yaml:3:53: areas[0].params.tau: c.csv: row 2 (line 3), column t: 0, want a time above 0 ms"},
		{"column(c.csv, t)", "t\n1\n1e39\n2\n", "a number that float32 can hold"},
		{"column(c.csv, t)", "t\n1\n1e-50\n2\n", "a number that float32 can hold"},
		{"column(c.csv, t)", "t\n1\n", "1 rows, want one for each of 3 neurons"},
		{"column(c.csv)", "", "expects column(FILE, NAME)"},
		{"column c.csv, t", "", "tau"},
		{"column(c.csv, t, ms, x)", "", "expects column(FILE, NAME)"},
		{"column(c.csv, t, mV)", "", "expects a unit behind the column's name, one of ms, s, us, found \"mV\""},
		{"column(c.txt, t)", "", "expects a file that ends in .csv, .parquet, .arrow, .arrows, found \"c.txt\""},
		{"column(c.csv, t", "", "expects column(FILE, NAME)"},
	} {
		if _, err := parse(c.value, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.value, err, c.want)
		}
	}
}

// Initial values, drives and parameters of a column, in a unit of the text or in the base unit.
func TestColumnsOfArea(t *testing.T) {
	const text = "burst: v1\nscale: 1000\nareas:\n  - {name: a, neurons: 3, model: lif, params: {tau: \"column(c.csv, x, s)\"}, init: {V: \"column(c.csv, y)\"},\n" +
		"     drive: [{constant: \"column(c.csv, y, nA)\"}, {constant: \"column(c.csv, y, mV)\"}]}\n  - {name: b, neurons: 3, init: {V: \"column(c.csv, y)\"}, drive: {constant: \"column(c.csv, x)\"}}\n"
	g, err := Parse("net.yaml", []byte(text), holding("x,y\n1,-1.5\n2,0\n0.003,7\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, b := &g.Areas[0], &g.Areas[1]
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"tau", a.Varied["tau"].Each, []float64{1000, 2000, 3}},
		{"V", a.Init["V"].Each, []float64{-1.5, 0, 7}},
		{"current", a.Drives[0].Each, []float64{-1500, 0, 7000}},
		{"voltage", a.Drives[1].Each, []float64{-1.5, 0, 7}},
		{"plain V", b.Init["V"].Each, []float64{-1.5, 0, 7}},
		{"plain drive", b.Drives[0].Each, []float64{1, 2, 0.003}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if a.Drives[0].Unit != Current || a.Drives[1].Unit != Voltage || len(g.Files) != 1 {
		t.Errorf("%v, %v, %v", a.Drives[0].Unit, a.Drives[1].Unit, g.Files)
	}
	_, err = Parse("net.yaml", []byte(strings.Replace(text, "y, nA", "y", 1)), holding("x,y\n1,-1.5\n2,0\n0.0003,7\n"))
	for _, want := range []string{"expects a unit behind the column's name, one of mV, V, pA, nA: column(FILE, NAME, mV)", "areas[1].drive.constant: c.csv: row 3 (line 4), column x: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The refractory time may differ from neuron to neuron, by a column of whole bursts or a distribution, in built-in models and in those
// of genomes; a feagi area may have a column of thresholds.
func TestRefractoryFromColumn(t *testing.T) {
	const text = `burst: v1
timestep: 0.5 ms
models:
  - {name: own, params: {refractory: 2 ms}, state: {v: 0}, update: [v = v + input], threshold: v > 1}
  - {name: counted, params: {refractory: 3}, state: {v: 0}, update: [v = v + input], threshold: v > 1}
areas:
  - {name: a, neurons: 3, model: lif, params: {refractory: "column(c.csv, t)"}}
  - {name: b, neurons: 3, model: lif_psc_exp, params: {refractory: "column(c.csv, t, ms)"}}
  - {name: c, neurons: 3, model: own, params: {refractory: "column(c.csv, t)"}}
  - {name: d, neurons: 3, model: counted, params: {refractory: "column(c.csv, n)"}}
  - {name: e, neurons: 3, model: adex, params: {refractory: "normal(2 ms, 0.2 ms) > 0 ms"}}
  - {name: f, neurons: 3, model: counted, params: {refractory: "uniform(2, 3 ms)"}}
  - {name: g, neurons: 3, threshold: "column(c.csv, n)"}
`
	const cells = "t,n\n1,2\n0,65535\n2.5,0\n"
	g, err := Parse("net.yaml", []byte(text), holding(cells))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{1, 0, 2.5}, {1, 0, 2.5}, {1, 0, 2.5}, {2, 65535, 0}} {
		if got := g.Areas[i].Varied["refractory"]; got.Kind != Column || !slices.Equal(got.Each, want) {
			t.Errorf("area %d: %+v, want %v", i, got, want)
		}
	}
	if v := g.Areas[5].Varied["refractory"]; v.Kind != Uniform || v.A != 2 || v.B != 6 {
		t.Errorf("bursts: %+v", v)
	}
	if v := g.Areas[6].Varied["threshold"]; !slices.Equal(v.Each, []float64{2, 65535, 0}) || g.Areas[6].suprathreshold() != 65535 {
		t.Errorf("threshold: %+v, %v", v, g.Areas[6].suprathreshold())
	}
	for _, c := range []struct{ from, to, want string }{
		{"2.5,0", "0.7,0", "row 3 (line 4), column t: expects whole bursts of 0.5 ms, found 1.4 bursts; the nearest are 0.5 ms and 1 ms"},
		{"2.5,0", "-1,0", "column t: -1, want a time of at least 0 ms"},
		{"2.5,0", "32768,0", "column t: 65536 bursts, want at most 65535"},
		{"2.5,0", "1,65536", "column n: 65536 bursts, want at most 65535"},
		{"2.5,0", "1,0.5", "column n: expects whole bursts"},
		{"column(c.csv, n)", "65536", "expects a whole number 0…65535"},
		{"(c.csv, t, ms)", "(c.csv, t, mV)", "one of ms, s, us"},
		{"normal(2 ms, 0.2 ms)", "normal(2, 1)", "expects a time such as"},
		{`threshold: "column(c.csv, n)"`, `threshold: "uniform(0, 1)"`, "areas[6].threshold: expects"},
		{`threshold: "column(c.csv, n)"`, `threshold: "column(c.csv, n)", threshold_gradient: [1, 0, 0]`, "found a gradient beside a column of thresholds"},
		{`threshold: "column(c.csv, n)"`, `leak: "column(c.csv, n)"`, "areas[6].leak: expects a plain number such as 1.5, found column(c.csv, n); columns are for"},
		{`threshold: "column(c.csv, n)"`, `refractory: "column(c.csv, n)"`, "areas[6].refractory: expects whole bursts such as 2 or a time such as 2 ms, found column(c.csv, n); columns are for"},
	} {
		_, err := Parse("net.yaml", []byte(strings.Replace(text, c.from, c.to, 1)), holding(strings.Replace(cells, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}

// Rates, weights, means and deviations of random drives of a column, in a unit of the text or in the base unit.
func TestRandomDrivesFromColumns(t *testing.T) {
	const head = "burst: v1\nscale: 1000\ntimestep: 0.5 ms\nareas:\n  - {name: a, neurons: 3, model: lif, drive: "
	const cells = "x,y,small\n1,-1.5,0.0001\n2000,0,1\n0,7,1\n"
	g, err := Parse("net.yaml", []byte(head+`[{poisson: {rate: "column(c.csv, x)", weight: "column(c.csv, y)"}}, {poisson: {rate: "column(c.csv, x, kHz)", weight: 2 mV}, to: {port: input}},
     {normal: {mean: "column(c.csv, y, mV)", sd: 1 mV}, from: 3}, {normal: {sd: "column(c.csv, x)"}}]}
`), holding(strings.Replace(cells, "2000", "20", 1)))
	if err != nil {
		t.Fatal(err)
	}
	d := g.Areas[0].Drives
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"rate", d[0].Rates, []float64{1, 20, 0}}, {"weight", d[0].Weights, []float64{-1.5, 0, 7}}, {"rate in kHz", d[1].Rates, []float64{1000, 20000, 0}},
		{"one weight", d[1].Weights, nil}, {"mean", d[2].Means, []float64{-1.5, 0, 7}}, {"one sd", d[2].SDs, nil}, {"no mean", d[3].Means, nil}, {"sd", d[3].SDs, []float64{1, 20, 0}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if one := d[0].Of(2); one.Rate != 0 || one.Weight != 7 || d[1].Of(1).Weight != 2 || d[2].Of(0).SD != 1 || d[2].Of(0).From != 3 {
		t.Errorf("%+v", one)
	}
	for _, c := range []struct{ drive, want string }{
		{`{poisson: {rate: "column(c.csv, y)", weight: 1 mV}}`, "net.yaml:5:63: areas[0].drive.poisson.rate: c.csv: row 1 (line 2), column y: -1.5, want a frequency of at least 0 Hz"},
		{`{poisson: {rate: "column(c.csv, x, kHz)", weight: 1 mV}}`, "row 2 (line 3), column x: expects at most 500 events per burst, found 1000 in a burst of 0.5 ms"},
		{`{poisson: {rate: 1 Hz, weight: "column(c.csv, small)"}}`, "row 1 (line 2), column small: 0.0001 becomes 0 quanta at scale 1000; write scale: 5000 or more"},
		{`{poisson: {rate: 1 Hz, weight: "column(c.csv, y, pA)"}}`, "expects a unit behind the column's name, one of mV, V, found \"pA\""},
		{`{normal: {sd: "column(c.csv, y)"}}`, "row 1 (line 2), column y: -1.5, want a standard deviation of at least 0"},
		{`{normal: {mean: "column(c.csv, y)", sd: 1 mV}, factor: {steps: {at: [0], values: [1]}}}`, "areas[0].drive.factor: found a factor beside a column"},
		{`{poisson: {rate: "column(c.csv, x)", weight: 1 mV}, factor: {steps: {at: [0], values: [1]}}}`, "found a factor beside a column"},
	} {
		if _, err := Parse("net.yaml", []byte(head+c.drive+"}\n"), holding(cells)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.drive, err, c.want)
		}
	}
}
