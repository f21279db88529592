package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"burst/checkpoint"
	"burst/engine"
	"burst/genome"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// stateOf is the state of a run.
func stateOf(t *testing.T, r *run.Run) *engine.State {
	t.Helper()
	s := new(engine.State)
	require.NoError(t, r.Engine().State(s))
	return s
}

// TestWeightsFrom: a run begins with the weights that another one has learnt, and all else as its genome says; by other rules, and
// frozen it fires as a network does that has these weights for good.
func TestWeightsFrom(t *testing.T) {
	g := network(t, schooled)
	first := wholeRun(t, g, run.Options{Backend: "cpu"})
	learnt, err := run.OpenLearnt(checkpoint.OS{}, first)
	require.NoError(t, err)
	require.EqualValues(t, 200, learnt.Saved.State.Number, "a run that learns ends with a checkpoint")
	frozen, err := g.Frozen()
	require.NoError(t, err)
	other := network(t, strings.Replace(schooled, "w_max: 0.8, lambda: 0.1}", "w_max: 0.9, lambda: 0.001}", 1))
	for name, g := range map[string]*genome.Genome{"the same": g, "frozen": frozen, "other rules": other} {
		for _, backend := range []string{"reference", "cpu"} {
			dir := filepath.Join(t.TempDir(), "second")
			r, err := run.New(t.Context(), g, run.Options{Backend: backend, Bursts: 60, Folder: dir, Weights: learnt})
			require.NoError(t, err, name)
			begin := stateOf(t, r)
			want := engine.NewState(r.Connectome)
			for i := range want.Plastic {
				want.Plastic[i].Weight = learnt.Saved.State.Plastic[i].Weight
			}
			require.Nil(t, engine.CompareStates(want, begin))
			require.NoError(t, r.Advance(t.Context(), 60))
			end := stateOf(t, r)
			require.Equal(t, name == "frozen", begin.WeightDigest() == end.WeightDigest())
			require.NoError(t, r.Close())

			f, err := runfolder.Open(dir)
			require.NoError(t, err)
			require.NoError(t, f.CheckAll())
			require.Equal(t, learnt.Learning, f.Manifest.Weights.Learning, "the manifest shows by what the weights were learnt")
			require.Equal(t, f.Manifest.Wiring, f.Manifest.Weights.Wiring)
			require.Equal(t, name == "the same", f.Manifest.Connectome == f.Manifest.Weights.Connectome)
			again, err := run.LearntBefore(checkpoint.OS{}, f)
			require.NoError(t, err)
			r, err = run.New(t.Context(), g, run.Options{Backend: backend, Bursts: 60, Weights: again})
			require.NoError(t, err)
			require.NoError(t, r.Advance(t.Context(), 60))
			require.Nil(t, engine.CompareStates(end, stateOf(t, r)))
			require.NoError(t, r.Close())
		}
	}
}

// TestWeightsResumed: a run that began with such weights goes on as it was, also where it has no checkpoint of its own yet.
func TestWeightsResumed(t *testing.T) {
	learnt, err := run.OpenLearnt(checkpoint.OS{}, wholeRun(t, network(t, schooled), run.Options{Backend: "cpu"}))
	require.NoError(t, err)
	want := recordings(t, wholeRun(t, network(t, schooled), run.Options{Backend: "cpu", Weights: learnt}))
	for _, stop := range []uint64{20, 130} {
		dir, copied := filepath.Join(t.TempDir(), "cut"), filepath.Join(t.TempDir(), "copied")
		r, err := run.New(t.Context(), network(t, schooled), run.Options{Backend: "cpu", Bursts: 200, Folder: dir, Weights: learnt, Checkpoints: "100"})
		require.NoError(t, err)
		require.NoError(t, r.Advance(t.Context(), stop))
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir))) // as if it were killed here
		require.NoError(t, r.Close())
		for _, dir := range []string{dir, copied} {
			r, err = run.Resume(t.Context(), dir, run.Options{})
			require.NoError(t, err)
			require.NoError(t, r.Advance(t.Context(), r.End()))
			require.NoError(t, r.Close())
			require.Equal(t, want, recordings(t, dir), "stopped at burst %d", stop)
		}
	}
}

// TestWeightsThatDoNotFit: each reason is told, before a burst is run.
func TestWeightsThatDoNotFit(t *testing.T) {
	dir := wholeRun(t, network(t, schooled), run.Options{Backend: "cpu"})
	learnt, err := run.OpenLearnt(checkpoint.OS{}, dir)
	require.NoError(t, err)
	for _, c := range []struct{ old, other, want string }{
		{"seed: 31", "seed: 32", `is of the network "schooled" with the wiring `},
		{"indegree: 25", "indegree: 24", "want the same genome and seed but for plasticity"},
		{", plasticity: {rule: stdp, w_max: 0.8, lambda: 0.1}", "", "has weights of projections[0] (eye to mind), which is not plastic here; want its plasticity, or plasticity: {rule: off, bounds: [0, 0.8]}"},
		{"w_max: 0.8", "w_max: 0.61", "of projections[0] (eye to mind), whose bounds are 0 and 0.61 here; want bounds such as [0, 0.8]"},
	} {
		text := strings.Replace(schooled, c.old, c.other, 1)
		require.NotEqual(t, schooled, text)
		text = text[:strings.Index(text, "record:")]
		out := filepath.Join(t.TempDir(), "none")
		_, err := run.New(t.Context(), network(t, text), run.Options{Backend: "cpu", Bursts: 60, Folder: out, Weights: learnt})
		var e *run.LearntError
		require.ErrorAs(t, err, &e, c.other)
		require.ErrorContains(t, err, c.want)
		require.NoDirExists(t, out)
	}
	_, err = run.New(t.Context(), network(t, schooled), run.Options{Weights: learnt, From: &run.Start{Path: learnt.Path, Saved: learnt.Saved}})
	require.ErrorContains(t, err, "both From and Weights")

	still := wholeRun(t, network(t, lively), run.Options{Backend: "cpu", Checkpoints: "100"})
	_, err = run.OpenLearnt(checkpoint.OS{}, still)
	require.ErrorContains(t, err, "is of a network that does not learn")
	require.NoError(t, os.RemoveAll(filepath.Join(still, run.CheckpointFolder)))
	_, err = run.OpenLearnt(checkpoint.OS{}, still)
	require.ErrorContains(t, err, "has no checkpoint; runs that learn end with one")
	loose := filepath.Join(t.TempDir(), "a", "x.checkpoint")
	require.NoError(t, os.MkdirAll(filepath.Dir(loose), 0o700))
	b, err := os.ReadFile(learnt.Path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(loose, b, 0o600))
	_, err = run.OpenLearnt(checkpoint.OS{}, loose)
	require.ErrorContains(t, err, "is no checkpoint in the folder of its run")
	foreign := filepath.Join(still, "checkpoints", "x.checkpoint")
	require.NoError(t, os.MkdirAll(filepath.Dir(foreign), 0o700))
	require.NoError(t, os.WriteFile(foreign, b, 0o600))
	var d *checkpoint.DamagedError
	_, err = run.OpenLearnt(checkpoint.OS{}, foreign)
	require.ErrorAs(t, err, &d)
	_, err = run.OpenLearnt(checkpoint.OS{}, filepath.Join(t.TempDir(), "gone"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
