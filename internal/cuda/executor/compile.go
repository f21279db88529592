package executor

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"burst/internal/cuda/driver"
)

// CompileOptions of Compile; the zero value compiles for the device at hand as it is.
type CompileOptions struct {
	Headers    map[string]string // files that the source may include, by name
	Options    []string          // of nvcc, as --fmad=false, --std=c++17
	Capability int               // 10·major + minor that the code is for, at most the device's; 0: the device's
}

// Code is compiled CUDA C++.
type Code struct {
	PTX      []byte
	Log      string // what the compiler said, warnings above all
	Cached   bool   // the code came from the cache
	CacheErr error  // why the code could not be kept in the cache; the code is good all the same
}

// CompileError is source that the compiler refused.
type CompileError struct {
	Log string // with lines counted from the start of the source, as default_program(7)
	Err error  // the compiler's status
}

func (e *CompileError) Error() string { return fmt.Sprintf("compiling: %v\n%s", e.Err, e.Log) }

// Unwrap is Err.
func (e *CompileError) Unwrap() error { return e.Err }

// Compile makes PTX of CUDA C++ by NVRTC, or takes it from the cache, where it lies under the hash of source, headers,
// options, capability, driver and compiler. The error wraps driver.ErrUnavailable where there is no NVRTC, and is a
// *CompileError when the source is at fault.
func (e *Executor) Compile(source string, o CompileOptions) (*Code, error) {
	compiler, err := e.compiler()
	if err != nil {
		return nil, err
	}
	version, err := compiler.Version()
	if err != nil {
		return nil, err
	}
	if o.Capability == 0 {
		if o.Capability, err = e.target(compiler); err != nil {
			return nil, err
		}
	}
	key := e.key(source, o, version)
	kept, readErr := e.readCache(key)
	if kept != nil {
		return kept, nil
	}
	options := append([]string{fmt.Sprintf("--gpu-architecture=compute_%d", o.Capability)}, o.Options...)
	ptx, log, err := compiler.Compile(source, o.Headers, options...)
	if err != nil {
		if status := errors.Unwrap(err); status != nil {
			return nil, &CompileError{Log: log, Err: status}
		}
		return nil, fmt.Errorf("compiling: %w", err)
	}
	code := &Code{PTX: ptx, Log: log, CacheErr: readErr}
	if readErr == nil && e.cache.limit >= 0 {
		code.CacheErr = e.cache.write(key, encodeCode(code))
	}
	return code, nil
}

// target is the newest capability that the compiler knows and the device runs.
func (e *Executor) target(compiler *driver.NVRTC) (int, error) {
	known, err := compiler.Capabilities()
	if err != nil {
		return 0, err
	}
	best := 0
	for _, c := range known {
		if c <= e.capability {
			best = max(best, c)
		}
	}
	if best == 0 {
		return 0, fmt.Errorf("%s compiles for compute capabilities %v, the device has %d; install the NVRTC of an older CUDA toolkit",
			compiler.Path(), known, e.capability)
	}
	return best, nil
}

// key is the hash of all that the PTX depends on.
func (e *Executor) key(source string, o CompileOptions, compiler int) string {
	h := sha256.New()
	add := func(s string) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	add(fmt.Sprint(o.Capability, e.driver.Version(), compiler, len(o.Headers), len(o.Options)))
	add(source)
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		add(name)
		add(o.Headers[name])
	}
	for _, option := range o.Options {
		add(option)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// readCache is the code under a key, nil if there is none; the error says why the cache is of no use.
func (e *Executor) readCache(key string) (*Code, error) {
	if e.cache.limit < 0 {
		return nil, nil
	}
	if e.cacheErr != nil {
		return nil, e.cacheErr
	}
	b, err := e.cache.read(key)
	if b == nil || err != nil {
		return nil, err
	}
	log, ptx, _ := strings.Cut(string(b), "\x00")
	return &Code{PTX: []byte(ptx), Log: log, Cached: true}, nil
}

// encodeCode is what readCache reads: the log, a NUL, the PTX.
func encodeCode(c *Code) []byte {
	return append(append([]byte(strings.ReplaceAll(c.Log, "\x00", "")), 0), c.PTX...)
}
