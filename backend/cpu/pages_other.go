//go:build !linux

package cpu

// large is a slice of n zeros.
func large[T any](n uint64) []T { return make([]T, n) }
