package backend

import (
	"runtime"
	"testing"

	"burst/connectome"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

// heavy is a network whose synapses, of several delays, the cpu backend copies.
const heavy = `burst: v1
areas: [{name: a, neurons: 17011, model: lif_psc_exp, params: {C: 250 pF, tau: 10 ms, tau_syn: 2 ms, rest: -65 mV, reset: -65 mV, threshold: -50 mV, refractory: 2 ms}}]
projections: [{from: a, to: a, rule: fixed_indegree, indegree: 37, weight: "normal(50 pA, 20 pA)", delay: "uniform(1, 9)"}]
`

// TestMemoryIsRefusedBeforeItIsTaken: at the limit a backend opens, a byte below it is refused with what it needs, what is
// allowed and a way out, before anything large is allocated.
func TestMemoryIsRefusedBeforeItIsTaken(t *testing.T) {
	g, err := genome.Parse("heavy.yaml", []byte(heavy), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	for _, o := range []Options{{Threads: 3}, {Threads: 1}, {}} {
		for _, name := range []string{"cpu", "reference"} {
			need := Memory(name, c, o)
			o.MaxBytes = c.Bytes() + need
			b, err := Open(name, c, o)
			require.NoError(t, err)
			require.NoError(t, b.Close())
			o.MaxBytes--
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = Open(name, c, o)
			runtime.ReadMemStats(&after)
			var refused *MemoryError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, MemoryError{Backend: name, Need: need, Network: c.Bytes(), Limit: o.MaxBytes, Cure: refused.Cure}, *refused)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, need/2)
			switch {
			case name == "cpu" && o.Threads == 3:
				require.ErrorContains(t, err, "; with --threads 1 it needs ")
			case name == "cpu" && o.Threads == 1:
				require.ErrorContains(t, err, "; --backend reference copies no synapses and needs ")
			case name == "reference":
				require.ErrorContains(t, err, "; make the network smaller, raise --max-memory, or ")
			}
		}
	}
	b, err := Open("cpu", c, Options{})
	require.NoError(t, err, "without a limit, what the machine has free")
	require.NoError(t, b.Close())
}

// TestPartsShareTheMemory: parts of one process are in memory together, and beside the whole.
func TestPartsShareTheMemory(t *testing.T) {
	g, err := genome.Parse("heavy.yaml", []byte(heavy), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	o := Options{Threads: 1, Parts: 3}
	network, need := c.Bytes()+9*c.Synapses()+3*8*uint64(c.Neurons+1), uint64(0)
	for i := range o.Parts {
		need += Memory("cpu", c.Cut(connectome.Part{Index: i, Of: o.Parts}), o)
	}
	o.MaxBytes = network + need
	b, err := Open("cpu", c, o)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	var refused *MemoryError
	o.MaxBytes--
	_, err = Open("cpu", c, o)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, MemoryError{Backend: "cpu", Need: need, Network: network, Limit: o.MaxBytes, Cure: fewer}, *refused)
	o.MaxBytes = network - 1
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Open("cpu", c, o)
	runtime.ReadMemStats(&after)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, MemoryError{Backend: "cpu", Need: network - c.Bytes(), Network: c.Bytes(), Limit: o.MaxBytes, Cure: fewer}, *refused)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "refused before anything is copied")
}
