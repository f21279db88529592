package live_test

import (
	"path/filepath"
	"testing"
	"time"

	"burst/live"
	"burst/run"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// BenchmarkLogAtOneKilohertz is the processor time of a burst, of the whole process, that 1,000 inputs begin every millisecond, with a log
// and without one. Their difference, with all that a log does in the background and in caches that have gone cold, is its share: 10 µs
// are a hundredth of a processor. Run it with -benchtime 8000x.
func BenchmarkLogAtOneKilohertz(b *testing.B) {
	g := network(b, "burst: v1\nname: eye\nareas: [{name: eye, neurons: 1000, threshold: 100}]\n")
	used := func() int64 {
		var t unix.Timespec
		require.NoError(b, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
		return t.Nano()
	}
	for _, name := range []string{"without a log", "with one"} {
		b.Run(name, func(b *testing.B) {
			o := run.Options{Backend: "cpu", Threads: 1}
			if name == "with one" {
				o.Folder, o.Record = filepath.Join(b.TempDir(), "run"), []string{"spikes=none"}
			}
			s, err := live.New(b.Context(), g, live.Options{Options: o})
			require.NoError(b, err)
			defer s.Close()
			in := bound(b, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
			amounts, ctx := make([]float32, 1000), b.Context()
			due := time.NewTicker(time.Millisecond)
			defer due.Stop()
			began := used()
			for i := range b.N {
				<-due.C
				for k := range amounts {
					amounts[k] = float32((i+k)%1000+1) / 2000
				}
				require.NoError(b, s.Step(ctx, 1, live.Value{To: in, Amounts: amounts}))
			}
			b.ReportMetric(float64(used()-began)/1000/float64(b.N), "processor-µs")
		})
	}
}
