package cuda

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"

	"burst/internal/cuda/driver"
)

// staging is page-locked memory for copies to a device. All processors fill one half while the other is copied. The driver
// copies other memory with one processor, through such memory of its own.
type staging struct {
	b    *backend
	host *driver.HostMemory
	half uint64 // bytes
}

// withStaging does something with memory through which at most so many bytes go at a time.
func (b *backend) withStaging(most uint64, do func(s *staging) error) error {
	s := &staging{b: b, half: max(1, min(most, b.tune.staging))}
	var err error
	if s.host, err = b.ctx.AllocHost(int(2*s.half), false); err != nil {
		return err
	}
	return errors.Join(do(s), s.host.Free())
}

// fill brings the device items of so many bytes each: put makes those from first on that fit a room. All are there when it returns,
// and what put queues when it is called again.
func (s *staging) fill(to driver.Ptr, items, each uint64, put func(first, end uint64, room []byte) error) error {
	some := max(1, s.half/each)
	for first, turn := uint64(0), uint64(0); first < items; turn = 1 - turn {
		end := min(first+some, items)
		room := s.host.Bytes()[turn*s.half:][:(end-first)*each]
		if err := put(first, end, room); err != nil {
			return errors.Join(err, s.b.stream.Synchronize())
		}
		if err := s.b.stream.Synchronize(); err != nil { // the other half is free
			return err
		}
		if err := s.b.stream.Upload(to+driver.Ptr(first*each), data(room), size(room)); err != nil {
			return err
		}
		first = end
	}
	return s.b.stream.Synchronize()
}

// upload copies a list to the device.
func (s *staging) upload(to driver.Ptr, from unsafe.Pointer, bytes uint64) error {
	list := unsafe.Slice((*byte)(from), bytes)
	return s.fill(to, bytes, 1, func(first, end uint64, room []byte) error {
		inShares(len(room), func(lo, hi int) { copy(room[lo:hi], list[first:end][lo:hi]) })
		return nil
	})
}

// inShares does something with n items on all processors, each some neighbouring ones.
func inShares(n int, do func(lo, hi int)) {
	parts := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for i := range parts {
		if lo, hi := n*i/parts, n*(i+1)/parts; lo < hi {
			all.Go(func() { do(lo, hi) })
		}
	}
	all.Wait()
}
