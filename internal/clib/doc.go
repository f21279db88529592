// Package clib calls libraries in C that are found when the program runs, without cgo.
package clib
