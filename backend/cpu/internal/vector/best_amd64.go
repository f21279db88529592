package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./gen -out vector_amd64.s -stubs stubs_amd64.go -pkg vector

// sets are all loops that this processor has, the fastest last.
func sets() []Kernels {
	list := []Kernels{Plain()}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasBMI1 || !cpu.X86.HasBMI2 || !cpu.X86.HasPOPCNT {
		return list
	}
	list = append(list, avx2())
	if !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512VL || !cpu.X86.HasAVX512DQ {
		return list
	}
	wide := avx2()
	wide.Name, wide.Draws, wide.AddCounts = "avx512", drawsBy(drawsAVX512), addCountsBy(addCountsAVX512)
	wide.LIF, wide.PSCExp = lifBy(sixteen), pscExpBy(sixteen)
	wide.Event, wide.Candidates, wide.SlotsPerMark = widestEvent, widestCandidates, 160
	wide.Synapses.Pairs, wide.Synapses.ShortPair = widestPairs, 1
	list = append(list, wide)
	if !cpu.X86.HasAVX512VBMI2 || !cpu.X86.HasAVX512BW {
		return list
	}
	wide.Name, wide.Candidates, wide.SlotsPerMark = "avx512vbmi2", candidatesBytes, 192
	return append(list, wide)
}

func avx2() Kernels {
	return Kernels{
		Name: "avx2", LIF: lifBy(eight), PSCExp: pscExpBy(eight), FEAGI: wideFEAGI, Draws: drawsBy(drawsAVX2), AddCounts: addCountsBy(addCountsAVX2), Event: wideEvent, Candidates: wideCandidates, SlotsPerMark: 96, Nonzero: wideNonzero,
		Deliver: fastDeliver, DeliverRuns: fastDeliverRuns, DeliverRooms: fastDeliverRooms, FetchRows: fetchRows, FetchSpans: fetchSpans, FetchRuns: fetchRuns, Formula: wideFormula(), Synapses: wideSynapses(),
	}
}

// The assembly takes whole blocks; what is left over is the plain loops' work.

func wideFEAGI(k *FEAGI, acc []int32, v []float32, r []uint16, fired []uint64) {
	n := len(acc) / Block
	if n > 0 {
		_, _, _ = v[n*Block-1], r[n*Block-1], fired[n-1]
		feagiAVX2(&k.Threshold, &acc[0], &v[0], &r[0], &fired[0], uint64(n))
	}
	if m := n * Block; m < len(acc) {
		feagi(k, acc[m:], v[m:], r[m:], fired[n:])
	}
}

func drawsBy(draws func(p *uint32, first uint32, out *uint32, n uint64)) func(p *Philox, first uint32, out []uint32) {
	return func(p *Philox, first uint32, out []uint32) {
		if n := len(out) / 32; n > 0 {
			draws(&p.rounds[0][0], first, &out[0], uint64(n))
		}
	}
}

func addCountsBy(add func(acc *int32, draws, thresholds *uint32, count uint64, amount int32, n uint64)) func(acc []int32, draws, thresholds []uint32, amount int32) {
	return func(acc []int32, draws, thresholds []uint32, amount int32) {
		n := 0
		if len(thresholds) > 0 {
			if n = len(acc) / 32 * 32; n > 0 {
				_ = draws[n-1]
				add(&acc[0], &draws[0], &thresholds[0], uint64(len(thresholds)), amount, uint64(n/32))
			}
		}
		addCounts(acc[n:], draws[n:], thresholds, amount)
	}
}

// nearAges are the factors of decay that eventAVX512 keeps in registers.
const nearAges = 128

// wideEvent takes fours, and the plain loop what is left over.
func wideEvent(k *Event, cells []Cell, acc []int32, list []uint32) (fired int) {
	rest := list[len(list)/4*4:]
	if n := len(list) / 4; n > 0 {
		fired = int(eventAVX2(&k.Scale, &k.Decay[0], uint64(len(k.Decay)-1), &cells[0].V, &acc[0], &list[0], uint64(n)))
	}
	return fired + copy(list[fired:], rest[:event(k, cells, acc, rest)])
}

// widestEvent takes sixteens, and wideEvent what is left over.
func widestEvent(k *Event, cells []Cell, acc []int32, list []uint32) (fired int) {
	if len(k.Decay) < nearAges {
		return wideEvent(k, cells, acc, list)
	}
	rest := list[len(list)/16*16:]
	if n := len(list) / 16; n > 0 {
		fired = int(eventAVX512(&k.Scale, &k.Decay[0], uint64(len(k.Decay)-1), &cells[0].V, &acc[0], &list[0], uint64(n)))
	}
	return fired + copy(list[fired:], rest[:wideEvent(k, cells, acc, rest)])
}

func wideCandidates(acc []int32, list []uint32) int { return candidatesIn(candidatesAVX2, acc, list) }

func widestCandidates(acc []int32, list []uint32) int {
	return candidatesIn(candidatesAVX512, acc, list)
}

func candidatesBytes(acc []int32, list []uint32) int { return candidatesIn(candidatesVBMI2, acc, list) }

func candidatesIn(candidates func(acc *int32, list *uint32, blocks uint64) uint64, acc []int32, list []uint32) int {
	if len(acc) == 0 {
		return 0
	}
	_ = list[len(acc)+Spare-1]
	return int(candidates(&acc[0], &list[0], uint64(len(acc)/Block)))
}

func wideNonzero(acc []int32, bits []uint64) {
	n := len(acc) / Block
	if n > 0 {
		_ = bits[n-1]
		nonzeroAVX2(&acc[0], &bits[0], uint64(n))
	}
	if m := n * Block; m < len(acc) {
		nonzero(acc[m:], bits[n:])
	}
}

func fastDeliver(acc []int32, rows []uint16, spans []Span, ahead int) {
	n := uint64(len(spans))
	switch {
	case n == 0 || len(rows) == 0:
	case alike(spans):
		deliverAlikeAVX2(&acc[0], &rows[0], &spans[0].From, n, uint64(ahead))
	default:
		deliverAVX2(&acc[0], &rows[0], &spans[0].From, n, uint64(ahead))
	}
}

// alike reports whether most spans seem to be as long as the one before, by the first ones.
func alike(spans []Span) bool {
	const some = 17
	first := spans[:min(some, len(spans))]
	same := 0
	for i := range first[1:] {
		if first[i].To-first[i].From == first[i+1].To-first[i+1].From {
			same++
		}
	}
	return 2*same >= len(first)
}

func fastDeliverRuns(acc []int32, at int, rows []uint16, flights []Flight, ahead int) {
	n := uint64(len(flights))
	if ahead == 0 {
		ahead = len(flights)
	}
	switch {
	case n == 0 || len(rows) == 0:
	case at == 0:
		deliverRunsAVX2(unsafe.SliceData(acc), &rows[0], &flights[0].From, n, uint64(ahead))
	default:
		deliverRoundAVX2(unsafe.SliceData(acc), uint64(at), uint64(len(acc)-at), &rows[0], &flights[0].From, n, uint64(ahead))
	}
}

func fastDeliverRooms(acc []int32, r *Rooms, ids []uint32) {
	if n := len(ids); n > 0 {
		deliverRoomsAVX2(unsafe.SliceData(acc), &r.Units[0], 2*r.Room, unsafe.SliceData(r.Rest), &ids[0], uint64(n))
	}
}

func fetchRows(first []uint64, ids []uint32) {
	if len(first) > 0 && len(ids) > 0 {
		fetchRowsAVX2(&first[0], &ids[0], uint64(len(ids)))
	}
}

func fetchSpans(rows []uint16, spans []Span) {
	if len(rows) > 0 && len(spans) > 0 {
		fetchSpansAVX2(&rows[0], &spans[0].From, uint64(len(spans)))
	}
}

func fetchRuns(rows []uint16, flights []Flight) {
	if len(rows) > 0 && len(flights) > 0 {
		fetchRunsAVX2(&rows[0], &flights[0].From, uint64(len(flights)))
	}
}
