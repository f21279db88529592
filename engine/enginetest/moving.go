package enginetest

import (
	"math"
	"math/rand/v2"

	"burst/connectome"
	"burst/genome"
)

// move gives a drive a factor. Its amounts stay as small as those of other drives.
func move(r *rand.Rand, d *connectome.Drive, scale int32) {
	m := &connectome.Moving{Factor: randomFactor(r), Scale: float64(scale), Lift: among[int64](r, 0, 0, 0, 8)}
	if d.Kind == connectome.Noise || d.Kind == connectome.Inject {
		m.Lift = among[int64](r, 0, 0, 4)
		m.Amount = float64(quanta(r, scale/8+1)) / float64(scale)
	}
	switch d.Moving = m; d.Kind {
	case connectome.Inject:
		d.Amount = 0
	case connectome.Noise:
		m.SD, d.Table = math.Abs(float64(quanta(r, scale/64+1))/float64(scale)), nil
	case connectome.Poisson:
		d.Counts, m.Amount, m.Most = nil, among(r, 0, 0.01, 1, 3*r.Float64(), 40), math.MaxInt
		m.Most = len(d.At(m.Factor.Hi).Counts)
		d.Amount /= 8
	}
}

// randomFactor is a factor of any form within ±2.
func randomFactor(r *rand.Rand) *genome.Factor {
	f := &genome.Factor{Kind: genome.FactorKind(r.IntN(4)), Timestep: among(r, 1, 0.1)}
	one := func() float64 { return among(r, 0, 1, -1, 2, 4*r.Float64()-2, r.Float64()) }
	switch f.Kind {
	case genome.Sine:
		f.Amplitude, f.Offset = 2*r.Float64()-1, 2*r.Float64()-1
		f.Frequency, f.Phase = among(r, 0, 10, 1000/f.Timestep, 400*r.Float64()), among(r, 0, 90, 720*r.Float64()-360)
	case genome.Pulse:
		f.Amplitude, f.Offset = one(), one()
		f.Start, f.Width = r.Uint64N(30), 1+r.Uint64N(9)
		if r.IntN(3) > 0 {
			f.Every = f.Width + 1 + r.Uint64N(9)
		}
	default:
		for range 1 + r.IntN(12) {
			f.Values = append(f.Values, one())
		}
		if f.Kind == genome.Steps && r.IntN(3) == 0 { // as of a file
			f.Every = 1 + r.Uint64N(7)
			break
		}
		t := r.Uint64N(20)
		for range f.Values {
			f.At = append(f.At, t)
			t += 1 + r.Uint64N(12)
		}
	}
	f.Bound()
	return f
}
