package bench

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"

	"github.com/stretchr/testify/require"
)

// BenchmarkBurst runs a fixed number of bursts from a fresh state, so that every backend does the same work; spikes/burst
// must then agree, or the times do not compare.
func BenchmarkBurst(b *testing.B) {
	const bursts = 300
	for _, w := range Workloads() {
		if s := w.Suites[0]; s == "forced" || s == "ports" || s == gridSuite {
			continue // the cpu backend would take minutes
		}
		b.Run("net="+w.Name, func(b *testing.B) {
			c, err := Build(w, 0)
			require.NoError(b, err)
			for _, threads := range threadCounts() {
				b.Run(fmt.Sprintf("backend=cpu/threads=%d", threads), func(b *testing.B) { steps(b, c, "cpu", threads, bursts) })
			}
		})
	}
}

// threadCounts are one and all processors.
func threadCounts() []int {
	if n := runtime.GOMAXPROCS(0); n > 1 {
		return []int{1, n}
	}
	return []int{1}
}

// steps measures operations of n bursts each.
func steps(b *testing.B, c *connectome.Connectome, name string, threads, n int) {
	be, err := backend.Open(name, c, backend.Options{Threads: threads})
	if errors.Is(err, engine.ErrUnavailable) {
		b.Skip(err)
	}
	require.NoError(b, err)
	defer be.Close()
	fresh := engine.NewState(c)
	var out engine.Burst
	var spikes int
	for b.Loop() {
		b.StopTimer()
		require.NoError(b, be.WriteState(fresh))
		feed := engine.NewFeed(c, nil)
		spikes = 0
		b.StartTimer()
		for t := range n {
			in, err := feed.Next(uint64(t))
			require.NoError(b, err)
			require.NoError(b, be.Step(in, &out))
			spikes += len(out.Fired)
		}
	}
	b.ReportMetric(float64(spikes)/float64(n), "spikes/burst")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/burst")
}

// BenchmarkBuild builds 1 M neurons with 100 synapses each.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		c, err := Build(Workload{Name: "burst-1m"}, 0)
		require.NoError(b, err)
		b.ReportMetric(float64(c.Synapses()), "synapses")
	}
}

// TestRunCountsWhatItMeasures checks a result against a run stepped by hand.
func TestRunCountsWhatItMeasures(t *testing.T) {
	w := Workload{Name: "quickstart", Warm: 37, Bursts: 111}
	fast, err := Run(w, "cpu", backend.Options{Threads: 2})
	require.NoError(t, err)
	slow, err := Run(w, "reference", backend.Options{})
	require.NoError(t, err)
	require.NotZero(t, fast.Spikes)
	require.Equal(t, slow.Spikes, fast.Spikes)
	require.Equal(t, slow.EventsPerBurst, fast.EventsPerBurst)
	require.Equal(t, slow.State, fast.State)

	c, err := Build(w, 1)
	require.NoError(t, err)
	be, err := backend.Open("reference", c, backend.Options{})
	require.NoError(t, err)
	defer be.Close()
	var out engine.Burst
	var spikes uint64
	feed := engine.NewFeed(c, nil)
	for i := range 37 + 111 {
		in, err := feed.Next(uint64(i))
		require.NoError(t, err)
		require.NoError(t, be.Step(in, &out))
		if i >= 37 {
			spikes += uint64(len(out.Fired))
		}
	}
	require.Equal(t, spikes, fast.Spikes)
}

// TestLimit: every part of the work is done in full, and measured.
func TestLimit(t *testing.T) {
	sums := make([]int32, 501)
	addAtRandom(sums, 50_007, 11)
	total, most := int32(0), int32(0)
	for _, x := range sums {
		total, most = total+x, max(most, x)
	}
	require.EqualValues(t, 50_007, total)
	require.Less(t, most, int32(200), "100 a sum, at random")
	state := []uint64{7, 0, 1 << 63}
	pass(state)
	require.Equal(t, []uint64{8, 1, 1<<63 + 1}, state)
	store := make([]uint64, 1000)
	for i := range store {
		store[i] = uint64(i)
	}
	places, want := []uint32{}, uint64(0)
	for p := range uint32(19) {
		places = append(places, 3*p)
		for k := range uint64(16) {
			want += uint64(3*p) + k
		}
	}
	ahead := uint64(0) // the words that are read first once more, of all rows but the first eight
	for _, p := range places[8:] {
		ahead += 2*uint64(p) + 8
	}
	require.Equal(t, want+ahead, readRows(store, places, 16))
	l := MeasureLimit(Work{Threads: 2, Rows: 500, RowBytes: 400, Store: 1 << 24, Ports: 50_001, Events: 50_000, State: 600_001}, 30)
	require.Positive(t, l.Rows)
	require.Positive(t, l.Sums)
	require.Positive(t, l.State)
	require.InDelta(t, l.Rows+l.Sums+l.State, l.Total(), 1e-9)
}

// TestResultHoldsTheLimit: the cpu backend's results carry it, the reference's do not.
func TestResultHoldsTheLimit(t *testing.T) {
	w := Workload{Name: "quickstart", Bursts: 53}
	fast, err := Run(w, "cpu", backend.Options{Threads: 1})
	require.NoError(t, err)
	require.NotNil(t, fast.Limit)
	require.InDelta(t, fast.Limit.Total()/fast.Burst.P50, fast.ShareOfLimit, 1e-9)
	slow, err := Run(w, "reference", backend.Options{})
	require.NoError(t, err)
	require.Nil(t, slow.Limit)
}

func TestSelect(t *testing.T) {
	_, err := Select("quick", []string{"burst-2m"})
	require.ErrorContains(t, err, `workload "burst-2m", want one of quickstart`)
	_, err = Select("slow", nil)
	require.ErrorContains(t, err, `suite "slow", want one of custom, digests, forced, grid, latency, learning, learning-large, learning-published, microcircuit, paths, ports, quick, scaling`)
	picked, err := Select("latency", nil)
	require.NoError(t, err)
	require.Len(t, picked, 9)
	picked, err = Select("latency", []string{"quickstart"})
	require.NoError(t, err)
	require.Equal(t, "quickstart", picked[0].Name)
}

// TestForcedShare wants as many spikes as were asked for, within five standard deviations, whatever arrives.
func TestForcedShare(t *testing.T) {
	r, err := Run(Workload{Name: "forced-100k", Warm: 2, Bursts: 5}, "cpu", backend.Options{Threads: 2})
	require.NoError(t, err)
	require.InDelta(t, 5000, r.Spikes, 5*70)
	require.InDelta(t, 100_000, r.EventsPerBurst, 100*70)
}
