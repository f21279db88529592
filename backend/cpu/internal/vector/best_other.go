//go:build !amd64

package vector

// Best are the fastest loops for this processor.
func Best() Kernels { return Plain() }
