// Package nccltest lets tests use NCCL on machines without a GPU: it replaces libnccl, as cudatest replaces libcuda. It tests
// arguments, the order of calls and error paths, but not speed.
package nccltest

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/cudatest"
	"burst/internal/exchange/nccl"
)

//go:embed host/standin.cpp
var source []byte

// Build compiles a stand-in, once a process, with the macros of its source that are given, such as OLD.
func Build(t testing.TB, macros ...string) (library string) {
	t.Helper()
	cudatest.NeedCompiler(t)
	library = filepath.Join(cudatest.Folder(t), "libnccl"+strings.Join(macros, "-")+".so")
	if _, err := os.Stat(library); err == nil {
		return library
	}
	file := library + ".cpp"
	require.NoError(t, os.WriteFile(file, source, 0o600))
	args := []string{"-shared", "-O1", "-Wall", "-Werror", file}
	for _, m := range macros {
		args = append(args, "-D"+m)
	}
	require.NoError(t, cudatest.Compile(library, args...))
	return library
}

// Host makes a stand-in the library of this test, and one for libcuda with so many devices.
func Host(t testing.TB, devices int64, macros ...string) *cudatest.StandIn {
	t.Helper()
	h := cudatest.Host(t)
	h.Control("devices", devices)
	t.Setenv(nccl.Library, Build(t, macros...))
	t.Setenv("TMPDIR", t.TempDir())
	return h
}
