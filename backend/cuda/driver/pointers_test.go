//go:build !nocuda && (linux || darwin)

package driver

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"
)

// move moves the goroutine's stack, collects garbage, and overwrites memory that has become free.
func move() {
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

// deep takes so many times a kilobyte of stack.
//
//go:noinline
func deep(n int) byte {
	var room [1024]byte
	if n > 0 {
		room[n%len(room)] = deep(n - 1)
	}
	return room[n%7]
}

// behind is what lies at an address that a function of the driver was given.
func behind[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

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
		move()
		c := behind[config](address)
		list := behind[[2][18]uint32](c.list)
		return append([]uint32{c.grid[0], c.block[0], c.shared, uint32(c.stream), c.count}, list[0][0], list[0][2], list[1][0], list[1][2])
	}
	var seen []uint32
	var argument, filled uint32
	d := &Driver{}
	d.fn[cuLaunchKernelEx] = purego.NewCallback(func(c, _, args, _ uintptr) uintptr {
		seen = look(c)
		argument = *behind[uint32](*behind[uintptr](args))
		return 0
	})
	d.fn[cuOccupancyMaxActiveClusters] = purego.NewCallback(func(n, _, c uintptr) uintptr {
		seen = look(c)
		*behind[int32](n) = 33
		return 0
	})
	d.fn[cuMemGetInfo] = purego.NewCallback(func(free, total uintptr) uintptr {
		move()
		*behind[uint64](free), *behind[uint64](total) = 11, 12
		return 0
	})
	d.fn[cuMemcpyHtoDAsync] = purego.NewCallback(func(_, from, _, _ uintptr) uintptr {
		move()
		filled = *behind[uint32](from)
		return 0
	})
	d.fn[cuMemcpyDtoHAsync] = purego.NewCallback(func(to, _, _, _ uintptr) uintptr {
		move()
		*behind[uint32](to) = 14
		return 0
	})
	c := &Context{d: d}
	f, s := &Function{c: c, handle: 1}, &Stream{c: c, handle: 5}
	own := struct{ n uint32 }{13}
	a := Params(&own)
	defer a.Release()
	require.NoError(t, f.LaunchClusters(6, 96, 4096, 2, a, s))
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
