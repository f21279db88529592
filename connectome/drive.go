package connectome

// Drive is input an area makes by itself in bursts From ≤ t < Until.
type Drive struct {
	Kind   DriveKind
	From   uint64
	Until  uint64    // MaxUint64 when open
	Amount int32     // Inject: quanta a burst. Poisson: quanta an event.
	Term   float64   // Term: addend of the model's own formula (lif: −em1·R·I), not yet rounded
	Each   []float64 // Term: one addend a neuron, in place of Term, where the model's parameters differ
	Counts []uint32  // Poisson, Noise: a draw x stands for k where k entries are ≤ x; ascending
	Table  []int32   // Noise: quanta for k = 0…len(Counts)
}

// Active reports whether the drive acts in burst t.
func (d *Drive) Active(t uint64) bool { return d.From <= t && t < d.Until }

// Input is the quanta that draw x stands for.
func (d *Drive) Input(x uint32) int32 {
	k := d.Events(x)
	if d.Kind == Noise {
		return d.Table[k]
	}
	return k * d.Amount
}

// Events is how many thresholds draw x has passed.
func (d *Drive) Events(x uint32) int32 {
	lo, hi := 0, len(d.Counts)
	for lo < hi {
		if m := (lo + hi) / 2; d.Counts[m] <= x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return int32(lo)
}

// DriveKind says how a drive reaches its neurons.
type DriveKind uint8

// Inject adds Amount to acc in step 2; Poisson adds events·Amount there and Noise a number from Table; Term is part of the
// update in step 4.
const (
	Inject DriveKind = iota
	Poisson
	Term
	Noise
)

// Term is what the constant drives add in burst t to the formula of all the area's neurons, summed in float64 and rounded
// once; TermOf says it where neurons differ.
func (a *Area) Term(t uint64) float32 {
	sum := 0.0
	for i := range a.Drives {
		if d := &a.Drives[i]; d.Kind == Term && d.Active(t) {
			sum += d.Term
		}
	}
	return float32(sum)
}

// TermOf is Term for the i-th neuron.
func (a *Area) TermOf(t uint64, i uint32) float32 {
	sum := 0.0
	for k := range a.Drives {
		d := &a.Drives[k]
		switch {
		case d.Kind != Term || !d.Active(t):
		case d.Each != nil:
			sum += d.Each[i]
		default:
			sum += d.Term
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
