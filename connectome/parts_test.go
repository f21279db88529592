package connectome

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/heap"
)

// inTurn builds all parts of g one after the other and gives the first error.
func inTurn(g *genome.Genome, parts int, o Options) (*Connectome, error) {
	s, err := NewParts(g, parts, o)
	if err != nil {
		return nil, err
	}
	if err := s.Each(func(*Connectome) error { return nil }); err != nil {
		return nil, err
	}
	return s.Whole()
}

// What the whole is refused for, its parts are too, in the same words: be it in a part before the one that meets it first,
// be it only with drives and stimuli.
func TestPartsInTurnAreRefusedAlike(t *testing.T) {
	areas := func() []genome.Area {
		return []genome.Area{areaOf("feagi", 3), areaOf("feagi", Slice), areaOf("feagi", Slice), areaOf("feagi", Slice)}
	}
	driven := areas()
	driven[1].Drives = []genome.Drive{{Kind: genome.Constant, Value: 2_000_000}}
	late := value(genome.Normal, 65_530, 3)
	for _, c := range []struct {
		name, want string
		g          *genome.Genome
	}{
		{"part 0 of 2 overflows at neuron 131, a later one before it", `neuron 0 of area "A2" could receive 2147484000`, network(1, areas()...).join(
			genome.Projection{Rule: genome.AllToAll, To: 2, Weight: constant(1)},
			genome.Projection{Rule: genome.AllToAll, To: 3, Weight: constant(1)},
			genome.Projection{Rule: genome.LastToFirst, To: 2, Weight: constant(2_147_481)},
			genome.Projection{Rule: genome.LastToFirst, To: 3, Weight: constant(2_147_482)})},
		{"a drive makes a port overflow", `of area "A1" could receive 2150000000`, network(1, driven...).join(
			genome.Projection{Rule: genome.AllToAll, To: 1, Weight: constant(50_000)})},
		{"delays too long, of many synapses", "projections[1].delay", network(1, areas()...).join(
			genome.Projection{Rule: genome.AllToAll, From: 1, To: 2, Weight: constant(1), Delay: constant(3)},
			genome.Projection{Rule: genome.AllToAll, From: 2, To: 3, Weight: constant(1), Delay: late})},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, want := Build(c.g, Options{Threads: 2})
			require.ErrorContains(t, want, c.want)
			for _, parts := range []int{2, 3} {
				_, err := inTurn(c.g, parts, Options{Threads: 2})
				assert.EqualError(t, err, want.Error(), "%d parts", parts)
			}
		})
	}
}

// A network whose whole does not fit is built in parts that do; one of which a part does not fit is refused before any is
// built.
func TestPartsInTurnNeedTheLargestPart(t *testing.T) {
	g := network(1, areaOf("feagi", 1280)).join(genome.Projection{Rule: genome.AllToAll, Weight: constant(1)})
	quarter, err := Measure(g, Options{Threads: 1, Part: Part{3, 4}})
	require.NoError(t, err)
	var refusal *LimitError
	_, err = Build(g, Options{Threads: 1, MaxBytes: quarter.Peak})
	require.ErrorAs(t, err, &refusal)
	head, err := inTurn(g, 4, Options{Threads: 1, MaxBytes: quarter.Peak})
	require.NoError(t, err)
	assert.Equal(t, uint64(1280*1280), head.Total())
	_, err = NewParts(g, 4, Options{Threads: 1, MaxBytes: quarter.Peak - 1})
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, quarter.Peak, refusal.Needed)
}

// TestNoWholeIsBuilt looks at the heap while four parts are built: it never holds much more than one of them.
func TestNoWholeIsBuilt(t *testing.T) {
	g := network(1, areaOf("feagi", 4099)).join(genome.Projection{
		Rule: genome.FixedOutdegree, Outdegree: 499, Weight: value(genome.Normal, 3, 1), Delay: value(genome.Uniform, 1, 9),
	})
	before, most, calls := int64(heap.Live()), int64(0), 0
	var m runtime.MemStats
	look := func(_, _ uint64) {
		if calls++; calls%64 == 0 {
			runtime.ReadMemStats(&m)
			most = max(most, int64(m.HeapAlloc))
		}
	}
	head, err := inTurn(g, 4, Options{Threads: 2, Progress: look})
	require.NoError(t, err)
	whole := int64(head.Total() * (bytesASynapse + DelayBytes(mostShort)))
	require.Greater(t, whole, int64(18e6))
	t.Logf("%d MB at most for a network of %d MB, looked at %d times", (most-before)/1e6, whole/1e6, calls/64)
	assert.Greater(t, most-before, whole/5, "a quarter of the network is there")
	assert.Less(t, most-before, whole*2/5, "more than one part of four is there")
	assert.Less(t, int64(heap.Live())-before, whole/50, "all of them have gone")
	runtime.KeepAlive(head)
}

// Progress goes once from nothing to all, over all parts.
func TestProgressOverParts(t *testing.T) {
	g := network(1, areaOf("feagi", 700)).join(genome.Projection{Rule: genome.FixedIndegree, Indegree: 60, Weight: constant(1)})
	last := 0.0
	_, err := inTurn(g, 3, Options{Threads: 1, Progress: func(done, total uint64) {
		share := float64(done) / float64(total)
		assert.InDelta(t, last, share, 0.34, "no jump of more than a part")
		last = share
	}})
	require.NoError(t, err)
	assert.InDelta(t, 1, last, 1e-9)
}

// Where draws exceed the room, rows placed as they are made still find it: here from room for none and for half of them on.
func TestChainedRowsFindRoom(t *testing.T) {
	g := network(1, areaOf("feagi", 331), areaOf("lif", 470)).join(
		genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 61, To: 1, Weight: value(genome.Normal, 3, 1), Delay: value(genome.Uniform, 1, 9)},
		genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 77, From: 1, LeaveOut: 41, Weight: constant(-2), Delay: constant(3)})
	want := build(t, g).Cut(Part{1, 3})
	for _, room := range []uint64{0, want.Synapses() / 2, want.Synapses()} {
		p, c, err := begin(g, Options{Threads: 3, Part: Part{1, 3}})
		require.NoError(t, err)
		require.True(t, p.chains())
		c.Row = make([]uint64, p.neurons+1)
		require.NoError(t, p.newBuilder(c, make([]uint64, p.inputs), &meter{}).chainRows(room))
		require.Equal(t, [][]uint64{want.Row}, [][]uint64{c.Row}, "room for %d", room)
		require.Equal(t, []any{want.Target, want.Weight, want.Delay, want.MaxDelay}, []any{c.Target, c.Weight, c.Delay, c.MaxDelay}, "room for %d", room)
		require.Equal(t, want.Synapses(), p.synapses())
	}
}

// A whole network whose rows are random is placed as it is made where memory for the most synapses can be had, and else counted first;
// both give the same.
func TestWholeNetworkChains(t *testing.T) {
	g := network(1, sheet(40, 40, 1, true)).join(
		genome.Projection{Rule: genome.DistanceRule, Kernel: kernelOf("0.6*exp(-d/(40 um))"), Weight: value(genome.Normal, 3, 1), Delay: byPlace("1 + d/(30 um)", 1)},
		genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.05, Weight: constant(2)})
	sizes, err := Measure(g, Options{Threads: 3})
	require.NoError(t, err)
	var made []*Connectome
	for _, room := range []uint64{sizes.Peak, 1 << 40} {
		o := Options{Threads: 3, MaxBytes: room}
		p, _, err := begin(g, o)
		require.NoError(t, err)
		require.Equal(t, room > sizes.Peak, p.chains())
		c, err := Build(g, o)
		require.NoError(t, err)
		made = append(made, c)
	}
	require.Equal(t, []any{made[0].Row, made[0].Target, made[0].Weight, made[0].Delay, made[0].ByRule}, []any{made[1].Row, made[1].Target, made[1].Weight, made[1].Delay, made[1].ByRule})
	require.Equal(t, made[0].Hash(), made[1].Hash())
}

// Parts whose synapses are counted by target have the whole's bounds, also where the whole's targets are too many for each other to be
// counted: an area that begins and ends inside slices, autapses left out, and more than 256 synapses onto a target.
func TestHistogramsOfParts(t *testing.T) {
	out := func(from, to int, k uint64, weight float64) genome.Projection {
		return genome.Projection{Rule: genome.FixedOutdegree, From: from, To: to, Outdegree: k, Weight: constant(weight), NoAutapses: true}
	}
	g := network(1, areaOf("lif", 37), areaOf("lif", 900), areaOf("lif", 190)).join(out(1, 1, 20, 0.1), out(2, 2, 20, -0.2), out(1, 0, 400, 0.3))
	const parts = 3
	p, _, err := begin(g, Options{Threads: 2, Part: Part{0, parts}})
	require.NoError(t, err)
	for i := range p.wirings {
		w := &p.wirings[i]
		assert.True(t, p.hasHistogram(w, p.part), "projection %d", i)
		assert.Equal(t, i == 2, p.hasHistogram(w, Part{}), "projection %d", i)
	}
	samePart(t, g, build(t, g), parts)
}

// Blocks get their places in order, whoever comes first.
func TestChainPlacesInOrder(t *testing.T) {
	const blocks = 1000
	s := &chain{waiting: map[uint64]arrival{}}
	var all sync.WaitGroup
	at := make([]uint64, blocks)
	for worker := range uint64(8) {
		all.Go(func() {
			reply := make(chan uint64, 1)
			for k := worker; k < blocks; k += 8 {
				at[k] = s.place(k, k%7, reply)
			}
		})
	}
	all.Wait()
	sum := uint64(0)
	for k := range at {
		require.Equal(t, sum, at[k], "block %d", k)
		sum += uint64(k) % 7
	}
	assert.Empty(t, s.waiting)
}
