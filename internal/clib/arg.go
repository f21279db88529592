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
