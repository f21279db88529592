package cpu

import (
	"math/bits"

	"burst/connectome"
	"burst/internal/weights"
)

// packing says how a connectome's synapses fit into 4 bytes: a slot below, the weight's place in a table above.
type packing struct {
	table *weights.Table // empty where weights are too many
	bits  uint           // left for a slot
	off   bool           // weights are too many
}

// newPacking collects the weights of c as long as they and a part's slots fit into 32 bits.
func newPacking(c *connectome.Connectome, slots, threads int) *packing {
	bits := uint(bits.Len64(uint64(slots)))
	if bits <= 31 {
		if t := weights.Collect(c.Weight, 1<<(32-bits), threads); t != nil {
			return &packing{table: t, bits: bits}
		}
	}
	return &packing{table: &weights.Table{}, off: true}
}
