package live_test

import (
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
	"burst/live"
	"burst/record/manifest"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// changed are settings of every kind of drive and of a stimulus, one list after the other.
var changed = [][]string{
	{"areas.crowd.drive.poisson.rate=100 Hz", "areas.skin.drive.constant=420 pA"},
	{"areas.crowd.drive={normal: {mean: 0.3, sd: 0.4}}", "stimuli.0.amount=1.5", "stimuli.0.every=3"},
	{"run_seed=7"},
	{"areas.2.drive.constant=0 pA", "areas.eye.drive={constant: 0.4, from: 65}"},
}

// TestSet: after a change of drives and stimuli the bursts are those of a network whose genome has always said so, from the same state;
// and a replay does the same, as a session does that goes on after a stop.
func TestSet(t *testing.T) {
	for _, stops := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "run")
		first := seeded(t)
		s, err := live.New(t.Context(), first, live.Options{Options: run.Options{Backend: "cpu", Threads: 2, Folder: dir}})
		require.NoError(t, err)
		g := first
		for _, settings := range changed {
			require.NoError(t, s.Step(t.Context(), 20))
			require.NoError(t, s.Set(settings...))
			if stops {
				require.NoError(t, s.Suspend())
				s, err = live.Resume(t.Context(), dir, live.Options{})
				require.NoError(t, err)
			}
			g, err = g.With(settings)
			require.NoError(t, err)
			g.Seed = first.Seed
			if !slices.Contains(settings, "run_seed=7") && g.RunSeed != 7 {
				g.RunSeed = first.RunSeed
			}
			state, err := s.State()
			require.NoError(t, err)
			e, c := alone(t, g)
			require.NoError(t, e.Restore(state))
			require.NoError(t, e.Run(t.Context(), 20))
			require.NoError(t, s.Step(t.Context(), 20))
			require.Equal(t, e.Digest(), digest(t, s), "%v", settings)
			made, err := s.Facts().Connectome.Redriven(first, g, 1)
			require.NoError(t, err)
			require.Equal(t, c.Bound, made.Bound, "the proof is that of Build")
		}
		require.NoError(t, s.Close())
		m := ended(t, dir, manifest.Complete)
		for _, backend := range []string{"reference", "cpu"} {
			require.Equal(t, m.Digest, replayed(t, dir, backend, 2))
		}
		if !stops {
			require.Equal(t, []string{"set 20", "set 60", "set 100", "set 140"}, logged(t, dir))
		}
		list, err := filepath.Glob(filepath.Join(dir, "settings", "*.txt"))
		require.NoError(t, err)
		require.Len(t, list, len(changed))
		require.NoError(t, os.WriteFile(list[0], []byte("stimuli.0.amount=9"), 0o600))
		require.ErrorContains(t, replayFails(t, dir), "its name says")
		require.NoError(t, os.Remove(list[0]))
		require.ErrorContains(t, replayFails(t, dir), "which are gone")
	}
}

// seeded is loop with seeds that its text does not name, and neurons that a constant drive moves differently.
func seeded(t testing.TB) *genome.Genome {
	g := network(t, strings.Replace(loop, "neurons: 20, drive", `neurons: 20, params: {C: "uniform(200 pF, 300 pF)"}, drive`, 1))
	g.Seed, g.RunSeed = 77, 78
	return g
}

// alone is a network by itself, on the plainest backend and at the scale of loop.
func alone(t testing.TB, g *genome.Genome) (*engine.Engine, *connectome.Connectome) {
	t.Helper()
	own := *g
	first, err := connectome.Build(seeded(t), connectome.Options{})
	require.NoError(t, err)
	own.Scale = first.Scale
	c, err := connectome.Build(&own, connectome.Options{})
	require.NoError(t, err)
	b, err := backend.Open("reference", c, backend.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	return engine.New(c, b, engine.Options{}), c
}

// replayFails is the error of a replay.
func replayFails(t testing.TB, dir string) error {
	t.Helper()
	l := live.NewLog(dir)
	defer l.Close()
	r, err := run.New(t.Context(), seeded(t), run.Options{Backend: "reference", Bursts: 160, Sources: []engine.Source{l}})
	require.NoError(t, err)
	defer r.Close()
	return l.Advance(t.Context(), r, 160)
}

// TestSetRefuses by name what is no drive or stimulus, and what could overflow with the inputs that are bound; nothing changes then.
func TestSetRefuses(t *testing.T) {
	s := session(t, run.Options{})
	bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 2})
	for text, want := range map[string]string{
		"areas.eye.threshold=2": "areas.eye.threshold=2: only drives, stimuli and the run seed can change", "projections.0.weight=1": "projections.0.weight",
		"timestep=2 ms": "timestep", "areas.crowd.drive.poisson.rate=fast": "rate", "areas.crowd.drive.poison.rate=3": "poison", "areas.crowds.drive.constant=3": "crowd",
		"areas.crowd.driven=3": "driven", "stimuli=[]": "stimuli", "stimuli.2={area: leg, every: 3, neurons: [0], amount: 1}": "3 stimuli and drives of columns, want the 2",
		"areas.crowd.drive.poisson.weight=1e30": "quanta", "areas.leg.drive={constant: 1e-9}": "leg", "run_seed=-3": "run_seed", "seed=3": "seed",
	} {
		require.ErrorContains(t, s.Set(text), want, text)
	}
	require.ErrorContains(t, s.Set(), "no settings")
	most := float64(1<<31) / float64(s.Facts().Connectome.Scale)
	require.ErrorContains(t, s.Set("areas.eye.drive={constant: "+strconv.FormatFloat(most-1, 'f', -1, 64)+"}"), "beside the inputs that are bound")
	require.NoError(t, s.Step(t.Context(), 70))
	require.Equal(t, plain(t, 70, nil), digest(t, s))
}
