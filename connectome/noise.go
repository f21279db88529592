package connectome

import (
	"burst/internal/exact"
	"burst/internal/quanta"
)

// noiseReach is the largest distance of a normal drive from its mean, in steps of sd/64: 396 steps are 6.19 sd.
const noiseReach = 396

// noiseCounts are the thresholds round(P(X ≤ (k − 396 + ½)/64)·2^32) of a standard normal X, k = 0…791, found by bisection
// of its quantile at (x + ½)/2^32: a uniform 32-bit draw stands for step k − 396 where k thresholds are ≤ it.
func noiseCounts() []uint32 {
	counts := make([]uint32, 2*noiseReach)
	for k := range counts {
		edge := (float64(k-noiseReach) + 0.5) / 64
		lo, hi := uint64(0), uint64(1<<32-1)
		for lo < hi {
			m := (lo + hi) / 2
			if exact.NormalQuantile(float64((float64(m)+0.5)*0x1p-32)) < edge {
				lo = m + 1
			} else {
				hi = m
			}
		}
		counts[k] = uint32(lo)
	}
	return counts
}

// noiseTable is the quanta of every step. It limits an amount to the range of int32; the check of bounds refuses it later.
func noiseTable(mean, sd, scale float64, by int64) []int32 {
	table := make([]int32, 2*noiseReach+1)
	for k := range table {
		table[k] = quanta.Clamp(lift(quanta.Of(noiseAmount(mean, sd, k), scale), by))
	}
	return table
}

// noiseAmount is the amount of a step.
func noiseAmount(mean, sd float64, k int) float64 {
	return mean + float64(float64(k-noiseReach)*sd)/64
}
