package cuda

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"

	"burst/internal/cuda/driver"
)

// staging is page-locked memory for copies to a device. All processors fill one half while the other half is copied. From other memory, the
// driver copies with one processor, through page-locked memory of its own.
type staging struct {
	stream *driver.Stream
	host   *driver.HostMemory
	half   uint64 // bytes
}

// withStaging does something with memory through which at most so many bytes go at a time.
func (b *backend) withStaging(most uint64, do func(s *staging) error) error {
	return stage(b.ctx, b.stream, min(most, b.tune.staging), do)
}

// stage is that with a half of at most so many bytes.
func stage(ctx *driver.Context, stream *driver.Stream, half uint64, do func(s *staging) error) error {
	s := &staging{stream: stream, half: max(1, half)}
	var err error
	if s.host, err = ctx.AllocHost(int(2*s.half), false); err != nil {
		return err
	}
	return errors.Join(do(s), s.host.Free())
}

// fill copies items of the given size to the device. put writes those from first on that fit into a half. When fill returns, all items have
// been copied; what put queues is done when it is called again.
func (s *staging) fill(to driver.Ptr, items, each uint64, put func(first, end uint64, room []byte) error) error {
	some := max(1, s.half/each)
	for first, turn := uint64(0), uint64(0); first < items; turn = 1 - turn {
		end := min(first+some, items)
		room := s.host.Bytes()[turn*s.half:][:(end-first)*each]
		if err := put(first, end, room); err != nil {
			return errors.Join(err, s.stream.Synchronize())
		}
		if err := s.stream.Synchronize(); err != nil { // the other half is free
			return err
		}
		if err := s.stream.Upload(to+driver.Ptr(first*each), data(room), size(room)); err != nil {
			return err
		}
		first = end
	}
	return s.stream.Synchronize()
}

// upload copies a list to the device.
func (s *staging) upload(to driver.Ptr, from unsafe.Pointer, bytes uint64) error {
	list := unsafe.Slice((*byte)(from), bytes)
	return s.fill(to, bytes, 1, func(first, end uint64, room []byte) error {
		inShares(len(room), func(lo, hi int) { copy(room[lo:hi], list[first:end][lo:hi]) })
		return nil
	})
}

// drain brings items of the given size from the device. get takes those from first on, while the next ones come.
func (s *staging) drain(from driver.Ptr, items, each uint64, get func(first, end uint64, room []byte)) error {
	some := max(1, s.half/each)
	var came []byte // items before first
	for first, turn := uint64(0), uint64(0); first < items || came != nil; turn = 1 - turn {
		end := min(first+some, items)
		next := s.host.Bytes()[turn*s.half:][:(end-first)*each]
		if len(next) > 0 {
			if err := s.stream.Download(data(next), from+driver.Ptr(first*each), size(next)); err != nil {
				return errors.Join(err, s.stream.Synchronize())
			}
		}
		if came != nil {
			get(first-uint64(len(came))/each, first, came)
		}
		if err := s.stream.Synchronize(); err != nil {
			return err
		}
		first = end
		if came = next; len(next) == 0 {
			came = nil
		}
	}
	return nil
}

// download copies a list from the device. It is there when download returns.
func (s *staging) download(to unsafe.Pointer, from driver.Ptr, bytes uint64) error {
	list := unsafe.Slice((*byte)(to), bytes)
	return s.drain(from, bytes, 1, func(first, end uint64, room []byte) {
		inShares(len(room), func(lo, hi int) { copy(list[first:end][lo:hi], room[lo:hi]) })
	})
}

// addTo adds a list on the device to one of the host.
func (s *staging) addTo(list []uint64, from driver.Ptr) error {
	return s.drain(from, uint64(len(list)), 8, func(first, end uint64, room []byte) {
		addTo(list[first:end], unsafe.Slice((*uint64)(data(room)), end-first))
	})
}

// addTo adds equally many numbers to those of a list. It leaves alone to which it adds 0: they may be those of others.
func addTo(list, more []uint64) {
	inShares(len(more), func(lo, hi int) {
		for i, x := range more[lo:hi] {
			if x != 0 {
				list[lo+i] += x
			}
		}
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
