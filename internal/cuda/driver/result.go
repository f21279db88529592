package driver

import (
	"errors"
	"fmt"
	"unsafe"

	"burst/internal/clib"
)

// Result is a CUresult.
type Result int32

// Results that callers or this package branch on.
const (
	InvalidValue         Result = 1
	OutOfMemory          Result = 2
	Deinitialized        Result = 4
	StubLibrary          Result = 34
	DeviceUnavailable    Result = 46
	NoDevice             Result = 100
	InvalidDevice        Result = 101
	PeerAlreadyEnabled   Result = 704
	EccUncorrectable     Result = 214
	NvlinkUncorrectable  Result = 220
	NotReady             Result = 600
	IllegalAddress       Result = 700
	LaunchTimeout        Result = 702
	ContextIsDestroyed   Result = 709
	Assert               Result = 710
	HardwareStackError   Result = 714
	IllegalInstruction   Result = 715
	MisalignedAddress    Result = 716
	InvalidAddressSpace  Result = 717
	InvalidPC            Result = 718
	LaunchFailed         Result = 719
	SystemDriverMismatch Result = 803
	Unknown              Result = 999
)

// Error is a call that the driver refused or that reported an earlier fault.
type Error struct {
	Op   string // the function called
	Code Result
	Name string // as CUDA_ERROR_OUT_OF_MEMORY
	Text string // the driver's description
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%d): %s", e.Op, e.Name, e.Code, e.Text)
}

// Sticky reports whether err leaves its context unusable: every later call on it fails, and only a new process helps.
func Sticky(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case Deinitialized, DeviceUnavailable, EccUncorrectable, NvlinkUncorrectable, IllegalAddress, LaunchTimeout,
		ContextIsDestroyed, Assert, HardwareStackError, IllegalInstruction, MisalignedAddress, InvalidAddressSpace,
		InvalidPC, LaunchFailed, Unknown:
		return true
	}
	return false
}

// result turns what a function returned into an error, nil for success.
func (d *Driver) result(op string, r uintptr) error {
	code := Result(int32(r))
	if code == 0 {
		return nil
	}
	return &Error{Op: op, Code: code, Name: d.errorText(cuGetErrorName, code), Text: d.errorText(cuGetErrorString, code)}
}

// errorText asks the driver for the name or the description of a code.
func (d *Driver) errorText(s symbol, code Result) string {
	var p unsafe.Pointer
	if clib.Call(d.fn[s], clib.Int(code), clib.Ptr(&p)) != 0 || p == nil {
		return "unknown error"
	}
	return goString(p)
}

// goString copies a NUL-terminated string.
func goString(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// cString is s with the NUL that C wants.
func cString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}
