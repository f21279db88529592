// Command burst runs spiking networks. Data goes to standard output, progress and errors to standard error; `burst help
// exit-codes` lists what the exit status says.
package main

import (
	"context"
	"os"
)

func main() { os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }
