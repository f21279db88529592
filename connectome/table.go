package connectome

import (
	"math"

	"burst/internal/exact"
)

// Table holds exp(−age·dt/tau) for whole ages, the decay of a trace. All backends use it, so that they compute the same bits. At
// returns an entry, or the product of two if tau is longer than longTau bursts.
type Table struct {
	Low   []float32 // exp(−a·dt/tau), a = 0, 1, …; 256 entries if High is not nil
	High  []float32 // exp(−256·a·dt/tau); nil: only Low is used
	Until uint64    // ages ≥ Until give 0
}

const longTau = 4096 // bursts

// MaxTau is the longest time constant of a trace, in bursts: its table takes 27 MB.
const MaxTau = 1 << 24

// NewTable makes the table of a time constant of at most MaxTau bursts; one of 0 or less decays at once. Ages beyond 150·log 2·tau give 0, where
// float32 has no number as small.
func NewTable(tau float64) Table {
	if !(tau > 0) {
		return Table{}
	}
	until := uint64(math.Floor(150*math.Ln2*min(tau, MaxTau))) + 1
	entry := func(age uint64) float32 { return float32(exact.Exp(-float64(age) / tau)) }
	t := Table{Until: until}
	low := until
	if tau > longTau {
		low = 256
		for a := uint64(0); a<<8 < until; a++ {
			t.High = append(t.High, entry(a<<8))
		}
	}
	for a := range low {
		t.Low = append(t.Low, entry(a))
	}
	return t
}

// At is the decay over so many bursts.
func (t *Table) At(age uint64) float32 {
	switch {
	case age >= t.Until:
		return 0
	case t.High == nil:
		return t.Low[age]
	}
	return float32(t.High[age>>8] * t.Low[age&255])
}
