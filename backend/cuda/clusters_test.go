package cuda

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// clustered is a tuning by which clusters of so many blocks run every network that allows it.
func clustered(size uint64) tuning {
	t := defaults
	t.clusterRow, t.clusterLeast, t.clusterDelayed, t.clusterSize, t.slotBytes, t.batchThreads, t.batch, t.staging, t.teamLeast = 1, 1, 1, size, 1<<20, 128, 3, 8<<10, 0
	t.sumsApart = 0
	return t
}

// TestClusters compares clusters, burst by burst and many at a time, with the reference: for slots of one unit and of
// several, some of which do not hold all of a row; of neurons with one port and with two, and for short and long delays.
func TestClusters(t *testing.T) {
	slow.Test(t)
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 4)
	}
	shapes, drawn, outside, spikes, more := map[uint64]bool{}, map[uint64]bool{}, map[string]bool{}, 0, uint64(0)
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 0x636c7573))
		n := enginetest.Uniform(r)
		if seed >= 8 {
			n = enginetest.Uniform(r, "lif_psc_exp")
		}
		switch whole := len(n.Synapses); seed % 4 {
		case 0, 1: // short rows
			n.Synapses = slices.DeleteFunc(n.Synapses, func(enginetest.Synapse) bool { return r.IntN(6) > int(seed%4) })
		case 2: // long ones
			for range 3 * whole {
				s := n.Synapses[r.IntN(whole)]
				s.To = n.Synapses[r.IntN(whole)].To
				n.Synapses = append(n.Synapses, s)
			}
		}
		delay := []uint16{1, 1, 2, 3, 15, 1, 16, 255}[seed%8]
		for i := range n.Synapses {
			n.Synapses[i].Delay = delay
		}
		c := n.Build()
		for k, size := range []uint64{1, 2, 4} {
			if !slow.Asked() && k != int(seed%3) {
				continue
			}
			tune := clustered(size)
			if tune.outside = (seed/4 + seed) % 3; size > 1 {
				tune.outside = min(tune.outside, 1)
			}
			opened, fired := againstReference(t, c, []int{0}, tune, seed)
			b := opened.(*backend)
			spikes += fired
			s := &b.rows.shape
			require.NotZero(t, s.count, "one weight a row, one delay, as many ports for all neurons")
			require.EqualValues(t, delay, b.rows.delay)
			require.Equal(t, size, s.size)
			shapes[min(s.units, 4)], drawn[s.each*10+s.drawn] = true, true
			more += b.rows.more
			if s.outside {
				outside[fmt.Sprint(modelSuffix(c), s.rounds)] = true
				require.Contains(t, b.image.Name, "outside_sm_")
			}
		}
	}
	require.Greater(t, len(shapes), 1, "slots of one unit and of several: %v", shapes)
	require.Subset(t, slices.Collect(maps.Keys(drawn)), []uint64{10, 11, 20, 21, 22}, "ports a neuron, and that drawn drives reach")
	require.NotZero(t, more, "stretches that slots do not hold")
	require.Equal(t, map[string]bool{"_lif1": true, "_lif2": true}, outside, "models whose state stays in global memory")
	require.Greater(t, spikes, 10_000)
}

// TestBlocksAlone opens networks for which clusters of two blocks would do on devices that have none: whose blocks have less shared memory
// than those are counted with, or which are older. A block alone does there, in what shared memory it may have.
func TestBlocksAlone(t *testing.T) {
	c := enginetest.Uniform(rand.New(rand.NewPCG(2, 0x636c7573))).Build()
	for key, value := range map[string]int64{"shared": 100 << 10, "capability": 89} {
		t.Run(key, func(t *testing.T) {
			cudatest.Host(t).Control(key, value)
			tune := clustered(0)
			tune.clusterPairs = 1
			b, _ := againstReference(t, c, []int{0}, tune, 2)
			require.EqualValues(t, 1, b.(*backend).rows.shape.size)
			b, _ = againstReference(t, c, []int{0}, clustered(2), 2)
			require.Zero(t, b.(*backend).rows.shape.count)
			require.Contains(t, b.(*backend).Path().Not[1], "clusters: sums do not fit")
		})
	}
}

// TestLittleSharedMemory runs networks on devices whose blocks have less and less shared memory: kernels and copies that do not fit are left out.
func TestLittleSharedMemory(t *testing.T) {
	slow.Short(t)
	c := enginetest.Uniform(rand.New(rand.NewPCG(6, 0x6c6974))).Build()
	require.Greater(t, c.Neurons, uint32(300))
	h, took := cudatest.Host(t), map[string]bool{}
	for shared := int64(8 << 10); shared < 48<<10; shared += 1 << 10 {
		h.Control("shared", shared)
		b, _ := againstReference(t, c, []int{0}, fewThreads(), 3)
		x := b.(*backend)
		require.LessOrEqual(t, int64(x.batch.shared), shared)
		took[fmt.Sprintf("%v, copies %d %d", x.choice.path, x.batch.args.run.cached, x.batch.args.run.tabled)] = true
	}
	require.Len(t, took, 4)
	h.Control("shared", 7<<10)
	b, err := openCut(c, []int{0}, engine.Want{}, fewThreads())
	require.NoError(t, err)
	require.False(t, b.(engine.Batcher).CanStepN())
	require.NoError(t, b.Close())
}

// TestClustersOfGroups is TestClusters for two to eight devices that share each network, some of which may have no synapses; then
// the suite's batches, whose genomes have stimuli.
func TestClustersOfGroups(t *testing.T) {
	slow.Test(t)
	devices(t, 8).Control("multiprocessors", 4)
	runClusters(t, [][]int{{1, 0}, {0, 2, 1}}, clustered(2))
	for size, lists := range map[uint64][][]int{4: {{0, 1}, {2, 1, 0}}, 1: {{7, 6, 5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4}}} {
		runClusters(t, lists, clustered(size))
	}
	outside := clustered(1)
	for _, outside.outside = range []uint64{1, mostRounds} {
		runClusters(t, [][]int{{1, 0}, {0, 2, 1}}, outside)
	}
	for _, list := range [][]int{{1, 0}, {0, 2, 1}} {
		runClusterBatches(t, list, clustered(2))
		runClusterBatches(t, list, outside)
	}
}

// runClusterBatches runs the suite's batches, whose genomes have stimuli, on devices that share each network by clusters.
func runClusterBatches(t *testing.T, list []int, tune tuning) {
	with := 0
	enginetest.RunBatches(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
		b, err := openCut(c, list, w, tune)
		if err == nil && b.(*group).parts[0].rows.placed() {
			with++
		}
		return b, err
	}, reference.Open, engine.Want{})
	require.Greater(t, with, 5)
}

// TestClusterSizes opens rows of some lengths on devices with six multiprocessors, so that there are three pairs and one cluster of four:
// short rows take this, and all devices then leave two multiprocessors to nobody.
func TestClusterSizes(t *testing.T) {
	slow.Short(t)
	devices(t, 2).Control("multiprocessors", 6)
	tune := clustered(0)
	for times, four := range map[int]bool{0: true, 3: false} {
		n := enginetest.Uniform(rand.New(rand.NewPCG(11, 0x73697a65)))
		n.Synapses = slices.DeleteFunc(n.Synapses, func(s enginetest.Synapse) bool { return times == 0 && (s.From+s.To)%8 != 0 })
		for range times {
			n.Synapses = append(n.Synapses, n.Synapses...)
		}
		c := n.Build()
		require.Greater(t, c.Neurons, uint32(500), "blocks enough on each device")
		t.Run(fmt.Sprint(c.Synapses()/uint64(c.Neurons)), func(t *testing.T) {
			alone, _ := againstReference(t, c, []int{0}, tune, 1)
			require.Equal(t, four, alone.(*backend).rows.shape.size == 4)
			shared, _ := againstReference(t, c, []int{1, 0}, tune, 1)
			for _, b := range shared.(*group).parts {
				s := &b.rows.shape
				require.Equal(t, four, s.size == 4)
				require.Equal(t, four, b.batch.blocks == 4)
			}
		})
	}
}

// runClusters has lists of devices share networks by turns, of short and long delays. In two of six the rows of the first device have several
// weights, so that it goes without clusters, which the others do not notice: it hears of each burst at once, and they when it is due.
func runClusters(t *testing.T, lists [][]int, tune tuning) {
	with, without, more := 0, 0, uint64(0)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 0x67726f75))
		list := lists[seed%2]
		n := enginetest.Uniform(r)
		if seed > 3 {
			n = enginetest.Uniform(r, "lif_psc_exp")
		}
		for range 3 * len(n.Synapses) { // many targets of a row on every device
			s := n.Synapses[r.IntN(len(n.Synapses))]
			s.To = n.Synapses[r.IntN(len(n.Synapses))].To
			n.Synapses = append(n.Synapses, s)
		}
		mixed, delay := seed/2%2 == 1, []uint16{1, 3, 4, 2, 5, 1}[seed]
		for i := range n.Synapses {
			n.Synapses[i].Delay = delay
			if s := &n.Synapses[i]; mixed && (connectome.Part{Index: 0, Of: len(list)}).Owns(s.To) && i%2 == 0 {
				s.Weight++
			}
		}
		opened, spikes := againstReference(t, n.Build(), list, tune, seed)
		require.Greater(t, spikes, 100)
		for q, b := range opened.(*group).parts {
			if b.rows.placed() {
				with++
				more += b.rows.more
			} else if b.rows.synapses > 0 && b.batch.blocks%uint32(tune.clusterSize) == 0 { // a small network may have an odd number of blocks
				require.True(t, mixed && q == 0, "seed %d, part %d", seed, q)
				without++
			}
		}
	}
	require.Positive(t, with)
	require.Positive(t, without)
	require.NotZero(t, more, "stretches that slots do not hold")
}

// againstReference runs a network by single bursts with input, and by many at a time, whose spikes it counts.
func againstReference(t *testing.T, c *connectome.Connectome, list []int, tune tuning, seed uint64) (b engine.Backend, spikes int) {
	t.Helper()
	b, err := openCut(c, list, engine.Want{}, tune)
	require.NoError(t, err)
	spikes = likeReference(t, b, c, engine.Want{}, seed)
	require.NoError(t, b.Close())
	return b, spikes
}

// likeReference is againstReference for a backend that is open.
func likeReference(t *testing.T, b engine.Backend, c *connectome.Connectome, w engine.Want, seed uint64) (spikes int) {
	t.Helper()
	ref, err := reference.Open(c, w)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(seed, 4))
	var got, want engine.Burst
	for _, many := range []int{0, 9, 1, 30, 0, 0, 12} {
		in := []engine.Stimulus(nil)
		for p := r.Uint32N(7); p < c.Ports; p += 1 + r.Uint32N(9) {
			in = append(in, engine.Stimulus{Port: p, Amount: c.Scale})
		}
		require.NoError(t, b.Step(in, &got))
		require.NoError(t, ref.Step(in, &want))
		require.Equal(t, append([]uint32{}, want.Fired...), append([]uint32{}, got.Fired...))
		err := b.(engine.Batcher).StepN(many, func(got *engine.Burst) error {
			require.NoError(t, ref.Step(nil, &want))
			require.Equal(t, append([]uint32{}, want.Fired...), append([]uint32{}, got.Fired...), "burst %d", want.Number)
			require.Equal(t, append([]float32{}, want.Values...), append([]float32{}, got.Values...), "burst %d", want.Number)
			spikes += len(want.Fired)
			return nil
		})
		require.NoError(t, err)
		sameState(t, ref, b)
	}
	return spikes
}

// TestPieces: rows too long for the slots of a warp have pieces, of which the longest still go on elsewhere.
func TestPieces(t *testing.T) {
	slow.Short(t)
	h := cudatest.Host(t)
	for _, v := range []struct {
		synapses, multiprocessors int
		size                      uint64
		delay                     uint16
		pieces                    uint64
	}{{200, 1, 1, 1, 0}, {400, 1, 1, 3, 1}, {400, 2, 2, 1, 1}, {900, 1, 1, 1, 2}, {1500, 2, 1, 2, 2}, {1300, 1, 1, 2, 2}} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			h.Control("multiprocessors", int64(v.multiprocessors))
			r := rand.New(rand.NewPCG(uint64(v.synapses), 0x70696563))
			lif := enginetest.LIF(700)
			lif.Constant("threshold").Const, lif.Constant("refractory").Const = 2, 1
			lif.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 900, 3_700_000_000, 4_100_000_000)}
			n := enginetest.Net{Areas: []connectome.Area{lif}}
			for from := range uint32(700) {
				weight := r.Int32N(60) - 30
				for range v.synapses - r.IntN(v.synapses/3)*r.IntN(2) {
					n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(700), Weight: weight, Delay: v.delay})
				}
			}
			c := n.Build()
			opened, fired := againstReference(t, c, []int{0}, clustered(v.size), 3)
			b := opened.(*backend)
			require.Equal(t, pathClusters, b.choice.path)
			require.Equal(t, v.pieces, b.rows.shape.piecesLog)
			require.Equal(t, v.synapses/v.multiprocessors > 1000, b.rows.more > 0)
			require.Greater(t, fired, 100)
		})
	}
}
