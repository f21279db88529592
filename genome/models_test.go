package genome

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDescriptors holds the table to what its readers count on.
func TestDescriptors(t *testing.T) {
	numbers := map[uint8]string{CustomNumber: "custom"}
	for _, m := range Models() {
		require.Empty(t, numbers[m.Number], "%s: the number of another model", m.Name)
		numbers[m.Number] = m.Name
		for i := range m.Constants {
			require.Equal(t, i >= m.Own(), m.Constants[i].Shared, "%s: shared constants come last", m.Name)
			for _, name := range m.Depends(m.Constants[i].Name) {
				require.NotNil(t, m.param(name), "%s: %s", m.Name, m.Constants[i].Name)
			}
		}
		for i := range m.Params {
			if low := m.Params[i].Below; low != "" {
				require.NotNil(t, m.param(low), m.Name)
			}
		}
		for _, v := range m.State {
			require.True(t, v.Rest == "" || m.param(v.Rest).Same, "%s: neurons count from one rest", m.Name)
		}
		require.True(t, m.Chance == nil || m.AreaLevel || m.Own() == 0, "%s: the GPU's tables hold a neuron's constants or its chance", m.Name)
		require.Equal(t, len(m.Ports) == 0, len(m.State) == 0, "%s: sources have no state", m.Name)
	}
	require.Equal(t, []string{"tau_syn_ex", "tau", "C"}, Models()[2].Depends("p21ex"))
}

// TestPropagator compares P21 with β/C·(exp(−dt/tau) − exp(−dt/s)), on both sides of each place where its form changes.
func TestPropagator(t *testing.T) {
	const tau, c = 10.0, 230.0
	for _, s := range []float64{0.001, 1 / 700.2, 1 / 700.0, 0.5, 2, 9, 11, 40} {
		beta := tau * s / (tau - s)
		assert.InEpsilon(t, beta/c*(math.Exp(-1/tau)-math.Exp(-1/s)), Propagator(s, tau, c, 1), 1e-12, "tau_syn %v ms", s)
	}
	for _, s := range []float64{tau, tau * (1 + 1e-8)} {
		assert.InEpsilon(t, math.Exp(-1/tau)/c, Propagator(s, tau, c, 1), 1e-7, "tau_syn %v ms", s)
	}
	assert.InDelta(t, 0, Propagator(1.4e-45, tau, c, 1e6), 1e-40, "no current lasts to the end of a step")
}
