package driver_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/driver"
)

func TestSticky(t *testing.T) {
	for _, c := range []struct {
		code driver.Result
		want bool
		why  string
	}{
		{driver.IllegalAddress, true, "the context is lost"},
		{driver.LaunchTimeout, true, "the context is lost"},
		{driver.LaunchFailed, true, "the context is lost"},
		{driver.Assert, true, "the context is lost"},
		{driver.IllegalInstruction, true, "the context is lost"},
		{driver.MisalignedAddress, true, "the context is lost"},
		{driver.HardwareStackError, true, "the context is lost"},
		{driver.EccUncorrectable, true, "memory held wrong bits"},
		{driver.Unknown, true, "nothing is known, so nothing can be trusted"},
		{driver.OutOfMemory, false, "smaller allocations may work"},
		{driver.InvalidValue, false, "the call did nothing"},
		{driver.NoDevice, false, "there is no context"},
	} {
		err := fmt.Errorf("burst 3: %w", &driver.Error{Op: "cuStreamSynchronize", Code: c.code})
		require.Equal(t, c.want, driver.Sticky(err), "%d: %s", c.code, c.why)
	}
	require.False(t, driver.Sticky(errors.New("no error of CUDA")))
	require.False(t, driver.Sticky(nil))
}

func TestOpenWithoutLibrary(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "libnone.so")
	_, err := driver.Open(missing)
	require.ErrorIs(t, err, driver.ErrUnavailable)
	require.ErrorContains(t, err, "libnone.so")

	t.Setenv(driver.LibraryVariable, missing)
	_, err = driver.Open("")
	require.ErrorContains(t, err, "libnone.so", "the variable replaces the library")

	_, err = driver.OpenNVRTC(missing)
	require.ErrorIs(t, err, driver.ErrUnavailable)
}

// TestOpenOtherLibrary opens a library that is none of CUDA's.
func TestOpenOtherLibrary(t *testing.T) {
	_, err := driver.Open("libc.so.6")
	require.ErrorIs(t, err, driver.ErrUnavailable)
	require.ErrorContains(t, err, "has no function cuInit", "on systems with glibc")
}
