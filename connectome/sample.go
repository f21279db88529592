package connectome

import (
	"math"
	"slices"

	"burst/genome"
	"burst/internal/exact"
)

// attempts is the largest number of draws for a bounded value; see probe.
const attempts = 1 << 16

// sampler draws the value of an index by the recipe in doc.go.
type sampler struct {
	genome.Value
	seed    uint64
	purpose exact.Purpose
	stream  uint64        // projection or area
	mu, sd  float64       // LogNormal: mean and standard deviation of the logarithm
	metric  *metric       // Distance
	first   *exact.Stream // words of first attempts; nil: nothing is drawn
}

func newSampler(v genome.Value, seed uint64, purpose exact.Purpose, stream int) sampler {
	s := sampler{Value: v, seed: seed, purpose: purpose, stream: uint64(stream)}
	if v.Kind == genome.LogNormal {
		ratio := v.B / v.A
		variance := exact.Log1p(float64(ratio * ratio))
		s.mu = exact.Log(math.Abs(v.A)) - float64(variance*0.5)
		s.sd = math.Sqrt(variance)
	}
	if v.Kind == genome.Uniform || v.Kind == genome.Normal || v.Kind == genome.LogNormal {
		s.first = exact.NewStream(seed, purpose, s.stream)
	}
	return s
}

// of is the value of a synapse; false if no draw fell within the bounds, or a formula gives no number.
func (s *sampler) of(source, target uint32, ordinal uint64) (float64, bool) {
	if s.Kind != genome.Distance {
		return s.at(ordinal)
	}
	v := s.metric.between(uint64(source), uint64(target))
	x := s.Of.At(&v) / s.Per
	return x, x == x
}

// at is the value of an index; false if no draw fell within the bounds.
func (s *sampler) at(index uint64) (float64, bool) {
	if s.Kind == genome.Const {
		return s.A, true
	}
	return s.from(index, 0)
}

// from is at from an attempt on, where something is drawn.
func (s *sampler) from(index, attempt uint64) (float64, bool) {
	for ; attempt < attempts; attempt++ {
		if x, ok := s.bounded(s.draw(index, attempt)); ok {
			return x, true
		}
	}
	return 0, false
}

// many sets list to the values of the indices from first on, as at has them; false if no draw of one fell within the bounds. words has
// room for as many.
func (s *sampler) many(first uint64, list []float64, words []uint64) bool {
	s.first.X(first, words)
	s.values(words, list)
	for i := range list {
		if !s.within(&list[i], first+uint64(i)) {
			return false
		}
	}
	return true
}

// some is many for a list of indices.
func (s *sampler) some(indices []uint64, list []float64, words []uint64) bool {
	s.first.Pick(indices, words)
	s.values(words, list)
	for i, index := range indices {
		if !s.within(&list[i], index) {
			return false
		}
	}
	return true
}

// within brings the first number that is drawn for an index within the bounds, and reports whether that is possible.
func (s *sampler) within(x *float64, index uint64) bool {
	return s.Lo < *x && *x < s.Hi || s.brought(x, index)
}

// brought is within for a number that is not between the bounds.
func (s *sampler) brought(x *float64, index uint64) (ok bool) {
	if *x, ok = s.bounded(*x); !ok {
		*x, ok = s.from(index, 1)
	}
	return ok
}

// values sets list to what words draw.
func (s *sampler) values(words []uint64, list []float64) {
	if s.Kind == genome.Uniform {
		for i, x := range words {
			list[i] = s.uniform(x)
		}
		return
	}
	exact.Normals(words, list)
	if s.Kind == genome.Normal {
		for i, z := range list {
			list[i] = s.normal(z)
		}
		return
	}
	for i, z := range list {
		list[i] = s.lognormal(z)
	}
}

// fill sets list to the values of the indices from first on, less rest, where the bounds have been probed.
func (s *sampler) fill(first uint64, list []float32, rest float64) {
	if s.Kind == genome.Const {
		fill(list, float32(s.A-rest))
		return
	}
	var values [256]float64
	var words [256]uint64
	for len(list) > 0 {
		n := min(len(list), len(values))
		if !s.many(first, values[:n], words[:n]) {
			panic("BUG: no value within bounds that the build has probed")
		}
		for i, x := range values[:n] {
			list[i] = float32(x - rest)
		}
		list, first = list[n:], first+uint64(n)
	}
}

// bounded is a draw within the bounds; false: there must be another one.
func (s *sampler) bounded(x float64) (float64, bool) {
	if s.Clip {
		return min(max(x, s.Lo), s.Hi), true
	}
	return x, s.accepts(x)
}

func (s *sampler) draw(index, attempt uint64) float64 {
	x, _ := exact.Words(s.seed, s.purpose, index, s.stream|attempt<<32)
	return s.value(x)
}

// value is what a word draws.
func (s *sampler) value(x uint64) float64 {
	switch s.Kind {
	case genome.Uniform:
		return s.uniform(x)
	case genome.Normal:
		return s.normal(exact.Normal(x))
	}
	return s.lognormal(exact.Normal(x))
}

func (s *sampler) uniform(x uint64) float64 { return s.A + float64(float64(s.B-s.A)*exact.Uniform(x)) }

// normal and lognormal are the values of a standard normal number.
func (s *sampler) normal(z float64) float64 { return s.A + float64(s.B*z) }

func (s *sampler) lognormal(z float64) float64 {
	return math.Copysign(exact.Exp(s.mu+float64(s.sd*z)), s.A)
}

func (s *sampler) accepts(x float64) bool {
	if x < s.Lo || x > s.Hi {
		return false
	}
	return !(s.LoOpen && x == s.Lo) && !(s.HiOpen && x == s.Hi)
}

// normalReach is a bound of the normal numbers that exact.Normal gives.
const normalReach = 8.3

// extent is an interval that holds every value.
func (s *sampler) extent() (lo, hi float64) {
	switch s.Kind {
	case genome.Const:
		return s.A, s.A
	case genome.Distance:
		all := s.metric.all()
		out := s.Of.Over(&all)
		return out.Lo / s.Per, out.Hi / s.Per
	case genome.Column:
		return slices.Min(s.Each), slices.Max(s.Each)
	case genome.Uniform:
		lo, hi = min(s.A, s.B), max(s.A, s.B)
	case genome.Normal:
		reach := float64(normalReach * math.Abs(s.B))
		lo, hi = s.A-reach, s.A+reach
	case genome.LogNormal:
		top := exact.Exp(s.mu + float64(normalReach*s.sd))
		if lo, hi = 0, top; s.A < 0 {
			lo, hi = -top, 0
		}
	}
	return min(max(lo, s.Lo), s.Hi), max(min(hi, s.Hi), s.Lo)
}

// probe describes what is wrong with the distribution; empty if nothing is. It refuses bounds that keep fewer than one draw in
// a thousand. With other bounds all attempts fail with a probability below e^−30.
func (s *sampler) probe() string {
	const tries, enough = 10_000, 10
	if s.Kind == genome.Const || s.Kind == genome.Distance || s.Kind == genome.Column {
		return ""
	}
	if s.Kind == genome.LogNormal && s.A == 0 {
		return "a lognormal needs a mean other than 0"
	}
	lo, hi := s.extent()
	if !(lo >= -math.MaxFloat32 && hi <= math.MaxFloat32) {
		return "the distribution reaches beyond ±3.4e38"
	}
	if s.Clip {
		return ""
	}
	kept := 0
	for i := range uint64(tries) {
		if s.accepts(s.draw(i, 0)) {
			if kept++; kept == enough {
				return ""
			}
		}
	}
	return "the bounds keep fewer than 1 draw in 1000; widen them, or move draws to the bound with clip(…)"
}
