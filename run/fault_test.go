package run_test

import (
	"errors"
	"path/filepath"
	"testing"

	"burst/engine"
	"burst/internal/cuda/cudatest"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestFaults: after a device's fault a run stops, or goes on once in the same process, as it was told, to the digest, recordings
// and rates of a run without faults. One that is lost to the process needs another one, or the processor.
func TestFaults(t *testing.T) {
	want := whole(t)
	fault := func(lost bool) error { return &engine.DeviceError{Err: errors.New("fell off the bus"), Lost: lost} }
	for _, tc := range []struct {
		name      string
		on        run.Action
		elsewhere bool
		faults    []error
		resumed   []string // the backends of the run's later parts
	}{
		{"stop", run.Stop, false, []error{fault(false)}, nil},
		{"no word is stop", "", false, []error{fault(false)}, nil},
		{"retry", run.Retry, false, []error{fault(false)}, []string{"reference"}},
		{"retry what is lost", run.Retry, false, []error{fault(true)}, nil},
		{"cpu", run.CPU, false, []error{fault(true)}, []string{"cpu"}},
		{"a second fault", run.CPU, false, []error{fault(true), fault(false)}, []string{"cpu"}},
		{"for another process", run.CPU, true, []error{fault(false)}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "faulty")
			var told []run.Event
			var fails []engine.Recorder
			for i, f := range tc.faults {
				fails = append(fails, &at{60 + 40*uint64(i), func() error { return f }})
			}
			r, err := run.New(t.Context(), network(t, lively), run.Options{
				Backend: "reference", Bursts: 200, Folder: dir, Checkpoints: "25", OnFault: tc.on, Elsewhere: tc.elsewhere,
				Recorders: fails, Tell: noted(&told),
			})
			require.NoError(t, err)
			err = r.Advance(t.Context(), 200)
			stops := len(tc.faults) > len(tc.resumed)
			if stops {
				require.ErrorIs(t, err, tc.faults[len(tc.faults)-1])
				require.Equal(t, tc.elsewhere, r.LeavesFault(err))
			} else {
				require.NoError(t, err)
			}
			require.NoError(t, r.Close())
			f, err := runfolder.Open(dir)
			require.NoError(t, err)
			require.Equal(t, uint64(60), f.Manifest.Faults[0].Burst)
			require.Equal(t, string(tc.on), f.Manifest.Faults[0].Action)
			require.Len(t, f.Manifest.Faults, len(tc.faults))
			var resumed []string
			for _, p := range f.Manifest.Resumed {
				resumed = append(resumed, p.Backend)
			}
			require.Equal(t, tc.resumed, resumed)
			require.Len(t, told, 2*len(tc.resumed), "the fault, and where the run goes on: %v", told)
			if !stops {
				require.Equal(t, want, look(t, dir, manifest.Complete))
				return
			}
			require.Equal(t, manifest.Failed, f.Manifest.Status)
			again, err := run.Resume(t.Context(), dir, run.Options{Backend: "cpu"})
			require.NoError(t, err)
			require.NoError(t, again.Advance(t.Context(), 200))
			require.NoError(t, again.Close())
			require.Equal(t, want, look(t, dir, manifest.Complete))
		})
	}
}

// TestFaultBeforeACheckpoint: what has none yet begins anew.
func TestFaultBeforeACheckpoint(t *testing.T) {
	want := whole(t)
	dir := filepath.Join(t.TempDir(), "early")
	fails := &at{9, func() error { return &engine.DeviceError{Err: errors.New("fell off the bus")} }}
	r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "reference", Bursts: 200, Folder: dir, OnFault: run.Retry, Recorders: []engine.Recorder{fails}})
	require.NoError(t, err)
	require.NoError(t, r.Advance(t.Context(), 200))
	require.NoError(t, r.Close())
	require.Equal(t, want, look(t, dir, manifest.Complete))
}

// TestGPUFault: when a GPU, or one of two that share the network, touches an illegal address in the middle of a run, it goes on
// on the processor of the same process.
func TestGPUFault(t *testing.T) {
	want := whole(t)
	for _, devices := range []run.GPUs{{}, {List: []int{0, 1}}} {
		h := cudatest.Host(t)
		h.Control("devices", 2)
		h.Control("fail_launch", 5) // of eight or more
		dir := filepath.Join(t.TempDir(), "gpu")
		r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cuda", GPUs: devices, Bursts: 200, Folder: dir, Checkpoints: "25", OnFault: run.CPU})
		require.NoError(t, err)
		require.Equal(t, "cuda", r.Backend)
		require.NoError(t, r.Advance(t.Context(), 200))
		require.Equal(t, "cpu", r.Backend)
		require.NoError(t, r.Close())
		require.Equal(t, want, look(t, dir, manifest.Complete))
		f, err := runfolder.Open(dir)
		require.NoError(t, err)
		require.Equal(t, "cuda", f.Manifest.Faults[0].Backend)
		require.NotZero(t, f.Manifest.Resumed[0].Burst)
	}
}
