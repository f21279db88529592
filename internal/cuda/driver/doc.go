// Package driver binds the CUDA driver API, and NVRTC, cuBLAS and NVML where they are installed, without cgo: the library of
// the NVIDIA driver is opened at run time, so one binary runs on machines with and without a GPU. Package executor is the
// same with everything checked.
//
// A program goes from the library to a launch in this order:
//
//	d, err := driver.Open("")            // the library; ErrUnavailable says why there is none
//	v, err := d.Device(0)
//	c, err := v.Retain()                 // the device's primary context
//	err = c.Enter()                      // this goroutine's thread now works with c
//	m, err := c.Load(ptx)
//	f, err := m.Function("vector_add")
//	err = f.Launch(grid, block, driver.Params(&args), stream)
//	c.Leave()
//
// # Threads
//
// CUDA keeps the current context per thread, and Go moves goroutines between threads. Context.Enter ties the goroutine to
// its thread and makes the context current, Context.Leave lets it go; every method of a Context, and of what it made, must
// be called between the two. Entering costs one driver call, so enter once for a batch of calls. Several goroutines may
// each enter the same or different contexts.
//
// # Errors
//
// Every call returns its own result; nothing is cleared or asked for later. Kernels run asynchronously, so a fault in one
// is returned by a later call, at the latest by Stream.Synchronize. Sticky tells the errors after which the context, and in
// practice the process, can do no more work.
//
// # Memory
//
// Async copies read and write host memory after the call has returned; pass memory of Context.AllocHost, or keep the
// Go memory alive until the stream is synchronised. Launches, copies, Enter and Synchronize do not allocate.
package driver
