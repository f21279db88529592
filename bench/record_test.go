//go:build unix

package bench

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"burst/backend/cpu"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
	"burst/record"
	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// BenchmarkRecording alternates short stretches of burst-1m with and without the recording of every spike on one backend, so
// that whatever else the machine does falls on both. A recorded stretch lasts until its last chunk is on disk.
func BenchmarkRecording(b *testing.B) {
	const stretch, pairs = 150, 20 // 150 bursts: 1.5 million spikes, six chunks
	text, err := genomes.Text("burst-1m")
	require.NoError(b, err)
	g, err := genome.Parse("burst-1m.yaml", text, nil)
	require.NoError(b, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(b, err)
	plan, _, err := record.NewPlan(g, c, []string{"spikes=all"})
	require.NoError(b, err)
	back, err := cpu.Open(c, cpu.Options{})
	require.NoError(b, err)
	defer back.Close()
	feed := engine.NewFeed(c, nil)
	var out engine.Burst
	var number, spikes uint64
	advance := func(keep func(*engine.Burst) error) {
		for range stretch {
			in, err := feed.Next(number)
			require.NoError(b, err)
			require.NoError(b, back.Step(in, &out))
			require.NoError(b, keep(&out))
			number++
		}
	}
	advance(func(*engine.Burst) error { return nil })
	var plain, recorded spent
	for b.Loop() {
		run, err := record.Create(b.TempDir(), record.Options{Manifest: manifest.Manifest{Areas: manifest.Areas(g, c)}, Plan: plan})
		require.NoError(b, err)
		for range pairs {
			start := now(b)
			advance(func(*engine.Burst) error { return nil })
			plain.since(b, start)
			start = now(b)
			advance(func(o *engine.Burst) error { spikes += uint64(len(o.Fired)); return run.Record(o) })
			_, err := run.Mark()()
			require.NoError(b, err)
			recorded.since(b, start)
		}
		require.NoError(b, run.Fail(errors.New("measured"), nil))
	}
	bursts := float64(b.N * pairs * stretch)
	b.ReportMetric(float64(spikes)/bursts, "spikes/burst")
	b.ReportMetric(float64(plain.wall.Microseconds())/bursts, "µs/burst")
	b.ReportMetric(float64((recorded.cpu-plain.cpu).Nanoseconds())/float64(spikes), "cpu-ns/spike")
	b.ReportMetric(100*(float64(recorded.wall)/float64(plain.wall)-1), "%-more-time")
	b.ReportMetric(100*(float64(recorded.cpu)/float64(plain.cpu)-1), "%-more-processor-time")
}

// spent is time by the clock and of all processors; the second is what a busy machine does not blur.
type spent struct{ wall, cpu time.Duration }

func now(b *testing.B) spent {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return spent{time.Duration(time.Now().UnixNano()), time.Duration(u.Utime.Nano() + u.Stime.Nano())}
}

func (s *spent) since(b *testing.B, start spent) {
	n := now(b)
	s.wall += n.wall - start.wall
	s.cpu += n.cpu - start.cpu
}
