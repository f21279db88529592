package genome

import (
	"errors"
	"strings"
	"testing"
)

const eventGenome = `burst: v1
timestep: 0.1 ms
areas:
  - {name: E, neurons: 9, model: lif_event, params: {tau: 10 ms}, drive: {constant: 3 mV}}
plasticity:
  - {name: by, target: [V], bounds: [0, 9], on_pre: [w = w + V]}
projections:
  - {from: E, to: E, rule: one_to_one, weight: 0.5 mV}
`

// What a model that changes at inputs alone cannot have; the fault stands at ‹.
func TestEventModel(t *testing.T) {
	if _, err := Parse("a.yaml", []byte(eventGenome), nil); err != nil {
		t.Fatal(err)
	}
	if err := validate(t, compiled(t), eventGenome); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ name, old, new, message string }{
		{"a drive that begins", "constant: 3 mV", "constant: 3 mV, ‹from: 5", "found from, but neurons of the model lif_event change at inputs alone"},
		{"a drive that ends", "constant: 3 mV", "constant: 3 mV, ‹until: 5", "want it without until, or the model lif"},
		{"a factor", "constant: 3 mV", "constant: 3 mV, ‹factor: {sine: {amplitude: 1, frequency: 5 Hz}}", "want it without factor"},
		{"a column", "constant: 3 mV", `constant: ‹"column(a.csv, x)"`, "found a column, but a constant drive of the model lif_event is one for all neurons"},
		{"a rule that reads V", "weight: 0.5 mV", "weight: 0.5 mV, plasticity: ‹by", "reads V of a target, but neurons of the model lif_event (area E) change at inputs alone"},
		{"tau of neurons", "tau: 10 ms", `tau: ‹"normal(10 ms, 1 ms)"`, "expects a time such as 2 ms, found "},
	} {
		marked := strings.Replace(eventGenome, c.old, c.new, 1)
		before, _, _ := strings.Cut(marked, "‹")
		text := strings.Replace(marked, "‹", "", 1)
		_, err := Parse("a.yaml", []byte(text), nil)
		var faults Faults
		if !errors.As(err, &faults) || len(faults) != 1 || !strings.Contains(faults[0].Message, c.message) {
			t.Errorf("%s: %v, want %s", c.name, err, c.message)
			continue
		}
		if want := position([]byte(text), len(before)); faults[0].Line != want.Line || faults[0].Column != want.Column {
			t.Errorf("%s: at %d:%d, want %d:%d", c.name, faults[0].Line, faults[0].Column, want.Line, want.Column)
		}
	}
}
