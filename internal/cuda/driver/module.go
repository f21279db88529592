package driver

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"burst/internal/clib"
)

// Module is code on the device.
type Module struct {
	c      *Context
	handle uintptr
}

// Load brings PTX, which the driver compiles for the device, or a cubin into the context. A refusal carries the
// compiler's log.
func (c *Context) Load(image []byte) (*Module, error) {
	const (
		errorLogBuffer = 5
		errorLogSize   = 6
	)
	image = append(image[:len(image):len(image)], 0) // PTX is a C string; a cubin knows its own length
	log := make([]byte, 16<<10)
	options := [2]int32{errorLogBuffer, errorLogSize}
	values := struct {
		log  *byte
		size uintptr
	}{&log[0], uintptr(len(log))}
	m := &Module{c: c}
	err := c.d.call(cuModuleLoadDataEx, clib.Ptr(&m.handle), clib.Ptr(&image[0]),
		clib.Int(len(options)), clib.Ptr(&options), clib.Ptr(&values))
	if err != nil {
		if text := upToNUL(log); text != "" {
			return nil, fmt.Errorf("%w\n%s", err, text)
		}
		return nil, err
	}
	return m, nil
}

// Unload removes the module and its functions.
func (m *Module) Unload() error { return m.c.d.call(cuModuleUnload, clib.Int(m.handle)) }

// Function is a kernel.
type Function struct {
	c      *Context
	name   string
	handle uintptr
}

// Function finds a kernel by its name in the module.
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{c: m.c, name: name}
	if err := m.c.d.call(cuModuleGetFunction, clib.Ptr(&f.handle), clib.Int(m.handle),
		clib.Ptr(cString(name))); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return f, nil
}

// Name is the kernel's name.
func (f *Function) Name() string { return f.name }

// Arguments are what a kernel gets: its fields' values when it is launched.
type Arguments struct {
	fields []unsafe.Pointer // one a parameter, then nil
	pin    *runtime.Pinner
}

// Params makes the fields of the struct that p points to the kernel's parameters, in order: Ptr for pointers, fixed-size
// numbers for the rest. The caller changes the fields between launches; a launch copies them. Release ends the use.
func Params(p any) *Arguments {
	v := reflect.ValueOf(p).Elem()
	a := &Arguments{fields: make([]unsafe.Pointer, v.NumField()+1), pin: &runtime.Pinner{}}
	for i := range v.NumField() {
		a.fields[i] = v.Field(i).Addr().UnsafePointer()
		a.pin.Pin(a.fields[i])
	}
	a.pin.Pin(&a.fields[0])
	return a
}

// ParamsAt makes parameters of the values that the pointers point to, in order. The caller keeps them in place: none may
// point into a goroutine's stack.
func ParamsAt(values []unsafe.Pointer) *Arguments {
	a := &Arguments{fields: append(values[:len(values):len(values)], nil), pin: &runtime.Pinner{}}
	for _, p := range values {
		a.pin.Pin(p)
	}
	a.pin.Pin(&a.fields[0])
	return a
}

// Release lets the garbage collector have the arguments back.
func (a *Arguments) Release() { a.pin.Unpin() }

// Launch queues a grid of blocks of threads, all along x, with no dynamic shared memory.
func (f *Function) Launch(blocks, threads uint32, a *Arguments, s *Stream) error {
	return s.do(cuLaunchKernel, clib.Int(f.handle), clib.Int(blocks), clib.Int(1), clib.Int(1), clib.Int(threads), clib.Int(1), clib.Int(1), clib.Int(0), clib.Int(s.handle),
		clib.Ptr(&a.fields[0]), clib.Int(0))
}

// LaunchShared is Launch with bytes of dynamic shared memory a block; above 48 KiB call AllowShared first.
func (f *Function) LaunchShared(blocks, threads, bytes uint32, a *Arguments, s *Stream) error {
	return s.do(cuLaunchKernel, clib.Int(f.handle), clib.Int(blocks), clib.Int(1), clib.Int(1), clib.Int(threads), clib.Int(1), clib.Int(1), clib.Int(bytes), clib.Int(s.handle),
		clib.Ptr(&a.fields[0]), clib.Int(0))
}

// LaunchCooperative is LaunchShared for a grid whose blocks all run at once and may wait for each other; see BlocksPerSM.
func (f *Function) LaunchCooperative(blocks, threads, bytes uint32, a *Arguments, s *Stream) error {
	return s.do(cuLaunchCooperativeKernel, clib.Int(f.handle), clib.Int(blocks), clib.Int(1), clib.Int(1), clib.Int(threads), clib.Int(1), clib.Int(1), clib.Int(bytes),
		clib.Int(s.handle), clib.Ptr(&a.fields[0]))
}

// LaunchGrid is LaunchShared for grids and blocks of up to three dimensions, x first; none may be 0.
func (f *Function) LaunchGrid(blocks, threads [3]uint32, bytes uint32, a *Arguments, s *Stream) error {
	return s.do(cuLaunchKernel, clib.Int(f.handle), clib.Int(blocks[0]), clib.Int(blocks[1]), clib.Int(blocks[2]),
		clib.Int(threads[0]), clib.Int(threads[1]), clib.Int(threads[2]), clib.Int(bytes), clib.Int(s.handle),
		clib.Ptr(&a.fields[0]), clib.Int(0))
}

// BlocksPerSM is how many blocks of this size one multiprocessor runs at once.
func (f *Function) BlocksPerSM(threads, bytes uint32) (int, error) {
	var n int32
	err := f.c.d.call(cuOccupancyMaxActiveBlocksPerMultiprocessor, clib.Ptr(&n), clib.Int(f.handle),
		clib.Int(threads), clib.Int(bytes))
	return int(n), err
}

// Registers is the number of registers a thread of the kernel uses.
func (f *Function) Registers() (int, error) {
	const numRegs = 4
	var n int32
	err := f.c.d.call(cuFuncGetAttribute, clib.Ptr(&n), clib.Int(numRegs), clib.Int(f.handle))
	return int(n), err
}

// AllowShared lets launches use up to bytes of dynamic shared memory a block.
func (f *Function) AllowShared(bytes uint32) error {
	const maxDynamicShared = 8
	return f.c.d.call(cuFuncSetAttribute, clib.Int(f.handle), clib.Int(maxDynamicShared), clib.Int(bytes))
}

// AllowClusters lets launches have clusters of more than 8 blocks, which not every device has: MostClusters tells.
func (f *Function) AllowClusters() error {
	const nonPortableClusterSize = 14
	return f.c.d.call(cuFuncSetAttribute, clib.Int(f.handle), clib.Int(nonPortableClusterSize), clib.Int(1))
}
