package clib

import "unsafe"

// Arg is an argument of a function in C: an integer or a pointer.
type Arg struct {
	integer uintptr
	pointer unsafe.Pointer
}

// Int is an integer, a handle, or an address of memory that is not Go's.
func Int[T ~int | ~int32 | ~int64 | ~uint | ~uint8 | ~uint32 | ~uint64 | ~uintptr](n T) Arg {
	return Arg{integer: uintptr(n)}
}

// Ptr is the address of Go's memory, which a call keeps alive and in place until it returns; so it does with all that this
// memory points to by Go's pointers. A nil p is a null pointer.
func Ptr[T any](p *T) Arg { return Arg{pointer: unsafe.Pointer(p)} }

// mostArgs is how many arguments a call has at most.
const mostArgs = 15

// Frame holds the arguments of a call. One that is kept for many saves their allocations.
type Frame struct {
	words    [mostArgs]uintptr
	pointers [mostArgs]unsafe.Pointer // keep alive what words hold the addresses of
	count    int
}

// Set makes these the arguments, at most 15. It is not inlined: the compiler then sees pointers stored where it does not know, and puts
// what they point to on the heap, where nothing moves. A goroutine's stack moves when it grows.
//
//go:noinline
func (f *Frame) Set(args ...Arg) {
	clear(f.pointers[:])
	f.count = len(args)
	for i, a := range args {
		f.words[i], f.pointers[i] = a.integer, a.pointer
		if a.pointer != nil {
			f.words[i] = uintptr(a.pointer)
		}
	}
}
