package run_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"burst/engine"
	"burst/genome"
	"burst/internal/exact"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// schooled is a network that learns in two projections, of which one has several synapses of the same source, target and delay.
const schooled = `burst: v1
name: schooled
seed: 31
areas:
  - {name: eye, neurons: 60, model: poisson, params: {rate: 40 Hz}}
  - {name: mind, neurons: 40, threshold: 2, leak: 0.2}
projections:
  - {from: eye, to: mind, rule: fixed_indegree, indegree: 25, weight: "uniform(0.1, 0.6)", delay: "uniform(1, 3)", plasticity: {rule: stdp, w_max: 0.8, lambda: 0.1}}
  - {from: mind, to: mind, rule: fixed_outdegree, outdegree: 90, weight: "uniform(0, 0.4)", plasticity: {rule: stdp, w_max: 0.5, lambda: 0.2, mu_plus: 0, mu_minus: 0}}
record:
  weights: {every: 16, synapses: [{from: eye, to: mind, share: 0.1}, {from: mind, to: mind, sources: [3], targets: [0, 1, 2, 3]}]}
`

// recordings are the bytes of the tables of weights.
func recordings(t *testing.T, dir string) [2]string {
	t.Helper()
	var files [2]string
	for i, name := range []string{"weights.parquet", "histograms.parquet"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		files[i] = string(b)
	}
	return files
}

// wholeRun runs 200 bursts.
func wholeRun(t *testing.T, g *genome.Genome, o run.Options) string {
	t.Helper()
	o.Bursts, o.Folder = 200, filepath.Join(t.TempDir(), "run")
	r, err := run.New(t.Context(), g, o)
	require.NoError(t, err)
	require.NoError(t, r.Advance(t.Context(), r.End()))
	require.NoError(t, r.Close())
	return o.Folder
}

// TestRecordedWeights: what is recorded are the weights of the state as those bursts begin, with the mean and the deviation of all.
func TestRecordedWeights(t *testing.T) {
	r, err := run.New(t.Context(), network(t, schooled), run.Options{Backend: "reference", Bursts: 200})
	require.NoError(t, err)
	states := map[uint64]*engine.State{}
	for burst := uint64(0); burst <= 208; burst += 16 {
		burst := min(burst, 200)
		require.NoError(t, r.Advance(t.Context(), burst))
		states[burst] = new(engine.State)
		require.NoError(t, r.Engine().State(states[burst]))
	}
	c := r.Connectome
	require.NoError(t, r.Close())
	dir := wholeRun(t, network(t, schooled), run.Options{Backend: "reference"})
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.NoError(t, f.CheckAll())
	require.Equal(t, []string{"spikes", "weights", "histograms"}, f.Tables())
	require.Equal(t, []manifest.Learns{{Projection: 0, From: "eye", To: "mind", Rule: "stdp", Synapses: 1000, High: 0.8},
		{Projection: 1, From: "mind", To: "mind", Rule: "stdp", Synapses: 3600, High: 0.5}}, f.Manifest.Learning[:])

	rows, seen, moved := 0, map[uint64]int{}, false
	at := map[uint64]map[uint64]bool{} // places of each burst and projection
	for chunk, err := range f.Weights() {
		require.NoError(t, err)
		for i, burst := range chunk.Burst {
			s := states[burst]
			require.NotNil(t, s, burst)
			p := &c.Plastic[chunk.Projection[i]]
			key := burst<<8 | uint64(chunk.Projection[i])
			if at[key] == nil {
				at[key] = map[uint64]bool{}
			}
			found := false
			p.EachPlace(func(k, place uint64) {
				if found || at[key][place] || c.NeuronOf(p.Target[k]) != chunk.Target[i] || p.DelayOf(k) != chunk.Delay[i] || s.Plastic[chunk.Projection[i]].Weight[place] != chunk.Weight[i] {
					return
				}
				if _, _, source, _ := p.SynapseAt(place); source == chunk.Source[i] {
					found, at[key][place] = true, true
					moved = moved || chunk.Weight[i] != p.Initial(k, c.Scale)
				}
			})
			require.True(t, found, "burst %d, row %d", burst, i)
			seen[burst]++
			rows++
		}
	}
	require.Len(t, seen, 14, "bursts 0, 16 … 192 and 200")
	require.Equal(t, 14*seen[0], rows)
	require.Greater(t, seen[0], 60)
	require.True(t, moved)

	samples := 0
	for chunk, err := range f.Histograms() {
		require.NoError(t, err)
		require.Zero(t, len(chunk.Burst)%50)
		for from := 0; from < len(chunk.Burst); from += 50 {
			weights := states[chunk.Burst[from]].Plastic[chunk.Projection[from]].Weight
			var m exact.Moments
			m.Add(weights)
			sum := uint64(0)
			for i := from; i < from+50; i++ {
				require.Equal(t, []any{chunk.Burst[from], m.Mean(), m.SD()}, []any{chunk.Burst[i], chunk.Mean[i], chunk.SD[i]})
				n := uint64(0)
				for _, w := range weights {
					if (float64(w) >= chunk.Low[i] || i == from) && (float64(w) < chunk.High[i] || i == from+49) {
						n++
					}
				}
				require.Equal(t, n, chunk.Synapses[i])
				sum += n
			}
			require.EqualValues(t, len(weights), sum)
			samples++
		}
	}
	require.Equal(t, 28, samples)
}

// TestLastSample: a sample that is due where the run ends is there once.
func TestLastSample(t *testing.T) {
	f, err := runfolder.Open(wholeRun(t, network(t, schooled), run.Options{Backend: "cpu", Record: []string{"weights=eye:mind 1% every 50"}}))
	require.NoError(t, err)
	var bursts []uint64
	rows := 0
	for chunk, err := range f.Weights() {
		require.NoError(t, err)
		rows += len(chunk.Burst)
		bursts = append(bursts, chunk.Burst...)
	}
	bursts = slices.Compact(bursts)
	require.Equal(t, []uint64{0, 50, 100, 150, 200}, bursts)
	require.NotZero(t, rows)
	sample := rows / len(bursts)
	last := 0
	for chunk, err := range f.Weights() {
		require.NoError(t, err)
		for _, burst := range chunk.Burst {
			if burst == 200 {
				last++
			}
		}
	}
	require.Equal(t, sample, last, "as many rows as in each other sample")
}

// TestWeightsEverywhere: backends and threads record the same bytes, and a run that was stopped those of one that nobody stopped,
// wherever it was, also in a burst of a sample.
func TestWeightsEverywhere(t *testing.T) {
	want := recordings(t, wholeRun(t, network(t, schooled), run.Options{Backend: "reference"}))
	for _, threads := range []int{1, 3} {
		require.Equal(t, want, recordings(t, wholeRun(t, network(t, schooled), run.Options{Backend: "cpu", Threads: threads})))
	}
	for _, stop := range []uint64{0, 1, 16, 40, 192, 199} {
		dir := filepath.Join(t.TempDir(), "cut")
		r, err := run.New(t.Context(), network(t, schooled), run.Options{Backend: "cpu", Bursts: 200, Folder: dir})
		require.NoError(t, err)
		require.NoError(t, r.Advance(t.Context(), stop))
		require.NoError(t, r.Close())
		r, err = run.Resume(t.Context(), dir, run.Options{})
		require.NoError(t, err)
		require.NoError(t, r.Advance(t.Context(), r.End()))
		require.NoError(t, r.Close())
		require.Equal(t, want, recordings(t, dir), "stopped at burst %d", stop)
	}
	dir := filepath.Join(t.TempDir(), "killed")
	r, err := run.New(t.Context(), network(t, schooled), run.Options{Backend: "cpu", Bursts: 200, Folder: dir, Checkpoints: "48"})
	require.NoError(t, err)
	require.NoError(t, r.Advance(t.Context(), 130))
	require.NoError(t, r.Save())
	copied := filepath.Join(t.TempDir(), "copied")
	require.NoError(t, r.Advance(t.Context(), 150))
	for err = os.CopyFS(copied, os.DirFS(dir)); errors.Is(err, fs.ErrNotExist); err = os.CopyFS(copied, os.DirFS(dir)) {
		require.NoError(t, os.RemoveAll(copied)) // a checkpoint was renamed meanwhile
	}
	require.NoError(t, err)
	require.NoError(t, r.Close())
	r, err = run.Resume(t.Context(), copied, run.Options{})
	require.NoError(t, err)
	require.NoError(t, r.Advance(t.Context(), r.End()))
	require.NoError(t, r.Close())
	require.Equal(t, want, recordings(t, copied))
}
