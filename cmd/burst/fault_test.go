package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"burst/checkpoint"
	"burst/engine"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
	"burst/internal/slow"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// standIn is the library that stands in for libcuda.
func standIn(t *testing.T) string {
	t.Helper()
	cudatest.Host(t)
	return os.Getenv(driver.LibraryVariable)
}

// asProgram runs burst in a process of its own.
func asProgram(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(append(os.Environ(), asBurst+"=1"), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
		code = exit.ExitCode()
	}
	return code, out.String(), errs.String()
}

// TestR11DeviceFault lets the device touch an illegal address in the middle of a run: by default the run stops with the cause
// and status 5, and can be resumed; with retry and cpu it goes on by itself, once, to the same digest and recordings. Where
// BURST_REQUIRE_CUDA asks for a GPU a kernel does so there, while one of ten checkpoints is written.
func TestR11DeviceFault(t *testing.T) {
	slow.Test(t)
	x := newTrial(t)
	where, times := "a stand-in for libcuda", 1
	plant := func(int) []string { return []string{hostControl + "=fail_launch=7"} }
	var lib []string
	if os.Getenv("BURST_REQUIRE_CUDA") != "" {
		cudatest.Device(t)
		where, times = "a GPU", 10
		plant = func(i int) []string { return []string{fmt.Sprintf("%s=%d", faultAt, i+1)} }
	} else {
		lib = []string{driver.LibraryVariable + "=" + standIn(t)}
	}
	args := slices.Concat([]string{"run", x.genome}, x.args, []string{"--backend", "cuda", "--checkpoint-every", "50"})
	var bursts []uint64
	for i := range times {
		out := filepath.Join(x.dir, fmt.Sprint("stop-", i))
		code, stdout, stderr := asProgram(t, append(plant(i), lib...), append(args, "--out", out)...)
		require.Equal(t, exitDevice, code, stderr)
		require.Contains(t, stderr, "CUDA_ERROR_ILLEGAL_ADDRESS")
		require.Empty(t, stdout, "no result comes after a fault")
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Equal(t, manifest.Failed, f.Manifest.Status)
		require.Len(t, f.Manifest.Faults, 1)
		require.Equal(t, "stop", f.Manifest.Faults[0].Action)
		require.Contains(t, f.Manifest.Faults[0].Cause, "CUDA_ERROR_ILLEGAL_ADDRESS")
		require.NotZero(t, f.Manifest.Faults[0].Burst)
		bursts = append(bursts, f.Manifest.Faults[0].Burst)
		for rows, err := range f.Spikes() {
			require.NoError(t, err)
			require.Less(t, rows.Burst[len(rows.Burst)-1], f.Manifest.Faults[0].Burst, "nothing of the burst that failed")
		}
		code, _, stderr = asProgram(t, lib, "resume", out, "--quiet", "--expect-digest", x.want.digest)
		require.Zero(t, code, stderr)
		require.Equal(t, x.want, look(t, out))
	}
	for i, action := range []string{"cpu", "retry"} {
		out := filepath.Join(x.dir, action)
		code, stdout, stderr := asProgram(t, append(plant(i+4), lib...), append(args, "--out", out, "--on-device-fault", action)...)
		require.Zero(t, code, stderr)
		require.Equal(t, x.want.digest+"\n", stdout)
		require.Equal(t, x.want, look(t, out))
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Equal(t, action, f.Manifest.Faults[0].Action)
		require.Len(t, f.Manifest.Resumed, 1)
		require.Equal(t, map[string]string{"retry": "cuda", "cpu": "cpu"}[action], f.Manifest.Resumed[0].Backend)
	}
	t.Logf("R11: on %s, faults at bursts %v stopped, were retried, and went on on the CPU: one digest", where, bursts)

	code, _, stderr := call("run", x.genome, "--no-out", "--on-device-fault", "retry")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "needs the run's folder")
	code, _, _ = call("run", x.genome, "--on-device-fault", "pray")
	require.Equal(t, exitUsage, code)
}

// TestFaultBeforeTheRun: a device that fails while a backend is opened leaves no run to go on with, only its cause.
func TestFaultBeforeTheRun(t *testing.T) {
	fault := &engine.DeviceError{Err: errors.New("fell off the bus"), Lost: true}
	for _, action := range []string{faultStop, faultRetry, faultCPU} {
		r := &runner{o: &runOptions{onFault: action}} // which no network was opened for
		require.Equal(t, error(fault), r.afterFault(fault), action)
	}
	require.Equal(t, exitDevice, exitCode(fault))
}

// outOfBounds is a kernel that writes where nothing is.
const outOfBounds = `.version 6.3
.target sm_75
.address_size 64
.visible .entry out_of_bounds()
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	mov.u64 %rd1, 4096;
	mov.u32 %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// faulter is a disk that has the GPU touch an illegal address when the nth checkpoint is begun. All users of a device in a
// process share its context, and so lose it together.
type faulter struct {
	checkpoint.OS
	left int
}

func (f *faulter) Create(path string) (checkpoint.File, error) {
	if f.left--; f.left == 0 {
		if err := fault(); err == nil {
			return nil, errors.New("the kernel that writes out of bounds has ended well")
		}
	}
	return f.OS.Create(path)
}

// fault runs outOfBounds.
func fault() error {
	e, err := executor.Open(executor.Options{})
	if err != nil {
		panic(err)
	}
	m, err := e.Load([]byte(outOfBounds))
	if err != nil {
		panic(err)
	}
	k, err := m.Kernel("out_of_bounds")
	if err != nil {
		panic(err)
	}
	s, err := e.Stream()
	if err != nil {
		panic(err)
	}
	return errors.Join(k.Launch(s, executor.Threads(1, 1)), s.Synchronize())
}

// TestR12DeviceMemory: a network that the device has no room for is refused with status 4 before anything is taken there.
func TestR12DeviceMemory(t *testing.T) {
	slow.Short(t)
	x := newTrial(t)
	lib := driver.LibraryVariable + "=" + standIn(t)
	code, _, stderr := asProgram(t, []string{lib, hostControl + "=free=1000"}, "run", x.genome, "--backend", "cuda", "--no-out", "--quiet")
	require.Equal(t, exitLimit, code, stderr)
	require.Contains(t, stderr, "device 0 has 1000 free")
}

// TestR13NoDevice: whatever is wrong with the GPU, auto runs on the CPU with one line that says why, cuda ends with status 5
// and a cure, and devices gives the reason.
func TestR13NoDevice(t *testing.T) {
	slow.Short(t)
	x := newTrial(t)
	lib := driver.LibraryVariable + "=" + standIn(t)
	cases := map[string][]string{
		"no library":         {driver.LibraryVariable + "=" + filepath.Join(x.dir, "libcuda.so.1")},
		"no device":          {lib, hostControl + "=devices=0"},
		"devices hidden":     {lib, hostControl + "=devices=0", "CUDA_VISIBLE_DEVICES="},
		"driver too old":     {lib, hostControl + "=version=10020"},
		"function missing":   {driver.LibraryVariable + "=" + emptyLibrary(t)},
		"capability too low": {lib, hostControl + "=capability=61"},
	}
	none := []string{"no library", "no device", "devices hidden"}
	for name, env := range cases {
		code, stdout, stderr := asProgram(t, env, "run", x.genome, "--bursts", "20", "--no-out", "--json")
		require.Zero(t, code, "%s: %s", name, stderr)
		require.Contains(t, stdout, `"backend": "cpu"`, name)
		why := "cpu: no GPU taken: "
		if slices.Contains(none, name) {
			why = "cpu: no NVIDIA GPU found; `burst doctor` says more\n"
		}
		require.Equal(t, 1, strings.Count(stderr, why), "%s: %s", name, stderr)
		code, _, stderr = asProgram(t, env, "run", x.genome, "--backend", "cuda", "--no-out", "--quiet")
		require.Equal(t, exitDevice, code, "%s: %s", name, stderr)
		require.NotContains(t, stderr, "panic", name)
		require.Greater(t, len(stderr), 60, "a cause and a cure")
		code, stdout, stderr = asProgram(t, env, "devices")
		require.Zero(t, code, "%s: %s", name, stderr)
		require.Regexp(t, "no GPU: .{20,}|no: .{10,}", stdout, name)
	}
	t.Logf("R13: %d ways of having no GPU, each with its reason", len(cases))
}

// emptyLibrary is a shared library without a function of CUDA.
func emptyLibrary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "empty.cpp")
	require.NoError(t, os.WriteFile(source, []byte("extern \"C\" int burst_nothing() { return 0; }\n"), 0o600))
	lib := filepath.Join(dir, "libempty.so")
	out, err := exec.Command("g++", "-shared", "-fPIC", "-o", lib, source).CombinedOutput()
	require.NoError(t, err, string(out))
	return lib
}
