// Package vector holds the inner loops of the cpu backend, as plain Go and, on amd64 with AVX2, as assembly that gives the
// same bits: eight lanes, the same operations in the same order, none fused, division rounded correctly.
package vector

// Block is how many neurons one word of spikes and one byte of liveliness stand for.
const Block = 64

// Kernels are the loops; Plain and Best make them.
type Kernels struct {
	Name string // go or avx2

	// LIF is step 4 of lif for neurons that share constants. acc, v and r have one length; acc becomes zero. For every
	// Block of neurons it writes the bits of those that fired and whether the block is live: whether it got input,
	// changed a bit of its state or fired.
	LIF func(k *LIF, acc []int32, v []float32, r []uint16, fired []uint64, live []uint8)

	// PSCExp is step 4 of lif_psc_exp likewise.
	PSCExp func(k *PSCExp, s *Currents, fired []uint64, live []uint8)

	// FEAGI is step 4 of feagi, but for the counts, for neurons that share constants and fire whenever they may; acc
	// becomes zero. For every Block of neurons it writes the bits of those that fired.
	FEAGI func(k *FEAGI, acc []int32, v []float32, r []uint16, fired []uint64)

	// Draws fills out with Philox words: out[4·i+w] is word w of counter first+i. len(out) is a multiple of 32.
	Draws func(p *Philox, first uint32, out []uint32)

	// AddCounts adds to each sum amount times the number of thresholds, ascending, that are ≤ its draw.
	AddCounts func(acc []int32, draws, thresholds []uint32, amount int32)

	// Nonzero writes for every Block of sums the bits of those that are not zero.
	Nonzero func(acc []int32, bits []uint64)

	// Deliver adds to the sums what the segments of all spans of rows say. While it delivers one span it asks for the
	// memory, at most the first kilobyte, of the one that comes ahead ≥ 1 spans later. Slots must exist: nothing checks them.
	Deliver func(acc []int32, rows []uint16, spans []Span, ahead int)

	// FetchRows asks for the memory of first[id] for every id.
	FetchRows func(first []uint64, ids []uint32)

	Formula // for models that genomes define
}

// LIF are the constants of a lif area; Term is the burst's.
type LIF struct {
	EM1, Term, Scale, Threshold, Reset float32
	Refractory                         uint32 // below 2^16
}

// PSCExp are the constants of a lif_psc_exp area; Term is the burst's.
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

// Currents are the sums and the state of lif_psc_exp neurons, of one length.
type Currents struct {
	AccEx, AccIn []int32
	V, Ex, In    []float32
	R            []uint16
}

// Span is a run of units, From ≤ k < To, that whole segments fill.
type Span struct{ From, To uint64 }

// Philox is a key of Philox4x32-10, its ten rounds' words written out for eight lanes, and words 1 to 3 of the counter.
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

// key is what NewPhilox was given.
func (p *Philox) key() uint64 { return uint64(p.rounds[1][0])<<32 | uint64(p.rounds[0][0]) }

// blocks is how many blocks hold n neurons.
func blocks(n int) int { return (n + Block - 1) / Block }
