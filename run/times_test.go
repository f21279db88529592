package run_test

import (
	"testing"
	"time"

	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestTimes: a run tells each phase as it begins, and all phases together take no longer than it does.
func TestTimes(t *testing.T) {
	var phases []string
	dir, start := t.TempDir(), time.Now()
	r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cpu", Bursts: 50, Folder: dir, Tell: func(e run.Event) {
		if b, is := e.(run.Began); is {
			phases = append(phases, b.Phase)
		}
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"planning", "building", "opening"}, phases)
	require.NoError(t, r.Advance(t.Context(), 50))
	require.NoError(t, r.Close())
	require.Equal(t, "writing", phases[len(phases)-1])
	took, x := time.Since(start), r.Times()
	for name, d := range map[string]time.Duration{"plan": x.Plan, "build": x.Build, "open": x.Open, "run": x.Run, "write": x.Write} {
		require.Positive(t, d, name)
	}
	require.Zero(t, x.Upload, "there is no GPU")
	require.LessOrEqual(t, x.Plan+x.Build+x.Upload+x.Open+x.Run+x.Write, took)
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.Equal(t, x.Plan.Seconds(), f.Manifest.Timings.Plan)
	require.Equal(t, x.Build.Seconds(), f.Manifest.Timings.Build)
	require.Positive(t, f.Manifest.Timings.Write)
	require.LessOrEqual(t, f.Manifest.Timings.Write, x.Write.Seconds())
}
