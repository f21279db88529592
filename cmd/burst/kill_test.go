package main

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"burst/backend/cpu"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/slow"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "kill and stop runs as often as the promises say")

// often is how often a test kills or stops runs: n times, with -long longer times, with -short twice at most.
func often(n, longer int) int {
	switch {
	case testing.Short():
		return min(n, 2)
	case *long:
		return longer
	}
	return n
}

// busy is a network that fills a chunk of its recording every few hundredths of a second.
const busy = `burst: v1
name: busy
seed: 77
areas:
  - {name: few, neurons: 31, threshold: 0.7, drive: {poisson: {rate: 200 Hz, weight: 1}}}
  - {name: crowd, neurons: 9001, threshold: 1.5, refractory: 1, drive: {poisson: {rate: 900 Hz, weight: 0.9}}}
projections:
  - {from: few, to: crowd, rule: fixed_outdegree, outdegree: 13, weight: 0.3, delay: 3}
`

// replayed steps a network beside its recording and fails at the first row that is not the next spike.
type replayed struct {
	rows <-chan runfolder.Chunk
	have runfolder.Chunk
	at   int
	read uint64
}

var errAllRead = errors.New("no more rows")

func (r *replayed) Record(b *engine.Burst) error {
	for _, n := range b.Fired {
		if r.at == len(r.have.Burst) {
			var more bool
			if r.have, more = <-r.rows; !more {
				return errAllRead
			}
			r.at = 0
		}
		if r.have.Burst[r.at] != b.Number || r.have.Neuron[r.at] != n {
			return errors.New("row " + strconv.FormatUint(r.read, 10) + " is not the next spike")
		}
		r.at++
		r.read++
	}
	return nil
}

// TestKilledRuns kills recorded runs when a random number of bytes is on disk: every chunk that its .sums file names reads back, and its rows are
// the first spikes of the run that nobody killed.
func TestKilledRuns(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	kills := often(10, 50)
	dir := t.TempDir()
	file := filepath.Join(dir, "busy.yaml")
	require.NoError(t, os.WriteFile(file, []byte(busy), 0o600))
	random := rand.New(rand.NewPCG(9, 0x6b696c6c))
	var rows uint64
	torn := 0
	for i := range kills {
		out := filepath.Join(dir, strconv.Itoa(i))
		p := spawn(t, nil, "run", file, "--bursts", "1000000000", "--quiet", "--backend", "cpu", "--out", out)
		bytes := random.Int64N(12 << 20)
		p.until(func() bool {
			const head, line = 51, 40 // bytes; every other run has a chunk on disk when it is killed
			sums, err := os.Stat(filepath.Join(out, "spikes.sums"))
			data, missing := os.Stat(filepath.Join(out, "spikes.arrows"))
			return err == nil && missing == nil && data.Size() >= bytes && (i%2 == 1 || sums.Size() > head+line)
		})
		p.signal(t, os.Kill)
		require.Error(t, p.wait())
		f, err := runfolder.Open(out)
		require.NoError(t, err)
		require.Equal(t, manifest.Running, f.Manifest.Status)
		read, bytes := compareWithRun(t, f)
		rows += read
		if info, err := os.Stat(filepath.Join(out, "spikes.arrows")); err == nil && info.Size() > bytes {
			torn++
		}
		require.NoError(t, os.RemoveAll(out))
	}
	t.Logf("%d kills, %d in the middle of a write, %d rows read back", kills, torn, rows)
	require.NotZero(t, rows)
}

// compareWithRun reads a folder beside a run of the same network; bytes is how much of the stream is whole chunks.
func compareWithRun(t *testing.T, f *runfolder.Folder) (rows uint64, bytes int64) {
	t.Helper()
	g, err := genome.Load(filepath.Join(f.Dir, "genome.yaml"))
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	b, err := cpu.Open(c, cpu.Options{})
	require.NoError(t, err)
	defer b.Close()
	chunks := make(chan runfolder.Chunk)
	var failed error
	go func() {
		defer close(chunks)
		for k, err := range f.Spikes() {
			failed = errors.Join(failed, err)
			chunks <- runfolder.Chunk{Burst: append([]uint64(nil), k.Burst...), Neuron: append([]uint32(nil), k.Neuron...)}
		}
	}()
	r := &replayed{rows: chunks}
	err = engine.New(c, b, engine.Options{Recorders: []engine.Recorder{r}}).Run(context.Background(), 1_000_000_000)
	require.ErrorIs(t, err, errAllRead)
	require.NoError(t, failed)
	marks, err := os.ReadFile(filepath.Join(f.Dir, "spikes.sums"))
	require.NoError(t, err)
	return r.read, lastEnd(t, string(marks))
}

// lastEnd is where the last chunk ends that a whole line names.
func lastEnd(t *testing.T, sums string) int64 {
	t.Helper()
	end := int64(0)
	for line := range strings.Lines(sums) {
		fields := strings.Split(line, ",")
		if !strings.HasSuffix(line, "\n") || fields[0] == "offset" {
			continue
		}
		offset, err := strconv.ParseInt(fields[0], 10, 64)
		require.NoError(t, err)
		bytes, err := strconv.ParseInt(fields[1], 10, 64)
		require.NoError(t, err)
		end = offset + bytes
	}
	return end
}
