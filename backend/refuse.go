package backend

import (
	"fmt"

	"burst/connectome"
	"burst/genome"
)

// MemoryAreaError says that a backend cannot run networks with memory areas.
type MemoryAreaError struct {
	Backend string
	Area    string // the first one
}

func (e *MemoryAreaError) Error() string {
	return fmt.Sprintf("the %s backend cannot run memory areas yet, area %q has the model memory; want cpu, reference or auto", e.Backend, e.Area)
}

// checkMemory is Check for memory areas.
func checkMemory(name string, g *genome.Genome) error {
	for i := range g.Areas {
		if a := &g.Areas[i]; name == "cuda" && a.Model.Has("upstream") {
			return &MemoryAreaError{name, a.Name}
		}
	}
	return nil
}

// remembers is checkMemory for a network that has been built.
func remembers(name string, c *connectome.Connectome) error {
	if list := c.Memories(); name == "cuda" && len(list) > 0 {
		return &MemoryAreaError{name, list[0].Name}
	}
	return nil
}
