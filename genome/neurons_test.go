package genome

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWritten: each model that is written as formulas can be chosen by its name and by its aliases, which mean nothing else; all it
// has is documented; and the schema takes its parameters.
func TestWritten(t *testing.T) {
	schema, seen := compiled(t), map[string]bool{}
	for _, m := range Models() {
		seen[m.Name] = true
	}
	require.Len(t, Written(), 15)
	for _, m := range Written() {
		require.NotEmpty(t, m.Source, m.Name)
		require.NotEmpty(t, m.Equations, m.Name)
		require.NotNil(t, m.Custom.Definition(), m.Name)
		for _, v := range m.State {
			require.NotEmpty(t, v.Doc, "%s.%s", m.Name, v.Name)
		}
		params := ""
		for i := range m.Params {
			p := &m.Params[i]
			require.NotEmpty(t, p.Doc, "%s.%s", m.Name, p.Name)
			params += fmt.Sprintf("      %s: %s\n", p.Name, p.defaultText())
		}
		if params != "" {
			params = "    params:\n" + params
		}
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			require.False(t, seen[name], "%s stands twice", name)
			seen[name] = true
			text := fmt.Sprintf("burst: v1\ntimestep: 0.1 ms\nareas:\n  - name: a\n    neurons: 2\n    model: %s\n%s", name, params)
			g, err := Parse("written.yaml", []byte(text), nil)
			require.NoError(t, err, text)
			require.Same(t, m, g.Areas[0].Model)
			require.NoError(t, validate(t, schema, text), text)
			require.Same(t, m, ModelNamed(name))
		}
	}
}

// TestWrittenMistakes: parameters out of range, ports and units.
func TestWrittenMistakes(t *testing.T) {
	const two = "timestep: 0.1 ms\nareas: [{name: a, neurons: 3, model: iaf_cond_exp}]\n"
	for name, c := range map[string]slip{
		"below the range":  inArea("model: lif_cond_exp, params: {g_L: ‹0 nS}", "params.g_L", "above 0", ""),
		"unit":             inArea("model: lif_cond_exp, params: {g_L: ‹3 pA}", "params.g_L", "expects a conductance", ""),
		"parameter":        inArea("model: lif_cond_exp, params: {‹E_exc: 0 mV}", "params.E_exc", "unknown key", "E_ex"),
		"outside params":   inArea("model: lif_cond_exp, ‹g_L: 3 nS", "g_L", "under params", "params: {g_L: …}"),
		"no port":          {two + "projections: [{from: a, to: ‹a, rule: all_to_all, weight: 1 nS}]", "projections[0].to", "expects a port beside the area", ""},
		"unknown port":     {two + "projections: [{from: a, to: {area: a, port: ‹exc}, rule: all_to_all, weight: 1 nS}]", "projections[0].to.port", "whose model lif_cond_exp has ex, in, current", "ex"},
		"unit of a weight": {two + "projections: [{from: a, to: {area: a, port: in}, rule: all_to_all, weight: ‹1 pA}]", "projections[0].weight", "expects a conductance", ""},
	} {
		t.Run(name, func(t *testing.T) { oneFault(t, &c) })
	}
}

// TestWrittenHidden: a genome's own model of such a name is the one that its areas get.
func TestWrittenHidden(t *testing.T) {
	const text = "burst: v1\nmodels: [{name: adex, state: {v: 0}, update: [v = v + input], threshold: v > 1}]\nareas: [{name: a, neurons: 3, model: adex}]\n"
	g, err := Parse("own.yaml", []byte(text), nil)
	require.NoError(t, err)
	require.Same(t, g.Models[0], g.Areas[0].Model)
	require.NoError(t, validate(t, compiled(t), text))
}

// TestFirstUse: whoever asks first for what is compiled on first use, all get the same.
func TestFirstUse(t *testing.T) {
	var all sync.WaitGroup
	models, rules := make([][]*Definition, 4), make([][]*Handlers, 4)
	for k := range models {
		all.Go(func() {
			for _, m := range Written() {
				models[k] = append(models[k], m.Custom.Definition())
			}
			for _, r := range Plasticities() {
				if r.Definition != nil {
					rules[k] = append(rules[k], r.Definition())
				}
			}
		})
	}
	all.Wait()
	for k := range models {
		for i, d := range models[k] {
			require.Same(t, models[0][i], d)
		}
		for i, d := range rules[k] {
			require.Same(t, rules[0][i], d)
		}
	}
}
