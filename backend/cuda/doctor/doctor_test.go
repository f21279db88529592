package doctor

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
)

// TestMain fails when a test has left a goroutine behind.
func TestMain(m *testing.M) { cudatest.Verify(m) }

// look examines with a cache of the test's own.
func look(t *testing.T, e effort) *Report {
	t.Helper()
	return lookIn(t.TempDir(), e)
}

func lookIn(folder string, e effort) *Report {
	x := &examiner{effort: e, folder: folder}
	x.examine()
	return &x.report
}

// check is the check of a name; there must be exactly one.
func check(t *testing.T, r *Report, name string) Check {
	t.Helper()
	var found []Check
	for _, c := range r.Checks {
		if c.Name == name {
			found = append(found, c)
		}
	}
	require.Len(t, found, 1, "%s in %+v", name, r.Checks)
	return found[0]
}

// TestHealthy proves the stand-in with every library, and with none but the driver: all kernels compute what they should.
func TestHealthy(t *testing.T) {
	h := cudatest.Host(t).WithAll()
	cudatest.UnsetVisible(t)
	r := look(t, effort{})
	for _, c := range r.Checks {
		require.True(t, c.OK, "%+v", c)
		require.Empty(t, c.Cause+c.Advice, c.Name)
	}
	require.True(t, r.Passed)
	require.Equal(t, Library{Path: r.NVRTC.Path, Version: "12.3"}, r.NVRTC)
	require.Equal(t, "NVRTC 12.3", r.Devices[0].Code)
	require.Equal(t, "570.11", r.NVML.Version)
	require.Equal(t, "device 0: health", check(t, r, "device 0: health").Name)
	require.Equal(t, "no faults known, PCIe 5.0 × 16, ECC on, 3 corrected errors, 1 remapped rows", check(t, r, "device 0: health").Found)
	proofs := 0
	for _, c := range r.Checks {
		if c.Found == Right {
			proofs++
		}
	}
	require.Equal(t, 7+18, proofs, "vector add, product, 3 activations, 2 normalisations, 6 operations on 3 types")
	require.Zero(t, h.Count("held"))

	h = cudatest.Host(t)
	h.Control("devices", 2)
	r = look(t, effort{})
	require.True(t, r.Passed, "burst needs neither NVRTC nor NVML: %+v", r.Checks)
	require.Len(t, r.Devices, 2)
	require.Equal(t, "toolbox_sm_90.ptx", r.Devices[1].Code)
	require.Equal(t, "right", check(t, r, "device 1: tanh").Found)
	require.Zero(t, h.Count("held"))
}

// TestBroken fakes what goes wrong on real machines: each has its cause, its advice, and its verdict on the GPU.
func TestBroken(t *testing.T) {
	for _, c := range []struct {
		name          string
		set           func(t *testing.T)
		check         string
		cause, advice string
		passed        bool // no GPU that is there failed
	}{
		{
			name:  "no driver library",
			set:   func(t *testing.T) { t.Setenv(driver.LibraryVariable, filepath.Join(t.TempDir(), "libcuda.so.1")) },
			check: "driver", cause: "is not installed", advice: "install the NVIDIA driver", passed: true,
		},
		{
			name:  "a driver library that lacks functions",
			set:   func(t *testing.T) { t.Setenv(driver.LibraryVariable, cudatest.WithoutFunctions(t)) },
			check: "driver", cause: "has no function cuGetErrorName", advice: "update the NVIDIA driver", passed: true,
		},
		{
			name:  "driver too old for burst",
			set:   func(t *testing.T) { cudatest.Host(t).Control("version", 10020) },
			check: "driver", cause: "speaks CUDA 10.2, CUDA 11.4 or newer is wanted", advice: "update the NVIDIA driver", passed: true,
		},
		{
			name:  "no cooperative launches",
			set:   func(t *testing.T) { cudatest.Host(t).Control("cooperative", 0) },
			check: "device 0: bursts", cause: "no cooperative launches", advice: "update the NVIDIA driver", passed: true,
		},
		{
			name:  "no device",
			set:   func(t *testing.T) { cudatest.UnsetVisible(t); cudatest.Host(t).Control("devices", 0) },
			check: "devices", cause: "the driver finds no NVIDIA GPU", advice: "docker run --gpus all", passed: true,
		},
		{
			name:  "devices hidden",
			set:   func(t *testing.T) { cudatest.Host(t).Control("devices", 0); t.Setenv("CUDA_VISIBLE_DEVICES", "7") },
			check: "devices", cause: `CUDA_VISIBLE_DEVICES="7" hides every device`, advice: "unset CUDA_VISIBLE_DEVICES", passed: true,
		},
		{
			name:  "device too old",
			set:   func(t *testing.T) { cudatest.Host(t).Control("capability", 61) },
			check: "device 0: ptx", cause: "compute capability 6.1, want 7.5", advice: "burst runs on the CPU",
		},
		{
			name:  "driver refuses the PTX",
			set:   func(t *testing.T) { cudatest.Host(t).Control("ptx_isa", 62) },
			check: "device 0: load", cause: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", advice: "too old for this PTX: update the NVIDIA driver",
		},
		{
			name:  "device held by another process",
			set:   func(t *testing.T) { cudatest.Host(t).Control("fail_context", 1) },
			check: "device 0: context", cause: "CUDA_ERROR_DEVICE_UNAVAILABLE", advice: "another process holds the GPU alone",
		},
		{
			name:  "no free memory",
			set:   func(t *testing.T) { cudatest.Host(t).Control("free", 3<<20) },
			check: "device 0: memory", cause: "out of memory: 3 MiB of 1048576 MiB are free", advice: "stop them",
		},
		{
			name:  "out of memory while running",
			set:   func(t *testing.T) { cudatest.Host(t).Control("fail_alloc", 2) },
			check: "device 0: vector add", cause: "CUDA_ERROR_OUT_OF_MEMORY", advice: "nvidia-smi lists them",
		},
		{
			name:  "a launch that fails",
			set:   func(t *testing.T) { cudatest.Host(t).Control("fail_launch", 2) },
			check: "device 0: matrix product", cause: "CUDA_ERROR_ILLEGAL_ADDRESS", advice: "Xid",
		},
		{
			name:  "wrong results",
			set:   func(t *testing.T) { cudatest.Host(t).Control("skip_launch", 5) },
			check: "device 0: ReLU", cause: "wrong result: element ", advice: "do not trust this GPU",
		},
		{
			name:  "no NVRTC",
			set:   func(t *testing.T) { cudatest.Host(t) },
			check: "nvrtc", cause: "missing.so", advice: "install the CUDA toolkit's NVRTC", passed: true,
		},
		{
			name:  "NVRTC refuses",
			set:   func(t *testing.T) { cudatest.Host(t).WithAll().Control("fail_compile", 1) },
			check: "device 0: compile", cause: `default_program(3): error: identifier "blockidx" is undefined`, advice: "embedded PTX is used", passed: true,
		},
		{
			name: "NVRTC newer than the driver",
			set: func(t *testing.T) {
				h := cudatest.Host(t).WithAll()
				h.Control("nvrtc_isa", 87)
				h.Control("version", 12020)
			},
			check: "device 0: code", cause: "the code is PTX 8.7, the driver (CUDA 12.2) takes PTX up to 8.2", advice: "compile with CUDA 12.2 or older", passed: true,
		},
		{
			name:  "memory waits for a repair",
			set:   func(t *testing.T) { cudatest.Host(t).WithAll().Control("nvml_pending", 1) },
			check: "device 0: health", cause: "waits for its remapping", advice: "reset the GPU", passed: true,
		},
		{
			name:  "a link of half its width",
			set:   func(t *testing.T) { cudatest.Host(t).WithAll().Control("nvml_width", 8) },
			check: "device 0: health", cause: "8 of 16 lanes", advice: "check the slot", passed: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.set(t)
			r := look(t, effort{})
			got := check(t, r, c.check)
			require.False(t, got.OK)
			require.Contains(t, got.Cause, c.cause)
			require.Contains(t, got.Advice, c.advice)
			require.Equal(t, c.passed, r.Passed, "%+v", r.Checks)
			for _, other := range r.Checks {
				if !other.OK {
					require.NotEmpty(t, other.Cause, other.Name)
				}
			}
		})
	}
}

// TestCacheNotWritable uses the code all the same.
func TestCacheNotWritable(t *testing.T) {
	cudatest.Host(t).WithAll()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	r := lookIn(filepath.Join(file, "cache"), effort{})
	c := check(t, r, "device 0: cache")
	require.False(t, c.OK)
	require.Contains(t, c.Cause, "not a directory")
	require.Contains(t, c.Advice, "XDG_CACHE_HOME")
	require.True(t, r.Passed)
	require.Equal(t, "NVRTC 12.3", r.Devices[0].Code)
}

// TestFallsBack takes the embedded PTX of the lower version where NVRTC fails or the driver is older than the newer PTX.
func TestFallsBack(t *testing.T) {
	h := cudatest.Host(t).WithAll()
	h.Control("fail_compile", 1)
	require.Equal(t, "toolbox_sm_90.ptx", look(t, effort{}).Devices[0].Code)
	h.Control("version", 11060)
	r := look(t, effort{})
	require.True(t, r.Passed)
	require.Equal(t, "toolbox_sm_75.ptx", r.Devices[0].Code)
	require.Equal(t, "burst_sm_75.ptx", r.Devices[0].PTX)
	require.Contains(t, r.Devices[0].Choice, "takes PTX up to 7.6; burst_sm_90.ptx would suit the device but is PTX 7.8")
}

// TestMeasures measures small things on the stand-in: every number is there, and wrong sums are found.
func TestMeasures(t *testing.T) {
	small := effort{sizes: []int{64, 96}, host: 96, bytes: 1 << 16, counters: 1 << 10, launches: 7, rounds: 5, least: time.Microsecond}
	h := cudatest.Host(t).WithAll()
	r := look(t, small)
	require.True(t, r.Passed, "%+v", r.Checks)
	names := map[string]bool{}
	for _, m := range r.Devices[0].Measures {
		require.Positive(t, m.Value, m.Name)
		require.NotEmpty(t, m.Unit)
		names[m.Name] = true
	}
	for _, n := range []string{
		"matrix product 64², burst's kernel", "matrix product 64², cuBLAS", "matrix product 96², burst's kernel", "matrix product 96², gonum on the processor",
		"copy to the device, pinned", "copy from the device, pageable", "device memory, read and written",
		"launch, in a row", "launch and wait", "atomic additions, scattered", "grid barrier",
	} {
		require.True(t, names[n], "%s in %v", n, names)
	}
	require.Equal(t, "12.3.4", r.CUBLAS.Version)
	require.Zero(t, h.Count("held"))

	proved := 1 + 3 + 2*3 + 2*2 + 3*6 // launches of the proof: three tiles, two types of five kernels
	h.Control("fail_launch", int64(proved+2))
	r = look(t, small)
	require.False(t, r.Passed, "a fault while measuring is a fault")
	require.Contains(t, check(t, r, "device 0: matrix product speed").Cause, "CUDA_ERROR_ILLEGAL_ADDRESS")
	require.Empty(t, r.Devices[0].Measures)

	h.Control("reset", 0)
	h.Control("blas_fails", 1)
	r = look(t, small)
	require.Contains(t, check(t, r, "cublas").Cause, "cublasCreate_v2: status 3")
	require.True(t, r.Passed, "cuBLAS is no part of the proof")
}

// TestFreivalds finds one wrong element of a large product.
func TestFreivalds(t *testing.T) {
	const n = 96
	x, y := numbers[float32](1, n*n, 1), numbers[float32](2, n*n, 1)
	got := make([]float32, n*n)
	for i, v := range product(x, y, n, n, n, func(v float64) float64 { return v }) {
		got[i] = float32(v)
	}
	require.NoError(t, freivalds(got, x, y, n))
	got[17*n+5] += 0.01
	require.ErrorContains(t, freivalds(got, x, y, n), "element 17 is")
}

// TestTranscendentals holds the embedded kernels to the errors that kernels/transcendental.cuh names.
func TestTranscendentals(t *testing.T) {
	cudatest.Host(t)
	worst := func(name string, got, want, unit float64) {
		require.LessOrEqual(t, math.Abs(got-want)/unit, 3.0, "%s: %v, want %v", name, got, want)
	}
	x := &examiner{folder: t.TempDir()}
	require.True(t, x.driver())
	p := &patient{examiner: x, device: &x.report.Devices[0]}
	var err error
	p.exec, err = executor.Open(executor.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.exec.Close()) }()
	require.True(t, p.prepare())
	x32, x64 := numbers[float32](21, 200_000, 12), numbers[float64](22, 200_000, 24)
	y32, y64 := make([]float32, len(x32)), make([]float64, len(x64))
	for name, f := range map[string]func(float64) float64{"tanh": math.Tanh, "sigmoid": func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }} {
		require.NoError(t, run(p, name+"_f32", p.grid(len(x32)), [][]float32{x32}, y32, uint64(len(x32))))
		require.NoError(t, run(p, name+"_f64", p.grid(len(x64)), [][]float64{x64}, y64, uint64(len(x64))))
		for i := range x32 {
			w := f(float64(x32[i]))
			worst(name, float64(y32[i]), w, float64(math.Nextafter32(float32(math.Abs(w)), 2)-float32(math.Abs(w))))
			w = f(x64[i])
			worst(name, y64[i], w, math.Nextafter(math.Abs(w), 2)-math.Abs(w))
		}
	}
}

// TestTiles keeps every multiprocessor busy before it makes tiles larger.
func TestTiles(t *testing.T) {
	for _, c := range []struct{ n, sms, want int }{{256, 132, 32}, {1024, 132, 64}, {4096, 132, 128}, {10, 132, 32}, {1024, 40, 128}} {
		require.Equal(t, c.want, tileFor(c.n, c.n, c.sms), "%+v", c)
	}
}

// TestJSON keeps the names that others read.
func TestJSON(t *testing.T) {
	t.Setenv(driver.LibraryVariable, filepath.Join(t.TempDir(), "none.so"))
	b, err := json.Marshal(look(t, effort{}))
	require.NoError(t, err)
	for _, name := range []string{`"passed":true`, `"checks":[{"name":`, `"ok":false`, `"cause":`, `"advice":`, `"devices":[]`} {
		require.True(t, strings.Contains(string(b), name), "%s in %s", name, b)
	}
}

// TestOnDevice is the whole examination of the real GPU, measurements included.
func TestOnDevice(t *testing.T) {
	cudatest.Device(t)
	r := look(t, full)
	b, err := json.MarshalIndent(r, "", "  ")
	require.NoError(t, err)
	t.Logf("%s", b)
	require.True(t, r.Passed)
	require.NotEmpty(t, r.Devices[0].Measures)
}
