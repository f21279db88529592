package split_test

import (
	"fmt"
	"testing"

	"burst/backend/cpu"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/slow"
	"burst/internal/split"
)

// cut cuts a network into parts.
func cut(c *connectome.Connectome, parts int) []*connectome.Connectome {
	list := make([]*connectome.Connectome, parts)
	for i := range list {
		list[i] = c.Cut(connectome.Part{Index: i, Of: parts})
	}
	return list
}

// openCPU opens a part on the cpu backend; threads beyond what the part is worth are not used.
func openCPU(c *connectome.Connectome, w engine.Want) (split.Part, error) {
	b, err := cpu.Open(c, cpu.Options{Threads: 1, Want: w})
	return b.(split.Part), err
}

// TestConformance is of two parts; package cpu has that of three, of two threads each.
func TestConformance(t *testing.T) {
	enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
		return split.Local(cut(c, 2), w, openCPU)
	}, reference.Open)
}

// TestMemoryAreas is of the numbers of parts that divide memory areas, and areas upstream, otherwise.
func TestMemoryAreas(t *testing.T) {
	for _, parts := range []int{5, 2, 1}[:slow.Times(0, 3)] {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			enginetest.RunMemory(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				return split.Local(cut(c, parts), w, openCPU)
			}, reference.Open)
		})
	}
}
