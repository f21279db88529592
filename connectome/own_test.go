package connectome

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// column is a number for each of some neurons.
func column(of func(n int) float64) []float64 {
	x := make([]float64, 70)
	for n := range x {
		x[n] = of(n)
	}
	return x
}

// driven is a network of an area of 70 neurons with one drive.
func withDrive(model string, d genome.Drive) *genome.Genome {
	a := areaOf(model, 70)
	d.Until = math.MaxUint64
	a.Drives = []genome.Drive{d}
	return network(0.1, a).Genome
}

// TestDrivesOfColumns: each neuron draws what it would draw of a drive with its numbers, and a column of equal numbers is the number.
func TestDrivesOfColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rates, weights := column(func(n int) float64 { return float64(n%7) * 3000 }), column(func(n int) float64 { return float64(n-30) / 9 })
	means, sds := column(func(n int) float64 { return float64(n-40) / 7 }), column(func(n int) float64 { return float64(n % 5) })
	for _, model := range []string{"lif", "lif_psc_exp", "feagi"} {
		for _, d := range []genome.Drive{
			{Kind: genome.Poisson, Rates: rates, Weights: weights}, {Kind: genome.Poisson, Rates: rates, Weight: 2}, {Kind: genome.Poisson, Rate: 12000, Weights: weights},
			{Kind: genome.Noise, Means: means, SDs: sds}, {Kind: genome.Noise, Means: means, SD: 1}, {Kind: genome.Noise, Mean: -1, SDs: sds},
		} {
			g := withDrive(model, d)
			if model == "feagi" {
				g.Areas[0].Params["rectify"] = 1
			}
			c := build(t, g)
			own := &c.Areas[0].Drives[0]
			require.NotNil(t, own.Own)
			for n := range uint64(70) {
				one := g.Areas[0].Drives[0].Of(n)
				one.Rates, one.Weights, one.Means, one.SDs = nil, nil, nil, nil
				p := &plan{g: g, areas: []Span{{Count: 70}}, scale: 1000, lifts: []int64{c.Areas[0].lifts()}}
				alone := p.makeDrive(0, &one)
				for _, x := range []uint32{0, math.MaxUint32, r.Uint32(), r.Uint32(), r.Uint32()} {
					require.Equal(t, alone.Input(x), own.InputOf(uint32(n), x), "%s, neuron %d, draw %d", model, n, x)
				}
			}
		}
	}
	plain := build(t, withDrive("lif", genome.Drive{Kind: genome.Poisson, Rate: 5000, Weight: 3}))
	equal := build(t, withDrive("lif", genome.Drive{Kind: genome.Poisson, Rates: column(func(int) float64 { return 5000 }), Weight: 3}))
	require.Equal(t, plain.Bound, equal.Bound)
	require.Len(t, equal.Areas[0].Drives[0].Own.Begin, 2, "neurons of one rate share their thresholds")
	require.Equal(t, plain.Areas[0].Drives[0].Counts, equal.Areas[0].Drives[0].Own.Counts)
}

// TestNumbersOfColumnsCount: in the hash, in the memory, in the bounds and where they become no quanta.
func TestNumbersOfColumnsCount(t *testing.T) {
	hashes := map[uint64]bool{}
	for _, d := range []genome.Drive{
		{Kind: genome.Poisson, Rates: column(func(n int) float64 { return float64(n) }), Weight: 1},
		{Kind: genome.Poisson, Rates: column(func(n int) float64 { return float64(69 - n) }), Weight: 1},
		{Kind: genome.Poisson, Rates: column(func(n int) float64 { return float64(n) }), Weight: 2},
		{Kind: genome.Noise, Means: column(func(n int) float64 { return float64(n) }), SD: 1},
		{Kind: genome.Noise, Means: column(func(n int) float64 { return float64(n) }), SD: 2},
		{Kind: genome.Noise, Means: column(func(n int) float64 { return float64(69 - n) }), SD: 1},
	} {
		c := build(t, withDrive("lif", d))
		hashes[c.Hash()] = true
		require.GreaterOrEqual(t, c.Bytes(), 70*8+c.Areas[0].Drives[0].Own.bytes())
		n, err := Measure(withDrive("lif", d), Options{})
		require.NoError(t, err)
		require.LessOrEqual(t, c.Bytes(), n.Bytes)
	}
	require.Len(t, hashes, 6)

	c := build(t, withDrive("lif_psc_exp", genome.Drive{Kind: genome.Poisson, Rates: column(func(n int) float64 { return float64(n%2) * 20000 }), Weights: column(func(n int) float64 { return float64(n - 1) })}))
	require.EqualValues(t, 68_000*len(poissonCounts(2)), c.Bound[0], "the largest rate with the largest weight")
	require.EqualValues(t, 1000*len(poissonCounts(2)), c.Bound[70], "and with the least")

	for _, d := range []genome.Drive{
		{Kind: genome.Poisson, Rate: 1, Weights: column(func(n int) float64 { return 0.0001 * float64(n) })},
		{Kind: genome.Noise, SDs: column(func(n int) float64 { return 0.0001 * float64(n) })},
	} {
		_, err := Build(withDrive("lif", d), Options{})
		require.ErrorContains(t, err, "areas[0].drive[0]: neuron 1: 0.0001 becomes 0 quanta at scale 1000")
	}
	_, err := Build(withDrive("lif", genome.Drive{Kind: genome.Poisson, Rates: column(func(n int) float64 { return 1e5 * float64(n) }), Weight: 1}), Options{})
	require.ErrorContains(t, err, "6.9e+06 Hz makes 690 events a burst, want at most 500")
}

// TestPortsOfColumns: a port that the sign of all amounts chooses anyhow is no other network.
func TestPortsOfColumns(t *testing.T) {
	for _, x := range []struct {
		port, want int
		weight     float64
	}{{1, 0, 0}, {2, 2, 0}, {1, 1, -100}, {2, 0, -100}, {1, 1, -3}, {2, 2, -3}} {
		c := build(t, withDrive("lif_psc_exp", genome.Drive{Kind: genome.Poisson, Port: x.port, Rate: 10, Weights: column(func(n int) float64 { return float64(n) + x.weight })}))
		require.Equal(t, x.want, c.Areas[0].Drives[0].Port, "%+v", x)
	}
}
