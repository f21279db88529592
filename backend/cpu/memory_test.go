package cpu

import (
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/heap"
	"burst/internal/pages"
	"burst/internal/slow"
)

// TestMemoryIsWhatOpenTakes compares with what the garbage collector counts, within 5 %; arrays that are aligned for huge
// pages count 4 MiB more each there, which is never touched.
func TestMemoryIsWhatOpenTakes(t *testing.T) {
	slow.Short(t)
	mixed := enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(20_001), enginetest.PSCExp(30_011), enginetest.Poisson(5_003, 0.01)}}
	for i := range uint32(300_000) { // several delays, weights that repeat
		mixed.Synapses = append(mixed.Synapses, enginetest.Synapse{From: i % 55_015, To: i * 7 % 80_023, Weight: int32(i % 5), Delay: 1 + uint16(i%4)})
	}
	many := regular(9_000)
	for i := range many.Weight { // all differ
		many.Weight[i] = int32(i)
	}
	learns := learner{neurons: 9_000, fan: 100, period: 100, delay: 5, lag: 1}.build(true)
	late := enginetest.Plastic{Hi: 1, Synapses: []enginetest.Synapse{{From: 0, To: 1, Weight: 1, Delay: 1}, {From: 0, To: 2, Weight: 1, Delay: 40_000}}}
	lateNet := enginetest.Net{Scale: 1000, Areas: []connectome.Area{enginetest.FEAGI(70)}, Plastic: []enginetest.Plastic{late}}
	for name, c := range map[string]*connectome.Connectome{"one delay": regular(30_000), "several delays": mixed.Build(), "many weights": many, "plastic": learns, "plastic and late": lateNet.Build()} {
		for _, wanted := range []int{1, 3} {
			want := Memory(c, wanted)
			before := heap.Live()
			b := open(c, engine.Want{}, threads(c, wanted), vector.Best())
			got := float64(heap.Live()) - float64(before) - float64(b.slack())
			if most := MemoryAtMost(c, wanted); most < want {
				t.Errorf("%s, %d threads: Memory says %d bytes, at most %d", name, wanted, want, most)
			}
			if ratio := float64(want) / got; ratio < 0.95 || ratio > 1.05 {
				t.Errorf("%s, %d threads: Memory says %d bytes, Open took %.0f", name, wanted, want, got)
			}
			_ = b.Close()
		}
	}
}

// slack is what aligning for huge pages adds.
func (b *backend) slack() (bytes int) {
	beyond := func(least int) func(size int) {
		return func(size int) {
			if size >= least {
				bytes += 4 << 20
			}
		}
	}
	add, learns := beyond(128<<10), beyond(1<<20)
	for _, w := range b.workers {
		add(len(w.memory) + pages.OwnSlack)
		add(4 * len(w.coming))
		add(8 * len(w.marked))
		add(8 * len(w.rows.first))
		add(2 * cap(w.rows.units))
		add(2 * len(w.rows.rooms.Units))
		for _, x := range w.shares {
			learns(4 * len(x.last))
			for _, list := range [][][]float32{x.traces, x.ring.notes} {
				for k := range list {
					learns(4 * len(list[k]))
				}
			}
			learns(16 * len(x.ring.slots))
			learns(4 * len(x.ring.older))
			learns(len(x.ring.own))
		}
		bytes += 2 * (cap(w.rows.units) - len(w.rows.units)) // never touched either
	}
	for _, l := range b.learns {
		learns(4 * len(l.weight))
		learns(8 * len(l.postLast))
		for _, list := range [][][]float32{l.synapse, l.post, l.live.traces, l.live.variables} {
			for k := range list {
				learns(4 * len(list[k]))
			}
		}
	}
	return bytes
}
