package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"burst/checkpoint"
	"burst/internal/slow"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
)

// restless is a network with delays, draws of all kinds and many spikes.
const restless = `burst: v1
name: restless
seed: 1077
bursts: 600
areas:
  - {name: few, neurons: 31, threshold: 0.7, excitability: 0.83, fire_limit: 5, snooze: 3, drive: {poisson: {rate: 200 Hz, weight: 1}}}
  - {name: crowd, neurons: 3001, threshold: 1.5, refractory: 1, leak: 0.13, drive: {poisson: {rate: 500 Hz, weight: 0.9}}}
  - {name: slow, neurons: 97, model: lif_psc_exp, params: {C: 250 pF, tau: 10 ms, tau_syn: 2 ms, rest: -65 mV, reset: -65 mV, threshold: -50 mV, refractory: 2 ms}}
projections:
  - {from: few, to: crowd, rule: fixed_outdegree, outdegree: 13, weight: 0.3, delay: "uniform(1, 9)"}
  - {from: crowd, to: slow, rule: fixed_indegree, indegree: 17, weight: "normal(50 pA, 20 pA)", delay: 3}
`

// whole is a run that nobody stopped: its digest, and a hash of every recorded row and of rates.csv.
type whole struct{ digest, rows, rates string }

// look reads a run folder.
func look(t *testing.T, dir string) whole {
	t.Helper()
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.Equal(t, manifest.Complete, f.Manifest.Status)
	h := xxhash.New()
	for _, name := range f.Tables() {
		r, err := f.Recording(name)
		require.NoError(t, err)
		for c, err := range r.Chunks {
			require.NoError(t, err)
			for i := range c.Burst {
				fmt.Fprintln(h, name, c.Burst[i], c.Neuron[i])
				if c.Potential != nil {
					fmt.Fprintln(h, c.Potential[i])
				}
				if c.Value != nil {
					fmt.Fprintln(h, c.Variable[i], c.Value[i])
				}
			}
		}
	}
	rates, err := os.ReadFile(filepath.Join(dir, "rates.csv"))
	require.NoError(t, err)
	return whole{f.Manifest.Digest, strconv.FormatUint(h.Sum64(), 16), string(rates)}
}

// trial is a genome in a folder, with how its run ends when nobody stops it.
type trial struct {
	dir, genome string
	args        []string
	want        whole
}

// newTrial is a trial of restless, with a copy of the run that is made once for all tests.
func newTrial(t *testing.T) *trial {
	t.Helper()
	one := restlessOnce(t)
	x := &trial{dir: t.TempDir(), args: one.args, want: one.want}
	x.genome = filepath.Join(x.dir, "genome.yaml")
	require.NoError(t, os.CopyFS(x.dir, os.DirFS(one.dir)))
	return x
}

// restlessOnce is the first trial of restless; its folder stays until the program ends.
var restlessOnce = func() func(t *testing.T) *trial {
	var once sync.Once
	var x *trial
	return func(t *testing.T) *trial {
		t.Helper()
		once.Do(func() {
			made := newTrialOf(t, restless, "--checkpoint-every", "5", "--record", "spikes=all", "--record", "potentials=slow[0..4]", "--record", "variables=slow[0..4].I_ex,few.input every 2")
			made.dir = filepath.Join(tests, "restless")
			require.NoError(t, os.CopyFS(made.dir, os.DirFS(filepath.Dir(made.genome))))
			x = made
		})
		require.NotNil(t, x, "the run that nobody stops has failed")
		return x
	}
}()

// tests is a folder for all tests.
var tests string

func newTrialOf(t *testing.T, text string, args ...string) *trial {
	t.Helper()
	dir := t.TempDir()
	x := &trial{dir: dir, genome: filepath.Join(dir, "genome.yaml"), args: append([]string{"--quiet", "--backend", "cpu"}, args...)}
	require.NoError(t, os.WriteFile(x.genome, []byte(text), 0o600))
	code, _, stderr := call(append([]string{"run", x.genome, "--out", filepath.Join(dir, "whole")}, x.args...)...)
	require.Zero(t, code, stderr)
	x.want = look(t, filepath.Join(dir, "whole"))
	return x
}

// begin starts a run in a process of its own and returns when its folder is there.
func (x *trial) begin(t *testing.T, out string, env ...string) *process {
	t.Helper()
	p := spawn(t, env, append([]string{"run", x.genome, "--out", out}, x.args...)...)
	p.until(func() bool { return there(filepath.Join(out, "manifest.json")) })
	return p
}

// finish resumes a run and compares it with the one that nobody stopped.
func (x *trial) finish(t *testing.T, out, what string) {
	t.Helper()
	code, stdout, stderr := call("resume", out, "--quiet", "--expect-digest", x.want.digest)
	require.Zero(t, code, "%s: %s%s", what, stdout, stderr)
	got := look(t, out)
	require.Equal(t, x.want, got, what)
}

// torn says whether a recording ends within a chunk.
func torn(t *testing.T, base string) bool {
	info, err := os.Stat(base + ".arrows")
	if err != nil {
		return false
	}
	sums, err := os.ReadFile(base + ".sums")
	return err == nil && info.Size() > lastEnd(t, string(sums))
}

// TestR1Kills kills runs at random moments of their progress and at every named point of the checkpoint's writer; each goes
// on to the digest, the recordings and the rates of the run that nobody stopped. A run that ends before the kill meets it is
// whole already.
func TestR1Kills(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	kills := often(14, 200)
	x := newTrial(t)
	random := rand.New(rand.NewPCG(1, 0x6b696c6c))
	writing, ended := 0, 0
	for i := range kills {
		out := filepath.Join(x.dir, fmt.Sprint("random-", i))
		p := x.begin(t, out)
		p.until(moment(out, random))
		p.signal(t, os.Kill)
		if p.wait() == nil {
			ended++
		}
		_, err := os.Stat(filepath.Join(out, run.CheckpointFolder, "unfinished.tmp"))
		if err == nil || torn(t, filepath.Join(out, "spikes")) || torn(t, filepath.Join(out, "potentials")) {
			writing++
		}
		x.finish(t, out, fmt.Sprintf("random kill %d", i))
		require.NoError(t, os.RemoveAll(out))
	}
	points := killPoints()
	require.Len(t, points, 12)
	if testing.Short() {
		points = []string{points[1], points[10]}
	}
	for i, point := range points {
		out := filepath.Join(x.dir, fmt.Sprint("point-", i))
		p := x.begin(t, out, fmt.Sprintf("%s=%s@%d", killAt, point, 2+random.IntN(9)))
		var exit *exec.ExitError
		require.ErrorAs(t, p.wait(), &exit, point)
		require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), point)
		x.finish(t, out, point)
		require.NoError(t, os.RemoveAll(out))
	}
	t.Logf("R1: %d of %d kills resumed to the same digest, recordings and rates; %d of %d random ones in the middle of a write, %d after the end",
		kills+len(points), kills+len(points), writing, kills, ended)
	if *long {
		require.GreaterOrEqual(t, 5*writing, kills-ended, "kills must meet writes")
	}
}

// TestR28Signals stops runs at random moments of their progress: status 143 or 130 within a minute, which a run that hangs does not
// keep (with -long, on a machine of one's own, within 5 s), a checkpoint, a recording that reads, and the rest of the run is the
// same. A second signal may end the program at once and corrupts nothing; a run may also end before a signal meets it.
func TestR28Signals(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	stops := often(8, 100)
	x := newTrial(t)
	random := rand.New(rand.NewPCG(28, 0x7369676e))
	worst, ended, twice := time.Duration(0), 0, 0
	for i := range stops {
		signal, status := syscall.SIGTERM, exitTerminated
		if i%2 == 1 {
			signal, status = syscall.SIGINT, exitInterrupted
		}
		out := filepath.Join(x.dir, fmt.Sprint("stop-", i))
		p := x.begin(t, out)
		p.until(moment(out, random))
		start := time.Now()
		p.signal(t, signal)
		if i%4 >= 2 {
			if i%8 < 4 { // in the middle of the last saving, or at once
				p.until(func() bool { return there(filepath.Join(out, run.CheckpointFolder, "unfinished.tmp")) })
			}
			p.signal(t, signal)
		}
		err := p.wait()
		worst = max(worst, time.Since(start))
		var exit *exec.ExitError
		switch {
		case err == nil:
			ended++
		case errors.As(err, &exit) && exit.ExitCode() == status:
			f, err := runfolder.Open(out)
			require.NoError(t, err)
			require.Equal(t, manifest.Interrupted, f.Manifest.Status)
			for _, err := range f.Spikes() {
				require.NoError(t, err)
			}
			c, _, skipped, err := checkpoint.Newest(checkpoint.OS{}, filepath.Join(out, run.CheckpointFolder))
			require.NoError(t, err)
			require.Empty(t, skipped)
			require.Equal(t, f.Manifest.Bursts, c.State.Number, "the checkpoint is of the run's last burst")
		default:
			require.ErrorAs(t, err, &exit)
			require.Equal(t, signal, exit.Sys().(syscall.WaitStatus).Signal(), p.stderr.String())
			require.GreaterOrEqual(t, i%4, 2, "only a second signal ends the program at once: %s", &p.stderr)
			twice++
		}
		x.finish(t, out, fmt.Sprintf("stop %d", i))
		require.NoError(t, os.RemoveAll(out))
	}
	most := time.Minute
	if *long {
		most = 5 * time.Second
	}
	require.Less(t, worst, most)
	t.Logf("R28: %d of %d runs stopped in at most %v (%d had ended, %d by a second signal) and resumed to the same digest", stops, stops, worst.Round(time.Millisecond), ended, twice)
}

// faulty is a disk whose checkpoint writes fail from the nth on.
type faulty struct {
	checkpoint.OS
	left int
	call string
	err  error
}

func (f *faulty) fails(call string) error {
	if call == f.call {
		if f.left--; f.left < 0 {
			return &os.PathError{Op: call, Path: "checkpoint", Err: f.err}
		}
	}
	return nil
}

func (f *faulty) Create(path string) (checkpoint.File, error) {
	file, err := f.OS.Create(path)
	return faultyFile{file, f}, err
}

func (f *faulty) Rename(from, to string) error {
	if err := f.fails("rename"); err != nil {
		return err
	}
	return f.OS.Rename(from, to)
}

type faultyFile struct {
	checkpoint.File
	f *faulty
}

func (f faultyFile) Write(b []byte) (int, error) {
	if err := f.f.fails("write"); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f faultyFile) Sync() error {
	if err := f.f.fails("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

// TestR3FullDisk: a disk that is full, or that fails to sync, ends the run with status 6, says so, leaves the checkpoint
// before it, and the run can be resumed when the disk is sound again.
func TestR3FullDisk(t *testing.T) {
	slow.Short(t)
	t.Parallel()
	x := newTrial(t)
	for _, call := range []string{"write", "rename", "sync"}[:slow.Times(1, 3)] {
		fault := map[string]error{"write": syscall.ENOSPC, "sync": syscall.EIO, "rename": syscall.EIO}[call]
		out := filepath.Join(x.dir, call)
		ctx := context.WithValue(undrawn(), diskKey{}, &faulty{left: 3, call: call, err: fault})
		var stdout, stderr bytes.Buffer
		code := execute(ctx, append([]string{"run", x.genome, "--out", out}, x.args...), &stdout, &stderr)
		require.Equal(t, exitFile, code, stderr.String())
		require.Contains(t, stderr.String(), fault.Error())
		require.NotContains(t, stderr.String(), "all is saved")
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Equal(t, manifest.Failed, f.Manifest.Status)
		require.Contains(t, f.Manifest.Failure, fault.Error())
		c, _, skipped, err := checkpoint.Newest(checkpoint.OS{}, filepath.Join(out, run.CheckpointFolder))
		require.NoError(t, err)
		require.Empty(t, skipped)
		require.EqualValues(t, 15, c.State.Number, "the last whole one")
		x.finish(t, out, call)
	}
}

// TestDamagedCheckpoints: those that resume skips are told and renamed, and the last three that stay are whole.
func TestDamagedCheckpoints(t *testing.T) {
	slow.Short(t)
	t.Parallel()
	x := newTrial(t)
	out := filepath.Join(x.dir, "damaged")
	folder := filepath.Join(out, run.CheckpointFolder)
	ctx := context.WithValue(undrawn(), diskKey{}, &faulty{left: 8, call: "rename", err: syscall.EIO})
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitFile, execute(ctx, append([]string{"run", x.genome, "--out", out}, x.args...), &stdout, &stderr), stderr.String())
	for _, n := range []uint64{35, 40} {
		require.NoError(t, os.Truncate(filepath.Join(folder, checkpoint.Name(n)), 600))
	}
	ctx, cancel := context.WithCancelCause(undrawn())
	defer cancel(nil)
	ctx = context.WithValue(ctx, diskKey{}, &stopper{left: 1, stop: cancel})
	stderr.Reset()
	require.Equal(t, exitTerminated, execute(ctx, []string{"resume", out}, &stdout, &stderr), stderr.String())
	require.Contains(t, stderr.String(), "not used, and renamed to *.damaged: "+filepath.Join(folder, checkpoint.Name(40)))
	require.FileExists(t, filepath.Join(folder, checkpoint.Name(40)+checkpoint.Damaged))
	kept, err := checkpoint.List(checkpoint.OS{}, folder)
	require.NoError(t, err)
	require.Contains(t, kept, uint64(30), "it is one of the last three")
	for _, n := range kept {
		_, err := checkpoint.Read(checkpoint.OS{}, filepath.Join(folder, checkpoint.Name(n)))
		require.NoError(t, err)
	}
	x.finish(t, out, "damaged")
}

// TestAdviceToResume: a run that fails advises to resume it where there is a checkpoint to go on from.
func TestAdviceToResume(t *testing.T) {
	t.Parallel()
	x := newTrial(t)
	for saves, advised := range map[int]bool{0: false, 2: true} {
		ctx := context.WithValue(undrawn(), diskKey{}, &faulty{left: saves, call: "rename", err: syscall.EIO})
		var stdout, stderr bytes.Buffer
		code := execute(ctx, append([]string{"run", x.genome, "--out", filepath.Join(x.dir, fmt.Sprint(saves))}, x.args...), &stdout, &stderr)
		require.Equal(t, exitFile, code, stderr.String())
		require.Equal(t, advised, strings.Contains(stderr.String(), "goes on from its last checkpoint"), stderr.String())
	}
}

// blocker is a disk on which a file stands where the folder of checkpoints is to be, once the run's folder has its first file.
type blocker struct{ checkpoint.OS }

func (b blocker) Create(path string) (checkpoint.File, error) {
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), run.CheckpointFolder), nil, 0o600); err != nil {
		return nil, err
	}
	return b.OS.Create(path)
}

// TestNoPlaceForCheckpoints: a run that fails between its folder and its first burst is not left as running.
func TestNoPlaceForCheckpoints(t *testing.T) {
	t.Parallel()
	x := newTrial(t)
	from := filepath.Join(x.dir, "whole", run.CheckpointFolder, checkpoint.Name(590))
	out := filepath.Join(x.dir, "blocked")
	ctx := context.WithValue(undrawn(), diskKey{}, blocker{})
	var stdout, stderr bytes.Buffer
	code := execute(ctx, append([]string{"run", x.genome, "--from", from, "--out", out}, x.args...), &stdout, &stderr)
	require.Equal(t, exitFile, code, stderr.String())
	f, err := runfolder.Open(out)
	require.NoError(t, err)
	require.Equal(t, manifest.Failed, f.Manifest.Status)
}

// TestSweepThatFails: a run that fails does not keep the others from running, is named, and is run again by resume.
func TestSweepThatFails(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "sweep")
	ctx := context.WithValue(undrawn(), diskKey{}, &faulty{left: 4, call: "rename", err: syscall.EIO})
	var stdout, stderr bytes.Buffer
	args := []string{"run", "quickstart", "--bursts", "40", "--checkpoint-every", "20", "--seeds", "3..6", "--jobs", "1", "--out", out, "--json", "--quiet", "--backend", "cpu"}
	require.Equal(t, exitFile, execute(ctx, args, &stdout, &stderr)) // two saves a run
	require.Contains(t, stderr.String(), "point 3 (seed 5): ")
	require.Contains(t, stderr.String(), "2 of 4 runs failed; `burst resume "+out+"` goes on")
	var v, whole sweepResult
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &v))
	require.Len(t, v.Runs, 4)
	require.Equal(t, 2, v.Cells[0].Runs)
	require.Contains(t, v.Runs[2].Error, "point 3 (seed 5): ")
	rows, err := os.ReadFile(filepath.Join(out, "sweep.csv"))
	require.NoError(t, err)
	require.Contains(t, string(rows), "\n2,4,4,"+v.Runs[1].Digest+",,40,")
	require.Contains(t, string(rows), "\n3,5,5,,,0,0,")

	before, err := os.Stat(filepath.Join(out, "seed-3", "manifest.json"))
	require.NoError(t, err)
	code, again, told := call("resume", out, "--json", "--backend", "reference")
	require.Zero(t, code, told)
	require.NoError(t, json.Unmarshal([]byte(again), &whole))
	require.Equal(t, 4, whole.Cells[0].Runs)
	require.Equal(t, fmt.Sprint(v.Runs[:2]), fmt.Sprint(whole.Runs[:2])) // with NaN
	after, err := os.Stat(filepath.Join(out, "seed-3", "manifest.json"))
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime(), "a run that is complete is not run again")
	for _, r := range whole.Runs {
		code, digest, told := call("run", "quickstart", "--bursts", "40", "--seed", fmt.Sprint(r.Seed), "--no-out", "--quiet", "--backend", "cpu")
		require.Zero(t, code, told)
		require.Equal(t, r.Digest+"\n", digest)
	}
}

// stopper is a disk that has the run stopped, as by a signal, when the nth checkpoint is begun.
type stopper struct {
	checkpoint.OS
	left int
	stop context.CancelCauseFunc
}

func (s *stopper) Create(path string) (checkpoint.File, error) {
	if s.left--; s.left == 0 {
		s.stop(signalError{syscall.SIGTERM})
	}
	return s.OS.Create(path)
}

// TestResumeElsewhere stops a run and goes on with another backend and another number of threads, twice.
func TestResumeElsewhere(t *testing.T) {
	slow.Short(t)
	t.Parallel()
	x := newTrial(t)
	out := filepath.Join(x.dir, "elsewhere")
	stop := func(args ...string) {
		ctx, cancel := context.WithCancelCause(undrawn())
		defer cancel(nil)
		ctx = context.WithValue(ctx, diskKey{}, &stopper{left: 3, stop: cancel})
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitTerminated, execute(ctx, args, &stdout, &stderr), stderr.String())
	}
	stop(append([]string{"run", x.genome, "--out", out, "--threads", "1"}, x.args...)...)
	stop("resume", out, "--quiet", "--backend", "reference")
	stop("resume", out, "--quiet", "--backend", "cpu", "--threads", "8")
	x.finish(t, out, "elsewhere")
	f, err := runfolder.Open(out)
	require.NoError(t, err)
	require.Len(t, f.Manifest.Resumed, 3)
}

// TestOneProcessAFolder: while a run goes on, nobody else writes to its folder; a run that was killed leaves no lock behind,
// and one that is complete not even the file.
func TestOneProcessAFolder(t *testing.T) {
	t.Parallel()
	x := newTrial(t)
	require.NoFileExists(t, filepath.Join(x.dir, "whole", "lock"))
	out := filepath.Join(x.dir, "shared")
	p := spawn(t, nil, append([]string{"run", x.genome, "--out", out, "--bursts", "1000000000"}, x.args...)...)
	p.until(func() bool { // any checkpoint: the first is soon removed for later ones
		saved, err := checkpoint.List(checkpoint.OS{}, filepath.Join(out, run.CheckpointFolder))
		return err == nil && len(saved) > 0
	})
	for what, args := range map[string][]string{"another process is running in this folder": {"resume", out}, "holds ": {"run", x.genome, "--out", out}} {
		code, _, stderr := call(args...)
		require.Equal(t, exitFile, code, stderr)
		require.Contains(t, stderr, what)
	}
	p.signal(t, os.Kill)
	require.Error(t, p.wait())
	require.FileExists(t, filepath.Join(out, "lock"))
	ctx, cancel := context.WithCancelCause(undrawn())
	defer cancel(nil)
	var stdout, stderr bytes.Buffer
	ctx = context.WithValue(ctx, diskKey{}, &stopper{left: 3, stop: cancel})
	require.Equal(t, exitTerminated, execute(ctx, []string{"resume", out, "--quiet"}, &stdout, &stderr), stderr.String())
}
