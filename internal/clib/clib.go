//go:build !nocuda && (linux || darwin)

package clib

import (
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// Open loads a shared library by name or path. Symbols of a public one serve libraries that are loaded after it.
func Open(name string, public bool) (uintptr, error) {
	runtime.LockOSThread() // dlerror tells a thread of its own errors only
	defer runtime.UnlockOSThread()
	scope := purego.RTLD_LOCAL
	if public {
		scope = purego.RTLD_GLOBAL
	}
	h, err := purego.Dlopen(name, purego.RTLD_NOW|scope)
	if err != nil && strings.HasPrefix(err.Error(), name+": ") && strings.HasSuffix(err.Error(), "No such file or directory") { // not one that it needs
		err = &MissingError{name}
	}
	return h, err
}

// Lookup is the address of a symbol, 0 when the library lacks it.
func Lookup(library uintptr, symbol string) uintptr {
	p, err := purego.Dlsym(library, symbol)
	if err != nil {
		return 0
	}
	return p
}

// Call calls a function of integers and pointers.
func Call(fn uintptr, args ...Arg) uintptr {
	f := &Frame{}
	f.Set(args...)
	return f.Call(fn)
}

// Call calls a function with the frame's arguments. Several goroutines may do so at once, while none sets others.
func (f *Frame) Call(fn uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, f.words[:f.count]...)
	runtime.KeepAlive(f)
	return r
}

// Bind makes *f, a Go function, call fn, whose arguments may be structs by value.
func Bind(f any, fn uintptr) { purego.RegisterFunc(f, fn) }
