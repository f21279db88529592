package connectome

// Drive is input to an area in bursts From ≤ t < Until that does not come from neurons.
type Drive struct {
	Kind   DriveKind
	Port   int // that takes the amounts, from 1; 0: as their sign chooses, see PortOf
	From   uint64
	Until  uint64    // MaxUint64 if open
	Amount int32     // Inject: quanta per burst. Poisson: quanta per event.
	Term   float64   // Term: addend of the model's own formula (lif: −em1·R·I), not yet rounded
	Each   []float64 // Term: one addend per neuron, instead of Term, if the model's parameters differ
	Counts []uint32  // Poisson, Noise: ascending; a draw x means k if k entries are ≤ x
	Table  []int32   // Noise: quanta for k = 0…len(Counts)
	Own    *Own      // Poisson, Noise: what neurons have for themselves, instead of Amount, Counts of Poisson, and Table; nil: nothing
	Moving *Moving   // of a drive with a factor, whose numbers are those of one burst (see In); nil: they stay as they are

	times float64
}

// Active reports whether the drive acts in burst t.
func (d *Drive) Active(t uint64) bool { return d.From <= t && t < d.Until }

// Input is the number of quanta for the random draw x, where neurons do not differ.
func (d *Drive) Input(x uint32) int32 {
	k := events(d.Counts, x)
	if d.Kind == Noise {
		return d.Table[k]
	}
	return k * d.Amount
}

// events is the number of thresholds ≤ x.
func events(counts []uint32, x uint32) int32 {
	lo, hi := 0, len(counts)
	for lo < hi {
		if m := (lo + hi) / 2; counts[m] <= x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return int32(lo)
}

// DriveKind says how a drive reaches its neurons.
type DriveKind uint8

// Inject, Poisson and Noise add to acc in step 2: Amount, events·Amount, or an entry of Table. Term is part of the update in
// step 4.
const (
	Inject DriveKind = iota
	Poisson
	Term
	Noise
)

// Term is the sum of the constant drives in the formula of the area's neurons in burst t, in float64 and rounded once. If
// neurons differ, use TermOf.
func (a *Area) Term(t uint64) float32 { return a.TermOf(t, 0) }

// TermOf is Term for the i-th neuron.
func (a *Area) TermOf(t uint64, i uint32) float32 {
	sum := 0.0
	for k := range a.Drives {
		if d := &a.Drives[k]; d.Kind == Term && d.Active(t) {
			now := d.In(t)
			sum += now.addend(i)
		}
	}
	return float32(sum)
}

// TermAt is the i-th neuron's sum of terms in burst t of drives that come from In(t).
func TermAt(now []Drive, t uint64, i uint32) float32 {
	sum := 0.0
	for k := range now {
		if d := &now[k]; d.Kind == Term && d.Active(t) {
			sum += d.addend(i)
		}
	}
	return float32(sum)
}

// TermsDiffer reports whether TermOf depends on the neuron.
func (a *Area) TermsDiffer() bool {
	for k := range a.Drives {
		if a.Drives[k].Each != nil {
			return true
		}
	}
	return false
}
