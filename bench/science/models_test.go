package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

// nestModels are NEST's f-I curves and peaks of post-synaptic potentials; testdata/nest_models.py made them.
//
//go:embed testdata/nest_models.json
var nestModels []byte

type nestModel struct {
	Nest    string    `json:"nest"`
	Model   string    `json:"model"`
	Current []float64 `json:"current_pA"`
	Rate    []float64 `json:"rate_hz"`
	Held    float64   `json:"psp_current_pA"`
	Weight  []float64 `json:"weight"`
	PSP     []float64 `json:"psp_mV"`
}

const nestStep = 0.1 // ms

// open is a network of one neuron, under a current and with one stimulus.
func (m *nestModel) open(t *testing.T, current float64, stimulus string, each recorder) *engine.Engine {
	text := fmt.Sprintf("burst: v1\ntimestep: %g ms\nscale: auto\nareas: [{name: a, neurons: 1, model: %s, params: {I_e: %g pA}}]\n%s", nestStep, m.Model, current, stimulus)
	g, err := genome.Parse(m.Model, []byte(text), nil)
	require.NoError(t, err, text)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	b, err := backend.Open("cpu", c, backend.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return engine.New(c, b, engine.Options{Recorders: []engine.Recorder{each}})
}

// rate is the script's: of the spikes from 500 to 2000 ms the intervals over the time from the first to the last.
func (m *nestModel) rate(t *testing.T, current float64) float64 {
	var times []uint64
	e := m.open(t, current, "", func(b *engine.Burst) error {
		if len(b.Fired) > 0 && float64(b.Number+1)*nestStep > 500 {
			times = append(times, b.Number)
		}
		return nil
	})
	require.NoError(t, e.Run(context.Background(), 20_000))
	require.Greater(t, len(times), 2, "%s at %g pA", m.Model, current)
	return 1000 * float64(len(times)-1) / (float64(times[len(times)-1]-times[0]) * nestStep)
}

// psp is the script's: the largest distance of V from where it was before a spike came to the k-th port.
func (m *nestModel) psp(t *testing.T, k int) float64 {
	model := genome.ModelNamed(m.Model)
	port := model.Ports[min(k, len(model.Ports)-1)]
	const at = 7000
	s := &engine.State{}
	e := m.open(t, m.Held, fmt.Sprintf("stimuli: [{to: {area: a, port: %s}, at: %d, neurons: [0], amount: %g %s}]\n", port.Name, at, m.Weight[k], map[genome.Dimension]string{genome.Voltage: "mV", genome.Current: "pA", genome.Conductance: "nS"}[port.Unit]), func(*engine.Burst) error { return nil })
	require.NoError(t, e.Run(context.Background(), at))
	require.NoError(t, e.State(s))
	base, most := float64(s.V[0]), 0.0
	for range 2000 {
		require.NoError(t, e.Run(context.Background(), 1))
		require.NoError(t, e.State(s))
		if d := float64(s.V[0]) - base; math.Abs(d) > math.Abs(most) {
			most = d
		}
	}
	return most
}

// TestModelsAgainstNEST holds each model that is written as formulas to NEST's values: rates within 0.5 %, peaks within 1e-3 of them.
func TestModelsAgainstNEST(t *testing.T) {
	var table struct {
		NEST   string      `json:"nest"`
		Models []nestModel `json:"models"`
	}
	require.NoError(t, json.Unmarshal(nestModels, &table))
	require.NotEmpty(t, table.Models)
	compared := map[string]bool{"parrot": true} // has neither rate nor potential
	for i := range table.Models {
		m := &table.Models[i]
		compared[m.Model] = true
		t.Run(m.Model, func(t *testing.T) {
			t.Parallel()
			for k, current := range m.Current {
				got := m.rate(t, current)
				t.Logf("%g pA: %.3f Hz, NEST %s has %.3f (%+.2f %%)", current, got, table.NEST, m.Rate[k], 100*(got/m.Rate[k]-1))
				if math.Abs(got-m.Rate[k]) > 0.005*m.Rate[k] {
					t.Errorf("rate at %g pA: %g Hz, NEST has %g", current, got, m.Rate[k])
				}
			}
			for k := range m.Weight {
				got := m.psp(t, k)
				t.Logf("weight %g: peak %.6f mV, NEST has %.6f (%+.1e)", m.Weight[k], got, m.PSP[k], got/m.PSP[k]-1)
				if math.Abs(got-m.PSP[k]) > 1e-3*math.Abs(m.PSP[k]) {
					t.Errorf("peak of weight %g: %g mV, NEST has %g", m.Weight[k], got, m.PSP[k])
				}
			}
		})
	}
	for _, m := range genome.Written() {
		require.True(t, compared[m.Name], "%s is compared with nothing", m.Name)
	}
}
