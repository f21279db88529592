package doctor

import (
	"errors"
	"fmt"
	"math"

	"burst/internal/cuda/executor"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// tiles are the sizes of the matrix product's tiles, each a kernel of its own.
var tiles = [...]int{32, 64, 128}

// tileFor is the largest tile that still gives every multiprocessor a block, else the smallest.
func tileFor(m, n, sms int) int {
	for i := len(tiles) - 1; i > 0; i-- {
		if blocksOf(m, n, tiles[i]) >= sms {
			return tiles[i]
		}
	}
	return tiles[0]
}

func blocksOf(m, n, tile int) int { return ((m + tile - 1) / tile) * ((n + tile - 1) / tile) }

// productGrid is the launch of a matrix product.
func productGrid(m, n, tile int) executor.Grid {
	return executor.Grid{Blocks: [3]uint32{uint32(blocksOf(m, n, tile))}, Block: [3]uint32{256}}
}

// productProofs multiply matrices that fill no tile, with every tile, against gonum in float64. A sum
// of k products may be wrong by k roundings of the sum of their sizes.
func productProofs() []proof {
	const m, n, k = 257, 131, 83
	return []proof{{"matrix product", func(p *patient) error {
		x, y := numbers[float32](6, m*k, 1), numbers[float32](7, k*n, 1)
		want, bound := product(x, y, m, n, k, func(v float64) float64 { return v }), product(x, y, m, n, k, math.Abs)
		for _, tile := range tiles {
			out := make([]float32, m*n)
			if err := run(p, fmt.Sprintf("matrix_product_%d", tile), productGrid(m, n, tile), [][]float32{x, y}, out, uint32(m), uint32(n), uint32(k)); err != nil {
				return err
			}
			if err := compare(out, func(i int) float64 { return want[i] }, func(i int, _ float64) float64 { return k * eps32 * bound[i] }); err != nil {
				return fmt.Errorf("tile of %d: %w", tile, err)
			}
		}
		return nil
	}}}
}

// product is x·y on the host in float64, of what f makes of the elements.
func product(x, y []float32, m, n, k int, f func(float64) float64) []float64 {
	out := blas64.General{Rows: m, Cols: n, Stride: n, Data: make([]float64, m*n)}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, wide(x, m, k, f), wide(y, k, n, f), 0, out)
	return out.Data
}

// wide is a matrix in float64.
func wide(x []float32, rows, columns int, f func(float64) float64) blas64.General {
	g := blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float64, len(x))}
	for i, v := range x {
		g.Data[i] = f(float64(v))
	}
	return g
}

// normalisations prove softmax and batch normalisation; columns and rows fill no block.
func normalisations() []proof {
	return []proof{
		{"softmax", func(p *patient) error {
			return errors.Join(softmax[float32](p, "softmax_f32", 20, 1e-5), softmax[float64](p, "softmax_f64", 700, 1e-12))
		}},
		{"batch normalisation", func(p *patient) error {
			return errors.Join(batchNorm[float32](p, "batch_norm_f32", 2e-5), batchNorm[float64](p, "batch_norm_f64", 1e-13))
		}},
	}
}

// softmax allows an error relative to each element: that of x - max, which grows with limit, and of the sum.
func softmax[T real](p *patient, kernel string, limit, tolerance float64) error {
	const rows, columns = 37, 1003
	x, out := numbers[T](8, rows*columns, limit), make([]T, rows*columns)
	if err := run(p, kernel, executor.Grid{Blocks: [3]uint32{11}, Block: [3]uint32{256}}, [][]T{x}, out, uint64(rows), uint64(columns)); err != nil {
		return err
	}
	want := make([]float64, len(x))
	for r := range rows {
		row := x[r*columns : (r+1)*columns]
		highest, sum := math.Inf(-1), 0.0
		for _, v := range row {
			highest = max(highest, float64(v))
		}
		for _, v := range row {
			sum += math.Exp(float64(v) - highest)
		}
		for c, v := range row {
			want[r*columns+c] = math.Exp(float64(v)-highest) / sum
		}
	}
	return compare(out, func(i int) float64 { return want[i] }, func(_ int, w float64) float64 { return tolerance*w + 1e-300 })
}

// batchNorm allows an error relative to 1, the deviation of what comes out, and to the value.
func batchNorm[T real](p *patient, kernel string, tolerance float64) error {
	const rows, columns = 203, 77
	const epsilon = 1e-5
	x, gain, shift := numbers[T](9, rows*columns, 3), numbers[T](10, columns, 2), numbers[T](11, columns, 2)
	out := make([]T, rows*columns)
	if err := run(p, kernel, executor.Grid{Blocks: [3]uint32{2}, Block: [3]uint32{256}}, [][]T{x, gain, shift}, out, uint64(rows), uint64(columns), T(epsilon)); err != nil {
		return err
	}
	want := make([]float64, len(x))
	for c := range columns {
		mean, variance := 0.0, 0.0
		for r := range rows {
			mean += float64(x[r*columns+c]) / rows
		}
		for r := range rows {
			d := float64(x[r*columns+c]) - mean
			variance += d * d / rows
		}
		for r := range rows {
			want[r*columns+c] = (float64(x[r*columns+c])-mean)/math.Sqrt(variance+float64(T(epsilon)))*float64(gain[c]) + float64(shift[c])
		}
	}
	return compare(out, func(i int) float64 { return want[i] }, func(_ int, w float64) float64 { return tolerance * (1 + math.Abs(w)) })
}
