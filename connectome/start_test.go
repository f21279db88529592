package connectome

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"burst/genome"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// learner is the text of a network whose weights learn, with weights up to their bounds, at a scale.
func learner(r *rand.Rand) func(scale string) string {
	number := func(x float64) string { return fmt.Sprintf("%.*g", 1+r.IntN(4), x) }
	exponent := float64(pow2(r.IntN(14))) / 16
	var most, least float64
	fmt.Sscan(number(exponent*(0.5+r.Float64())), &most)
	fmt.Sscan(number(most/3*r.Float64()), &least)
	weight := [...]string{
		fmt.Sprintf("%v pA", most),
		fmt.Sprintf("%v pA", (least+most)/2),
		fmt.Sprintf("uniform(%v pA, %v pA)", least, most),
		fmt.Sprintf("lognormal(%v pA, %v pA) >= %v pA <= %v pA", most/2, most/2, least, most),
		fmt.Sprintf("clip(normal(%v pA, %v pA), %v pA, %v pA)", most/2, most, least, most),
		fmt.Sprintf("normal(%v pA, %v pA) >= %v pA < %v pA", most/2, most/5, least, most),
	}[r.IntN(6)]
	rule := [...]string{
		fmt.Sprintf("{rule: stdp, w_max: %v pA}", most),
		fmt.Sprintf("{rule: tsodyks_markram, w_max: %v pA}", most),
		fmt.Sprintf("{rule: stdp, bounds: [%v pA, %v pA]}", least, most),
	}[r.IntN(3)]
	indegree, still := 1+r.IntN(9), r.IntN(3)
	return func(scale string) string {
		return fmt.Sprintf(`burst: v1
seed: 3
scale: %s
areas:
  - {name: a, neurons: 40, model: lif_psc_exp}
  - {name: b, neurons: 9, model: lif_psc_exp}
projections:
  - {from: a, to: b, rule: fixed_indegree, indegree: %d, weight: "%s", plasticity: %s}
  - {from: a, to: b, rule: fixed_indegree, indegree: 1, weight: "normal(%d pA, 9 pA)"}
`, scale, indegree, weight, rule, still)
	}
}

// TestAutoScaleOfWeightsThatLearn: scale: auto takes the largest power of two that fits and at which all weights that learn can start,
// as a look at every one of them finds it.
func TestAutoScaleOfWeightsThatLearn(t *testing.T) {
	smaller := 0
	for seed := range uint64(slow.Times(80, 1000)) {
		text := learner(rand.New(rand.NewPCG(seed, 0x7374617274)))
		built := func(scale string) (*plan, *Connectome, error) {
			g, err := genome.Parse("learner.yaml", []byte(text(scale)), nil)
			require.NoError(t, err, "%s", text(scale))
			p, err := newPlan(g, Options{Threads: 2})
			require.NoError(t, err)
			c, err := Build(g, Options{Threads: 2})
			return p, c, err
		}
		want, fits := int32(0), int32(0)
		for k := autoScale; k >= 0 && want == 0; k-- {
			p, c, err := built(fmt.Sprint(uint64(1) << k))
			if worst(p.sums(pow2(k))) > autoBound {
				continue
			}
			fits = max(fits, 1<<k)
			if err == nil {
				want = c.Scale
			}
		}
		_, c, err := built("auto")
		if want == 0 {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, "%s", text("auto"))
		require.Equal(t, want, c.Scale, "%s", text("auto"))
		if want < fits {
			smaller++
		}
	}
	require.Greater(t, smaller, 10, "networks of a smaller scale")
}
