package cuda

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// peakArea is where the networks of TestPeakMemory are.
const peakArea = "burst: v1\nscale: 1000\nareas:\n  - {name: a, size: [50, 60, 1], extent: [500 um, 600 um, 0 um], periodic: true, model: lif}\nprojections:\n"

// TestPeakMemory: while it builds, a device holds at most 1.15 times what a run then holds there.
func TestPeakMemory(t *testing.T) {
	slow.Short(t)
	const many = `  - {from: a, to: a, rule: fixed_total_number, count: 1200000, weight: "normal(87.8 mV, 8.78 mV)", delay: `
	for name, one := range map[string]struct {
		projection string
		devices    int
		placed     bool
	}{
		"labels":              {"  - {from: a, to: a, rule: fixed_outdegree, outdegree: 400, weight: 0.1 mV, delay: 1 ms}", 1, false},
		"labels and delays":   {`  - {from: a, to: a, rule: fixed_outdegree, outdegree: 400, weight: 0.1 mV, delay: "uniform(1 ms, 20 ms)"}`, 1, false},
		"by target":           {`  - {from: a, to: a, rule: fixed_indegree, indegree: 400, weight: 0.1 mV, delay: 1 ms}`, 1, false},
		"drawn":               {many + `"normal(1.5 ms, 0.75 ms) >= 1 ms"}`, 1, false},
		"drawn in two parts":  {many + `"normal(1.5 ms, 0.75 ms) >= 1 ms"}`, 2, false},
		"delays with weights": {many + `"normal(150 ms, 75 ms) >= 1 ms"}`, 1, false},
		"delays of a byte":    {many + `"normal(150 ms, 15 ms)"}`, 1, false},
		"without multapses":   {`  - {from: a, to: a, rule: fixed_indegree, indegree: 400, multapses: false, weight: 0.1 mV, delay: "uniform(1 ms, 20 ms)"}`, 1, false},
		"near":                {`  - {from: a, to: a, rule: distance, p: "0.9*exp(-d/(150 um))", weight: 0.1 mV, delay: "1 ms + d/(0.1 m/s)"}`, 1, false},
		"near, by target":     {`  - {from: a, to: a, rule: fixed_indegree, indegree: 400, kernel: "exp(-d/(150 um))", weight: 0.1 mV, delay: 1 ms}`, 1, false},
		"places":              {"  - {from: a, to: a, rule: fixed_outdegree, outdegree: 400, weight: 0.1 mV, delay: 1 ms}", 1, true},
		"places, by target":   {"  - {from: a, to: a, rule: fixed_indegree, indegree: 400, weight: 0.1 mV, delay: 5 ms}", 1, true},
		"places, near":        {`  - {from: a, to: a, rule: distance, p: "0.9*exp(-d/(150 um))", weight: 0.1 mV, delay: 1 ms}`, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			h, tune := devices(t, int64(one.devices)), defaults
			h.Control("multiprocessors", 4)
			if one.placed {
				tune.clusterLeast, tune.clusterDelayed = 1, 1
			}
			list := []int{0, 1}[:one.devices]
			m := NewMaker(list)
			defer func() { require.NoError(t, m.Close()) }()
			b := openBuilt(t, parsed(t, peakArea+one.projection+"\n"), list, m, tune)
			defer func() { require.NoError(t, b.Close()) }()
			most, held := h.Count("most_bytes"), h.Count("bytes")
			t.Logf("%d bytes at most, %d at last: %.3f", most, held, float64(most)/float64(held))
			if one.placed {
				require.True(t, b.(*backend).rows.placed())
			}
			require.LessOrEqual(t, float64(most), 1.15*float64(held))
		})
	}
}

// openBuilt opens a network that devices build.
func openBuilt(t *testing.T, g *genome.Genome, list []int, m *Maker, tune tuning) engine.Backend {
	parts, err := connectome.NewParts(g, len(list), connectome.Options{Maker: m})
	require.NoError(t, err)
	b, err := openParts(parts, list, m, engine.Want{}, tune)
	require.NoError(t, err)
	return b
}

// millionRows are 10^9 synapses in rows of places; millionNear are drawn by a kernel.
const (
	millionRows = "burst: v1\nareas:\n  - {name: a, neurons: 1000000, model: lif}\nprojections:\n  - {from: a, to: a, rule: fixed_outdegree, outdegree: 1000, weight: 0.1 mV, delay: 1 ms}\n"
	millionNear = `burst: v1
timestep: 0.1 ms
areas:
  - {name: a, size: [1000, 1000, 1], extent: [7.5 mm, 7.5 mm, 0 um], periodic: true, model: lif}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 1000, kernel: "exp(-d*d/(2*(150 um)*(150 um)))", weight: 0.1 mV, delay: "1 ms + d/(0.3 m/s)"}
`
)

// TestPeakMemoryOnDevice measures that on a GPU, where only the driver's count is to be had, which is looked at as often as it can be told.
// The context is not counted, but what it takes for kernels is. The count is of the whole GPU: nothing else may use it meanwhile.
func TestPeakMemoryOnDevice(t *testing.T) {
	c := cudatest.Device(t)
	used := func() uint64 {
		free, total, err := c.MemoryInfo()
		require.NoError(t, err)
		return total - free
	}
	for _, name := range []string{"brunel-c", "burst-1m", "potjans-diesmann", millionRows, millionNear} {
		text := []byte(name)
		if len(name) < 40 {
			var err error
			text, err = genomes.Text(name)
			require.NoError(t, err)
		}
		g, err := genome.Parse("peak.yaml", text, genomes.Open)
		require.NoError(t, err)
		require.NoError(t, c.Enter())
		before, most := used(), uint64(0)
		c.Leave()
		stop, watched := make(chan struct{}), sync.WaitGroup{}
		watched.Go(func() {
			require.NoError(t, c.Enter())
			defer c.Leave()
			for {
				most = max(most, used())
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Microsecond):
				}
			}
		})
		m := NewMaker([]int{0})
		b := openBuilt(t, g, []int{0}, m, defaults)
		close(stop)
		watched.Wait()
		require.NoError(t, m.Close())
		require.NoError(t, c.Enter())
		after := used()
		c.Leave()
		require.Less(t, before, after, "something else gave back memory of this GPU meanwhile")
		held := after - before
		require.NoError(t, b.Close())
		t.Logf("%.20q: %d bytes at most, %d at last: %.3f", name, most-before, held, float64(most-before)/float64(held))
		require.LessOrEqual(t, float64(most-before), 1.15*float64(held), name)
	}
}
