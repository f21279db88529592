package genome

import (
	"io"
	"strings"
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

// TestWithByAreas: a projection is named by its areas, where one alone has these.
func TestWithByAreas(t *testing.T) {
	g, err := Parse("walk.yaml", []byte("burst: v1\nareas: [{name: a.x, neurons: 3}, {name: b, neurons: 3}]\nprojections:\n"+
		"  - {from: b, to: b, rule: one_to_one, weight: 2}\n  - {from: a.x, to: b, rule: all_to_all, weight: 2}\n  - {from: b, to: b, rule: all_to_all, weight: 2}\n"), nil)
	require.NoError(t, err)
	h, err := g.With([]string{"projections.a.x->b.weight=7"})
	require.NoError(t, err)
	require.Contains(t, string(h.Text()), "{from: a.x, to: b, rule: all_to_all, weight: 7}")
	for _, path := range []string{"projections[1].weight", "projections[a.x->b].weight", "projections.a.x->b.weight"} {
		other, err := Parse("walk.yaml", []byte(strings.Replace(string(g.Text()), "to: b, rule: all_to_all", "to: {area: b}, rule: all_to_all", 1)), nil)
		require.NoError(t, err)
		h, err := other.With([]string{path + "=8"})
		require.NoError(t, err)
		require.Equal(t, 8.0, h.Projections[1].Weight.A)
	}
	_, err = g.With([]string{"projections.b->b.weight=7"})
	require.ErrorContains(t, err, `projections has 2 entries "b->b", want the number of one: 0 or 2`)
}

// TestWithoutText: a genome made in Go has nothing to change values in, which is an error and no more.
type handedOver struct{ *strings.Reader }

func (handedOver) Close() error { return nil }

// Files that were handed over are opened where they are, and not in the folder where a run will keep them.
func TestWithFilesHandedOver(t *testing.T) {
	const text = "burst: v1\nareas: [{name: a, neurons: 2, model: lif, params: {tau: \"column(t.csv, x)\"}}]\n"
	g, err := Parse("net.yaml", []byte(text), func(string) (io.ReadCloser, error) {
		return handedOver{strings.NewReader("x\n10\n20\n")}, nil
	})
	require.NoError(t, err)
	g.Folder = "files"
	made, err := g.With([]string{"areas.a.params.threshold=15 mV"})
	require.NoError(t, err)
	require.Equal(t, "files", made.Folder)
	require.Equal(t, g.Files, made.Files)
}

func TestWithoutText(t *testing.T) {
	g := &Genome{Areas: []Area{{Name: "a"}}}
	require.Nil(t, g.Text())
	_, err := g.With([]string{"seed=3"})
	require.EqualError(t, err, "genome: only a genome that was read from a text can be set")
	_, err = g.Rewired("edges.csv", nil, 1000)
	require.EqualError(t, err, "genome: only a genome that was read from a text can be rewired")
}

// TestWithAdds: what a genome lacks is added, a list where a number follows, an entry at a list's end.
func TestWithAdds(t *testing.T) {
	const bare = "burst: v1\nareas: [{name: eye, neurons: 7}, {name: leg, neurons: 3}]\n"
	g, err := Parse("bare.yaml", []byte(bare), nil)
	require.NoError(t, err)
	h, err := g.With([]string{
		"stimuli.0.area=eye", "stimuli.0.every=5", "stimuli.0.neurons.0=1", "stimuli.0.neurons.1=4", "stimuli.0.amount=2",
		"stimuli.1={area: leg, at: 3, neurons: [2], amount: 1}", "record.spikes.0=leg", "areas.2={name: tail, neurons: 1}", "record.spikes.1=tail",
		"projections.0.from=eye", "projections.0.to=tail", "projections.0.rule=all_to_all", "projections.0.weight=.5",
	})
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 4}, h.Stimuli[0].Neurons)
	require.EqualValues(t, 5, h.Stimuli[0].Every)
	require.Equal(t, []float64{2, 2}, h.Stimuli[0].Amounts)
	require.Equal(t, 1, h.Stimuli[1].Area)
	require.EqualValues(t, 3, h.Stimuli[1].At)
	require.Equal(t, []int{1, 2}, h.Record.Spikes)
	require.Equal(t, 2, h.Projections[0].To)
	require.Equal(t, 0.5, h.Projections[0].Weight.A)
	require.Len(t, g.Areas, 2, "the genome it was made from stays")

	h, err = g.With([]string{"stimuli=[]", "stimuli.0={area: leg, at: 3, neurons: [2], amount: 1}"})
	require.NoError(t, err)
	require.Len(t, h.Stimuli, 1, "an empty list is one to add to")
}

// TestAliases: an alias stands wherever an area's name does, also where it ends with the sign of a setting.
func TestAliases(t *testing.T) {
	const text = `burst: v1
areas:
  - {name: eye, neurons: 7, aliases: [iic400, "aWluZgAAAAA="]}
  - {name: leg, neurons: 3, aliases: [a.b+c/d]}
projections: [{from: iic400, to: a.b+c/d, rule: all_to_all, weight: 1}]
stimuli: [{area: "aWluZgAAAAA=", every: 5, neurons: [0], amount: 1}]
record: {spikes: [a.b+c/d, iic400], potentials: [{area: iic400, neurons: [1]}]}
`
	g, err := Parse("walk.yaml", []byte(text), nil)
	require.NoError(t, err)
	require.NoError(t, validate(t, compiled(t), text))
	require.Equal(t, []string{"iic400", "aWluZgAAAAA="}, g.Areas[0].Aliases)
	for name, area := range map[string]int{"eye": 0, "iic400": 0, "aWluZgAAAAA=": 0, "leg": 1, "a.b+c/d": 1} {
		i, err := g.FindArea(name)
		require.NoError(t, err)
		require.Equal(t, area, i, name)
	}
	require.Equal(t, 0, g.Projections[0].From)
	require.Equal(t, 1, g.Projections[0].To)
	require.Equal(t, 0, g.Stimuli[0].Area)
	require.Equal(t, Record{Spikes: []int{1, 0}, Potentials: []Potentials{{Area: 0, Neurons: []uint32{1}}}}, g.Record)
	h, err := g.With([]string{"areas.iic400.threshold=2", "areas.a.b+c/d.threshold=3", "areas.aWluZgAAAAA=.drive.constant=.25"})
	require.NoError(t, err)
	require.Equal(t, 2.0, h.Areas[0].Params["threshold"])
	require.Equal(t, 3.0, h.Areas[1].Params["threshold"])
	require.Equal(t, 0.25, h.Areas[0].Drives[0].Value)
	_, err = g.With([]string{"areas.iic500.threshold=2"})
	require.ErrorContains(t, err, `did you mean "iic400"?`)

	for _, c := range []struct{ name, put, want string }{
		{"the name of another", "eye]", `walk.yaml:4:39: areas[1].aliases[0]: expects another name for the area, found "eye", which the area in line 3 has`},
		{"its own name", "leg]", `walk.yaml:4:39: areas[1].aliases[0]: expects another name for the area, found "leg", which the area in line 4 has`},
		{"the alias of another", "iic400]", `walk.yaml:4:39: areas[1].aliases[0]: expects another name for the area, found "iic400"`},
		{"with a blank", "a b]", "walk.yaml:4:39: areas[1].aliases[0]: expects a name of ASCII letters"},
		{"twice", "x, x]", "walk.yaml:4:42: areas[1].aliases[1]: expects another name"},
		{"a letter of another alphabet", "é]", "walk.yaml:4:39: areas[1].aliases[0]: expects a name of ASCII letters"},
		{"too long", strings.Repeat("x", 101) + "]", "at most 100 long"},
		{"empty", `""]`, "walk.yaml:4:39: areas[1].aliases[0]"},
		{"of an area at fault", "x]}\n  - {name: -y, neurons: 1, aliases: [-y]", `walk.yaml:5:38: areas[2].aliases[0]: expects another name for the area, found "-y", which another area has`},
	} {
		planted := strings.ReplaceAll(strings.Replace(text, "a.b+c/d]", c.put, 1), "a.b+c/d", "leg")
		_, err := Parse("walk.yaml", []byte(planted), nil)
		require.ErrorContains(t, err, c.want, c.name)
	}
	_, err = Parse("walk.yaml", []byte(strings.Replace(text, "name: leg", "name: 7.5", 1)), nil)
	require.ErrorContains(t, err, "expects a name, found 7.5")
	require.True(t, IsAlias(strings.Repeat("x", 100)))
	require.False(t, IsAlias(""))
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
		"areas.3.neurons=3":               "areas has 2 entries, found number 3, want 0 to 2, where 2 adds one",
		"areas.-1.neurons=3":              "areas has 2 entries, found number -1, want 0 to 2",
		"areas.2.neurons=3":               `areas[2]: key "name" is missing`,
		"record.spikes.1=eye":             "record.spikes has 0 entries, found number 1, want 0 to 0",
		"record.spikes.first=eye":         `expects a list`,
		"areas.0=3":                       "areas[0]",
		"projections.eye->lge.weight=1":   `projections has no entry "eye->lge", did you mean "eye->leg"?`,
		"areas.eye.neurons.few=1":         `areas.eye.neurons is`,
		"areas.eye.params.tua=1ms":        `tau`,
		"areas.eye.params.tau=1 mV":       "areas[0].params.tau",
		"areas.eye.params.tau=.inf":       "areas[0].params.tau",
		"areas.eye.params.tau=.i":         "areas[0].params.tau",
		"areas.eye.params.tau=-3ms":       "areas[0].params.tau",
		"projections.0.weight=!!binary x": "tag !!binary",
	} {
		_, err := g.With([]string{setting})
		require.ErrorContains(t, err, want, setting)
	}
}
