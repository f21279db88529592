package connectome

import (
	"math"

	"burst/genome"
	"burst/internal/quanta"
)

// Moving is what the numbers of a drive with a factor are worked out from in each burst.
type Moving struct {
	Factor *genome.Factor
	Amount float64 // Inject: amount in the port's unit; Noise: its mean; Poisson: mean number of events in a burst
	SD     float64 // Noise
	Scale  float64 // quanta per unit
	Lift   int64   // of an area that rectifies, 0 for others
	Most   int     // Poisson: thresholds at the largest factor, which no burst has more of
}

// In is the drive as it is in burst t: with the Amount, Counts or Table of this burst, or the number that its Term is multiplied by.
func (d *Drive) In(t uint64) Drive {
	if d.Moving == nil {
		return *d
	}
	return d.At(d.Moving.Factor.In(t))
}

// At is the drive, which moves, as it is where its factor is f.
func (d *Drive) At(f float64) Drive {
	now, m := *d, d.Moving
	switch now.times = f; d.Kind {
	case Inject:
		now.Amount = quanta.Clamp(lift(quanta.Of(float64(m.Amount*f), m.Scale), m.Lift))
	case Poisson:
		counts := poissonCounts(float64(m.Amount * max(f, 0)))
		now.Counts = counts[:min(len(counts), m.Most)]
	case Noise:
		now.Table = noiseTable(float64(m.Amount*f), float64(m.SD*f), m.Scale, m.Lift)
	}
	return now
}

// Times is the number that the terms of a drive are multiplied by, if it comes from In or At and moves.
func (d *Drive) Times() float64 { return d.times }

// addend is what a drive that comes from In adds to the formula of the i-th neuron.
func (d *Drive) addend(i uint32) float64 {
	x := d.Term
	if d.Each != nil {
		x = d.Each[i]
	}
	if d.Moving == nil {
		return x
	}
	return float64(d.times * x)
}

// Over is a limit of 32-bit draws where the rate is multiplied by f.
func Over(below uint64, f float64) uint64 {
	return uint64(min(quanta.Nearest(float64(float64(below)*max(f, 0))), 1<<32))
}

// Below is the limit of the draws of the i-th neuron of a source area in burst t.
func (a *Area) Below(i uint32, t uint64) uint64 {
	below := a.Chance.At(i)
	if a.Factor == nil {
		return below
	}
	return Over(below, a.Factor.In(t))
}

// Moves reports whether a drive or a rate of the area changes in time.
func (a *Area) Moves() bool {
	for i := range a.Drives {
		if a.Drives[i].Moving != nil {
			return true
		}
	}
	return a.Factor != nil
}

// foldFactor adds a factor to a hash.
func foldFactor(h uint64, f *genome.Factor) uint64 {
	h = fold(h, uint64(f.Kind))
	for _, x := range [...]float64{f.Timestep, f.Amplitude, f.Offset, f.Frequency, f.Phase} {
		h = fold(h, math.Float64bits(x))
	}
	for _, x := range [...]uint64{f.Start, f.Width, f.Every, uint64(len(f.At))} {
		h = fold(h, x)
	}
	for _, t := range f.At {
		h = fold(h, t)
	}
	h = fold(h, uint64(len(f.Values)))
	for _, x := range f.Values {
		h = fold(h, math.Float64bits(x))
	}
	return h
}

// fold adds what a drive is worked out from to a hash.
func (m *Moving) fold(h uint64) uint64 {
	h = foldFactor(h, m.Factor)
	for _, x := range [...]float64{m.Amount, m.SD} {
		h = fold(h, math.Float64bits(x))
	}
	return fold(h, uint64(m.Most))
}

// extremes are the factors between which a drive's lies, or 1.
func extremes(d *genome.Drive) []float64 {
	if d.Factor == nil {
		return []float64{1}
	}
	return []float64{d.Factor.Lo, d.Factor.Hi}
}
