package run_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"burst/checkpoint"
	"burst/engine"
	"burst/genome"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// lively is a network with delays and draws that fires in every burst.
const lively = `burst: v1
name: lively
seed: 1077
areas:
  - {name: few, neurons: 31, threshold: 0.7, excitability: 0.83, drive: {poisson: {rate: 200 Hz, weight: 1}}}
  - {name: crowd, neurons: 301, threshold: 1.5, refractory: 1, leak: 0.13, drive: {poisson: {rate: 500 Hz, weight: 0.9}}}
projections:
  - {from: few, to: crowd, rule: fixed_outdegree, outdegree: 13, weight: 0.3, delay: "uniform(1, 9)"}
`

// network parses a genome.
func network(t *testing.T, text string) *genome.Genome {
	t.Helper()
	g, err := genome.Parse("net.yaml", []byte(text), nil)
	require.NoError(t, err)
	return g
}

// ended is how a run ended: its digest, its spikes as they are recorded, and rates.csv.
type ended struct {
	digest, rates string
	spikes        [][2]uint64 // burst and neuron
}

// look reads a folder, which must be of a run in such a state.
func look(t *testing.T, dir, status string) ended {
	t.Helper()
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.Equal(t, status, f.Manifest.Status)
	e := ended{digest: f.Manifest.Digest}
	for rows, err := range f.Spikes() {
		require.NoError(t, err)
		for i := range rows.Burst {
			e.spikes = append(e.spikes, [2]uint64{rows.Burst[i], uint64(rows.Neuron[i])})
		}
	}
	rates, err := os.ReadFile(filepath.Join(dir, "rates.csv"))
	require.NoError(t, err)
	e.rates = string(rates)
	return e
}

// whole is how 200 bursts of lively end when nobody stops them.
func whole(t *testing.T) ended {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "whole")
	r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "reference", Bursts: 200, Folder: dir})
	require.NoError(t, err)
	require.NoError(t, r.Advance(t.Context(), r.End()))
	require.NoError(t, r.Close())
	e := look(t, dir, manifest.Complete)
	require.Greater(t, len(e.spikes), 1000)
	return e
}

// TestSavedAndResumed: a run that is stopped, in good order or without a word, goes on elsewhere to the digest, recordings and
// rates of one that nobody stopped, however its bursts are cut.
func TestSavedAndResumed(t *testing.T) {
	want := whole(t)
	for _, tc := range []struct {
		name, checkpoints, status string
		stop                      func(r *run.Run) error
		saved                     uint64
	}{
		{"closed", "", manifest.Interrupted, (*run.Run).Close, 77},
		{"saved, then killed", "", manifest.Running, (*run.Run).Save, 77},
		{"killed after a checkpoint was due", "25", manifest.Running, nil, 75},
		{"killed before any", "", manifest.Running, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cut")
			r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cpu", Threads: 1, Bursts: 200, Folder: dir, Checkpoints: tc.checkpoints})
			require.NoError(t, err)
			require.NoDirExists(t, dir, "nothing is written before the first burst")
			for _, to := range []uint64{30, 31, 77} {
				require.NoError(t, r.Advance(t.Context(), to))
				require.Equal(t, to, r.Number())
			}
			if tc.stop != nil {
				require.NoError(t, tc.stop(r))
			}
			path := filepath.Join(run.CheckpointFolder, checkpoint.Name(tc.saved))
			if tc.saved > 0 {
				require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, path)); return err == nil }, time.Minute, time.Millisecond)
			}
			left := filepath.Join(t.TempDir(), "left")
			require.NoError(t, os.CopyFS(left, os.DirFS(dir)), "as a killed process leaves it")
			require.NoError(t, r.Close())
			f, err := runfolder.Open(left)
			require.NoError(t, err)
			require.Equal(t, tc.status, f.Manifest.Status)
			var told []run.Event
			again, err := run.Resume(t.Context(), left, run.Options{Backend: "reference", Tell: noted(&told)})
			require.NoError(t, err)
			require.Equal(t, [3]uint64{tc.saved, tc.saved, 200}, [3]uint64{again.Number(), again.Began, again.End()})
			require.NoError(t, again.Advance(t.Context(), 200))
			require.NoError(t, again.Close())
			require.Equal(t, want, look(t, left, manifest.Complete))
			event := run.Event(run.GoesOn{Burst: tc.saved, Path: filepath.Join(left, path)})
			if tc.saved == 0 {
				event = run.NoCheckpoint{}
			}
			require.Equal(t, []run.Event{event}, told)
			_, err = run.Resume(t.Context(), left, run.Options{})
			require.Equal(t, run.ErrComplete, err)
			require.NoFileExists(t, filepath.Join(left, "lock"))
		})
	}
}

// noted keeps the events, but for those of building.
func noted(into *[]run.Event) func(run.Event) {
	return func(e run.Event) {
		switch e.(type) {
		case run.Building, run.Began:
		default:
			*into = append(*into, e)
		}
	}
}

// at is a Recorder that does something after a burst, once.
type at struct {
	burst uint64
	do    func() error
}

func (a *at) Record(b *engine.Burst) error {
	if b.Number != a.burst || a.do == nil {
		return nil
	}
	do := a.do
	a.do = nil
	return do()
}

// TestStopsBetweenBursts: the end of a context ends Advance after the bursts in progress, and a later call goes on.
func TestStopsBetweenBursts(t *testing.T) {
	want := whole(t)
	dir := filepath.Join(t.TempDir(), "stopped")
	ctx, cancel := context.WithCancel(t.Context())
	stop := &at{40, func() error { cancel(); return nil }}
	r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cpu", Bursts: 200, Folder: dir, Recorders: []engine.Recorder{stop}})
	require.NoError(t, err)
	require.ErrorIs(t, r.Advance(ctx, 200), context.Canceled)
	require.GreaterOrEqual(t, r.Number(), uint64(41))
	require.Less(t, r.Number(), uint64(200))
	require.NoError(t, r.Advance(t.Context(), 200))
	require.NoError(t, r.Close())
	require.Equal(t, want, look(t, dir, manifest.Complete))
	require.ErrorContains(t, r.Advance(t.Context(), 201), "Advance after Close")
	require.ErrorContains(t, r.Save(), "Save after Close")
}

// pulse is a source that reaches the first neuron of the crowd in one burst, and knows it.
type pulse uint64

func (p pulse) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	if t == uint64(p) {
		in = append(in, engine.Stimulus{Port: 31, Amount: 1 << 20})
	}
	return in, nil
}

func (p pulse) QuietUntil(t uint64) uint64 {
	if t <= uint64(p) {
		return uint64(p)
	}
	return math.MaxUint64
}

// count is a Recorder of spikes.
type count struct {
	spikes uint64
	next   uint64
	after  map[uint64][]uint32 // who fired in each burst
}

func (c *count) Record(b *engine.Burst) error {
	if b.Number != c.next {
		return errors.New("a burst is missing, or comes twice")
	}
	c.next++
	c.spikes += uint64(len(b.Fired))
	c.after[b.Number] = slices.Clone(b.Fired)
	return nil
}

// TestWithoutAFolder: a run by itself writes nothing, gives its bursts to recorders, and takes what sources give.
func TestWithoutAFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	fired := func(sources ...engine.Source) *count {
		c := &count{after: map[uint64][]uint32{}}
		r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cpu", Recorders: []engine.Recorder{c}, Sources: sources, Record: []string{"fcl=all"}})
		require.NoError(t, err)
		require.False(t, r.FCL, "there is nowhere to record it")
		require.NoError(t, r.Engine().Fits([]engine.Stimulus{{Port: 31, Amount: 1 << 20}}))
		var room *engine.RoomError
		require.ErrorAs(t, r.Engine().Fits([]engine.Stimulus{{Port: 31, Amount: math.MaxInt32}}), &room)
		var state engine.State
		r.Engine().Between(func() error { return r.Engine().State(&state) })
		require.NoError(t, r.Advance(t.Context(), 60))
		require.Zero(t, state.Number)
		require.Equal(t, c.spikes, r.Activity().Total())
		require.ErrorContains(t, r.Save(), "needs a run with a folder")
		require.NoError(t, r.Close())
		return c
	}
	plain, at := fired(), uint64(10)
	for slices.Contains(plain.after[at-1], 31) || slices.Contains(plain.after[at], 31) {
		at++ // to when neuron 31 is neither refractory nor about to fire
	}
	given := fired(pulse(at))
	for b := range at {
		require.Equal(t, plain.after[b], given.after[b], "burst %d", b)
	}
	require.Contains(t, given.after[at], uint32(31))
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestNumberedFolders: runs that name no folder get one each, and the manifest tells what they are.
func TestNumberedFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, want := range []string{"runs/lively-1", "runs/lively-2"} {
		r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cpu", Threads: 3, Runs: "runs", Rate: "9000Hz", Record: []string{"spikes=few"}, Checkpoints: "4"})
		require.NoError(t, err)
		require.NoError(t, r.Advance(t.Context(), 6))
		require.NoError(t, r.Close())
		require.Equal(t, filepath.FromSlash(want), r.Folder)
		f, err := runfolder.Open(r.Folder)
		require.NoError(t, err)
		m := &f.Manifest
		require.Equal(t, manifest.Complete, m.Status, "no end was planned")
		require.Equal(t, manifest.Settings{Record: []string{"spikes=few"}, CheckpointEvery: "4", RealTime: "9000Hz"}, m.Options)
		require.Equal(t, []any{uint64(6), uint64(0), "cpu", 3, run.Version, "lively"}, []any{m.Bursts, m.Planned, m.Backend, m.Threads, m.Burst, m.Genome})
		saved, err := checkpoint.List(checkpoint.OS{}, filepath.Join(r.Folder, run.CheckpointFolder))
		require.NoError(t, err)
		require.Equal(t, []uint64{4, 6}, saved)
	}
}

// TestBranches: a run may begin with another one's checkpoint, of the same network alone.
func TestBranches(t *testing.T) {
	want := whole(t)
	dir := t.TempDir()
	first, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cpu", Bursts: 150, Folder: filepath.Join(dir, "first")})
	require.NoError(t, err)
	require.NoError(t, first.Advance(t.Context(), 150))
	require.NoError(t, first.Save())
	require.NoError(t, first.Close())
	path := filepath.Join(first.Folder, run.CheckpointFolder, checkpoint.Name(150))
	c, err := checkpoint.Read(checkpoint.OS{}, path)
	require.NoError(t, err)
	o := run.Options{Backend: "cpu", Bursts: 50, Folder: filepath.Join(dir, "second"), From: &run.Start{Path: path, Saved: c}}
	second, err := run.New(t.Context(), network(t, lively), o)
	require.NoError(t, err)
	require.Equal(t, [3]uint64{150, 150, 200}, [3]uint64{second.First, second.Number(), second.End()})
	require.NoError(t, second.Advance(t.Context(), second.End()))
	require.NoError(t, second.Close())
	require.Equal(t, want.digest, look(t, second.Folder, manifest.Complete).digest)
	f, err := runfolder.Open(second.Folder)
	require.NoError(t, err)
	begin, err := run.Origin(checkpoint.OS{}, f)
	require.NoError(t, err)
	require.Equal(t, c.State, begin.Saved.State)

	other := network(t, lively)
	other.Seed++
	o.Folder = filepath.Join(dir, "third")
	_, err = run.New(t.Context(), other, o)
	var damaged *checkpoint.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.NoDirExists(t, o.Folder)
}

// TestRefused: mistakes in the options are told before anything is built.
func TestRefused(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	for want, o := range map[string]run.Options{
		"rate \"often\"":                            {Rate: "often"},
		"-2 threads":                                {Threads: -2},
		"checkpoints \"1ms\"":                       {Checkpoints: "1ms"},
		"holds x already":                           {Folder: full},
		"the action on a fault is \"pray\"":         {OnFault: "pray", Runs: full},
		"going on after a fault (cpu) needs":        {OnFault: run.CPU},
		"record \"spikes\", want":                   {Record: []string{"spikes"}},
		"backend \"abacus\", want one of cpu, cuda": {Backend: "abacus"},
	} {
		if o.Record == nil && o.Backend == "" {
			o.Tell = func(e run.Event) { t.Errorf("%v, want no event before %s", e, want) }
		}
		_, err := run.New(t.Context(), network(t, lively), o)
		require.ErrorContains(t, err, want)
	}
}

// TestGivenUpWhileBuilding: a context that ends early ends New, in each phase, and nothing is left open.
func TestGivenUpWhileBuilding(t *testing.T) {
	for _, phase := range []string{"", "planning", "building", "opening"} {
		ctx, cancel := context.WithCancel(t.Context())
		give := func(e run.Event) {
			if e == (run.Began{Phase: phase}) {
				cancel()
			}
		}
		if phase == "" {
			cancel()
		}
		r, err := run.New(ctx, network(t, lively), run.Options{Backend: "cpu", Runs: t.TempDir(), Tell: give})
		if err == nil && phase != "" { // the last phase may be done first
			require.NoError(t, r.Close())
			continue
		}
		require.ErrorIs(t, err, context.Canceled, phase)
	}
}

// TestFailure: an error that is no device's ends the run, whatever OnFault says; the folder tells it, and Resume goes on.
func TestFailure(t *testing.T) {
	want := whole(t)
	dir := filepath.Join(t.TempDir(), "failed")
	planted := errors.New("planted")
	fails := &at{60, func() error { return planted }}
	r, err := run.New(t.Context(), network(t, lively), run.Options{Backend: "cpu", Bursts: 200, Folder: dir, Checkpoints: "25", OnFault: run.CPU, Recorders: []engine.Recorder{fails}})
	require.NoError(t, err)
	err = r.Advance(t.Context(), 200)
	require.ErrorIs(t, err, planted)
	var failed *run.FailedError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, []any{dir, true}, []any{failed.Folder, failed.Resumable})
	require.Equal(t, err, r.Advance(t.Context(), 200), "it has ended")
	require.Equal(t, err, r.Save())
	require.NoError(t, r.Close())
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.Equal(t, []any{manifest.Failed, "burst 60: planted", 0}, []any{f.Manifest.Status, f.Manifest.Failure, len(f.Manifest.Faults)})
	again, err := run.Resume(t.Context(), dir, run.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 50, again.Number())
	require.NoError(t, again.Advance(t.Context(), 200))
	require.NoError(t, again.Close())
	require.Equal(t, want, look(t, dir, manifest.Complete))
}

// TestRates are given in Hz or kHz.
func TestRates(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "100": 10 * time.Millisecond, "100Hz": 10 * time.Millisecond, "100 Hz": 10 * time.Millisecond, "1kHz": time.Millisecond,
		"0.5 kHz": 2 * time.Millisecond, "1000kHz": time.Microsecond, "0.001": 1000 * time.Second,
	} {
		got, err := run.ParseRate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"often", "Hz", "kHz", "1k", "1MHz", "0", "-1Hz", "1001kHz", "NaN", "1 kHz s"} {
		_, err := run.ParseRate(text)
		require.EqualError(t, err, fmt.Sprintf("%q, want bursts a second, 0.001 to 1000000, such as 100, 100Hz or 1kHz", text))
	}
}
