package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"burst/backend/cuda"
	"burst/connectome"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// standIns makes so many GPUs.
func standIns(t *testing.T, n int64) *cudatest.StandIn {
	t.Helper()
	h := cudatest.Host(t)
	h.Control("devices", n)
	return h
}

// TestResumeOnOtherDevices stops a run on two devices, goes on with three, is stopped again and ends on one: one digest.
func TestResumeOnOtherDevices(t *testing.T) {
	slow.Test(t)
	x := newTrial(t)
	standIns(t, 3)
	out := filepath.Join(x.dir, "devices")
	stop := func(args ...string) {
		ctx, cancel := context.WithCancelCause(undrawn())
		defer cancel(nil)
		ctx = context.WithValue(ctx, diskKey{}, &stopper{left: 3, stop: cancel})
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitTerminated, execute(ctx, args, &stdout, &stderr), stderr.String())
	}
	stop("run", x.genome, "--out", out, "--quiet", "--backend", "cuda", "--devices", "0,1", "--checkpoint-every", "30", "--record", "spikes=all")
	stop("resume", out, "--quiet", "--devices", "2,0,1")
	code, _, stderr := call("resume", out, "--quiet", "--expect-digest", x.want.digest)
	require.Zero(t, code, stderr)
	f, err := runfolder.Open(out)
	require.NoError(t, err)
	require.Len(t, f.Manifest.Resumed, 2)
	require.Equal(t, "3 × Host Stand-in (devices 2, 0, 1)", f.Manifest.Resumed[0].Device)
	require.Equal(t, "resident", f.Manifest.Path, "of the one device that it ended on")
	require.Contains(t, f.Manifest.PathWhy, "state fits shared memory")
}

// TestKernelPathIsReported: run and inspect say by which kernel a network runs on the GPU, and why.
func TestKernelPathIsReported(t *testing.T) {
	slow.Short(t)
	standIns(t, 1)
	code, stdout, stderr := call("run", "quickstart", "--bursts", "3", "--no-out", "--backend", "cuda")
	require.Zero(t, code, stderr)
	require.Regexp(t, `\npath +resident \(resident_bursts_feagi\): state fits shared memory`, stdout)
	code, stdout, stderr = call("run", "quickstart", "--bursts", "3", "--no-out", "--backend", "cuda", "--json")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, `"kernel": "resident_bursts_feagi"`)
	code, stdout, stderr = call("inspect", "quickstart", "--cost", "--bursts", "3")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "path on the GPU: resident")
	require.Contains(t, stdout, "\n  not teams: rows of 3 synapses, want at least 400\n")
}

// TestDeviceLostAmongOthers takes a device away in the middle of a launch: status 5 with the cause, and resuming on the
// devices that are left ends with the digest of a run that nothing happened to.
func TestDeviceLostAmongOthers(t *testing.T) {
	slow.Test(t)
	x := newTrial(t)
	h := standIns(t, 3)
	h.Control("lose_device", 2)
	h.Control("lose_at", 333)
	out := filepath.Join(x.dir, "lost")
	code, stdout, stderr := call("run", x.genome, "--out", out, "--backend", "cuda", "--devices", "0,1,2", "--quiet", "--checkpoint-every", "50", "--record", "spikes=all")
	require.Equal(t, exitDevice, code, stderr)
	require.Contains(t, stderr, "device 2, burst 333")
	require.Empty(t, stdout)
	h.Control("reset", 0)
	h.Control("devices", 2)
	code, _, stderr = call("resume", out, "--quiet", "--devices", "all", "--expect-digest", x.want.digest)
	require.Zero(t, code, stderr)
}

// TestDevicesRefused checks the list before anything is built, and the devices when they are opened.
func TestDevicesRefused(t *testing.T) {
	h := standIns(t, 3)
	for _, c := range []struct {
		list, want string
		code       int
	}{
		{"0,1,0", `names device 0 twice`, exitUsage},
		{"0,one", `"one" is not a device`, exitUsage},
		{"0,-1", `"-1" is not a device`, exitUsage},
		{"", "", exitOK}, // one device
		{"1,3", "device 3, want 0…2", exitDevice},
		{"0,1,2,3,4,5,6,7,8", "9 devices, want at most 8", exitOther},
	} {
		code, _, stderr := call("run", "quickstart", "--bursts", "3", "--no-out", "--quiet", "--backend", "cuda", "--devices", c.list)
		require.Equal(t, c.code, code, "%q: %s", c.list, stderr)
		require.Contains(t, stderr, c.want)
	}
	h.Control("peer_access", 0)
	code, _, stderr := call("run", "quickstart", "--no-out", "--backend", "cuda", "--devices", "0,2")
	require.Equal(t, exitDevice, code)
	require.Contains(t, stderr, "device 2 cannot use the memory of device 0")
	code, _, stderr = call("verify", "quickstart", "--device", "1", "--devices", "0,2")
	require.NotZero(t, code)
	require.Contains(t, stderr, "[device devices]")
}

// TestDevicesEverywhere gives --devices to the other commands that open a GPU.
func TestDevicesEverywhere(t *testing.T) {
	slow.Short(t)
	standIns(t, 3)
	code, stdout, stderr := call("verify", "quickstart", "--backends", "reference,cuda", "--devices", "2,1", "--bursts", "60")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "reference and cuda are equal over 60 bursts")
	code, stdout, stderr = call("inspect", "quickstart", "--cost", "--bursts", "30", "--devices", "2,1", "--json")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "2 × Host Stand-in (devices 2, 1)")
	if !slow.Asked() { // whole examples, on one device and on several
		return
	}
	code, stdout, stderr = call("bench", "--backend", "cuda", "--devices", "all", "--suite", "digests", "quickstart", "--json")
	require.Zero(t, code, stderr)
	var proofs []struct {
		Devices []int
		Equal   bool
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &proofs))
	require.Len(t, proofs, 2)
	require.Equal(t, []int{0, 1}, proofs[1].Devices)
	require.True(t, proofs[1].Equal)
}

// TestPartsFitWhereTheWholeDoesNot gives the host room for a half: two devices then run the network that one is refused, to
// the digest of a run with room enough.
func TestPartsFitWhereTheWholeDoesNot(t *testing.T) {
	slow.Test(t)
	standIns(t, 3)
	path := filepath.Join(t.TempDir(), "wide.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`burst: v1
name: wide
areas: [{name: a, neurons: 2003, drive: {poisson: {rate: 90 Hz, weight: 1.2}}}]
projections: [{from: a, to: a, rule: fixed_outdegree, outdegree: 999, weight: 0.005, delay: "uniform(1, 4)"}]
`), 0o600))
	run := func(args ...string) (int, string, string) {
		return call(append([]string{"run", path, "--bursts", "20", "--no-out", "--threads", "1", "--quiet"}, args...)...)
	}
	code, want, stderr := run()
	require.Zero(t, code, stderr)
	const room = "18MB" // 9 bytes for each of two million synapses, 9 MB of them in a half, and 6.5 MB to draw and sort
	code, _, stderr = run("--backend", "cuda", "--build", "host", "--max-memory", room)
	require.Equal(t, exitLimit, code, stderr)
	for _, where := range [][]string{{"--device", "0"}, {"--devices", "0,1", "--build", "host"}, {"--devices", "2,1,0", "--build", "host"}} {
		code, got, stderr := run(append(where, "--backend", "cuda", "--max-memory", room)...) // or the GPU builds, and the host has no synapses
		require.Zero(t, code, stderr)
		require.Equal(t, want, got, where)
	}
	code, _, stderr = run("--backend", "cuda", "--devices", "0,1", "--build", "host", "--max-memory", "4MB")
	require.Equal(t, exitLimit, code, stderr)
	require.Contains(t, stderr, "projections[0].outdegree: building needs")
}

// TestAutoOnSeveralDevices takes them where they pass a burst beside the reference; else the whole is built for the
// processor, and one line says why.
func TestAutoOnSeveralDevices(t *testing.T) {
	slow.Short(t)
	h := standIns(t, 3)
	run := func() (result, string) {
		code, stdout, stderr := call("run", "quickstart", "--bursts", "100", "--no-out", "--devices", "2,0", "--json")
		require.Zero(t, code, stderr)
		var r result
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		return r, stderr
	}
	shared, stderr := run()
	require.Contains(t, stderr, "cuda: 2 × Host Stand-in (devices 2, 0), passed a self-test burst")
	require.Equal(t, "cuda", shared.Backend)
	h.Control("peer_access", 0)
	alone, stderr := run()
	require.Contains(t, stderr, "cpu: no GPU taken: device 0 cannot use the memory of device 2")
	require.Equal(t, "cpu", alone.Backend)
	require.Equal(t, alone.Digest, shared.Digest)
	require.Equal(t, alone.Connectome, shared.Connectome)
	require.Equal(t, alone.Synapses, shared.Synapses)
	require.NotZero(t, shared.Spikes)
	h.Control("reset", 0)
	h.Control("devices", 0)
	alone, stderr = run()
	require.Equal(t, "cpu", alone.Backend)
	require.Contains(t, stderr, "cpu: no NVIDIA GPU found; `burst doctor` says more\n")
}

// TestReplayOnSeveralDevices runs again on two devices what one processor has run.
func TestReplayOnSeveralDevices(t *testing.T) {
	slow.Short(t)
	standIns(t, 2)
	out := filepath.Join(t.TempDir(), "once")
	code, _, stderr := call("run", "quickstart", "--bursts", "100", "--backend", "cpu", "--out", out, "--quiet")
	require.Zero(t, code, stderr)
	code, _, stderr = call("replay", out, "--backend", "cuda", "--devices", "1,0", "--quiet")
	require.Zero(t, code, stderr)
	code, _, stderr = call("replay", out, "--backend", "cuda", "--devices", "1,1", "--quiet")
	require.Equal(t, exitUsage, code, stderr)
}

// TestSpread keeps small networks on one device, and takes as many as large ones need.
func TestSpread(t *testing.T) {
	list := []cuda.DeviceInfo{
		{Index: 0, Usable: true, MemoryFree: 1 << 30}, {Index: 1, MemoryFree: 1 << 40}, {Index: 2, Usable: true, MemoryFree: 1 << 30},
		{Index: 3, Usable: true, MemoryFree: 1 << 30},
	}
	head := &connectome.Connectome{Neurons: 1, Ports: 1, MaxDelay: 1}
	for _, s := range []struct {
		synapses uint64
		room     uint64
		want     []int
	}{
		{1000, 1 << 31, []int{0}},
		{199_999_999, 1 << 31, []int{0}},
		{199_999_999, 1 << 30, []int{0, 2}}, // 8 bytes each
		{200_000_000, 1 << 31, []int{0, 2}},
		{9_000_000_000, 1 << 31, []int{0, 2, 3}},
		{1000, 1000, []int{0, 2, 3}},
	} {
		for i := range list {
			list[i].MemoryFree = s.room
		}
		require.Equal(t, s.want, cuda.Spread(head, s.synapses, list), "%d synapses, %d bytes a device", s.synapses, s.room)
	}
	require.Empty(t, cuda.Spread(head, 1, nil))
}

// TestBuildOnDevice: GPUs build a network, one alone or each its part, and the run has the digest and the network's hash of a run that was
// built on the host. What they cannot build is refused.
func TestBuildOnDevice(t *testing.T) {
	slow.Short(t)
	h := standIns(t, 2)
	path := filepath.Join(t.TempDir(), "made.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`burst: v1
seed: 3
timestep: 0.1 ms
scale: auto
areas:
  - name: E
    neurons: 300
    model: lif
    params: {tau: 20 ms, threshold: 20 mV, refractory: 2 ms}
    drive: {poisson: {rate: 20 kHz, weight: 0.4 mV}}
projections:
  - from: E
    to: E
    rule: fixed_indegree
    indegree: 30
    weight: "normal(0.3 mV, 0.2 mV) > 0 mV"
    delay: "lognormal(1.5 ms, 1 ms) >= 0.1 ms"
`), 0o600))
	run := func(args ...string) (r result) {
		code, stdout, stderr := call(append([]string{"run", path, "--bursts", "80", "--no-out", "--json"}, args...)...)
		require.Zero(t, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		return r
	}
	want := run("--backend", "cpu")
	require.NotZero(t, want.Spikes)
	for _, args := range [][]string{{"--backend", "cuda"}, {"--device", "1"}, {"--backend", "cuda", "--devices", "1,0"}} {
		got := run(append(args, "--build", "device")...)
		require.Equal(t, want.Digest, got.Digest, args)
		require.Equal(t, "device: the synapses stay there", got.Builder.String())
		require.Zero(t, h.Count("held"), args)
	}
	for says, args := range map[string][]string{
		"projections[1].rule: a GPU does not build synapses of the rule projector; build the network on the host (--build host)": {"quickstart", "--backend", "cuda", "--build", "device"},
		"--build device is for the cuda backend, and --backend is cpu; leave one of them out":                                    {path, "--backend", "cpu", "--build", "device"},
		`--build is "gpu", want auto, host or device`:                                                                            {path, "--build", "gpu"},
	} {
		code, _, stderr := call(append([]string{"run", "--no-out", "--bursts", "3"}, args...)...)
		require.NotZero(t, code)
		require.Contains(t, stderr, says)
		require.Zero(t, h.Count("held"), args)
	}
	for says, args := range map[string][]string{ // of --build auto, the default
		"host: a GPU does not build synapses of the rule projector": {"quickstart"},
		"host: 9000 synapses, want at least 2000000":                {path},
	} {
		code, stdout, stderr := call(append([]string{"run", "--no-out", "--bursts", "3", "--backend", "cuda"}, args...)...)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, says)
	}
	require.Nil(t, run("--backend", "cuda", "--build", "host").Builder)
	chosen := filepath.Join(t.TempDir(), "chosen.yaml") // takes tables while it is built
	require.NoError(t, os.WriteFile(chosen, []byte("burst: v1\nareas:\n  - {name: E, neurons: 300, model: lif}\nprojections:\n"+
		"  - {from: E, to: E, rule: fixed_indegree, indegree: 150, multapses: false, weight: 0.1 mV}\n"), 0o600))
	h.Control("free", 450_000)
	code, stdout, stderr := call("run", chosen, "--no-out", "--bursts", "3", "--build", "device")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "built    host: the GPU has 450000 bytes free and building needs ")
	require.Zero(t, h.Count("held"))
	for _, one := range []struct {
		key   string
		value int64
		says  string
	}{{"free", 300_000, "no GPU taken: "}, {"devices", 0, "no NVIDIA GPU found"}} { // auto builds and runs on the host
		h.Control(one.key, one.value)
		code, stdout, stderr := call("run", path, "--no-out", "--bursts", "3", "--build", "device")
		require.Zero(t, code, stderr)
		require.Contains(t, stdout+stderr, "cpu: "+one.says)
		code, _, stderr = call("run", path, "--no-out", "--bursts", "3", "--build", "device", "--backend", "cuda")
		require.Contains(t, []int{exitDevice, exitLimit}, code, stderr)
		require.Zero(t, h.Count("held"), one.key)
	}
}
