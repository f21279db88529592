//go:build !nocuda && (linux || darwin)

package driver

import "github.com/ebitengine/purego"

// openLibrary loads a shared library by name or path.
func openLibrary(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// lookup is the address of a symbol, 0 when the library lacks it.
func lookup(library uintptr, symbol string) uintptr {
	p, err := purego.Dlsym(library, symbol)
	if err != nil {
		return 0
	}
	return p
}

// syscallN calls a C function of integers and pointers; what the arguments point to stays alive and in place meanwhile.
//
//go:uintptrescapes
func syscallN(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// syscallSlice is syscallN for arguments that lie in memory already, so that the call does not allocate.
func syscallSlice(fn uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
