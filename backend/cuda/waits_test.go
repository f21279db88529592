package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// rowsWait has rows of all networks on path run wait for so many bursts, so many rows at a time.
func rowsWait(t *tuning, longest uint32, rows uint64) {
	t.roaming, t.delayedRow, t.teamRow, t.clusterRow = true, 0, 0, 0
	t.waitLongest, t.waitRow, t.waitRing, t.waitRows = longest, 0, 0, rows
}

// TestWaits compares launches in which rows wait with the reference, burst for burst and state for state.
func TestWaits(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for kind, n := range []struct {
		name  string
		delay func(r *rand.Rand, from, k uint32) uint16
		why   string
	}{
		{"short", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + r.UintN(4)) }, "many are due in each burst, more than a turn's"},
		{"one", func(*rand.Rand, uint32, uint32) uint16 { return 15 }, "rows are looked at in vain, and then delivered whole"},
		{"shortest and longest", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + 254*(r.UintN(3)/2)) }, "some wait for a burst, others not at all"},
		{"any", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + r.UintN(90)) }, "rows have both"},
		{"two bytes", func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + r.UintN(300)) }, "delays are joined with weights"},
	} {
		c := waiting(n.delay)
		for i, v := range []struct {
			longest uint32
			rows    uint64
			change  func(*tuning)
		}{
			{mostWaits - 1, 1 << 12, func(*tuning) {}},
			{mostWaits, 1 << 6, func(t *tuning) { t.batchThreads, t.unpacked = 1024, true }},
			{2, 4, func(t *tuning) { t.batch = 3 }},
			{20, 1 << 8, func(t *tuning) { t.batch = 1 }},
		} {
			if (c.MaxDelay > 100 || !slow.Asked()) && i != kind%4 {
				continue // hundreds of bursts each
			}
			tune := defaults
			tune.batchThreads, tune.batch = 256, 7
			rowsWait(&tune, v.longest, v.rows)
			v.change(&tune)
			t.Run(fmt.Sprintf("%s/%d bursts, %d rows", n.name, v.longest, v.rows), func(t *testing.T) {
				if c.MaxDelay > 100 {
					slow.Case(t)
				}
				asReference(t, c, engine.Want{}, tune, pathRun, n.why)
			})
		}
	}
}

// TestWaitsOfGroups runs the suite's batches on devices that share each network, and in processes: those of networks whose rows wait.
func TestWaitsOfGroups(t *testing.T) {
	slow.Test(t)
	devices(t, 3).Control("multiprocessors", 4)
	tune := fewThreads()
	rowsWait(&tune, 9, 1<<6)
	tune.drawLeast = 1
	leads := func(b engine.Backend) *backend {
		if g, ok := b.(*group); ok {
			return g.parts[0]
		}
		return leading(b)
	}
	for name, start := range map[string]func(c *connectome.Connectome, w engine.Want) (engine.Backend, error){
		"two devices": func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return openCut(c, []int{1, 0}, w, tune)
		},
		"three devices": func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return openCut(c, []int{0, 2, 1}, w, tune)
		},
		"three processes": func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return inProcesses(c, 3, w, tune)
		},
	} {
		t.Run(name, func(t *testing.T) {
			waits := 0
			enginetest.RunBatches(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				b, err := start(c, w)
				if err != nil || leads(b).choice.waits == 0 {
					return struct{ engine.Backend }{b}, err // no Batcher: other tests run networks whose rows do not wait
				}
				waits++
				return b, err
			}, reference.Open, engine.Want{})
			require.Greater(t, waits, 3)
		})
	}
}

// TestWaitsPay: rows wait where they are long for the bursts that they would wait, and sums of bursts to come are many.
func TestWaitsPay(t *testing.T) {
	c := waiting(func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + r.UintN(30)) })
	for _, v := range []struct {
		waits  uint32
		change func(*tuning)
	}{
		{0, func(*tuning) {}},
		{30, func(t *tuning) { t.waitRing = ringBytes(c) }},
		{0, func(t *tuning) { t.waitRing = ringBytes(c) + 1 }},
		{9, func(t *tuning) { t.waitRing, t.waitLongest = 0, 9 }},
		{0, func(t *tuning) { t.waitRing, t.waitLongest = 0, 0 }},
		{0, func(t *tuning) { t.waitRing, t.waitRow = 0, 9 }},
	} {
		b := onUsual(c, engine.Want{})
		b.tune.roaming, b.tune.waitRow = true, 4
		v.change(&b.tune)
		tables := makeTables(c)
		b.rows, _ = b.rowsOf(c, tables)
		b.makePlan(tables)
		require.Equal(t, pathRun, b.choice.path)
		require.Equal(t, v.waits, b.choice.waits)
		require.Equal(t, v.waits > 0, b.plan.bytes[bufWaits] > 0)
	}
}
