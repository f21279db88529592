package connectome

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"burst/genome"
	"burst/genomes"
	"burst/internal/slow"
)

// meeting lets parts that build at the same time tell each other what they give.
type meeting struct {
	all  [][]uint32
	came sync.WaitGroup
}

func newMeeting(parts int) *meeting {
	m := &meeting{all: make([][]uint32, parts)}
	m.came.Add(parts)
	return m
}

func (m *meeting) of(part int) func(own []uint32) ([][]uint32, error) {
	return func(own []uint32) ([][]uint32, error) {
		m.all[part] = own
		m.came.Done()
		m.came.Wait()
		return m.all, nil
	}
}

// buildParts builds all parts of g at the same time, as processes of one run do.
func buildParts(g *genome.Genome, parts int) ([]*Connectome, []error) {
	list, faults, m := make([]*Connectome, parts), make([]error, parts), newMeeting(parts)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			list[i], faults[i] = Build(g, Options{Threads: 1 + i%2, MaxBytes: 1 << 30, Part: Part{i, parts}, Allgather: m.of(i)})
		})
	}
	wg.Wait()
	return list, faults
}

// samePart says that every part of g is what the whole network has for it, and that the parts' hashes add up.
func samePart(t require.TestingT, g *genome.Genome, whole *Connectome, parts int) {
	list, faults := buildParts(g, parts)
	require.NoError(t, errors.Join(faults...))
	hash, synapses := uint64(0), uint64(0)
	for i, c := range list {
		require.Equal(t, whole.Cut(Part{i, parts}), c, "part %d of %d", i, parts)
		require.Equal(t, whole.Synapses(), c.Total())
		hash += c.Hash()
		synapses += c.Synapses()
		sizes, err := Measure(g, Options{Threads: 2, Part: Part{i, parts}})
		require.NoError(t, err)
		require.Equal(t, c.Synapses(), sizes.Synapses, "measured, part %d of %d", i, parts)
	}
	require.Equal(t, whole.Hash(), hash, "%d parts", parts)
	require.Equal(t, whole.Synapses(), synapses)
	samePartsInTurn(t, g, whole, parts)
}

// samePartsInTurn says the same of parts that are built one after the other, and of what is then known of the whole.
func samePartsInTurn(t require.TestingT, g *genome.Genome, whole *Connectome, parts int) {
	s, err := NewParts(g, parts+1, Options{Threads: 2, MaxBytes: 1 << 30})
	require.NoError(t, err)
	require.NoError(t, s.Into(parts))
	require.LessOrEqual(t, s.Head().MaxDelay, whole.MaxDelay)
	require.LessOrEqual(t, s.Least(Part{}), whole.Total())
	next := 0
	err = s.Each(func(c *Connectome) error {
		want := whole.Cut(Part{next, parts})
		next++
		require.LessOrEqual(t, s.Least(want.Part), want.Synapses()+want.apartHere())
		require.Equal(t, want.Synapses(), c.Synapses())
		c.Bound, c.MaxDelay, c.ByRule, c.total = want.Bound, want.MaxDelay, want.ByRule, want.total
		require.Equal(t, want, c, "part %d of %d, in turn", c.Part.Index, parts)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, parts, next)
	head, err := s.Whole()
	require.NoError(t, err)
	want := *whole
	want.Row, want.Target, want.Weight, want.Delay, want.total, want.hash = nil, nil, nil, Delays{}, whole.Total(), whole.Hash()
	if d := whole.Driven; d != nil {
		want.Driven = &Driven{Divide: d.Divide}
	}
	require.Equal(t, &want, head, "%d parts, in turn", parts)
	require.Equal(t, whole.Hash(), head.Hash())
	require.Equal(t, whole.Total(), head.Total())
}

// Owns deals slices in turn; Count, Neuron and Next are what counting by Owns gives.
func TestPartNumbersItsNeurons(t *testing.T) {
	for _, p := range []Part{{}, {0, 1}, {0, 2}, {1, 2}, {0, 3}, {2, 3}, {6, 7}, {63, 64}} {
		own := uint32(0)
		for n := range uint32(64*64 + 131) {
			require.Equal(t, own, p.Count(n), "%v: neurons before %d", p, n)
			dealt := p.Of <= 1 || int(n/64)%p.Of == p.Index
			require.Equal(t, dealt, p.Owns(n), "%v: neuron %d", p, n)
			dealer := p.dealer()
			require.Equal(t, dealt, dealer.owns(n) == 1, "%v: neuron %d, at once", p, n)
			next := uint64(n)
			for !p.Owns(uint32(next)) {
				next++
			}
			require.Equal(t, next, p.Next(uint64(n)), "%v: next from %d", p, n)
			if dealt {
				require.Equal(t, n, p.Neuron(own), "%v: its neuron %d", p, own)
				require.Equal(t, own, dealer.place(n), "%v: place of neuron %d, at once", p, n)
				own++
			}
		}
	}
}

func TestInvalidPart(t *testing.T) {
	g := network(1, areaOf("feagi", 5)).join()
	for _, p := range []Part{{2, 2}, {-1, 2}, {1, 0}, {0, -1}} {
		_, err := Build(g, Options{Part: p})
		assert.ErrorContains(t, err, fmt.Sprintf("part %d of %d, want 0…%d", p.Index, p.Of, p.Of-1))
	}
}

// Every rule makes of its synapses what a part needs and nothing else: the areas' borders lie inside slices.
func TestPartsOfEveryRule(t *testing.T) {
	slow.Short(t)
	for _, c := range ruleCases {
		g := ruleGenome(c.p)
		whole := build(t, g)
		for _, parts := range []int{3, 1, 2, 5}[:slow.Times(1, 4)] {
			t.Run(fmt.Sprintf("%s/%d", c.name, parts), func(t *testing.T) { samePart(t, g, whole, parts) })
		}
	}
}

func TestPartsOfOtherNetworks(t *testing.T) {
	psp := 0.37
	shared := block("feagi", 13, 11, 1, 2)
	shared.PSP, shared.DividePSP = &psp, true
	twoPorts := areaOf("lif_psc_exp", 301)
	for _, key := range []string{"C", "tau", "tau_syn_ex", "tau_syn_in"} {
		twoPorts.Params[key] = 7.5
	}
	automatic := network(1, shared, twoPorts).join(
		genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 17, To: 1, Weight: value(genome.Normal, -1, 3), Delay: value(genome.Uniform, 1, 7)},
		genome.Projection{Rule: genome.AllToAll, NoAutapses: true, Weight: constant(2), LeaveOut: 33})
	automatic.Scale = 0
	for name, g := range map[string]*genome.Genome{
		"merged, with the same pairs in many projections": overlapping(true, false, true, true, true, true),
		"weights divided by all synapses of a source":     automatic,
		"a list of the whole network":                     fromLists(t, "  - {rule: edges, file: w.csv}\n", map[string]string{"w.csv": randomList(5011)}),
	} {
		whole := build(t, g)
		for _, parts := range []int{2, 3} {
			t.Run(fmt.Sprintf("%s/%d", name, parts), func(t *testing.T) { samePart(t, g, whole, parts) })
		}
	}
}

func TestPartsOfAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGenome(t)
		whole, err := Build(g, Options{Threads: 1, MaxBytes: 1 << 30})
		if err == nil {
			samePart(t, g, whole, rapid.IntRange(2, 4).Draw(t, "parts"))
		}
	})
}

// A port that could overflow belongs to one part; all must refuse, as the whole does.
func TestPartsRefuseWhatOneCannotHold(t *testing.T) {
	g := network(1, areaOf("feagi", 3), areaOf("feagi", 2*Slice)).join(
		genome.Projection{Rule: genome.AllToAll, To: 1, Weight: constant(1)},
		genome.Projection{Rule: genome.LastToFirst, To: 1, Weight: constant(2_147_481)})
	_, want := Build(g, Options{})
	require.ErrorContains(t, want, "could receive 2147484000 quanta")
	_, faults := buildParts(g, 3)
	for _, err := range faults {
		assert.EqualError(t, err, want.Error())
	}
}

// A part that fails alone, for want of memory, tells the others, which would wait for it for ever.
func TestPartThatFailsAlone(t *testing.T) {
	g := network(1, areaOf("feagi", 1280)).join(genome.Projection{Rule: genome.AllToAll, Weight: constant(1)})
	m, faults := newMeeting(2), make([]error, 2)
	var wg sync.WaitGroup
	for i, limit := range []uint64{1 << 30, 1 << 16} {
		wg.Go(func() { _, faults[i] = Build(g, Options{MaxBytes: limit, Part: Part{i, 2}, Allgather: m.of(i)}) })
	}
	wg.Wait()
	assert.ErrorIs(t, faults[0], ErrElsewhere)
	var refusal *LimitError
	assert.ErrorAs(t, faults[1], &refusal)
}

// A part's memory is judged by its share.
func TestPartsNeedLess(t *testing.T) {
	g := network(1, areaOf("feagi", 1280)).join(genome.Projection{Rule: genome.AllToAll, Weight: constant(1)})
	whole, err := Measure(g, Options{Threads: 1})
	require.NoError(t, err)
	half, err := Measure(g, Options{Threads: 1, Part: Part{1, 2}})
	require.NoError(t, err)
	assert.Equal(t, whole.Synapses/2, half.Synapses)
	assert.Equal(t, whole.Bytes-half.Synapses*bytesASynapse, half.Bytes)
	_, err = Build(g, Options{Threads: 1, MaxBytes: half.Peak, Part: Part{1, 2}})
	assert.NoError(t, err)
	_, err = Build(g, Options{Threads: 1, MaxBytes: half.Peak - 1, Part: Part{1, 2}})
	var refusal *LimitError
	assert.ErrorAs(t, err, &refusal)
}

// The largest part of a real network holds hardly more than the mean of all.
func TestPartsAreBalanced(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts int
		most  float64 // of the largest part's synapses over the mean
	}{
		{"brunel-a", 2, 1.01},
		{"brunel-a", 8, 1.03},
		{"potjans-diesmann-10", 4, 1.05},
		{"vogels-abbott-cuba", 4, 1.05},
	} {
		text, err := genomes.Text(c.name)
		require.NoError(t, err)
		g, err := genome.Parse(c.name, text, genomes.Open)
		require.NoError(t, err)
		largest, sum := uint64(0), uint64(0)
		for i := range c.parts {
			s, err := Measure(g, Options{Part: Part{i, c.parts}})
			require.NoError(t, err)
			largest, sum = max(largest, s.Synapses), sum+s.Synapses
		}
		got := float64(largest) * float64(c.parts) / float64(sum)
		t.Logf("%s in %d parts: %.4f", c.name, c.parts, got)
		assert.LessOrEqual(t, got, c.most, "%s in %d parts", c.name, c.parts)
	}
}
