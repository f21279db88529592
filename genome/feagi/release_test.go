package feagi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// train is what a neuron of FEAGI's released server fired, recorded by bench/feagi-oracle.
type train struct {
	area   string
	neuron uint32 // first of its voxel
	id     uint32 // FEAGI's
	forced bool
	bursts string // a character each, 1 where it fired
}

func readTrains(t *testing.T, file string) []train {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var list []train
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var r train
		var how string
		_, err := fmt.Sscanf(line, "%q %d %d %s %s", &r.area, &r.neuron, &r.id, &how, &r.bursts)
		require.NoError(t, err, line)
		r.forced = how == "forced"
		list = append(list, r)
	}
	return list
}

// The dialect release fires what FEAGI's released server has fired, train by train: genomes with areas of one neuron, each for
// a rule or two of the law (laws) or with potentials that drive its current (driven), whose sources were made to fire at random.
func TestReleasedTrains(t *testing.T) {
	t.Run("laws", func(t *testing.T) { releasedTrains(t, "laws", 115, 1000) })
	t.Run("driven", func(t *testing.T) { releasedTrains(t, "driven", 300, 5000) })
}

func releasedTrains(t *testing.T, name string, leastLaws, leastSpikes int) {
	folder := filepath.Join("testdata", "release")
	text, err := os.ReadFile(filepath.Join(folder, name+".json"))
	require.NoError(t, err)
	g, report, err := feagi.Import(name+".json", text, feagi.Options{Strict: true})
	require.NoError(t, err)
	require.Equal(t, feagi.Release, report.Dialect)
	trains := readTrains(t, filepath.Join(folder, name+".trains"))
	force(g, trains)
	first := make([]uint32, len(g.Areas))
	for _, r := range trains {
		first[slices.IndexFunc(g.Areas, func(a genome.Area) bool { return a.Name == r.area })] = r.id - r.neuron
	}
	g, _, err = feagi.Numbered(g, first) // excitability draws by FEAGI's ids
	require.NoError(t, err)
	c := build(t, g)
	for _, side := range []string{"reference", "cpu"} {
		b, err := backend.Open(side, c, backend.Options{})
		require.NoError(t, err)
		defer b.Close()
		fired := firing{}
		require.NoError(t, engine.New(c, b, engine.Options{Recorders: []engine.Recorder{fired}}).Run(context.Background(), uint64(len(trains[0].bursts))))
		laws, spikes := 0, 0
		for _, want := range trains {
			a := slices.IndexFunc(g.Areas, func(a genome.Area) bool { return a.Name == want.area })
			require.GreaterOrEqual(t, a, 0, want.area)
			got := []byte(strings.Repeat("_", len(want.bursts)))
			for k := range uint32(g.Areas[a].PerVoxel) {
				for _, at := range fired[c.Areas[a].Neurons.First+want.neuron+k] {
					got[at] = '1'
				}
			}
			require.Equal(t, want.bursts, string(got), "%s, area %s, neuron %d", side, want.area, want.neuron)
			if !want.forced {
				laws, spikes = laws+1, spikes+strings.Count(want.bursts, "1")
			}
		}
		require.GreaterOrEqual(t, laws, leastLaws)
		require.Greater(t, spikes, leastSpikes)
	}
}

// force makes the areas that FEAGI was made to fire fire as they did.
func force(g *genome.Genome, trains []train) {
	for i := range g.Areas {
		a := &g.Areas[i]
		for _, r := range trains {
			if r.area != a.Name || !r.forced {
				continue
			}
			a.Model, a.Params = genome.ModelNamed("spike_list"), map[string]float64{}
			for b := range r.bursts {
				if r.bursts[b] == '1' {
					a.Spikes = append(a.Spikes, genome.Spike{Burst: uint64(b), Neuron: r.neuron})
				}
			}
		}
	}
}

// firing is the bursts in which each neuron fires.
type firing map[uint32][]uint64

func (f firing) Record(b *engine.Burst) error {
	for _, n := range b.Fired {
		f[n] = append(f[n], b.Number)
	}
	return nil
}

// The dialect release connects what FEAGI's released server has connected, pair by pair: all of FEAGI's morphologies, between areas of
// many sizes and with several neurons in a voxel.
func TestReleasedMorphologies(t *testing.T) {
	folder := filepath.Join("testdata", "release")
	text, err := os.ReadFile(filepath.Join(folder, "morphologies.json"))
	require.NoError(t, err)
	g, report, err := feagi.Import("morphologies.json", text, feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, feagi.Release, report.Dialect)
	want, err := os.ReadFile(filepath.Join(folder, "morphologies.pairs"))
	require.NoError(t, err)
	_, lines, _ := strings.Cut(string(want), "\n") // behind the comment
	wanted := map[string]string{}
	for line := range strings.Lines(lines) {
		_, rest, _ := strings.Cut(line[1:], `"`)
		wanted[line[1:len(line)-len(rest)-1]] = strings.TrimSuffix(rest, "\n")
	}
	c := build(t, g)
	pairs, empty := 0, 0
	for i := range c.Areas {
		from, got := &c.Areas[i], ""
		targets := make([]string, len(c.Areas))
		for n := from.Neurons.First; n < from.Neurons.First+from.Neurons.Count; n++ {
			row := slices.Clone(c.Target[c.Row[n]:c.Row[n+1]])
			slices.Sort(row)
			for _, at := range row {
				m := c.NeuronOf(at)
				k := c.AreaOf(m)
				targets[k] += fmt.Sprintf(" %d>%d", n-from.Neurons.First, m-c.Areas[k].Neurons.First)
				pairs++
			}
		}
		for k, list := range targets {
			if list != "" {
				got += fmt.Sprintf(" %q%s", c.Areas[k].Name, list)
			}
		}
		require.Equal(t, wanted[from.Name], got, from.Name)
		if strings.HasSuffix(from.Name, " from") && got == "" {
			empty++
		}
	}
	require.Greater(t, pairs, 6000)
	require.Greater(t, empty, 50, "functions of which the release makes nothing")
	require.Greater(t, len(wanted), 30)

	kept, report, err := feagi.Import("morphologies.json", text, feagi.Options{Unmade: true})
	require.NoError(t, err)
	require.Greater(t, build(t, kept).Synapses(), uint64(pairs+1000), "those of the earlier programs")
	for i := range report.Areas {
		for _, n := range report.Areas[i].Lines {
			require.NotEqual(t, "no synapses", n.To)
		}
	}
}

// A morphology of which FEAGI's release makes nothing is reported, in the area that has it.
func TestUnsupportedMorphologyIsReported(t *testing.T) {
	text := `{"version": "3.0", "blueprint": {
 "c__one": {"cortical_mapping_dst": {"c__two": [["expander_x", [1, 1, 1], 1, false], ["own", [1, 1, 1], 1, false], ["tile", [1, 1, 1], 1, false]]}},
 "c__two": {"block_boundaries": [%d, 1, 1], "per_voxel_neuron_cnt": 2}},
 "neuron_morphologies": {"own": {"type": "composite", "parameters": {"src_seed": [1, 1, 1], "mapper_morphology": "projector"}}}}`
	_, made, r, err := feagi.Translate("a.json", fmt.Appendf(nil, text, 3), feagi.Options{})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, r.Write(&b))
	require.Contains(t, b.String(), "converted: cortical_mapping_dst to c__two, rule 1: expander_x becomes no synapses, FEAGI's release makes none by this morphology; --keep-unmade")
	require.Contains(t, b.String(), "rule 2: own becomes no synapses, ")
	require.Contains(t, b.String(), "rule 3: tile becomes rule: vectors, FEAGI's release repeats")
	require.Contains(t, string(made), "last_of_voxel: true\n")
	require.NotContains(t, string(made), "expander")
	_, _, err = feagi.Import("a.json", fmt.Appendf(nil, text, 1<<30), feagi.Options{})
	require.ErrorContains(t, err, "tile repeats c__one 1073741824 times over c__two, which takes more than 4 MiB written out")
	_, made, _, err = feagi.Translate("a.json", fmt.Appendf(nil, text, 3), feagi.Options{Dialect: feagi.Rust})
	require.NoError(t, err)
	require.Contains(t, string(made), "rule: expander")
	require.NotContains(t, string(made), "last_of_voxel")
}

// An area whose potentials drive its current gets a psp_max, of the release: its threshold limit, or one far above its thresholds.
// Its synapses learn as others do.
func TestDrivenCurrent(t *testing.T) {
	text := `{"version": "3.0", "blueprint": {
 "c__one": {"mp_driven_psp": true, "postsynaptic_current": 5, "psp_uniform_distribution": true, "firing_threshold_limit": 7.5,
   "cortical_mapping_dst": {"c__two": [["projector", [1, 1, 1], 2, %s]]}},
 "c__two": {"mp_driven_psp": true, "block_boundaries": [3, 2, 1], "firing_threshold": 100, "firing_threshold_increment_x": 50},
 "cthree": {"mp_driven_psp": false}, "c_four": {"mp_driven_psp": true}}}`
	g, made, r, err := feagi.Translate("a.json", fmt.Appendf(nil, text, "false"), feagi.Options{Strict: true})
	require.NoError(t, err)
	for i, want := range []float64{7.5, 3200, 0, 1024} {
		require.Equal(t, want, g.Areas[i].PSPMax)
		require.EqualValues(t, 1, g.Areas[i].Factor())
	}
	require.Equal(t, []bool{false, true, true, true}, []bool{g.Areas[0].DividePSP, g.Areas[1].DividePSP, g.Areas[2].DividePSP, g.Areas[3].DividePSP})
	require.NotContains(t, string(made), "psp: 5")
	var b strings.Builder
	require.NoError(t, r.Write(&b))
	require.Contains(t, b.String(), "mp_driven_psp: true becomes psp_max 7.5, the psp of a spike is the potential at which it was fired, one beyond psp_max ends the run: no neuron fires above its threshold limit")
	require.Contains(t, b.String(), "mp_driven_psp: true becomes psp_max 3200,")
	require.Contains(t, b.String(), "no effect: postsynaptic_current: 5, the potential takes its place")

	learning := fmt.Appendf(nil, text, "true, 1, 1, 1, 1, 3")
	g, _, err = feagi.Import("a.json", learning, feagi.Options{Strict: true, Unlearnable: true, Window: 3})
	require.NoError(t, err)
	require.Equal(t, "feagi", g.Projections[0].Learning.Rule.Name)

	_, r, err = feagi.Import("a.json", fmt.Appendf(nil, text, "false"), feagi.Options{Dialect: feagi.Rust})
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(r.Areas[0].Lines, func(n feagi.Note) bool { return n.Key == "mp_driven_psp" && n.Fate == feagi.NotHonoured }))
}

// What FEAGI's released server has learnt, weight by weight and spike by spike: windows of 1 to 5 bursts, whole and broken steps,
// weights below 0, pairs of areas with several rules, delays, and currents that are divided, below 0 or less than 1.
func TestReleasedLearning(t *testing.T) { holdsLearning(t, "learning", 10_000, 500) }

// Likewise where potentials drive what synapses deliver that learn, in shares too, and potentials below 0 deliver nothing.
func TestReleasedDrivenLearning(t *testing.T) { holdsLearning(t, "driven-learning", 4000, 500) }

func holdsLearning(t *testing.T, name string, leastWeights, leastSpikes int) {
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	g, _, err := feagi.Import(name+".json", text, feagi.Options{})
	require.NoError(t, err)
	ends, bursts := readWeights(t, filepath.Join("testdata", name+".weights"))
	forced := map[string]int{} // areas; no input of another makes them fire, or keeps them from it
	for i := range g.Areas {
		if a := &g.Areas[i]; strings.HasPrefix(a.Name, "forced") {
			a.Params["threshold"], a.Params["accumulate"], a.Params["rectify"], forced[a.Name] = 5e3, 0, 0, i
		}
		if a := &g.Areas[i]; a.PSPMax > 0 { // the weights need room: no potential passes 16, and shares are whole quanta at this scale
			a.PSPMax, g.Scale = 16, 512
		}
	}
	c := build(t, g)
	// FEAGI's k-th synapse between two areas is that of the k-th mapping between them.
	projection, nth, learns := make([]int, len(ends)), map[string]int{}, 0
	for k, pair := range ends {
		projection[k] = -1
		at := 0
		for i := range c.Plastic {
			p := &g.Projections[c.Plastic[i].Projection]
			if fmt.Sprintf("%q>%q", g.Areas[p.From].Name, g.Areas[p.To].Name) != pair {
				continue
			}
			if at++; at == nth[pair]+1 {
				projection[k] = i
			}
		}
		nth[pair]++
		if projection[k] >= 0 {
			learns++
		}
	}
	require.Len(t, c.Plastic, learns)
	for _, side := range []string{"cpu", "reference"} {
		back, err := backend.Open(side, c, backend.Options{})
		require.NoError(t, err)
		defer back.Close()
		fired := &names{c: c}
		e := engine.New(c, back, engine.Options{Recorders: []engine.Recorder{fired}, Sources: []engine.Source{&pokes{c, bursts, forced}}})
		weights, compared, spikes := [][]float32{}, 0, 0 // after so many bursts
		var s engine.State
		for range len(bursts) + 8 {
			require.NoError(t, e.Run(context.Background(), 1))
			require.NoError(t, e.State(&s))
			var now []float32
			for i := range s.Plastic {
				now = append(now, s.Plastic[i].Weight[0])
			}
			weights = append(weights, now)
		}
		for b, want := range bursts {
			got := fired.of[b]
			slices.Sort(got)
			require.Equal(t, want.fired, got, "%s, burst %d", side, b+1)
			spikes += len(got)
			for k, w := range want.weights {
				if projection[k] < 0 {
					continue // it does not learn
				}
				p := &c.Plastic[projection[k]]
				// A synapse of delay d sees the spikes of burst b, counted from 0, in burst b+d.
				ours := weights[b+int(p.Longest)][projection[k]] / float32(g.Areas[g.Projections[p.Projection].From].Factor())
				require.Equal(t, w, ours, "%s, burst %d, synapse %d of %s", side, b+1, k, ends[k])
				compared++
			}
		}
		require.Greater(t, compared, leastWeights)
		require.Greater(t, spikes, leastSpikes)
	}
}

// pokes makes areas fire when FEAGI made them fire.
type pokes struct {
	c      *connectome.Connectome
	bursts []learnt
	forced map[string]int
}

func (p *pokes) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	if t < uint64(len(p.bursts)) {
		for _, name := range p.bursts[t].fired {
			if i, is := p.forced[name]; is {
				in = append(in, engine.Stimulus{Port: p.c.Areas[i].Ports.First, Amount: 10_000 * p.c.Scale})
			}
		}
	}
	return in, nil
}

// names are the areas that fired in each burst.
type names struct {
	c  *connectome.Connectome
	of [][]string
}

func (n *names) Record(b *engine.Burst) error {
	fired := []string{}
	for _, id := range b.Fired {
		fired = append(fired, n.c.Areas[n.c.AreaOf(id)].Name)
	}
	n.of = append(n.of, fired)
	return nil
}

// learnt is a burst of FEAGI.
type learnt struct {
	fired   []string
	weights []float32 // none where they were not read
}

func readWeights(t *testing.T, path string) (ends []string, bursts []learnt) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		if i == 0 {
			ends = strings.Split(strings.TrimSuffix(strings.ReplaceAll(line, "\" \"", "\"\n\""), " "), "\n")
			continue
		}
		who, numbers, found := strings.Cut(line, ":")
		require.True(t, found)
		b := learnt{fired: []string{}}
		for name := range strings.SplitSeq(who, "\"") {
			if strings.TrimSpace(name) != "" {
				b.fired = append(b.fired, name)
			}
		}
		slices.Sort(b.fired)
		for _, word := range strings.Fields(numbers) {
			if word != "?" {
				w, err := strconv.ParseFloat(word, 32)
				require.NoError(t, err)
				b.weights = append(b.weights, float32(w)+0)
			}
		}
		bursts = append(bursts, b)
	}
	return ends, bursts
}
