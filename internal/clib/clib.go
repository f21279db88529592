//go:build !nocuda && (linux || darwin)

package clib

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Open loads a shared library by name or path. Symbols of a public one serve libraries that are loaded after it.
func Open(name string, public bool) (uintptr, error) {
	runtime.LockOSThread() // dlerror tells a thread of its own errors only
	defer runtime.UnlockOSThread()
	if public {
		return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	}
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Lookup is the address of a symbol, 0 when the library lacks it.
func Lookup(library uintptr, symbol string) uintptr {
	p, err := purego.Dlsym(library, symbol)
	if err != nil {
		return 0
	}
	return p
}

// mostArgs is how many arguments a call has at most.
const mostArgs = 15

// frame is the arguments of a call. What it points to is on the heap, where nothing moves, as it is itself: a goroutine's stack moves
// when it grows.
type frame struct {
	words    [mostArgs]uintptr
	pointers [mostArgs]unsafe.Pointer // keeps alive what words hold the addresses of
}

// frames are those of no call, so that calls do not allocate.
var frames = sync.Pool{New: func() any { return new(frame) }}

// Call calls a function of integers and pointers, at most 15.
func Call(fn uintptr, args ...Arg) uintptr {
	f := frames.Get().(*frame)
	for i, a := range args {
		f.words[i], f.pointers[i] = a.integer, a.pointer
		if a.pointer != nil {
			f.words[i] = uintptr(a.pointer)
		}
	}
	r, _, _ := purego.SyscallN(fn, f.words[:len(args)]...)
	runtime.KeepAlive(f)
	clear(f.pointers[:])
	frames.Put(f)
	return r
}

// Bind makes *f, a Go function, call fn, whose arguments may be structs by value.
func Bind(f any, fn uintptr) { purego.RegisterFunc(f, fn) }
