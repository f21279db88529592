package genome

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

const potentials = `burst: v1
scale: auto
areas:
  - {name: eye, size: [4, 1, 1], threshold: 2, psp_max: 12.5, divide_psp: true}
  - {name: cell, neurons: 3, model: lif}
projections:
  - {from: eye, to: eye, rule: one_to_one, weight: 0.5}
`

// psp_max is read, and refused where it has no meaning; the fault stands at ‹.
func TestPSPMax(t *testing.T) {
	g, err := Parse("a.yaml", []byte(potentials), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, compiled(t), potentials); err != nil {
		t.Error(err)
	}
	if a := &g.Areas[0]; a.PSPMax != 12.5 || a.PSP != nil || !a.DividePSP || g.Areas[1].PSPMax != 0 {
		t.Errorf("%+v", a)
	}
	for _, c := range []struct{ name, old, new, message string }{
		{"beside psp", "psp_max: 12.5", "psp: 3, psp_max: ‹12.5", "expects either psp or psp_max, found both"},
		{"below the threshold", "psp_max: 12.5", "psp_max: ‹1.5", "expects at least the threshold 2, from which neurons fire, found 1.5"},
		{"of nothing", "psp_max: 12.5", "psp_max: ‹0", "above 0"},
		{"in another model", "model: lif}", "model: lif, ‹psp_max: 3}", "found a key of the model feagi, which the model lif does not have"},
		{"learning", "weight: 0.5}", "weight: 0.5, plasticity: {rule: stdp, bounds: [0, 9]}}", "expects one of FEAGI's rules, or a source area without psp_max, found the rule stdp and eye"},
		{"a list of the whole network", "{from: eye, to: eye, rule: one_to_one, weight: 0.5}", "{rule: edges, ‹file: all.csv}", "found a list of the whole network, whose weights no psp_max concerns, and the area eye with one"},
	} {
		marked := strings.Replace(potentials, c.old, c.new, 1)
		before, _, found := strings.Cut(marked, "‹")
		text := strings.Replace(marked, "‹", "", 1)
		_, err := Parse("a.yaml", []byte(text), func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(nil)), nil })
		var faults Faults
		if !errors.As(err, &faults) || len(faults) != 1 || !strings.Contains(faults[0].Message, c.message) {
			t.Errorf("%s: %v, want %s", c.name, err, c.message)
			continue
		}
		if want := position([]byte(text), len(before)); found && (faults[0].Line != want.Line || faults[0].Column != want.Column) {
			t.Errorf("%s: at %d:%d, want %d:%d", c.name, faults[0].Line, faults[0].Column, want.Line, want.Column)
		}
	}
}
