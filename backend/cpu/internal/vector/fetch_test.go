//go:build unix

package vector

import (
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// guarded is a page before one that must not be read: a test that does panics.
func guarded(t *testing.T) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(memory)) })
	require.NoError(t, syscall.Mprotect(memory[page:], syscall.PROT_NONE))
	before := debug.SetPanicOnFault(true)
	t.Cleanup(func() { debug.SetPanicOnFault(before) })
	return memory[:page]
}

// TestFetchRowsReadsItsIDsAlone: the ids end where a page begins that must not be read, and rows are left as they are.
func TestFetchRowsReadsItsIDsAlone(t *testing.T) {
	memory := guarded(t)
	for _, k := range []Kernels{Plain(), Best()} {
		for n := range 20 {
			rows := slices.Repeat([]uint64{7}, 9)
			ids := unsafe.Slice((*uint32)(unsafe.Pointer(&memory[len(memory)-4*max(n, 1)])), n)
			for i := range ids {
				ids[i] = uint32(i % len(rows))
			}
			require.NotPanics(t, func() { k.FetchRows(rows, ids) }, "%s, %d ids", k.Name, n)
			require.Equal(t, slices.Repeat([]uint64{7}, 9), rows, "%s, %d ids", k.Name, n)
		}
		k.FetchRows(nil, nil)
	}
}

// TestFetchSpansReadsItsSpansAlone likewise, of empty spans, short ones and some above a kilobyte.
func TestFetchSpansReadsItsSpansAlone(t *testing.T) {
	memory := guarded(t)
	for _, k := range []Kernels{Plain(), Best()} {
		for n := range 20 {
			rows := slices.Repeat([]uint16{7}, 3000)
			spans := unsafe.Slice((*Span)(unsafe.Pointer(&memory[len(memory)-16*max(n, 1)])), n)
			for i := range spans {
				from := uint64(100 * i)
				spans[i] = Span{from, from + []uint64{0, 1, 33, 1100}[i%4]}
			}
			require.NotPanics(t, func() { k.FetchSpans(rows, spans) }, "%s, %d spans", k.Name, n)
			require.Equal(t, slices.Repeat([]uint16{7}, 3000), rows, "%s, %d spans", k.Name, n)
		}
		k.FetchSpans(nil, nil)
	}
}
