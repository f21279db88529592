//go:build nocuda || !(linux || darwin)

package clib

import "errors"

// Open fails: this binary cannot load shared libraries.
func Open(string, bool) (uintptr, error) {
	return 0, errors.New("this binary was built without a loader of libraries; build it for Linux without -tags nocuda")
}

// Lookup finds nothing.
func Lookup(uintptr, string) uintptr { return 0 }

// Call is never reached without a library.
func Call(uintptr, ...Arg) uintptr { panic("BUG: a call without a library") }

// Call is never reached without a library.
func (f *Frame) Call(uintptr) uintptr { panic("BUG: a call without a library") }

// Bind is never reached without a library.
func Bind(any, uintptr) { panic("BUG: a call without a library") }
