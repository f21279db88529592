package driver

import (
	"runtime"
	"unsafe"
)

// launchConfig is CUlaunchConfig: a grid, and what is special about its launch.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attributes  uintptr
	count       uint32
}

// launchAttribute is CUlaunchAttribute.
type launchAttribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

const clusterDimension, cooperative = 4, 2 // of CUlaunchAttributeID

// clusters is the configuration of a cooperative grid of clusters of size blocks each. What it points to lives as long as it does.
func clusters(blocks, threads, bytes, size uint32, pin *runtime.Pinner) *launchConfig {
	list := &[2]launchAttribute{{id: clusterDimension, value: [16]uint32{size, 1, 1}}, {id: cooperative, value: [16]uint32{1}}}
	pin.Pin(list)
	return &launchConfig{
		grid: [3]uint32{blocks, 1, 1}, block: [3]uint32{threads, 1, 1}, shared: bytes,
		attributes: uintptr(unsafe.Pointer(list)), count: uint32(len(list)),
	}
}

// LaunchClusters is LaunchCooperative for a grid of clusters of size blocks each, which may use each other's shared memory. It
// needs compute capability 9.0 and CUDA 11.8; see MostClusters.
func (f *Function) LaunchClusters(blocks, threads, bytes, size uint32, a *Arguments, s *Stream) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	c := clusters(blocks, threads, bytes, size, &pin)
	c.stream = s.handle
	return s.do(cuLaunchKernelEx, uintptr(unsafe.Pointer(c)), f.handle, uintptr(unsafe.Pointer(&a.fields[0])), 0)
}

// MostClusters is how many clusters of size such blocks the device runs at once.
func (f *Function) MostClusters(threads, bytes, size uint32) (int, error) {
	var n int32
	var pin runtime.Pinner
	defer pin.Unpin()
	c := clusters(size, threads, bytes, size, &pin)
	err := f.c.d.call(cuOccupancyMaxActiveClusters, uintptr(unsafe.Pointer(&n)), f.handle, uintptr(unsafe.Pointer(c)))
	return int(n), err
}
