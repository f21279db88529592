package pages_test

import (
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
