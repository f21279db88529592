package cpu

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/slow"

	"github.com/stretchr/testify/assert"
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
		slots, weights := []uint32(nil), []int32(nil)
		first, last := uint32(0), uint32(math.MaxUint32) // delays of the run
		if least, bursts := uint32(w.rows.least), uint32(w.rows.bursts); bursts > 0 {
			first = (c.DelayOf(from)-least)/bursts*bursts + least
			last = first + bursts - 1
		}
		for from < end && c.DelayOf(from) <= last {
			next := sameDelay(c, from, end)
			ports, shift, some := own.take(from, next)
			for _, port := range ports {
				slot := port - shift
				if w.rows.bursts > 0 {
					slot += (c.DelayOf(from) - first) * uint32(len(w.acc))
				}
				slots = append(slots, slot)
			}
			weights = append(weights, some...)
			from = next
		}
		segments := (&encoder{}).segments(make([]uint16, 0, mostUnits*len(slots)), slots, 0, weights)
		if w.rows.single == 0 && len(slots) > 0 {
			row = append(row, uint16(first), 0, 0)
			vector.PutDouble(row[len(row)-2:], uint32(len(segments)))
		}
		row = append(row, segments...)
	}
	return row
}

// TestRowsAreDealtOnce has many goroutines take all rows: each row is in one block, and what is done in turn is done in their order.
func TestRowsAreDealtOnce(t *testing.T) {
	c, o := scattered(17, 300_000, 4), owners{count: 3}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.count))
	synctest.Test(t, func(t *testing.T) { // which fails at once if all wait for a turn
		d, dealt, order := newDeal(c), make([]atomic.Uint32, c.Neurons), []uint32{}
		o.inParallel(func() {
			for lo, hi, turn := d.take(); lo < hi; lo, hi, turn = d.take() {
				for n := lo; n < hi; n++ {
					dealt[n].Add(1)
				}
				assert.True(t, hi == lo+1 || c.Row[hi]-c.Row[lo] <= blockSynapses && hi <= lo+blockRows)
				time.Sleep(time.Duration(3 - turn%3)) // so that blocks are done in another order
				d.inTurn(turn, func() { order = append(order, lo) })
			}
		})
		for n := range dealt {
			require.EqualValues(t, 1, dealt[n].Load(), "row %d", n)
		}
		require.Greater(t, len(order), 4)
		require.IsIncreasing(t, order)
	})
}

// TestOwnersAreFound compares the span of each port with that of a plain search; of the ports that near lists it is known at once.
func TestOwnersAreFound(t *testing.T) {
	c := scattered(40, 1000, 1)
	for _, c := range []*connectome.Connectome{c, c.Cut(connectome.Part{Index: 1, Of: 3})} {
		b := open(c, engine.Want{}, 7, vector.Best())
		o := newOwners(c, b.workers, runs{})
		require.NoError(t, b.Close())
		for port := range c.Ports {
			at := 0
			for at < len(o.spans) && o.spans[at].hi <= port {
				at++
			}
			require.Equal(t, at, o.spanOf(port), "port %d", port)
			if port>>o.shift<<o.shift == port {
				require.EqualValues(t, at, o.near[port>>o.shift], "port %d", port)
			}
		}
	}
}

// asPut is a row of a room as it was put there.
func asPut(row []uint16) []uint16 {
	row = slices.Clone(row)
	switch {
	case len(row) > 0 && row[1] == vector.Few:
		row[1] = vector.Even
	case len(row) > 0 && row[1] == vector.Direct:
		row = (&encoder{}).segments(make([]uint16, 0, 64), vector.Slots(nil, row), 0, slices.Repeat([]int32{int32(vector.Double(row[2:]))}, int(row[0])))
	}
	return row
}

// TestRowsAreThoseOfEachWorker compares the rows that are made for all workers at once with those of each by itself.
func TestRowsAreThoseOfEachWorker(t *testing.T) {
	slow.Short(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rooms := 0
	for _, x := range []struct {
		areas    int
		synapses uint32
		delays   int
	}{{1, 300_000, 1}, {17, 300_000, 1}, {17, 30_000, 1}, {1, 300_000, 4}, {40, 300_000, 600}} {
		whole := scattered(x.areas, x.synapses, x.delays)
		for _, c := range []*connectome.Connectome{whole, whole.Cut(connectome.Part{Index: 1, Of: 3})} {
			for _, workers := range []int{1, 3, slow.Times(11, 28)} {
				runtime.GOMAXPROCS(workers%5 + 1)
				b := open(c, engine.Want{}, workers, vector.Best())
				for _, w := range b.workers {
					own, r := newWalker(c, w.portSpans()), &w.rows
					for n := range c.Neurons {
						got := []uint16(nil)
						if r.rooms.Room > 0 {
							rooms++
							got = asPut(r.rooms.Row(n))
						} else {
							got = r.units[r.first[n]:r.first[n+1]]
						}
						if want := alone(c, w, &own, n); !slices.Equal(want, got) { // asked before require is, which is slow
							require.Equal(t, want, got, "%v, part %v, worker %d of %d, row %d", x, c.Part, w.index, workers, n)
						}
					}
				}
				require.NoError(t, b.Close())
			}
		}
	}
	require.Positive(t, rooms)
}

// TestRowsTakeOnePass has memory reserved that rows of all workers fit, so that they are encoded once. Another pass leaves as much.
func TestRowsTakeOnePass(t *testing.T) {
	slow.Short(t)
	for delays, workers := range map[int]int{1: 20, 600: 9} { // of 20, few rows are longer than their rooms
		c := regular(30_000)
		if delays > 1 {
			c.Delay.Long, c.MaxDelay = make([]uint16, c.Synapses()), delays
			r := rand.New(rand.NewPCG(1, 2))
			for i := range c.Delay.Long {
				c.Delay.Long[i] = uint16(1 + (i%100)*6 + r.IntN(3))
			}
		}
		m := maker{list: make([]rows, workers)}
		b := &backend{c: c, moving: makeMoving(c)}
		var list []*worker
		for i := range m.list {
			list = append(list, &worker{b: b})
			list[i].deal(i, len(m.list))
			if m.list[i].runs = (runs{1, 1}); delays == 1 {
				m.list[i].single, m.list[i].runs = 1, runs{}
			}
		}
		m.owners = newOwners(c, list, m.list[0].runs)
		guess, share := m.measure(sampled, make([]uint64, m.count))
		for i := range m.list {
			m.reserve(&m.list[i], &guess[i], m.slots[i], share)
		}
		require.True(t, m.encode(), "delays up to %d", delays)
		rest := len(m.list[0].rooms.Rest)
		require.Equal(t, delays == 1, rest > 0)
		require.True(t, m.encode(), "again")
		require.Equal(t, rest, len(m.list[0].rooms.Rest))
	}
}

// TestDelaysAreListed by any number of goroutines, also those that a single synapse has.
func TestDelaysAreListed(t *testing.T) {
	for _, odd := range []uint64{0, 499, 500, 998, 999} {
		short, long := make([]uint8, 1000), make([]uint16, 1000)
		for i := range short {
			short[i], long[i] = 3, 300
		}
		short[odd], long[odd] = 2, 600
		for _, threads := range []int{1, 2, 3, 28} {
			c := &connectome.Connectome{Neurons: 1, Row: []uint64{0, 1000}, Delay: connectome.Delays{Short: short}}
			require.Equal(t, []int{2, 3}, delays(c, threads))
			c.Delay = connectome.Delays{Long: long}
			require.Equal(t, []int{300, 600}, delays(c, threads))
		}
	}
}

// TestRoomsForAnyNumberOfWorkers: rows of 100 synapses have rooms wherever hardly any share of a worker is too long for the largest.
func TestRoomsForAnyNumberOfWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for workers := range uint32(64) {
		x := measured{rows: 10_000}
		for range x.rows {
			synapses := uint64(0)
			for range 100 {
				if r.Uint32N(workers+1) == 0 {
					synapses++
				}
			}
			units := uint64(0)
			if synapses > 0 {
				units = vector.HeaderUnits + vector.EvenUnits*(synapses-1)
			}
			x.units += units
			for k := range x.fit {
				if units <= 8<<k {
					x.fit[k]++
				}
			}
		}
		room, _ := x.roomFor(true)
		require.Equal(t, workers+1 >= 6, room > 0, "%d workers", workers+1)
	}
}
