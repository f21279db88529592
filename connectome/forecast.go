package connectome

import (
	"math"

	"burst/genome"
	"burst/internal/quanta"
)

// forecast is between which bounds the largest sum of |weight| of an area's ports lies, drives and stimuli included, as known before
// anything is drawn. Where that cannot be known high is +Inf and low what the rest tells.
//
// The number of synapses of a rule onto a neuron, and their weights, are sums of independent draws. Such a sum is above its mean by more
// than t with a probability of at most exp(−t²/2/(v + b·t/3)), where v is its variance and b the largest that one draw can be above its
// mean (Bernstein's inequality; for choices without repetition, too: Hoeffding 1963). The largest of many sums is no less than their mean,
// for which the same holds downwards with the mean square in place of v, and b = 0.
type forecast struct{ low, high float64 }

// surely is the −log of the probability with which a sum is outside a forecast's bounds.
const surely = 50

// outlooks are the forecasts of all areas, and that of the network.
type outlooks struct {
	areas []forecast
	whole forecast
}

// blind reports whether an area's sums cannot be known before its synapses are drawn.
func (o *outlooks) blind() bool { return math.IsInf(o.whole.high, 1) }

// forecasts are those at a scale.
func (p *plan) forecasts(scale float64) outlooks {
	rest := make([]uint64, p.inputs)
	p.addDrives(rest, scale)
	p.addStimuli(rest, scale)
	var whole forecast
	areas, ports, known := make([]forecast, len(p.areas)), make([][]portLoad, len(p.areas)), make(map[weightKey][2]sideMoments)
	for i := range ports {
		ports[i] = make([]portLoad, len(p.g.Areas[i].Model.Ports))
	}
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.units() == 0 {
			continue
		}
		onto, fixed, ok := w.expected()
		switch {
		case ok:
		case w.whole != nil:
			for k := range areas {
				areas[k].high = math.Inf(1)
			}
			continue
		default:
			areas[w.p.To].high = math.Inf(1)
			continue
		}
		key := w.weightKey()
		parts, found := known[key]
		if !found {
			parts = w.moments(scale)
			known[key] = parts
		}
		for k, sign := range [...]int64{1, -1} {
			ports[w.p.To][(w.port(0, sign, 0)-w.ports.First)/w.to.Count].add(onto, fixed, parts[k])
		}
	}
	for i := range areas {
		a, n := &areas[i], p.areas[i].Count
		for k := range ports[i] {
			own, sum := rest[p.ports[i].First+uint32(k)*n:][:n], uint64(0)
			for _, x := range own {
				sum += x
			}
			low, high := ports[i][k].bounds(float64(n))
			a.low, a.high = max(a.low, low+float64(sum)/float64(n)), max(a.high, high+float64(worst(own)))
		}
		whole.low, whole.high = max(whole.low, a.low), max(whole.high, a.high)
	}
	return outlooks{areas, whole}
}

// expected is the mean number of synapses onto a target, where it is the same for all; fixed: all have this number.
func (w *wiring) expected() (onto float64, fixed, ok bool) {
	if w.whole != nil || w.learns != nil || w.drives > 0 || w.out != nil || w.weights != nil || w.chosen != nil || w.lift != 0 {
		return 0, false, false
	}
	switch w.weight.Kind {
	case genome.Const, genome.Uniform, genome.Normal, genome.LogNormal:
	default:
		return 0, false, false
	}
	share := float64(w.keep) / 100
	per := share / float64(w.ends.targets)
	switch r := w.rule.(type) {
	case *oneToOne:
		return float64(float64(r.each()) * share), w.keep == 100, true
	case *allToAll:
		return float64(float64(r.others(r.sources)) * share), w.keep == 100, true
	case *degree:
		if r.incoming {
			return float64(float64(r.k) * share), w.keep == 100, true
		}
		return float64(float64(float64(r.sources)*float64(r.k)) * per), false, true
	case *totalNumber:
		return float64(float64(r.n) * per), false, true
	case *distinctPairs:
		return float64(float64(r.n) * per), false, true
	case *bernoulli: // of both directions a draw makes two synapses
		return float64(float64(float64(r.others(r.sources))*min(r.p, 1)) * share), r.every && w.keep == 100, !r.both
	case *pairwisePoisson:
		return float64(float64(float64(r.others(r.sources))*r.mean) * share), false, true
	}
	return 0, false, false
}

// weightKey is all that a wiring's moments depend on.
type weightKey struct {
	kind                 genome.ValueKind
	a, b, lo, hi, factor float64
	loOpen, hiOpen, clip bool
}

func (w *wiring) weightKey() weightKey {
	v := &w.weight
	return weightKey{v.Kind, v.A, v.B, v.Lo, v.Hi, w.factor, v.LoOpen, v.HiOpen, v.Clip}
}

// sideMoments are of the weights of one sign. A weight counts with its size in quanta, one of the other sign with 0: bounds of the mean,
// and upper bounds of the mean square and of the largest.
type sideMoments struct{ low, high, square, most float64 }

// strata is into how many parts of equal chance the draws of a weight are cut, to bound its moments.
const strata = 1 << 10

// moments are those of the weights ≥ 0 and of the others.
func (w *wiring) moments(scale float64) (parts [2]sideMoments) {
	if w.weight.Kind == genome.Const {
		q := w.constant(scale)
		x, k := float64(quanta.Magnitude(q)), 0
		if q < 0 {
			k = 1
		}
		parts[k] = sideMoments{x, x, float64(x * x), x}
		return parts
	}
	var words [strata + 1]uint64
	var ends [strata + 1]float64
	for i := range words {
		words[i] = uint64(i) * (1 << 54)
	}
	words[strata] = math.MaxUint64
	s, inside, touched := &w.weight, 0.0, 0.0
	s.values(words[:], ends[:])
	for i := range strata { // values rise or fall with the words
		lo, hi := min(ends[i], ends[i+1]), max(ends[i], ends[i+1])
		if !s.Clip && (hi < s.Lo || lo > s.Hi) {
			continue
		}
		whole := s.Clip || s.accepts(lo) && s.accepts(hi)
		from := quanta.Of(float64(min(max(lo, s.Lo), s.Hi)*w.factor), scale)
		to := quanta.Of(float64(min(max(hi, s.Lo), s.Hi)*w.factor), scale)
		from, to = min(from, to), max(from, to)
		touched++
		for k, ends := range [2][2]int64{{from, to}, {-to, -from}} {
			m, least, most := &parts[k], float64(max(0, ends[0])), float64(max(0, ends[1]))
			m.high += most
			m.square += float64(most * most)
			m.most = max(m.most, most)
			if whole {
				m.low += least
			}
		}
		if whole {
			inside++
		}
	}
	for k := range parts {
		m := &parts[k]
		m.low /= touched
		if m.most > 0 {
			m.high, m.square = m.high/inside, m.square/inside
		}
	}
	return parts
}

// portLoad is what the synapses onto a neuron's port add up to.
type portLoad struct {
	low, high float64 // of the mean
	variance  float64 // upper bound
	square    float64 // upper bound of the mean squares' sum
	above     float64 // the largest that one synapse can be above its mean
}

// add adds synapses with weights of these moments.
func (l *portLoad) add(onto float64, fixed bool, m sideMoments) {
	l.low += float64(onto * m.low)
	l.high += float64(onto * m.high)
	mean := 0.0 // that of a synapse which may not be there counts as 0
	if fixed {
		mean = m.low
	}
	if m.most > mean {
		l.variance += float64(onto * (m.square - float64(mean*mean)))
		l.square += float64(onto * m.square)
		l.above = max(l.above, m.most-mean)
	}
}

// bounds are those of the largest sum of n neurons.
func (l *portLoad) bounds(n float64) (low, high float64) {
	const rounding = 0x1p-30 // far more than all roundings of these sums
	reach := float64(l.above * (surely / 3.0))
	up := reach + math.Sqrt(float64(reach*reach)+float64(2*surely*l.variance))
	down := math.Sqrt(float64(2*surely*l.square) / n)
	return float64((l.low - down) * (1 - rounding)), float64((l.high + up) * (1 + rounding))
}
