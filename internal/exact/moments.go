package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Moments adds up numbers and their squares without any rounding, so that mean and standard deviation do not depend on the order
// of the numbers. The zero value has added none. 2^39 numbers may be added.
type Moments struct {
	n       uint64
	sums    [256]int64     // of significands, by exponent
	squares [256][2]uint64 // of their squares, low and high word
}

// Add adds finite numbers.
func (m *Moments) Add(list []float32) {
	m.n += uint64(len(list))
	for _, x := range list {
		b := math.Float32bits(x)
		e, s := b>>23&0xFF, uint64(b&(1<<23-1))
		if e > 0 {
			s |= 1 << 23
		} else {
			e = 1 // of the smallest ones
		}
		if b>>31 == 0 {
			m.sums[e] += int64(s)
		} else {
			m.sums[e] -= int64(s)
		}
		q, carry := &m.squares[e], uint64(0)
		q[0], carry = bits.Add64(q[0], s*s, 0)
		q[1] += carry
	}
}

// Mean and SD round once: Mean is the float64 nearest to the mean, SD the root of the float64 nearest to the mean squared distance
// from it. Both are 0 where nothing was added.
func (m *Moments) Mean() float64 {
	if m.n == 0 {
		return 0
	}
	return quotient(m.sum(), new(big.Int).SetUint64(m.n), 149)
}

// SD is described at Mean.
func (m *Moments) SD() float64 {
	if m.n == 0 {
		return 0
	}
	squares := new(big.Int)
	for e := 255; e > 0; e-- { // a number of exponent e is its significand times 2^(e-150)
		q := new(big.Int).SetUint64(m.squares[e][1])
		q.Add(q.Lsh(q, 64), new(big.Int).SetUint64(m.squares[e][0]))
		squares.Add(squares.Lsh(squares, 2), q)
	}
	n, sum := new(big.Int).SetUint64(m.n), m.sum()
	squares.Sub(squares.Mul(squares, n), sum.Mul(sum, sum))
	return math.Sqrt(quotient(squares, n.Mul(n, n), 298))
}

// sum is that of all numbers, times 2^149.
func (m *Moments) sum() *big.Int {
	sum := new(big.Int)
	for e := 255; e > 0; e-- {
		sum.Add(sum.Lsh(sum, 1), big.NewInt(m.sums[e]))
	}
	return sum
}

// quotient is a/b·2^−shift.
func quotient(a, b *big.Int, shift uint) float64 {
	x, _ := new(big.Rat).SetFrac(a, new(big.Int).Lsh(b, shift)).Float64()
	return x
}
