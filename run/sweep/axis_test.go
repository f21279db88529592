package sweep

import (
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

func TestParseAxis(t *testing.T) {
	for text, want := range map[string]Axis{
		"areas.E.params.tau=10ms,12ms,15ms": {[]string{"areas.E.params.tau"}, []string{"10ms", "12ms", "15ms"}},
		"projections.0.weight=0.1..0.5/5":   {[]string{"projections.0.weight"}, []string{"0.1", "0.2", "0.3", "0.4", "0.5"}},
		"a.b=-0.3 mV..-0.8mV/3":             {[]string{"a.b"}, []string{"-0.3 mV", "-0.55 mV", "-0.8 mV"}},
		"a.b=-1..1/3":                       {[]string{"a.b"}, []string{"-1", "0", "1"}},
		"a.b=1..2 Hz/2":                     {[]string{"a.b"}, []string{"1 Hz", "2 Hz"}},
		"a.b=0..1e-9/3":                     {[]string{"a.b"}, []string{"0", "5e-10", "1e-09"}},
		"a.b=normal(1, 0.1),2":              {[]string{"a.b"}, []string{"normal(1, 0.1)", "2"}},
		"a.b={x: 1, y: 'a,b'},[1,2]":        {[]string{"a.b"}, []string{"{x: 1, y: 'a,b'}", "[1,2]"}},
		"p.I->E.weight,p.I->I.weight=1,2":   {[]string{"p.I->E.weight", "p.I->I.weight"}, []string{"1", "2"}},
	} {
		got, err := ParseAxis(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, why := range map[string]string{
		"seed": "want PATH=VALUES", "=1": "want PATH=VALUES", "a.b=": "want PATH=VALUES", "a.b=1,,2": "value 2 is empty",
		"a.b=1..2": `found "" as the count of a range`, "a.b=1..2/1": "a count of 2 to", "a.b=1mV..2ms/3": "the same unit", "a.b=x..2/3": "two different numbers", "a.b=1..2/999999999": "a count of 2 to",
	} {
		_, err := ParseAxis(text)
		require.ErrorContains(t, err, why, text)
	}
}

func TestNumbers(t *testing.T) {
	x, unit, ok := (&Axis{Values: []string{"10 ms", "1.5e1ms"}}).Numbers()
	require.True(t, ok)
	require.Equal(t, "ms", unit)
	require.Equal(t, []float64{10, 15}, x)
	for _, values := range [][]string{{"10 ms", "0.1 s"}, {"on"}, {"normal(1, 2)"}, {"1", "[2]"}} {
		_, _, ok = (&Axis{Values: values}).Numbers()
		require.False(t, ok, values)
	}
}

func TestParseSeeds(t *testing.T) {
	seeds, err := ParseSeeds("3..5")
	require.NoError(t, err)
	require.Equal(t, []uint64{3, 4, 5}, seeds)
	seeds, err = ParseSeeds("9, 1..2,5")
	require.NoError(t, err)
	require.Equal(t, []uint64{9, 1, 2, 5}, seeds)
	_, err = ParseSeeds("4,1..5")
	require.ErrorContains(t, err, "has seed 4 twice")
	for _, text := range []string{"", "3,", "1,0..99999", "5..3", "a..b", "0..99999999", "-1..2"} {
		_, err := ParseSeeds(text)
		require.ErrorContains(t, err, "want A..B", text)
	}
}

const noisy = `burst: v1
name: noisy
seed: 7
bursts: 60
areas:
  - {name: a, neurons: 90, threshold: 1.5, leak: 0.3, drive: {poisson: {rate: 300 Hz, weight: 1.2}}}
  - {name: b, neurons: 31, threshold: 1, leak: 0.5, excitability: 0.7}
projections:
  - {from: a, to: b, rule: fixed_indegree, indegree: 9, weight: 0.3, delay: "uniform(1, 4)"}
  - {from: a, to: a, rule: fixed_indegree, indegree: 9, weight: 0.1, delay: 2}
`

func parse(t *testing.T, text string) *genome.Genome {
	g, err := genome.Parse("noisy.yaml", []byte(text), nil)
	require.NoError(t, err)
	return g
}

// TestPoints: order, seeds and names of points; what a plan cannot mean.
func TestPoints(t *testing.T) {
	g := parse(t, noisy)
	p := Plan{Axes: []Axis{{[]string{"areas.a.threshold"}, []string{"1", "2"}}, {[]string{"areas.a.leak", "areas.b.leak"}, []string{"0.1", "0.2"}}}, Seeds: []uint64{5, 6}, Trials: 2}
	points, err := p.Points(g)
	require.NoError(t, err)
	require.Len(t, points, 16)
	x := points[11] // 0-based: threshold 2, leak 0.1, seed 6, trial 2
	require.Equal(t, []string{"2", "0.1"}, x.Values)
	require.EqualValues(t, 6, x.Genome.Seed)
	require.EqualValues(t, 7, x.Genome.RunSeed)
	require.Equal(t, 0.1, x.Genome.Areas[1].Params["leak"])
	require.Equal(t, 2.0, x.Genome.Areas[0].Params["threshold"])
	require.Equal(t, "point 12 (areas.a.threshold=2, areas.a.leak,areas.b.leak=0.1, seed 6, run seed 7)", p.place(&x))
	require.Equal(t, points[10].cell, x.cell, "trials share their network")
	require.NotEqual(t, points[9].cell, x.cell, "seeds do not")

	seeded := parse(t, noisy)
	seeded.Seed, seeded.RunSeed = 70, 71 // as by flags
	points, err = (&Plan{Axes: []Axis{{[]string{"run_seed"}, []string{"1", "2"}}}}).Points(seeded)
	require.NoError(t, err)
	require.EqualValues(t, 70, points[1].Genome.Seed)
	require.EqualValues(t, 2, points[1].Genome.RunSeed)

	long := Axis{Values: make([]string, 1000), Paths: []string{"areas.a.leak"}}
	for _, c := range []struct {
		plan Plan
		why  string
	}{
		{Plan{Axes: []Axis{long, long}}, "more than 100000 points"},
		{Plan{Axes: []Axis{{[]string{"areas.a.leak", "areas.a.leak"}, []string{"1"}}}}, "areas.a.leak is varied twice"},
		{Plan{Axes: []Axis{{[]string{"seed"}, []string{"1"}}}, Seeds: []uint64{1}}, "seed is varied twice"},
		{Plan{Axes: []Axis{{[]string{"run_seed"}, []string{"1"}}}, Trials: 2}, "run_seed is varied twice"},
		{Plan{Axes: []Axis{{[]string{"areas.c.leak"}, []string{"1"}}}}, `areas has no entry "c"`},
	} {
		_, err := c.plan.Points(g)
		var wrong *PlanError
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, c.why)
	}
	_, err = (&Plan{Axes: []Axis{{[]string{"areas.a.threshold"}, []string{"1", "2 ms"}}}}).Points(g)
	var faults genome.Faults
	require.ErrorAs(t, err, &faults)
	require.ErrorContains(t, err, "areas.a.threshold=2 ms: noisy.yaml (as set):")
}
