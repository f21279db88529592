package feagi_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

func testFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return text
}

func build(t *testing.T, g *genome.Genome) *connectome.Connectome {
	t.Helper()
	c, err := connectome.Build(g, connectome.Options{Threads: 1})
	require.NoError(t, err)
	return c
}

// digest runs a network and gives the digest and the spikes.
func digest(t *testing.T, c *connectome.Connectome, name string, bursts uint64) (sum, spikes uint64) {
	t.Helper()
	b, err := backend.Open(name, c, backend.Options{})
	require.NoError(t, err)
	defer b.Close()
	e := engine.New(c, b, engine.Options{})
	require.NoError(t, e.Run(context.Background(), bursts))
	return e.Digest(), e.Spikes()
}

// The counts were worked out on paper: eye to hand makes 48 + 12 + 24 synapses by rule, 64 after merging.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		file                      string
		neurons, synapses, byRule uint64
		dialect                   feagi.Dialect
	}{
		{"flat.json", 1 + 8 + 24, 8 + 64 + 48, 8 + 84 + 48, feagi.Python},
		{"hierarchical.json", 1 + 5 + 3, 3 + 5, 3 + 5, feagi.Release},
	} {
		t.Run(c.file, func(t *testing.T) {
			g, r, err := feagi.Import(c.file, testFile(t, c.file), feagi.Options{})
			require.NoError(t, err)
			s, err := connectome.Measure(g, connectome.Options{})
			require.NoError(t, err)
			require.Equal(t, c.neurons, s.Neurons)
			require.Equal(t, c.neurons, r.Neurons)
			require.Equal(t, c.synapses, s.Synapses)
			require.Equal(t, c.byRule, s.ByRule)
			require.Equal(t, c.dialect, r.Dialect)
		})
	}
}

// The YAML that an import writes is the network that the JSON runs as: same connectome, same spikes.
func TestYAMLIsTheSameNetwork(t *testing.T) {
	check := func(t *testing.T, name string, text []byte, bursts uint64) {
		direct, made, _, err := feagi.Translate(name, text, feagi.Options{})
		require.NoError(t, err)
		read, err := genome.Parse("made.yaml", made, nil)
		require.NoError(t, err, "%s", made)
		a, b := build(t, direct), build(t, read)
		require.Equal(t, a.Hash(), b.Hash())
		want, spikes := digest(t, a, "cpu", bursts)
		require.Positive(t, spikes)
		for _, side := range []string{"cpu", "reference"} {
			got, _ := digest(t, b, side, bursts)
			require.Equal(t, want, got, side)
		}
	}
	for _, name := range []string{"flat.json", "hierarchical.json"} {
		t.Run(name, func(t *testing.T) { check(t, name, testFile(t, name), 300) })
	}
	for _, name := range []string{"community-learning.json", "core-essential.json"} {
		t.Run(name, func(t *testing.T) {
			_, text := sharedGenome(t, name)
			check(t, name, text, 30)
		})
	}
}

// area finds an area by its name.
func area(t *testing.T, g *genome.Genome, name string) *genome.Area {
	t.Helper()
	for i := range g.Areas {
		if g.Areas[i].Name == name {
			return &g.Areas[i]
		}
	}
	t.Fatalf("no area %q", name)
	return nil
}

// Every gene lands in the key that the guide says, whatever its letter and scope, as the dialect means it.
func TestGenesPython(t *testing.T) {
	g, _, err := feagi.Import("flat.json", testFile(t, "flat.json"), feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, "two eyes- one hand -test-", g.Name)
	require.Equal(t, 12.5, g.Timestep)
	require.Len(t, g.Areas, 4)

	power := area(t, g, "Brain_Power")
	require.Equal(t, "core", power.Group)
	require.Equal(t, 255.0, *power.PSP)
	require.False(t, power.DividePSP)
	require.Equal(t, 10.0, power.Params["leak_amount"])
	require.Equal(t, 0.0, power.Params["leak"])
	require.Equal(t, 1.0, power.Params["accumulate"])
	require.Len(t, power.Drives, 1)
	require.Equal(t, 1.0, power.Drives[0].Value)

	eye := area(t, g, "eye")
	require.Equal(t, [3]uint64{4, 2, 1}, eye.Size)
	require.Equal(t, [3]float64{-30, 0, 0}, eye.Position)
	require.Equal(t, "ipu", eye.Group)
	require.Equal(t, uint64(2), eye.Devices)
	require.Equal(t, 2.5, eye.Params["threshold"])
	require.Equal(t, [3]float64{0, 0.5, 0}, eye.Gradient)
	require.Equal(t, 702.5, eye.Params["threshold_limit"], "a width above the threshold")
	require.Equal(t, 2.0, eye.Params["snooze"])
	require.Equal(t, 3.0, eye.Params["fire_limit"])
	require.Equal(t, 0.75, eye.Params["excitability"], "per cent")
	require.Equal(t, 1.0, eye.Params["draw"])
	require.Equal(t, 0.0, eye.Params["accumulate"], "off unless the file says otherwise")
	require.False(t, eye.DividePSP, "python: uniform unless the file says otherwise")

	hand := area(t, g, "eye oHand")
	require.Equal(t, uint64(2), hand.PerVoxel)
	require.Equal(t, 4.0, hand.Params["refractory"])
	require.True(t, area(t, g, "memories- one- two").Empty())
	require.Equal(t, -255.0, g.Projections[2].Weight.A, "clamped")
	require.True(t, g.Projections[2].Merge)
	require.False(t, g.Projections[0].Merge)
}

// Every value of the file as the released server takes it.
func TestGenesRelease(t *testing.T) {
	text := `{"version": "3.0", "blueprint": {"_____10c-c__one-nx-leak_c-f": 10, "_____10c-c__one-nx-pstcr_-f": -2.5, "_____10c-c__one-nx-snooze-i": 4,
		"_____10c-c__two-nx-snooze-f": 3, "_____10c-c__one-cx-dstmap-d": {"c__two": [["0-0-0_to_all", [1, 1, 1], 300.5, false]]},
		"_____10c-c__two-cx-dstmap-d": {"c__one": [["0-0-0_to_all", [1, 1, 1], 1, false], ["0-0-0_to_all", [1, 1, 1], 1, true, 1, 1, 1]]}},
		"neuron_morphologies": {}}`
	g, r, err := feagi.Import("release.json", []byte(text), feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, feagi.Release, r.Dialect)
	require.Equal(t, "version 3.0", r.Why)
	one, two := area(t, g, "c__one"), area(t, g, "c__two")
	require.Equal(t, 10.0, one.Params["leak"])
	require.Equal(t, 1.0, one.Params["rectify"])
	require.Equal(t, 1.0, one.Params["always_recover"])
	require.Equal(t, 0.0, one.Params["snooze"], "FEAGI does not read snooze-i")
	require.Equal(t, 3.0, two.Params["snooze"])
	require.Equal(t, -2.5, *one.PSP, "signed, with its fraction")
	require.Len(t, g.Projections, 2, "a rule that learns without a window takes with it those behind it")
	require.Equal(t, 300.5, g.Projections[0].Weight.A, "not cut to 255")
	g, _, err = feagi.Import("release.json", []byte(text), feagi.Options{Unlearnable: true})
	require.NoError(t, err)
	require.Len(t, g.Projections, 3)
}

func TestGenesRust(t *testing.T) {
	g, _, err := feagi.Import("hierarchical.json", testFile(t, "hierarchical.json"), feagi.Options{Dialect: feagi.Rust})
	require.NoError(t, err)
	require.Len(t, area(t, g, "true").Drives, 1, "power under its base64 id")
	sense := area(t, g, "sense")
	require.Equal(t, 0.25, sense.Params["leak"])
	require.Equal(t, 0.0, sense.Params["leak_amount"])
	require.Equal(t, 0.5, sense.Params["excitability"])
	require.Equal(t, [3]float64{1, 2, 3}, sense.Position)
	require.Equal(t, 2.0, *sense.PSP, "truncated")
	require.True(t, sense.DividePSP, "rust: divided unless the file says otherwise")
	other := area(t, g, "sense cmoto001")
	require.Equal(t, 9.0, other.Params["threshold_limit"], "absolute")
	require.Equal(t, 0.0, other.Params["fire_limit"], "65535 means none")
	require.Equal(t, 1.0, g.Projections[1].Weight.A, "rust takes a weight that is no whole number for 1")
}

// The oldest files: morphologies without a type, a burst's time at the top, genes of the whole brain, rules of four; and
// the newest: delays in rules.
func TestOldAndNew(t *testing.T) {
	g, r, err := feagi.Import("old.json", []byte(`{"version": "2.0", "burst_delay": 0.1, "max_burst_count": 3,
"neuron_morphologies": {"placeholder": {}, "next": {"vectors": [[0, 0, 1]]}, "randomizer": {"functions": true}, "first": {"patterns": [[["*", "*", "*"], [0, 0, 0]]]}},
"blueprint": {"_____10b-_____s-__-__name-t": "smart_car",
 "_____10c-t_pmot-cx-_group-t": "thalamus", "_____10c-t_pmot-nx-___bbz-i": 3, "_____10c-t_pmot-nx-leak_c-f": 2000,
 "_____10c-t_pmot-cx-dstmap-d": {"t_pmot": [["next", [1, 1, 4], 1, false], ["randomizer", [1, 1, 1], 1, false], ["first", [1, 1, 1], -1, false],
  {"morphology_id": "next", "synaptic_delay_bursts": 7, "synapse_attractivity": 49.5}, {"morphology_id": "next", "synaptic_delay_bursts": 0},
  ["next", [1, 1, 1], 1, false, 1, 1, 1, 3, 2]]}
}}`), feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, 100.0, g.Timestep)
	require.Equal(t, "thalamus", g.Areas[0].Group)
	require.Equal(t, genome.Vectors, g.Projections[0].Rule)
	require.Equal(t, [][3]int64{{0, 0, 4}}, g.Projections[0].Vectors, "scaled")
	require.Equal(t, genome.Randomizer, g.Projections[1].Rule)
	require.Equal(t, genome.Patterns, g.Projections[2].Rule)
	require.Equal(t, 7.0, g.Projections[3].Delay.A)
	require.Equal(t, uint64(50), g.Projections[3].LeaveOut)
	require.Equal(t, 1.0, g.Projections[4].Delay.A)
	require.Equal(t, 2.0, g.Projections[5].Delay.A, "the ninth element")
	require.Zero(t, r.Count(feagi.NotHonoured))
}

// What a dialect and the clamp make of a postsynaptic current.
func TestCurrents(t *testing.T) {
	const text = `{"blueprint": {"_____10c-c__one-nx-pstcr_-f": X, "_____10c-c__one-nx-leak_c-f": 0}}`
	for _, c := range []struct {
		value   string
		options feagi.Options
		want    float64
		why     string
	}{
		{"0.5", feagi.Options{Dialect: feagi.Rust}, 0, "whole numbers only"},
		{"254.9", feagi.Options{Dialect: feagi.Rust}, 254, "cut off, not rounded"},
		{"50000", feagi.Options{Dialect: feagi.Rust}, 255, "one byte"},
		{"-3", feagi.Options{Dialect: feagi.Rust}, 0, "no sign"},
		{"50000.5", feagi.Options{Dialect: feagi.Rust, NoClamp: true}, 50000, "no-clamp keeps the size, not the fraction"},
		{"0.5", feagi.Options{Dialect: feagi.Python}, 0.5, "a number like any other"},
		{"-3", feagi.Options{Dialect: feagi.Python}, -3, "signed"},
		{"-300", feagi.Options{Dialect: feagi.Python}, -255, "clamped on both sides"},
		{"-300", feagi.Options{Dialect: feagi.Python, NoClamp: true}, -300, "kept"},
		{"500", feagi.Options{}, 255, "auto without a leak is rust"},
	} {
		t.Run(c.value+" "+string(c.options.Dialect), func(t *testing.T) {
			g, _, err := feagi.Import("x.json", []byte(strings.Replace(text, "X", c.value, 1)), c.options)
			require.NoError(t, err)
			require.Equal(t, c.want, g.Areas[0].Factor(), c.why)
		})
	}
}

// Each key of the file is in the report, with its fate.
func TestReport(t *testing.T) {
	_, r, err := feagi.Import("flat.json", testFile(t, "flat.json"), feagi.Options{})
	require.NoError(t, err)
	fate := func(id, key string) feagi.Fate {
		for _, a := range r.Areas {
			for _, n := range a.Lines {
				if a.ID == id && n.Key == key {
					return n.Fate
				}
			}
		}
		return "nowhere"
	}
	for _, c := range []struct {
		id, key string
		want    feagi.Fate
	}{
		{"___pwr", "nx-pstcr_-f", feagi.Converted}, {"___pwr", "nx-leak_c-f", feagi.Converted}, {"___pwr", "cx-_group-t", feagi.Carried},
		{"___pwr", "cx-pspuni-b", feagi.Carried}, {"___pwr", "fire_t", feagi.Defaulted}, {"___pwr", "excite", feagi.Defaulted},
		{"IV00Le", "nx-excite-i", feagi.Converted}, {"IV00Le", "nx-fthlim-i", feagi.NotHonoured}, {"IV00Le", "cx-devcnt-i", feagi.Carried},
		{"IV00Le", "cx-dstmap-d to Mem000, rule 1", feagi.NotHonoured},
		{"IV00Le", "cx-dstmap-d to oHand_, rule 2.postSynapticCurrent_multiplier", feagi.Converted},
		{"oHand_", "cx-dstmap-d to oHand_, rule 1", feagi.Converted},
		{"oHand_", "cx-__name-t", feagi.Converted}, {"Mem000", "cx-mem__t-i", feagi.NotHonoured}, {"Mem000", "cx-subgrp-t", feagi.NotHonoured},
	} {
		require.Equal(t, c.want, fate(c.id, c.key), "%s %s", c.id, c.key)
	}
	r.CompareSynapses(120)
	var b strings.Builder
	require.NoError(t, r.Write(&b))
	for _, want := range []string{
		"dialect python (area ___pwr leaks 10, more than the fraction 1)",
		"stats.innate_neuron_count: 2 becomes 33, the file's own count is stale",
		"stats.innate_synapse_count: 0 becomes 120",
		"nx-pstcr_-f: 500 becomes psp 255, clamped to 255",
	} {
		require.Contains(t, b.String(), want)
	}
}

// A file of FEAGI's is told from a genome of burst, which may be JSON too.
func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "burst: v1\n": false, "{burst: v1, areas: []}": false, `{"burst": "v1", "areas": []}`: false,
		`{"name": "x", "burst": "v1"}`: false, "\xef\xbb\xbf {\"blueprint\": {}}": true, "{": true, "{}": true, `{ "version": 2`: true,
	} {
		require.Equal(t, want, feagi.Looks([]byte(text)), text)
	}
}
