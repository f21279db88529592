// Package nccltest lets tests use NCCL on machines without a GPU: it replaces libnccl, as cudatest replaces libcuda. It tests
// arguments, the order of calls and error paths, but not speed.
package nccltest

import (
	"embed"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/cudatest"
	"burst/internal/exchange/nccl"
)

//go:embed host
var sources embed.FS

// Build compiles a stand-in with the macros of its source that are given, such as OLD. What is compiled is kept for later tests.
func Build(t testing.TB, macros ...string) (library string) {
	t.Helper()
	host, err := fs.Sub(sources, "host")
	require.NoError(t, err)
	flags := []string{"-O1", "-Wall", "-Werror"}
	for _, m := range macros {
		flags = append(flags, "-D"+m)
	}
	return cudatest.Library(t, host, "standin.cpp", flags...)
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
