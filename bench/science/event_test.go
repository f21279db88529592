package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// driven are 100 neurons at about 8 Hz under Poisson input, a constant current and stimuli.
const driven = `burst: v1
timestep: 0.1 ms
areas:
  - name: E
    neurons: 100
    model: MODEL
    params: {tau: 20 ms, C: 250 pF, rest: -65 mV, reset: -60 mV, threshold: -50 mV, refractory: 2 ms}
    init: {V: "uniform(-65 mV, -51 mV)"}
    drive: [{poisson: {rate: 600 Hz, weight: 0.9 mV}}, {constant: 30 pA}]
stimuli:
  - {area: E, every: 7 ms, neurons: [0, 50], amount: -2 mV}
`

// drivenByCurrents are 100 neurons at about 8 Hz under excitatory and inhibitory Poisson input.
const drivenByCurrents = `burst: v1
timestep: 0.1 ms
areas:
  - name: E
    neurons: 100
    model: MODEL
    params: {tau: 10 ms, C: 250 pF, tau_syn_ex: 0.5 ms, tau_syn_in: 2 ms, rest: -65 mV, reset: -65 mV, threshold: -50 mV, refractory: 2 ms}
    init: {V: "uniform(-65 mV, -51 mV)"}
    drive: [{poisson: {rate: 8000 Hz, weight: 87.8 pA}}, {poisson: {rate: 1000 Hz, weight: -87.8 pA}}, {constant: 120 pA}]
`

// TestEventAgainstEveryBurst: models with Event are those that are computed in every burst, but for where numbers are rounded: the same
// neurons fire in the same bursts.
func TestEventAgainstEveryBurst(t *testing.T) {
	type spike struct {
		burst  uint64
		neuron uint32
	}
	for model, text := range map[string]string{"lif": driven, "lif_psc_exp": drivenByCurrents} {
		spikes := map[string]map[spike]bool{}
		for _, model := range []string{model, model + "_event"} {
			list := map[spike]bool{}
			err := simulate(options{backend: "cpu"}, model, []byte(strings.Replace(text, "MODEL", model, 1)), 100_000, func(b *engine.Burst) error {
				for _, n := range b.Fired {
					list[spike{b.Number, n}] = true
				}
				return nil
			})
			require.NoError(t, err)
			spikes[model] = list
		}
		same := 0
		for s := range spikes[model+"_event"] {
			if spikes[model][s] {
				same++
			}
		}
		all := len(spikes[model])
		t.Logf("%d spikes of %s, %d of %s_event, %d in the same burst", all, model, len(spikes[model+"_event"]), model, same)
		require.Greater(t, all, 1000)
		require.InDelta(t, all, len(spikes[model+"_event"]), 0.001*float64(all))
		require.GreaterOrEqual(t, float64(same), 0.998*float64(all))
	}
}

// TestEventPotential: between inputs V is the closed form, as that of NEST's iaf_psc_delta, within float32's rounding.
func TestEventPotential(t *testing.T) {
	text := strings.ReplaceAll(driven, "drive: [{poisson: {rate: 600 Hz, weight: 0.9 mV}}, {constant: 30 pA}]", "drive: {constant: 30 pA}")
	text = strings.Replace(text, `"uniform(-65 mV, -51 mV)"`, "-70 mV", 1)
	g, err := genome.Parse("text", []byte(strings.Replace(text, "MODEL", "lif_event", 1)), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	const level = -65 + 20*30/250.0
	course := potentials(t, c, 200)
	for burst, v := range course {
		want := level + (-70-level)*math.Exp(-float64(burst+1)/200)
		for at := 0; at <= burst; at += 70 {
			want -= 2 * math.Exp(-float64(burst-at)/200)
		}
		require.InDelta(t, want, v, 2e-5, "burst %d", burst)
	}
}

// potentials are those of neuron 0, absolute, after each burst.
func potentials(t *testing.T, c *connectome.Connectome, bursts int) (course []float64) {
	b, err := backend.Open("cpu", c, backend.Options{Want: engine.Want{Values: []engine.Probe{{Neuron: 0}}}})
	require.NoError(t, err)
	defer b.Close()
	feed := engine.NewFeed(c, nil)
	var out engine.Burst
	for burst := range bursts {
		in, err := feed.Next(uint64(burst))
		require.NoError(t, err)
		require.NoError(t, b.Step(in, &out))
		course = append(course, float64(out.Values[0])+c.Areas[0].V0.Rest)
	}
	return course
}
