package main

import (
	"bufio"
	"burst/internal/slow"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"burst/backend/cuda"
	"burst/engine"
	"burst/genomes"
	"burst/internal/cuda/driver"
	"burst/internal/plain"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// call runs a command line in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(undrawn(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestExitStatus has one call for each status that a test can bring about.
func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := func(name, text string) string {
		path := dir + "/" + name
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	bad := file("bad.yaml", "burst: v1\nareas: 3\n")
	huge := file("huge.yaml", "burst: v1\nareas:\n  - {name: a, neurons: 4000000000}\nprojections:\n  - {from: a, to: a, rule: all_to_all, weight: 1}\n")
	beyond := file("beyond.yaml", "burst: v1\nareas:\n  - {name: a, neurons: 4300000000}\n")
	copied := file("copied.yaml", "burst: v1\nareas: [{name: a, neurons: 8009}]\nprojections: [{from: a, to: a, rule: fixed_indegree, indegree: 311, weight: \"uniform(1, 2)\"}]\n")
	cases := []struct {
		want int
		args []string
	}{
		{exitOK, []string{"run", "quickstart", "--bursts", "3", "--quiet"}},
		{exitUsage, []string{"run", "quickstart", "--no-such-flag"}},
		{exitUsage, []string{"frobnicate"}},
		{exitUsage, []string{"run", "quickstart", "--bursts", "10", "--duration", "10ms"}},
		{exitUsage, []string{"run", "quickstart", "--no-out", "--checkpoint-every", "50"}},
		{exitUsage, []string{"run", "quickstart", "--seeds", "1..2", "--seed", "3"}},
		{exitUsage, []string{"verify", "quickstart", "--device", "0", "--devices", "all"}},
		{exitGenome, []string{"run", bad}},
		{exitGenome, []string{"validate", "quickstart", bad}},
		{exitGenome, []string{"validate", "--json", bad}},
		{exitOK, []string{"validate", huge}},
		{exitLimit, []string{"validate", beyond}},
		{exitLimit, []string{"inspect", huge}},
		{exitLimit, []string{"run", huge}},
		{exitLimit, []string{"run", copied, "--backend", "cpu", "--threads", "1", "--max-memory", "26MB"}}, // it is built in 24.3 MB
		{exitOK, []string{"run", copied, "--backend", "reference", "--bursts", "1", "--threads", "1", "--max-memory", "26MB"}},
		{exitFile, []string{"run", dir + "/missing.yaml"}},
		{exitFile, []string{"run", dir}},
		{exitFile, []string{"init", bad}},
		{exitFile, []string{"plot", dir + "/missing"}},
		{exitFile, []string{"stats", dir}},
		{exitUsage, []string{"run", "quickstart", "--bursts", "0"}},
		{exitUsage, []string{"run", "quickstart", "--duration", "0"}},
		{exitUsage, []string{"bench", "quickstart", "--threads", "2,-1"}},
		{exitFile, []string{"init", dir + "/no/such/folder/x.yaml"}},
		{exitAssertion, []string{"run", "quickstart", "--bursts", "3", "--expect-digest", "0123456789abcdef"}},
	}
	for _, c := range cases {
		code, _, stderr := call(c.args...)
		require.Equal(t, c.want, code, "burst %s\n%s", strings.Join(c.args, " "), stderr)
	}
	full := &cuda.MemoryError{Need: 9, Free: 7}
	fault := &driver.Error{Op: "cuStreamSynchronize", Code: driver.IllegalAddress}
	for _, c := range []struct {
		want int
		err  error
	}{
		{exitDevice, errors.Join(errors.New("cuda"), engine.ErrUnavailable)},
		{exitLimit, fmt.Errorf("opening: %w", full)},
		{exitLimit, fmt.Errorf("%w: %w", full, &driver.Error{Code: driver.OutOfMemory})}, // what Open gives when others were faster
		{exitDevice, fmt.Errorf("burst 7: cuda: device 0: %w", fault)},
		{exitFile, fmt.Errorf("link: %w", &os.LinkError{Op: "link", Err: syscall.EXDEV})},
		{exitFile, fmt.Errorf("sync: %w", os.NewSyscallError("fsync", syscall.EIO))},
		{exitFile, fmt.Errorf("recording to x: %w", syscall.ENOSPC)},
		{exitFile, fmt.Errorf("record: this run has no recording of spikes: %w", fs.ErrNotExist)},
		{exitDamaged, fmt.Errorf("%w: %w", &runfolder.DamagedError{Path: "x"}, fs.ErrNotExist)},
		{exitOther, errors.New("anything else")},
	} {
		require.Equal(t, c.want, exitCode(c.err), "%v", c.err)
	}
}

// TestFullOutput: results that could not be printed are a file error, of every command.
func TestFullOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := call("run", "quickstart", "--bursts", "3", "--quiet", "--out", "a")
	require.Zero(t, code, stderr)
	for _, args := range [][]string{{"validate", "quickstart"}, {"diff", "a", "a"}, {"help"}, {"examples"}, {"verify", "quickstart", "--bursts", "3"},
		{"run", "quickstart", "--bursts", "3", "--seeds", "1..2", "--no-out", "--quiet"}} {
		var stderr bytes.Buffer
		require.Equal(t, exitFile, execute(context.Background(), args, full{}, &stderr), args)
		require.Contains(t, stderr.String(), syscall.ENOSPC.Error(), args)
	}
}

// full is an output that takes nothing more.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

// TestRunJSON holds the fixed fields, by name and value.
func TestRunJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, _ := call("run", "quickstart", "--json", "--threads", "2", "--backend", "cpu")
	require.Zero(t, code)
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	want, err := genomes.Expect("quickstart")
	require.NoError(t, err)
	require.EqualValues(t, want.Bursts, v["bursts"])
	require.EqualValues(t, want.Spikes, v["spikes"])
	digest, err := strconv.ParseUint(v["digest"].(string), 16, 64)
	require.NoError(t, err)
	require.Equal(t, want.Digest, digest)
	require.EqualValues(t, 865, v["neurons"])
	require.NotZero(t, v["synapses"])
	require.Equal(t, "cpu", v["backend"])
	require.NotEmpty(t, v["device"])
	latency := v["latency_us"].(map[string]any)
	for _, q := range []string{"p50", "p90", "p99"} {
		require.Positive(t, latency[q].(float64))
	}
	sum := 0.0
	for _, a := range v["areas"].([]any) {
		area := a.(map[string]any)
		require.NotEmpty(t, area["name"])
		rate := area["spikes"].(float64) / area["neurons"].(float64) / (float64(want.Bursts) / 1000)
		require.InDelta(t, rate, area["rate_hz"], 1e-9)
		sum += area["spikes"].(float64)
	}
	require.EqualValues(t, want.Spikes, sum)
}

// TestInterrupt sends a signal in the middle of a run: the run ends at a burst's boundary with its own status, and what it
// prints is what a run of that many bursts gives.
func TestInterrupt(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated} {
		cmd := exec.Command(self, "run", "quickstart", "--bursts", "1000000000", "--json", "--digest", "every=50")
		cmd.Env = append(os.Environ(), asBurst+"=1")
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stderr)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "burst 100 state") {
		}
		require.NoError(t, cmd.Process.Signal(signal))
		var last string
		for lines.Scan() {
			last = lines.Text()
		}
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, status, exit.ExitCode(), last)
		require.Contains(t, last, "stopped by "+signal.String()+" after burst")
		var v struct {
			Digest string
			Bursts uint64
			Folder string
		}
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &v))
		require.GreaterOrEqual(t, v.Bursts, uint64(100))
		f, err := runfolder.Open(v.Folder)
		require.NoError(t, err)
		require.Equal(t, manifest.Interrupted, f.Manifest.Status)
		require.Equal(t, v.Digest, f.Manifest.Digest)
		require.Equal(t, v.Bursts, f.Manifest.Bursts)
		code, again, _ := call("run", "quickstart", "--quiet", "--bursts", strconv.FormatUint(v.Bursts, 10))
		require.Zero(t, code)
		require.Equal(t, v.Digest+"\n", again)
	}
}

// TestInterruptedBuilding: while the network is built a signal ends the program at once; nothing has been written.
func TestInterruptedBuilding(t *testing.T) {
	slow.Short(t)
	t.Parallel()
	for _, x := range []struct {
		signal syscall.Signal
		status int
		args   []string
	}{
		{syscall.SIGTERM, exitTerminated, []string{"run", "--backend", "cpu"}},
		{syscall.SIGINT, exitInterrupted, []string{"serve", "--backend", "cpu", "--listen", "127.0.0.1:0"}},
	} {
		out := filepath.Join(t.TempDir(), "out")
		cmd, lines := building(t, append(x.args, "--out", out)...)
		require.NoError(t, cmd.Process.Signal(x.signal))
		said := ""
		for lines.Scan() {
			said += lines.Text() + "\n"
		}
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, x.status, exit.ExitCode(), said)
		require.Contains(t, said, "stopped by "+x.signal.String()+" before the first burst; nothing was written\n")
		require.NoDirExists(t, out)
	}
}

// TestInterruptedSweepBuilding: a sweep does not wait for its networks either, and says how many runs it has.
func TestInterruptedSweepBuilding(t *testing.T) {
	slow.Short(t)
	t.Parallel()
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated} {
		cmd, lines := building(t, "run", "--backend", "cpu", "--no-out", "--seeds", "1..3")
		require.NoError(t, cmd.Process.Signal(signal))
		said := ""
		for lines.Scan() {
			said += lines.Text() + "\n"
		}
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, status, exit.ExitCode(), said)
		require.Contains(t, said, "stopped by "+signal.String()+": 0 of 3 runs are complete\n")
		for _, far := range regexp.MustCompile(`building: +(\d+) %`).FindAllStringSubmatch(said, -1) { // a line a second
			percent, err := strconv.Atoi(far[1])
			require.NoError(t, err)
			require.Less(t, percent, 60, "the network is waited for")
		}
	}
}

// building starts a command that builds for several seconds, and waits until it says so on standard error, whose next lines it gives.
func building(t *testing.T, args ...string) (*exec.Cmd, *bufio.Scanner) {
	file := filepath.Join(t.TempDir(), "slow.yaml")
	text := "burst: v1\nareas: [{name: a, neurons: 20011}]\n" + // several seconds on one thread, as most weights are drawn again
		"projections: [{from: a, to: a, rule: fixed_indegree, indegree: 997, weight: \"normal(1, 0.1) >= 1.15\", delay: \"uniform(1, 9)\"}]\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{args[0], file, "--threads", "1"}, args[1:]...)...)
	cmd.Env = append(os.Environ(), asBurst+"=1")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), "building") // with the share that is done, or, on a slow machine, before any is known
	return cmd, lines
}

// TestInterruptedAtOnce: a run that is stopped before its first burst claims neither that it can go on nor be run again.
func TestInterruptedAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(signalError{syscall.SIGINT})
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitInterrupted, execute(ctx, []string{"run", "quickstart"}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "stopped by interrupt before the first burst; nothing was written\n")
	require.NotContains(t, stdout.String(), "The same again")
}

func TestSpark(t *testing.T) {
	require.Equal(t, "▁▄█ ▇", spark([]float64{1, 4, 8, 0, 7}))
	require.Equal(t, "  ", spark([]float64{0, 0}))
	require.Empty(t, spark(nil))
}

func TestNumbersForPeople(t *testing.T) {
	require.Equal(t, "0", count(0))
	require.Equal(t, "999", count(999))
	require.Equal(t, "1,000", count(1000))
	require.Equal(t, "12,345,678", count(12_345_678))
	require.Equal(t, []string{"0", "0.0123", "367", "999", "1,000", "1,234", "12,346"}, []string{times(0), times(0.01234), times(367.2), times(999.4), times(999.5), times(1234), times(12345.6)})
	require.Equal(t, "1.5 KiB", plain.Bytes(1536))
	require.Equal(t, "2.00 GiB", plain.Bytes(2<<30))
}
