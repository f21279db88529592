package stats

// meanOf is the mean of at least one value.
func meanOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// squaresOf is the mean of at least one value and the sum of the squared deviations from it, corrected for what rounding
// left in the mean. Over n-1 it is the sample's variance, over n the population's.
func squaresOf(x []float64) (mean, sum float64) {
	mean = meanOf(x)
	rest := 0.0
	for _, v := range x {
		d := v - mean
		sum += d * d
		rest += d
	}
	return mean, sum - rest*rest/float64(len(x))
}
