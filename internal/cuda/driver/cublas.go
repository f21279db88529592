package driver

import (
	"cmp"
	"fmt"
	"os"

	"burst/internal/clib"
)

// CUBLAS is NVIDIA's library of linear algebra with a handle for one context.
type CUBLAS struct {
	path   string
	fn     [len(cublasNames)]uintptr
	handle uintptr
}

const (
	cublasCreate = iota
	cublasDestroy
	cublasGetVersion
	cublasSetStream
	cublasSgemm
)

var cublasNames = [...]string{"cublasCreate_v2", "cublasDestroy_v2", "cublasGetVersion_v2", "cublasSetStream_v2", "cublasSgemm_v2"}

// OpenCUBLAS loads the library for the context that is entered: the named one, or when path is empty $BURST_LIBCUBLAS if
// set, else those of CUDA 13 and 12. The error wraps ErrUnavailable where there is none.
func OpenCUBLAS(path string) (*CUBLAS, error) {
	b := &CUBLAS{}
	var library uintptr
	var err error
	if b.path, library, err = openFirst(cmp.Or(path, os.Getenv(CUBLASVariable)), "libcublas.so.13", "libcublas.so.12", "libcublas.so",
		"/usr/local/cuda/lib64/libcublas.so"); err != nil {
		return nil, unavailable("%v; install the CUDA toolkit's cuBLAS, or name the file in $%s", err, CUBLASVariable)
	}
	for i, name := range cublasNames {
		if b.fn[i] = clib.Lookup(library, name); b.fn[i] == 0 {
			return nil, unavailable("%s has no function %s; install the cuBLAS of CUDA 12 or newer", b.path, name)
		}
	}
	return b, b.call(cublasCreate, clib.Ptr(&b.handle))
}

func (b *CUBLAS) call(f int, args ...clib.Arg) error {
	if r := clib.Call(b.fn[f], args...); int32(r) != 0 {
		return fmt.Errorf("%s: status %d (cublasStatus_t)", cublasNames[f], int32(r))
	}
	return nil
}

// Path is the name that the library was loaded by.
func (b *CUBLAS) Path() string { return b.path }

// Version is the library's version, 10000·major + 100·minor + patch.
func (b *CUBLAS) Version() (int, error) {
	var v int32
	err := b.call(cublasGetVersion, clib.Int(b.handle), clib.Ptr(&v))
	return int(v), err
}

// MatrixProduct queues out (m by n) = x (m by k) · y (k by n) in float32, all row by row: cuBLAS stores by columns, to which
// rows are the transposed, so it is given yᵀ·xᵀ.
func (b *CUBLAS) MatrixProduct(s *Stream, x, y, out Ptr, m, n, k uint32) error {
	if err := b.call(cublasSetStream, clib.Int(b.handle), clib.Int(s.handle)); err != nil {
		return err
	}
	one, zero := float32(1), float32(0)
	return b.call(cublasSgemm, clib.Int(b.handle), clib.Int(0), clib.Int(0), clib.Int(n), clib.Int(m), clib.Int(k), clib.Ptr(&one),
		clib.Int(y), clib.Int(n), clib.Int(x), clib.Int(k), clib.Ptr(&zero), clib.Int(out), clib.Int(n))
}

// Close frees the handle; the context must be entered.
func (b *CUBLAS) Close() error { return b.call(cublasDestroy, clib.Int(b.handle)) }
