//go:build !nocuda && (linux || darwin)

package mpi

import "github.com/ebitengine/purego"

// openLibrary loads a shared library by name or path. Its symbols are global: Open MPI loads parts of itself that need them.
func openLibrary(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// lookup is the address of a symbol, 0 when the library lacks it.
func lookup(library uintptr, symbol string) uintptr {
	p, err := purego.Dlsym(library, symbol)
	if err != nil {
		return 0
	}
	return p
}

// call calls a C function of integers and pointers; what the arguments point to stays alive and in place meanwhile.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return int32(r)
}
