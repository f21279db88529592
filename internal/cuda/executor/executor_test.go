package executor_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
	"burst/kernels"
)

// TestMain fails when a test has left a goroutine behind.
func TestMain(m *testing.M) { cudatest.Verify(m) }

// open is an Executor with a cache of the test's own, on a GPU or on the stand-in.
func open(t *testing.T) *executor.Executor {
	t.Helper()
	e, err := executor.Open(executor.Options{CacheFolder: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// toolbox is the embedded toolbox, loaded.
func toolbox(t *testing.T, e *executor.Executor) *executor.Module {
	t.Helper()
	image, err := kernels.Choose(kernels.Toolbox(), e.Capability(), kernels.ISA(e.Driver().Version()))
	require.NoError(t, err)
	m, err := e.Load([]byte(image.PTX()))
	require.NoError(t, err)
	return m
}

func kernel(t *testing.T, m *executor.Module, name string) *executor.Kernel {
	t.Helper()
	k, err := m.Kernel(name)
	require.NoError(t, err)
	return k
}

func stream(t *testing.T, e *executor.Executor) *executor.Stream {
	t.Helper()
	s, err := e.Stream()
	require.NoError(t, err)
	return s
}

// TestExample runs what Example shows, where Example itself may have no GPU.
func TestExample(t *testing.T) {
	cudatest.Anywhere(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for range 2 { // compiled, then cached
		y, err := along(line{Slope: -1.5, Offset: 0.25}, []float32{1, 2.5, -3})
		if errors.Is(err, driver.ErrUnavailable) {
			t.Skipf("SKIPPED: %v", err) // a GPU without NVRTC
		}
		require.NoError(t, err)
		require.Equal(t, []float32{-1.25, -3.5, 4.75}, y)
	}
}

// TestArguments holds every wrong argument to an error that names it, before anything is launched.
func TestArguments(t *testing.T) {
	cudatest.Anywhere(t)
	e := open(t)
	m := toolbox(t, e)
	s := stream(t, e)
	b, err := e.Alloc(s, 4000)
	require.NoError(t, err)
	gone, err := e.Alloc(s, 4000)
	require.NoError(t, err)
	require.NoError(t, gone.Free(s))
	require.ErrorContains(t, gone.Free(s), "freed before")

	add := kernel(t, m, "add_f32")
	norm := kernel(t, m, "batch_norm_f64")
	for _, c := range []struct {
		name   string
		kernel *executor.Kernel
		args   []any
		want   string
	}{
		{"too few", add, []any{b, b, b}, "3 arguments, want 4: a whole number or pointer of 8 bytes, "},
		{"too many", add, []any{b, b, b, uint64(1), uint64(1)}, "5 arguments, want 4"},
		{"a plain int", add, []any{b, b, b, 17}, "argument 3: int has no size that C shares"},
		{"too small", add, []any{b, b, b, uint32(17)}, "argument 3: uint32 has 4 bytes, want a whole number or pointer of 8 bytes"},
		{"a float for a length", add, []any{b, b, b, float64(17)}, "argument 3: float64 where the kernel declares a whole number"},
		{"a number for a float", norm, []any{b, b, b, b, uint64(3), uint64(3), uint64(1)}, "argument 6: uint64 where the kernel declares a float of 8 bytes"},
		{"Go memory", add, []any{[]float32{1}, b, b, uint64(1)}, "argument 0: []float32 has no size that C shares"},
		{"a Go pointer in a struct", add, []any{struct{ p *int }{}, b, b, uint64(1)}, "argument 0: struct { p *int } has no size that C shares"},
		{"nothing", add, []any{nil, b, b, uint64(1)}, "argument 0: nil, want a whole number or pointer of 8 bytes; pass driver.Ptr(0)"},
		{"freed memory", add, []any{b, gone, b, uint64(1)}, "argument 1 is a buffer that was freed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.kernel.Launch(s, executor.Threads(10, 32), c.args...)
			require.ErrorContains(t, err, "kernel "+strings.Fields(err.Error())[1])
			require.ErrorContains(t, err, c.want)
		})
	}
	require.NoError(t, s.Synchronize(), "nothing was launched")

	_, err = m.Kernel("_Z6vectorPf")
	require.ErrorContains(t, err, `no kernel "_Z6vectorPf", there are abs_c128, abs_f32,`)
	require.ErrorContains(t, err, `extern "C"`)
	err = add.Launch(s, executor.Grid{Blocks: [3]uint32{1, 2, 1}, Block: [3]uint32{32}, Cooperative: true}, b, b, b, uint64(1))
	require.ErrorContains(t, err, "want one dimension")
	require.ErrorContains(t, executor.Upload(s, b, make([]float64, 501)), "upload of 4008 bytes, the buffer has 4000")
	require.ErrorContains(t, executor.Download(s, make([]byte, 1), gone), "freed")
	_, err = e.Alloc(s, 0)
	require.ErrorContains(t, err, "0 bytes of device memory")
	_, err = e.Pin(0)
	require.ErrorContains(t, err, "want at least 1")
}

// TestTooNewPTX refuses PTX that driver or device cannot take before the driver sees it.
func TestTooNewPTX(t *testing.T) {
	h := cudatest.Host(t)
	h.Control("version", 12020)
	h.Control("capability", 89)
	e := open(t)
	load := func(version, target string) error {
		_, err := e.Load([]byte(".version " + version + "\n.target " + target + "\n.address_size 64\n.visible .entry f()\n{\nret;\n}\n"))
		return err
	}
	modules := h.Count("held")
	err := load("8.4", "sm_75")
	var tooNew *executor.TooNewError
	require.ErrorAs(t, err, &tooNew)
	require.Equal(t, executor.TooNewError{PTX: 84, Driver: 82, CUDA: 12020}, *tooNew)
	require.ErrorContains(t, err, "the code is PTX 8.4, the driver (CUDA 12.2) takes PTX up to 8.2; update the NVIDIA driver, or compile with CUDA 12.2 or older")
	err = load("7.8", "sm_90")
	var target *executor.TargetError
	require.ErrorAs(t, err, &target)
	require.ErrorContains(t, err, "compute capability 9.0 and newer, the device has 8.9; compile with --gpu-architecture=compute_89")
	require.Equal(t, modules, h.Count("held"), "the driver was not asked")
	require.NoError(t, load("8.2", "sm_89"))
	_, err = e.Load([]byte("\x7fELF"))
	require.ErrorContains(t, err, "no .version and .target")

	image, err := kernels.Choose(kernels.Toolbox(), 90, kernels.ISA(11070))
	require.NoError(t, err)
	require.Equal(t, "toolbox_sm_75.ptx", image.Name, "CUDA 11.7 ends at PTX 7.7, so the lower one is taken")

	h.Control("version", 14000)
	future := open(t)
	_, err = future.Load([]byte(".version 9.9\n.target sm_75\n.address_size 64\n"))
	require.NoError(t, err, "what a driver beyond the table takes, only it knows")
}

// TestLoadsOnce gives the same module for the same code, also to goroutines that ask at once.
func TestLoadsOnce(t *testing.T) {
	h := cudatest.Host(t)
	e := open(t)
	first := toolbox(t, e)
	held := h.Count("held")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if toolbox(t, e) != first {
				t.Error("another module of the same code")
			}
		})
	}
	wg.Wait()
	require.Equal(t, held, h.Count("held"))
	require.Len(t, first.Kernels(), 34)
}

// TestCompile checks log, options, headers, cache and the cache's failure.
func TestCompile(t *testing.T) {
	h := cudatest.Host(t).With(driver.NVRTCVariable)
	folder := t.TempDir()
	e, err := executor.Open(executor.Options{CacheFolder: folder})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	const good = `extern "C" __global__ void f(int *p, double d, short s) { *p = (int)d + s; }`
	first, err := e.Compile(good, executor.CompileOptions{})
	require.NoError(t, err)
	require.False(t, first.Cached)
	require.NoError(t, first.CacheErr)
	require.Contains(t, string(first.PTX), ".target sm_90", "the device's own capability")
	second, err := e.Compile(good, executor.CompileOptions{})
	require.NoError(t, err)
	require.True(t, second.Cached)
	require.Equal(t, first.PTX, second.PTX)
	require.EqualValues(t, 1, h.Count("compilations"))

	for name, o := range map[string]executor.CompileOptions{
		"options": {Options: []string{"--fmad=false"}}, "capability": {Capability: 75}, "headers": {Headers: map[string]string{"a.h": "1"}},
	} {
		other, err := e.Compile(good, o)
		require.NoError(t, err)
		require.False(t, other.Cached, name)
	}
	h.Control("version", 12040)
	updated, err := executor.Open(executor.Options{CacheFolder: folder})
	require.NoError(t, err)
	again, err := updated.Compile(good, executor.CompileOptions{})
	require.NoError(t, err)
	require.False(t, again.Cached, "another driver")
	require.NoError(t, updated.Close())

	_, err = e.Compile(`extern "C" __global__ void f() { return two; }`, executor.CompileOptions{})
	var refused *executor.CompileError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Log, "two")
	require.ErrorContains(t, err, "NVRTC_ERROR_COMPILATION")
	_, err = e.Compile(good, executor.CompileOptions{Options: []string{"--no-such-option"}})
	require.ErrorContains(t, err, "unrecognized option --no-such-option")

	file := folder + "/file"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	blocked, err := executor.Open(executor.Options{CacheFolder: file + "/sub"})
	require.NoError(t, err)
	code, err := blocked.Compile(good, executor.CompileOptions{})
	require.NoError(t, err, "a cache that does not work costs time only")
	require.ErrorContains(t, code.CacheErr, "not a directory")
	require.NoError(t, blocked.Close())
	none, err := executor.Open(executor.Options{CacheFolder: file + "/sub", CacheBytes: -1})
	require.NoError(t, err)
	code, err = none.Compile(good, executor.CompileOptions{})
	require.NoError(t, err)
	require.NoError(t, code.CacheErr)
	require.NoError(t, none.Close())
}

// TestOwnKernel3D launches a grid of three dimensions, with a struct and every width of number.
func TestOwnKernel3D(t *testing.T) {
	cudatest.Anywhere(t)
	e := open(t)
	code, err := e.Compile(`
struct box { short width, height; double unit; };
extern "C" __global__ void place(float *out, box b, signed char more, unsigned long long n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned long long i = (unsigned long long)(z * b.height + y) * b.width + x;
    if (x < b.width && y < b.height && i < n) out[i] = (float)(100 * z + 10 * y + x) * (float)b.unit + more;
}`, executor.CompileOptions{})
	if errors.Is(err, driver.ErrUnavailable) {
		t.Skipf("SKIPPED: %v", err)
	}
	require.NoError(t, err)
	m, err := e.Load(code.PTX)
	require.NoError(t, err)
	s := stream(t, e)
	const w, h, d = 5, 3, 4
	out, err := e.Alloc(s, 4*w*h*d)
	require.NoError(t, err)
	type box struct {
		width, height int16
		unit          float64
	}
	got := make([]float32, w*h*d)
	grid := executor.Grid{Blocks: [3]uint32{2, 3, 2}, Block: [3]uint32{4, 1, 2}}
	require.NoError(t, errors.Join(
		kernel(t, m, "place").Launch(s, grid, out, box{w, h, 0.5}, int8(-2), uint64(w*h*d)),
		executor.Download(s, got, out), s.Synchronize()))
	for i, v := range got {
		x, y, z := i%w, i/w%h, i/w/h
		require.Equal(t, float32(100*z+10*y+x)*0.5-2, v, "element %d", i)
	}
}

// TestStreamsOverlap sends pieces through two streams with pinned memory, and makes one stream wait for the other's event.
func TestStreamsOverlap(t *testing.T) {
	cudatest.Anywhere(t)
	e := open(t)
	add := kernel(t, toolbox(t, e), "add_f32")
	const pieces, n = 6, 5003
	in, err := e.Pin(4 * pieces * n)
	require.NoError(t, err)
	out, err := e.Pin(4 * pieces * n)
	require.NoError(t, err)
	from, to := executor.PinnedSlice[float32](in), executor.PinnedSlice[float32](out)
	for i := range from {
		from[i] = float32(i) / 8
	}
	streams := [2]*executor.Stream{stream(t, e), stream(t, e)}
	for p := range pieces {
		s := streams[p%2]
		x, err := e.Alloc(s, 4*n)
		require.NoError(t, err)
		require.NoError(t, errors.Join(
			executor.Upload(s, x, from[p*n:(p+1)*n]),
			add.Launch(s, executor.Threads(n, 256), x, x, x, uint64(n)),
			executor.Download(s, to[p*n:(p+1)*n], x), x.Free(s)))
	}
	start, err := streams[0].Record()
	require.NoError(t, err)
	require.NoError(t, streams[1].Wait(start))
	end, err := streams[1].Record()
	require.NoError(t, err)
	require.NoError(t, end.Synchronize())
	took, err := end.Since(start)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took.Nanoseconds(), int64(0))
	for i, v := range to {
		require.Equal(t, float32(i)/4, v, "element %d", i)
	}
	stats := e.PoolStats()
	require.EqualValues(t, pieces, stats.Hits+stats.Misses)
	require.GreaterOrEqual(t, stats.Hits, uint64(4))
	require.NoError(t, errors.Join(start.Close(), end.Close(), in.Free(), streams[0].Close(), streams[0].Close()))
}

// TestSeveralDevices copies between two devices.
func TestSeveralDevices(t *testing.T) {
	cudatest.Host(t).Control("devices", 2)
	n, err := executor.Devices()
	require.NoError(t, err)
	require.Equal(t, 2, n)
	a := open(t)
	b, err := executor.Open(executor.Options{Device: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	require.Equal(t, 1, b.Device().Index())
	sa, sb := stream(t, a), stream(t, b)
	x, err := a.Alloc(sa, 80)
	require.NoError(t, err)
	y, err := b.Alloc(sb, 80)
	require.NoError(t, err)
	got := make([]uint32, 20)
	require.NoError(t, errors.Join(sa.Fill(x, 0x5A), sa.Synchronize(), sb.Copy(y, x, 80), executor.Download(sb, got, y), sb.Synchronize()))
	for _, v := range got {
		require.EqualValues(t, 0x5A5A5A5A, v)
	}
	require.ErrorContains(t, sb.Copy(y, x, 81), "copy of 81 bytes from a buffer of 80")
	_, err = executor.Open(executor.Options{Device: 2})
	require.ErrorIs(t, err, driver.ErrUnavailable)
}

// TestCloseFreesAll leaves nothing behind, whatever the user forgot.
func TestCloseFreesAll(t *testing.T) {
	h := cudatest.Host(t)
	before := h.Count("held")
	e, err := executor.Open(executor.Options{})
	require.NoError(t, err)
	toolbox(t, e)
	s := stream(t, e)
	for i := range 5 {
		b, err := e.Alloc(s, uint64(700*(i+1)))
		require.NoError(t, err)
		if i%2 == 0 {
			require.NoError(t, b.Free(s))
		}
	}
	_, err = e.Pin(100)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	require.Equal(t, before, h.Count("held"))
	require.NoError(t, e.Close(), "twice is once")
}

// TestLaunchFault comes back from Synchronize and says that the context is lost.
func TestLaunchFault(t *testing.T) {
	h := cudatest.Host(t)
	e, err := executor.Open(executor.Options{})
	require.NoError(t, err)
	add := kernel(t, toolbox(t, e), "add_f32")
	s := stream(t, e)
	b, err := e.Alloc(s, 4)
	require.NoError(t, err)
	h.Control("fail_launch", 1)
	require.NoError(t, add.Launch(s, executor.Threads(1, 32), b, b, b, uint64(1)), "a launch only queues")
	err = s.Synchronize()
	require.True(t, driver.Sticky(err), "%v", err)
	require.Error(t, e.Close())
}

func ExampleThreads() {
	g := executor.Threads(1000, 256)
	fmt.Println(g.Blocks, g.Block)
	// Output: [4 1 1] [256 1 1]
}
