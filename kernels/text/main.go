// Command text writes the committed PTX of all units as text into a folder, which it makes: go run ./kernels/text FOLDER.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"burst/kernels"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "text:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("found %d arguments, want a folder", len(args))
	}
	if err := os.MkdirAll(args[0], 0o777); err != nil {
		return err
	}
	for _, i := range kernels.All() {
		if err := os.WriteFile(filepath.Join(args[0], i.Name), []byte(i.PTX()), 0o666); err != nil {
			return err
		}
	}
	return nil
}
