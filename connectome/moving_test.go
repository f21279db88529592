package connectome

import (
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// doubling is a factor of 1 in burst 0, 2 from burst 1 on and 0 from burst 2 on.
func doubling() *genome.Factor {
	f := &genome.Factor{At: []uint64{0, 1, 2}, Values: []float64{1, 2, 0}, Timestep: 1}
	f.Bound()
	return f
}

// A drive with a factor has in each burst the numbers of one without, of so many times its amount or rate.
func TestMovingDrives(t *testing.T) {
	drive := func(model string, d genome.Drive) *Connectome {
		a := areaOf(model, 70)
		d.Until = math.MaxUint64
		a.Drives = []genome.Drive{d}
		return build(t, network(1, a).Genome)
	}
	for _, x := range []struct {
		model string
		of    func(k float64) genome.Drive
	}{
		{"feagi", func(k float64) genome.Drive { return genome.Drive{Kind: genome.Constant, Value: 0.25 * k} }},
		{"lif", func(k float64) genome.Drive {
			return genome.Drive{Kind: genome.Constant, Value: 64 * k, Unit: genome.Current}
		}},
		{"lif", func(k float64) genome.Drive {
			return genome.Drive{Kind: genome.Poisson, Rate: 4000 * k, Weight: 0.5, Unit: genome.Voltage}
		}},
		{"lif_psc_exp", func(k float64) genome.Drive {
			return genome.Drive{Kind: genome.Noise, Mean: -3 * k, SD: 8 * k, Unit: genome.Current}
		}},
	} {
		with := x.of(1)
		with.Factor = doubling()
		moving := drive(x.model, with)
		d := &moving.Areas[0].Drives[0]
		for at, k := range []float64{1, 2, 0} {
			want := drive(x.model, x.of(k)).Areas[0]
			now := d.In(uint64(at))
			require.Equal(t, want.Drives[0].Amount, now.Amount)
			require.Equal(t, want.Drives[0].Counts, now.Counts)
			require.Equal(t, want.Drives[0].Table, now.Table)
			require.Equal(t, want.Term(uint64(at)), moving.Areas[0].Term(uint64(at)))
		}
		require.Equal(t, drive(x.model, x.of(2)).Bound, moving.Bound, "%v: what the largest factor makes", x.model)
		require.NotEqual(t, drive(x.model, x.of(1)).Hash(), moving.Hash())
	}
}

// The hash sees every number that the drives of a burst are worked out from.
func TestHashSeesFactors(t *testing.T) {
	make1 := func() *Moving {
		return &Moving{Amount: 1, SD: 2, Most: 3, Factor: &genome.Factor{At: []uint64{4, 5}, Values: []float64{6, 7}}}
	}
	hashes := map[uint64]int{make1().fold(1): -1}
	unseen := 0
	for k := range numbers(reflect.ValueOf(make1()).Elem()) {
		m := make1()
		change(numbers(reflect.ValueOf(m).Elem())[k])
		if _, known := hashes[m.fold(1)]; known {
			unseen++
		}
		hashes[m.fold(1)] = k
	}
	require.Equal(t, 6, unseen, "line and column, Lo and Hi follow from others; Scale and Lift are in the area's hash already")
}

// The rate of sources, and what is refused.
func TestMovingSources(t *testing.T) {
	a := areaOf("poisson", 70)
	a.Until, a.Params["rate"], a.RateOver = math.MaxUint64, 500, doubling()
	c := build(t, network(1, a).Genome)
	require.Equal(t, []uint64{1 << 31, 1 << 32, 0}, []uint64{c.Areas[0].Below(7, 0), c.Areas[0].Below(7, 1), c.Areas[0].Below(7, 2)})
	require.EqualValues(t, 3, Over(5, 0.5), "halves away from zero")
	require.EqualValues(t, 1<<32, Over(1<<31, 1e30))
	require.Zero(t, Over(1<<31, -1))

	a.Params["rate"] = 501
	_, err := Build(network(1, a).Genome, Options{})
	require.ErrorContains(t, err, "areas[0].factor: neuron 0 would fire 1.00199999986216 times a burst at the largest factor, 2; want at most 1")
	b := areaOf("feagi", 70)
	b.Drives = []genome.Drive{{Kind: genome.Constant, Value: 1.2e6, Until: math.MaxUint64, Factor: doubling()}}
	_, err = Build(network(1, b).Genome, Options{})
	require.ErrorContains(t, err, "could receive")
}
