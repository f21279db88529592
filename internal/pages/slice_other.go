//go:build !linux

package pages

// Slice is a slice of n zeros.
func Slice[T any](n uint64) []T { return make([]T, n) }

// Move does nothing.
func Move[T any]([]T) {}
