package serve_test

import (
	"fmt"
	"sort"
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

// BenchmarkViewers prints what a burst of 100,000 neurons takes that 0, 1 and 64 viewers watch, 30 pictures a second, by turns: the
// median of the engine's thread in processor time, and what the whole process takes a second, with its viewers.
func BenchmarkViewers(b *testing.B) {
	counts := []int{0, 1, 64}
	servers := make([]*served, len(counts))
	pictures := make([]atomic.Int64, len(counts))
	clocks := make([]*clock, len(counts))
	process := make([]time.Duration, len(counts))
	walls := make([]time.Duration, len(counts))
	for i, viewers := range counts {
		path := socketIn(b)
		clocks[i] = new(clock)
		o := live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Recorders: []engine.Recorder{clocks[i]}}}
		text, err := genomes.Text("burst-100k")
		require.NoError(b, err)
		servers[i] = startGenome(b, network(b, string(text)), serve.Options{Options: o, Socket: path, Paused: true, Listen: "127.0.0.1:0"})
		for range viewers {
			c := dial(b, path, wire.Hello{Role: wire.RoleView})
			go func() {
				for v := new(wire.View); c.See(v) == nil; {
					pictures[i].Add(1)
				}
			}()
		}
	}
	b.ResetTimer()
	for n := range b.N {
		for turn := range 12 * len(counts) { // by turns, so that what else the machine does meets all alike
			i := turn % len(counts)
			if (turn/len(counts)+n)%2 > 0 {
				i = len(counts) - 1 - i
			}
			_, _, control := servers[i].tokens()
			began, used := time.Now(), processTime(b)
			code, text := servers[i].call("POST", "/v1/control", control, `{"do":"step","bursts":2000}`)
			require.Equal(b, 200, code, text)
			walls[i] += time.Since(began)
			process[i] += processTime(b) - used
		}
	}
	b.StopTimer()
	for i, s := range servers {
		s.stop()
		c := clocks[i]
		sort.Float64s(c.times)
		n := len(c.times)
		b.ReportMetric(c.times[n/2], fmt.Sprintf("p50-µs-of-%d", counts[i]))
		each := float64(pictures[i].Load()) / float64(max(1, counts[i])) / walls[i].Seconds()
		b.Logf("%d viewers: %d bursts, of the engine's thread p50 %.1f µs; of all threads %.1f µs a burst; %.1f pictures a second each",
			counts[i], n, c.times[n/2], float64(process[i].Microseconds())/float64(b.N*12*2000), each)
	}
}

// processTime is the processor time of this process.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	require.NoError(b, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}

// clock takes the processor time of the engine's thread from one burst to the next, with all that recorders do.
type clock struct {
	thread int
	last   int64
	times  []float64
}

func (c *clock) Record(b *engine.Burst) error {
	thread := unix.Gettid()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return err
	}
	if b.Number%2000 > 0 && thread == c.thread { // it is the first of a turn else, or the goroutine has moved
		c.times = append(c.times, float64(now.Nano()-c.last)/1000)
	}
	c.thread, c.last = thread, now.Nano()
	return nil
}
