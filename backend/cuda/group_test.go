package cuda

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/heap"
	"burst/internal/slow"
)

// devices is a stand-in with so many GPUs.
func devices(t *testing.T, n int64) *cudatest.StandIn {
	h := cudatest.Host(t)
	h.Control("devices", n)
	return h
}

// cuts are the parts of a network that no genome describes.
type cuts struct {
	c  *connectome.Connectome
	of int
}

func (p *cuts) Of() int { return p.of }

func (p *cuts) Head() *connectome.Connectome {
	head := *p.c
	head.Row, head.Target, head.Weight, head.Delay, head.Bound, head.MaxDelay = nil, nil, nil, connectome.Delays{}, nil, 1
	if d := head.Driven; d != nil {
		head.Driven = &connectome.Driven{Divide: d.Divide}
	}
	return &head
}

func (p *cuts) Least(part connectome.Part) uint64 {
	if part.Whole() {
		return p.c.Synapses()
	}
	return 0
}

func (p *cuts) Each(use func(*connectome.Connectome) error) error {
	for i := range p.of {
		if err := use(p.c.Cut(connectome.Part{Index: i, Of: p.of})); err != nil {
			return err
		}
	}
	return nil
}

func (p *cuts) Whole() (*connectome.Connectome, error) {
	head := p.Head()
	head.MaxDelay = p.c.MaxDelay
	return head, nil
}

// openCut opens c on one device, or its parts on several.
func openCut(c *connectome.Connectome, devices []int, w engine.Want, tune tuning) (engine.Backend, error) {
	if len(devices) == 1 {
		return open(c, Options{Device: devices[0], Want: w}, tune)
	}
	return openParts(&cuts{c: c, of: len(devices)}, devices, nil, w, tune)
}

// fewThreads keeps launches short on the stand-in, where one processor runs all threads.
func fewThreads() tuning {
	tune := defaults
	tune.batchThreads = 96
	return tune
}

// TestConformanceOfGroups runs the suite on two and three devices by turns, which share each network, by teams of blocks where that can be;
// those of two devices leave out ports of the other one, where neurons have one each. So states move between two and three devices, too.
func TestConformanceOfGroups(t *testing.T) {
	slow.Test(t)
	h := devices(t, 3)
	tune := fewThreads()
	tune.teamRow, tune.teamLeast = 1, 0
	lists := [][]int{{1, 0}, {0, 1, 2}}
	opened, byTeams, split := 0, [2]uint32{}, [2]uint32{}
	enginetest.RunStatic(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
		turn := opened % len(lists)
		opened++
		b, err := openCut(c, lists[turn], w, tune)
		if g, ok := b.(*group); ok && err == nil {
			sum := &g.parts[0].batch.args.run.sum
			byTeams[turn] += uint32(min(sum.count, 1))
			split[turn] += uint32(sum.split)
		}
		return b, err
	}, reference.Open)
	if !testing.Short() { // which has too few networks
		require.Positive(t, byTeams[0])
		require.Positive(t, byTeams[1])
		require.Positive(t, split[0])
		require.Zero(t, split[1])
	}
	require.Zero(t, h.Count("held"), "closed groups hold nothing")
}

// TestGroupOnDevices is the same on what real GPUs there are.
func TestGroupOnDevices(t *testing.T) {
	cudatest.Device(t)
	list, err := Devices()
	require.NoError(t, err)
	if len(list) < 2 {
		t.Skip("SKIPPED: one GPU here")
	}
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	for name, row := range map[string]uint32{"neither teams nor clusters": 0, "teams": 1} {
		t.Run(name, func(t *testing.T) {
			tune := defaults
			tune.teamRow, tune.teamLeast = row, 0
			enginetest.RunStatic(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				return openCut(c, all, w, tune)
			}, reference.Open)
		})
	}
	t.Run("clusters", func(t *testing.T) {
		tune := clustered(2)
		tune.batchThreads = defaults.batchThreads
		runClusters(t, [][]int{all, all[:2]}, tune)
		one := tune
		one.clusterSize = 1 // which divides any grid
		runClusterBatches(t, all, one)
		mends(t, enginetest.Uniform(rand.New(rand.NewPCG(2, 0x636c7573))).Build(), all, tune)
	})
}

// openGenome has each device build its part; one builds the whole.
func openGenome(t *testing.T, g *genome.Genome, list []int, o connectome.Options) (engine.Backend, *connectome.Connectome) {
	if len(list) == 1 {
		c, err := connectome.Build(g, o)
		require.NoError(t, err)
		b, err := open(c, Options{Device: list[0]}, fewThreads())
		require.NoError(t, err)
		return b, c
	}
	parts, err := connectome.NewParts(g, len(list), o)
	require.NoError(t, err)
	b, err := openParts(parts, list, nil, engine.Want{}, fewThreads())
	require.NoError(t, err)
	c, err := parts.Whole()
	require.NoError(t, err)
	require.Nil(t, c.Row)
	return b, c
}

// TestGroupHoldsOnePartAtATime looks at the host's heap while four devices build their parts, and after: there is never much
// more than one part, packed or not, and nothing in the end.
func TestGroupHoldsOnePartAtATime(t *testing.T) {
	slow.Short(t)
	for _, weight := range []string{"0.25", `"normal(1, 1e5)"`} {
		t.Run(weight, func(t *testing.T) {
			h := devices(t, 4)
			network := func(neurons, outdegree int) *genome.Genome {
				g, err := genome.Parse("large.yaml", []byte(fmt.Sprintf(`burst: v1
scale: 16
areas: [{name: a, neurons: %d}]
projections: [{from: a, to: a, rule: fixed_outdegree, outdegree: %d, weight: %s}]
`, neurons, outdegree, weight)), nil)
				require.NoError(t, err)
				return g
			}
			small, _ := openGenome(t, network(503, 4), []int{0, 1, 2, 3}, connectome.Options{})
			require.NoError(t, small.Close()) // what the process keeps from now on, such as the text of kernels, is no part's
			g := network(5003, 401)
			before, most, calls := int64(heap.Live()), int64(0), 0
			var m runtime.MemStats
			b, c := openGenome(t, g, []int{0, 1, 2, 3}, connectome.Options{Threads: 2, Progress: func(_, _ uint64) {
				if calls++; calls%64 == 0 {
					runtime.ReadMemStats(&m)
					most = max(most, int64(m.HeapAlloc))
				}
			}})
			whole := int64(c.Total() * 8)
			left := int64(heap.Live()) - before
			t.Logf("%d KB at most and %d KB in the end for a network of %d KB, %d KB on the devices", (most-before)>>10, left>>10, whole>>10, h.Count("bytes")>>10)
			require.Greater(t, most-before, whole/5, "a quarter of the network is there")
			require.Less(t, most-before, whole*2/5, "more than one part of four is there")
			require.Less(t, left, whole/8, "of the synapses nothing is left")
			require.NoError(t, b.Close())
			runtime.KeepAlive(c)
		})
	}
}

// TestGroupsAreRefusedBeforeTheyAreBuilt names every device without room, by what is known of its part for certain.
func TestGroupsAreRefusedBeforeTheyAreBuilt(t *testing.T) {
	h := devices(t, 3)
	h.Control("free", 10_000_000)
	g, err := genome.Parse("large.yaml", []byte(`burst: v1
areas: [{name: a, neurons: 100003}]
projections: [{from: a, to: a, rule: fixed_indegree, indegree: 3001, weight: 1}]
`), nil)
	require.NoError(t, err)
	parts, err := connectome.NewParts(g, 3, connectome.Options{MaxBytes: 1 << 40, Progress: func(_, _ uint64) { t.Error("something is built") }})
	require.NoError(t, err)
	_, err = OpenParts(parts, []int{0, 1, 2}, nil, engine.Want{})
	var m *MemoryError
	require.ErrorAs(t, err, &m)
	require.True(t, m.Least)
	require.Greater(t, m.Need, uint64(200e6), "2 bytes a synapse")
	for i := range 3 {
		require.ErrorContains(t, err, fmt.Sprintf("bytes of device memory, device %d has 10000000 free", i))
	}
	require.ErrorContains(t, err, "needs at least ")
	require.Zero(t, h.Count("allocations"))
	require.Zero(t, h.Count("held"))
	_, err = OpenParts(parts, []int{0, 1}, nil, engine.Want{})
	require.EqualError(t, err, "cuda: a network in 3 parts for 2 devices, want a part for each")
}

// TestGroupsOfExamples holds examples to the digests that are law, on one to four devices.
func TestGroupsOfExamples(t *testing.T) {
	slow.Short(t)
	devices(t, 4)
	names := []string{"quickstart", "c-elegans", "izhikevich-2003"}
	for _, name := range names[:slow.Times(1, len(names))] {
		text, err := genomes.Text(name)
		require.NoError(t, err)
		g, err := genome.Parse(name+".yaml", text, genomes.Open)
		require.NoError(t, err)
		want, err := genomes.Expect(name)
		require.NoError(t, err)
		for _, list := range [][]int{{3}, {0, 1}, {2, 0, 1}, {0, 1, 2, 3}} {
			b, c := openGenome(t, g, list, connectome.Options{})
			require.True(t, b.(engine.Batcher).CanStepN())
			e := engine.New(c, b, engine.Options{})
			require.NoError(t, e.Run(t.Context(), want.Bursts))
			require.Equal(t, want.Digest, e.Digest(), "%s on devices %v", name, list)
			require.Equal(t, want.Spikes, e.Spikes())
			require.NoError(t, b.Close())
		}
	}
}

// TestGroupsTakeEachOthersStates goes on with a state on another number of devices, by single bursts and by launches of
// many, and back to bursts whose numbers the devices have told each other before.
func TestGroupsTakeEachOthersStates(t *testing.T) {
	devices(t, 3)
	c := uneven(1029, 700, 3001, 4)
	ref, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	want, got := &engine.State{}, &engine.State{}
	var groups []engine.Backend
	for _, list := range [][]int{{0}, {0, 2}, {1, 2, 0}} {
		b, err := openCut(c, list, engine.Want{}, fewThreads())
		require.NoError(t, err)
		groups = append(groups, b)
	}
	var out engine.Burst
	require.NoError(t, ref.Step(everyone(c.Ports), &out))
	for round := range 9 {
		require.NoError(t, ref.ReadState(want))
		b := groups[round*2%3]
		require.NoError(t, b.WriteState(want), "round %d", round)
		for again := range 2 { // the second time with words of the same bursts
			require.NoError(t, b.(engine.Batcher).StepN(3, func(*engine.Burst) error { return nil }))
			if again == 0 {
				require.NoError(t, b.WriteState(want))
			}
		}
		require.NoError(t, b.Step(nil, &out))
		require.NoError(t, b.ReadState(got))
		for range 4 {
			require.NoError(t, ref.Step(nil, &out))
		}
		sameState(t, ref, b)
	}
	require.NotZero(t, got.Number)
	for _, b := range groups {
		require.NoError(t, b.Close())
	}
}

// TestGroupLosesADevice takes one of three devices away in the middle of a launch, where the others wait for it: the run
// ends with that device's failure after the bursts that were complete, and so does every later call.
func TestGroupLosesADevice(t *testing.T) {
	slow.Short(t)
	h := devices(t, 3)
	for turn := range int64(6) {
		const at = 7
		lost, c, tune := turn%3, uneven(513, 100, 301, 3), defaults
		complete := []int{at}
		if turn >= 3 { // clusters bring other devices ids while they go on, so that these may not have those of the burst before
			c, tune, complete = enginetest.Uniform(rand.New(rand.NewPCG(2, 0x636c7573))).Build(), clustered(2), []int{at - 1, at}
			tune.batch = defaults.batch
		}
		h.Control("reset", 0)
		h.Control("devices", 3)
		b, err := openCut(c, []int{0, 1, 2}, engine.Want{}, tune)
		require.NoError(t, err)
		require.Equal(t, turn >= 3, b.(*group).parts[0].rows.placed())
		h.Control("lose_device", lost)
		h.Control("lose_at", at)
		bursts := 0
		first := b.(engine.Batcher).StepN(20, func(*engine.Burst) error { bursts++; return nil })
		require.Contains(t, complete, bursts)
		require.ErrorContains(t, first, fmt.Sprintf("device %d, burst %d: stepping", lost, bursts))
		require.ErrorContains(t, first, "CUDA_ERROR_ILLEGAL_ADDRESS")
		var e *engine.DeviceError
		require.ErrorAs(t, first, &e)
		require.True(t, e.Lost)
		require.Equal(t, first, b.Step(nil, &engine.Burst{}))
		require.Equal(t, first, b.ReadState(&engine.State{}))
		require.Equal(t, first, b.WriteState(engine.NewState(c)))
		require.Equal(t, first, b.Close())
	}
}

// TestGroupMends lets a launch on the last device be refused while the first ones wait for it: nothing is lost, and a state
// that is written puts the group right.
func TestGroupMends(t *testing.T) {
	slow.Short(t)
	devices(t, 3)
	mends(t, uneven(513, 100, 301, 3), []int{0, 1, 2}, defaults)
	mends(t, enginetest.Uniform(rand.New(rand.NewPCG(2, 0x636c7573))).Build(), []int{0, 1, 2}, clustered(2))
}

func mends(t *testing.T, c *connectome.Connectome, list []int, tune tuning) {
	opened, err := openCut(c, list, engine.Want{}, tune)
	require.NoError(t, err)
	g := opened.(*group)
	none := func(*engine.Burst) error { return nil }
	require.NoError(t, g.StepN(3, none))
	saved := &engine.State{}
	require.NoError(t, g.ReadState(saved))
	last := g.parts[len(list)-1]
	threads := last.batch.threads
	last.batch.threads = 2048 // more than a block may have
	first := g.StepN(3, none)
	require.ErrorContains(t, first, fmt.Sprintf("device %d, burst 3: stepping: path run", list[len(list)-1]))
	require.Equal(t, first, g.StepN(3, none))
	last.batch.threads = threads
	require.NoError(t, g.WriteState(saved))
	require.NoError(t, g.StepN(3, none))
	require.NoError(t, g.Close())
}

// TestGroupRefusals names what cannot share a network, and leaves nothing behind.
func TestGroupRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		list []int
		set  func(h *cudatest.StandIn)
		want string
	}{
		{"a device twice", []int{0, 2, 0}, nil, "device 0 is named twice"},
		{"a device that is not there", []int{0, 3}, nil, "device 3, want 0…2; list the devices with nvidia-smi -L"},
		{"no peer access", []int{2, 1}, func(h *cudatest.StandIn) { h.Control("peer_access", 0) }, "device 1 cannot use the memory of device 2"},
		{"too many", []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, nil, "9 devices, want at most 8"},
		{"too small", []int{0, 1, 2}, func(h *cudatest.StandIn) { h.Control("free", 4096) }, "bytes of device memory, device 2 has 4096 free"},
		{"memory in the middle", []int{0, 1}, func(h *cudatest.StandIn) { h.Control("fail_alloc", 40) }, "CUDA_ERROR_OUT_OF_MEMORY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := devices(t, 3)
			if c.set != nil {
				c.set(h)
			}
			_, err := openCut(small(), c.list, engine.Want{}, defaults)
			require.ErrorContains(t, err, c.want)
			require.Zero(t, h.Count("held"))
		})
	}
}

// TestUnlikeDevices: all devices of a group take the grid of the one with the fewest multiprocessors, wherever it stands.
func TestUnlikeDevices(t *testing.T) {
	slow.Short(t)
	h := devices(t, 3)
	h.Control("multiprocessors", 4)
	h.Control("fewer", 2)
	for _, list := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 0, 1}} {
		b, _ := againstReference(t, enginetest.Uniform(rand.New(rand.NewPCG(1, 0x756e6c))).Build(), list, fewThreads(), 1)
		for _, part := range b.(*group).parts {
			require.Equal(t, 2, part.sms, list)
		}
	}
}

// TestPartsWithoutDelays runs networks of which only the first device's part has delays above 1, by single bursts and by launches, with
// and without clusters.
func TestPartsWithoutDelays(t *testing.T) {
	slow.Short(t)
	devices(t, 3).Control("multiprocessors", 4)
	without := 0
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0x64656c))
		n := enginetest.Uniform(r)
		for i := range n.Synapses {
			if s := n.Synapses[i]; i%3 == 0 {
				n.Synapses = append(n.Synapses, enginetest.Synapse{From: s.From, To: s.To % connectome.Slice, Weight: s.Weight, Delay: uint16(2 + i%2)})
			}
		}
		for _, tune := range []tuning{fewThreads(), clustered(2)} {
			b, spikes := againstReference(t, n.Build(), [][]int{{0, 1}, {2, 1, 0}}[seed%2], tune, seed)
			require.Positive(t, spikes)
			for _, part := range b.(*group).parts[1:] {
				if part.rows.synapses > 0 {
					require.Zero(t, part.rows.delays)
					without++
				}
			}
		}
	}
	require.Positive(t, without)
}

// TestDeviceOfAGroup names all of them.
func TestDeviceOfAGroup(t *testing.T) {
	devices(t, 3)
	b, err := openCut(small(), []int{2, 0}, engine.Want{}, defaults)
	require.NoError(t, err)
	require.Equal(t, "2 × Host Stand-in (devices 2, 0)", b.(*group).Device())
	require.NoError(t, b.Close())
}
