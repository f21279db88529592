package nccl

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"burst/internal/clib"
)

// Library is the environment variable that names the library to load in place of those found by name.
const Library = "BURST_LIBNCCL"

// MinVersion is the oldest NCCL that this package works with, as ncclGetVersion has it: 2.10, of the time of the oldest
// driver that package driver takes. The next major version is another interface.
const (
	MinVersion  = 21000
	nextVersion = 30000
)

// uniqueID is an ncclUniqueId, by which the ranks of a communicator find each other.
type uniqueID struct{ Internal [128]byte }

// The functions that are called; the last may be missing.
const (
	getVersion = iota
	getErrorString
	getUniqueID
	commInitRank
	commGetAsyncError
	commAbort
	commDestroy
	allGather
	getLastError
	functions
)

var names = [functions]string{
	"ncclGetVersion", "ncclGetErrorString", "ncclGetUniqueId", "ncclCommInitRank", "ncclCommGetAsyncError", "ncclCommAbort", "ncclCommDestroy",
	"ncclAllGather", "ncclGetLastError",
}

// Result is an ncclResult_t.
type Result int32

// Results that this package branches on. A peer that dies shows as one of the two errors, by NCCL's version and its network.
const (
	success     Result = 0
	SystemError Result = 2
	RemoteError Result = 6
	inProgress  Result = 7
)

// uint32Type is ncclUint32.
const uint32Type = 3

// Error is a call that NCCL refused, or a failure that it met while it worked.
type Error struct {
	Op   string // the function called
	Code Result
	Text string // what NCCL calls the code
	Last string // what NCCL says of it, empty where it does not
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.Op, e.Text, e.Code)
	if e.Last != "" {
		s += ": " + e.Last
	}
	if !strings.Contains(s, "NCCL_DEBUG") {
		s += "; NCCL_DEBUG=WARN lets NCCL say more"
	}
	return s
}

// api is the loaded library; it stays loaded until the process ends.
type api struct {
	version int
	fn      [functions]uintptr
}

// load takes the first library that has everything; the error says what was tried.
func load(get func(string) string) (*api, error) {
	list := []string{"libnccl.so.2", "libnccl.so"}
	if name := get(Library); name != "" {
		list = []string{name}
	}
	var wrong []error
	for _, name := range list {
		a, err := bind(name)
		if err == nil {
			return a, nil
		}
		if text := err.Error(); !strings.Contains(text, name) {
			err = fmt.Errorf("%s: %w", name, err)
		}
		wrong = append(wrong, err)
	}
	return nil, fmt.Errorf("%w; install NCCL (Ubuntu: libnccl2; pip: nvidia-nccl-cu12), or name it: %s=/path/to/libnccl.so.2", join(wrong), Library)
}

// join puts errors in one line.
func join(list []error) error {
	texts := make([]string, len(list))
	for i, err := range list {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// bind loads a library, finds its functions and looks at its version.
func bind(name string) (*api, error) {
	library, err := clib.Open(name, false)
	if err != nil {
		return nil, err
	}
	a := &api{}
	for i, symbol := range names {
		if a.fn[i] = clib.Lookup(library, symbol); a.fn[i] == 0 && i != getLastError {
			return nil, fmt.Errorf("no function %s", symbol)
		}
	}
	var version int32
	if err := a.check(getVersion, clib.Call(a.fn[getVersion], clib.Ptr(&version)), nil); err != nil {
		return nil, err
	}
	if a.version = int(version); a.version < MinVersion || a.version >= nextVersion {
		return nil, fmt.Errorf("NCCL %s, want %s or newer, before 3", versionText(a.version), versionText(MinVersion))
	}
	return a, nil
}

// versionText is a version as people write it; before 2.9 its digits meant something else.
func versionText(v int) string {
	if v < 10000 {
		return fmt.Sprintf("%d.%d.%d", v/1000, v%1000/100, v%100)
	}
	return fmt.Sprintf("%d.%d.%d", v/10000, v%10000/100, v%100)
}

// check turns what a function returned into an error, nil for success.
func (a *api) check(function int, r uintptr, comm unsafe.Pointer) error {
	code := Result(int32(r))
	if code == success {
		return nil
	}
	e := &Error{Op: names[function], Code: code, Text: goString(clib.Call(a.fn[getErrorString], clib.Int(code)))}
	if a.fn[getLastError] != 0 && comm != nil {
		e.Last = strings.TrimSpace(goString(clib.Call(a.fn[getLastError], clib.Int(uintptr(comm)))))
	}
	return e
}

// goString copies a NUL-terminated string of C's memory.
func goString(address uintptr) string {
	if address == 0 {
		return ""
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&address))
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// quiet keeps NCCL from using NVLink's multicast unless the user has decided about it.
func quiet() error {
	const variable = "NCCL_NVLS_ENABLE"
	if _, set := os.LookupEnv(variable); set {
		return nil
	}
	return os.Setenv(variable, "0")
}
