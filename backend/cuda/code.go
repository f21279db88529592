package cuda

import (
	"errors"
	"slices"
	"sort"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/quanta"
)

// Rows of places (places.go) are made where rows are, some of these at a time: once to count the lengths of their stretches, by which slots
// are sized, and again to write the slots. All rows at once would take more memory than their slots.
const (
	countedPieces = 3  // 4/3 bytes a synapse at a time, when there are no slots yet
	codedPieces   = 18 // 2/9 of a byte beside the slots
	mostCounted   = 1 << 20
)

// coding is the struct of that name in kernels/coded_rows.cuh, field for field.
type coding struct {
	teams, neurons, rounds uint32
	units, piecesLog       uint32
	slot, more             driver.Ptr
	further, lengths       driver.Ptr
}

// codeArgs are the parameters of its kernels.
type codeArgs struct {
	building building
	coding   coding
}

// codes reports whether the device makes rows of places of the recipe: each row has one weight whatever is drawn, ports are neurons, and rows
// are drawn piece by piece in a reasonable time.
func (w *work) codes(q *question) bool {
	if longest, _ := spread(q.c.Row); longest > mostCounted || slices.ContainsFunc(q.c.Areas, func(a connectome.Area) bool { return a.PortsEach() != 1 }) {
		return false
	}
	weights := map[uint32]int32{} // by an area's first neuron
	for i := range w.r.Projections {
		p := &w.r.Projections[i]
		if p.None {
			continue
		}
		known, there := weights[p.From.First]
		weight := quanta.Clamp(p.Fixed)
		again := p.Field != nil && (p.Rule != genome.DistanceRule || p.Both) // it would be drawn in whole for each piece, which takes long
		if p.Weight.Kind != genome.Const || again || there && weight != known {
			return false
		}
		weights[p.From.First] = weight
	}
	n := len(constants(w.r))
	return n <= mostLabels && n <= q.b.tune.mostWeights(w.r.Ports)
}

// coder makes rows of places.
type coder struct {
	*work
	row     []uint64
	longest uint64 // row
	b       building
	f       finishing
	c       coding
	keyBits uint32
}

// code makes rows of places that stay on the device, as the host would lay them for the taker, but for the order of further units. Where
// they do not fit it says what they lack, and has made nothing.
func (w *work) code(q *question, sums []uint64) (placed connectome.Placed, lacks string, err error) {
	q.t = makeTables(q.b.c)
	shapes, lacks, err := q.shapes()
	if lacks != "" || err != nil {
		return placed, lacks, err
	}
	m := &made{site: w.site, least: leastOf(w.r)}
	w.labels = constants(w.r)
	if err := w.list(m); err != nil {
		return placed, "", err
	}
	k := &coder{work: w, row: q.c.Row, b: w.building(), f: finishing{values: m.values}}
	k.longest, _ = spread(k.row)
	k.keyBits = w.keyBits(&k.b)
	r := *q.r
	err = w.stage(min(size(k.row), smallStaging), func(s *staging) error {
		lengths, along, hash, found := make([]uint64, k.longest+1), w.along(), make([]uint64, 1), make([]uint32, 2)
		k.f.count = uint32(len(along))
		if err := w.take(
			room{&k.b.row, size(k.row), false}, room{&k.b.cursor, 4 * k.b.neurons, false}, room{&k.b.sums, size(sums), true}, room{&k.b.found, size(found), true},
			room{&k.b.tables, w.tableBytes(), false}, room{&k.f.drawn, size(along), false}, room{&k.f.hash, size(hash), true},
			room{&k.c.lengths, size(lengths), false}, room{&k.c.further, 4, true},
		); err != nil {
			return err
		}
		if err := errors.Join(s.upload(k.b.row, data(k.row), size(k.row)), s.upload(k.f.drawn, data(along), size(along))); err != nil {
			return err
		}
		own := make([]uint64, len(sums))
		for i, shape := range shapes {
			if err := k.count(shape, lengths, s); err != nil {
				return err
			}
			if i == 0 { // what is drawn again is added to sums again, and not wanted
				if err := errors.Join(s.addTo(own, k.b.sums), s.download(data(hash), k.f.hash, size(hash)), s.download(data(found), k.b.found, size(found))); err != nil {
					return err
				}
				k.f.hash = 0
			}
			if r.cut(q.c, shape, q.mostPlaces(), listed(lengths)) {
				break
			}
		}
		if !r.placed() {
			lacks = q.tooLong()
			return nil
		}
		addTo(sums, own)
		placed = connectome.Placed{Longest: int(found[0]), Bad: found[1] != 0, Kept: true, Hash: hash[0]}
		return k.write(&r)
	})
	if lacks != "" || err != nil {
		w.labels = nil
		return placed, lacks, errors.Join(err, w.give(&m.values))
	}
	r.table, r.least = m.table, m.least
	m.b, m.more, m.coded, w.made = building{target: k.c.slot}, k.c.more, r, m
	w.leave(m)
	return placed, "", nil
}

// listed are the lengths that there are, each with its number.
func listed(lengths []uint64) func(yield func(length, n uint64) bool) {
	return func(yield func(uint64, uint64) bool) {
		for length, n := range lengths {
			if n > 0 && !yield(uint64(length), n) {
				return
			}
		}
	}
}

// count counts the stretches of each length that rows have in a shape.
func (k *coder) count(s clusterShape, lengths []uint64, by *staging) error {
	k.c.teams, k.c.neurons, k.c.rounds = uint32(s.count), uint32(s.neurons()), uint32(s.rounds)
	if err := k.stream.Fill(k.c.lengths, 0, size(lengths)); err != nil {
		return err
	}
	err := k.pass(countedPieces, func(b building) error { return k.launch(&k.site.stretch, b, 2) })
	return errors.Join(err, by.download(data(lengths), k.c.lengths, size(lengths)))
}

// write writes the slots of r, and the units that they do not hold.
func (k *coder) write(r *rows) error {
	k.c.units, k.c.piecesLog = uint32(r.shape.units), uint32(r.shape.piecesLog)
	if err := k.take(room{&k.c.slot, readBytes(unitBytes / 4 * r.slots), false}, room{&k.c.more, unitBytes * r.more, false}); err != nil {
		return err
	}
	return k.pass(codedPieces, func(b building) error { return k.launch(&k.site.code, b, 2+1<<k.c.piecesLog) })
}

// pass makes all rows in about so many pieces, each of which is handed on.
func (k *coder) pass(pieces uint64, use func(b building) error) error {
	b, n := k.b, uint64(len(k.row)-1)
	most := max(divUp(k.row[n], pieces), k.longest)
	if err := k.take(room{&b.target, readBytes(most), false}, b.delays(most, connectome.DelayBytes(k.r.Longest))); err != nil {
		return err
	}
	room := b
	if err := k.stream.Fill(b.cursor, 0, 4*n); err != nil {
		return err
	}
	for b.first = 0; b.first < n; b.first = b.neurons {
		base := k.row[b.first]
		b.neurons = b.first + uint64(sort.Search(int(n-b.first), func(i int) bool { return k.row[b.first+uint64(i)+1]-base > most }))
		b.target = room.target - driver.Ptr(4*base) // kernels number synapses in all rows
		if room.shortDelay != 0 {
			b.shortDelay = room.shortDelay - driver.Ptr(base)
		}
		if room.longDelay != 0 {
			b.longDelay = room.longDelay - driver.Ptr(2*base)
		}
		for i := range k.r.Projections {
			if err := k.placeBefore(b, i, 2*most); err != nil { // as many pieces of stretches as of rows, mostly
				return err
			}
		}
		if err := errors.Join(k.makeRows(b, k.row[b.first:b.neurons+1], k.keyBits, k.f), use(b)); err != nil {
			return err
		}
	}
	return k.give(&room.target, &room.shortDelay, &room.longDelay)
}

// launch launches a kernel whose blocks keep so many words for each team.
func (k *coder) launch(e *entry[codeArgs], b building, words uint32) error {
	if err := use(k.site, e); err != nil {
		return err
	}
	return e.launchGrid(uint32(min(b.neurons-b.first, uint64(32*k.sms))), k.tune.threads, 4*words*k.c.teams, k.stream, codeArgs{b, k.c})
}
