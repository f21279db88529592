//go:build !nocuda && (linux || darwin)

package driver

import (
	"testing"
	"unsafe"

	"burst/internal/clib/clibtest"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"
)

// TestPointersStay has functions of the driver move the stack and collect garbage before they read what they were given, and answer.
func TestPointersStay(t *testing.T) {
	type config struct {
		grid, block [3]uint32
		shared      uint32
		stream      uintptr
		list        uintptr
		count, _    uint32
	}
	look := func(address uintptr) []uint32 {
		clibtest.Disturb()
		c := clibtest.At[config](address)
		list := clibtest.At[[2][18]uint32](c.list)
		return append([]uint32{c.grid[0], c.block[0], c.shared, uint32(c.stream), c.count}, list[0][0], list[0][2], list[1][0], list[1][2])
	}
	var seen []uint32
	var argument, filled uint32
	d := &Driver{}
	d.fn[cuLaunchKernelEx] = purego.NewCallback(func(c, _, args, _ uintptr) uintptr {
		seen = look(c)
		argument = *clibtest.At[uint32](*clibtest.At[uintptr](args))
		return 0
	})
	d.fn[cuOccupancyMaxActiveClusters] = purego.NewCallback(func(n, _, c uintptr) uintptr {
		seen = look(c)
		*clibtest.At[int32](n) = 33
		return 0
	})
	d.fn[cuMemGetInfo] = purego.NewCallback(func(free, total uintptr) uintptr {
		clibtest.Disturb()
		*clibtest.At[uint64](free), *clibtest.At[uint64](total) = 11, 12
		return 0
	})
	d.fn[cuMemcpyHtoDAsync] = purego.NewCallback(func(_, from, _, _ uintptr) uintptr {
		clibtest.Disturb()
		filled = *clibtest.At[uint32](from)
		return 0
	})
	d.fn[cuMemcpyDtoHAsync] = purego.NewCallback(func(to, _, _, _ uintptr) uintptr {
		clibtest.Disturb()
		*clibtest.At[uint32](to) = 14
		return 0
	})
	c := &Context{d: d}
	f, s := &Function{c: c, handle: 1}, &Stream{c: c, handle: 5}
	own := struct{ n uint32 }{13}
	a := Params(&own)
	defer a.Release()
	require.NoError(t, f.LaunchClusters(new(Clusters), 6, 96, 4096, 2, a, s))
	require.Equal(t, []uint32{6, 96, 4096, 5, 2, clusterDimension, 2, cooperative, 1}, seen)
	require.EqualValues(t, 13, argument)
	n, err := f.MostClusters(96, 4096, 4)
	require.NoError(t, err)
	require.Equal(t, 33, n)
	require.Equal(t, []uint32{4, 96, 4096, 0, 2, clusterDimension, 4, cooperative, 1}, seen)
	free, total, err := c.MemoryInfo()
	require.NoError(t, err)
	require.Equal(t, [2]uint64{11, 12}, [2]uint64{free, total})
	from, to := uint32(15), uint32(16)
	require.NoError(t, s.Upload(1, unsafe.Pointer(&from), 4))
	require.NoError(t, s.Download(unsafe.Pointer(&to), 1, 4))
	require.Equal(t, [2]uint32{15, 14}, [2]uint32{filled, to})
}
