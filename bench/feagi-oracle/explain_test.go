package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"burst/connectome"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// brain is a genome: sources that fire at random, targets that leak, are inhibited or wait, and what learns by a constant.
func brain(constant float64, add func(*laws)) *laws {
	l := &laws{byKey: map[string]*lawCase{}}
	l.area("___pwr", "power", "nx-fire_t-f", 1.0)
	one := l.area("cone__", "source one")
	l.area("ctwo__", "source two", "cx-pstcr_-f", 0.5)
	l.fed("target", []string{"one 1", "two 3"}, "nx-fire_t-f", 2.5, "nx-leak_c-f", 0.25)
	l.fed("inhibited", []string{"one -1", "two 3"}, "nx-refrac-i", 1)
	late := l.fed("late", []string{"two 1"}, "nx-fire_t-f", 2.0)
	l.wire("one 2", late, 3)
	pupil := l.area("cpupi_", "pupil", "nx-fire_t-f", 9.0)
	one.to[pupil.key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 7.0, true, constant, 3, 1, 3, 2}}
	if add != nil {
		add(l)
	}
	return l
}

// standIn is what a server records that loads the genome as burst builds it, and in which FEAGI's law fires.
func standIn(t *testing.T, l *laws, bursts int) (*genome.Genome, *recording) {
	text, err := l.text("test", "")
	require.NoError(t, err)
	g, report, err := feagi.Import("test.json", text, feagi.Options{Dialect: feagi.Release})
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	rec, cases, first := &recording{areas: make([]areaRecord, len(g.Areas))}, make([]*lawCase, len(g.Areas)), map[string]connectome.Span{}
	for i := range g.Areas {
		k := slices.IndexFunc(l.areas, func(a *lawCase) bool { return clean(a.name) == clean(g.Areas[i].Name) })
		require.GreaterOrEqual(t, k, 0, g.Areas[i].Name)
		cases[i], first[l.areas[k].key] = l.areas[k], c.Areas[i].Neurons
	}
	r := rand.New(rand.NewPCG(5, 7))
	for i, a := range cases {
		genes := maps.Clone(usual)
		maps.Copy(genes, a.genes)
		number := func(key string) (x float32) {
			_, err := fmt.Sscan(fmt.Sprint(genes[key]), &x)
			require.NoError(t, err)
			return x
		}
		w := &rec.areas[i]
		w.fired, w.wear = make([][]uint32, bursts), degeneration(&report.Areas[i])
		w.first = properties{
			Threshold: number("nx-fire_t-f"), Limit: math.MaxFloat32, Leak: number("nx-leak_c-f"), Refractory: uint32(number("nx-refrac-i")),
			FireLimit: uint32(number("nx-c_fr_c-i")), Snooze: uint32(number("nx-snooze-f")), Excitability: 1, Accumulate: true, Uniform: genes["cx-pspuni-b"] == true,
		}
		for n := range first[a.key].Count {
			w.ids = append(w.ids, first[a.key].First+n)
			for _, to := range slices.Sorted(maps.Keys(a.to)) {
				for _, rule := range a.to[to] {
					weight := rule.([]any)[2].(float64)
					for k := range first[to].Count {
						x := synapse{Source: first[a.key].First + n, Target: first[to].First + k, Weight: float32(math.Abs(weight)), PSP: number("cx-pstcr_-f")}
						if weight < 0 {
							x.Type = 1
						}
						w.synapses = append(w.synapses, x)
					}
				}
			}
		}
		if !strings.HasPrefix(a.name, "source") {
			continue
		}
		rec.stimulated = append(rec.stimulated, i)
		for b := range w.fired {
			for n := range first[a.key].Count {
				if r.IntN(3) == 0 {
					w.fired[b] = append(w.fired[b], n)
				}
			}
		}
	}
	fired := newLaw(g, rec, c, theirs()).run(bursts)
	for i := range rec.areas {
		rec.areas[i].fired = fired[i]
	}
	return g, rec
}

// verdictOf compares what the stand-in recorded with burst.
func verdictOf(t *testing.T, g *genome.Genome, rec *recording, change func(*played)) verdict {
	p, err := play(g, rec, len(rec.areas[0].fired))
	require.NoError(t, err)
	if change != nil {
		change(p)
	}
	return judge(g, rec, p)
}

// place is an area's place in the genome.
func place(t *testing.T, g *genome.Genome, name string) int {
	i := slices.IndexFunc(g.Areas, func(a genome.Area) bool { return clean(a.Name) == clean(name) })
	require.GreaterOrEqual(t, i, 0, name)
	return i
}

// A stand-in that follows FEAGI's law fires as burst does, learns as it does, and all of it counts.
func TestNothingDiffers(t *testing.T) {
	g, rec := standIn(t, brain(1, nil), 300)
	v := verdictOf(t, g, rec, nil)
	require.Zero(t, v.differ, v.why())
	require.Empty(t, v.why())
	require.Equal(t, 7, v.synapses)
	for _, name := range []string{"target", "inhibited", "late", "pupil"} {
		spikes := 0
		for _, list := range rec.areas[place(t, g, name)].fired {
			spikes += len(list)
		}
		require.Greater(t, spikes, 20, name)
	}
	text, err := brain(0, nil).text("test", "")
	require.NoError(t, err)
	fixed, _, err := feagi.Import("test.json", text, feagi.Options{Dialect: feagi.Release})
	require.NoError(t, err)
	require.NotZero(t, verdictOf(t, fixed, rec, nil).differ, "without learning the pupil fires otherwise")
}

// Each reason that the tool knows is found where it is the reason, and only there.
func TestReasons(t *testing.T) {
	tenths := func(l *laws) {
		many := l.area("ctent_", "source tenths", "cx-pstcr_-f", 0.1)
		many.size = 12
		for k := range 12 {
			sum := l.area(fmt.Sprintf("cd%02d__", k), fmt.Sprintf("sums %d", k), "nx-fire_t-f", float64(7+2*k)/10)
			many.to[sum.key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 1.0, false, 1, 1, 1, 1, 1}}
		}
	}
	crowd := func(l *laws) {
		many := l.area("cmany_", "many", "nx-c_fr_c-i", 1, "nx-snooze-f", 3.0)
		many.size = manyCandidates
		l.byKey["cone__"].to[many.key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 1.0, false, 1, 1, 1, 1, 1}}
	}
	tired := func(l *laws) { l.byKey["cone__"].genes["cx-de_gen-f"] = 0.02 }
	for name, c := range map[string]struct {
		add    func(*laws)
		reason string
		bursts int
	}{
		"tired":   {tired, "degeneration", 200},
		"float32": {tenths, "float32 sums and shares", 200},
		"crowd":   {crowd, "10,000 candidates", 20},
	} {
		t.Run(name, func(t *testing.T) {
			g, rec := standIn(t, brain(1, c.add), c.bursts)
			v := verdictOf(t, g, rec, nil)
			require.NotZero(t, v.differ)
			require.Zero(t, v.unnamed, v.why())
			require.Len(t, v.reasons, 1)
			require.Contains(t, v.reasons[0], c.reason)
		})
	}
}

// Mistakes that are planted on either side have no reason, whatever else differs.
func TestPlantedMistakes(t *testing.T) {
	plant := func(change func(g *genome.Genome, rec *recording), in func(*genome.Genome) func(*played)) verdict {
		g, rec := standIn(t, brain(1, nil), 300)
		if change != nil {
			change(g, rec)
		}
		if in == nil {
			return verdictOf(t, g, rec, nil)
		}
		return verdictOf(t, g, rec, in(g))
	}
	t.Run("a spike more in FEAGI", func(t *testing.T) {
		v := plant(func(g *genome.Genome, rec *recording) {
			fired := rec.areas[place(t, g, "target")].fired
			require.Empty(t, fired[57])
			fired[57] = []uint32{0}
		}, nil)
		require.Equal(t, 1, v.differ)
		require.Equal(t, 1, v.unnamed)
		require.Contains(t, v.why(), `1 spikes for no known reason, the first in burst 58, area target`)
	})
	t.Run("a current that burst divides", func(t *testing.T) {
		v := plant(func(g *genome.Genome, _ *recording) { g.Areas[place(t, g, "source two")].DividePSP = true }, nil)
		require.NotZero(t, v.differ)
		require.Equal(t, v.differ, v.unnamed)
		require.Contains(t, v.why(), "one of both divides the current of source two; ")
	})
	t.Run("degeneration of another size", func(t *testing.T) {
		g, rec := standIn(t, brain(1, func(l *laws) { l.byKey["cone__"].genes["cx-de_gen-f"] = 0.02 }), 300)
		rec.areas[place(t, g, "source one")].wear = 0.03
		v := verdictOf(t, g, rec, nil)
		require.NotZero(t, v.unnamed)
	})
	t.Run("a spike less in burst", func(t *testing.T) {
		v := plant(nil, func(g *genome.Genome) func(*played) {
			return func(p *played) {
				list := p.fired[place(t, g, "inhibited")]
				list[slices.IndexFunc(list, func(l []uint32) bool { return len(l) > 0 })] = nil
			}
		})
		require.Equal(t, 1, v.unnamed)
	})
	for name, change := range map[string]func(*genome.Genome){
		"another step in burst":   func(g *genome.Genome) { learns(g).Params["ltd"]++ },
		"another window in burst": func(g *genome.Genome) { learns(g).Params["window"] = 1 },
		"another leak in burst":   func(g *genome.Genome) { g.Areas[place(t, g, "target")].Params["leak"] = 0.5 },
	} {
		t.Run(name, func(t *testing.T) {
			v := plant(func(g *genome.Genome, _ *recording) { change(g) }, nil)
			require.NotZero(t, v.differ)
			require.NotZero(t, v.unnamed)
			require.Empty(t, v.reasons)
		})
	}
	t.Run("a synapse less in FEAGI", func(t *testing.T) {
		v := plant(func(g *genome.Genome, rec *recording) {
			a := &rec.areas[place(t, g, "source one")]
			a.synapses = a.synapses[1:]
		}, nil)
		require.Contains(t, v.why(), "0 pairs are connected only in FEAGI, 1 only in burst")
	})
}

// learns is the rule of the one projection that learns.
func learns(g *genome.Genome) *genome.Learning {
	return g.Projections[slices.IndexFunc(g.Projections, func(p genome.Projection) bool { return p.Learning != nil })].Learning
}

// A weight that grows out of its room gets a coarser scale; where none gives it room, the bursts before are compared, and the weight is named.
func TestWeightsWithoutRoom(t *testing.T) {
	g, rec := standIn(t, brain(20_000, nil), 300)
	p, err := play(g, rec, 300)
	require.NoError(t, err)
	require.Equal(t, 300, p.bursts)
	require.Contains(t, p.note, "as weights learnt need room")
	v := judge(g, rec, p)
	require.Zero(t, v.differ, v.why())

	g, rec = standIn(t, brain(100_000_000, nil), 300)
	p, err = play(g, rec, 300)
	require.NoError(t, err)
	require.Less(t, p.bursts, 300)
	require.Greater(t, p.bursts, 2)
	v = judge(g, rec, p)
	require.Zero(t, v.differ)
	require.Regexp(t, `bursts compared, as FEAGI has no ceiling: neuron 0 of area "pupil".*has left`, v.why())
}
