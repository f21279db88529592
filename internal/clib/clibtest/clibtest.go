// Package clibtest is for tests of calls into C libraries, in which Go functions replace the C functions. It overwrites memory that the
// garbage collector takes for unused, so that a call fails if Go has lost a pointer that the C side still holds.
package clibtest

import (
	"runtime"
	"unsafe"
)

// Disturb moves the goroutine's stack, collects garbage, and overwrites memory that has become free.
func Disturb() {
	deep(300)
	for range 2 {
		runtime.GC()
	}
	for size := 8; size <= 256; size += 8 {
		for range 1 << 10 {
			b := make([]byte, size)
			for i := range b {
				b[i] = 0xA5
			}
			runtime.KeepAlive(b)
		}
	}
}

// deep takes n kilobytes of stack.
//
//go:noinline
func deep(n int) byte {
	var room [1024]byte
	if n > 0 {
		room[n%len(room)] = deep(n - 1)
	}
	return room[n%7]
}

// At is what lies at an address that a call was given.
func At[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }
