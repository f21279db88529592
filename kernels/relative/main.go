// Command relative writes PTX with relative numbers (package ptxtext), as build.sh packs it: relative < IN > OUT.
package main

import (
	"fmt"
	"io"
	"os"

	"burst/internal/ptxtext"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "relative:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	packed, err := ptxtext.Relative(text)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(packed)
	return err
}
