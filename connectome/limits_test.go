package connectome

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/quanta"
	"burst/internal/slow"
)

// absurd declares 10^9…10^18 neurons or synapses in one of many ways.
func absurd(r *rand.Rand) *genome.Genome {
	big := func() uint64 { return uint64(math.Pow(10, 9+9*r.Float64())) }
	a, b := areaOf("lif", 1+r.Uint64N(200_000)), areaOf("feagi", 100_000+r.Uint64N(100_000))
	p := genome.Projection{To: 1, Weight: constant(1), Delay: value(genome.Uniform, 1, 20)}
	switch r.IntN(12) {
	case 0:
		a = areaOf("lif", big())
	case 1:
		a = block("feagi", big(), big(), big(), big())
	case 2:
		a = block("feagi", 1<<32, 1<<32, 1, 1+r.Uint64N(9)) // a product of 2^64 must not look like 0
	case 3:
		p.Rule, p.Indegree = genome.FixedIndegree, big()
	case 4:
		p.Rule, p.Outdegree, p.From = genome.FixedOutdegree, big(), 1
	case 5:
		p.Rule, p.Count = genome.FixedTotalNumber, 4_000_000_000+big()
	case 6:
		p.Rule, p.From = genome.AllToAll, 1
	case 7:
		p.Rule, p.From, p.P = genome.PairwiseBernoulli, 1, 0.2+0.8*r.Float64()
	case 9:
		p.Rule, p.From, p.Merge = genome.AllToAll, 1, true
		return network(0.1, a, b).join(p, p)
	case 10:
		p.Rule, p.From, p.LeaveOut, b.DividePSP = genome.AllToAll, 1, 1+r.Uint64N(80), true
	case 11:
		p.Rule, p.From, p.Blocks, p.Choose = genome.Composite, 1, [3]uint64{1, 1, 1}, [3][2]uint64{{1, 0}, {1, 0}, {1, 0}}
		p.Mapper = &genome.Mapper{Rule: genome.Patterns, Patterns: []genome.Pattern{wild("***", "***")}}
	case 8:
		p.Rule, p.From, p.Patterns = genome.Patterns, 1, []genome.Pattern{wild("***", "***"), wild("***", "!**")}
	}
	return network(0.1, a, b).join(p)
}

func TestNegativeThreadsAreRefused(t *testing.T) {
	g := network(0.1, areaOf("lif", 1)).join()
	_, built := Build(g, Options{Threads: -1})
	_, measured := Measure(g, Options{Threads: -1})
	for _, err := range []error{built, measured} {
		require.EqualError(t, err, "connectome: -1 threads, want a whole number; 0 is all processors")
	}
}

func TestAbsurdGenomesAreRefusedBeforeAnythingIsAllocated(t *testing.T) {
	slow.Short(t)
	const limit = 8 << 30
	r := rand.New(rand.NewPCG(1, 1000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	tries := slow.Times(300, 1000)
	for i := range tries {
		g := absurd(r)
		var refusal *LimitError
		var err error
		if i%2 == 0 {
			_, err = Build(g, Options{MaxBytes: limit})
		} else {
			_, err = Measure(g, Options{MaxBytes: limit})
		}
		require.ErrorAs(t, err, &refusal, "genome %d", i)
		assert.Greater(t, refusal.Needed, refusal.Limit)
		assert.GreaterOrEqual(t, refusal.Bytes, uint64(1e9))
		assert.Regexp(t, `^(areas|projections)\[\d\]\.(size|indegree|outdegree|count|rule|p)$`, refusal.Field)
		assert.ErrorContains(t, err, refusal.Field)
		assert.ErrorContains(t, err, "limit is")
		var faults genome.Faults
		assert.True(t, errors.As(err, &faults), "the refusal points into the text")
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.Sys-before.Sys, uint64(100<<20))
	t.Logf("R20: %d genomes of 10^9 to 10^18 neurons or synapses refused in %v, %d MiB taken from the system", tries, time.Since(start).Round(time.Millisecond), (after.Sys-before.Sys)>>20)
}

func TestLimitIsExact(t *testing.T) {
	g := network(1, areaOf("lif", 1000)).join(genome.Projection{Rule: genome.AllToAll, Weight: constant(1), Delay: constant(3)})
	sizes, err := Measure(g, Options{Threads: 2})
	require.NoError(t, err)
	_, err = Build(g, Options{Threads: 2, MaxBytes: sizes.Peak})
	assert.NoError(t, err)
	_, err = Build(g, Options{Threads: 2, MaxBytes: sizes.Peak - 1})
	var refusal *LimitError
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, LimitError{Field: "projections[0].rule", Unit: "bytes", Needed: sizes.Peak, Limit: sizes.Peak - 1, Bytes: sizes.Peak, fault: refusal.fault}, *refusal)
	_, err = Build(network(1, areaOf("lif", 1000)).Genome, Options{MaxBytes: 19_999})
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, "areas[0].size", refusal.Field)
}

func TestPredictedBytesAreTheRealOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 5))
	for i := range 30 {
		a, b := block("feagi", 1+r.Uint64N(30), 1+r.Uint64N(20), 1+r.Uint64N(5), 1+r.Uint64N(3)), areaOf("lif", 1+r.Uint64N(3000))
		if i%3 == 0 {
			a.Gradient[1] = 0.5
		}
		p := ruleCases[i%len(ruleCases)].p
		p.Weight, p.Delay = constant(0.1), constant(float64(1+i%2))
		p.Indegree, p.Outdegree, p.NoMultapses = min(p.Indegree, a.Neurons()), min(p.Outdegree, a.Neurons(), b.Neurons()), false
		if p.NoAutapses || p.Rule == genome.OneToOne {
			p.To, p.From = 1, 1
			b = areaOf("lif", 2+r.Uint64N(3000))
		}
		g := network(0.1, a, b).join(p)
		sizes, err := Measure(g, Options{})
		require.NoError(t, err)
		assert.InEpsilon(t, build(t, g).Bytes(), sizes.Bytes, 0.05, "genome %d", i)
	}
}

// TestPeakWhileBuilding watches the heap of builds of millions of synapses, also of one that must know what it has chosen.
func TestPeakWhileBuilding(t *testing.T) {
	slow.Test(t)
	random := genome.Projection{Rule: genome.FixedIndegree, Indegree: 200, Weight: value(genome.Normal, 10, 1), Delay: constant(15)}
	peak, c := watchPeak(t, network(0.1, areaOf("lif", 50_000)).join(random))
	assert.Less(t, float64(peak), 1.25*float64(c.Bytes()))
	assert.LessOrEqual(t, float64(c.Bytes())/float64(c.Synapses()), 9.2)

	k := uint64(4_000_000)
	distinct := genome.Projection{Rule: genome.FixedIndegree, Indegree: k, NoMultapses: true, To: 1, Weight: constant(0.1)}
	watchPeak(t, network(0.1, areaOf("poisson", k+k/20), areaOf("lif", 2)).join(distinct))
}

// watchPeak builds a network and gives the most that the heap has grown by meanwhile, which must be no more than predicted.
func watchPeak(t *testing.T, g *genome.Genome) (uint64, *Connectome) {
	t.Helper()
	sizes, err := Measure(g, Options{})
	require.NoError(t, err)
	runtime.GC()
	var base, now runtime.MemStats
	runtime.ReadMemStats(&base)
	done, peak := make(chan struct{}), uint64(0)
	var wg sync.WaitGroup
	wg.Go(func() {
		for tick, over := time.NewTicker(2*time.Millisecond), false; !over; {
			select {
			case <-done:
				over = true // the last look sees the result at least
			case <-tick.C:
			}
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapInuse-min(now.HeapInuse, base.HeapInuse))
		}
	})
	c := build(t, g)
	close(done)
	wg.Wait()
	t.Logf("%d synapses: %.3f × the result of %d bytes at the peak, %.3f predicted", c.Synapses(),
		float64(peak)/float64(c.Bytes()), c.Bytes(), float64(sizes.Peak)/float64(sizes.Bytes))
	assert.Greater(t, peak, c.Bytes()/2, "the watch works")
	assert.Less(t, float64(peak), 1.05*float64(sizes.Peak))
	return peak, c
}

func TestProgressReachesItsTotal(t *testing.T) {
	g := ruleGenome(genome.Projection{Rule: genome.FixedIndegree, Indegree: 13})
	last, total, calls := uint64(0), uint64(0), 0
	_, err := Build(g, Options{Progress: func(d, n uint64) {
		if calls++; calls == 1 {
			require.Zero(t, n, "the first call says that the network is planned")
			return
		}
		require.NotZero(t, n)
		require.GreaterOrEqual(t, d, last)
		last, total = d, n
	}})
	require.NoError(t, err)
	assert.Equal(t, total, last)
	assert.NotZero(t, total)
}

// TestProgressIsToldNowAndThen: goroutines that add much do not wait for each other each time.
func TestProgressIsToldNowAndThen(t *testing.T) {
	const workers, adds, n = 3, 20_000, 7
	last, calls := uint64(0), 0
	m := &meter{total: workers * adds * n, tell: func(done, total uint64) {
		assert.EqualValues(t, workers*adds*n, total)
		assert.GreaterOrEqual(t, done, last)
		last = done
		calls++
	}}
	parallel(workers, workers*adds, func(int, uint64) { m.add(n) })
	assert.EqualValues(t, workers*adds*n, last)
	assert.InDelta(t, tellings, calls, tellings/10)
}

func TestMemoryOfTheMachine(t *testing.T) {
	assert.EqualValues(t, 12345<<10, memAvailable("MemTotal: 99 kB\nMemAvailable:    12345 kB\n"))
	assert.EqualValues(t, uint64(math.MaxUint64), memAvailable("MemTotal: 99 kB\n"))
	files := map[string]uint64{
		"/sys/fs/cgroup/a/memory.max": 1000, "/sys/fs/cgroup/a/memory.current": 400,
		"/sys/fs/cgroup/a/b/memory.max": 5000, "/sys/fs/cgroup/a/b/memory.current": 300,
		"/sys/fs/cgroup/memory/old/memory.limit_in_bytes": 70, "/sys/fs/cgroup/memory/old/memory.usage_in_bytes": 80,
	}
	read := func(file string) (uint64, bool) { n, ok := files[file]; return n, ok }
	assert.EqualValues(t, 600, groupLeft("0::/a/b\n", read), "the parent's limit is the tighter one")
	assert.EqualValues(t, 0, groupLeft("3:cpu:/x\n5:memory:/old\n", read), "more in use than allowed")
	assert.EqualValues(t, uint64(math.MaxUint64), groupLeft("0::/none\nnonsense\n", read))
	assert.Greater(t, AvailableMemory(), uint64(64<<20))
}

func TestRowsWiderThanAKeyAreSortedInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{0, 1, 2, 47, 48, 3000} {
		most := []int{mostShort, quanta.MaxDelay}[n%2]
		one := row{make([]uint32, n), make([]int32, n), newDelays(uint64(n), most)}
		for i := range n {
			one.target[i], one.weight[i] = r.Uint32()>>r.IntN(32), int32(r.Uint32()) // more than 64 bits
			one.delay.set(uint64(i), uint64(1+r.IntN(most)))
		}
		var s sorter
		s.sort(one)
		assert.True(t, one.sorted(), "%d synapses", n)
	}
}
