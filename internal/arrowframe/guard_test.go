package arrowframe

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuard: what a library panics with over a file becomes an error without the words of Go's runtime; a fault of burst's own
// does not.
func TestGuard(t *testing.T) {
	guarded := func(work func() error) (err error) {
		defer Guard(&err)
		return work()
	}
	var none []int
	nowhere := func() error { return fmt.Errorf("%d", none[len(none)+3]) }
	require.Equal(t, errDamaged, guarded(nowhere))
	own := errors.New("a batch too large")
	require.Equal(t, own, guarded(func() error { panic(own) }))
	require.Equal(t, own, guarded(func() error { return own }))
	require.NoError(t, guarded(func() error { return nil }))
	err := guarded(func() error { panic("arrow: 3 buffers") })
	require.ErrorIs(t, err, errDamaged)
	require.ErrorContains(t, err, "arrow: 3 buffers")
	require.Equal(t, errDamaged, guarded(func() error { panic("runtime error: slice bounds out of range") }))
	require.Equal(t, errDamaged, guarded(func() (err error) { // as libraries do
		defer func() { err = fmt.Errorf("arrow/ipc: unknown error: %w", recover().(error)) }()
		return nowhere()
	}))
	require.Equal(t, errDamaged, Plain(errors.New("x: runtime error: index out of range [3] with length 0")))
	require.PanicsWithValue(t, "BUG: mine", func() { _ = guarded(func() error { panic("BUG: mine") }) })
}
