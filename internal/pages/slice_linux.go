package pages

import (
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size that Linux offers beside its usual 4 KiB.
const hugePage = 2 << 20

// leastHuge is the least size for which a huge page pays.
const leastHuge = 128 << 10

// Slice is a slice of n zeros whose memory is in huge pages where the system allows: rows and sums are read at random, and
// with small pages every read would walk the page tables.
func Slice[T any](n uint64) []T {
	unit := uint64(unsafe.Sizeof(*new(T)))
	if n*unit < leastHuge {
		return make([]T, n)
	}
	s := make([]T, n+2*hugePage/unit) // what is not touched takes no memory
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(s))) % hugePage / uintptr(unit)
	size := (n*unit + hugePage - 1) / hugePage * hugePage
	s = s[skip:]
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
	// Only advice: small pages give the same bits. Memory used before has small pages, so they are given back first.
	_ = unix.Madvise(bytes, unix.MADV_DONTNEED)
	_ = unix.Madvise(bytes, unix.MADV_HUGEPAGE)
	return s[:n:n]
}

// Mapping is memory outside of Go's heap.
type Mapping struct {
	Bytes []byte
	all   []byte
}

// Map takes n > 0 zeroed bytes, in huge pages where the system allows. All of them are there when it returns: all processors have touched
// them.
func Map(n uint64) (*Mapping, error) {
	all, err := unix.Mmap(-1, 0, int(n+hugePage), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, err
	}
	skip := uint64(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugePage)
	m := &Mapping{Bytes: all[skip:][:n:n], all: all}
	_ = unix.Madvise(m.Bytes, unix.MADV_HUGEPAGE) // only advice
	var touching sync.WaitGroup
	parts := uint64(runtime.GOMAXPROCS(0))
	for i := range parts {
		touching.Go(func() {
			for at := n * i / parts; at < n*(i+1)/parts; at += uint64(os.Getpagesize()) {
				m.Bytes[at] = 0
			}
		})
	}
	touching.Wait()
	return m, nil
}

// Close gives the memory back, which must not be used any more.
func (m *Mapping) Close() error { return unix.Munmap(m.all) }

// Move puts the memory of a slice into huge pages where the system can; what it holds stays.
func Move[T any](s []T) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	skip := -from % hugePage
	size := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	if size < skip+hugePage {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)[skip : skip+(size-skip)/hugePage*hugePage]
	_ = unix.Madvise(bytes, unix.MADV_HUGEPAGE) // only advice, as above
	_ = unix.Madvise(bytes, unix.MADV_COLLAPSE)
}
