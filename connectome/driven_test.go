package connectome

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/slow"
)

// drivenNet has an area whose potentials drive its spikes, with projections that merge, and one that is static.
func drivenNet(merge bool, change func(source *genome.Area)) *genome.Genome {
	source := block("feagi", 40, 5, 1, 1)
	source.PSPMax = 12
	if change != nil {
		change(&source)
	}
	target := block("feagi", 25, 4, 1, 3)
	target.Params["rectify"] = 1
	return network(1, areaOf("feagi", 70), source, target, areaOf("lif_psc_exp", 90)).join(
		genome.Projection{Rule: genome.AllToAll, To: 1, Weight: constant(1)},
		genome.Projection{Rule: genome.Projector, From: 1, To: 2, Weight: constant(1.5), Merge: merge},
		genome.Projection{Rule: genome.AllToAll, From: 1, To: 2, Weight: constant(-0.25), Merge: merge, Delay: constant(3)},
		genome.Projection{Rule: genome.Projector, From: 1, To: 2, Weight: constant(2), Merge: merge},
		genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.3, From: 1, To: 3, Weight: constant(-0.125)},
	)
}

func dividesPSP(a *genome.Area) { a.DividePSP = true }

// Driven synapses have rows of their own, with the weights as factors, and count, hash, cut and measure as all others do.
func TestDrivenRows(t *testing.T) {
	slow.Short(t)
	for _, merge := range []bool{false, true} {
		g := drivenNet(merge, dividesPSP)
		c := build(t, g)
		require.EqualValues(t, 70*200, c.Synapses(), "static ones alone")
		require.True(t, c.Delay.None())
		require.Equal(t, 3, c.MaxDelay)
		require.EqualValues(t, 12_000, c.Areas[1].PSPMax)
		require.Zero(t, c.Areas[0].PSPMax)
		d := c.Driven
		require.Equal(t, c.Synapses()+d.Synapses(), c.Total())
		weights, all := map[int32]int{}, uint64(0)
		for n := range c.Neurons {
			require.Equal(t, c.Areas[1].Neurons.Has(n), d.Row[n] < d.Row[n+1])
			before := uint64(0)
			for k := d.Row[n]; k < d.Row[n+1]; k++ {
				weights[d.Weight[k]]++
				at := uint64(d.DelayOf(k))<<32 | uint64(d.Target[k])
				require.LessOrEqual(t, before, at, "sorted")
				before = at
				if d.Target[k] >= c.Areas[3].Ports.First {
					require.GreaterOrEqual(t, d.Target[k], c.Areas[3].Ports.First+90, "the port of a weight below 0")
				}
			}
			all += uint64(d.DivideOf(n))
		}
		if merge {
			require.NotZero(t, weights[3500], "factors add up")
			require.Zero(t, weights[1500])
		} else {
			require.Equal(t, weights[1500], weights[2000])
		}
		require.NotZero(t, weights[-250], "not lifted")
		require.Equal(t, c.ByRule-c.Synapses(), all, "what is divided by counts synapses before they are merged")
		sizes, err := Measure(g, Options{})
		require.NoError(t, err)
		require.Equal(t, c.Total(), sizes.Synapses)
		require.InEpsilon(t, c.Bytes(), sizes.Bytes, 0.01)

		for _, parts := range []int{2, 3} {
			list, faults := buildParts(g, parts)
			require.NoError(t, errors.Join(faults...))
			hash, synapses := uint64(0), uint64(0)
			for i, part := range list {
				require.Equal(t, c.Cut(Part{i, parts}), part, "part %d of %d", i, parts)
				require.Equal(t, c.Total(), part.Total())
				hash, synapses = hash+part.Hash(), synapses+part.Driven.Synapses()
			}
			require.Equal(t, c.Hash(), hash)
			require.Equal(t, d.Synapses(), synapses)
			samePartsInTurn(t, g, c, parts)
		}
		hashes := map[uint64]bool{c.Hash(): true}
		for _, change := range []func(a *genome.Area){nil, func(a *genome.Area) { a.PSPMax = 13; a.DividePSP = true }, func(a *genome.Area) { a.PSPMax = 0; a.DividePSP = true }} {
			other := build(t, drivenNet(merge, change)).Hash()
			require.False(t, hashes[other], "the hash has psp_max and what is divided by")
			hashes[other] = true
		}
		require.ErrorContains(t, c.Export(io.Discard, "x.csv", nil), "psp_max")
	}
}

// No amplitude that is allowed takes a sum beyond its bound; the largest one comes near it.
func TestDrivenBound(t *testing.T) {
	slow.Short(t)
	for _, merge := range []bool{false, true} {
		for _, change := range []func(a *genome.Area){nil, dividesPSP} {
			c := build(t, drivenNet(merge, change))
			highest, most := make([]int64, c.Ports), c.Areas[1].PSPMax
			for n := range c.Neurons {
				for k := c.Driven.Row[n]; k < c.Driven.Row[n+1]; k++ {
					port, found := c.Driven.Target[k], int64(0)
					for _, a := range []int32{most, -most, 0, most - 1, 1, -7777} {
						q := c.Areas[c.AreaOfPort(port)].Lift(Delivers(c.Driven.Weight[k], a, c.Scale, c.Driven.DivideOf(n)))
						found = max(found, q, -q)
					}
					highest[port] += found
				}
			}
			for port, sum := range highest {
				if p := uint32(port); p >= c.Areas[2].Ports.First {
					require.LessOrEqual(t, sum, int64(c.Bound[p]))
					require.GreaterOrEqual(t, sum, int64(c.Bound[p])*9/10, "port %d", p)
				}
			}
		}
	}
	g := drivenNet(false, func(a *genome.Area) { a.PSPMax = 200 })
	_, err := Build(g, Options{})
	require.ErrorContains(t, err, `of area "A2" could receive`)
	require.ErrorContains(t, err, "the largest scale that fits is")
	require.ErrorContains(t, err, ", or a smaller psp_max")
	g.Scale = 0
	c := build(t, g)
	require.EqualValues(t, 200*float64(c.Scale), c.Areas[1].PSPMax, "an automatic scale leaves room for it")
	require.Less(t, c.Scale, int32(1000))
}

// The number of amounts that may be 0 or less, from which M follows, has driven synapses where an amplitude or a weight may be.
func TestDrivenLift(t *testing.T) {
	lifts := func(weight float64, change func(a *genome.Area)) float32 {
		source, target := areaOf("feagi", 100), areaOf("feagi", 2)
		source.PSPMax, source.Params["threshold"], target.Params["rectify"] = 5, 0.5, 1
		change(&source)
		c := build(t, network(1, source, target).join(genome.Projection{Rule: genome.AllToAll, To: 1, Weight: constant(weight)}))
		return c.Areas[1].Constant("rectify").Const
	}
	as := func(a *genome.Area) {}
	require.EqualValues(t, 2, lifts(1, as))
	require.EqualValues(t, 128, lifts(-1, as))
	require.EqualValues(t, 128, lifts(1, func(a *genome.Area) { a.Params["threshold"] = 0 }))
	require.EqualValues(t, 2, lifts(1, func(a *genome.Area) { a.Gradient[0] = 0.5 }))
	require.EqualValues(t, 128, lifts(1, func(a *genome.Area) { a.Gradient[0] = -0.25 }))
}

func TestAmplitude(t *testing.T) {
	for _, c := range []struct {
		v           float32
		scale, most int32
		want        int32
		ok          bool
	}{
		{1.5, 1000, 1500, 1500, true}, {1.5, 1000, 1499, 0, false}, {-1.5, 1000, 1500, 0, true}, {-1.5, 1000, 1499, 0, true},
		{0, 1000, 1, 0, true}, {1e-30, 1000, 1, 1, true}, {-1e-30, 1000, 1, 0, true}, {2.5, 1, 9, 3, true}, {-2.5, 1, 9, 0, true}, {0.25, 1, 9, 1, true}, {2.25, 1, 9, 2, true},
		{math.MaxFloat32, 1, math.MaxInt32, 0, false}, {float32(math.Inf(1)), 1, math.MaxInt32, 0, false}, {float32(math.NaN()), 1, math.MaxInt32, 0, false},
	} {
		got, ok := Amplitude(c.v, c.scale, c.most)
		require.Equal(t, c.ok, ok, "%v", c)
		require.Equal(t, c.want, got, "%v", c)
	}
}

// What is delivered is the exact quotient, rounded as the law says, with either sign.
func TestDelivers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 20000 {
		scale := 1 + r.Int32N(1<<uint(1+r.IntN(24)))
		w, a, by := r.Int32N(1<<uint(1+r.IntN(30))), r.Int32N(1<<uint(1+r.IntN(30))), r.Int32N(3)*r.Int32N(50)
		product, among := int64(w)*int64(a), int64(scale)
		want := max((2*product+among)/(2*among), min(product, 1))
		if by > 0 {
			among *= int64(by)
			want = product / among
			if product%among > 0 {
				want++
			}
		}
		require.Equal(t, want, Delivers(w, a, scale, by), "%d·%d/%d/%d", w, a, scale, by)
		require.Equal(t, -want, Delivers(-w, a, scale, by))
		require.Equal(t, -want, Delivers(w, -a, scale, by))
		require.Equal(t, want, Delivers(-w, -a, scale, by))
	}
}
