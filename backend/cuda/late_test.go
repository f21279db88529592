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

// leaks is a network of lif alone: 300 neurons that Poisson drives make fire, with rows of up to 120 synapses, of which every seventh is empty.
func leaks(delay func(r *rand.Rand) uint16) *connectome.Connectome {
	const neurons = 300
	r := rand.New(rand.NewPCG(3, 14))
	first, second := enginetest.LIF(133), enginetest.LIF(neurons-133)
	for i, a := range []*connectome.Area{&first, &second} {
		a.Constant("threshold").Const, a.Constant("refractory").Const = 2, float32(2-i)
		a.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 700-int32(i), 3_000_000_000, 4_000_000_000)}
	}
	second.Drives = append(second.Drives, enginetest.Always(connectome.Poisson, 90, 2_000_000_000))
	n := enginetest.Net{RunSeed: 7, Areas: []connectome.Area{first, second}}
	for from := range uint32(neurons) {
		synapses := r.Uint32N(121)
		if from%7 == 3 {
			synapses = 0
		}
		for range synapses {
			n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(neurons), Weight: r.Int32N(300) - 140, Delay: delay(r)})
		}
	}
	return n.Build()
}

// TestLate compares launches whose blocks are some bursts apart with the reference, burst for burst and state for state: launches of one burst
// and of many, single bursts between them, states that go on in another backend, and state variables of all bursts.
func TestLate(t *testing.T) {
	cudatest.Anywhere(t)
	for name, n := range map[string]struct {
		delay func(r *rand.Rand) uint16
		apart uint32 // at most
	}{
		"one":     {func(*rand.Rand) uint16 { return 15 }, 7},
		"several": {func(r *rand.Rand) uint16 { return uint16(4 + r.UintN(17)) }, 2},
		"two":     {func(r *rand.Rand) uint16 { return uint16(8 + r.UintN(2)) }, 4},
		"longest": {func(r *rand.Rand) uint16 { return uint16(17 + 238*(r.UintN(3)/2)) }, 8},
	} {
		c := leaks(n.delay)
		for i, v := range []struct {
			name   string
			w      engine.Want
			change func(*tuning)
		}{
			{"usual", engine.Want{}, func(*tuning) {}},
			{"variables", engine.Want{Values: []engine.Probe{{Neuron: 3}, {Neuron: 299}, {Neuron: 140}, {Neuron: 150}}}, func(t *tuning) { t.apart = 8 }},
			{"many warps", engine.Want{}, func(t *tuning) { t.batchThreads, t.apart, t.unpacked = 1024, 3, true }},
			{"launches of one burst", engine.Want{Values: []engine.Probe{{Neuron: 7}, {Neuron: 8}}}, func(t *tuning) { t.batch = 1 }},
			{"long launches", engine.Want{}, func(t *tuning) { t.batch, t.apart = 64, 8 }},
		} {
			if c.MaxDelay > 100 && i%2 == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", name, v.name), func(t *testing.T) {
				if i > 1 {
					slow.Short(t)
				}
				tune := defaults
				tune.batchThreads, tune.lateRow, tune.batch, tune.gather = 416, 1, 7, 0
				v.change(&tune)
				asReference(t, c, v.w, tune, pathLate, name)
				b, err := open(c, Options{}, tune)
				require.NoError(t, err)
				defer b.Close()
				require.Equal(t, min(tune.apart, n.apart), b.(*backend).batch.args.late.apart)
			})
		}
	}
}
