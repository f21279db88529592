package connectome

// synapsesAPiece is about how many synapses a goroutine makes before it looks for more work.
const synapsesAPiece = 1 << 15

// draw makes all synapses onto a part of the projections wanted, once, unit by unit in no order; sinks has one sink a goroutine.
func (p *plan) draw(sinks []sink, wanted func(*wiring) bool, part Part) {
	type span struct {
		w           *wiring
		first, size uint64 // first piece, units a piece
		units       uint64
	}
	var list []span
	pieces := uint64(0)
	for i := range p.wirings {
		w := &p.wirings[i]
		units := w.units()
		if units == 0 || !wanted(w) {
			continue
		}
		synapses, _ := w.rule.synapses(w.ends.targets)
		size := max(1, synapsesAPiece/(synapses/units+1))
		list = append(list, span{w, pieces, size, units})
		pieces += (units + size - 1) / size
	}
	batches := make([]batch, len(sinks))
	parallel(len(sinks), pieces, func(worker int, piece uint64) {
		lo, hi := 0, len(list) // the last span that begins at piece or before
		for hi-lo > 1 {
			if m := (lo + hi) / 2; list[m].first <= piece {
				lo = m
			} else {
				hi = m
			}
		}
		s, b := list[lo], &batches[worker]
		b.wiring, b.sink, b.part = s.w, sinks[worker], part
		first := (piece - s.first) * s.size
		s.w.rule.draw(first, min(first+s.size, s.units), b)
		b.flush()
	})
}

func all(*wiring) bool { return true }
