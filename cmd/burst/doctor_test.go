package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/cuda/doctor"
	"burst/internal/cuda/cudatest"
)

// TestDoctor runs the command on a GPU that is well, and on one that computes wrongly.
func TestDoctor(t *testing.T) {
	if testing.Short() {
		t.Skip("the checks themselves, which take half a minute, are tested in backend/cuda/doctor")
	}
	h := cudatest.Host(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	call := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := execute(context.Background(), append([]string{"doctor", "--quick"}, args...), &out, &errs)
		return code, out.String(), errs.String()
	}
	code, out, _ := call()
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "Host Stand-in")
	require.Contains(t, out, "note  nvrtc: ", "what burst does not need is a note")
	require.Contains(t, out, "All is well: 25 kernels gave the right results.")

	h.Control("skip_launch", 1)
	code, out, errs := call()
	require.Equal(t, exitDevice, code)
	require.Contains(t, out, "WRONG device 0: vector add: wrong result: element 0 is ")
	require.Contains(t, out, "-> do not trust this GPU")
	require.Contains(t, errs, "--backend cpu")

	h.With("BURST_LIBNVML")
	h.Control("nvml_errors", 2)
	code, out, _ = call("--json")
	require.Equal(t, exitOK, code, "errors of the past are no proof")
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.True(t, r.Passed)
	require.EqualValues(t, 2, *r.Devices[0].Health.Uncorrected)
}
