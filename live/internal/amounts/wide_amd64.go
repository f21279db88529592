package amounts

import (
	"burst/engine"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./gen -out wide_amd64.s -stubs stubs_amd64.go -pkg amounts

// makers are those for this processor, the fastest last.
func makers() []Maker {
	list := []Maker{plain}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasPOPCNT {
		return list
	}
	list = append(list, inBlocks(4, stimuliAVX2))
	if !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512VL || !cpu.X86.HasAVX512DQ {
		return list
	}
	return append(list, inBlocks(8, stimuliAVX512))
}

// inBlocks is a Maker that takes whole blocks by assembly. What is left over, and a block with an amount to be refused, is plain's work.
func inBlocks(width int, stimuli func(list, ports *uint32, amounts *float32, scale, beyond float64, blocks uint64) (n, done uint64)) Maker {
	return func(list []engine.Stimulus, ports []uint32, amounts []float32, scale float64, largest int64) (n, good int) {
		list, ports = list[:len(amounts)], ports[:len(amounts)]
		if blocks := len(amounts) / width; blocks > 0 {
			some, done := stimuli(&list[0].Port, &ports[0], &amounts[0], scale, beyond(largest), uint64(blocks))
			n, good = int(some), width*int(done)
		}
		some, more := plain(list[n:], ports[good:], amounts[good:], scale, largest)
		return n + some, good + more
	}
}
