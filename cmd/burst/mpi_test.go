package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"burst/backend"
	"burst/checkpoint"
	"burst/internal/slow"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// signalled reads "part signal gather" and sends the part's process that signal at that gather; standard error tells when.
func signalled(text string) func(backend.Exchange) backend.Exchange {
	s := &signaller{}
	if _, err := fmt.Sscan(text, &s.part, &s.signal, &s.left); err != nil {
		panic(err)
	}
	return func(x backend.Exchange) backend.Exchange {
		s.Exchange = x
		return s
	}
}

const sentAt = "signal sent at "

type signaller struct {
	backend.Exchange
	part, left int
	signal     syscall.Signal
}

func (s *signaller) Allgather(own []uint32) ([][]uint32, error) {
	if s.left--; s.left == 0 && s.Part().Index == s.part {
		fmt.Fprintf(os.Stderr, "%s%d\n", sentAt, time.Now().UnixNano())
		heard := make(chan os.Signal, 1)
		if s.signal != syscall.SIGKILL {
			signal.Notify(heard, s.signal)
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(s.signal)
		}
		if err != nil {
			return nil, err
		}
		<-heard
		time.Sleep(20 * time.Millisecond) // the command has heard of it too, and the run is not over before it looks
	}
	return s.Exchange.Allgather(own)
}

// The launchers of two families of MPI.
const (
	openMPI = "mpirun.openmpi"
	mpich   = "mpirun.mpich"
)

// mpirun starts this program in several processes; code is mpirun's exit status.
func mpirun(t *testing.T, processes int, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return launch(t, openMPI, processes, env, args...)
}

// launch is mpirun by either launcher.
func launch(t *testing.T, launcher string, processes int, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path, err := exec.LookPath(launcher)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v; the checks install openmpi-bin and mpich", err)
		}
		t.Skipf("%v; install openmpi-bin and mpich to run this", err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	args = append([]string{"-n", fmt.Sprint(processes), self}, args...)
	if launcher == openMPI {
		args = append([]string{"--allow-run-as-root", "--oversubscribe"}, args...)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(append(os.Environ(), asBurst+"=1"), env...)
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), text.String()
}

// patient is a network of which no synapse is faster than seven bursts, so that processes gather seven at a time: mostly
// little, once more than one message holds.
const patient = `burst: v1
name: patient
seed: 1078
bursts: 400
areas:
  - {name: few, neurons: 33, threshold: 0.7, drive: {poisson: {rate: 40 Hz, weight: 1}}}
  - {name: pulse, neurons: 1, model: spike_list, spikes: [{neurons: [0], at: [333]}]}
  - {name: crowd, neurons: 40009, threshold: 1.5, refractory: 2}
projections:
  - {from: few, to: crowd, rule: fixed_outdegree, outdegree: 300, weight: 1.6, delay: "uniform(7, 19)"}
  - {from: pulse, to: crowd, rule: all_to_all, weight: 2, delay: 11}
`

// TestMPI runs networks in several processes: digest, recordings and rates are those of one process, and
// another number of processes replays them.
func TestMPI(t *testing.T) {
	slow.Short(t)
	t.Parallel()
	if slow.Asked() && !testing.Short() {
		t.Run("restless", func(t *testing.T) { runsUnderMPI(t, newTrial(t), 500, true, 2, 3) })
	}
	t.Run("patient", func(t *testing.T) {
		runsUnderMPI(t, newTrialOf(t, patient, "--checkpoint-every", "97", "--record", "spikes=all", "--record", "fcl=few,crowd", "--record", "potentials=crowd[0..200]", "--record", "variables=crowd[100..300].input,crowd[0..99].V every 3"), 50, slow.Asked(), 3)
	})
}

// runsUnderMPI runs a trial in numbers of processes and replays that of three in two; stops has it stopped by signals at a gather too.
func runsUnderMPI(t *testing.T, x *trial, gather int, stops bool, numbers ...int) {
	for _, processes := range numbers {
		if testing.Short() && processes == 2 {
			continue
		}
		out := filepath.Join(x.dir, fmt.Sprint("parts-", processes))
		code, stdout, stderr := mpirun(t, processes, nil, append([]string{"run", x.genome, "--out", out}, x.args...)...)
		require.Zero(t, code, stderr)
		require.Equal(t, x.want.digest+"\n", stdout, "one process reports")
		require.Equal(t, x.want, look(t, out))
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Contains(t, f.Manifest.Device, fmt.Sprintf("%d parts", processes))
		require.Equal(t, x.want.digest, f.Manifest.Digest)
		if processes == 3 {
			code, _, stderr = mpirun(t, 2, nil, "replay", out, "--quiet")
			require.Zero(t, code, stderr)
		}
	}
	if stops {
		t.Run("signals", func(t *testing.T) { stopsUnderMPI(t, x, gather) })
	}
}

// TestR10KilledParts kills one of four processes at a random burst: all end, and the run goes on from its last checkpoint,
// in another number of processes or in one, to the digest, recordings and rates of a run that nobody stopped.
func TestR10KilledParts(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	kills := often(5, 50)
	x := newTrial(t)
	random := rand.New(rand.NewPCG(10, 0x6b696c6c))
	var took []time.Duration
	for i := range kills {
		out := filepath.Join(x.dir, fmt.Sprint("killed-", i))
		part, gather := random.IntN(4), 60+random.IntN(1200)
		code, _, stderr := mpirun(t, 4, []string{fmt.Sprintf("%s=%d %d %d", signalAt, part, syscall.SIGKILL, gather)}, append([]string{"run", x.genome, "--out", out}, x.args...)...)
		require.Equal(t, 128+int(syscall.SIGKILL), code, "part %d at gather %d: %s", part, gather, stderr)
		require.Contains(t, stderr, fmt.Sprintf("process rank %d", part), "the cause is told")
		require.Eventually(t, func() bool { // mpirun may end before the last of the others, which it kills, is gone
			hold, err := runfolder.Take(out)
			return err == nil && hold.Release(false) == nil
		}, time.Minute, 10*time.Millisecond)
		var sent int64
		_, text, _ := strings.Cut(stderr, sentAt)
		_, err := fmt.Sscan(text, &sent)
		require.NoError(t, err, stderr)
		took = append(took, time.Since(time.Unix(0, sent)))
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Equal(t, manifest.Running, f.Manifest.Status)
		what := fmt.Sprintf("part %d killed at gather %d", part, gather)
		if i%4 == 1 {
			code, stdout, stderr := mpirun(t, 2+i%3, nil, "resume", out, "--quiet", "--expect-digest", x.want.digest)
			require.Zero(t, code, "%s: %s%s", what, stdout, stderr)
			require.Equal(t, x.want, look(t, out), what)
		} else {
			x.finish(t, out, what)
		}
		require.NoError(t, os.RemoveAll(out))
	}
	slices.Sort(took)
	require.Less(t, took[kills-1], time.Minute, "the others wait for what does not come")
	t.Logf("R10: %d of %d runs of which one of 4 processes was killed ended in at most %v (median %v), and resumed to the same digest, recordings and rates",
		kills, kills, took[kills-1].Round(time.Millisecond), took[kills/2].Round(time.Millisecond))
}

// stopsUnderMPI: a signal to the leader stops all at a burst's boundary, with a checkpoint of it; one to another part
// changes nothing.
func stopsUnderMPI(t *testing.T, x *trial, gather int) {
	for part, want := range []int{exitTerminated, exitOK} {
		out := filepath.Join(x.dir, fmt.Sprint("stopped-", part))
		code, _, stderr := mpirun(t, 2, []string{fmt.Sprintf("%s=%d %d %d", signalAt, part, syscall.SIGTERM, gather)}, append([]string{"run", x.genome, "--out", out}, x.args...)...)
		require.Equal(t, want, code, stderr)
		if want == exitOK {
			require.Equal(t, x.want, look(t, out))
			continue
		}
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Equal(t, manifest.Interrupted, f.Manifest.Status)
		c, _, _, err := checkpoint.Newest(checkpoint.OS{}, filepath.Join(out, run.CheckpointFolder))
		require.NoError(t, err)
		require.Equal(t, f.Manifest.Bursts, c.State.Number, "the checkpoint is of the run's last burst")
		x.finish(t, out, "stopped by a signal")
	}
}

// TestMPIRefuses: what is wrong is said once, with the status of one process.
func TestMPIRefuses(t *testing.T) {
	slow.Short(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "restless.yaml")
	require.NoError(t, os.WriteFile(file, []byte(restless), 0o600))
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a flag that is none", []string{"run", file, "--nonsense"}, exitUsage, "unknown flag: --nonsense"},
		{"a fault of the genome", []string{"run", file, "--no-out", "--set", "areas.few.leak=7"}, exitGenome, "leak"},
		{"too little memory for each", []string{"run", file, "--no-out", "--max-memory", "100kB"}, exitLimit, "the limit is 100000 bytes"},
		{"a backend without parts", []string{"run", file, "--no-out", "--backend", "reference"}, exitOther, "cannot run a part of a network"},
		{"a backend that there is not", []string{"run", file, "--no-out", "--backend", "cppu"}, exitUsage, `did you mean "cpu"?`},
		{"another command", []string{"inspect", file}, exitUsage, "only run, resume and replay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if quick := []string{"a fault of the genome", "another command"}; !slices.Contains(quick, c.name) {
				slow.Test(t)
			}
			code, _, stderr := mpirun(t, 2, nil, c.args...)
			require.Equal(t, c.code, code, stderr)
			require.Equal(t, 1, strings.Count(stderr, "burst: "), stderr)
			require.Contains(t, stderr, c.says)
		})
	}
}

// TestPartsInOneProcess: verify splits a network without other processes, and inspect says what each part would hold.
func TestPartsInOneProcess(t *testing.T) {
	code, stdout, stderr := call("verify", "quickstart", "--bursts", "60", "--parts", "1,2,5", "--state-every", "7")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "reference and cpu in 5 parts are equal over 60 bursts")
	code, stdout, stderr = call("inspect", "quickstart", "--parts", "3", "--cost", "--json")
	require.Zero(t, code, stderr)
	var v inspection
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	require.Len(t, v.Parts, 3)
	neurons, synapses := uint64(0), uint64(0)
	for _, p := range v.Parts {
		neurons, synapses = neurons+p.Neurons, synapses+p.Synapses
		require.Greater(t, p.Host, p.Bytes/2)
		require.Less(t, p.Bytes, v.Bytes.Host)
	}
	require.Equal(t, v.Neurons, neurons)
	require.Equal(t, v.Synapses, synapses)
	code, _, _ = call("verify", "quickstart", "--parts", "0")
	require.Equal(t, exitUsage, code)
}
