package driver

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"burst/internal/clib"
)

// NVRTC is the run-time compiler of CUDA C++, a library of the CUDA toolkit.
type NVRTC struct {
	path string
	fn   [len(nvrtcNames)]uintptr
}

const (
	nvrtcVersion = iota
	nvrtcCreateProgram
	nvrtcCompileProgram
	nvrtcGetPTXSize
	nvrtcGetPTX
	nvrtcGetProgramLogSize
	nvrtcGetProgramLog
	nvrtcDestroyProgram
	nvrtcGetErrorString
	nvrtcGetNumSupportedArchs
	nvrtcGetSupportedArchs
)

var nvrtcNames = [...]string{"nvrtcVersion", "nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetPTXSize", "nvrtcGetPTX",
	"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcDestroyProgram", "nvrtcGetErrorString",
	"nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs"}

// OpenNVRTC loads the compiler: the named library, or when path is empty $BURST_LIBNVRTC if set, else the usual ones. The
// error wraps ErrUnavailable where there is none.
func OpenNVRTC(path string) (*NVRTC, error) {
	n := &NVRTC{}
	var library uintptr
	var err error
	if n.path, library, err = openFirst(cmp.Or(path, os.Getenv(NVRTCVariable)), "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
		"/usr/local/cuda/lib64/libnvrtc.so"); err != nil {
		return nil, unavailable("%v; install the CUDA toolkit's NVRTC, or compile to PTX beforehand", err)
	}
	for i, name := range nvrtcNames {
		if n.fn[i] = clib.Lookup(library, name); n.fn[i] == 0 {
			return nil, unavailable("%s has no function %s; install the NVRTC of CUDA 12 or newer", n.path, name)
		}
	}
	return n, nil
}

func (n *NVRTC) call(f int, args ...clib.Arg) error {
	r := clib.Call(n.fn[f], args...)
	if int32(r) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", nvrtcNames[f], n.errorText(r))
}

// errorText is NVRTC's name of an error; the function returns the string's address, read here as a pointer.
func (n *NVRTC) errorText(code uintptr) string {
	r := clib.Call(n.fn[nvrtcGetErrorString], clib.Int(code))
	return goString(*(*unsafe.Pointer)(unsafe.Pointer(&r)))
}

// Path is the name that the library was loaded by.
func (n *NVRTC) Path() string { return n.path }

// Version is the compiler's version, 1000·major + 10·minor like Driver.Version.
func (n *NVRTC) Version() (int, error) {
	var major, minor int32
	err := n.call(nvrtcVersion, clib.Ptr(&major), clib.Ptr(&minor))
	return 1000*int(major) + 10*int(minor), err
}

// Capabilities lists the compute capabilities that the compiler knows, 10·major + minor, ascending.
func (n *NVRTC) Capabilities() ([]int, error) {
	var count int32
	if err := n.call(nvrtcGetNumSupportedArchs, clib.Ptr(&count)); err != nil || count <= 0 {
		return nil, err
	}
	list := make([]int32, count)
	err := n.call(nvrtcGetSupportedArchs, clib.Ptr(&list[0]))
	known := make([]int, count)
	for i, v := range list {
		known[i] = int(v)
	}
	return known, err
}

// Compile turns CUDA C++ into PTX. headers are files that source may include, by name; options are those of nvcc, as
// "--gpu-architecture=compute_75". log is what the compiler said, also on success.
func (n *NVRTC) Compile(source string, headers map[string]string, options ...string) (ptx []byte, log string, err error) {
	var names, texts []*byte
	for name, text := range headers {
		names, texts = append(names, cString(name)), append(texts, cString(text))
	}
	var program uintptr
	if err := n.call(nvrtcCreateProgram, clib.Ptr(&program), clib.Ptr(cString(source)), clib.Int(0),
		clib.Int(len(names)), clib.Ptr(unsafe.SliceData(texts)), clib.Ptr(unsafe.SliceData(names))); err != nil {
		return nil, "", err
	}
	defer func() { _ = n.call(nvrtcDestroyProgram, clib.Ptr(&program)) }()
	var opts []*byte
	for _, o := range options {
		opts = append(opts, cString(o))
	}
	compileErr := n.call(nvrtcCompileProgram, clib.Int(program), clib.Int(len(opts)), clib.Ptr(unsafe.SliceData(opts)))
	text, err := n.text(program, nvrtcGetProgramLogSize, nvrtcGetProgramLog)
	log = strings.TrimSpace(string(text))
	if compileErr != nil {
		return nil, log, fmt.Errorf("%w\n%s", compileErr, log)
	}
	if err != nil {
		return nil, log, err
	}
	ptx, err = n.text(program, nvrtcGetPTXSize, nvrtcGetPTX)
	return ptx, log, err
}

// text fetches one of the program's texts, without its NUL.
func (n *NVRTC) text(program uintptr, size, get int) ([]byte, error) {
	var bytes uint64
	if err := n.call(size, clib.Int(program), clib.Ptr(&bytes)); err != nil || bytes == 0 {
		return nil, err
	}
	b := make([]byte, bytes)
	err := n.call(get, clib.Int(program), clib.Ptr(&b[0]))
	return b[:bytes-1], err
}
