package feagi_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// sensors makes an imported genome's inputs fire: in every burst each neuron of them gets, with one chance in eight, what
// takes it to its threshold from rest. Where nothing is an input, those areas are that have mappings and get none.
type sensors struct {
	c     *connectome.Connectome
	areas []sensor
}

type sensor struct {
	neurons connectome.Span
	amount  float64
}

func newSensors(g *genome.Genome, c *connectome.Connectome) *sensors {
	s := &sensors{c: c}
	for i := range g.Areas {
		a := &g.Areas[i]
		out := slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.From == i })
		in := slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.To == i && p.From != i })
		if a.Empty() || len(a.Drives) > 0 || a.Group != "ipu" && (!out || in) {
			continue
		}
		most := a.Params["threshold"]
		for axis, by := range a.Gradient {
			most += max(0, by*float64(a.Size[axis]-1))
		}
		s.areas = append(s.areas, sensor{c.Areas[i].Neurons, max(most, 1)})
	}
	return s
}

func (s *sensors) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	r := rand.New(rand.NewPCG(t, 11))
	for _, a := range s.areas {
		for n := a.neurons.First + uint32(r.IntN(8)); n < a.neurons.End(); n += 1 + uint32(r.IntN(15)) {
			quanta := math.Ceil(a.amount * float64(s.c.Scale))
			in = append(in, engine.Stimulus{Port: n, Amount: int32(min(quanta, float64(s.c.Headroom(n))))})
		}
	}
	return in, nil
}

// observed is what a run shows.
type observed struct {
	digest, fcl, spikes uint64
	carry               int // projections that a spike has gone through
	learnt              int // weights that differ from those at first
}

// watcher chains the candidates of all bursts and notes who fires.
type watcher struct {
	fcl   uint64
	fired map[uint32]bool
}

func (w *watcher) Record(b *engine.Burst) error {
	h := fnv.New64a()
	var word [8]byte
	put := func(x uint64) {
		binary.LittleEndian.PutUint64(word[:], x)
		h.Write(word[:])
	}
	put(w.fcl)
	put(b.Number)
	for _, c := range b.Candidates {
		put(uint64(c.Port)<<32 | uint64(uint32(c.Sum)))
	}
	w.fcl = h.Sum64()
	for _, n := range b.Fired {
		w.fired[n] = true
	}
	return nil
}

// observe runs an imported network with spikes in its sensors.
func observe(t *testing.T, g *genome.Genome, c *connectome.Connectome, name string) observed {
	t.Helper()
	b, err := backend.Open(name, c, backend.Options{Want: engine.Want{FCL: true}})
	require.NoError(t, err)
	defer b.Close()
	w := &watcher{fired: map[uint32]bool{}}
	e := engine.New(c, b, engine.Options{Sources: []engine.Source{newSensors(g, c)}, Recorders: []engine.Recorder{w}})
	require.NoError(t, e.Run(context.Background(), bursts))
	used := map[[2]int]bool{}
	for n := range w.fired {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			used[[2]int{c.AreaOf(n), c.AreaOf(c.Target[k])}] = true
		}
	}
	o := observed{digest: e.Digest(), fcl: w.fcl, spikes: e.Spikes()}
	var s engine.State
	require.NoError(t, e.State(&s))
	start := engine.NewState(c)
	for i := range c.Plastic {
		p := &c.Plastic[i]
		for n := range w.fired {
			if p.From.Has(n) && p.Row[n-p.From.First+1] > p.Row[n-p.From.First] {
				used[[2]int{c.AreaOf(p.From.First), c.AreaOf(p.To.First)}] = true
			}
		}
		for k, x := range s.Plastic[i].Weight {
			if x != start.Plastic[i].Weight[k] {
				o.learnt++
			}
		}
	}
	for _, p := range g.Projections {
		if used[[2]int{p.From, p.To}] {
			o.carry++
		}
	}
	return o
}

// The project's own genomes build and run to the same network, candidates and spikes as ever, on both backends. They need
// nothing from beside the checkout.
func TestOwnGenomes(t *testing.T) {
	var rules []string
	for _, name := range slices.Sorted(maps.Keys(laws())) {
		rules = append(rules, fmt.Sprintf("[%q, [1, 1, 1], 1, false]", name))
	}
	every := between(voxel{12, 5, 3}, voxel{7, 6, 2}, strings.Join(rules, ", "), "")
	for _, c := range []struct {
		name    string
		text    []byte
		network uint64
		want    observed
	}{
		{"flat.json", testFile(t, "flat.json"), 0x65fd1a5db3feaadf, observed{0x361a69932b767ec0, 0xe82e4a50c3fcda70, 2340, 5, 0}},
		{"hierarchical.json", testFile(t, "hierarchical.json"), 0x4508f0d78637f18e, observed{0x3c077ad605d4fed5, 0x9e41eab164e4ea29, 368, 2, 0}},
		{"every function", []byte(every), 0xe6730fc67464f028, observed{0xd09d2dced42b638e, 0x9ad3905fa046fdc5, 5654, 23, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dialect := feagi.Auto
			if c.name == "hierarchical.json" {
				dialect = feagi.Rust
			}
			g, _, err := feagi.Import(c.name, c.text, feagi.Options{Dialect: dialect})
			require.NoError(t, err)
			n := build(t, g)
			require.Equal(t, fmt.Sprintf("%#x", c.network), fmt.Sprintf("%#x", n.Hash()))
			for _, side := range []string{"cpu", "reference"} {
				got := observe(t, g, n, side)
				require.Equal(t, c.want, got, "%s: {%#x, %#x, %d, %d}", side, got.digest, got.fcl, got.spikes, got.carry)
			}
		})
	}
}
