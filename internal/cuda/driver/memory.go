package driver

import (
	"unsafe"

	"burst/internal/clib"
	"burst/internal/pages"
)

// Ptr is an address in device memory.
type Ptr uint64

// MemoryInfo is the free and the total device memory in bytes.
func (c *Context) MemoryInfo() (free, total uint64, err error) {
	err = c.d.call(cuMemGetInfo, clib.Ptr(&free), clib.Ptr(&total))
	return free, total, err
}

// Alloc takes n > 0 bytes of device memory, aligned to at least 256 bytes, contents undefined.
func (c *Context) Alloc(n uint64) (Ptr, error) {
	var p Ptr
	err := c.d.call(cuMemAlloc, clib.Ptr(&p), clib.Int(n))
	return p, err
}

// Free gives device memory back.
func (c *Context) Free(p Ptr) error { return c.d.call(cuMemFree, clib.Int(p)) }

// HostMemory is page-locked host memory, which the device copies to and from without the processor's help.
type HostMemory struct {
	c   *Context
	p   unsafe.Pointer
	n   int
	own *pages.Mapping // that was there before it was locked; nil: the driver has taken it
}

// leastMapped is the size from which the driver locks huge pages that are there. It takes and locks small pages one by one, and 0.6 ms a
// megabyte; huge pages take a ninth of that.
const leastMapped = 4 << 20

// AllocHost takes n > 0 bytes of page-locked memory; mapped memory has an address that kernels can use.
func (c *Context) AllocHost(n int, mapped bool) (*HostMemory, error) {
	const portable, deviceMap = 1, 2
	flags := uintptr(portable)
	if mapped {
		flags |= deviceMap
	}
	m := &HostMemory{c: c, n: n}
	if n >= leastMapped && c.d.fn[cuMemHostRegister] != 0 && m.lock(flags) {
		return m, nil
	}
	return m, c.d.call(cuMemHostAlloc, clib.Ptr(&m.p), clib.Int(n), clib.Int(flags))
}

// lock locks memory of the process. Where the system or the driver refuses that it reports false, and has taken nothing.
func (m *HostMemory) lock(flags uintptr) bool {
	own, err := pages.Map(uint64(m.n))
	if err != nil {
		return false
	}
	m.own, m.p = own, unsafe.Pointer(unsafe.SliceData(own.Bytes))
	if m.c.d.call(cuMemHostRegister, clib.Int(uintptr(m.p)), clib.Int(m.n), clib.Int(flags)) == nil {
		return true
	}
	_ = own.Close() // as nobody has used it
	m.own, m.p = nil, nil
	return false
}

// Bytes is the memory, valid until Free.
func (m *HostMemory) Bytes() []byte { return unsafe.Slice((*byte)(m.p), m.n) }

// DevicePtr is the address that kernels use for mapped memory.
func (m *HostMemory) DevicePtr() (Ptr, error) {
	var p Ptr
	err := m.c.d.call(cuMemHostGetDevicePointer, clib.Ptr(&p), clib.Int(uintptr(m.p)), clib.Int(0))
	return p, err
}

// Free gives the memory back; slices of it must not be used any more.
func (m *HostMemory) Free() error {
	if m.own == nil {
		return m.c.d.call(cuMemFreeHost, clib.Int(uintptr(m.p)))
	}
	if err := m.c.d.call(cuMemHostUnregister, clib.Int(uintptr(m.p))); err != nil {
		return err // the device may still use it, so it stays
	}
	return m.own.Close()
}

// Upload copies n bytes from host memory to the device when the stream comes to it.
func (s *Stream) Upload(to Ptr, from unsafe.Pointer, n uint64) error {
	s.host = from
	return s.do(cuMemcpyHtoDAsync, clib.Int(to), clib.Ptr((*byte)(from)), clib.Int(n), clib.Int(s.handle))
}

// Download copies n bytes from the device to host memory when the stream comes to it.
func (s *Stream) Download(to unsafe.Pointer, from Ptr, n uint64) error {
	s.host = to
	return s.do(cuMemcpyDtoHAsync, clib.Ptr((*byte)(to)), clib.Int(from), clib.Int(n), clib.Int(s.handle))
}

// Copy copies n bytes within the device when the stream comes to it.
func (s *Stream) Copy(to, from Ptr, n uint64) error {
	return s.do(cuMemcpyDtoDAsync, clib.Int(to), clib.Int(from), clib.Int(n), clib.Int(s.handle))
}

// CopyFromPeer copies n bytes from memory of another context's device to memory of the stream's.
func (s *Stream) CopyFromPeer(to Ptr, peer *Context, from Ptr, n uint64) error {
	return s.CopyBetween(to, s.c, from, peer, n)
}

// CopyBetween copies n bytes between memory of any two contexts' devices.
func (s *Stream) CopyBetween(to Ptr, toContext *Context, from Ptr, fromContext *Context, n uint64) error {
	return s.do(cuMemcpyPeerAsync, clib.Int(to), clib.Int(toContext.handle), clib.Int(from), clib.Int(fromContext.handle), clib.Int(n), clib.Int(s.handle))
}

// Fill sets n bytes to b when the stream comes to it.
func (s *Stream) Fill(p Ptr, b byte, n uint64) error {
	return s.do(cuMemsetD8Async, clib.Int(p), clib.Int(b), clib.Int(n), clib.Int(s.handle))
}

// Fill32 sets n words of 32 bits to w when the stream comes to it.
func (s *Stream) Fill32(p Ptr, w uint32, n uint64) error {
	return s.do(cuMemsetD32Async, clib.Int(p), clib.Int(w), clib.Int(n), clib.Int(s.handle))
}
