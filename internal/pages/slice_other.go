//go:build !linux

package pages

import "errors"

// Slice is a slice of n zeros.
func Slice[T any](n uint64) []T { return make([]T, n) }

// Mapping is memory outside of Go's heap.
type Mapping struct{ Bytes []byte }

// Map is refused.
func Map(uint64) (*Mapping, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (m *Mapping) Close() error { return nil }

// Move does nothing.
func Move[T any]([]T) {}
