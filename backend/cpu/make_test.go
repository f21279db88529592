package cpu

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"

	"github.com/stretchr/testify/require"
)

// scattered has synapses between areas of many sizes, with delays up to a longest one; neuron 0 has a row that is longer than a block.
func scattered(areas int, synapses uint32, delays int) *connectome.Connectome {
	r := rand.New(rand.NewPCG(uint64(areas), uint64(delays)))
	n, total := enginetest.Net{}, uint32(0)
	for i := range areas {
		a := enginetest.LIF(1 + r.Uint32N(uint32(9000/areas)))
		if i%5 == 4 {
			a = enginetest.FEAGI(1 + r.Uint32N(200))
		}
		n.Areas = append(n.Areas, a)
		total += a.Neurons.Count
	}
	for i := range synapses {
		s := enginetest.Synapse{From: r.Uint32N(total), To: r.Uint32N(total), Weight: r.Int32N(3), Delay: uint16(2 + r.IntN(delays))}
		if i%4 == 0 {
			s.From, s.Weight = 0, r.Int32N(1000)
		}
		if delays == 1 {
			s.Delay = 1
		}
		n.Synapses = append(n.Synapses, s)
	}
	return n.Build()
}

// alone is a worker's row as its own walk through c makes it.
func alone(c *connectome.Connectome, w *worker, own *walker, n uint32) (row []uint16) {
	for from, end := c.Row[n], c.Row[n+1]; from < end; {
		next := sameDelay(c, from, end)
		ports, shift, weights := own.take(from, next)
		segments := (&encoder{}).segments(make([]uint16, 0, mostUnits*len(ports)), ports, shift, weights)
		if w.rows.single == 0 && len(ports) > 0 {
			row = append(row, uint16(c.DelayOf(from)), 0, 0)
			vector.PutDouble(row[len(row)-2:], uint32(len(segments)))
		}
		row = append(row, segments...)
		from = next
	}
	return row
}

// TestRowsAreThoseOfEachWorker compares the rows that are made for all workers at once with those of each by itself.
func TestRowsAreThoseOfEachWorker(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rooms := 0
	for _, x := range []struct {
		areas    int
		synapses uint32
		delays   int
	}{{1, 300_000, 1}, {17, 300_000, 1}, {17, 30_000, 1}, {1, 300_000, 4}, {40, 300_000, 600}} {
		whole := scattered(x.areas, x.synapses, x.delays)
		for _, c := range []*connectome.Connectome{whole, whole.Cut(connectome.Part{Index: 1, Of: 3})} {
			for _, workers := range []int{1, 3, 28} {
				runtime.GOMAXPROCS(workers%5 + 1)
				b := open(c, engine.Want{}, workers, vector.Best())
				for _, w := range b.workers {
					own, r := newWalker(c, w.portSpans()), &w.rows
					for n := range c.Neurons {
						name := fmt.Sprint(x, " part ", c.Part, " workers ", workers, " worker ", w.index, " row ", n)
						got := []uint16(nil)
						if r.rooms.Room > 0 {
							rooms++
							if got = append(got, r.rooms.Row(n)...); len(got) > 0 && got[1] == vector.Few {
								got[1] = vector.Even
							}
						} else {
							got = r.units[r.first[n]:r.first[n+1]]
						}
						if want := alone(c, w, &own, n); len(got)+len(want) > 0 {
							require.Equal(t, want, got, name)
						}
					}
				}
				require.NoError(t, b.Close())
			}
		}
	}
	require.Positive(t, rooms)
}

// TestRowsAreDealtOnce has many goroutines take all rows: each row is in one block, and what is done in turn is done in their order.
func TestRowsAreDealtOnce(t *testing.T) {
	c := scattered(17, 300_000, 4)
	d, dealt, order := newDeal(c), make([]atomic.Uint32, c.Neurons), []uint32{}
	o := owners{count: 7}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.count))
	o.hands(func() {
		for lo, hi, turn := d.take(); lo < hi; lo, hi, turn = d.take() {
			for n := lo; n < hi; n++ {
				dealt[n].Add(1)
			}
			require.True(t, hi == lo+1 || c.Row[hi]-c.Row[lo] <= blockSynapses)
			d.inTurn(turn, func() { order = append(order, lo) })
		}
	})
	for n := range dealt {
		require.EqualValues(t, 1, dealt[n].Load(), "row %d", n)
	}
	require.Greater(t, len(order), 4)
	require.IsIncreasing(t, order)
}

// TestRowsTakeOnePass has memory reserved that rows of all workers fit, so that they are encoded once.
func TestRowsTakeOnePass(t *testing.T) {
	for _, delays := range []int{1, 600} {
		c := regular(30_000)
		if delays > 1 {
			c.Delay.Long, c.MaxDelay = make([]uint16, c.Synapses()), delays
			r := rand.New(rand.NewPCG(1, 2))
			for i := range c.Delay.Long {
				c.Delay.Long[i] = uint16(1 + (i%100)*6 + r.IntN(3))
			}
		}
		m := maker{list: make([]rows, 9)}
		b := &backend{c: c, moving: makeMoving(c)}
		var list []*worker
		for i := range m.list {
			list = append(list, &worker{b: b})
			list[i].deal(i, len(m.list))
			m.list[i].bursts = 1
		}
		m.owners = newOwners(c, list, delays > 1)
		guess, share := m.measure(sampled, make([]uint64, m.count))
		for i := range m.list {
			m.reserve(&m.list[i], &guess[i], share)
		}
		require.True(t, m.encode(), "delays up to %d", delays)
	}
}
