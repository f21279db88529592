package cuda

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/kernels"
)

// compileWithNVRTC compiles a unit of the kernels' sources, unchanged, with NVIDIA's own compiler, which needs no GPU.
func compileWithNVRTC(t *testing.T, unit, architecture string) string {
	n, err := driver.OpenNVRTC("")
	if errors.Is(err, driver.ErrUnavailable) {
		t.Skipf("SKIPPED: %v", err)
	}
	require.NoError(t, err)
	files := map[string]string{}
	names, err := fs.Glob(kernels.Sources, "*")
	require.NoError(t, err)
	for _, name := range names {
		text, err := fs.ReadFile(kernels.Sources, name)
		require.NoError(t, err)
		files[name] = string(text)
	}
	ptx, log, err := n.Compile(files[unit], files, "--gpu-architecture="+architecture, "--fmad=false", "--std=c++17")
	require.NoError(t, err, log)
	version, err := n.Version()
	require.NoError(t, err)
	t.Logf("NVRTC %d, %s, %s: %d bytes of PTX %s", version, unit, architecture, len(ptx), log)
	return string(ptx)
}

// TestNVRTC checks that what NVRTC makes of the kernels rounds every float operation on its own, too.
func TestNVRTC(t *testing.T) {
	for i, architecture := range []string{"compute_75", "compute_90"} { // of the embedded images
		if i > 0 && testing.Short() {
			break
		}
		ptx := compileWithNVRTC(t, "burst.cu", architecture)
		unmeant := regexp.MustCompile(`fma\.rn\.f32 .*// meant`).ReplaceAllString(ptx, "")
		require.NotEqual(t, unmeant, ptx, "the input's quotient is made of fused operations")
		require.NotRegexp(t, `fma\.rn\.f32|\.ftz|\.approx`, unmeant)
		require.Contains(t, ptx, "rcp.rn.f32", "the reciprocal of the scale is correctly rounded")
		require.Equal(t, strings.Count(kernels.Images()[i].PTX(), ".entry"), strings.Count(ptx, ".entry"))
		_, err := spliceModels(compileWithNVRTC(t, "custom.cu", architecture), []ownModel{{program: leaky(), place: make([]place, 2)}})
		require.NoError(t, err, "the place for models of the genome's own is there")
		toolbox := compileWithNVRTC(t, "toolbox.cu", architecture)
		require.NotRegexp(t, `\.ftz|\.approx`, toolbox)
		require.Equal(t, strings.Count(kernels.Toolbox()[0].PTX(), ".entry"), strings.Count(toolbox, ".entry"))
	}
}

// TestNVRTCOnDevice runs it: the same results as clang's PTX.
func TestNVRTCOnDevice(t *testing.T) {
	cudatest.Device(t)
	tune := defaults
	tune.ptx = compileWithNVRTC(t, "lists.cu", "compute_75") // the unit of networks whose candidates are listed
	sameAsReference(t, uneven(2177, 1000, 5003, 5), tune, 8)
}
