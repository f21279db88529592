package connectome

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStretches: goroutines that copy a stretch each put every synapse where EachPlace has it, in whole networks and in parts.
func TestStretches(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	r := rand.New(rand.NewPCG(3, 4))
	for _, synapses := range []int{0, 1, 70, 3000} {
		p := Plastic{Ports: Span{First: 11, Count: 9}, Target: make([]uint32, synapses)}
		for k := range p.Target {
			p.Target[k] = 11 + r.Uint32N(9)
		}
		for range 2 {
			want, rows, state, back := make([]float32, p.Whole()), make([]float32, synapses), make([]float32, p.Whole()), make([]float32, synapses)
			p.EachPlace(func(k, place uint64) {
				rows[k] = float32(k + 1)
				want[place] = rows[k]
			})
			p.ToState(rows, state)
			require.Equal(t, want, state)
			p.FromState(back, state)
			require.Equal(t, rows, back)
			for k := range p.Target {
				p.Weight = append(p.Weight, int32(k+1))
			}
			fill(state, -1)
			p.StartWeights(1, state)
			require.Equal(t, want, state)
			p.Weight, p.In = nil, p.Onto()
			for port := range p.In {
				p.In[port] += uint32(port) % 3 // synapses that other parts have
			}
		}
	}
}
