//go:build nocuda || !(linux || darwin)

package mpi

import "errors"

// openLibrary fails: this binary has no loader of shared libraries.
func openLibrary(string) (uintptr, error) {
	return 0, errors.New("this binary was built without a loader of libraries; build it for Linux without -tags nocuda")
}

func lookup(uintptr, string) uintptr { return 0 }

func call(uintptr, ...uintptr) int32 {
	panic("BUG: an MPI call without a library")
}
