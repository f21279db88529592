//go:build race

package cuda

// raceDetector says whether the tests run under it.
const raceDetector = true
