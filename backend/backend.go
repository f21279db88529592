// Package backend opens the engine's backends by name; it is the only list of them.
package backend

import (
	"fmt"
	"slices"
	"strings"

	"burst/backend/cpu"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
)

// Options of Open; the zero value uses every processor and delivers no FCL.
type Options struct {
	Threads int // of the cpu backend; 0: all processors
	Want    engine.Want
}

// Names lists the backends that Open knows.
func Names() []string { return []string{"cpu", "reference"} }

// Open makes the named backend for c, in the state before burst 0. The error wraps engine.ErrUnavailable when this
// machine lacks what the backend needs.
func Open(name string, c *connectome.Connectome, o Options) (engine.Backend, error) {
	switch name {
	case "cpu":
		return cpu.Open(c, cpu.Options{Threads: o.Threads, Want: o.Want})
	case "reference":
		return reference.Open(c, o.Want)
	}
	return nil, fmt.Errorf("backend %q, want one of %s", name, strings.Join(slices.Sorted(slices.Values(Names())), ", "))
}
