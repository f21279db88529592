package exact

// centreFrom is the least k, mirrored below 2^52, at which the quantile of (k + ½)/2^53 is that of AS 241's centre: |p − ½| ≤ 0.425.
const centreFrom = 675539944105574

// Normals sets z to the Normal of each word, which is as long: many at a time on amd64 with AVX2.
func Normals(words []uint64, z []float64) {
	z = z[:len(words)]
	if wideness() > 0 {
		wideNormals(words, z)
		return
	}
	for i, x := range words {
		z[i] = Normal(x)
	}
}
