package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// asBurst in the environment makes the test binary the program itself.
const asBurst = "BURST_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asBurst) != "" {
		os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){"burst": func() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }})
}

// TestScripts runs every command and its errors as a user would.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
