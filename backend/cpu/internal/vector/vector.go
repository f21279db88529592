// Package vector has the inner loops of the cpu backend, in plain Go and, for amd64, in AVX2 assembly. Both give the same
// bits: the assembly does the same operations in the same order in eight lanes, without fused multiply-add.
package vector

// Block is the number of neurons per word of spikes and per byte that says whether a block is live.
const Block = 64

// Kernels is a set of loops; Plain and Best return one.
type Kernels struct {
	Name string // go, avx2, avx512 or avx512vbmi2

	// LIF is step 4 of lif for neurons with equal constants. acc, v and r have the same length; acc becomes zero. For each
	// Block of neurons it writes a bit per neuron that fired, and whether the block is live: it got input, changed a bit
	// of its state or fired.
	LIF func(k *LIF, acc []int32, v []float32, r []uint16, fired []uint64, live []uint8)

	// PSCExp is step 4 of lif_psc_exp likewise.
	PSCExp func(k *PSCExp, s *Currents, fired []uint64, live []uint8)

	// FEAGI is step 4 of feagi, without the counts, for neurons with equal constants, no fire_limit and excitability 1.
	// acc becomes zero. For each Block of neurons it writes a bit per neuron that fired.
	FEAGI func(k *FEAGI, acc []int32, v []float32, r []uint16, fired []uint64)

	// Draws fills out with Philox words: out[4·i+w] is word w of counter first+i. len(out) is a multiple of 32.
	Draws func(p *Philox, first uint32, out []uint32)

	// AddCounts adds to each sum amount times the number of thresholds, ascending, that are ≤ its draw.
	AddCounts func(acc []int32, draws, thresholds []uint32, amount int32)

	// Event is step 4 of lif_event for neurons with equal constants that have an input: list has them, each once. Their sums become
	// zero. It writes those that fired to the front of list, in the same order, and returns how many.
	Event func(k *Event, cells []Cell, acc []int32, list []uint32) int

	// Candidates lists the places of sums that are not zero, ascending, and returns how many. They come in whole Blocks; list has
	// room for all of them and Spare.
	Candidates func(acc []int32, list []uint32) int

	// SlotsPerMark is how many sums Candidates looks through in the time that it takes to mark one and to find it by its mark.
	SlotsPerMark uint32

	// Nonzero writes for each Block of sums a bit per sum that is not zero.
	Nonzero func(acc []int32, bits []uint64)

	// Deliver adds the weights in the segments of all spans of rows to the sums. While it delivers a span it prefetches
	// at most the first kilobyte of the span that comes ahead ≥ 1 spans later. Slots are not checked: they must exist.
	Deliver func(acc []int32, rows []uint16, spans []Span, ahead int)

	// DeliverRuns lets flights go on through their rows by one run, if they have one, whose weights it adds to the sums: slot 0 is at
	// acc[at], and behind the last sum comes the first one. While it delivers a run it prefetches at most the first kilobyte of the one
	// that comes ahead flights later; with 0 none.
	DeliverRuns func(acc []int32, at int, rows []uint16, flights []Flight, ahead int)

	// DeliverRooms adds the weights of the rows with these numbers to the sums. acc has spare slots where Rooms.Slots says so.
	DeliverRooms func(acc []int32, r *Rooms, ids []uint32)

	// FetchRows prefetches first[id] for every id.
	FetchRows func(first []uint64, ids []uint32)

	// FetchSpans prefetches at most the first kilobyte of each span.
	FetchSpans func(rows []uint16, spans []Span)

	// FetchRuns prefetches at most the first kilobyte of the run of each flight.
	FetchRuns func(rows []uint16, flights []Flight)

	Formula  // for models that genomes define
	Synapses // for those that learn
}

// LIF are the constants of a lif area; Term is its constant input in this burst.
type LIF struct {
	EM1, Term, Scale, Threshold, Reset float32
	Refractory                         uint32 // below 2^16
}

// PSCExp are the constants of a lif_psc_exp area; Term is its constant input in this burst.
type PSCExp struct {
	EM1, P21Ex, P21In, P11Ex, P11In, Term, Scale, Threshold, Reset float32
	Refractory                                                     uint32 // below 2^16
}

// FEAGI are the constants of a feagi area without fire_limit and with excitability 1.
type FEAGI struct {
	Threshold, Limit, Keep, LeakAmount, Scale float32
	Refractory                                uint32 // below 2^16
	Accumulate                                uint32 // all ones, or 0
	Leaks                                     uint32 // all ones where LeakAmount > 0, or 0
}

// Currents are the sums and the state of lif_psc_exp neurons, slices of the same length.
type Currents struct {
	AccEx, AccIn []int32
	V, Ex, In    []float32
	R            []uint16
}

// Span is a range of units, From ≤ k < To, that consists of whole segments.
type Span struct{ From, To uint64 }

// Flight is a spike on its way along a row, which ends at unit To. The run at unit From comes next and has so many Units; with From = To
// there is none. Due is the burst of the spike, modulo the longest delay, plus the delay of that run. Go keeps four fields in registers.
type Flight struct {
	From, To   uint64
	Units, Due uint32
}

// Launch is the flight that begins with the first run from unit from to unit to, if there is one.
func Launch(rows []uint16, from, to uint64, fired uint32) Flight {
	f := Flight{From: from, To: to, Due: fired}
	if from < to {
		f.look(rows)
	}
	return f
}

// Next goes on by a run, which must be there. With the last one nothing but From changes.
func (f *Flight) Next(rows []uint16) {
	delay := uint32(rows[f.From])
	if f.From += uint64(f.Units); f.From < f.To {
		f.Due -= delay
		f.look(rows)
	}
}

// look reads the header of the run that comes next.
func (f *Flight) look(rows []uint16) {
	f.Units, f.Due = RunUnits+Double(rows[f.From+1:]), f.Due+uint32(rows[f.From])
}

// RunUnits is the length of the header of a run in units: its delay (1 unit) and the length of its segments (2 units), which follow.
const RunUnits = 3

// Philox is a key of Philox4x32-10, expanded to the words of ten rounds for eight lanes, and words 1 to 3 of the counter.
type Philox struct {
	rounds  [20][8]uint32
	Counter [3]uint32
}

// NewPhilox prepares a key.
func NewPhilox(key uint64) *Philox {
	p := &Philox{}
	k0, k1 := uint32(key), uint32(key>>32)
	for i := range 10 {
		for lane := range 8 {
			p.rounds[2*i][lane], p.rounds[2*i+1][lane] = k0, k1
		}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return p
}

// key returns the key that was given to NewPhilox.
func (p *Philox) key() uint64 { return uint64(p.rounds[1][0])<<32 | uint64(p.rounds[0][0]) }

// blocks is the number of blocks for n neurons.
func blocks(n int) int { return (n + Block - 1) / Block }
