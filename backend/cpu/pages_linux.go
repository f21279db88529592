package cpu

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size that Linux offers beside its usual 4 KiB.
const hugePage = 2 << 20

// large is a slice of n zeros whose memory is in huge pages where the system allows: rows and sums are read at random, and
// with small pages every read would walk the page tables.
func large[T any](n uint64) []T {
	s := make([]T, n)
	size := n * uint64(unsafe.Sizeof(*new(T)))
	if size < 2*hugePage {
		return s
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
	skip := -uintptr(unsafe.Pointer(&bytes[0])) % hugePage
	inner := bytes[skip:]
	_ = unix.Madvise(inner[:len(inner)/hugePage*hugePage], unix.MADV_HUGEPAGE) // advice: small pages give the same bits
	return s
}
