package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// runEvent compares random networks in which half of the areas are of a model with Event with the oracle, and checks the laws that they could break.
func runEvent(t *testing.T, open, oracle Open) {
	for seed := range seeds(30, 4) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x6576656e74))
			n := randomNet(r, event)
			c, input := n.Build(), r.Uint64()
			same(t, open, oracle, c, 40+r.IntN(60), randomInput(input, c), "the oracle follows the law of package engine")
			switch seed % 3 {
			case 0:
				split(t, open, n, input)
				unconnected(t, open, n, input)
			case 1:
				want(t, open, n, input)
				values(t, open, n, input)
			case 2:
				wholeState(t, open, n, input)
				late(t, open, n, input)
			}
		})
	}
	t.Run("silence", func(t *testing.T) { silence(t, open, oracle) })
}

// silence: neurons' states after inputs that are further apart than ages are counted, and than their table reaches.
func silence(t *testing.T, open, oracle Open) {
	for _, model := range []string{"lif_event", "lif_psc_exp_event"} {
		c := Net{Areas: []connectome.Area{set(Of(model, 3), map[string]float32{"tau": 4096, "refractory": 65535}), set(Of(model, 2), map[string]float32{"tau": 3})}}.Build()
		each := c.Areas[0].PortsEach()
		for _, number := range []uint64{1<<24 - 30, 1<<32 - 30} {
			var states [2]*engine.State
			for k, o := range []Open{open, oracle} {
				b := start(t, o, c, engine.Want{Values: someProbes(c)})
				s := read(t, b)
				s.Number, s.V = number, []float32{5, -3, 7, 9, 0.5}
				s.Count, s.Refractory[2] = []uint16{65525, 3, 0, 300, 311}, 65535
				for _, more := range s.More {
					copy(more, []float32{0.5, 0, 9, -2, 0.1})
				}
				write(t, b, s)
				var out engine.Burst
				for i := range uint64(60) {
					var in []engine.Stimulus
					if i%20 == 19 {
						in = []engine.Stimulus{{Port: 0, Amount: 20000}, {Port: 2, Amount: 20000}, {Port: 3 * each, Amount: 1}}
					}
					step(t, b, in, &out)
				}
				states[k] = read(t, b)
			}
			fail(t, engine.CompareStates(states[1], states[0]), "ages are counted up to 65535, across any burst")
		}
	}
}

// randomEvent is an area of lif_event or, every second one, of lif_psc_exp_event, whose threshold may be below V∞.
func randomEvent(r *rand.Rand, n uint32) connectome.Area {
	if r.IntN(2) == 0 {
		return randomEventCurrents(r, n)
	}
	a := Of("lif_event", n)
	vary(r, &a, func() []float32 {
		return []float32{
			float32(among(r, 1, 0.25, 3*r.Float64()+0.01)), // threshold
			float32(among(r, 0, -2, r.Float64()-0.75)),     // reset
			among[float32](r, 0, 1, 2, 20, 65535),          // refractory
			0,
		}
	})
	tau := a.Constant("tau")
	tau.Const, tau.Each = among[float32](r, 1e-3, 0.3, 1, 7.7, 200, 700, 4096), nil
	a.V0.Value.A = among(r, 0, -1e-41, 5, r.NormFloat64())
	return a
}

func randomEventCurrents(r *rand.Rand, n uint32) connectome.Area {
	a := Of("lif_psc_exp_event", n)
	vary(r, &a, func() []float32 {
		return []float32{
			float32(among(r, 1, 0.25, -0.5, 3*r.Float64())), // threshold
			float32(among(r, 0, -2, r.Float64()-2)),         // reset
			among[float32](r, 0, 1, 2, 20, 65535),           // refractory
			0, 0, 0, 0,
		}
	})
	for _, name := range []string{"tau", "tau_syn_ex", "tau_syn_in"} {
		of := a.Constant(name)
		of.Const, of.Each = among[float32](r, 1e-3, 0.3, 1, 7.7, 20, 200, 700, 4096), nil
	}
	capacity := a.Constant("capacity")
	capacity.Const, capacity.Each = among[float32](r, 1, 3, 0.1), nil
	a.V0.Value.A = among(r, 0, -1e-41, 5, r.NormFloat64())
	if r.IntN(2) == 0 {
		a.More0 = []*connectome.Initial{nil, {Value: genome.Value{Kind: genome.Const, A: 0.3, Lo: math.Inf(-1), Hi: math.Inf(1)}}}
	}
	return a
}
