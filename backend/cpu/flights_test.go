package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
)

// BenchmarkFlights is one of sixteen shares of a network like the microcircuit, alone on its core: drawn weights and delays.
func BenchmarkFlights(b *testing.B) {
	const sources, targets, fan, spikes, bursts = 77_169, 4_823, 242, 25, 400
	from, to := enginetest.Poisson(sources, 0), enginetest.PSCExp(targets)
	to.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 3, 1<<30, 1<<31, 3<<30)}
	c := enginetest.Net{Scale: 1000, Areas: []connectome.Area{from, to}}.Build()
	r := rand.New(rand.NewPCG(1, 2))
	first := c.Areas[1].Ports.First
	type synapse struct {
		delay  uint8
		port   uint32
		weight int32
	}
	row := make([]synapse, fan)
	for n := range sources {
		port, mean := uint32(0), 15.0
		if n%5 == 4 {
			port, mean = targets, 7.5
		}
		for k := range row {
			row[k] = synapse{uint8(min(max(1, mean+mean/2*r.NormFloat64()), 60)), first + port + r.Uint32N(targets), int32(878 + 87*r.NormFloat64())}
		}
		slices.SortFunc(row, func(a, b synapse) int {
			if a.delay != b.delay {
				return int(a.delay) - int(b.delay)
			}
			return int(a.port) - int(b.port)
		})
		for _, s := range row {
			c.Target, c.Weight, c.Delay.Short = append(c.Target, s.port), append(c.Weight, s.weight), append(c.Delay.Short, s.delay)
		}
		c.Row[n+1] = uint64(len(c.Target))
	}
	for n := sources; n < int(c.Neurons); n++ {
		c.Row[n+1] = uint64(len(c.Target))
	}
	c.MaxDelay = 60
	back := open(c, engine.Want{}, 1, vector.Best())
	defer back.Close()
	back.queues = newQueues(0, make([][]uint32, 60))
	w := back.workers[0]
	w.restore(engine.NewState(c))
	var queues [bursts][]uint32
	for i := range queues {
		for range spikes {
			queues[i] = append(queues[i], r.Uint32N(sources))
		}
		slices.Sort(queues[i])
	}
	least := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		t := [2]time.Duration{}
		for range 10 {
			back.queues.push(queues[w.now%bursts])
			w.now++
			begun := time.Now()
			w.recount()
			w.decide(0)
			w.fly(w.now % uint64(len(w.due)))
			w.propagate()
			mid := time.Now()
			w.inject()
			g := &w.groups[1]
			g.fired = g.fired[:0]
			w.updateBlocks(g)
			w.goOn()
			t[0], t[1] = t[0]+mid.Sub(begun), t[1]+time.Since(mid)
		}
		for i := range t {
			least[i] = min(least[i], t[i]/10)
		}
	}
	b.ReportMetric(float64(least[0].Nanoseconds())/1e3, "µs-propagate")
	b.ReportMetric(float64(least[1].Nanoseconds())/1e3, "µs-rest")
	b.ReportMetric(float64(w.rows.bursts), "bursts")
	b.ReportMetric(float64(len(w.rows.units))*2/float64(c.Synapses()), "bytes/synapse")
}
