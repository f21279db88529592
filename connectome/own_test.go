package connectome

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/exact"
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

// TestDrawnDrives: a distribution draws as the law says, is a column of what it draws, leaves the genome as it is, and may round to nothing.
func TestDrawnDrives(t *testing.T) {
	v := value(genome.Normal, 2, 0.5)
	v.Lo = 1.5
	for _, model := range []string{"lif", "feagi"} {
		g := withDrive(model, genome.Drive{Kind: genome.Constant, Drawn: &v, Unit: genome.Voltage})
		g.Areas = append([]genome.Area{areaOf("lif", 5)}, g.Areas...)
		each := column(func(n int) float64 {
			for attempt := range uint64(100) {
				x, _ := exact.Words(g.Seed, exact.ParameterDraw, uint64(5+n)|131072<<32, 1|attempt<<32)
				if y := 2 + float64(0.5*exact.Normal(x)); y >= 1.5 {
					return y
				}
			}
			panic("no draw")
		})
		made := build(t, g)
		require.Nil(t, g.Areas[1].Drives[0].Each)
		h := withDrive(model, genome.Drive{Kind: genome.Constant, Each: each, Unit: genome.Voltage})
		h.Areas = append([]genome.Area{areaOf("lif", 5)}, h.Areas...)
		h.Seed = g.Seed
		want := build(t, h)
		require.Equal(t, want.Areas, made.Areas)
		require.Equal(t, want.Stimuli, made.Stimuli)
		require.Equal(t, want.Hash(), made.Hash())
		g.Seed++
		other := build(t, g)
		require.False(t, reflect.DeepEqual(want.Areas, other.Areas) && reflect.DeepEqual(want.Stimuli, other.Stimuli), "another seed draws others")
	}
	two := withDrive("lif", genome.Drive{Kind: genome.Constant, Drawn: &v, Unit: genome.Voltage})
	two.Areas[0].Drives = append(two.Areas[0].Drives, two.Areas[0].Drives[0])
	made := build(t, two).Areas[0].Drives
	require.NotEqual(t, made[0].Each, made[1].Each, "each drive of an area draws its own")

	small := value(genome.Uniform, -0.001, 0.001)
	c := build(t, withDrive("feagi", genome.Drive{Kind: genome.Constant, Drawn: &small}))
	require.Contains(t, c.Stimuli[0].Amounts, int32(0))

	none := value(genome.Normal, 0, 1)
	none.Lo = 20
	_, err := Build(withDrive("lif", genome.Drive{Kind: genome.Constant, Drawn: &none}), Options{})
	require.ErrorContains(t, err, "areas[0].drive[0].constant: the bounds keep fewer than 1 draw in 1000")
	_, err = Build(withDrive("lif", genome.Drive{Kind: genome.Constant, Drawn: &v}), Options{MaxBytes: 100})
	require.ErrorContains(t, err, "100 bytes")
}
