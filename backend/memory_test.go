package backend

import (
	"runtime"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/heap"

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
			need := hostMemory(name, c, o)
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
		need += hostMemory("cpu", c.Cut(connectome.Part{Index: i, Of: o.Parts}), o)
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

// tracked notes into which memory the state of a backend is read.
type tracked struct {
	engine.Backend
	into map[*float32]uint64 // bytes of each copy
}

func (b *tracked) ReadState(s *engine.State) error {
	err := b.Backend.ReadState(s)
	b.into[&s.V[0]] = arrays(s)
	return err
}

// watched is one that can be looked at without reading its state, as those in the host's memory.
type watched struct {
	*tracked
	engine.Watcher
}

// arrays is the bytes of a state, fire queues left out.
func arrays(s *engine.State) uint64 {
	sum := uint64(4*len(s.V) + 2*len(s.Refractory) + 2*len(s.Count))
	for _, more := range s.More {
		sum += uint64(4 * len(more))
	}
	return sum
}

// TestMemoryCountsEveryCopyOfTheState: what hostMemory adds to Footprint are the copies into which an engine that runs long enough, and
// a checkpoint, have a backend's state read; of a group of devices the one that it puts together from its parts, too.
func TestMemoryCountsEveryCopyOfTheState(t *testing.T) {
	g, err := genome.Parse("light.yaml", []byte(strings.Replace(heavy, "17011", "131", 1)), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	one := uint64(131 * (4 + 2 + 2 + 2*4)) // lif_psc_exp has two variables beside V
	for _, k := range []struct {
		name   string
		o      Options
		opened string // what stands in
		copies int
		more   uint64 // copies of the backend's own that Footprint leaves out
	}{
		{"cpu", Options{Threads: 2}, "cpu", 2, 0},
		{"cpu", Options{Devices: []int{0, 1}}, "cpu", 2, 0}, // where these could not be taken
		{"reference", Options{}, "reference", 2, 0},
		{"cuda", Options{}, "blind", 3, 0},
		{"cuda", Options{Devices: []int{3}}, "blind", 3, 0},
		{"cuda", Options{Devices: []int{0, 1}}, "blind", 3, 1},
		{"cuda", Options{Devices: []int{0, 1, 2, 3}}, "blind", 3, 1},
	} {
		opened := k.opened
		if opened == "blind" {
			opened = "cpu"
		}
		b, err := Open(opened, c, Options{})
		require.NoError(t, err)
		seen := &tracked{b, map[*float32]uint64{}}
		run := engine.Backend(seen)
		if k.opened != "blind" {
			run = watched{seen, b.(engine.Watcher)}
		}
		var saved engine.State // of a checkpoint
		e := engine.New(c, run, engine.Options{})
		for range 3 {
			require.NoError(t, e.Run(t.Context(), 8192))
			require.NoError(t, e.State(&saved))
		}
		require.NoError(t, b.Close())
		require.Len(t, seen.into, k.copies, "%s", k.name)
		taken := k.more * one
		for _, size := range seen.into {
			require.Equal(t, one, size)
			taken += size
		}
		host, _ := Footprint(k.name, c, k.o)
		require.Equal(t, taken, hostMemory(k.name, c, k.o)-host, "%s %v", k.name, k.o.Devices)
	}
}

// TestReferenceTakesItsFootprint: a state and the sums of the ports, which are two a neuron here.
func TestReferenceTakesItsFootprint(t *testing.T) {
	g, err := genome.Parse("wide.yaml", []byte(strings.Replace(strings.Replace(heavy, "17011", "200003", 1), "37", "1", 1)), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	host, device := Footprint("reference", c, Options{})
	require.EqualValues(t, 200_003*(4+2+2+2*4+2*4), host)
	require.Zero(t, device)
	before := heap.Live()
	b, err := Open("reference", c, Options{})
	require.NoError(t, err)
	require.InEpsilon(t, host, heap.Live()-before, 0.02)
	require.NoError(t, b.Close())
	runtime.KeepAlive(c)
}

// TestAtMostIsABound of Memory, whatever the backend and the network.
func TestAtMostIsABound(t *testing.T) {
	heavy := strings.Replace(heavy, "17011", "1013", 1)
	large := "burst: v1\nmodels: [{name: wide, state: {v: 0, a: 0, b: 0, c: 0, d: 0, e: 0, f: 0, g: 0, h: 0}, update: [v = v + 1], threshold: v > 9}]\n" +
		"areas: [{name: a, neurons: 1000, model: wide}]\n" // states, and hardly anything else
	for _, text := range []string{text, large, heavy, strings.Replace(heavy, "indegree: 37", "indegree: 1", 1), strings.Replace(heavy, `"uniform(1, 9)"`, "1", 1)} {
		g, err := genome.Parse("some.yaml", []byte(text), nil)
		require.NoError(t, err)
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err)
		for _, o := range []Options{{Threads: 1}, {Threads: 4}, {Devices: []int{0, 1, 2}}, {Want: engine.Want{FCL: true}}} {
			for _, name := range Names() {
				require.GreaterOrEqual(t, atMost(name, c, o), hostMemory(name, c, o), "%s, %+v", name, o)
			}
		}
	}
}
