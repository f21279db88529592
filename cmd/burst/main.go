// Command burst runs spiking networks. Data goes to standard output, progress and errors to standard error; `burst help
// exit-codes` lists what the exit status says.
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
)

func main() {
	collectLater()
	os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// collectLater lets the first collection of garbage wait until there are 64 MiB, not 4: a short command then needs none. That collection
// finds an object that nobody uses, whose cleanup puts back the usual percentage.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, debug.SetGCPercent(1600))
	}
}
