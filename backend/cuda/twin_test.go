package cuda

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// twinnedRows has rows of one weight and one delay.
const twinnedRows = `
areas:
  - {name: a, neurons: 300, model: lif, drive: {poisson: {rate: 9000 Hz, weight: 0.5 mV}}}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: 2}
`

// twinned has what rows may be: of one delay or several, of places, and driven ones, and beside synapses that learn.
var twinned = map[string]string{
	"delays": `
areas:
  - {name: a, neurons: 300, threshold: 1.5, leak: 0.3, drive: {poisson: {rate: 300 Hz, weight: 1.2}}}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: "normal(0.1, 0.02)", delay: "uniform(1, 9)"}
`,
	"one delay":             twinnedRows,
	"places":                twinnedRows,
	"places, state outside": twinnedRows,
	"waiting": `
areas:
  - {name: a, neurons: 300, model: lif, drive: {poisson: {rate: 9000 Hz, weight: 0.5 mV}}}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: "normal(0.1 mV, 0.02 mV)", delay: "uniform(1, 9)"}
`,
	"event": `
timestep: 0.1 ms
areas:
  - {name: a, neurons: 300, model: lif_event, drive: [{constant: 19 mV}, {poisson: {rate: 9000 Hz, weight: 0.5 mV}}]}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: 0.2 ms}
`,
	"driven": `
areas:
  - {name: eye, size: [20, 9, 1], threshold: 1.5, leak: 0.25, psp_max: 400, drive: [{poisson: {rate: 200 Hz, weight: 0.75}}]}
projections:
  - {from: eye, to: eye, rule: fixed_indegree, indegree: 5, weight: 0.05}
`,
	"learning": `
areas:
  - {name: a, neurons: 60, threshold: 1.5, leak: 0.3, drive: {poisson: {rate: 300 Hz, weight: 1.2}}}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 9, weight: 0.1, delay: 2, plasticity: {rule: stdp, tau_plus: 20 ms, tau_minus: 20 ms, lambda: 0.1, alpha: 1, w_max: 1}}
`,
}

// TestTwins: twins with run seeds of their own have the digests of the reference, beside each other and after the first is closed, and the
// device holds the rows once.
func TestTwins(t *testing.T) {
	slow.Short(t)
	for name, text := range twinned {
		tune := defaults
		switch name {
		case "places":
			tune = clustered(1)
		case "places, state outside":
			tune = clustered(1)
			tune.outside = 1
		case "waiting":
			rowsWait(&tune, 5, 1<<10)
		}
		t.Run(name, func(t *testing.T) {
			h := cudatest.Host(t)
			g, err := genome.Parse("twins.yaml", []byte("burst: v1\nseed: 5"+text), nil)
			require.NoError(t, err)
			c, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			held := h.Count("held")
			opened, err := open(c, Options{}, tune)
			require.NoError(t, err)
			first := opened.(*backend)
			rows := int64(0)
			for _, n := range first.plan.bytes[:lastOfRows+1] {
				rows += int64(n)
			}
			require.Positive(t, rows)
			require.Equal(t, strings.HasPrefix(name, "places"), first.rows.placed())
			digest := func(b engine.Backend, c *connectome.Connectome) uint64 {
				e := engine.New(c, b, engine.Options{})
				require.NoError(t, e.Run(context.Background(), 40))
				return e.Digest()
			}
			const twins = 3
			var list [twins]engine.Backend
			var seeded [twins]*connectome.Connectome
			var want, got [twins]uint64
			for i := range list {
				seeded[i] = c.Reseeded(uint64(100 + i))
				before := h.Count("bytes")
				list[i], err = first.Twin(seeded[i])
				require.NoError(t, err)
				require.LessOrEqual(t, h.Count("bytes")-before, int64(first.plan.total())-rows, "rows are not taken again")
				oracle, err := reference.Open(seeded[i], engine.Want{})
				require.NoError(t, err)
				want[i] = digest(oracle, seeded[i])
			}
			require.NotEqual(t, want[0], want[1])
			require.NoError(t, first.Close())
			var wg sync.WaitGroup
			for i := range list {
				wg.Go(func() { got[i] = digest(list[i], seeded[i]) })
			}
			wg.Wait()
			require.Equal(t, want, got)
			for _, b := range list {
				require.NoError(t, b.Close())
			}
			require.Equal(t, held, h.Count("held"), "everything is freed")
		})
	}
}

// TestBeside: backends that share a device have a part of its multiprocessors each, and the digests of the reference beside each other.
func TestBeside(t *testing.T) {
	slow.Short(t)
	cudatest.Host(t)
	for _, beside := range []int{0, 1, 2, 3, 32} {
		g, err := genome.Parse("beside.yaml", []byte("burst: v1\nseed: 5"+twinned["one delay"]), nil)
		require.NoError(t, err)
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err)
		whole, err := Open(c, Options{})
		require.NoError(t, err)
		first, err := Open(c, Options{Beside: beside})
		require.NoError(t, err)
		part := whole.(*backend).sms
		if beside > 1 {
			part = max(1, part/beside)
		}
		var digests [2]uint64
		var wg sync.WaitGroup
		for i := range digests {
			seeded := c.Reseeded(uint64(100 + i))
			twin, err := first.(*backend).Twin(seeded)
			require.NoError(t, err)
			require.EqualValues(t, part, twin.(*backend).batch.blocks, "%d beside each other", beside)
			wg.Go(func() {
				e := engine.New(seeded, twin, engine.Options{})
				if err := e.Run(context.Background(), 40); err == nil {
					digests[i] = e.Digest()
				}
				_ = twin.Close()
			})
		}
		wg.Wait()
		for i, got := range digests {
			oracle, err := reference.Open(c.Reseeded(uint64(100+i)), engine.Want{})
			require.NoError(t, err)
			e := engine.New(c.Reseeded(uint64(100+i)), oracle, engine.Options{})
			require.NoError(t, e.Run(context.Background(), 40))
			require.Equal(t, e.Digest(), got, "%d beside each other", beside)
		}
		require.NoError(t, whole.Close())
		require.NoError(t, first.Close())
	}
}

// TestTwinsAgain: a twin that was closed is used for the next run seed, with its bits and without memory or code taken anew; one that has
// failed is not, and none outlives the first backend and those that are still used.
func TestTwinsAgain(t *testing.T) {
	h := cudatest.Host(t)
	for _, name := range []string{"event", "learning", "driven", "places"} {
		t.Run(name, func(t *testing.T) {
			tune := defaults
			if name == "places" {
				tune = clustered(1)
			}
			g, err := genome.Parse("twins.yaml", []byte("burst: v1\nseed: 5"+twinned[name]), nil)
			require.NoError(t, err)
			c, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			held := h.Count("held")
			first, err := open(c, Options{}, tune)
			require.NoError(t, err)
			twin := func(seed uint64) engine.Backend {
				b, err := first.(*backend).Twin(c.Reseeded(seed))
				require.NoError(t, err)
				return b
			}
			like := func(b engine.Backend, seed uint64) {
				oracle, err := reference.Open(c.Reseeded(seed), engine.Want{})
				require.NoError(t, err)
				var digests [2]uint64
				for i, on := range []engine.Backend{b, oracle} {
					e := engine.New(c.Reseeded(seed), on, engine.Options{})
					require.NoError(t, e.Run(context.Background(), 40))
					digests[i] = e.Digest()
				}
				require.Equal(t, digests[1], digests[0], "seed %d", seed)
			}
			one := twin(101)
			like(one, 101)
			require.NoError(t, one.Close())
			before := h.Count("held")
			again := twin(102)
			require.Same(t, one, again)
			require.Equal(t, before, h.Count("held"), "nothing is taken anew")
			other, failed := twin(103), twin(104)
			require.NotSame(t, one, other)
			like(again, 102)
			like(other, 103)
			failed.(*backend).fault = errors.New("planted")
			require.NoError(t, failed.Close())
			require.NoError(t, again.Close())
			require.Same(t, one, twin(105), "a twin that failed is not kept")
			require.NoError(t, one.Close())
			require.NoError(t, first.Close())
			require.NoError(t, other.WriteState(engine.NewState(c.Reseeded(103))))
			like(other, 103)
			require.NoError(t, other.Close())
			require.Equal(t, held, h.Count("held"), "everything is freed")
		})
	}
}

// TestQueues: more than the usual hardware queues are asked for where more backends want them, and the user's number stays.
func TestQueues(t *testing.T) {
	const variable = "CUDA_DEVICE_MAX_CONNECTIONS"
	t.Setenv(variable, "4") // which also puts back what was there
	AskForQueues(32)
	require.Equal(t, "4", os.Getenv(variable))
	require.NoError(t, os.Unsetenv(variable))
	AskForQueues(8)
	require.Empty(t, os.Getenv(variable))
	AskForQueues(9)
	require.Equal(t, "9", os.Getenv(variable))
}

// TestNumberBeside: small networks share a device, large ones have it by turns, those that change at inputs alone share it with more, and
// short runs with no more than there are queues without asking.
func TestNumberBeside(t *testing.T) {
	const long = 1 << 40
	for _, v := range []struct {
		event, others uint64
		bursts        uint64
		want          int
	}{
		{0, 0, long, 32}, {0, 12_500, long, 32}, {0, 32_768, long, 32}, {0, 140_000, long, 8}, {0, 500_000, long, 2}, {0, 2_000_000, long, 1},
		{140_000, 1000, long, 16}, {1_000_000, 0, long, 2}, {140_000, 1000, 1_599_999, 15}, {140_000, 1000, 0, 8}, {0, 12_500, 4_000_000, 28}, {0, 140_000, 0, 8}, {0, 500_000, 0, 2},
	} {
		g := &genome.Genome{Areas: []genome.Area{{Model: genome.ModelNamed("lif_event"), Size: [3]uint64{v.event, 1, 1}, PerVoxel: 1}, {Model: genome.ModelNamed("lif"), Size: [3]uint64{v.others, 1, 1}, PerVoxel: 1}}}
		require.Equal(t, v.want, Beside(g, v.bursts), "%+v", v)
	}
}
