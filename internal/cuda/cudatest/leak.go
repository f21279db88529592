package cudatest

import "go.uber.org/goleak"

// Verify is the TestMain of a package whose tests use Host and must leave no goroutine behind, but those that options name. It
// ends the process.
func Verify(m interface{ Run() int }, options ...goleak.Option) {
	goleak.VerifyTestMain(hosted{m}, options...)
}

// hosted are the tests of a package within Main.
type hosted struct{ m interface{ Run() int } }

func (h hosted) Run() int { return Main(h.m) }
