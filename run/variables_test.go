package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/cudatest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// watched has models with one to three state variables and one or two ports, of the genome's own too; every, of times that do not
// divide each other, is of two areas the same.
const watched = `burst: v1
name: watched
seed: 5
timestep: 0.5 ms
models:
  - {name: own, ports: [ampa, gaba], state: {v: 0, w: 1}, update: [v = v*0.9 + ampa + gaba, w = w*0.99 + v], threshold: v > 3, reset: [v = 0]}
areas:
  - {name: noise, neurons: 40, model: poisson, params: {rate: 150 Hz}}
  - {name: old, neurons: 70, threshold: 2, leak: 0.3}
  - {name: psc, neurons: 70, model: lif_psc_exp, params: {rest: -65 mV, reset: -65 mV, threshold: -60 mV}}
  - {name: izhi, neurons: 70, model: izhikevich}
  - {name: mine, neurons: 70, model: own}
projections:
  - {from: noise, to: old, rule: fixed_indegree, indegree: 8, weight: "uniform(0.2, 0.9)", delay: "uniform(1, 4)"}
  - {from: noise, to: psc, rule: fixed_indegree, indegree: 8, weight: "uniform(-100 pA, 400 pA)", delay: 1 ms}
  - {from: noise, to: izhi, rule: fixed_indegree, indegree: 8, weight: "uniform(-3, 9)"}
  - {from: noise, to: mine, rule: fixed_indegree, indegree: 8, weight: "uniform(-0.3, 0.9)"}
  - {from: izhi, to: psc, rule: fixed_indegree, indegree: 4, weight: -80 pA}
record:
  spikes: []
  potentials: [{area: psc, neurons: [1, 2, 64]}]
  variables:
    - {area: psc, names: [in, V, I_in], neurons: [0, 1, 63, 64, 69]}
    - {area: old, names: [input, V], neurons: all, every: 3.5 ms}
    - {area: izhi, names: [u], neurons: [69, 3], every: 5}
    - {area: mine, names: [w, gaba], neurons: [68], every: 7}
`

// watchedBursts is how long it runs.
const watchedBursts = 150

// watchedRows are the rows that a run of it should have, by the reference, whose whole state and FCL is looked at after every burst.
func watchedRows(t *testing.T) (rows runfolder.Chunk, names []string) {
	t.Helper()
	g := network(t, watched)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	b, err := reference.Open(c, engine.Want{FCL: true})
	require.NoError(t, err)
	defer b.Close()
	names = []string{"V", "input", "I_in", "in", "u", "w", "gaba"}
	var s engine.State
	feed := engine.NewFeed(c, nil)
	var out engine.Burst
	for n := range uint64(watchedBursts) {
		in, err := feed.Next(n)
		require.NoError(t, err)
		require.NoError(t, b.Step(in, &out))
		require.NoError(t, b.ReadState(&s))
		add := func(area, neuron, name uint32, x float32) {
			rows.Burst, rows.Neuron, rows.Area = append(rows.Burst, n), append(rows.Neuron, neuron), append(rows.Area, area)
			rows.Variable, rows.Value = append(rows.Variable, name), append(rows.Value, x)
		}
		sum := func(neuron, port uint32) float32 {
			for _, k := range out.Candidates {
				if k.Neuron == neuron && (k.Port-c.Areas[c.AreaOf(neuron)].Ports.First)/70 == port {
					return float32(float64(k.Sum) / float64(c.Scale))
				}
			}
			return 0
		}
		if n%7 == 0 {
			for i := uint32(40); i < 110; i++ {
				add(1, i, 0, s.V[i])
				add(1, i, 1, sum(i, 0))
			}
		}
		for _, i := range []uint32{110, 111, 173, 174, 179} {
			add(2, i, 0, s.V[i]-65)
			add(2, i, 2, s.More[1][i])
			add(2, i, 3, sum(i, 1))
		}
		if n%5 == 0 {
			add(3, 183, 4, s.More[0][183])
			add(3, 249, 4, s.More[0][249])
		}
		if n%7 == 0 {
			add(4, 318, 5, s.More[0][318])
			add(4, 318, 6, sum(318, 1))
		}
	}
	return rows, names
}

// rowsOf are the recorded rows of a folder.
func rowsOf(t *testing.T, dir string) (rows runfolder.Chunk, names []string) {
	t.Helper()
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	for c, err := range f.Variables() {
		require.NoError(t, err)
		rows.Burst, rows.Neuron, rows.Area = append(rows.Burst, c.Burst...), append(rows.Neuron, c.Neuron...), append(rows.Area, c.Area...)
		rows.Variable, rows.Value = append(rows.Variable, c.Variable...), append(rows.Value, c.Value...)
	}
	return rows, f.Manifest.Variables
}

// TestRecordedVariables: state variables and inputs are those of the state and the FCL of the bursts that are asked for, on every
// backend, and in a run that was stopped and went on on another one. The files are the same, byte by byte.
func TestRecordedVariables(t *testing.T) {
	want, names := watchedRows(t)
	moved := map[uint32]map[float32]bool{}
	for i, k := range want.Variable {
		if moved[k] == nil {
			moved[k] = map[float32]bool{}
		}
		moved[k][want.Value[i]] = true
	}
	for k := range names {
		require.Greater(t, len(moved[uint32(k)]), 5, "%s changes", names[k])
	}
	file := ""
	check := func(t *testing.T, dir string) {
		t.Helper()
		rows, found := rowsOf(t, dir)
		require.Equal(t, names, found)
		require.Equal(t, want, rows)
		b, err := os.ReadFile(filepath.Join(dir, "variables.parquet"))
		require.NoError(t, err)
		if file == "" {
			file = string(b)
		}
		require.True(t, file == string(b), "the same file")
	}
	for _, o := range []run.Options{{Backend: "reference"}, {Backend: "cpu", Threads: 1}, {Backend: "cpu", Threads: 3}, {Backend: "cuda"}, {Backend: "cuda", GPUs: run.GPUs{List: []int{0, 1}}}} {
		t.Run(o.Backend, func(t *testing.T) {
			if o.Backend == "cuda" {
				cudatest.Host(t).Control("devices", 2)
			}
			o.Bursts, o.Folder = watchedBursts, filepath.Join(t.TempDir(), "run")
			r, err := run.New(t.Context(), network(t, watched), o)
			require.NoError(t, err)
			if r.Path != nil {
				if len(o.GPUs.List) > 1 {
					require.Equal(t, "single", r.Path.Name)
					require.Contains(t, r.Path.Why, "fire candidate lists are wanted")
				} else {
					require.Equal(t, "run", r.Path.Name, "launches of many bursts list candidates, which inputs come from")
				}
			}
			require.NoError(t, r.Advance(t.Context(), r.End()))
			require.NoError(t, r.Close())
			check(t, o.Folder)
		})
	}
	t.Run("stopped", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "run")
		r, err := run.New(t.Context(), network(t, watched), run.Options{Backend: "reference", Bursts: watchedBursts, Folder: dir})
		require.NoError(t, err)
		require.NoError(t, r.Advance(t.Context(), 57))
		require.NoError(t, r.Close())
		r, err = run.Resume(t.Context(), dir, run.Options{Backend: "cpu"})
		require.NoError(t, err)
		require.NoError(t, r.Advance(t.Context(), r.End()))
		require.NoError(t, r.Close())
		check(t, dir)
	})
}
