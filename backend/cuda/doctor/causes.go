package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
)

// wrongResult is a kernel that ran and computed something else than the host.
type wrongResult struct{ text string }

func (w *wrongResult) Error() string { return w.text }

// explain says what an error means and what to do about it.
func explain(err error) (cause, advice string) {
	var (
		call    *driver.Error
		compile *executor.CompileError
		tooNew  *executor.TooNewError
		result  *wrongResult
		path    *fs.PathError
	)
	switch {
	case errors.As(err, &result):
		return "wrong result: " + result.text, "do not trust this GPU: run it again, then nvidia-smi -q -d ECC,ROW_REMAPPER and the vendor's diagnosis (dcgmi diag -r 3)"
	case errors.As(err, &compile):
		return "NVRTC refuses the source: " + compile.Log, "the embedded PTX is used instead; another version of NVRTC may help"
	case errors.As(err, &tooNew):
		text, way, _ := strings.Cut(err.Error(), "; ")
		return text, way
	case errors.As(err, &call):
		return err.Error(), adviceFor(call)
	case errors.Is(err, driver.ErrUnavailable):
		text := strings.TrimPrefix(err.Error(), driver.ErrUnavailable.Error()+": ")
		if i := strings.LastIndex(text, "; "); i >= 0 {
			return text[:i], text[i+2:]
		}
		return text, ""
	case errors.As(err, &path):
		return err.Error(), "make the folder writable, or set XDG_CACHE_HOME to one that is"
	}
	return err.Error(), ""
}

// adviceFor is what to do about a call that failed.
func adviceFor(e *driver.Error) string {
	const (
		invalidPTX     = 218
		unsupportedPTX = 222
		jitNotFound    = 221
	)
	switch e.Code {
	case driver.OutOfMemory:
		return "other processes hold the memory (nvidia-smi lists them): stop them, or choose another device with CUDA_VISIBLE_DEVICES"
	case driver.DeviceUnavailable:
		return "another process holds the GPU alone: stop it (nvidia-smi), or set the compute mode to default (nvidia-smi -c 0)"
	case unsupportedPTX:
		return "the driver is too old for this PTX: update the NVIDIA driver"
	case invalidPTX, jitNotFound:
		return "the driver could not compile the PTX: reinstall the NVIDIA driver, libnvidia-ptxjitcompiler included"
	case driver.SystemDriverMismatch:
		return "library and kernel module of the driver differ: restart the machine after a driver update"
	case driver.StubLibrary:
		return "the library found is the toolkit's stub: take its folder out of LD_LIBRARY_PATH"
	}
	if driver.Sticky(e) {
		return "a kernel failed on the device: see the kernel log for Xid messages (dmesg | grep -i xid); if it happens again, reset or replace the GPU"
	}
	return "see nvidia-smi and the kernel log"
}

// noDevice explains a driver that works and has no device.
func noDevice() (cause, advice string) {
	if v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		return fmt.Sprintf("CUDA_VISIBLE_DEVICES=%q hides every device", v), "unset CUDA_VISIBLE_DEVICES, or name devices that exist (nvidia-smi -L)"
	}
	return "the driver finds no NVIDIA GPU", "see nvidia-smi -L; in a container, pass the devices in (docker run --gpus all)"
}
