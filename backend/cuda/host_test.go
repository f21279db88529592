package cuda

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"burst/backend/cuda/driver"
	"burst/kernels"
)

//go:embed testdata/host.cpp
var hostSource []byte

// buildHost compiles the stand-in for libcuda with the kernels in it, once a process.
var buildHost = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "burst-host")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, kernels.Sources); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "host.cpp"), hostSource, 0o600); err != nil {
		return "", err
	}
	lib := filepath.Join(dir, "libhost.so")
	return lib, compile(lib, "-O2", "-Wall", "-Werror", "-Wno-unknown-pragmas", filepath.Join(dir, "host.cpp"))
})

// compile makes a shared library of C++.
func compile(lib string, args ...string) error {
	out, err := exec.Command("g++", append([]string{"-std=c++17", "-ffp-contract=off", "-shared", "-fPIC", "-o", lib}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("g++: %w\n%s", err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if lib, err := buildHost(); err == nil {
		_ = os.RemoveAll(filepath.Dir(lib))
	}
	os.Exit(code)
}

// needCompiler skips loudly where there is no g++; CI must have one.
func needCompiler(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil || runtime.GOOS != "linux" {
		require.Empty(t, os.Getenv("CI"), "CI must have g++ on Linux")
		t.Skip("SKIPPED: no g++ on Linux here, so the kernels were not run on the host")
	}
}

// host is the stand-in, freshly reset, as the driver library of this test.
func host(t *testing.T) *standIn {
	t.Helper()
	needCompiler(t)
	lib, err := buildHost()
	require.NoError(t, err)
	t.Setenv(driver.LibraryVariable, lib)
	d, err := driver.Open(lib)
	require.NoError(t, err)
	h := &standIn{t: t, d: d}
	h.control("reset", 0)
	t.Cleanup(func() { h.control("reset", 0) })
	return h
}

// anywhere runs a test on the real GPU where BURST_REQUIRE_CUDA asks for one, else on the stand-in.
func anywhere(t *testing.T) {
	t.Helper()
	if os.Getenv("BURST_REQUIRE_CUDA") != "" {
		device(t)
	} else {
		host(t)
	}
}

// device makes sure that there is a real GPU, and keeps its context alive during the test, so that not every Open makes
// one. Without a GPU the test is skipped, or fails where BURST_REQUIRE_CUDA is set.
func device(t *testing.T) {
	t.Helper()
	d, err := driver.Open("")
	if errors.Is(err, driver.ErrUnavailable) && os.Getenv("BURST_REQUIRE_CUDA") == "" {
		t.Skipf("SKIPPED: %v", err)
	}
	require.NoError(t, err)
	v, err := d.Device(0)
	require.NoError(t, err)
	c, err := v.Retain()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Release()) })
}

// standIn steers testdata/host.cpp.
type standIn struct {
	t *testing.T
	d *driver.Driver
}

func (h *standIn) control(key string, value int64) {
	k := append([]byte(key), 0)
	require.NoError(h.t, h.d.Call("hostControl", uintptr(unsafe.Pointer(&k[0])), uintptr(value)))
}

func (h *standIn) count(key string) int64 {
	k := append([]byte(key), 0)
	value := new(int64)
	require.NoError(h.t, h.d.Call("hostCount", uintptr(unsafe.Pointer(&k[0])), uintptr(unsafe.Pointer(value))))
	return *value
}
