package driver

import "burst/internal/clib"

// launchConfig is CUlaunchConfig: a grid, and what is special about its launch.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attributes  *[2]launchAttribute
	count       uint32
}

// launchAttribute is CUlaunchAttribute.
type launchAttribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

const clusterDimension, cooperative = 4, 2 // of CUlaunchAttributeID

// Clusters is memory for launches of clusters, one after the other.
type Clusters struct {
	config launchConfig
	list   [2]launchAttribute
}

// of is the configuration of a cooperative grid of clusters of size blocks each.
func (c *Clusters) of(blocks, threads, bytes, size uint32) *launchConfig {
	c.list = [2]launchAttribute{{id: clusterDimension, value: [16]uint32{size, 1, 1}}, {id: cooperative, value: [16]uint32{1}}}
	c.config = launchConfig{
		grid: [3]uint32{blocks, 1, 1}, block: [3]uint32{threads, 1, 1}, shared: bytes, attributes: &c.list, count: uint32(len(c.list)),
	}
	return &c.config
}

// LaunchClusters is LaunchCooperative for a grid of clusters of size blocks each, which may use each other's shared memory. It
// needs compute capability 9.0 and CUDA 11.8; see MostClusters.
func (f *Function) LaunchClusters(c *Clusters, blocks, threads, bytes, size uint32, a *Arguments, s *Stream) error {
	config := c.of(blocks, threads, bytes, size)
	config.stream = s.handle
	return s.do(cuLaunchKernelEx, clib.Ptr(config), clib.Int(f.handle), clib.Ptr(&a.fields[0]), clib.Int(0))
}

// MostClusters is how many clusters of size such blocks the device runs at once.
func (f *Function) MostClusters(threads, bytes, size uint32) (int, error) {
	var n int32
	var c Clusters
	err := f.c.d.call(cuOccupancyMaxActiveClusters, clib.Ptr(&n), clib.Int(f.handle), clib.Ptr(c.of(size, threads, bytes, size)))
	return int(n), err
}
