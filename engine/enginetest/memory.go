package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// forgetful are the models of which runRandom makes networks: all but that of memory areas, which RunMemory
// adds to them, and that which runEvent adds.
func forgetful() []*genome.Model {
	return slices.DeleteFunc(genome.Models(), func(m *genome.Model) bool { return m.Has("upstream") || m.Event != "" })
}

// Memory is a memory area of n neurons with its upstream areas, by their numbers.
func Memory(n uint32, constants map[string]float32, upstream ...int) connectome.Area {
	a := set(Of("memory", n), constants)
	a.Upstream = upstream
	return a
}

// RandomMemory is a random network with memory areas: of few neurons, so that some are full, and of short lives, some of which end.
// Some see patterns that repeat, some other memory areas, and some reach other neurons.
func RandomMemory(r *rand.Rand, pick int) Net {
	n := randomNet(r, pick)
	var total, ports uint32
	for i := range n.Areas {
		total, ports = total+n.Areas[i].Neurons.Count, ports+n.Areas[i].Neurons.Count*n.Areas[i].PortsEach()
	}
	period, lists := 1+r.Uint64N(7), make([][]uint64, 1+r.IntN(9))
	for i := range lists {
		for t := r.Uint64N(2 * period); t < 200; t += among(r, period, period, 2*period) {
			lists[i] = append(lists[i], t)
		}
	}
	n.Areas = append(n.Areas, SpikeList(lists...), Poisson(1+r.Uint32N(3), 0.5*r.Float64()))
	total += uint32(len(lists)) + n.Areas[len(n.Areas)-1].Neurons.Count
	for range 1 + r.IntN(3) {
		upstream := []int{len(n.Areas) - 1 - r.IntN(2)}
		for i := range n.Areas {
			if r.IntN(4) == 0 && i != upstream[0] {
				upstream = append(upstream, i)
			}
		}
		slices.Sort(upstream)
		a := Memory(among(r, 1, 2, 7, 1+r.Uint32N(20), 1+r.Uint32N(300)), map[string]float32{
			"temporal_depth": among[float32](r, 1, 1, 2, 3, 17), "lifespan": among[float32](r, 1, 2, 9, 5, 1<<24),
			"lifespan_growth": among[float32](r, 0, 1, 2, 3, 1<<24), "long_term": among[float32](r, 1, 12, 20, 100, 1<<24), "spare_seen": among[float32](r, 0, 0, 1),
		}, upstream...)
		for range r.IntN(40) {
			if ports > 0 {
				n.Synapses = append(n.Synapses, Synapse{total + r.Uint32N(a.Neurons.Count), r.Uint32N(ports), quanta(r, n.Scale), uint16(1 + r.IntN(3))})
			}
		}
		n.Areas, total = append(n.Areas, a), total+a.Neurons.Count
	}
	return n
}

// RunMemory is what Run does with random networks that have memory areas, for backends that divide them in several ways: it compares
// whole states with the reference after every burst, and checks that runs may be stopped, read and written anywhere.
func RunMemory(t *testing.T, open, oracle Open) {
	for seed := range seeds(20, 4) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x6d656d6f7279))
			n := RandomMemory(r, int(seed))
			c := n.Build()
			in := randomInput(r.Uint64(), c)
			same(t, open, oracle, c, 70, in, "as the reference")
			split(t, open, n, seed)
			batch(t, open, oracle, engine.Want{}, n, seed)
			everywhere(t, open, c, in)
		})
	}
}

// everywhere: a state read after any burst, and written into another backend that has run something else, goes on as it did.
func everywhere(t testing.TB, open Open, c *connectome.Connectome, in func(uint64) []engine.Stimulus) {
	whole, other := start(t, open, c, engine.Want{}), start(t, open, c, engine.Want{})
	var a, b engine.Burst
	for i := range uint64(40) {
		s := read(t, whole)
		if err := s.Check(c); err != nil {
			t.Fatal(err)
		}
		write(t, other, s)
		step(t, whole, in(i), &a)
		step(t, other, in(i), &b)
		fail(t, engine.CompareBursts(&a, &b), "a state may be saved after any burst")
		fail(t, engine.CompareStates(read(t, whole), read(t, other)), "a state may be saved after any burst")
		step(t, other, nil, &b)
	}
}

// kept is what memory area Area must keep: of neurons from 0 on their patterns, lifespans or flags, or the number of lost patterns.
type kept struct {
	area   int
	what   string
	values []uint64
}

// expectKept reads "AREA X…" of patterns, lifespans, longterm or lost; the area counts memory areas alone.
func (e *expectation) expectKept(what string, words []string) error {
	area, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	k := kept{area: area, what: what}
	k.values, err = whole(words[1:])
	e.kept = append(e.kept, k)
	return err
}

// checkKept compares it with a state.
func (e *expectation) checkKept(s *engine.State) error {
	for _, k := range e.kept {
		want := s.Clone()
		m := &want.Memory[k.area]
		var err error
		switch k.what {
		case "patterns":
			err = replace(m.Pattern, k.values)
		case "lifespans":
			err = replace(m.Lifespan, narrow[uint32](k.values))
		case "longterm":
			err = replace(m.LongTerm, narrow[uint8](k.values))
		case "lost":
			m.Lost = k.values[0]
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k.what, err)
		}
		if d := engine.CompareStates(s, want); d != nil {
			return fmt.Errorf("%s is %s, want %s", d.Field, d.A, d.B)
		}
	}
	return nil
}

// setUpstream reads AREA,AREA…, ascending.
func setUpstream(a *connectome.Area, text string) error {
	list, err := whole(strings.Split(text, ","))
	for _, area := range list {
		a.Upstream = append(a.Upstream, int(area))
	}
	return err
}
