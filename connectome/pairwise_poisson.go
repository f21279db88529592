package connectome

import (
	"math"

	"burst/internal/exact"
)

// pairwisePoisson gives each pair a Poisson number of synapses: along the row of a source, as if pairs were stretches of length 1, the
// distances between synapses are exponential.
type pairwisePoisson struct {
	ends
	mean  float64 // synapses of a pair
	draws *exact.Stream
}

func newPairwisePoisson(_ *plan, w *wiring) (rule, error) {
	return &pairwisePoisson{w.ends, w.p.Average, w.ends.words()}, nil
}

func (r *pairwisePoisson) synapses(onto uint64) (least, most uint64) {
	if r.mean == 0 {
		return 0, 0
	}
	return rare(float64(float64(onto) * float64(float64(r.others(r.sources))*r.mean)))
}

func (r *pairwisePoisson) longest() uint64 {
	_, most := rare(float64(float64(r.targets) * r.mean))
	return most
}

func (r *pairwisePoisson) row(uint64) (synapses uint64, known bool) { return 0, r.mean == 0 }
func (r *pairwisePoisson) unit() unit                               { return bySource }
func (r *pairwisePoisson) scattered() bool                          { return false }
func (r *pairwisePoisson) scratch() uint64                          { return uint64(8 * wordsAtOnce) }
func (r *pairwisePoisson) sizeKey() string                          { return "average" }

func (r *pairwisePoisson) draw(lo, hi uint64, b *batch) {
	for s := lo; s < hi; s++ {
		x, used := b.x[:wordsAtOnce], wordsAtOnce
		for k, at := s<<32, 0.0; ; k++ {
			if used == wordsAtOnce {
				r.draws.X(k, x)
				used = 0
			}
			at += -exact.Log(1-exact.Uniform(x[used])) / r.mean
			used++
			t := math.Floor(at)
			if t >= float64(r.targets) {
				break
			}
			if target := uint64(t); !r.noSelf || s != target {
				b.add(s, target, k)
			}
		}
	}
}
