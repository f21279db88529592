package pages_test

import (
	"reflect"
	"runtime"
	"testing"

	"burst/internal/pages"
)

// TestMoveKeepsContents: of slices of all sizes, and beside them.
func TestMoveKeepsContents(t *testing.T) {
	all := make([]uint32, 3<<20)
	for i := range all {
		all[i] = uint32(i) * 2654435761
	}
	for _, n := range []int{0, 1, 1000, 1 << 19, 1<<20 + 7, 2 << 20} {
		pages.Move(all[5 : 5+n])
	}
	for i, x := range all {
		if x != uint32(i)*2654435761 { // millions of them: require is slow
			t.Fatalf("entry %d became %d", i, x)
		}
	}
}

// TestMap: memory of any size is there, zeroed, and can be written to its end.
func TestMap(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: Map is for Linux")
	}
	for _, n := range []uint64{1, 4097, 2 << 20, 5<<20 + 3} {
		m, err := pages.Map(n)
		if err != nil || uint64(len(m.Bytes)) != n {
			t.Fatalf("%d bytes of %d: %v", len(m.Bytes), n, err)
		}
		for i := range m.Bytes {
			if m.Bytes[i]++; m.Bytes[i] != 1 {
				t.Fatalf("byte %d of %d is %d", i, n, m.Bytes[i]-1)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwn: memory of any size is there and zeroed, and nobody else's shares its pages.
func TestOwn(t *testing.T) {
	const page = 4096
	taken := map[uintptr]bool{}
	var all [][]byte // so that no memory is used twice
	for _, n := range []uint64{1, 64, 4096, 4097, 3 << 20} {
		b := pages.Own(n)
		if uint64(len(b)) != n || cap(b) != len(b) {
			t.Fatalf("%d bytes of %d, room for %d", len(b), n, cap(b))
		}
		first := reflect.ValueOf(b).Pointer()
		if first%page != 0 {
			t.Fatalf("%d bytes begin in the midst of a page", n)
		}
		for at := first; at < first+uintptr(n); at += page {
			if taken[at] {
				t.Fatalf("%d bytes share a page with others", n)
			}
			taken[at] = true
		}
		for i, x := range b {
			if x != 0 {
				t.Fatalf("byte %d of %d is %d", i, n, x)
			}
		}
		all = append(all, b)
	}
	runtime.KeepAlive(all)
}
