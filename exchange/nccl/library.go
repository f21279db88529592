//go:build !nocuda && (linux || darwin)

package nccl

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

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

// call calls a C function of integers and pointers; what the arguments point to stays alive and in place meanwhile.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// callInitRank calls ncclCommInitRank, which takes the id by value: on the stack on amd64, by a pointer to a copy on arm64.
func callInitRank(fn uintptr, comm *unsafe.Pointer, ranks int, id uniqueID, rank int) uintptr {
	var initRank func(comm *unsafe.Pointer, ranks int32, id uniqueID, rank int32) int32
	purego.RegisterFunc(&initRank, fn)
	return uintptr(initRank(comm, int32(ranks), id, int32(rank)))
}
