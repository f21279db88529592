package main

import (
	"os"
	"testing"

	"burst/backend/cuda/cudatest"

	"github.com/rogpeppe/go-internal/testscript"
)

// asBurst in the environment makes the test binary the program itself.
const asBurst = "BURST_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asBurst) != "" {
		os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
	}
	testscript.Main(withStandIn{m}, map[string]func(){"burst": func() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }})
}

// withStandIn runs the tests with a place for the stand-in of a GPU.
type withStandIn struct{ m *testing.M }

func (w withStandIn) Run() int { return cudatest.Main(w.m) }

// TestScripts runs every command and its errors as a user would.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
