package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// currents is a network of lif_psc_exp alone: 300 neurons that Poisson drives make fire, with rows of up to 120 synapses, of which
// every seventh is empty.
func currents(delay func(r *rand.Rand) uint16) *connectome.Connectome {
	const neurons = 300
	r := rand.New(rand.NewPCG(3, 14))
	first, second := enginetest.PSCExp(133), enginetest.PSCExp(neurons-133)
	for i, a := range []*connectome.Area{&first, &second} {
		a.Constant("threshold").Const, a.Constant("refractory").Const = 0.05, float32(3-i)
		a.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 60_000-100_000*int32(i), 3_000_000_000, 4_000_000_000)}
	}
	second.Drives = append(second.Drives, enginetest.Always(connectome.Poisson, 90_000, 2_000_000_000))
	n := enginetest.Net{RunSeed: 7, Areas: []connectome.Area{first, second}}
	for from := range uint32(neurons) {
		synapses := r.Uint32N(121)
		if from%7 == 3 {
			synapses = 0
		}
		for range synapses {
			n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(2 * neurons), Weight: r.Int32N(3000) - 1400, Delay: delay(r)})
		}
	}
	return n.Build()
}

// TestAhead compares launches that decide in each burst who fires in the next one with the reference, burst for burst and state for state:
// launches of one burst and of many, single bursts between them, states that go on in another backend, and state variables of all bursts.
func TestAhead(t *testing.T) {
	cudatest.Anywhere(t)
	for name, delay := range map[string]func(r *rand.Rand) uint16{
		"short":   func(r *rand.Rand) uint16 { return uint16(1 + r.UintN(4)) },
		"one":     func(*rand.Rand) uint16 { return 15 },
		"longest": func(r *rand.Rand) uint16 { return uint16(1 + 254*(r.UintN(3)/2)) },
	} {
		c := currents(delay)
		for i, v := range []struct {
			name   string
			w      engine.Want
			change func(*tuning)
		}{
			{"a back", engine.Want{}, func(*tuning) {}},
			{"variables", engine.Want{Values: []engine.Probe{{Neuron: 3}, {Neuron: 299, Variable: 2}, {Neuron: 140, Variable: 1}, {Neuron: 150}}}, func(*tuning) {}},
			{"lists", engine.Want{FCL: true}, func(*tuning) {}},
			{"no back", engine.Want{}, func(t *tuning) { t.batchThreads = 128 }},
			{"one warp", engine.Want{}, func(t *tuning) { t.batchThreads, t.batch = 64, 3 }},
			{"launches of one burst", engine.Want{Values: []engine.Probe{{Neuron: 7, Variable: 1}, {Neuron: 8}}}, func(t *tuning) { t.batchThreads, t.batch, t.unpacked = 1024, 1, true }},
		} {
			if c.MaxDelay > 100 && i > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", name, v.name), func(t *testing.T) {
				if i > 1 {
					slow.Short(t)
				}
				tune := defaults
				tune.batchThreads, tune.delayedRow, tune.batch = 256, 1, 7
				v.change(&tune)
				asReference(t, c, v.w, tune, pathDelayed, name)
			})
		}
		require.Equal(t, "_psc_exp", modelSuffix(c))
	}
}
