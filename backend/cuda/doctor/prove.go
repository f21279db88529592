package doctor

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"unsafe"

	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
)

// proof is a kernel with inputs whose results the host knows.
type proof struct {
	name string
	run  func(p *patient) error
}

const (
	eps32 = 1.0 / (1 << 24) // half a unit in the last place of 1
	eps64 = 1.0 / (1 << 53)
)

// proofs lists everything that a GPU must compute.
func proofs() []proof {
	list := []proof{{"vector add", func(p *patient) error {
		return binary[float32](p, "add_f32", 1<<20+7, func(a, b float64) float64 { return a + b })
	}}}
	list = append(list, productProofs()...)
	list = append(list, activations()...)
	list = append(list, normalisations()...)
	list = append(list, realArithmetic[float32]("float32", "_f32")...)
	list = append(list, realArithmetic[float64]("float64", "_f64")...)
	return append(list, complexArithmetic()...)
}

// prove runs all; it stops where the context is lost, since nothing can be said of the rest.
func (p *patient) prove() bool {
	ok := true
	for _, one := range proofs() {
		err := one.run(p)
		if err != nil {
			ok = false
			p.fail(one.name, true, err)
			if driver.Sticky(err) {
				return false
			}
			continue
		}
		p.found(p.prefix+one.name, true, Right)
	}
	return ok
}

// real is a type of numbers that kernels compute with.
type real interface{ float32 | float64 }

// run uploads the inputs, launches with inputs, output and more as arguments, and brings the output back. The output's memory
// is filled first, so that results of an earlier kernel are not taken for this one's.
func run[In, Out any](p *patient, kernel string, g executor.Grid, inputs [][]In, out []Out, more ...any) (err error) {
	k, err := p.module.Kernel(kernel)
	if err != nil {
		return err
	}
	var args []any
	take := func(bytes int) *executor.Buffer {
		b, allocErr := p.exec.Alloc(p.stream, uint64(bytes))
		err = errors.Join(err, allocErr)
		args = append(args, b)
		return b
	}
	defer func() {
		for _, a := range args {
			if b, ok := a.(*executor.Buffer); ok && b != nil {
				err = errors.Join(err, b.Free(p.stream))
			}
		}
	}()
	for _, in := range inputs {
		if b := take(len(in) * int(unsafe.Sizeof(in[0]))); err == nil {
			err = executor.Upload(p.stream, b, in)
		}
	}
	result := take(len(out) * int(unsafe.Sizeof(out[0])))
	if err != nil {
		return err
	}
	args = append(args, more...)
	return errors.Join(p.stream.Fill(result, 0xEE), k.Launch(p.stream, g, args...), executor.Download(p.stream, out, result), p.stream.Synchronize())
}

// grid is one for n elements, more than the device runs at once but not one thread an element.
func (p *patient) grid(n int) executor.Grid {
	return executor.Threads(min(n, p.sms*4096), 256)
}

// numbers are n random ones from -limit to limit, the first of them special.
func numbers[T real](seed uint64, n int, limit float64, special ...float64) []T {
	r := rand.New(rand.NewPCG(seed, 1997))
	list := make([]T, n)
	for i := range list {
		list[i] = T((2*r.Float64() - 1) * limit)
		if i < len(special) {
			list[i] = T(special[i])
		}
	}
	return list
}

// judge names the first wrong one of n elements.
func judge(n int, right func(i int) bool, describe func(i int) string) error {
	wrong, text := 0, ""
	for i := range n {
		if right(i) {
			continue
		}
		if wrong++; wrong == 1 {
			text = describe(i)
		}
	}
	if wrong > 0 {
		return &wrongResult{fmt.Sprintf("%s (%d of %d elements)", text, wrong, n)}
	}
	return nil
}

// compare holds got to want: both NaN, equal, or apart by no more than the tolerance of that element.
func compare[T real](got []T, want func(i int) float64, tolerance func(i int, want float64) float64) error {
	right := func(i int) bool {
		g, w := float64(got[i]), want(i)
		return math.IsNaN(w) && math.IsNaN(g) || g == w || math.Abs(g-w) <= tolerance(i, w)
	}
	return judge(len(got), right, func(i int) string { return fmt.Sprintf("element %d is %v, want %v", i, got[i], want(i)) })
}

// epsilon is half a unit in the last place of 1.
func epsilon[T real]() float64 {
	var zero T
	if unsafe.Sizeof(zero) == 4 {
		return eps32
	}
	return eps64
}

// ulps is a tolerance relative to the value wanted, in units in the last place, which near zero are those of denormal
// numbers.
func ulps[T real](n float64) func(int, float64) float64 {
	smallest := math.SmallestNonzeroFloat32
	if epsilon[T]() == eps64 {
		smallest = math.SmallestNonzeroFloat64
	}
	return func(_ int, want float64) float64 { return n * max(2*epsilon[T]()*math.Abs(want), smallest) }
}

func exactly(int, float64) float64 { return 0 }

// binary proves a kernel of two inputs whose result, rounded to T once, is exact.
func binary[T real](p *patient, kernel string, n int, f func(a, b float64) float64) error {
	x := numbers[T](1, n, 1000, 0, math.Inf(1), math.Inf(-1), math.NaN(), 1e-42, -7)
	y := numbers[T](2, n, 10, math.Copysign(0, -1), math.Inf(1), 3, 5, 1e-3, 1e-42)
	out := make([]T, n)
	if err := run(p, kernel, p.grid(n), [][]T{x, y}, out, uint64(n)); err != nil {
		return err
	}
	return compare(out, func(i int) float64 { return float64(T(f(float64(x[i]), float64(y[i])))) }, exactly)
}

// unary proves a kernel of one input.
func unary[T real](p *patient, kernel string, limit float64, f func(float64) float64, tolerance func(int, float64) float64) error {
	const n = 70_001
	x := numbers[T](3, n, limit, 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-42, -1e-5, 88.7, -104, 709.7, -745)
	out := make([]T, n)
	if err := run(p, kernel, p.grid(n), [][]T{x}, out, uint64(n)); err != nil {
		return err
	}
	return compare(out, func(i int) float64 { return f(float64(x[i])) }, tolerance)
}

// realArithmetic is exact: both types round every operation once, and float64 holds any float32 result before rounding.
func realArithmetic[T real](title, suffix string) []proof {
	const n = 70_001
	two := func(name string, f func(a, b float64) float64) proof {
		return proof{title + " " + name, func(p *patient) error { return binary[T](p, name+suffix, n, f) }}
	}
	one := func(name string, f func(float64) float64) proof {
		return proof{title + " " + name, func(p *patient) error { return unary[T](p, name+suffix, 1000, f, exactly) }}
	}
	return []proof{
		two("add", func(a, b float64) float64 { return a + b }), two("sub", func(a, b float64) float64 { return a - b }),
		two("mul", func(a, b float64) float64 { return a * b }), two("div", func(a, b float64) float64 { return a / b }),
		one("neg", func(a float64) float64 { return -a }), one("abs", math.Abs),
	}
}

// activations allow the errors that kernels/transcendental.cuh promises.
func activations() []proof {
	relu := func(x float64) float64 {
		if x < 0 {
			return 0
		}
		return x
	}
	sigmoid := func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	}
	return []proof{
		{"ReLU", func(p *patient) error {
			return errors.Join(unary[float32](p, "relu_f32", 100, relu, exactly), unary[float64](p, "relu_f64", 100, relu, exactly))
		}},
		{"sigmoid", func(p *patient) error {
			return errors.Join(unary[float32](p, "sigmoid_f32", 100, sigmoid, ulps[float32](4)), unary[float64](p, "sigmoid_f64", 700, sigmoid, ulps[float64](4)))
		}},
		{"tanh", func(p *patient) error {
			return errors.Join(unary[float32](p, "tanh_f32", 5, math.Tanh, ulps[float32](4)), unary[float64](p, "tanh_f64", 10, math.Tanh, ulps[float64](4)))
		}},
	}
}

// complexArithmetic allows a few roundings relative to the size of the result.
func complexArithmetic() []proof {
	const n = 30_011
	x, y := pairs(4, n), pairs(5, n)
	check := func(got []complex128, f func(i int) complex128) error {
		right := func(i int) bool { return cmplx.Abs(got[i]-f(i)) <= 8*eps64*cmplx.Abs(f(i)) }
		return judge(n, right, func(i int) string { return fmt.Sprintf("element %d is %v, want %v", i, got[i], f(i)) })
	}
	two := func(name string, f func(a, b complex128) complex128) proof {
		return proof{"complex128 " + name, func(p *patient) error {
			out := make([]complex128, n)
			if err := run(p, name+"_c128", p.grid(n), [][]complex128{x, y}, out, uint64(n)); err != nil {
				return err
			}
			return check(out, func(i int) complex128 { return f(x[i], y[i]) })
		}}
	}
	return []proof{
		two("add", func(a, b complex128) complex128 { return a + b }), two("sub", func(a, b complex128) complex128 { return a - b }),
		two("mul", func(a, b complex128) complex128 { return a * b }), two("div", func(a, b complex128) complex128 { return a / b }),
		{"complex128 neg", func(p *patient) error {
			out := make([]complex128, n)
			if err := run(p, "neg_c128", p.grid(n), [][]complex128{x}, out, uint64(n)); err != nil {
				return err
			}
			return check(out, func(i int) complex128 { return -x[i] })
		}},
		{"complex128 abs", func(p *patient) error {
			out := make([]float64, n)
			if err := run(p, "abs_c128", p.grid(n), [][]complex128{x}, out, uint64(n)); err != nil {
				return err
			}
			return compare(out, func(i int) float64 { return cmplx.Abs(x[i]) }, ulps[float64](3))
		}},
	}
}

// pairs are random complex numbers of very different sizes.
func pairs(seed uint64, n int) []complex128 {
	r := rand.New(rand.NewPCG(seed, 3))
	list := make([]complex128, n)
	for i := range list {
		list[i] = complex((r.Float64()-0.5)*math.Exp2(float64(r.IntN(400)-200)), (r.Float64()-0.5)*math.Exp2(float64(r.IntN(400)-200)))
	}
	list[0], list[1] = 3+4i, complex(0, 1e-150)
	return list
}
