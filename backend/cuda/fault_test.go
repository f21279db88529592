package cuda

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
)

// areaOf is one of a model with one port, whose ports have the numbers of its neurons, with some constants.
func areaOf(model string, neurons connectome.Span, constants map[string]float32) connectome.Area {
	a := enginetest.Of(model, neurons.Count)
	a.Name, a.Neurons, a.Ports = model, neurons, neurons
	for name, x := range constants {
		a.Constant(name).Const = x
	}
	return a
}

// small is a ring of 37 feagi neurons with two delays and a lif area that the ring drives.
func small() *connectome.Connectome {
	const ring, lif = 37, 5
	c := &connectome.Connectome{
		Name: "small", Seed: 11, RunSeed: 12, Timestep: 0.3, Scale: 700, Neurons: ring + lif, Ports: ring + lif, MaxDelay: 3,
		Areas: []connectome.Area{
			areaOf("feagi", connectome.Span{Count: ring}, map[string]float32{"threshold": 0.9, "threshold_limit": 31, "keep": 0.7, "refractory": 1, "fire_limit": 4, "snooze": 2}),
			areaOf("lif", connectome.Span{First: ring, Count: lif}, map[string]float32{"em1": -0.03, "threshold": 1.7, "reset": -0.4, "refractory": 3}),
		},
	}
	c.Areas[0].Chance.Const = 4100000000
	c.Areas[0].Drives = []connectome.Drive{{Kind: connectome.Poisson, Until: 1 << 40, Amount: 350, Counts: []uint32{3000000000, 4200000000}}}
	c.Areas[1].Drives = []connectome.Drive{{Kind: connectome.Term, Until: 1 << 40, Term: 0.013}}
	for n := range uint32(ring) {
		c.Row = append(c.Row, uint64(len(c.Target)))
		c.Target = append(c.Target, (n+1)%ring, ring+n%lif)
		c.Weight = append(c.Weight, 900, 333)
		c.Delay.Short = append(c.Delay.Short, 1, 3)
	}
	for range lif + 1 {
		c.Row = append(c.Row, uint64(len(c.Target)))
	}
	return c
}

// TestFailedAllocations lets every allocation of Open fail in turn: the error says so, nothing stays behind, and the next
// Open works.
func TestFailedAllocations(t *testing.T) {
	h := cudatest.Host(t)
	b, err := Open(small(), Options{Want: engine.Want{FCL: true}})
	require.NoError(t, err)
	total := h.Count("allocations")
	require.NoError(t, b.Close())
	require.Zero(t, h.Count("held"))
	require.Greater(t, total, int64(15))

	for k := int64(1); k <= total; k++ {
		h.Control("fail_alloc", k)
		_, err := Open(small(), Options{Want: engine.Want{FCL: true}})
		require.ErrorContains(t, err, "CUDA_ERROR_OUT_OF_MEMORY", "allocation %d of %d", k, total)
		require.NotErrorIs(t, err, engine.ErrUnavailable)
		require.False(t, driver.Sticky(err))
		require.Zero(t, h.Count("held"), "allocation %d of %d", k, total)
	}

	h.Control("fail_alloc", 0)
	b, err = Open(small(), Options{})
	require.NoError(t, err)
	require.NoError(t, b.Close())
}

// TestMemoryIsCheckedFirst refuses a network that does not fit before it takes anything.
func TestMemoryIsCheckedFirst(t *testing.T) {
	h := cudatest.Host(t)
	need := DeviceBytes(small(), engine.Want{})
	h.Control("free", int64(need)-1)
	_, err := Open(small(), Options{})
	var m *MemoryError
	require.ErrorAs(t, err, &m)
	require.Equal(t, MemoryError{Device: 0, Need: need, Free: need - 1}, *m)
	require.NotErrorIs(t, err, engine.ErrUnavailable)
	require.Zero(t, h.Count("allocations"))
	require.Zero(t, h.Count("held"))

	h.Control("free", int64(need))
	b, err := Open(small(), Options{})
	require.NoError(t, err)
	require.LessOrEqual(t, uint64(h.Count("bytes")), need, "no more is taken than was planned")
	require.NoError(t, b.Close())
}

// TestMemoryIsWhatOpenTakes compares what is foretold, on the device and page-locked on the host, with what a stand-in of the
// usual size counts, within 5 %.
func TestMemoryIsWhatOpenTakes(t *testing.T) {
	h := cudatest.Host(t)
	c := uneven(20_011, 31, 17, 3)
	for _, w := range []engine.Want{{}, {FCL: true}, {Values: []engine.Probe{{Neuron: 3}, {Neuron: 19_999}}}} {
		b, err := Open(c, Options{Want: w})
		require.NoError(t, err)
		require.InEpsilon(t, h.Count("bytes"), DeviceBytes(c, w), 0.05)
		require.InEpsilon(t, h.Count("host_bytes"), HostBytes(c, w), 0.05)
		require.NoError(t, b.Close())
	}
}

// TestFaultPoisons lets the n-th launch touch an illegal address: that burst fails, and every call after it with the
// first cause.
func TestFaultPoisons(t *testing.T) {
	plain := defaults
	plain.plain = true
	for _, v := range []struct {
		tune tuning
		n    int64
	}{{plain, 1}, {plain, 5}, {plain, 9}, {defaults, 1}, {defaults, 2}, {defaults, 4}} {
		n := v.n
		t.Run(fmt.Sprintf("launch %d, plain kernels %v", n, v.tune.plain), func(t *testing.T) {
			h := cudatest.Host(t)
			c := small()
			b, err := open(c, Options{}, v.tune)
			require.NoError(t, err)
			h.Control("fail_launch", n)
			var out engine.Burst
			var first error
			for range 4 {
				if first = b.Step(nil, &out); first != nil {
					break
				}
			}
			require.ErrorContains(t, first, "CUDA_ERROR_ILLEGAL_ADDRESS")
			require.ErrorContains(t, first, "start a new process")
			require.True(t, driver.Sticky(first))

			require.Equal(t, first, b.Step(nil, &out))
			require.Equal(t, first, b.ReadState(&engine.State{}))
			require.Equal(t, first, b.WriteState(engine.NewState(c)), "a new state does not mend a lost context")
			require.Equal(t, first, b.Close())
		})
	}
}

// TestFailureWithoutFault lets a burst fail while the context stays whole: the state is unknown until it is replaced.
func TestFailureWithoutFault(t *testing.T) {
	t.Run("plain kernels", func(t *testing.T) { failsWithoutFault(t, true) })
	t.Run("launches", func(t *testing.T) { failsWithoutFault(t, false) })
}

func failsWithoutFault(t *testing.T, plain bool) {
	cudatest.Host(t)
	c, tune := small(), defaults
	tune.plain = plain
	opened, err := open(c, Options{}, tune)
	require.NoError(t, err)
	b := opened.(*backend)
	var out engine.Burst
	require.NoError(t, b.Step(nil, &out))
	saved := &engine.State{}
	require.NoError(t, b.ReadState(saved))
	require.NoError(t, b.Step(nil, &out))
	fired := append([]uint32(nil), out.Fired...)

	size := &b.batch.threads
	if plain {
		size = &b.tune.threads
	}
	threads := *size
	*size = 2048 // more than a block may have
	first := b.Step(nil, &out)
	require.ErrorContains(t, first, "CUDA_ERROR_INVALID_VALUE")
	require.False(t, driver.Sticky(first))
	*size = threads
	require.Equal(t, first, b.Step(nil, &out), "the burst is half done")
	require.NoError(t, b.WriteState(saved))
	require.NoError(t, b.Step(nil, &out))
	require.Equal(t, fired, out.Fired)
	require.NoError(t, b.Close())
}

// TestStepDoesNotAllocate holds the burst to the memory it has.
func TestStepDoesNotAllocate(t *testing.T) {
	plain := defaults
	plain.plain = true
	for tune, each := range map[*tuning]int64{&defaults: 0, &plain: 1} {
		h := cudatest.Host(t)
		want := engine.Want{FCL: true, Values: []engine.Probe{{Neuron: 3}}}
		b, err := open(small(), Options{Want: want}, *tune)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"allocations": 0, "synchronizes": 51 * each}, stepsWithoutAllocating(t, h, b, "allocations", "synchronizes"), "a burst of plain kernels waits once")
		require.NoError(t, b.Close())
	}
}

// stepsWithoutAllocating is what 51 Steps add to counts of the stand-in.
func stepsWithoutAllocating(t *testing.T, h *cudatest.StandIn, b engine.Backend, counts ...string) map[string]int64 {
	in := []engine.Stimulus{{Port: 0, Amount: 1}, {Port: 7, Amount: 1}}
	var out engine.Burst
	step := func() {
		if err := b.Step(in, &out); err != nil {
			t.Error(err)
		}
	}
	for range 100 {
		step()
	}
	added := map[string]int64{}
	for _, name := range counts {
		added[name] = -h.Count(name)
	}
	allocations := testing.AllocsPerRun(50, step)
	if !raceDetector { // under it sync.Pool, which purego's calls use, drops what it is given
		require.Zero(t, allocations)
	}
	for _, name := range counts {
		added[name] += h.Count(name)
	}
	return added
}

// TestClosedBackendHoldsNothing is the same for a backend that has run.
func TestClosedBackendHoldsNothing(t *testing.T) {
	h := cudatest.Host(t)
	b, err := Open(small(), Options{})
	require.NoError(t, err)
	require.NoError(t, b.Step(nil, &engine.Burst{}))
	require.NoError(t, b.Close())
	require.Zero(t, h.Count("held"))
	require.False(t, errors.Is(err, engine.ErrUnavailable))
}
