//go:build race

package clib

// raceDetector says whether the tests run under it.
const raceDetector = true
