// Package cudatest lets tests run CUDA code on machines without a GPU. It builds a library that replaces libcuda, NVRTC, cuBLAS and
// NVML. The library runs the kernels of package kernels on the CPU, with a fiber for each GPU thread. It checks its arguments, and fails
// where a test asks it to. Kernels that a user writes run as plain loops. So tests see arithmetic, arguments, synchronisation and error
// paths. Limits of a device, and speed, need a real GPU.
package cudatest

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"burst/internal/clib"
	"burst/internal/cuda/driver"
	"burst/kernels"
)

//go:embed host
var sources embed.FS

// cacheVariable names the environment variable by which Main tells where tests keep what they compile, also for later ones.
const cacheVariable = "BURST_STAND_IN_CACHE"

// build gives the stand-in.
var build = sync.OnceValues(func() (string, error) {
	host, err := fs.Sub(sources, "host")
	if err != nil {
		return "", err
	}
	return keep(hostUnit(host), unit{"kernels.cpp", []fs.FS{kernels.Sources, host}, flags})
})

var flags = []string{"-O2", "-Wall", "-Werror", "-Wno-unknown-pragmas"}

// racing are the flags of kernels that are watched.
var racing = []string{
	"-O1", "-g1", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-function", "-DRACES", "-fsanitize=thread", "--param=tsan-distinguish-volatile=1",
}

// hostUnit is all of the stand-in but the kernels.
func hostUnit(host fs.FS) unit { return unit{"host.cpp", []fs.FS{host}, flags} }

// Compile makes a file of C++ with g++.
func Compile(to string, args ...string) error {
	out, err := exec.Command("g++", append([]string{"-std=c++17", "-ffp-contract=off", "-fPIC", "-o", to}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("g++: %w\n%s", err, out)
	}
	return nil
}

// Main runs a package's tests. What they compile is kept in the user's cache folder, or until they end where there is none.
func Main(m interface{ Run() int }) int {
	cache, err := os.UserCacheDir() // before a test names another
	if err != nil {
		if cache, err = os.MkdirTemp("", "burst-host"); err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(cache) }()
	}
	if err := os.Setenv(cacheVariable, filepath.Join(cache, "burst-tests")); err != nil {
		panic(err)
	}
	return m.Run()
}

// haveCompiler says whether the stand-in can be built here.
func haveCompiler() bool {
	_, err := exec.LookPath("g++")
	return err == nil && runtime.GOOS == "linux"
}

// NeedCompiler skips loudly where there is no g++; CI must have one.
func NeedCompiler(t testing.TB) {
	t.Helper()
	if !haveCompiler() {
		require.Empty(t, os.Getenv("CI"), "CI must have g++ on Linux")
		t.Skip("SKIPPED: no g++ on Linux here, so the kernels were not run on the host")
	}
}

// Library is a file of sources, compiled with these flags.
func Library(t testing.TB, sources fs.FS, file string, flags ...string) string {
	t.Helper()
	NeedCompiler(t)
	lib, err := keep(unit{file, []fs.FS{sources}, flags})
	require.NoError(t, err)
	return lib
}

// StandIn steers the stand-in.
type StandIn struct {
	t   testing.TB
	d   *driver.Driver
	lib string
}

// Host is the stand-in, freshly reset, as the driver library of this test. NVRTC, cuBLAS and NVML are missing until With
// brings them.
func Host(t testing.TB) *StandIn {
	t.Helper()
	NeedCompiler(t)
	lib, err := build()
	require.NoError(t, err)
	return open(t, lib)
}

// Change is another text at a place of a kernel's source that occurs once.
type Change struct{ File, From, To string }

// Bursts names a kernel of many bursts.
type Bursts string

// The kernels of many bursts that Checked can compile.
const (
	Run      Bursts = "BURSTS(run_bursts_lif)"
	Resident Bursts = "BURSTS(resident_bursts_lif)"
	Lasting  Bursts = "LASTING(lasting_bursts_lif)"
	Ahead    Bursts = "BURSTS(resident_bursts_psc_exp), LASTING(lasting_bursts_psc_exp)"
	Cluster  Bursts = "BURSTS(cluster_bursts_lif)"
	Custom   Bursts = "BURSTS(run_bursts_custom)"
	Event    Bursts = "BURSTS(event_bursts)"
	Late     Bursts = "BURSTS(late_bursts_lif)"
	Sums     Bursts = "BURSTS(sum_bursts_lif)"
	Learn    Bursts = "LEARN_ENTRIES, BURSTS(learn_bursts)"
	Ranges   Bursts = "LEARN_ENTRIES, BURSTS(learn_bursts_ranges)"
	Local    Bursts = "LEARN_ENTRIES, BURSTS(local_bursts), LASTING(lasting_local)"
)

// Checked is Host for networks whose neurons are all lif, or with Ahead lif_psc_exp, or with Custom of models of the genome's own. The kernels say where
// memory is used by threads that nothing puts in order, and end the launch. Of those of many bursts there are the ones that are
// named, with some text changed.
func Checked(t testing.TB, bursts []Bursts, changes ...Change) *StandIn {
	t.Helper()
	list := ""
	for _, b := range bursts {
		list += string(b) + ", "
	}
	host, err := fs.Sub(sources, "host")
	require.NoError(t, err)
	return watched(t, host, unit{"kernels.cpp", []fs.FS{kernels.Sources, host}, racing},
		unit{"checked.cpp", []fs.FS{changed(t, changes), host}, append(slices.Clip(racing), "-DCHECKED="+list)})
}

// Building is Checked for the kernels that build networks.
func Building(t testing.TB, changes ...Change) *StandIn {
	t.Helper()
	host, err := fs.Sub(sources, "host")
	require.NoError(t, err)
	flags := append(slices.Clip(racing), "-O0") // each mistake is compiled by itself, which takes longer than its run
	return watched(t, host, unit{"building.cpp", []fs.FS{changed(t, changes), host}, flags})
}

// watched is the stand-in with the kernels of some units.
func watched(t testing.TB, host fs.FS, units ...unit) *StandIn {
	t.Helper()
	NeedCompiler(t)
	lib, err := keep(append(units, hostUnit(host))...)
	require.NoError(t, err)
	return open(t, lib)
}

// changed is the kernels' text with changes.
func changed(t testing.TB, changes []Change) fs.FS {
	files := fstest.MapFS{}
	names, err := fs.Glob(kernels.Sources, "*")
	require.NoError(t, err)
	for _, name := range names {
		text, err := fs.ReadFile(kernels.Sources, name)
		require.NoError(t, err)
		files[name] = &fstest.MapFile{Data: text, Mode: 0o600}
	}
	for _, c := range changes {
		f := files[c.File]
		require.NotNil(t, f, "no file %s", c.File)
		require.Equal(t, 1, bytes.Count(f.Data, []byte(c.From)), "%s has %q once; keep the test in step with the code", c.File, c.From)
		f.Data = bytes.Replace(f.Data, []byte(c.From), []byte(c.To), 1)
	}
	return files
}

// open makes a library the driver of this test.
func open(t testing.TB, lib string) *StandIn {
	t.Helper()
	t.Setenv(driver.LibraryVariable, lib)
	for _, v := range []string{driver.NVRTCVariable, driver.CUBLASVariable, driver.NVMLVariable} {
		t.Setenv(v, filepath.Join(t.TempDir(), "missing.so"))
	}
	d, err := driver.Open(lib)
	require.NoError(t, err)
	h := &StandIn{t: t, d: d, lib: lib}
	h.Control("reset", 0)
	t.Cleanup(func() { h.Control("reset", 0) })
	return h
}

// With lets the stand-in be these libraries too, named by the driver's variables.
func (h *StandIn) With(variables ...string) *StandIn {
	for _, v := range variables {
		h.t.Setenv(v, h.lib)
	}
	return h
}

// WithAll is With every library that there is a stand-in for.
func (h *StandIn) WithAll() *StandIn {
	return h.With(driver.NVRTCVariable, driver.CUBLASVariable, driver.NVMLVariable)
}

// Control sets what the stand-in pretends; host/host.cpp lists the keys.
func (h *StandIn) Control(key string, value int64) {
	k := append([]byte(key), 0)
	require.NoError(h.t, h.d.Call("hostControl", clib.Ptr(&k[0]), clib.Int(value)))
}

// Count is what the stand-in holds or has done; host/host.cpp lists the keys.
func (h *StandIn) Count(key string) int64 {
	k := append([]byte(key), 0)
	value := new(int64)
	require.NoError(h.t, h.d.Call("hostCount", clib.Ptr(&k[0]), clib.Ptr(value)))
	return *value
}

// Device makes sure that there is a real GPU, and keeps its context, which it returns, alive during the test, so that not every
// user makes one. Without a GPU the test is skipped, or fails where BURST_REQUIRE_CUDA is set.
func Device(t testing.TB) *driver.Context {
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
	return c
}

// Anywhere is Device where BURST_REQUIRE_CUDA asks for a GPU, else the stand-in with all its libraries.
func Anywhere(t testing.TB) *StandIn {
	t.Helper()
	if os.Getenv("BURST_REQUIRE_CUDA") != "" {
		Device(t)
		return nil
	}
	h := Host(t)
	h.WithAll()
	return h
}

// WithoutFunctions is a library that has only two of the driver's functions.
func WithoutFunctions(t testing.TB) string {
	t.Helper()
	return Library(t, fstest.MapFS{"few.cpp": {Mode: 0o600, Data: []byte(`#pragma GCC visibility push(default)
extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
`)}}, "few.cpp")
}

// UnsetVisible makes sure that CUDA_VISIBLE_DEVICES is not set during the test.
func UnsetVisible(t testing.TB) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	require.NoError(t, os.Unsetenv("CUDA_VISIBLE_DEVICES"))
}
