package doctor

import (
	"errors"
	"fmt"
	"math"
	"time"

	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// openCUBLAS looks for the library, which needs a context; the first device's answer counts for all.
func (p *patient) openCUBLAS() {
	err := p.exec.Do(func(*driver.Context) (err error) {
		if p.blas, err = driver.OpenCUBLAS(""); err != nil {
			return err
		}
		v, err := p.blas.Version()
		p.report.CUBLAS = Library{Path: p.blas.Path(), Version: fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)}
		return err
	})
	if err != nil {
		p.blas = nil
	}
	if p.device.Index > 0 {
		return
	}
	if err != nil {
		p.failed("cublas", false, err)
		return
	}
	p.found("cublas", false, "%s, %s", p.report.CUBLAS.Path, p.report.CUBLAS.Version)
}

// closeCUBLAS lets go of the library.
func (p *patient) closeCUBLAS() error {
	if p.blas == nil {
		return nil
	}
	return p.exec.Do(func(*driver.Context) error { return p.blas.Close() })
}

// measureProducts times square products of every size, by burst's own kernel and by cuBLAS, and checks each result.
func (p *patient) measureProducts() error {
	for _, n := range p.effort.sizes {
		if err := p.measureProduct(n); err != nil {
			return err
		}
	}
	return nil
}

// measureProduct is one size.
func (p *patient) measureProduct(n int) (err error) {
	x, y := numbers[float32](12, n*n, 1), numbers[float32](13, n*n, 1)
	list, free, err := p.buffers(3, uint64(4*n*n))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	if err := errors.Join(executor.Upload(p.stream, list[0], x), executor.Upload(p.stream, list[1], y), p.stream.Synchronize()); err != nil {
		return err
	}
	tile := tileFor(n, n, p.sms)
	k, err := p.module.Kernel(fmt.Sprintf("matrix_product_%d", tile))
	if err != nil {
		return err
	}
	own, err := p.timeProduct(fmt.Sprintf("matrix product %d², burst's kernel", n), n, x, y, list[2], func() error {
		return k.Launch(p.stream, productGrid(n, n, tile), list[0], list[1], list[2], uint32(n), uint32(n), uint32(n))
	})
	if err != nil {
		return err
	}
	if p.blas != nil {
		if _, err := p.timeProduct(fmt.Sprintf("matrix product %d², cuBLAS", n), n, x, y, list[2], func() error {
			return p.exec.Do(func(*driver.Context) error {
				return p.blas.MatrixProduct(p.stream.Driver(), list[0].Ptr(), list[1].Ptr(), list[2].Ptr(), uint32(n), uint32(n), uint32(n))
			})
		}); err != nil {
			return err
		}
	}
	if n == p.effort.host {
		p.compareHost(n, x, y, own)
	}
	return nil
}

// timeProduct notes the speed of a product in 10^9 operations a second, two for each element and depth.
func (p *patient) timeProduct(name string, n int, x, y []float32, out *executor.Buffer, queue func() error) (float64, error) {
	if err := p.stream.Fill(out, 0xEE); err != nil {
		return 0, err
	}
	took, err := p.time(queue)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	got := make([]float32, n*n)
	if err := errors.Join(executor.Download(p.stream, got, out), p.stream.Synchronize()); err != nil {
		return 0, err
	}
	if err := freivalds(got, x, y, n); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	speed := 2 * math.Pow(float64(n), 3) / took.Seconds() / 1e9
	p.note(name, speed, "GFLOP/s")
	return speed, nil
}

// freivalds checks a large product by a random vector v of signs: got·v must be x·(y·v), which takes n² operations, not n³.
func freivalds(got, x, y []float32, n int) error {
	v := numbers[float64](14, n, 1)
	for i := range v {
		v[i] = math.Copysign(1, v[i])
	}
	have, inner := times(got, v, n), times(y, v, n)
	want := times(x, inner, n)
	// A sum of n products is wrong by its roundings, which are of either sign, as are their sums over n elements.
	tolerance := func(int, float64) float64 { return 8 * eps32 * float64(n) * math.Sqrt(float64(n)) }
	err := compare(have, func(i int) float64 { return want[i] }, tolerance)
	var wrong *wrongResult
	if errors.As(err, &wrong) {
		return &wrongResult{"sums of rows: " + wrong.text}
	}
	return err
}

// times is the square matrix a times v.
func times[T real](a []T, v []float64, n int) []float64 {
	out := make([]float64, n)
	for r := range out {
		for c, e := range a[r*n : (r+1)*n] {
			out[r] += float64(e) * v[c]
		}
	}
	return out
}

// compareHost has the processor do the same with gonum; a GPU that is not ten times as fast is not at its best.
func (p *patient) compareHost(n int, x, y []float32, own float64) {
	a := blas32.General{Rows: n, Cols: n, Stride: n, Data: x}
	b := blas32.General{Rows: n, Cols: n, Stride: n, Data: y}
	c := blas32.General{Rows: n, Cols: n, Stride: n, Data: make([]float32, n*n)}
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
		best = min(best, time.Since(start))
	}
	host := 2 * math.Pow(float64(n), 3) / best.Seconds() / 1e9
	p.note(fmt.Sprintf("matrix product %d², gonum on the processor", n), host, "GFLOP/s")
	if own < 10*host {
		p.wrong(p.prefix+"speed", false, fmt.Sprintf("the matrix product is only %.3g times as fast as on the processor", own/host),
			"the GPU is slowed down or shared: see nvidia-smi -q -d PERFORMANCE,CLOCK and nvidia-smi")
		return
	}
	p.found(p.prefix+"speed", false, "the matrix product is %.0f times as fast as on the processor", own/host)
}
