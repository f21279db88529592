package split_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/split"
)

// holder is a part that keeps a state and nothing else. Of what is not its own it reads nonsense.
type holder struct {
	c    *connectome.Connectome
	s    engine.State
	lost *engine.NotFinite
}

func (h *holder) Step([]engine.Stimulus, *engine.Burst) error { return nil }
func (h *holder) SetQueue(int, []uint32)                      {}
func (h *holder) Close() error                                { return nil }
func (h *holder) NotFinite() *engine.NotFinite                { return h.lost }

func (h *holder) WriteState(s *engine.State) error {
	h.s.Copy(s)
	return nil
}

func (h *holder) ReadState(s *engine.State) error {
	s.Copy(&h.s)
	for n := range h.c.Neurons {
		if !h.c.Part.Owns(n) {
			s.V[n], s.Count[n] = -7, 7
		}
	}
	for i := range s.Plastic {
		p := &h.c.Plastic[i]
		for _, a := range s.Plastic[i].Arrays() {
			for n := range len(a.Numbers) + len(a.Bursts) {
				own := h.c.Part.Index == 0 // one of them gives what all have
				switch a.By {
				case engine.ByTarget:
					own = h.c.Part.Owns(p.To.First + uint32(n))
				case engine.BySynapse:
					own = slices.Contains(p.Places(), uint64(n))
				}
				switch {
				case own:
				case a.Bursts != nil:
					a.Bursts[n] = 1 << 40
				default:
					a.Numbers[n] = -7
				}
			}
		}
	}
	return nil
}

// TestPlasticStates: what projections have learnt is written to all parts, and each entry is read from the part that has it.
func TestPlasticStates(t *testing.T) {
	synapses, others := 0, 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := enginetest.RandomPlastic(r, int(seed))
		n.Areas = append(n.Areas, enginetest.PSCExp(150)) // two ports, of which the second takes weights below 0
		inhibition := enginetest.Plastic{From: len(n.Areas) - 2, To: len(n.Areas) - 1, Lo: -1}
		for to := range uint32(150) {
			inhibition.Synapses = append(inhibition.Synapses, enginetest.Synapse{To: to}, enginetest.Synapse{To: to, Delay: 2})
		}
		n.Plastic = append(n.Plastic, inhibition)
		c := n.Build()
		want := engine.NewState(c)
		want.Number = 1 << 41
		for i := range want.Plastic {
			if p := &want.Plastic[i]; len(p.ModulatorLast) == 0 {
				p.ModulatorLast = []uint64{} // as a checkpoint has it, where others have nil
			}
			for _, a := range want.Plastic[i].Arrays() {
				for n := range a.Numbers {
					a.Numbers[n] = math.Float32frombits(r.Uint32())
				}
				for n := range a.Bursts {
					a.Bursts[n] = r.Uint64N(1 << 41)
				}
				if a.By == engine.BySynapse {
					synapses += len(a.Numbers)
				} else {
					others += len(a.Numbers) + len(a.Bursts)
				}
			}
		}
		for parts := range 4 {
			held := make([]*holder, parts+1)
			b, err := split.Local(cut(c, parts+1), engine.Want{}, func(c *connectome.Connectome, _ engine.Want) (split.Part, error) {
				h := &holder{c: c, s: *engine.NewState(c)}
				held[c.Part.Index] = h
				return h, nil
			})
			require.NoError(t, err)
			require.NoError(t, b.WriteState(want))
			var read engine.State
			require.NoError(t, b.ReadState(&read))
			read.Number = want.Number // the engine's
			require.Nil(t, engine.CompareStates(want, &read), "seed %d, %d parts", seed, parts+1)
			for _, h := range held {
				require.Nil(t, engine.CompareStates(want, &h.s), "every part has all of it")
			}
			require.NoError(t, b.Close())
		}
	}
	require.Greater(t, synapses, 1000)
	require.Greater(t, others, 1000)
}

// TestPlasticNumbers: the part that has a synapse says which it is; the numbers of neurons come first.
func TestPlasticNumbers(t *testing.T) {
	n := enginetest.Net{
		Scale: 10, Areas: []connectome.Area{enginetest.Poisson(70, 0), enginetest.LIF(200)},
		Plastic: []enginetest.Plastic{{From: 0, To: 1, Hi: 1, Synapses: []enginetest.Synapse{{From: 3, To: 1}, {From: 66, To: 65, Delay: 9}, {From: 7, To: 65}}}},
	}
	c := n.Build()
	held := make([]*holder, 3)
	b, err := split.Local(cut(c, 3), engine.Want{}, func(c *connectome.Connectome, _ engine.Want) (split.Part, error) {
		h := &holder{c: c, s: *engine.NewState(c)}
		held[c.Part.Index] = h
		return h, nil
	})
	require.NoError(t, err)
	defer b.Close()
	watcher := b.(engine.Watcher)
	require.Nil(t, watcher.NotFinite())
	target := uint32(70 + 65)
	own := held[(connectome.Part{Of: 3}).Owner(target)]
	own.lost = &engine.NotFinite{Value: 1, Entry: &engine.Entry{Array: "weight", By: engine.BySynapse, At: 2}}
	x := watcher.NotFinite()
	require.Equal(t, target, x.Neuron)
	require.Equal(t, `weight of projections[0] (test), from neuron 66 of area "area 0" (id 66) with delay 9`, x.Where)
	held[0].lost = &engine.NotFinite{Neuron: 8, Variable: 1, Value: 2}
	require.Equal(t, &engine.NotFinite{Neuron: 8, Variable: 1, Value: 2}, watcher.NotFinite())
}
