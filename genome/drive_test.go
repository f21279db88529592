package genome

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConstantElsewhere: what is no constant drive, but stands elsewhere, is told where.
func TestConstantElsewhere(t *testing.T) {
	for _, x := range []struct{ model, amount, want string }{
		{"lif", `"uniform(1 pA, 2 pA)"`, ""},
		{"lif", `"uniform(1 mV, 2 mV)"`, ""},
		{"lif_cond_exp", `"normal(1 nS, 2 nS) > 0 nS"`, ""},
		{"feagi", `"clip(lognormal(1, 2), 0, 4)"`, ""},
		{"lif", `"uniform(1 nS, 2 nS)"`, "expects a current such as 100 pA, found 1 nS"},
		{"lif", `"uniform(1 pA, 2 mV)"`, "expects a current such as 100 pA, found 2 mV"},
		{"lif", `"normal(1 pA)"`, `expects ",", found ")"`},
		{"lif", `"norml(1 pA, 1 pA)"`, `did you mean "normal`},
		{"lif", `"uniform(1 pA, 2 pA)", factor: {sine: {amplitude: 1, frequency: 5 Hz}}`, ""},
		{"feagi", `"uniform(1, 2)", factor: {sine: {amplitude: 1, frequency: 5 Hz}}`, "found a factor beside a distribution, which a constant drive of the model feagi cannot have; want one of them, or a model of your own with a parameter for the distribution, times a port"},
		{"lif_event", `"uniform(1 pA, 2 pA)"`, "found a distribution, but a constant drive of the model lif_event is one for all neurons of the area; want one amount, or the model lif"},
		{"lif_psc_delta", `"uniform(1 pA, 2 pA)"`, "expects a voltage"},
		{"lif_psc_delta", "1 pA", "expects a voltage such as -65 mV, found 1 pA; the parameter I_e of the area's model takes a current"},
		{"lif_psc_delta", "1 nS", "expects a voltage such as -65 mV, found 1 nS"},
		{"izhikevich", "1 pA", "expects a plain number"},
		{"lif_psc_delta", "1 mV", ""},
		{"lif", "1 pA", ""},
	} {
		drive := fmt.Sprintf("constant: %s", x.amount)
		if x.model == "lif_cond_exp" {
			drive += ", to: {port: ex}"
		}
		_, err := Parse("net.yaml", []byte(fmt.Sprintf("burst: v1\nareas:\n- {name: a, neurons: 3, model: %s, drive: {%s}}\n", x.model, drive)), nil)
		if x.want == "" {
			require.NoError(t, err, "%+v", x)
			continue
		}
		require.ErrorContains(t, err, x.want, "%+v", x)
	}
}

// TestDenseProjections names the table of projections where a text has too many of them.
func TestDenseProjections(t *testing.T) {
	text := "burst: v1\nareas: [{name: a, neurons: 1}]\nprojections:\n" + strings.Repeat("- {from: a, to: a, rule: one_to_one, weight: 1, delay: 1}\n", 100_000)
	_, err := Parse("net.yaml", []byte(text), nil)
	require.ErrorContains(t, err, "a table in place of many projections (projections: {file: …})")
}

// TestNoNumber: what is no number at all is told what would be one.
func TestNoNumber(t *testing.T) {
	for text, want := range map[string]string{
		"bursts: soon":            "expects whole bursts such as 2 or a time such as 2 ms, found soon",
		`bursts: "uniform(1, 5)"`: "expects whole bursts such as 2 or a time such as 2 ms, found uniform(1, 5)",
		"timestep: short":         `expects a time such as 2 ms, found "short"`,
		"areas: [{name: a, neurons: 1, model: lif, params: {rest: low}}]":               `expects a voltage such as -65 mV, found "low"`,
		"areas: [{name: a, neurons: 1, model: lif, drive: {constant: big}}]":            `expects a current such as 100 pA or a voltage such as -65 mV, found "big"`,
		"areas: [{name: a, neurons: 1, model: lif, params: {tau: .inf}}]":               "expects a finite number, found .inf",
		"areas: [{name: a, neurons: 1, model: lif, params: {tau: 010 ms}}]":             "which YAML may read as octal",
		"areas: [{name: a, neurons: 1, model: lif, init: {V: \"normal(x mV, 1 mV)\"}}]": "expects a voltage such as -65 mV, found \"x mV\"",
	} {
		if !strings.HasPrefix(text, "areas") {
			text += "\nareas: [{name: a, neurons: 1}]"
		}
		_, err := Parse("net.yaml", []byte("burst: v1\n"+text+"\n"), nil)
		require.ErrorContains(t, err, want, text)
	}
}
