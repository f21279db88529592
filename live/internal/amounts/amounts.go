// Package amounts makes stimuli of the amounts of an input: in Go and, for amd64, in AVX2 and AVX-512 assembly, with the same bits.
package amounts

import (
	"math"

	"burst/engine"
	"burst/internal/quanta"
)

// Maker makes stimuli of amounts, each for the port at its place, in list, which has room for all. It returns how many are not of 0
// quanta, and how many amounts come before the first that is NaN or beyond largest, a number of quanta that int32 holds.
type Maker func(list []engine.Stimulus, ports []uint32, amounts []float32, scale float64, largest int64) (n, good int)

// Best is the fastest Maker for this processor.
func Best() Maker {
	all := makers()
	return all[len(all)-1]
}

// beyond is the least product of amount and scale that rounds to more than largest.
func beyond(largest int64) float64 { return float64(largest) + 0.5 }

// plain is a Maker in Go.
func plain(list []engine.Stimulus, ports []uint32, amounts []float32, scale float64, largest int64) (n, good int) {
	list, ports = list[:len(amounts)], ports[:len(amounts)]
	for i, x := range amounts {
		product := float64(float64(x) * scale)
		if !(math.Abs(product) < beyond(largest)) {
			return n, i
		}
		q := quanta.Small(product)
		list[n] = engine.Stimulus{Port: ports[i], Amount: int32(q)}
		if q != 0 {
			n++
		}
	}
	return n, len(amounts)
}
