package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestSegmentsHoldEveryWeight encodes runs, adds them up by both forms of Deliver, and compares with the plain sums; kinds
// and length are those that take the fewest units.
func TestSegmentsHoldEveryWeight(t *testing.T) {
	slow.Short(t)
	cases := []struct {
		name   string
		why    string
		n      int
		gap    func(r *rand.Rand) uint32
		weight func(r *rand.Rand, i int) int32
		kinds  []uint
		units  int // at most
	}{
		{"one weight", "most rows have one", 97, near(1000), func(*rand.Rand, int) int32 { return -7 }, []uint{vector.Even}, 6 + 96},
		{"a long gap", "a gap above 16 bits begins another segment", 12, func() func(*rand.Rand) uint32 {
			n := 0
			return func(*rand.Rand) uint32 {
				n++
				return uint32(n) % 7 * 16_000
			}
		}(), func(*rand.Rand, int) int32 { return 5 }, []uint{vector.Even}, 18 + 9},
		{"long gaps", "32 bits each are fewer than a header", 100, near(99_991), func(*rand.Rand, int) int32 { return 5 }, []uint{vector.Mixed}, 206},
		{"many", "a count above 16 bits begins another segment", 70_000, near(2), func(*rand.Rand, int) int32 { return 1 }, []uint{vector.Even}, 12 + 69_998},
		{"three weights", "few weights, each by itself", 99, near(300), func(_ *rand.Rand, i int) int32 { return int32(i%3) * 1000 }, []uint{vector.Even}, 18 + 96},
		{"two weights, long gaps", "a header each is more than one and a word each", 100, near(99_991), func(_ *rand.Rand, i int) int32 { return int32(i%2) * 1000 }, []uint{vector.Mixed}, 206},
		{"two weights, two synapses", "two headers are more than one and a word each", 2, near(300), func(_ *rand.Rand, i int) int32 { return int32(i) }, []uint{vector.Mixed}, 10},
		{"two weights, four synapses", "two headers are no more than one and a word each", 4, near(300), func(_ *rand.Rand, i int) int32 { return int32(i % 2) }, []uint{vector.Even}, 14},
		{"drawn weights", "the microcircuit's, 20 bits and gaps of 12", 640, near(4000), func(r *rand.Rand, _ int) int32 { return -r.Int32N(1<<20) - 7 }, []uint{vector.Mixed}, 6 + 2*640},
		{"a rare long gap", "begins another segment of the kind", 700, func(r *rand.Rand) uint32 {
			if r.IntN(50) == 0 {
				return 1 << 15
			}
			return r.Uint32N(1 << 11)
		}, func(r *rand.Rand, _ int) int32 { return r.Int32N(1 << 21) }, []uint{vector.Mixed}, 3 * 700},
		{"any weights", "32 bits leave none for gaps", 97, near(1000), func(r *rand.Rand, _ int) int32 { return int32(r.Uint32()) }, []uint{vector.Wide}, 6 + 4*97},
		{"extremes", "their difference wraps", 20, near(1), func(_ *rand.Rand, i int) int32 {
			return [...]int32{math.MinInt32, math.MaxInt32, 0}[i%3] + int32(i)/3
		}, []uint{vector.Wide}, 6 + 4*20},
		{"multapses", "gaps are 0", 33, func(*rand.Rand) uint32 { return 0 }, func(_ *rand.Rand, i int) int32 { return int32(i) }, []uint{vector.Mixed}, 6 + 66},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(c.n)))
			slots, weights := make([]uint32, c.n), make([]int32, c.n)
			at := uint32(11)
			for i := range slots {
				slots[i], weights[i] = at, c.weight(r, i)
				at += c.gap(r)
			}
			e := encoder{scratch: make([]uint32, 0, c.n)}
			units := e.segments(make([]uint16, 1, 1+mostUnits*c.n), slots, 0, weights)[1:]
			require.LessOrEqual(t, len(units), c.units, c.why)
			for rest := units; len(rest) > 0; {
				var s vector.Segment
				s, rest = vector.Next(rest)
				require.Contains(t, c.kinds, s.Kind, c.why)
			}
			want := make([]int32, at+1)
			for i, slot := range slots {
				want[slot] += weights[i]
			}
			for _, k := range []vector.Kernels{vector.Plain(), vector.Best()} {
				got := make([]int32, at+1)
				k.Deliver(got, units, []vector.Span{{From: 0, To: uint64(len(units))}}, 1)
				require.Equal(t, want, got, "%s: %s", k.Name, c.why)
			}
			require.Len(t, vector.Slots(nil, units), c.n)
		})
	}
}

// near draws gaps up to a bound.
func near(bound uint32) func(r *rand.Rand) uint32 {
	return func(r *rand.Rand) uint32 { return bound - r.Uint32N(bound)/8 }
}

// TestReach looks for what lies before, in, between and behind.
func TestReach(t *testing.T) {
	list := []uint32{3, 3, 5, 8, 13, 21, 21, 34}
	for x := range uint32(40) {
		want := 0
		for want < len(list) && list[want] < x {
			want++
		}
		for cut := range list {
			require.Equal(t, min(want, cut), reach(list[:cut], x), "%d in %v", x, list[:cut])
		}
	}
	require.Zero(t, reach[uint32](nil, 7))
}

// TestRowsOutgrowTheirGuess has synapses where no row is measured in advance; the array that is taken then is no longer than
// the rows.
func TestRowsOutgrowTheirGuess(t *testing.T) {
	n := enginetest.Net{Areas: []connectome.Area{enginetest.LIF(500)}}
	for i := range uint32(30_000) {
		from := i % 7 * sampled
		if from == sample(i%7, sampled) {
			from++
		}
		n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: i * 7 % 500, Weight: int32(i), Delay: 1 + uint16(i%2)})
	}
	c := n.Build()
	b := open(c, engine.Want{}, 3, vector.Best())
	defer b.Close()
	synapses := 0
	exact, _ := newOwners(c, b.workers, b.workers[0].rows.runs).measure(1, make([]uint64, 3))
	for i, w := range b.workers {
		units := exact[i].units
		require.Len(t, w.rows.units, int(units))
		require.Equal(t, int(units), cap(w.rows.units))
		for f := vector.Launch(w.rows.units, 0, units, 0); f.From < f.To; f.Next(w.rows.units) {
			synapses += len(vector.Slots(nil, w.rows.units[f.From+vector.RunUnits:f.From+uint64(f.Units)]))
		}
	}
	require.Equal(t, 30_000, synapses)
}

// TestRowsOfAnyPeriodAreGuessed has rows of which one in each stride is unlike the others: they are encoded once, in an array
// that is little longer than they are.
func TestRowsOfAnyPeriodAreGuessed(t *testing.T) {
	const neurons, fan = 100 * sampled, 50
	for at := uint32(0); at < sampled; at += 15 {
		for _, others := range []bool{false, true} { // have the weights that take more
			c := enginetest.Net{Areas: []connectome.Area{enginetest.LIF(neurons)}}.Build()
			c.Target, c.Weight = make([]uint32, neurons*fan), make([]int32, neurons*fan)
			for k := range c.Target {
				n := uint32(k / fan)
				c.Target[k] = uint32(k % fan * 100)
				if (n%sampled == at) != others {
					c.Weight[k] = int32(k)
				}
				c.Row[n+1] = uint64(n+1) * fan
			}
			w := &worker{b: &backend{c: c, moving: makeMoving(c)}}
			w.deal(0, 1)
			o := newOwners(c, []*worker{w}, runs{least: 1})
			guess, share := o.measure(sampled, []uint64{0})
			exact, _ := o.measure(1, []uint64{0})
			require.InEpsilon(t, exact[0].units, float64(guess[0].units)/share, 0.1, "row %d of each %d, others %v", at, sampled, others)
		}
	}
}

// TestRunsTooLongAreRefused has five synapses with one delay beside others, where four are the limit.
func TestRunsTooLongAreRefused(t *testing.T) {
	n := enginetest.Net{Areas: []connectome.Area{enginetest.LIF(9)}}
	for i := range uint32(5) {
		n.Synapses = append(n.Synapses, enginetest.Synapse{From: 7, To: i, Weight: 1, Delay: 3})
	}
	require.NoError(t, checkRuns(n.Build(), 4), "one delay has no runs")
	n.Synapses = append(n.Synapses, enginetest.Synapse{From: 7, To: 5, Weight: 1, Delay: 2})
	require.NoError(t, checkRuns(n.Build(), 5))
	require.EqualError(t, checkRuns(n.Build(), 4), "neuron 7 has 5 synapses with a delay of 3 bursts; where delays differ the cpu backend takes at most 4, the reference backend any number")
}

func TestNegativeThreadsAreRefused(t *testing.T) {
	_, err := Open(enginetest.Net{Areas: []connectome.Area{enginetest.LIF(1)}}.Build(), Options{Threads: -1})
	require.EqualError(t, err, "cpu: -1 threads, want a whole number; 0 is as many as are best")
}

// TestRunsAtTheLimitFit adds up what the longest run can take: every synapse as Wide.
func TestRunsAtTheLimitFit(t *testing.T) {
	segments := (mostOfDelay + vector.MostSynapses - 1) / vector.MostSynapses
	require.LessOrEqual(t, uint64(vector.WideUnits*mostOfDelay+vector.HeaderUnits*segments), uint64(math.MaxUint32))
}
