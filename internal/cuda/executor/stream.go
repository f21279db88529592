package executor

import (
	"fmt"
	"time"
	"unsafe"

	"burst/internal/cuda/driver"
)

// Stream is a queue of work, done in order. One goroutine at a time uses it.
type Stream struct {
	e      *Executor
	stream *driver.Stream
	hold   []any // Go memory that queued copies read or write
	closed bool
}

// Stream makes a stream, which overlaps with all others.
func (e *Executor) Stream() (*Stream, error) {
	s := &Stream{e: e}
	if err := e.Do(func(c *driver.Context) (err error) { s.stream, err = c.Stream(); return err }); err != nil {
		return nil, err
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.streams[s] = true
	return s, nil
}

// Driver is the stream for calls of package driver.
func (s *Stream) Driver() *driver.Stream { return s.stream }

// Synchronize waits until the stream has done its work, and returns the first fault of any of it.
func (s *Stream) Synchronize() error {
	err := s.e.Do(func(*driver.Context) error { return s.stream.Synchronize() })
	s.hold = s.hold[:0]
	return err
}

// Close waits for the stream's work and ends it.
func (s *Stream) Close() error {
	if s.closed {
		return nil
	}
	err := s.Synchronize()
	s.e.mutex.Lock()
	defer s.e.mutex.Unlock()
	delete(s.e.streams, s)
	s.closed = true
	s.e.pool.forget(s)
	if destroyErr := s.e.Do(func(*driver.Context) error { return s.stream.Destroy() }); err == nil {
		err = destroyErr
	}
	return err
}

// Event marks a place in a stream. Whoever makes it closes it.
type Event struct {
	e     *Executor
	event *driver.Event
}

// Record makes an event behind the work queued so far.
func (s *Stream) Record() (*Event, error) {
	v := &Event{e: s.e}
	err := s.e.Do(func(c *driver.Context) (err error) {
		if v.event, err = c.Event(); err != nil {
			return err
		}
		return s.stream.Record(v.event)
	})
	return v, err
}

// Wait makes what is queued from now on wait for the event.
func (s *Stream) Wait(v *Event) error {
	return s.e.Do(func(*driver.Context) error { return s.stream.Wait(v.event) })
}

// Synchronize waits until the device has passed the event.
func (v *Event) Synchronize() error {
	return v.e.Do(func(*driver.Context) error { return v.event.Synchronize() })
}

// Since is the device's time from start to v, both of them passed, to about half a microsecond.
func (v *Event) Since(start *Event) (took time.Duration, err error) {
	err = v.e.Do(func(*driver.Context) error { took, err = v.event.Since(start.event); return err })
	return took, err
}

// Close ends the event.
func (v *Event) Close() error {
	return v.e.Do(func(*driver.Context) error { return v.event.Destroy() })
}

// Pinned is page-locked host memory: copies from and to it run beside kernels and at the full speed of the link.
type Pinned struct {
	e      *Executor
	memory *driver.HostMemory
}

// Pin takes n > 0 bytes of page-locked memory.
func (e *Executor) Pin(n int) (*Pinned, error) {
	if n <= 0 {
		return nil, fmt.Errorf("%d bytes of pinned memory, want at least 1", n)
	}
	p := &Pinned{e: e}
	if err := e.Do(func(c *driver.Context) (err error) { p.memory, err = c.AllocHost(n, false); return err }); err != nil {
		return nil, fmt.Errorf("%d bytes of pinned memory: %w", n, err)
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.pinned[p] = true
	return p, nil
}

// PinnedSlice is the memory as numbers, valid until Free.
func PinnedSlice[T any](p *Pinned) []T {
	b := p.memory.Bytes()
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// Free gives the memory back; no copy may be under way.
func (p *Pinned) Free() error {
	p.e.mutex.Lock()
	defer p.e.mutex.Unlock()
	delete(p.e.pinned, p)
	return p.e.Do(func(*driver.Context) error { return p.memory.Free() })
}

// Upload queues a copy of all of from to the start of the buffer. from must not change until the stream is synchronised.
func Upload[T any](s *Stream, to *Buffer, from []T) error {
	n, err := copySize(to, from, "upload")
	if err != nil || n == 0 {
		return err
	}
	s.hold = append(s.hold, from)
	return s.e.Do(func(*driver.Context) error { return s.stream.Upload(to.ptr, unsafe.Pointer(&from[0]), n) })
}

// Download queues a copy of the start of the buffer, as much as to holds. to is filled once the stream is synchronised.
func Download[T any](s *Stream, to []T, from *Buffer) error {
	n, err := copySize(from, to, "download")
	if err != nil || n == 0 {
		return err
	}
	s.hold = append(s.hold, to)
	return s.e.Do(func(*driver.Context) error { return s.stream.Download(unsafe.Pointer(&to[0]), from.ptr, n) })
}

// copySize is the number of bytes of a copy between a slice and a buffer.
func copySize[T any](b *Buffer, slice []T, doing string) (uint64, error) {
	var zero T
	n := uint64(len(slice)) * uint64(unsafe.Sizeof(zero))
	if b.freed {
		return 0, fmt.Errorf("%s: the buffer was freed", doing)
	}
	if n > b.bytes {
		return 0, fmt.Errorf("%s of %d bytes, the buffer has %d", doing, n, b.bytes)
	}
	return n, nil
}

// Fill queues setting all of the buffer's bytes.
func (s *Stream) Fill(b *Buffer, value byte) error {
	return s.e.Do(func(*driver.Context) error { return s.stream.Fill(b.ptr, value, b.bytes) })
}

// Copy queues a copy of n bytes from one buffer's start to another's, which may belong to another device.
func (s *Stream) Copy(to, from *Buffer, n uint64) error {
	if to.freed || from.freed || n > to.bytes || n > from.bytes {
		return fmt.Errorf("copy of %d bytes from a buffer of %d to one of %d", n, from.bytes, to.bytes)
	}
	return s.e.Do(func(*driver.Context) error {
		if from.e != to.e {
			return s.stream.CopyBetween(to.ptr, to.e.ctx, from.ptr, from.e.ctx, n)
		}
		return s.stream.Copy(to.ptr, from.ptr, n)
	})
}
