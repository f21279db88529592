package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"burst/backend"
	"burst/checkpoint"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// wide is a network that eight threads share: areas of every model that draws, has delays or two ports.
const wide = `burst: v1
name: wide
seed: 606
areas:
  - {name: few, neurons: 37, threshold: 0.7, excitability: 0.83, fire_limit: 5, snooze: 3, drive: {poisson: {rate: 200 Hz, weight: 1}}}
  - {name: crowd, neurons: 28001, threshold: 1.5, refractory: 3, leak: 0.13, drive: {poisson: {rate: 60 Hz, weight: 0.9}}}
  - {name: slow, neurons: 997, model: lif_psc_exp, params: {C: 250 pF, tau: 10 ms, tau_syn: 2 ms, rest: -65 mV, reset: -65 mV, threshold: -50 mV, refractory: 2 ms}}
  - {name: wavy, neurons: 4003, model: izhikevich, params: {a: 0.02, b: 0.2, c: -65 mV, d: 8, threshold: 30 mV}, drive: {normal: {mean: 4, sd: 3}}}
projections:
  - {from: few, to: crowd, rule: fixed_outdegree, outdegree: 113, weight: 0.3, delay: "uniform(1, 9)"}
  - {from: crowd, to: slow, rule: fixed_indegree, indegree: 17, weight: "normal(90 pA, 20 pA)", delay: 3}
  - {from: wavy, to: wavy, rule: fixed_indegree, indegree: 5, weight: "uniform(-2, 2)", delay: 5}
`

// side is a backend with a number of threads.
type side struct {
	name    string
	threads int
}

func (s side) String() string { return fmt.Sprintf("%s ×%d", s.name, s.threads) }

// open makes an engine.
func (s side) open(t *testing.T, c *connectome.Connectome) (*engine.Engine, func()) {
	t.Helper()
	b, err := backend.Open(s.name, c, backend.Options{Threads: s.threads})
	require.NoError(t, err)
	return engine.New(c, b, engine.Options{}), func() { require.NoError(t, b.Close()) }
}

// TestR6Restart saves every 25 of 100 bursts, of 500 where slow tests are asked for, on each backend and number of threads, and goes on from the files on each: one
// digest and one last state.
func TestR6Restart(t *testing.T) {
	bursts, every := uint64(slow.Times(100, 500)), uint64(25)
	if testing.Short() {
		bursts, every = 60, 25
	}
	g, err := genome.Parse("wide.yaml", []byte(wide), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	sides := []side{{"cpu", 1}, {"cpu", 2}, {"cpu", 8}}
	if os.Getenv("BURST_REQUIRE_CUDA") != "" {
		sides = append(sides, side{"cuda", 1})
	}
	ctx := context.Background()
	digest, state, spikes := uint64(0), uint64(0), uint64(0)
	var last engine.State
	pairs, resumed := 0, 0
	for i, from := range append([]side{{"reference", 1}}, sides...) {
		dir := t.TempDir()
		e, done := from.open(t, c)
		saved := map[uint64]string{}
		for e.Number() < bursts {
			require.NoError(t, e.Run(ctx, min(every, bursts-e.Number())))
			cp := &checkpoint.Checkpoint{Connectome: c.Hash(), Seed: c.Seed, RunSeed: c.RunSeed}
			require.NoError(t, e.State(&cp.State))
			saved[e.Number()] = fmt.Sprintf("%s/%d", dir, e.Number())
			require.NoError(t, checkpoint.SaveAs(checkpoint.OS{}, saved[e.Number()], cp))
		}
		require.NoError(t, e.State(&last))
		if i == 0 {
			digest, state, spikes = e.Digest(), last.Hash(), e.Spikes()
			require.Greater(t, spikes, bursts*10)
		}
		require.Equal(t, digest, e.Digest(), "%v", from)
		require.Equal(t, state, last.Hash(), "%v", from)
		done()
		for k, to := range sides {
			pairs++
			for number, path := range saved {
				if number == bursts || !testing.Short() && int(number/every)%7 != (3*i+k)%7 && os.Getenv("BURST_SOAK") == "" {
					continue // each pair takes a share of the files; all of them in the long run
				}
				cp, err := checkpoint.Read(checkpoint.OS{}, path)
				require.NoError(t, err)
				e, done := to.open(t, c)
				require.NoError(t, e.Restore(&cp.State))
				require.NoError(t, e.Run(ctx, bursts-number))
				require.NoError(t, e.State(&last))
				require.Equal(t, digest, e.Digest(), "%v at burst %d, %v", from, number, to)
				require.Equal(t, state, last.Hash(), "%v at burst %d, %v", from, number, to)
				resumed++
				done()
			}
		}
	}
	t.Logf("R6: %d restarts over %d pairs of backends and threads (reference, %v): one digest, %016x", resumed, pairs, sides, digest)
}

// gate is a disk on which nothing is written while it is shut.
type gate struct {
	checkpoint.OS
	opened  chan struct{}
	patient *time.Timer // opens it when nobody does
	tired   atomic.Bool // it had to
}

// shut holds writers up, but not for ever.
func (g *gate) shut() {
	opened := make(chan struct{})
	g.opened = opened
	g.patient = time.AfterFunc(time.Minute, func() {
		g.tired.Store(true)
		close(opened)
	})
}

// open lets writers through.
func (g *gate) open() {
	if g.patient.Stop() {
		close(g.opened)
	}
}

func (g *gate) Create(path string) (checkpoint.File, error) {
	<-g.opened
	return g.OS.Create(path)
}

// TestLargeState saves a state of 24 MB, of 96 MB or a gigabyte in longer runs, on a disk that writes nothing until the run has gone on:
// only the copy stops the run, and what is read back is the state that was copied.
func TestLargeState(t *testing.T) {
	slow.Short(t)
	if testing.Short() {
		t.Skip("writes a large file")
	}
	n := slow.Times(2_000_000, 8_000_000)
	if os.Getenv("BURST_SOAK") != "" {
		n = 83_000_000
	}
	live := engine.State{V: make([]float32, n), Refractory: make([]uint16, n), Count: make([]uint16, n), More: [][]float32{make([]float32, n)}, Queues: [][]uint32{{}}}
	dir := t.TempDir()
	disk := &gate{}
	s := checkpoint.NewSaver(disk, dir, checkpoint.Checkpoint{})
	for i := range 2 {
		live.Number = uint64(i)
		for k := 0; k < n; k += 97 {
			live.V[k], live.More[0][k], live.Refractory[k], live.Count[k] = float32(k+i), float32(k-i), uint16(k+i), uint16(k*3)
		}
		start := time.Now()
		next, err := s.Next()
		require.NoError(t, err)
		copyState(&next.State, &live)
		copied := time.Since(start)
		want := next.State.Hash()
		disk.shut()
		s.Save(func() ([]checkpoint.Recording, error) { return nil, nil })
		require.False(t, disk.tired.Load(), "Save waits for the disk")
		live.V[97], live.Count[n-1] = -1, 77 // the run goes on
		writing := time.Now()
		disk.open()
		require.NoError(t, s.Close())
		took := time.Since(writing)
		got, err := checkpoint.Read(checkpoint.OS{}, filepath.Join(dir, checkpoint.Name(uint64(i))))
		require.NoError(t, err)
		require.Equal(t, want, got.State.Hash(), "the state as it was when it was copied")
		t.Logf("R1: a state of %d MB: copied in %v, then the run goes on; written in %v (%.0f MB/s)", 12*n/1_000_000,
			copied.Round(time.Millisecond), took.Round(time.Millisecond), 12*float64(n)/1e6/took.Seconds())
	}
	bursts, err := checkpoint.List(checkpoint.OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, []uint64{0, 1}, bursts)
}

// copyState makes to equal from, in the memory that to has.
func copyState(to, from *engine.State) {
	to.Number = from.Number
	to.V, to.Refractory, to.Count = append(to.V[:0], from.V...), append(to.Refractory[:0], from.Refractory...), append(to.Count[:0], from.Count...)
	if to.More == nil {
		to.More, to.Queues = make([][]float32, 1), make([][]uint32, 1)
	}
	to.More[0] = append(to.More[0][:0], from.More[0]...)
}
