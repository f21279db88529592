package executor_test

import (
	"errors"
	"fmt"
	"log"

	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
)

const source = `
struct line { float slope, offset; };

extern "C" __global__ void along(const float *x, float *y, line l, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = l.slope * x[i] + l.offset;
}`

// line is the struct of that name in the source.
type line struct{ Slope, Offset float32 }

// A kernel of one's own: compiled while the program runs, launched, and its result brought back.
func Example() {
	y, err := along(line{Slope: 2, Offset: 0.5}, []float32{1, 2, 3})
	if errors.Is(err, driver.ErrUnavailable) {
		fmt.Println("no GPU or no NVRTC here:", err)
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
}

func along(l line, x []float32) (y []float32, err error) {
	e, err := executor.Open(executor.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }() // frees all that follows
	code, err := e.Compile(source, executor.CompileOptions{})
	if err != nil {
		return nil, err
	}
	module, err := e.Load(code.PTX)
	if err != nil {
		return nil, err
	}
	kernel, err := module.Kernel("along")
	if err != nil {
		return nil, err
	}
	stream, err := e.Stream()
	if err != nil {
		return nil, err
	}
	from, err := e.Alloc(stream, uint64(4*len(x)))
	if err != nil {
		return nil, err
	}
	to, err := e.Alloc(stream, uint64(4*len(x)))
	if err != nil {
		return nil, err
	}
	y = make([]float32, len(x))
	return y, errors.Join(
		executor.Upload(stream, from, x),
		kernel.Launch(stream, executor.Threads(len(x), 128), from, to, l, uint32(len(x))),
		executor.Download(stream, y, to),
		stream.Synchronize(),
	)
}
