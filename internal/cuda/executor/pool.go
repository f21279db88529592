package executor

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"burst/internal/cuda/driver"
)

// Buffer is device memory of the pool.
type Buffer struct {
	e     *Executor
	block *block
	ptr   driver.Ptr
	bytes uint64
	freed bool
}

// Ptr is the buffer's address, for structs of arguments and for package driver.
func (b *Buffer) Ptr() driver.Ptr { return b.ptr }

// Bytes is the size that was asked for.
func (b *Buffer) Bytes() uint64 { return b.bytes }

// PoolStats is what the pool of an Executor has done and holds.
type PoolStats struct {
	Hits   uint64 // allocations served from memory that was there
	Misses uint64 // allocations that asked the driver
	Used   uint64 // bytes in buffers, in whole buckets
	Kept   uint64 // bytes kept for later
}

// HitRate is the share of allocations that did not ask the driver, 0 before the first.
func (s PoolStats) HitRate() float64 {
	if s.Hits+s.Misses == 0 {
		return 0
	}
	return float64(s.Hits) / float64(s.Hits+s.Misses)
}

// smallest is the smallest bucket, 2^smallest bytes; the driver gives no less than that anyway.
const smallest = 9

// block is memory of one bucket. It belongs to a buffer, or lies in the pool behind the work of the stream it was freed in.
type block struct {
	ptr    driver.Ptr
	bucket int
	stream *Stream       // that freed it; nil when that stream has ended, all work done
	event  *driver.Event // behind the last use in that stream
}

// pool keeps freed memory in buckets of powers of two.
type pool struct {
	e     *Executor
	mutex sync.Mutex
	free  [64][]*block
	used  map[*block]bool
	stats PoolStats
}

// Alloc takes bytes > 0 of device memory, contents undefined, for use in stream s from now on. Memory freed in the same
// stream is taken first, since order alone makes that safe; memory of another stream is waited for by s, not by the caller.
func (e *Executor) Alloc(s *Stream, bytes uint64) (*Buffer, error) {
	if bytes == 0 || bytes > 1<<62 {
		return nil, fmt.Errorf("%d bytes of device memory, want 1…2^62", bytes)
	}
	p := &e.pool
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var b *block
	err := e.Do(func(c *driver.Context) (err error) {
		b, err = p.take(c, s, max(smallest, bits.Len64(bytes-1)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%d bytes of device memory: %w", bytes, err)
	}
	if p.used == nil {
		p.used = map[*block]bool{}
	}
	p.used[b] = true
	p.stats.Used += 1 << b.bucket
	return &Buffer{e: e, block: b, ptr: b.ptr, bytes: bytes}, nil
}

// Free gives the buffer back once stream s, the last to use it, has come that far. The caller need not wait.
func (b *Buffer) Free(s *Stream) error {
	p := &b.e.pool
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if b.freed {
		return errors.New("the buffer was freed before")
	}
	b.freed = true
	k := b.block
	k.stream = nil
	delete(p.used, k)
	p.stats.Used -= 1 << k.bucket
	p.stats.Kept += 1 << k.bucket
	p.free[k.bucket] = append(p.free[k.bucket], k)
	if s.closed {
		return nil // all its work is done
	}
	k.stream = s
	return b.e.Do(func(*driver.Context) error { return s.stream.Record(k.event) })
}

// PoolStats tells what the pool has done and holds.
func (e *Executor) PoolStats() PoolStats {
	e.pool.mutex.Lock()
	defer e.pool.mutex.Unlock()
	return e.pool.stats
}

// Trim gives all memory that is kept for later back to the driver.
func (e *Executor) Trim() error {
	e.pool.mutex.Lock()
	defer e.pool.mutex.Unlock()
	return e.Do(e.pool.trim)
}

// take is a block of a bucket: kept in the same stream, kept elsewhere, or new; when memory is short, new after all that is
// kept was given back.
func (p *pool) take(c *driver.Context, s *Stream, bucket int) (*block, error) {
	list := p.free[bucket]
	best := len(list) - 1
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].stream == s {
			best = i
			break
		}
	}
	if best >= 0 {
		b := list[best]
		if b.stream != nil && b.stream != s {
			if err := s.stream.Wait(b.event); err != nil {
				return nil, err
			}
		}
		list[best] = list[len(list)-1]
		p.free[bucket] = list[:len(list)-1]
		p.stats.Hits++
		p.stats.Kept -= 1 << bucket
		return b, nil
	}
	p.stats.Misses++
	b := &block{bucket: bucket}
	var err error
	if b.event, err = c.Event(); err != nil {
		return nil, err
	}
	if b.ptr, err = c.Alloc(1 << bucket); outOfMemory(err) && p.stats.Kept > 0 {
		if err = p.trim(c); err == nil {
			b.ptr, err = c.Alloc(1 << bucket)
		}
	}
	if err != nil {
		return nil, errors.Join(err, b.event.Destroy())
	}
	return b, nil
}

func outOfMemory(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code == driver.OutOfMemory
}

// trim frees what is kept, each block once the stream has passed its last use.
func (p *pool) trim(c *driver.Context) error {
	var errs []error
	for i, list := range p.free {
		for _, b := range list {
			if b.stream != nil {
				errs = append(errs, b.event.Synchronize())
			}
			errs = append(errs, b.release(c))
			p.stats.Kept -= 1 << b.bucket
		}
		p.free[i] = nil
	}
	return errors.Join(errs...)
}

func (b *block) release(c *driver.Context) error {
	return errors.Join(c.Free(b.ptr), b.event.Destroy())
}

// forget makes memory freed in a stream that has done its work free for all.
func (p *pool) forget(s *Stream) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, list := range p.free {
		for _, b := range list {
			if b.stream == s {
				b.stream = nil
			}
		}
	}
}

// freeAll frees what is kept and what is still in buffers, all streams being done.
func (p *pool) freeAll() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var errs []error
	for _, list := range p.free {
		for _, b := range list {
			errs = append(errs, b.release(p.e.ctx))
		}
	}
	for b := range p.used {
		errs = append(errs, b.release(p.e.ctx))
	}
	p.free, p.used = [64][]*block{}, nil
	return errors.Join(errs...)
}
