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
	p := &parser{open: open, g: &Genome{}}
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
		{"empty", "", "v.csv: an empty file found, a header line wanted"},
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
		{"too few rows", "V\n1\n2\n", "2 rows found, one for each of 3 neurons wanted"},
		{"too many rows", "V\n1\n2\n3\n4\n", "line 5: a row after the last of 3 neurons"},
		{"short row", "V,W\n1,1\n2\n3,3\n", "line 3: more or fewer columns"},
		{"open quote", "V\n1\n\"2\n3\n", "line 4: extraneous or missing"},
		{"unsound", "V\n1\n51\n3\n", "line 3, column V, neuron 1: expects at most 50, found 51"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := columnOf(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	p := &parser{open: nil, g: &Genome{}}
	if _, err := p.column("v.csv", "V", 3, nil); err == nil {
		t.Error("a text without a folder opens files")
	}
	if _, err := p.column("v.csv", "V", 1<<40, nil); err == nil || !strings.Contains(err.Error(), "at most 16777216 neurons") {
		t.Errorf("%v", err)
	}
}
