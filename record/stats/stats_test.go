package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/record"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// run records bursts of fired neurons in areas of those sizes, with a timestep of 0.5 ms.
func run(t *testing.T, sizes []uint32, recorded uint32, bursts [][]uint32) *runfolder.Folder {
	t.Helper()
	return runFrom(t, 0, sizes, []connectome.Span{{Count: recorded}}, bursts)
}

// runFrom is run for one that began from a checkpoint, in burst first: of bursts it records those from there on.
func runFrom(t *testing.T, first int, sizes []uint32, recorded []connectome.Span, bursts [][]uint32) *runfolder.Folder {
	t.Helper()
	c := &connectome.Connectome{}
	var areas []manifest.Area
	next := uint32(0)
	for i, n := range sizes {
		name := string(rune('a' + i))
		areas = append(areas, manifest.Area{Name: name, First: next, Neurons: n, Size: [3]uint32{n, 1, 1}, PerVoxel: 1})
		c.Areas = append(c.Areas, connectome.Area{Name: name, Neurons: connectome.Span{First: next, Count: n}})
		next += n
	}
	dir := filepath.Join(t.TempDir(), "run")
	r, err := record.Create(dir, record.Options{Manifest: manifest.Manifest{Genome: "g", Timestep: 0.5, Scale: 1, First: uint64(first), Areas: areas}, Plan: record.Plan{Spikes: recorded}})
	require.NoError(t, err)
	activity := record.NewActivity(c)
	for i, fired := range bursts[first:] {
		b := &engine.Burst{Number: uint64(first + i), Fired: fired}
		require.NoError(t, r.Record(b))
		require.NoError(t, activity.Record(b))
	}
	require.NoError(t, r.Close(record.End{Bursts: activity.Bursts(), Digest: "00000000000000aa", Status: manifest.Complete, Activity: activity}))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	return f
}

// regular makes n bursts in which neuron k fires when its period divides the burst.
func regular(n int, periods ...int) [][]uint32 {
	bursts := make([][]uint32, n)
	for t := range bursts {
		for k, p := range periods {
			if p > 0 && t%p == 0 {
				bursts[t] = append(bursts[t], uint32(k))
			}
		}
	}
	return bursts
}

// TestByHand compares with figures worked out on paper.
func TestByHand(t *testing.T) {
	// Area a: neurons with periods 3 and 6 bursts, one silent; area b: fires in bursts 0, 1, 5 alone.
	bursts := regular(12, 3, 6, 0)
	for _, at := range []int{0, 1, 5} {
		bursts[at] = append(bursts[at], 3)
	}
	s, err := Compute(run(t, []uint32{3, 1}, 4, bursts), Options{Bin: 1.5})
	require.NoError(t, err)
	require.EqualValues(t, 1.5, s.Bin, "three bursts of 0.5 ms")
	a, b := s.Areas[0], s.Areas[1]
	require.EqualValues(t, 6, a.Spikes)
	require.InDelta(t, 6.0/3/0.006, float64(a.Rate), 1e-9)
	require.InDelta(t, 2.0/3, float64(a.Active), 1e-12)
	require.InDelta(t, (3*3+6)*0.5/4, float64(a.ISI), 1e-12, "intervals 3, 3, 3 and 6 bursts")
	require.InDelta(t, 0, float64(a.CV), 1e-12, "the second neuron has one interval alone and does not count")
	require.Equal(t, []uint64{0, 0, 0, 3, 0, 0, 1}, a.Intervals)
	require.Equal(t, []uint64{4, 2, 0}, a.Counts)
	// Counts in the four bins: 1 1 1 1, 1 0 1 0, 0 0 0 0; only the second varies (1/4), the mean is 2/3 1/3 2/3 1/3 (1/36).
	require.InDelta(t, math.Sqrt((1.0/36)/(0.25/3)), float64(a.Synchrony), 1e-12)
	require.False(t, a.Correlation.Defined(), "of the neurons that fired only one varies")
	// Intervals 1 and 4: mean 2.5, standard deviation 3/√2.
	require.InDelta(t, 3/math.Sqrt2/2.5, float64(b.CV), 1e-12)
	require.InDelta(t, 1, float64(b.Synchrony), 1e-12, "one neuron is in step with itself")
}

// TestKnownProcesses compares with what theory says of neurons that fire alike, and independently.
func TestKnownProcesses(t *testing.T) {
	const neurons, n = 400, 20_000
	r := rand.New(rand.NewPCG(3, 5))
	alike, alone := make([][]uint32, n), make([][]uint32, n)
	everybody := make([]uint32, neurons)
	for k := range everybody {
		everybody[k] = uint32(k)
	}
	for i := range n {
		if r.Float64() < 0.01 {
			alike[i] = everybody
		}
		for k := range uint32(neurons) {
			if r.Float64() < 0.01 {
				alone[i] = append(alone[i], k)
			}
		}
	}
	s, err := Compute(run(t, []uint32{neurons}, neurons, alike), Options{})
	require.NoError(t, err)
	require.InDelta(t, 1, float64(s.Areas[0].Synchrony), 1e-9)
	require.InDelta(t, 1, float64(s.Areas[0].Correlation), 1e-9)
	require.Equal(t, 100*99/2, s.Areas[0].Pairs)

	f := run(t, []uint32{neurons}, neurons, alone)
	s, err = Compute(f, Options{})
	require.NoError(t, err)
	require.InDelta(t, 1/math.Sqrt(neurons), float64(s.Areas[0].Synchrony), 0.005)
	require.InDelta(t, 0, float64(s.Areas[0].Correlation), 0.005)
	require.InDelta(t, 0.99, float64(s.Areas[0].CV), 0.02, "a Bernoulli process: √(1−p)")
	require.InDelta(t, 20, float64(s.Areas[0].Rate), 0.5)

	again, err := Compute(f, Options{})
	require.NoError(t, err)
	require.Equal(t, s, again, "the sample is the same for the same seed")
	other, err := Compute(f, Options{Seed: 1})
	require.NoError(t, err)
	require.NotEqual(t, s.Areas[0].Correlation, other.Areas[0].Correlation, "another seed is another sample")
}

// TestUnfinishedBin: of independent neurons of 500 Hz a burst more than ten bins of ten changes next to nothing.
func TestUnfinishedBin(t *testing.T) {
	const neurons = 1000
	r := rand.New(rand.NewPCG(17, 29))
	bursts := make([][]uint32, 109)
	for i := range bursts {
		for k := range uint32(neurons) {
			if r.Float64() < 0.25 {
				bursts[i] = append(bursts[i], k)
			}
		}
	}
	f := run(t, []uint32{neurons}, neurons, bursts)
	want, err := Compute(f, Options{Until: 100})
	require.NoError(t, err)
	require.InDelta(t, 1/math.Sqrt(neurons), float64(want.Areas[0].Synchrony), 0.02)
	for until := uint64(101); until < 110; until++ {
		got, err := Compute(f, Options{Until: until})
		require.NoError(t, err)
		require.EqualValues(t, 5, got.Bin)
		require.Equal(t, want.Areas[0].Synchrony, got.Areas[0].Synchrony, "%d bursts", until)
		require.Equal(t, want.Areas[0].Correlation, got.Areas[0].Correlation, "%d bursts", until)
		require.Greater(t, got.Areas[0].Spikes, want.Areas[0].Spikes, "rates are of all bursts")
	}
	short, err := Compute(f, Options{Until: 19})
	require.NoError(t, err)
	require.False(t, short.Areas[0].Synchrony.Defined(), "one whole bin does not vary")
}

// TestSpikesOfUnrecordedNeurons: spikes of neurons that the manifest says were not recorded are damage.
func TestSpikesOfUnrecordedNeurons(t *testing.T) {
	f := run(t, []uint32{2, 3}, 5, regular(20, 2, 5, 3, 7, 4))
	f.Manifest.Areas[1].Recorded = 2
	_, err := Compute(f, Options{})
	var d *runfolder.DamagedError
	require.ErrorAs(t, err, &d)
	require.ErrorContains(t, err, `neuron 2 of area "b" has spikes, but by its manifest the 2 recorded neurons do not include it`)
}

// TestWindowsAndAreas looks at parts of a run.
func TestWindowsAndAreas(t *testing.T) {
	f := run(t, []uint32{2, 1}, 2, regular(20, 2, 5, 1))
	s, err := Compute(f, Options{From: 3, Until: 11, Areas: []string{"a"}})
	require.NoError(t, err)
	require.Len(t, s.Areas, 1)
	require.Equal(t, []uint64{4, 2}, s.Areas[0].Counts, "bursts 4, 6, 8, 10 and 5, 10")
	s, err = Compute(f, Options{Until: 1000})
	require.NoError(t, err)
	require.EqualValues(t, 20, s.Until, "cut to the run")
	require.Zero(t, s.Areas[1].Recorded)
	text, err := json.Marshal(s.Areas[1])
	require.NoError(t, err)
	require.Contains(t, string(text), `"rate_hz":null`, "nothing recorded is not a rate of zero")
	for _, o := range []Options{{From: 20}, {From: 7, Until: 7}, {From: 9, Until: 3}, {Bin: -1}, {Areas: []string{"c"}}} {
		_, err := Compute(f, o)
		require.Error(t, err, "%+v", o)
	}
	_, err = Select([]manifest.Area{{Name: "cortex"}, {Name: "motor"}}, []string{"cortx"})
	require.ErrorContains(t, err, `did you mean "cortex"?`)
	aliased := []manifest.Area{{Name: "cortex", Aliases: []string{"c__ctx"}}, {Name: "motor", Aliases: []string{"omot00", "b21vdDAwICA="}}}
	for _, name := range []string{"motor", "omot00", "b21vdDAwICA="} {
		taken, err := Select(aliased, []string{name})
		require.NoError(t, err)
		require.Equal(t, []bool{false, true}, taken, name)
	}
	_, err = Select(aliased, []string{"omot01"})
	require.ErrorContains(t, err, `no area "omot01", want one of cortex, motor; did you mean "omot00"?`)
}

// asJSON writes figures so that undefined ones are equal.
func asJSON(t *testing.T, s *Summary) string {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	return string(text)
}

// TestFromCheckpoint: a run that began in burst 13 has the figures that the whole has from there on.
func TestFromCheckpoint(t *testing.T) {
	bursts := regular(43, 2, 5, 3, 7)
	whole, part := run(t, []uint32{2, 2}, 4, bursts), runFrom(t, 13, []uint32{2, 2}, []connectome.Span{{Count: 4}}, bursts)
	for _, o := range []Options{{}, {From: 5}, {From: 20}, {Until: 31}, {From: 20, Until: 31}} {
		got, err := Compute(part, o)
		require.NoError(t, err)
		o.From = max(o.From, 13)
		want, err := Compute(whole, o)
		require.NoError(t, err)
		require.Equal(t, asJSON(t, want), asJSON(t, got), "%+v", o)
	}
	_, _, err := Window(part, 5, 13)
	require.EqualError(t, err, "no burst from 5 until 13; the run has bursts 13 to 42")
	_, _, err = Window(part, 43, 0)
	require.ErrorContains(t, err, "the run has bursts 13 to 42")
	end, err := End(part)
	require.NoError(t, err)
	require.EqualValues(t, 43, end)
	d, err := FirstDifference(whole, part, end)
	require.NoError(t, err)
	require.Nil(t, d, "bursts that one has not run are no difference")
	part.Manifest.Status, part.Manifest.Bursts = manifest.Failed, 0
	end, err = End(part)
	require.NoError(t, err)
	require.EqualValues(t, 43, end, "of a run that failed, as far as it is recorded")
}

// TestFirstDifference plants a difference of each kind.
func TestFirstDifference(t *testing.T) {
	base := regular(40, 2, 5, 3, 7)
	change := func(edit func([][]uint32)) [][]uint32 {
		c := make([][]uint32, len(base))
		for i := range base {
			c[i] = slices.Clone(base[i])
		}
		edit(c)
		return c
	}
	cases := []struct {
		name     string
		a, b     [][]uint32
		recorded uint32
		want     *Difference
	}{
		{"equal", base, base, 4, nil},
		{"one more", base, change(func(c [][]uint32) { c[11] = []uint32{3} }), 4, &Difference{Burst: 11, Area: "b", Index: 1, Neuron: 3, In: "b"}},
		{"one less", base, change(func(c [][]uint32) { c[15] = c[15][:1] }), 4, &Difference{Burst: 15, Area: "b", Index: 0, Neuron: 2, In: "a"}},
		{"another neuron", base, change(func(c [][]uint32) { c[22] = []uint32{1} }), 4, &Difference{Burst: 22, Area: "a", Index: 0, Neuron: 0, In: "a"}},
		{"the last spike", base, change(func(c [][]uint32) { c[39] = nil }), 4, &Difference{Burst: 39, Area: "b", Index: 0, Neuron: 2, In: "a"}},
		{"where one has recorded nothing", base, change(func(c [][]uint32) { c[11] = []uint32{3} }), 3, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := FirstDifference(run(t, []uint32{2, 2}, 4, c.a), run(t, []uint32{2, 2}, c.recorded, c.b), 40)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := FirstDifference(run(t, []uint32{2, 2}, 4, base), run(t, []uint32{4}, 4, base), 40)
	require.ErrorContains(t, err, "areas[0] (a)", "other networks")
}
