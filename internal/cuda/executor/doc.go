// Package executor runs kernels of one's own on NVIDIA GPUs, without cgo and without a CUDA toolkit at build time:
//
//	e, err := executor.Open(executor.Options{})
//	code, err := e.Compile(source, executor.CompileOptions{}) // CUDA C++, by NVRTC, kept on disk
//	m, err := e.Load(code.PTX)
//	k, err := m.Kernel("scale")
//	s, err := e.Stream()
//	x, err := e.Alloc(s, 4*n)
//	err = executor.Upload(s, x, numbers)
//	err = k.Launch(s, executor.Threads(n, 256), x, float32(3), uint32(n))
//	err = executor.Download(s, numbers, x)
//	err = s.Synchronize()
//	err = e.Close()
//
// It stands on internal/cuda/driver, which it saves from being used wrongly: every method enters and leaves the device's
// context by itself, arguments are checked against what the PTX declares, copies against the size of the memory, and PTX
// that the driver is too old for is refused by name before the driver sees it.
//
// # Order
//
// Work in one stream is done in order; streams overlap. Memory follows streams: what Alloc gives may be used in its stream
// at once, and in another stream after Wait on an Event recorded in the first. Copies run beside kernels only from and to
// Pinned memory.
//
// # Several devices and goroutines
//
// An Executor is one device; open several for several. An Executor, its modules, kernels and pool may be used by several
// goroutines at once; a Stream by one at a time.
package executor
