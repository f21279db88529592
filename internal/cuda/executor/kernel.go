package executor

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"burst/internal/cuda/driver"
)

// Module is code on the device. It stays until the Executor is closed.
type Module struct {
	e      *Executor
	module *driver.Module
	header header
}

// Load brings PTX onto the device; the same PTX is loaded once. The error is a *TooNewError or a *TargetError when driver or
// device cannot take it, and else carries the log of the driver's compiler.
func (e *Executor) Load(ptx []byte) (*Module, error) {
	h, err := parsePTX(ptx)
	if err != nil {
		return nil, err
	}
	if err := h.check(e.driver.Version(), e.capability); err != nil {
		return nil, err
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	key := sha256.Sum256(ptx)
	if m := e.modules[key]; m != nil {
		return m, nil
	}
	m := &Module{e: e, header: h}
	if err := e.Do(func(c *driver.Context) error { m.module, err = c.Load(ptx); return err }); err != nil {
		return nil, fmt.Errorf("loading PTX %s for sm_%d: %w", dotted(h.version), h.target, err)
	}
	e.modules[key] = m
	return m, nil
}

// Kernels lists the names of the module's kernels, ascending.
func (m *Module) Kernels() []string { return slices.Sorted(maps.Keys(m.header.kernels)) }

// Kernel is one kernel of a module.
type Kernel struct {
	e          *Executor
	name       string
	function   *driver.Function
	parameters []parameter
}

// Kernel finds a kernel by name; names are C's, so declare kernels extern "C".
func (m *Module) Kernel(name string) (*Kernel, error) {
	parameters, ok := m.header.kernels[name]
	if !ok {
		return nil, fmt.Errorf("no kernel %q, there are %s; declare it extern \"C\" __global__ to keep its name", name, strings.Join(m.Kernels(), ", "))
	}
	k := &Kernel{e: m.e, name: name, parameters: parameters}
	return k, m.e.Do(func(*driver.Context) (err error) { k.function, err = m.module.Function(name); return err })
}

// Grid is the shape of a launch. Zeros in Blocks and Block mean 1.
type Grid struct {
	Blocks      [3]uint32 // number of blocks, x first
	Block       [3]uint32 // threads of a block, x first; at most 1024 in all
	Shared      uint32    // bytes of dynamic shared memory a block, at most 48 KiB
	Cooperative bool      // all blocks run at once and may wait for each other; one-dimensional only
}

// Threads is a one-dimensional grid of at least n > 0 threads in blocks of the given size.
func Threads(n int, block uint32) Grid {
	return Grid{Blocks: [3]uint32{uint32((uint64(n) + uint64(block) - 1) / uint64(block)), 1, 1}, Block: [3]uint32{block, 1, 1}}
}

// Launch queues the kernel. Arguments are *Buffer or driver.Ptr for pointers, and for the rest numbers or structs of the
// size that the kernel declares: int32, uint64, float32, …, not int, whose size C does not share. A wrong number or size of
// arguments is an error that names the parameter.
func (k *Kernel) Launch(s *Stream, g Grid, arguments ...any) error {
	values, err := k.check(arguments)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.name, err)
	}
	for i := range 3 {
		g.Blocks[i], g.Block[i] = max(g.Blocks[i], 1), max(g.Block[i], 1)
	}
	if g.Cooperative && (g.Blocks[1]*g.Blocks[2] != 1 || g.Block[1]*g.Block[2] != 1) {
		return fmt.Errorf("kernel %s: a cooperative grid of %v blocks of %v threads, want one dimension", k.name, g.Blocks, g.Block)
	}
	params := driver.ParamsAt(values)
	defer params.Release()
	err = k.e.Do(func(*driver.Context) error {
		if g.Cooperative {
			return k.function.LaunchCooperative(g.Blocks[0], g.Block[0], g.Shared, params, s.stream)
		}
		return k.function.LaunchGrid(g.Blocks, g.Block, g.Shared, params, s.stream)
	})
	if err != nil {
		return fmt.Errorf("kernel %s, %v blocks of %v threads: %w", k.name, g.Blocks, g.Block, err)
	}
	return nil
}

// check copies the arguments to where the driver can read them.
func (k *Kernel) check(arguments []any) ([]unsafe.Pointer, error) {
	if len(arguments) != len(k.parameters) {
		return nil, fmt.Errorf("%d arguments, want %d: %s", len(arguments), len(k.parameters), describe(k.parameters))
	}
	values := make([]unsafe.Pointer, len(arguments))
	for i, a := range arguments {
		if b, ok := a.(*Buffer); ok {
			if b == nil || b.freed {
				return nil, fmt.Errorf("argument %d is a buffer that was freed", i)
			}
			a = b.ptr
		}
		v := reflect.ValueOf(a)
		if err := fits(v, k.parameters[i]); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		values[i] = p.UnsafePointer()
	}
	return values, nil
}

// fits compares a Go value with what the kernel declares.
func fits(v reflect.Value, p parameter) error {
	if !v.IsValid() {
		return fmt.Errorf("nil, want %s; pass driver.Ptr(0) for no memory", p)
	}
	t := v.Type()
	if !fixed(t) {
		return fmt.Errorf("%s has no size that C shares, want %s; use int32, uint64, float32, a *Buffer, or a struct of such", t, p)
	}
	if int(t.Size()) != p.size {
		return fmt.Errorf("%s has %d bytes, want %s", t, t.Size(), p)
	}
	float := t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64
	if declared := p.kind[0]; declared != 'b' && t.Kind() != reflect.Struct && float != (declared == 'f') {
		return fmt.Errorf("%s where the kernel declares %s", t, p)
	}
	return nil
}

// fixed says whether values of a type have the same layout in C and hold no Go pointers.
func fixed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Bool:
		return true
	case reflect.Array:
		return fixed(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !fixed(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// String is the parameter as messages name it.
func (p parameter) String() string {
	switch p.kind[0] {
	case 'f':
		return fmt.Sprintf("a float of %d bytes", p.size)
	case 'u', 's':
		return fmt.Sprintf("a whole number or pointer of %d bytes", p.size)
	}
	return fmt.Sprintf("%d bytes", p.size)
}

func describe(list []parameter) string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, ", ")
}
