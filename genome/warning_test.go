package genome

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWarnings: a model with a longer timestep than it is compared at is named once, with the step to take; all other networks are silent.
func TestWarnings(t *testing.T) {
	steps := map[string]string{"adex": "0.1", "aeif_psc_exp": "0.1", "adex_cond_exp": "0.1", "adex_psc_alpha": "0.1", "adex_cond_alpha": "0.1", "hh_cond_exp": "0.2"}
	warned := 0
	for _, m := range Written() {
		warned += min(1, int(m.Longest*10))
	}
	require.Equal(t, len(steps)-1, warned) // one is an alias
	for model, longest := range steps {
		for timestep, silent := range map[string]bool{"0.05": true, "0.1": true, "0.2": longest == "0.2", "0.25": false, "1": false} {
			text := fmt.Sprintf("burst: v1\ntimestep: %s ms\nareas: [{name: F, neurons: 3}, {name: E, neurons: 2, model: %s}, {name: I, neurons: 2, model: %s}]\n", timestep, model, model)
			g, err := Parse("warned.yaml", []byte(text), nil)
			require.NoError(t, err)
			if silent {
				require.Empty(t, g.Warnings(), text)
				continue
			}
			require.Equal(t, []string{fmt.Sprintf("the model %s of area E is compared with other programs up to a timestep of %s ms; at %s ms its rates may be wrong: write timestep: %s ms",
				g.Areas[1].Model.Name, longest, timestep, longest)}, g.Warnings())
		}
	}
	g, err := Parse("exact.yaml", []byte("burst: v1\ntimestep: 2 ms\nareas: [{name: E, neurons: 2, model: lif_psc_delta}, {name: G, neurons: 1, model: izhikevich}]\n"), nil)
	require.NoError(t, err)
	require.Empty(t, g.Warnings())
}
