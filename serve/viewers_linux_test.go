package serve_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"burst/engine"
	"burst/genomes"
	"burst/live"
	"burst/live/wire"
	"burst/run"
	"burst/serve"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// BenchmarkViewers prints what a burst of 100,000 neurons takes that 1 and 64 viewers watch, 30 pictures a second, and 64 of which 16
// read nothing, beside what it takes that nobody watches: turns of one server, each between two of nobody, with whose mean it is
// compared, since a machine is slower at times. It is the median of the engine's thread in processor time; the last figure is what the
// whole process takes, with its viewers. Those who read must be shown every burst.
func BenchmarkViewers(b *testing.B) {
	const rounds, bursts = 12, 1000
	now := new(clock)
	path := socketIn(b)
	o := live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Recorders: []engine.Recorder{now}}}
	text, err := genomes.Text("burst-100k")
	require.NoError(b, err)
	s := startGenome(b, network(b, string(text)), serve.Options{Options: o, Socket: path, Paused: true, Listen: "127.0.0.1:0"})
	_, _, control := s.tokens()
	var pictures atomic.Int64
	turn := func(viewers, stalled int) (p50, process float64) {
		var list []*wire.Client
		var reading sync.WaitGroup
		var shown atomic.Int64
		for n := range viewers {
			c, err := wire.Dial(path, wire.Hello{Role: wire.RoleView})
			require.NoError(b, err)
			list = append(list, c)
			if n < stalled {
				continue
			}
			reading.Go(func() {
				for v := new(wire.View); c.See(v) == nil; {
					pictures.Add(1)
					shown.Add(int64(v.Bursts))
				}
			})
		}
		now.times, now.thread = now.times[:0], 0
		used := processTime(b)
		code, text := s.call("POST", "/v1/control", control, fmt.Sprintf(`{"do":"step","bursts":%d}`, bursts))
		require.Equal(b, 200, code, text)
		process = float64((processTime(b) - used).Microseconds()) / bursts
		until(b, "every burst is shown", func() bool { return shown.Load() == int64((viewers-stalled)*bursts) })
		for _, c := range list {
			c.Close()
		}
		reading.Wait()
		until(b, "viewers have gone", func() bool { return s.Watchers() == 0 })
		return median(now.times), process
	}
	cases := []struct {
		viewers, stalled   int
		own, ratios, whole []float64
		pictures           int64
	}{{viewers: 1}, {viewers: 64}, {viewers: 64, stalled: 16}}
	turn(0, 0)
	var nobody, whole []float64
	b.ResetTimer()
	for range b.N * rounds {
		before, process := turn(0, 0)
		for i := range cases {
			x := &cases[i]
			nobody, whole = append(nobody, before), append(whole, process)
			pictures.Store(0)
			p50, used := turn(x.viewers, x.stalled)
			x.pictures += pictures.Load()
			last := before
			before, process = turn(0, 0)
			x.own, x.whole, x.ratios = append(x.own, p50), append(x.whole, used), append(x.ratios, 2*p50/(last+before))
		}
	}
	b.StopTimer()
	b.Logf("nobody watches: %.1f µs of the engine's thread, median of %d turns of %d bursts, %.1f to %.1f; %.1f µs of all threads",
		median(nobody), len(nobody), bursts, slices.Min(nobody), slices.Max(nobody), median(whole))
	for i := range cases {
		x := &cases[i]
		b.Logf("%d viewers, %d of them stalled: %.1f µs, %.4f of nobody's at the median of %d pairs, %.4f to %.4f; %.1f µs of all threads; "+
			"%.1f pictures a turn each", x.viewers, x.stalled, median(x.own), median(x.ratios), len(x.ratios), slices.Min(x.ratios),
			slices.Max(x.ratios), median(x.whole), float64(x.pictures)/float64(x.viewers-x.stalled)/float64(len(x.own)))
		b.ReportMetric(median(x.ratios), fmt.Sprintf("ratio-of-%d-less-%d", x.viewers, x.stalled))
	}
}

// median sorts a list and gives its middle.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// processTime is the processor time of this process.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	require.NoError(b, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}

// clock takes the processor time of the engine's thread from one burst to the next, in µs, with all that recorders do.
type clock struct {
	thread int
	last   int64
	times  []float64
}

func (c *clock) Record(*engine.Burst) error {
	thread := unix.Gettid()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return err
	}
	if thread == c.thread { // the goroutine has moved else, or it is the first of a turn
		c.times = append(c.times, float64(now.Nano()-c.last)/1000)
	}
	c.thread, c.last = thread, now.Nano()
	return nil
}
