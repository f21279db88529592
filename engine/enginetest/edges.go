package enginetest

import (
	"fmt"
	"math"
	"testing"

	"burst/connectome"
	"burst/engine"
)

// edge is a network at the limits of the law, compared with the reference. Most are made for a size or a bound at which an
// index, a mask or a narrow number breaks.
type edge struct {
	name   string
	why    string
	net    Net
	bursts int
	in     []engine.Stimulus // in every burst whose number is a multiple of every
	every  uint64
}

// runEdges compares each edge with the oracle.
func runEdges(t *testing.T, open, oracle Open) {
	var edges []edge
	for _, n := range []uint32{0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097} {
		edges = append(edges, ofSize(n), ofAreas(n))
	}
	for _, e := range append(edges, atBounds()...) {
		t.Run(e.name, func(t *testing.T) {
			c := e.net.Build()
			same(t, open, oracle, c, e.bursts, func(b uint64) []engine.Stimulus {
				if b%max(1, e.every) == 0 {
					return e.in
				}
				return nil
			}, e.why)
		})
	}
}

// ofSize is a ring of n neurons in which everyone also inhibits the second next; the last and the first are stimulated.
func ofSize(n uint32) edge {
	e := edge{name: fmt.Sprintf("%d neurons", n), why: "words of 32 and 64 neurons begin and end here", bursts: 9, every: 3,
		net: Net{Areas: []connectome.Area{FEAGI(n)}}}
	e.net.Areas[0].Constant("leak").Const = 0.3
	for i := range n {
		e.net.Synapses = append(e.net.Synapses, Synapse{i, (i + 1) % n, 1100, 1}, Synapse{i, (i + 2) % n, -300, uint16(1 + i%3)})
	}
	for p := range n {
		if p == 0 || p == n-1 || p%7 == 3 {
			e.in = append(e.in, engine.Stimulus{Port: p, Amount: 1200})
		}
	}
	return e
}

// ofAreas is about n neurons of alternating models in areas of 1, 2, 3… neurons, with an empty area among them.
func ofAreas(n uint32) edge {
	e := edge{name: fmt.Sprintf("%d neurons in areas", n), why: "areas of several models begin and end inside words", bursts: 12, every: 2}
	for size, left := uint32(1), n; left > 0; size++ {
		k := min(size, left)
		left -= k
		a := FEAGI(k)
		if size%2 == 0 {
			a = set(LIF(k), map[string]float32{"threshold": 0.9, "reset": 0.1, "refractory": float32(size % 4)})
			a.Drives = []connectome.Drive{{Kind: connectome.Term, Until: math.MaxUint64, Term: 0.07}}
		}
		e.net.Areas = append(e.net.Areas, a)
		if size == 3 {
			e.net.Areas = append(e.net.Areas, FEAGI(0), LIF(0))
		}
	}
	for i := range n {
		e.net.Synapses = append(e.net.Synapses, Synapse{i, (i*7 + 1) % n, 700, 1}, Synapse{i, (i*3 + 2) % n, 450, 2})
		if i%5 == 0 {
			e.in = append(e.in, engine.Stimulus{Port: i, Amount: 1000})
		}
	}
	return e
}

// atBounds are the networks at a bound of a number.
func atBounds() []edge {
	return []edge{
		fanIn(), oneRow(),
		{name: "scale of 2^24", why: "the largest scale", bursts: 6, every: 1, in: []engine.Stimulus{{Port: 0, Amount: 1<<24 + 1}, {Port: 1, Amount: 1<<24 - 1}},
			net: Net{Scale: 1 << 24, Areas: []connectome.Area{FEAGI(2), LIF(1)}, Synapses: []Synapse{{0, 2, math.MaxInt32, 1}, {1, 1, 3, 1}}}},
		{name: "scale of 1", why: "the smallest scale", bursts: 6, every: 1, in: []engine.Stimulus{{Port: 0, Amount: 1}},
			net: Net{Scale: 1, Areas: []connectome.Area{FEAGI(2)}, Synapses: []Synapse{{0, 1, math.MaxInt32 - 1, 3}}}},
		{name: "Poisson table of 700 thresholds", why: "a mean of 500 events a burst needs a table of this length; the first and last entries are 0 and 2^32 − 1", bursts: 40,
			net: Net{RunSeed: 0xfedcba9876543210, Areas: []connectome.Area{longPoisson(130), longPoisson(3)}}},
		{name: "delays without delay 1", why: "only delays 2 and 200 occur", bursts: 410, every: 1000, in: []engine.Stimulus{{Port: 0, Amount: 1000}},
			net: Net{Areas: []connectome.Area{FEAGI(3)}, Synapses: []Synapse{{0, 1, 1000, 200}, {1, 2, 1000, 2}, {2, 0, 1000, 200}, {0, 0, 1, 2}}}},
	}
}

// fanIn brings 4,097 synapses of ±524,000 quanta together, whose absolute values add up to just below 2^31.
func fanIn() edge {
	const n = 4097
	e := edge{name: "fan-in at the int32 bound", why: "the sum passes through large partial sums of both signs, in any order", bursts: 4, every: 2,
		net: Net{Scale: 7, Areas: []connectome.Area{FEAGI(n), LIF(2)}}}
	for i := range uint32(n) {
		w := int32(524_000)
		if i%3 == 0 {
			w = -w
		}
		e.net.Synapses = append(e.net.Synapses, Synapse{i, n, 524_000, 1}, Synapse{i, n + 1, w, 1})
		e.in = append(e.in, engine.Stimulus{Port: i, Amount: 7})
	}
	return e
}

// oneRow is one neuron with 5,000 synapses onto 61 others, and 60 with one.
func oneRow() edge {
	e := edge{name: "a long row among short ones", why: "a row is longer than any block of threads; many of its synapses share a target", bursts: 5, every: 3,
		in: []engine.Stimulus{{Port: 0, Amount: 1000}}, net: Net{Areas: []connectome.Area{FEAGI(1), LIF(61)}}}
	for k := range uint32(5000) {
		e.net.Synapses = append(e.net.Synapses, Synapse{0, 1 + k%61, int32(k%13) * 37, 1 + uint16(k%2)})
	}
	for n := uint32(2); n < 62; n++ {
		e.net.Synapses = append(e.net.Synapses, Synapse{n, n - 1, 3000, 1})
	}
	return e
}

func longPoisson(n uint32) connectome.Area {
	a := LIF(n)
	counts := make([]uint32, 700)
	for i := range counts {
		counts[i] = uint32(uint64(i) * math.MaxUint32 / 699)
	}
	a.Drives = []connectome.Drive{Always(connectome.Poisson, 30, counts...), Always(connectome.Poisson, -17, counts[300:]...)}
	return a
}

// same compares the backend with the oracle, FCL and whole state included, after every burst, and gives the backend as it is then.
func same(t testing.TB, open, oracle Open, c *connectome.Connectome, bursts int, in func(b uint64) []engine.Stimulus, why string) engine.Backend {
	t.Helper()
	want := engine.Want{FCL: true}
	a, b := start(t, oracle, c, want), start(t, open, c, want)
	next := func(t uint64) ([]engine.Stimulus, error) { return in(t), nil }
	d, err := engine.Compare(a, b, uint64(bursts), next, 1)
	if err != nil {
		t.Fatal(err)
	}
	fail(t, d, why)
	return b
}
