//go:build nocuda || !(linux || darwin)

package nccl

import (
	"errors"
	"unsafe"
)

// openLibrary fails: this binary has no loader of shared libraries.
func openLibrary(string) (uintptr, error) {
	return 0, errors.New("this binary was built without a loader of libraries; build it for Linux without -tags nocuda")
}

func lookup(uintptr, string) uintptr { return 0 }

func call(uintptr, ...uintptr) uintptr {
	panic("BUG: an NCCL call without a library")
}

func callInitRank(uintptr, *unsafe.Pointer, int, uniqueID, int) uintptr {
	panic("BUG: an NCCL call without a library")
}
