package driver

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"burst/internal/clib"
)

// MinVersion is the oldest driver interface that this package works with: CUDA 11.4, Linux drivers from 470 on.
const MinVersion = 11040

// These name the environment variables that replace a library by another file, for tests, for diagnosis, and for libraries
// in unusual places.
const (
	LibraryVariable = "BURST_LIBCUDA"
	NVRTCVariable   = "BURST_LIBNVRTC"
	CUBLASVariable  = "BURST_LIBCUBLAS"
	NVMLVariable    = "BURST_LIBNVML"
)

// ErrUnavailable says that CUDA cannot be used on this machine; the error that wraps it gives the cause and what to do.
var ErrUnavailable = errors.New("CUDA is not available")

// ErrNone is the ErrUnavailable of a machine without any NVIDIA GPU: there is no driver's library, or no device.
var ErrNone = errors.New("no NVIDIA GPU found")

// none marks an error as ErrNone; its text stays.
type none struct{ error }

func (n none) Is(target error) bool { return target == ErrNone }
func (n none) Unwrap() error        { return n.error }

// Driver is the loaded and initialised driver library. It stays loaded until the process ends.
type Driver struct {
	path    string
	library uintptr
	version int
	fn      [symbolCount]uintptr
}

// Open loads the driver library and initialises it. An empty path means $BURST_LIBCUDA if set, else libcuda.so.1, else
// libcuda.so. The error wraps ErrUnavailable when the library, a function of it, or every device is missing, or when the
// driver is too old.
func Open(path string) (*Driver, error) {
	d := &Driver{}
	var err error
	if d.path, d.library, err = openFirst(cmp.Or(path, os.Getenv(LibraryVariable)), "libcuda.so.1", "libcuda.so"); err != nil {
		why := unavailable("%w; install the NVIDIA driver, or run on a machine with an NVIDIA GPU", err)
		if missing := (*clib.MissingError)(nil); errors.As(err, &missing) {
			why = none{why}
		}
		return nil, why
	}
	for s := range symbolCount {
		if d.fn[s] = clib.Lookup(d.library, exported[s]); d.fn[s] == 0 && s < firstOptional {
			return nil, d.missing(s)
		}
	}
	return d, d.start()
}

// start checks the version before the library is initialised, so that an old driver is named as such.
func (d *Driver) start() error {
	var version int32
	if err := d.call(cuDriverGetVersion, clib.Ptr(&version)); err != nil {
		return unavailable("%w", err)
	}
	if d.version = int(version); d.version < MinVersion {
		return unavailable("%s: the driver speaks CUDA %s, CUDA %s or newer is wanted; update the NVIDIA driver (470 or newer on Linux)",
			d.path, versionText(d.version), versionText(MinVersion))
	}
	if err := d.call(cuInit, clib.Int(0)); err != nil {
		err = unavailable("%w%s", err, advice(err))
		if e := (*Error)(nil); errors.As(err, &e) && e.Code == NoDevice {
			return none{err}
		}
		return err
	}
	return nil
}

// advice is what to do about an error of cuInit.
func advice(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code {
	case NoDevice, InvalidDevice:
		if v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
			return fmt.Sprintf("; CUDA_VISIBLE_DEVICES=%q hides the devices: unset it, or list devices that exist (nvidia-smi -L)", v)
		}
		return "; this machine has no NVIDIA GPU that the driver can use (see nvidia-smi)"
	case StubLibrary:
		return "; the library found is the toolkit's stub: take its folder out of LD_LIBRARY_PATH"
	case SystemDriverMismatch:
		return "; library and kernel module of the driver differ: restart the machine after a driver update"
	}
	return "; see nvidia-smi and the kernel log"
}

// openFirst loads the first of the names that can be; override, when not empty, is the only one tried.
func openFirst(override string, names ...string) (string, uintptr, error) {
	if override != "" {
		names = []string{override}
	}
	var first error
	for _, n := range names {
		h, err := clib.Open(n, false)
		if err == nil {
			return n, h, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", 0, first
}

// Path is the name that the library was loaded by.
func (d *Driver) Path() string { return d.path }

// Version is the newest CUDA version that the driver speaks, 1000·major + 10·minor.
func (d *Driver) Version() int { return d.version }

// Call calls a function of the library that has no method here, by its exported name. The function must return a CUresult
// and take only integers and pointers.
func (d *Driver) Call(name string, args ...clib.Arg) error {
	fn := clib.Lookup(d.library, name)
	if fn == 0 {
		return unavailable("%s has no function %s", d.path, name)
	}
	return d.result(name, clib.Call(fn, args...))
}

// call is the way to every function of the table.
func (d *Driver) call(s symbol, args ...clib.Arg) error {
	f := &clib.Frame{}
	f.Set(args...)
	return d.callFrame(s, f)
}

// callFrame is call with arguments that are set.
func (d *Driver) callFrame(s symbol, f *clib.Frame) error {
	if d.fn[s] == 0 {
		return d.missing(s)
	}
	if r := f.Call(d.fn[s]); int32(r) != 0 {
		return d.result(exported[s], r)
	}
	return nil
}

// missing says that the library lacks a function.
func (d *Driver) missing(s symbol) error {
	return unavailable("%s has no function %s; update the NVIDIA driver (470 or newer on Linux)", d.path, exported[s])
}

// unavailable wraps ErrUnavailable with a cause.
func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnavailable, fmt.Errorf(format, args...))
}

// versionText is a CUDA version as people write it.
func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
