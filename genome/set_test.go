package genome

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const settable = `burst: v1 # the format
timestep: 0.5 ms
areas:
  - {name: eye, neurons: 7, model: lif, params: {tau: 17 ms, threshold: 11 mV}} # sees
  - name: leg
    neurons: 3
projections:
  - {from: eye, to: leg, rule: all_to_all, weight: "uniform(0.1, 0.3)"}
stimuli:
  - {area: leg, every: 5, neurons: [0, 2], amount: 1}
`

func TestWith(t *testing.T) {
	g, err := Parse("folder/walk.yaml", []byte(settable), nil)
	require.NoError(t, err)
	h, err := g.With([]string{
		"areas.eye.params.tau=12ms", "areas.1.threshold=2.5", "seed=18446744073709551615", "projections.0.weight=normal(0.3, 0.05)",
		"stimuli.0.neurons=[1]", "areas.eye.init.V=uniform(1 mV, 2 mV)", "areas.leg.drive={poisson: {rate: 30 Hz, weight: 1}}",
	})
	require.NoError(t, err)
	require.Equal(t, 12.0, h.Areas[0].Params["tau"])
	require.Equal(t, 11.0, h.Areas[0].Params["threshold"], "its neighbour stays")
	require.Equal(t, 2.5, h.Areas[1].Params["threshold"])
	require.EqualValues(t, uint64(1<<64-1), h.Seed)
	require.Equal(t, []uint32{1}, h.Stimuli[0].Neurons)
	require.Len(t, h.Areas[1].Drives, 1)
	require.Equal(t, 30.0, h.Areas[1].Drives[0].Rate)
	require.Contains(t, h.Areas[0].Init, "V")
	require.Equal(t, "walk", h.Name)
	require.Contains(t, string(h.Text()), "# the format")
	again, err := Parse("again.yaml", h.Text(), nil)
	require.NoError(t, err)
	require.Equal(t, h.Areas[1].Drives, again.Areas[1].Drives, "the text as set is the genome as set")
	require.Equal(t, 17.0, g.Areas[0].Params["tau"], "the genome it was made from stays")
}

// TestWithPointsInNames: the longest name of an area that a path begins with is meant.
func TestWithPointsInNames(t *testing.T) {
	g, err := Parse("walk.yaml", []byte("burst: v1\nareas: [{name: L, neurons: 3}, {name: L.4 a-b, neurons: 3}, {name: L.4 a-b.c, neurons: 3}]\n"), nil)
	require.NoError(t, err)
	h, err := g.With([]string{"areas.L.threshold=7", "areas.L.4 a-b.threshold=8", "areas.L.4 a-b.c.threshold=9", "areas.L.leak=0.5"})
	require.NoError(t, err)
	for i := range h.Areas {
		require.Equal(t, float64(7+i), h.Areas[i].Params["threshold"])
	}
	require.Equal(t, 0.5, h.Areas[0].Params["leak"])
	_, err = g.With([]string{"areas.M.4.threshold=2"})
	require.ErrorContains(t, err, `areas has no entry "M"`)
}

// TestWithoutText: a genome made in Go has nothing to change values in, which is an error and no more.
func TestWithoutText(t *testing.T) {
	g := &Genome{Areas: []Area{{Name: "a"}}}
	require.Nil(t, g.Text())
	_, err := g.With([]string{"seed=3"})
	require.EqualError(t, err, "genome: a genome that has no text cannot be set")
	_, err = g.Rewired("edges.csv", 1000)
	require.EqualError(t, err, "genome: a genome that has no text cannot be rewired")
}

func TestWithSaysWhatIsWrong(t *testing.T) {
	g, err := Parse("walk.yaml", []byte(settable), nil)
	require.NoError(t, err)
	for setting, want := range map[string]string{
		"areas.eye":                       "expects PATH=VALUE",
		"=3":                              "expects PATH=VALUE",
		"seed=":                           "expects PATH=VALUE",
		"seed=[1":                         `expects a YAML value after =, found "[1"`,
		"areas..tau=1":                    "single points",
		"areas.eyes.params.tau=1ms":       `areas has no entry "eyes", did you mean "eye"?`,
		"areas.nowhere.params.tau=1ms":    `areas has no entry "nowhere", only eye, leg`,
		"areas.2.neurons=3":               "areas has 2 entries, found number 2, want 0 to 1",
		"projections.first.weight=1":      "projections has no names",
		"areas.eye.neurons.few=1":         `areas.eye.neurons is`,
		"areas.eye.params.tua=1ms":        `tau`,
		"areas.eye.params.tau=1 mV":       "areas[0].params.tau",
		"areas.eye.params.tau=-3ms":       "areas[0].params.tau",
		"projections.0.weight=!!binary x": "tag !!binary",
	} {
		_, err := g.With([]string{setting})
		require.ErrorContains(t, err, want, setting)
	}
}
