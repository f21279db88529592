package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"burst/internal/exchange/nccl/nccltest"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestOneGPUEach starts processes that are told nothing of GPUs: each takes one of its own, or nothing is built.
func TestOneGPUEach(t *testing.T) {
	slow.Test(t)
	nccltest.Host(t, 1)
	code, want, stderr := call("run", "quickstart", "--bursts", "40", "--no-out", "--quiet", "--backend", "cpu")
	require.Zero(t, code, stderr)
	tiny := []string{"--max-memory", "100kB"} // building would end with exitLimit
	for _, c := range []struct {
		name, launcher string
		processes      int
		control        string // of the stand-in
		env            []string
		args           []string
		code           int
		says           string
	}{
		{"as many as processes", openMPI, 3, "devices=3", nil, nil, exitOK, "3 parts joined by NCCL"},
		{"as many as processes", mpich, 2, "devices=2", nil, nil, exitOK, "2 parts joined by NCCL"},
		{"shown one each", openMPI, 2, "devices=1 hidden=$OMPI_COMM_WORLD_LOCAL_RANK", nil, nil, exitOK, "2 parts joined by NCCL"},
		{"one for two", openMPI, 2, "devices=1", nil, tiny, exitDevice, "want a GPU each, and see 1 in all, enough for 1; start no more than 1 there"},
		{"one for two", mpich, 2, "devices=1", nil, tiny, exitDevice, "2 processes on "},
		{"one for two, on two hosts", mpich, 2, "devices=1", []string{"MPIR_CVAR_ODD_EVEN_CLIQUES=1"}, nil, exitOK, "2 parts joined by MPI"},
		{"one for two, on purpose", openMPI, 2, "devices=1", nil, []string{"--device", "0"}, exitOK, "2 parts joined by MPI"},
		{"none", mpich, 2, "devices=0", nil, tiny, exitDevice, "no NVIDIA GPU that the driver can use"},
		{"none of use", mpich, 2, "devices=2 capability=61", nil, tiny, exitDevice, "compute capability 6.1, want 7.5"},
	} {
		t.Run(c.name+" "+c.launcher, func(t *testing.T) {
			if quick := []string{"shown one each", "one for two, on two hosts", "none"}; !slices.Contains(quick, c.name) {
				slow.Test(t)
			}
			code, stdout, stderr := launch(t, c.launcher, c.processes, append(c.env, hostControl+"="+c.control),
				append([]string{"run", "quickstart", "--bursts", "40", "--no-out", "--json", "--backend", "cuda"}, c.args...)...)
			require.Equal(t, c.code, code, stderr)
			if c.code != exitOK {
				require.Contains(t, stderr, c.says)
				require.Equal(t, 1, strings.Count(stderr, "burst: "), stderr)
				return
			}
			var r result
			require.NoError(t, json.Unmarshal([]byte(stdout), &r), stdout)
			require.Equal(t, want, r.Digest+"\n")
			require.Contains(t, r.Device, c.says, stderr)
		})
	}
}
