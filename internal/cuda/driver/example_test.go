package driver_test

import (
	_ "embed"
	"errors"
	"fmt"
	"unsafe"

	"burst/internal/cuda/driver"
)

const vectorAdd = `
extern "C" __global__ void vector_add(const float *x, const float *y, float *sum, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = x[i] + y[i];
}`

// vectorAddPTX is the same, compiled, for machines without NVRTC.
//
//go:embed testdata/vector_add.ptx
var vectorAddPTX []byte

// compile makes PTX for any GPU from Turing on, if NVRTC is there.
func compile() ([]byte, error) {
	compiler, err := driver.OpenNVRTC("")
	if errors.Is(err, driver.ErrUnavailable) {
		return vectorAddPTX, nil
	} else if err != nil {
		return nil, err
	}
	ptx, _, err := compiler.Compile(vectorAdd, nil, "--gpu-architecture=compute_75")
	return ptx, err
}

// add runs the kernel on the first GPU. The deferred calls free everything again.
func add(ptx []byte, x, y []float32) ([]float32, error) {
	d, err := driver.Open("")
	if err != nil {
		return nil, err
	}
	device, err := d.Device(0)
	if err != nil {
		return nil, err
	}
	context, err := device.Retain()
	if err != nil {
		return nil, err
	}
	defer context.Release()
	if err := context.Enter(); err != nil {
		return nil, err
	}
	defer context.Leave()
	module, err := context.Load(ptx)
	if err != nil {
		return nil, err
	}
	defer module.Unload()
	kernel, err := module.Function("vector_add")
	if err != nil {
		return nil, err
	}
	return launch(context, kernel, x, y)
}

// launch moves the numbers to the GPU and back.
func launch(context *driver.Context, kernel *driver.Function, x, y []float32) ([]float32, error) {
	stream, err := context.Stream()
	if err != nil {
		return nil, err
	}
	defer stream.Destroy()
	bytes := uint64(4 * len(x))
	memory, err := context.Alloc(3 * bytes)
	if err != nil {
		return nil, err
	}
	defer context.Free(memory)
	args := struct {
		x, y, sum driver.Ptr
		n         uint32
	}{memory, memory + driver.Ptr(bytes), memory + driver.Ptr(2*bytes), uint32(len(x))}
	params := driver.Params(&args)
	defer params.Release()
	sum := make([]float32, len(x))
	return sum, errors.Join(
		stream.Upload(args.x, unsafe.Pointer(&x[0]), bytes),
		stream.Upload(args.y, unsafe.Pointer(&y[0]), bytes),
		kernel.Launch((args.n+127)/128, 128, params, stream),
		stream.Download(unsafe.Pointer(&sum[0]), args.sum, bytes),
		stream.Synchronize(),
	)
}

// A kernel of one's own, compiled while the program runs.
func Example() {
	ptx, err := compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, err := add(ptx, []float32{1, 2, 3}, []float32{0.5, 0.25, 0.125})
	if errors.Is(err, driver.ErrUnavailable) {
		fmt.Println("no GPU here:", err)
		return
	}
	fmt.Println(sum, err)
}
