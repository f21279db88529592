package connectome

import (
	"burst/internal/exact"
	"burst/internal/quanta"
)

// mostMean is the largest mean number of Poisson events in a burst.
const mostMean = 500

// poissonMean is the mean number of events in a burst of timestep ms at rate Hz.
func poissonMean(rate, timestep float64) float64 { return float64(rate*timestep) / 1000 }

// poissonCounts are the thresholds round(P(X ≤ k)·2^32), k = 0, 1, …, as far as they fit 32 bits: a uniform 32-bit draw
// makes as many events as there are thresholds ≤ it. Terms follow from p(k) = p(k−1)·mean/k, summed from k = 0.
func poissonCounts(mean float64) []uint32 {
	var counts []uint32
	term := exact.Exp(-mean)
	sum := term
	for k := 1.0; ; k++ {
		threshold := quanta.Nearest(float64(sum * (1 << 32)))
		// Beyond the mean, once terms are tiny, the tail cannot add half a threshold.
		if threshold >= 1<<32 || k > mean && term < 0x1p-80 {
			return counts
		}
		counts = append(counts, uint32(threshold))
		term = float64(term*mean) / k
		sum += term
	}
}
