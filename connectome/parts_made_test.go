package connectome

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// copier is a Maker that has parts built on the host, and keeps those of keeps. Each Place waits for the others to begin.
type copier struct {
	t     *testing.T
	g     *genome.Genome
	keeps func(part int) bool
	fails func(part int) error
	all   sync.WaitGroup
}

func (m *copier) built(r *Recipe) *Connectome {
	c, err := Build(m.g, Options{Threads: 1, Part: r.Part})
	assert.NoError(m.t, err)
	return c
}

func (m *copier) Count(r *Recipe, row []uint64) ([]uint64, error) {
	c, made := m.built(r), make([]uint64, len(r.Projections))
	for n := range row {
		row[n] = c.Row[n+1] - c.Row[n]
		made[0] += row[n]
	}
	return made, nil
}

func (m *copier) Place(r *Recipe, row []uint64, room func() (Synapses, error), sums []uint64) (Placed, error) {
	m.all.Done()
	m.all.Wait()
	c := m.built(r)
	for port, bound := range c.Bound {
		if r.Part.Owns(uint32(port)) {
			sums[port] += uint64(bound)
		}
	}
	placed := Placed{Longest: c.MaxDelay}
	if err := m.fails(r.Part.Index); err != nil {
		return placed, err
	}
	if m.keeps(r.Part.Index) {
		placed.Kept, placed.Hash = true, c.hashOfSynapses()
		return placed, nil
	}
	to, err := room()
	if err != nil {
		return placed, err
	}
	copy(to.Target, c.Target)
	copy(to.Weight, c.Weight)
	for k := range c.Target {
		to.Delay.set(uint64(k), uint64(c.DelayOf(uint64(k))))
	}
	return placed, nil
}

// TestPartsMadeAtTheSameTime: all parts are being placed before any is done. Those whose synapses come to the host come one after the
// other. What is known of the whole is the same in all ways, progress
// grows to its end, and the error is that of the first part that has one.
func TestPartsMadeAtTheSameTime(t *testing.T) {
	const of = 4
	g := network(1, areaOf("lif", 700)).join(genome.Projection{
		Rule: genome.FixedTotalNumber, Count: 20_000, Weight: value(genome.Normal, 3, 1), Delay: value(genome.Uniform, 1, 9),
	})
	parts := func(m *copier, tell func(done, total uint64)) *Parts {
		m.t, m.g = t, g
		m.all.Add(of)
		s, err := NewParts(g, of, Options{Threads: 2, Maker: m, Progress: tell})
		require.NoError(t, err)
		return s
	}
	none := func(int) error { return nil }
	whole := build(t, g)
	for name, keeps := range map[string]func(int) bool{
		"all kept": func(int) bool { return true }, "none kept": func(int) bool { return false }, "some kept": func(i int) bool { return i%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			var onHost atomic.Int32
			var before, last [2]uint64
			s := parts(&copier{keeps: keeps, fails: none}, func(done, total uint64) {
				assert.GreaterOrEqual(t, done, before[0])
				before = [2]uint64{done, total}
				last = before
			})
			used := make([]bool, of)
			err := s.Each(func(c *Connectome) error {
				i := c.Part.Index
				used[i] = true
				want := whole.Cut(c.Part)
				assert.Equal(t, want.Row, c.Row)
				if keeps(i) {
					assert.Nil(t, c.Target)
					return nil
				}
				onHost.Add(1)
				defer onHost.Add(-1)
				time.Sleep(10 * time.Millisecond) // in which another part would come
				assert.EqualValues(t, 1, onHost.Load())
				assert.Equal(t, want.Target, c.Target)
				assert.Equal(t, want.Weight, c.Weight)
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, slices.Repeat([]bool{true}, of), used)
			require.Equal(t, keeps(0) && keeps(1), s.Kept())
			got, err := s.Whole()
			require.NoError(t, err)
			require.Equal(t, whole.Hash(), got.Hash())
			require.Equal(t, whole.Bound, got.Bound)
			require.Equal(t, whole.Total(), got.Total())
			require.Equal(t, whole.MaxDelay, got.MaxDelay)
			require.Positive(t, last[0])
			require.Equal(t, last[0], last[1])
		})
	}
	fails := func(i int) error {
		if i == 0 || i == 3 {
			return nil
		}
		return fmt.Errorf("part %d failed", i)
	}
	require.EqualError(t, parts(&copier{keeps: func(int) bool { return true }, fails: fails}, nil).Each(func(*Connectome) error { return nil }), "part 1 failed")
	wrong := errors.New("not used")
	require.ErrorIs(t, parts(&copier{keeps: func(int) bool { return false }, fails: none}, nil).Each(func(*Connectome) error { return wrong }), wrong)
}
