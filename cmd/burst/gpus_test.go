package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"burst/backend/cuda"
	"burst/backend/cuda/cudatest"
	"burst/connectome"
	"burst/record"

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
	x := newTrial(t)
	standIns(t, 3)
	out := filepath.Join(x.dir, "devices")
	stop := func(args ...string) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		ctx = context.WithValue(ctx, diskKey{}, &stopper{left: 3, stop: cancel})
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitTerminated, execute(ctx, args, &stdout, &stderr), stderr.String())
	}
	stop("run", x.genome, "--out", out, "--quiet", "--backend", "cuda", "--devices", "0,1", "--checkpoint-every", "30", "--record", "spikes=all")
	stop("resume", out, "--quiet", "--devices", "2,0,1")
	code, _, stderr := call("resume", out, "--quiet", "--expect-digest", x.want.digest)
	require.Zero(t, code, stderr)
	f, err := record.Open(out)
	require.NoError(t, err)
	require.Len(t, f.Manifest.Resumed, 2)
	require.Equal(t, "3 × Host Stand-in (devices 2, 0, 1)", f.Manifest.Resumed[0].Device)
}

// TestDeviceLostAmongOthers takes a device away in the middle of a launch: status 5 with the cause, and resuming on the
// devices that are left ends with the digest of a run that nothing happened to.
func TestDeviceLostAmongOthers(t *testing.T) {
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
		{"0,one", `"one" is no device`, exitUsage},
		{"0,-1", `"-1" is no device`, exitUsage},
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
	standIns(t, 3)
	code, stdout, stderr := call("verify", "quickstart", "--backends", "reference,cuda", "--devices", "2,1", "--bursts", "60")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "reference and cuda are equal over 60 bursts")
	code, stdout, stderr = call("inspect", "quickstart", "--cost", "--bursts", "30", "--devices", "2,1", "--json")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "2 × Host Stand-in (devices 2, 1)")
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
		{1000, 1 << 30, []int{0}},
		{199_999_999, 1 << 30, []int{0}},
		{200_000_000, 1 << 30, []int{0, 2}},
		{9_000_000_000, 1 << 30, []int{0, 2, 3}},
		{1000, 1000, []int{0, 2, 3}},
	} {
		for i := range list {
			list[i].MemoryFree = s.room
		}
		require.Equal(t, s.want, cuda.Spread(head, s.synapses, list), "%d synapses, %d bytes a device", s.synapses, s.room)
	}
	require.Empty(t, cuda.Spread(head, 1, nil))
}
