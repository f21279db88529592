// Package slow marks the tests that take too long for `go test ./...`. `make test-slow` runs them, and .ci/run calls it.
package slow

import (
	"os"
	"testing"
)

// variable asks for the slow tests where it is set.
const variable = "BURST_SLOW"

// Asked says whether slow tests run in full.
func Asked() bool { return os.Getenv(variable) != "" }

// Test skips a test that takes long, unless it is asked for.
func Test(t testing.TB) {
	t.Helper()
	if !Asked() {
		t.Skip("takes long; `make test-slow` runs it")
	}
}

// Short skips a test in the inner loop, `make test-short`, unless slow tests are asked for.
func Short(t testing.TB) {
	t.Helper()
	if testing.Short() && !Asked() {
		t.Skip("takes seconds, or starts processes or many devices; left out by -short")
	}
}

// Full says whether tests are to do all that they can: slow tests are asked for, and not with -short too, as under the race detector.
func Full() bool { return Asked() && !testing.Short() }

// Case skips one of a test's many cases, unless all are to run.
func Case(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("one of many; `make test-slow` runs it")
	}
}

// Times is how often a test does what it repeats: few times, or many where it is to do all.
func Times(few, many int) int {
	if Full() {
		return many
	}
	return few
}
