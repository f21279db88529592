package connectome

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"burst/genome"
	"burst/internal/exact"
)

// one is a synapse as the recipes of doc.go make it.
type one struct{ source, target, ordinal uint64 }

// recipe follows doc.go word by word for the rules that draw, with none of the package's machinery.
func recipe(p genome.Projection, S, T, seed, stream uint64) []one {
	var list []one
	wiring := func(index uint64) (x, y uint64) {
		w := exact.Draw(seed, exact.Wiring, index, stream)
		return uint64(w[1])<<32 + uint64(w[0]), uint64(w[3])<<32 + uint64(w[2])
	}
	less := func(n uint64) uint64 {
		if p.NoAutapses {
			return n - 1
		}
		return n
	}
	past := func(n, q uint64) uint64 {
		if p.NoAutapses && q >= n {
			return q + 1
		}
		return q
	}
	partners := func(owner, k, n uint64) []uint64 {
		var chosen []uint64
		for j := range k {
			x, _ := wiring(owner*k + j)
			q := below(x, less(n))
			if p.NoMultapses {
				if q = below(x, less(n)-k+j+1); slices.Contains(chosen, q) {
					q = less(n) - k + j
				}
			}
			chosen = append(chosen, q)
		}
		return chosen
	}
	switch p.Rule {
	case genome.FixedIndegree:
		for t := range T {
			for j, q := range partners(t, p.Indegree, S) {
				list = append(list, one{past(t, q), t, t*p.Indegree + uint64(j)})
			}
		}
	case genome.FixedOutdegree:
		for s := range S {
			for j, q := range partners(s, p.Outdegree, T) {
				list = append(list, one{s, past(s, q), s*p.Outdegree + uint64(j)})
			}
		}
	case genome.FixedTotalNumber:
		var key [12]uint64
		for i := range uint64(6) {
			key[2*i], key[2*i+1] = wiring(i)
		}
		M := less(T)
		a := uint64(math.Ceil(math.Sqrt(float64(S * M))))
		b := (S*M + a - 1) / a
		for k := range p.Count {
			x, y := wiring(k)
			s, q := below(x, S), below(y, M)
			if p.NoMultapses {
				n := k
				for again := true; again; again = n >= S*M {
					l, r := n/b, n%b
					for i := 0; i < 12; i += 2 {
						l = (l + below(exact.Mix(r^key[i]), a)) % a
						r = (r + below(exact.Mix(l^key[i+1]), b)) % b
					}
					n = l*b + r
				}
				s, q = n/M, n%M
			}
			list = append(list, one{s, past(s, q), k})
		}
	case genome.PairwiseBernoulli:
		for s := range S {
			for c := uint64(0); c < T; c++ {
				x, _ := wiring(s*T + c)
				u := float64(x>>11) / (1 << 53)
				if c += uint64(math.Min(exact.Log(1-u)/exact.Log1p(-p.P), 1e9)); c < T && !(p.NoAutapses && s == c) {
					list = append(list, one{s, c, s*T + c})
				}
			}
		}
	}
	return list
}

func TestRecipesGiveTheSameBytes(t *testing.T) {
	for _, c := range ruleCases {
		if c.p.Kernel != nil || c.p.Mask != nil || c.p.Symmetric || c.p.Rule == genome.PairwiseBernoulli && c.p.P == 1 || c.p.Rule != genome.PairwiseBernoulli && (c.p.Rule < genome.FixedIndegree || c.p.Rule > genome.FixedTotalNumber) {
			continue
		}
		g := ruleGenome(c.p)
		from, to := &g.Areas[c.p.From], &g.Areas[c.p.To]
		first := [2]uint64{0, g.Areas[0].Neurons()}
		type synapse struct {
			source, target uint32
			weight         int32
			delay          uint32
		}
		var want, got []synapse
		for _, o := range recipe(c.p, from.Neurons(), to.Neurons(), g.Seed, 0) {
			z := func(p exact.Purpose) float64 {
				w := exact.Draw(g.Seed, p, o.ordinal, 0)
				return exact.Normal(uint64(w[1])<<32 + uint64(w[0]))
			}
			variance := exact.Log1p(0.25)
			delay := exact.Exp((exact.Log(4.5) - float64(variance/2)) + float64(math.Sqrt(variance)*z(exact.DelayDraw)))
			want = append(want, synapse{
				uint32(first[c.p.From] + o.source), uint32(first[c.p.To] + o.target),
				int32(math.Round(1000 * (-3.7 + float64(1.9*z(exact.WeightDraw))))), uint32(math.Round(min(max(delay, 1), 11))),
			})
		}
		slices.SortFunc(want, func(a, b synapse) int {
			return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.delay, b.delay), cmp.Compare(a.target, b.target), cmp.Compare(a.weight, b.weight))
		})
		n := build(t, g)
		for s := range n.Neurons {
			for k := n.Row[s]; k < n.Row[s+1]; k++ {
				got = append(got, synapse{s, n.Target[k], n.Weight[k], n.DelayOf(k)})
			}
		}
		assert.Equal(t, want, got, c.name)
	}
}
