package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"burst/internal/exchange/nccl"
	"burst/internal/exchange/nccl/nccltest"
	"burst/internal/slow"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// gpuProcesses runs burst in processes that see so many GPUs, all the same.
func gpuProcesses(t *testing.T, processes, devices int, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return mpirun(t, processes, append(env, fmt.Sprintf("%s=devices=%d", hostControl, devices)), append(args, "--backend", "cuda")...)
}

// TestMPIByNCCL runs networks on GPUs of several processes: digest and recordings are those of one process, and the
// output names what joined them.
func TestMPIByNCCL(t *testing.T) {
	slow.Test(t)
	nccltest.Host(t, 1)
	x := newTrial(t)
	out := filepath.Join(x.dir, "nccl")
	code, stdout, stderr := gpuProcesses(t, 3, 3, nil, append([]string{"run", x.genome, "--devices", "all", "--out", out}, x.args...)...)
	require.Zero(t, code, stderr)
	require.Equal(t, x.want.digest+"\n", stdout, "one process reports")
	require.Equal(t, x.want, look(t, out))
	f, err := runfolder.Open(out)
	require.NoError(t, err)
	require.Equal(t, "Host Stand-in, 3 parts joined by NCCL 2.27.3", f.Manifest.Device)
	code, _, stderr = gpuProcesses(t, 2, 2, nil, "replay", out, "--quiet", "--devices", "1,0", "--exchange", "nccl")
	require.Zero(t, code, stderr)
	for _, name := range []string{"quickstart", "c-elegans"} {
		code, want, stderr := call("run", name, "--bursts", "90", "--quiet", "--no-out", "--backend", "cpu")
		require.Zero(t, code, stderr)
		for _, via := range []string{run.ViaNCCL, run.ViaMPI} {
			code, stdout, stderr := gpuProcesses(t, 2, 2, nil, "run", name, "--bursts", "90", "--json", "--no-out", "--devices", "all", "--exchange", via)
			require.Zero(t, code, stderr)
			var r result
			require.NoError(t, json.Unmarshal([]byte(stdout), &r), stdout)
			require.Equal(t, want, r.Digest+"\n", "%s by %s", name, via)
			require.Equal(t, map[string]string{run.ViaNCCL: "NCCL 2.27.3", run.ViaMPI: "MPI"}[via], r.Exchange)
		}
	}
	t.Run("killed", func(t *testing.T) { killedByNCCL(t, x) })
}

// killedByNCCL kills one of three processes: all end, and the run goes on without NCCL to the same digest.
func killedByNCCL(t *testing.T, x *trial) {
	out := filepath.Join(x.dir, "nccl-killed")
	code, _, stderr := gpuProcesses(t, 3, 3, []string{fmt.Sprintf("%s=1 %d 400", signalAt, syscall.SIGKILL)}, append([]string{"run", x.genome, "--devices", "all", "--out", out}, x.args...)...)
	require.Equal(t, 128+int(syscall.SIGKILL), code, stderr)
	x.finish(t, out, "killed among parts joined by NCCL")
}

// TestExchangeChosen: NCCL is taken where every process has a GPU of its own and the library is there; else MPI is, with the
// reason, or, where NCCL was asked for, nothing runs.
func TestExchangeChosen(t *testing.T) {
	slow.Test(t)
	nccltest.Host(t, 1)
	missing := nccl.Library + "=/nowhere/libnccl.so.2"
	for _, c := range []struct {
		name    string
		devices int
		env     string
		args    []string
		code    int
		says    string
	}{
		{"auto", 2, "", []string{"--devices", "all"}, exitOK, "joined by NCCL 2.27.3"},
		{"one GPU for two, auto", 1, "", []string{"--devices", "0"}, exitOK, "exchange: MPI (NCCL is not available: parts 0 and 1 share a GPU"},
		{"one GPU for two", 1, "", []string{"--devices", "0", "--exchange", "nccl"}, exitDevice, "NCCL wants one for each; give --devices 0,1,… or all"},
		{"no library, auto", 2, missing, []string{"--devices", "0,1"}, exitOK, "joined by MPI"},
		{"no library", 2, missing, []string{"--devices", "0,1", "--exchange", "nccl"}, exitDevice, "or name it: BURST_LIBNCCL=/path/to/libnccl.so.2"},
		{"MPI", 2, missing, []string{"--devices", "all", "--exchange", "mpi"}, exitOK, "joined by MPI"},
		{"no such exchange", 2, "", []string{"--exchange", "rdma"}, exitUsage, `--exchange "rdma", want one of auto, mpi, nccl`},
		{"a failure in one while joining", 2, "HOST_NCCL_fail_init=257", []string{"--devices", "all", "--exchange", "nccl"}, exitDevice, "unhandled cuda error"},
		{"a failure of one in a burst", 2, "HOST_NCCL_fail_gather=257\nHOST_NCCL_fail_after=20", []string{"--devices", "all"}, exitPart, "part 1 of 2: ncclAllGather: unhandled cuda error"},
		{"a failure of the first in a burst", 2, "HOST_NCCL_fail_gather=1\nHOST_NCCL_fail_after=20", []string{"--devices", "all"}, exitDevice, "ncclAllGather: unhandled cuda error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if quick := []string{"auto", "one GPU for two, auto", "a failure of one in a burst"}; !slices.Contains(quick, c.name) {
				slow.Test(t)
			}
			code, stdout, stderr := gpuProcesses(t, 2, c.devices, strings.Fields(c.env), append([]string{"run", "quickstart", "--bursts", "40", "--no-out"}, c.args...)...)
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stdout+stderr, c.says)
			if code != exitOK {
				require.Equal(t, 1, strings.Count(stderr, "burst: "), stderr)
			}
		})
	}
	code, _, stderr := mpirun(t, 2, nil, "run", "quickstart", "--no-out", "--exchange", "nccl", "--backend", "cpu")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--exchange nccl needs the cuda backend, but the backend is cpu; add --backend cuda")
}
