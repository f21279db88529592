//go:build !amd64

package vector

// sets are the loops that there are.
func sets() []Kernels { return []Kernels{Plain()} }

// Pause does nothing.
func Pause() {}
