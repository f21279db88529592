package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"burst/connectome"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// rangesCases are recordings of parts of areas of 40, 0, 7 and 25 neurons.
var rangesCases = []struct {
	name  string
	spans []connectome.Span
}{
	{"all", []connectome.Span{{Count: 72}}},
	{"the first ones", []connectome.Span{{Count: 9}, {First: 47, Count: 3}}},
	{"the last ones", []connectome.Span{{First: 28, Count: 12}, {First: 70, Count: 2}}},
	{"one alone", []connectome.Span{{First: 39, Count: 1}}},
	{"several of an area", []connectome.Span{{First: 1, Count: 1}, {First: 5, Count: 8}, {First: 31, Count: 2}, {First: 50, Count: 20}}},
	{"over the areas' borders", []connectome.Span{{First: 33, Count: 20}}},
}

var rangesSizes = []uint32{40, 0, 7, 25}

// drawn makes bursts in which each of 72 neurons fires with a share of its own, never at all or often.
func drawn(seed uint64, n int) [][]uint32 {
	r := rand.New(rand.NewPCG(seed, 13))
	bursts := make([][]uint32, n)
	for t := range bursts {
		for k := range uint32(72) {
			if r.Float64() < 0.03*float64(k%6) {
				bursts[t] = append(bursts[t], k)
			}
		}
	}
	return bursts
}

// only is what of the bursts the spans keep; renumbered as a network of these neurons alone has them, or not.
func only(bursts [][]uint32, spans []connectome.Span, renumbered bool) [][]uint32 {
	out := make([][]uint32, len(bursts))
	for t := range bursts {
		for _, n := range bursts[t] {
			before := uint32(0)
			for _, s := range spans {
				if s.Has(n) && renumbered {
					out[t] = append(out[t], before+n-s.First)
				} else if s.Has(n) {
					out[t] = append(out[t], n)
				}
				before += s.Count
			}
		}
	}
	return out
}

// TestRangesAsNetwork: figures of a run recorded in ranges are those of the full recording of a network that has no other
// neurons, but for how many neurons each area has.
func TestRangesAsNetwork(t *testing.T) {
	bursts := drawn(1, 400)
	for _, c := range rangesCases {
		t.Run(c.name, func(t *testing.T) {
			sizes, all, first := make([]uint32, len(rangesSizes)), uint32(0), uint32(0)
			for i, n := range rangesSizes {
				for k := first; k < first+n; k++ {
					for _, s := range c.spans {
						if s.Has(k) {
							sizes[i]++
							all++
						}
					}
				}
				first += n
			}
			o := Options{From: 7, Until: 391, Sample: 9, Seed: 5}
			want, err := Compute(run(t, sizes, all, only(bursts, c.spans, true)), o)
			require.NoError(t, err)
			got, err := Compute(runFrom(t, 0, rangesSizes, c.spans, bursts), o)
			require.NoError(t, err)
			for i := range got.Areas {
				require.Equal(t, rangesSizes[i], got.Areas[i].Neurons)
				require.Equal(t, sizes[i], got.Areas[i].Recorded)
				got.Areas[i].Neurons = sizes[i]
				require.Equal(t, fmt.Sprintf("%+v", want.Areas[i]), fmt.Sprintf("%+v", got.Areas[i]), "as text, for an undefined figure equals none")
			}
		})
	}
}

// TestRangesDiffer: of two runs recorded in ranges those spikes are compared that both have: none is told that one has left
// out, and one more is found where both would have it.
func TestRangesDiffer(t *testing.T) {
	bursts := drawn(2, 60)
	changed := func(neuron uint32) [][]uint32 {
		out := drawn(2, 60)
		kept := out[41][:0]
		for _, n := range out[41] {
			if n < neuron {
				kept = append(kept, n)
			}
		}
		out[41] = append(kept, neuron)
		return out
	}
	neurons := []uint32{0, 12, 39, 71}
	same, others := []*runfolder.Folder{}, [][]*runfolder.Folder{} // of each case: the run, and one for each neuron that is changed
	for _, x := range rangesCases {
		same = append(same, runFrom(t, 0, rangesSizes, x.spans, bursts))
		others = append(others, nil)
		for _, neuron := range neurons {
			others[len(others)-1] = append(others[len(others)-1], runFrom(t, 0, rangesSizes, x.spans, changed(neuron)))
		}
	}
	for i, x := range rangesCases {
		for k, y := range rangesCases {
			got, err := FirstDifference(same[i], same[k], 60)
			require.NoError(t, err)
			require.Nil(t, got, "%s and %s", x.name, y.name)
			for n, neuron := range neurons {
				other := changed(neuron)
				want := firstOf(only(only(bursts, x.spans, false), y.spans, false), only(only(other, x.spans, false), y.spans, false))
				got, err := FirstDifference(same[i], others[k][n], 60)
				require.NoError(t, err)
				require.Equal(t, want != nil, got != nil, "%s and %s, neuron %d", x.name, y.name, neuron)
				if want != nil {
					require.Equal(t, [2]uint64{want[0], want[1]}, [2]uint64{got.Burst, uint64(got.Neuron)}, "%s and %s, neuron %d", x.name, y.name, neuron)
				}
			}
		}
	}
}

// firstOf is burst and neuron of the first spike that one has alone; nil where there is none.
func firstOf(a, b [][]uint32) []uint64 {
	for t := range a {
		for i := range max(len(a[t]), len(b[t])) {
			switch {
			case i == len(a[t]):
				return []uint64{uint64(t), uint64(b[t][i])}
			case i == len(b[t]):
				return []uint64{uint64(t), uint64(a[t][i])}
			case a[t][i] != b[t][i]:
				return []uint64{uint64(t), uint64(min(a[t][i], b[t][i]))}
			}
		}
	}
	return nil
}
