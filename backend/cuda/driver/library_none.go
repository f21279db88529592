//go:build nocuda || !(linux || darwin)

package driver

import "errors"

// openLibrary fails: this binary has no loader of shared libraries.
func openLibrary(string) (uintptr, error) {
	return 0, errors.New("this binary was built without CUDA; build it for Linux without -tags nocuda")
}

func lookup(uintptr, string) uintptr { return 0 }

func syscallN(uintptr, ...uintptr) uintptr {
	panic("BUG: a CUDA call without a library")
}

func syscallSlice(uintptr, []uintptr) uintptr {
	panic("BUG: a CUDA call without a library")
}
