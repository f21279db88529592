package genomes_test

import (
	"context"
	"runtime"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestR7OneDigest runs seven examples again and again, with 1 to 16 threads on 1 and 2 processors: one digest each.
func TestR7OneDigest(t *testing.T) {
	names := map[string]uint64{"quickstart": 240, "c-elegans": 300, "izhikevich-2003": 200, "poisson-lif": 200, "stdp-song": 3000, "vogels-abbott-cuba": 100, "burst-100k-feagi": 30}
	again := slow.Times(1, 2)
	counts := []int{1, 2, 3, 8, 16}
	if !slow.Asked() {
		delete(names, "burst-100k-feagi")
		delete(names, "vogels-abbott-cuba")
		counts = []int{1, 3, 16}
	}
	if *long {
		again = 20
	} else if testing.Short() {
		names, again = map[string]uint64{"quickstart": 240, "izhikevich-2003": 100}, 1
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runs := 0
	for name, bursts := range names {
		text, err := genomes.Text(name)
		require.NoError(t, err)
		g, err := genome.Parse(name+".yaml", text, genomes.Open)
		require.NoError(t, err)
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err)
		want := uint64(0)
		for _, threads := range counts {
			for procs := 1; procs <= 2; procs++ {
				runtime.GOMAXPROCS(procs)
				b, err := backend.Open("cpu", c, backend.Options{Threads: threads})
				require.NoError(t, err)
				first := engine.NewState(c)
				for i := range again {
					require.NoError(t, b.WriteState(first))
					e := engine.New(c, b, engine.Options{})
					require.NoError(t, e.Run(context.Background(), bursts))
					require.NotZero(t, e.Spikes(), name)
					if want == 0 {
						want = e.Digest()
					}
					require.Equal(t, want, e.Digest(), "%s, %d threads on %d processors, run %d", name, threads, procs, i)
					runs++
				}
				require.NoError(t, b.Close())
			}
		}
	}
	t.Logf("R7: %d runs of %d examples at %v threads: one digest an example", runs, len(names), counts)
}
