package executor

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"burst/internal/cuda/driver"
)

// Options of Open; the zero value is the first device and a cache of 64 MiB in the user's cache folder.
type Options struct {
	Device      int    // as nvidia-smi numbers the devices that CUDA_VISIBLE_DEVICES leaves, from 0 on
	CacheFolder string // for compiled code; empty: burst/ptx in os.UserCacheDir
	CacheBytes  int64  // what the cache may hold; 0: 64 MiB; below 0: nothing is cached
}

// Executor is one device, ready to run kernels.
type Executor struct {
	driver     *driver.Driver
	device     *driver.Device
	ctx        *driver.Context
	capability int
	cache      cache
	cacheErr   error // why there is no cache folder
	pool       pool

	compiler func() (*driver.NVRTC, error)

	mutex   sync.Mutex
	modules map[[sha256.Size]byte]*Module
	streams map[*Stream]bool
	pinned  map[*Pinned]bool
	closed  bool
}

// Devices is the number of devices. The error wraps driver.ErrUnavailable when this machine cannot run CUDA.
func Devices() (int, error) {
	d, err := driver.Open("")
	if err != nil {
		return 0, err
	}
	return d.DeviceCount()
}

// Open takes hold of a device. The error wraps driver.ErrUnavailable when this machine cannot run CUDA.
func Open(o Options) (*Executor, error) {
	d, err := driver.Open("")
	if err != nil {
		return nil, err
	}
	e := &Executor{
		driver: d, modules: map[[sha256.Size]byte]*Module{}, streams: map[*Stream]bool{}, pinned: map[*Pinned]bool{},
		compiler: sync.OnceValues(func() (*driver.NVRTC, error) { return driver.OpenNVRTC("") }),
		cache:    cache{folder: o.CacheFolder, limit: cmp.Or(o.CacheBytes, 64<<20)},
	}
	e.pool.e = e
	if e.cache.folder == "" {
		var base string
		if base, e.cacheErr = os.UserCacheDir(); e.cacheErr == nil {
			e.cache.folder = filepath.Join(base, "burst", "ptx")
		}
	}
	if e.device, err = d.Device(o.Device); err != nil {
		return nil, err
	}
	if e.capability, err = e.device.Capability(); err != nil {
		return nil, err
	}
	if e.ctx, err = e.device.Retain(); err != nil {
		return nil, fmt.Errorf("device %d: %w", o.Device, err)
	}
	return e, nil
}

// Device is the device that the Executor runs on.
func (e *Executor) Device() *driver.Device { return e.device }

// Driver is the library that the Executor calls.
func (e *Executor) Driver() *driver.Driver { return e.driver }

// Capability is the device's compute capability, 10·major + minor.
func (e *Executor) Capability() int { return e.capability }

// Do runs f with the device's context current, for calls of package driver itself.
func (e *Executor) Do(f func(*driver.Context) error) error {
	if err := e.ctx.Enter(); err != nil {
		return err
	}
	defer e.ctx.Leave()
	return f(e.ctx)
}

// MemoryInfo is the device's free and total memory in bytes; what the pool keeps for later counts as taken.
func (e *Executor) MemoryInfo() (free, total uint64, err error) {
	err = e.Do(func(c *driver.Context) error {
		free, total, err = c.MemoryInfo()
		return err
	})
	return free, total, err
}

// Close waits for all streams, frees everything that the Executor has made, and lets go of the device. It returns the first
// failure, after which it has freed the rest all the same.
func (e *Executor) Close() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	var errs []error
	enterErr := e.Do(func(*driver.Context) error {
		for s := range e.streams {
			errs = append(errs, s.stream.Synchronize())
		}
		errs = append(errs, e.pool.freeAll())
		for s := range e.streams {
			errs = append(errs, s.stream.Destroy())
		}
		for p := range e.pinned {
			errs = append(errs, p.memory.Free())
		}
		for _, m := range e.modules {
			errs = append(errs, m.module.Unload())
		}
		return nil
	})
	return errors.Join(append(errs, enterErr, e.ctx.Release())...)
}
