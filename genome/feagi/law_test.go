package feagi_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"burst/backend"
	"burst/engine"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// The oracle's own hash against FEAGI's published values.
func TestOracleChance(t *testing.T) {
	for _, c := range []struct {
		neuron, burst uint32
		want          float32
	}{{0, 0, 0.0301999971}, {1, 1, 0.929813445}, {42, 100, 0.740537286}, {42, 101, 0.439186811}, {49999, 7, 0.176776066}, {123456, 5, 0.149067014}} {
		require.Equal(t, c.want, chance(c.neuron, c.burst))
	}
}

// The oracle, and the engine through the importer, against FEAGI's trains for a constant input.
func TestTrains(t *testing.T) {
	for _, c := range []struct {
		name, train string
		genes       map[string]any
	}{
		{"refractory 1", "1_1_1_", map[string]any{"refrac": 1.0}},
		{"refractory 2", "1__1__", map[string]any{"refrac": 2.0}},
		{"limit 3", "111_111_", map[string]any{"c_fr_c": 3.0}},
		{"limit 3, snooze 2", "111__111__", map[string]any{"c_fr_c": 3.0, "snooze": 2.0}},
		{"1, 3, 2", "1_1_1___1_1_1___", map[string]any{"refrac": 1.0, "c_fr_c": 3.0, "snooze": 2.0}},
		{"2, 2, 1", "1__1___1__1___", map[string]any{"refrac": 2.0, "c_fr_c": 2.0, "snooze": 1.0}},
		{"limit 1", "1_1_", map[string]any{"c_fr_c": 1.0}},
		{"accumulates", "__1__1", map[string]any{"fire_t": 2.5}},
		{"leaks half", "____1____1", map[string]any{"fire_t": 1.9, "leak_c": 0.5}},
		{"forgets", "______", map[string]any{"fire_t": 1.5, "mp_acc": false}},
		{"above the limit", "______", map[string]any{"fire_t": 0.4, "fthlim": 0.75}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, ok := c.genes["mp_acc"]; !ok {
				c.genes["mp_acc"] = true
			}
			s := &sketch{areas: []sketchArea{{id: "___pwr", size: [3]int{1, 1, 1}, each: 1, genes: c.genes}}}
			got := strings.Builder{}
			compare(t, s, len(c.train), nil, func(fired []int) { got.WriteByte("_1"[len(fired)]) })
			require.Equal(t, c.train, got.String())
		})
	}
}

// Small random brains with every parameter of FEAGI's table: the engine fires what the oracle fires, burst by burst.
func TestOracle(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 77))
			s := randomSketch(r)
			spikes := 0
			compare(t, s, 60, r, func(fired []int) { spikes += len(fired) })
			require.Positive(t, spikes, "a silent brain shows nothing")
		})
	}
}

// pick is one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func randomSketch(r *rand.Rand) *sketch {
	s := &sketch{python: r.IntN(2) == 0, morphs: []sketchMorph{
		{name: "go", vectors: [][3]int{{r.IntN(3) - 1, r.IntN(3) - 1, 0}, {1, 0, 0}, {0, 0, -1}, {1, 0, 0}}},
		{name: "mix", patterns: [][2][3]any{{{"*", "?", "!"}, {"?", "!", "*"}}, {{1, "*", 0}, {0, "?", 0}}, {{"?", 0, "*"}, {"*", 0, 99}}}},
	}}
	n := 3 + r.IntN(3)
	for i := range n {
		a := sketchArea{id: fmt.Sprintf("c__a%02d", i), size: [3]int{1 + r.IntN(5), 1 + r.IntN(4), 1 + r.IntN(3)}, each: pick(r, 1, 1, 1, 2), genes: s.genes(r)}
		if i == 0 {
			a.id, a.size, a.each = "___pwr", [3]int{1, 1, 1}, 1
		}
		s.areas = append(s.areas, a)
	}
	for i := range s.areas {
		for range 1 + r.IntN(4) {
			s.areas[i].rules = append(s.areas[i].rules, sketchRule{
				to: r.IntN(n), multiplier: pick(r, 1.0, 1, 1, 2, -1, -2.5, 3, -300, 0.75), scalar: [3]int{1, 1, pick(r, 1, 1, 2)},
				morphology: pick(r, "projector", "projector_xy", "projector_yz", "projector_xz", "block_to_block", "all_to_all",
					"lateral_pairs_x", "last_to_first", "expander_x", "reducer_x", "go", "mix"),
			})
		}
	}
	return s
}

// genes draws an area's genes; some are left to their defaults.
func (s *sketch) genes(r *rand.Rand) map[string]any {
	all := map[string]any{
		"fire_t": pick(r, 1, 0.1, 2.75, 0.6, -0.5, 0), "ftincx": pick(r, 0, 0, 0.3, -0.1), "ftincy": pick(r, 0, 0.7), "ftincz": pick(r, 0, -0.2),
		"refrac": pick(r, 0.0, 0, 1, 2, 5), "c_fr_c": pick(r, 0.0, 0, 1, 3, 65535), "snooze": pick(r, 0.0, 1, 3), "mp_acc": r.IntN(2) == 0,
		"pspuni": r.IntN(2) == 0, "pstcr_": pick(r, 1.0, 1, 5, 2.9, 500, 0.5, -3),
	}
	if s.python {
		all["leak_c"], all["excite"] = pick(r, 0, 10, 0.35), pick(r, 100, 100, 55, 5, 0.0)
		if all["ftincx"] == 0.0 && all["ftincy"] == 0.0 && all["ftincz"] == 0.0 {
			all["fthlim"] = pick(r, 0, 0, 4.5)
		}
		if all["fire_t"] == -0.5 {
			delete(all, "fthlim")
		}
	} else {
		all["leak_c"], all["excite"], all["fthlim"] = pick(r, 0, 0.1, 0.37, 1), pick(r, 100, 1, 5, 0.55, 0.9991, 0), pick(r, 0, 0, 6.5)
	}
	for _, gene := range []string{"fire_t", "refrac", "leak_c", "excite", "mp_acc", "pspuni", "pstcr_", "fthlim"} {
		if r.IntN(6) == 0 {
			delete(all, gene)
		}
	}
	return all
}

// text is the sketch as FEAGI writes it.
func (s *sketch) text(t *testing.T) []byte {
	var b strings.Builder
	b.WriteString(`{"version": "2.0", "blueprint": {`)
	comma := ""
	put := func(key string, v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s\n%q: %s", comma, key, text)
		comma = ","
	}
	for i := range s.areas {
		a := &s.areas[i]
		prefix := "_____10c-" + a.id
		put(prefix+"-cx-__name-t", fmt.Sprintf("area %d", i))
		for k, axis := range []string{"x", "y", "z"} {
			put(prefix+"-cx-___bb"+axis+"-i", a.size[k])
		}
		put(prefix+"-cx-_n_cnt-i", a.each)
		for _, gene := range []string{"fire_t", "ftincx", "ftincy", "ftincz", "fthlim", "refrac", "c_fr_c", "snooze", "leak_c", "excite", "mp_acc", "pspuni", "pstcr_"} {
			if v, ok := a.genes[gene]; ok {
				put(prefix+"-nx-"+gene+"-f", v)
			}
		}
		maps := map[string][]any{}
		for _, r := range a.rules {
			to := s.areas[r.to].id
			maps[to] = append(maps[to], []any{r.morphology, r.scalar, r.multiplier, false, 1, 1, 1})
		}
		put(prefix+"-cx-dstmap-d", maps)
	}
	b.WriteString(`}, "neuron_morphologies": {`)
	comma = ""
	for _, m := range s.morphs {
		if m.vectors != nil {
			put(m.name, map[string]any{"type": "vectors", "parameters": map[string]any{"vectors": m.vectors}})
		} else {
			put(m.name, map[string]any{"type": "patterns", "parameters": map[string]any{"patterns": m.patterns}})
		}
	}
	b.WriteString("}}\n")
	return []byte(b.String())
}

// injector is the caller's input, the same for oracle and engines.
type injector [][]engine.Stimulus

func (in injector) Stimuli(b uint64, into []engine.Stimulus) ([]engine.Stimulus, error) {
	if b < uint64(len(in)) {
		into = append(into, in[b]...)
	}
	return into, nil
}

// compare runs a sketch on the oracle and, through the importer, on the backends; each gets what the oracle fired.
func compare(t *testing.T, s *sketch, bursts int, r *rand.Rand, each func(fired []int)) {
	t.Helper()
	dialect := feagi.Rust
	if s.python {
		dialect = feagi.Python
	}
	text := s.text(t)
	g, _, err := feagi.Import("sketch.json", text, feagi.Options{Dialect: dialect})
	require.NoError(t, err, "%s", text)
	c := build(t, g)
	o := newOracle(s, float64(c.Scale))
	require.Len(t, o.neurons, int(c.Neurons))
	require.Equal(t, uint64(o.synapses), c.ByRule)
	if full := uint64(slices.Max(c.Bound))*2 > 1<<30; !full {
		require.GreaterOrEqual(t, int(c.Scale), min(1<<24, 1000*o.mostOfOne), "shares rounded up add at most a thousandth")
	}
	_, fraction := math.Frexp(float64(c.Scale))
	require.Equal(t, math.Ldexp(1, fraction-1), float64(c.Scale), "a power of two")

	in := make(injector, bursts)
	for b := range in {
		for n := range len(o.neurons) {
			if r != nil && r.IntN(5) == 0 {
				in[b] = append(in[b], engine.Stimulus{Port: uint32(n), Amount: int32(float64(c.Scale) * pick(r, 1, 0.5, 3.25, -1, 7))})
			}
		}
	}
	var feeds []*engine.Feed
	var backends []engine.Backend
	for _, name := range []string{"reference", "cpu"} {
		b, err := backend.Open(name, c, backend.Options{})
		require.NoError(t, err)
		defer b.Close()
		backends, feeds = append(backends, b), append(feeds, engine.NewFeed(c, []engine.Source{in}))
	}
	for b := range bursts {
		inputs := map[int]float64{}
		for _, i := range in[b] {
			inputs[int(i.Port)] += float64(i.Amount) / float64(c.Scale)
		}
		want := o.step(inputs)
		for k := range backends {
			var q engine.Burst
			stimuli, err := feeds[k].Next(uint64(b))
			require.NoError(t, err)
			require.NoError(t, backends[k].Step(stimuli, &q))
			got := make([]int, len(q.Fired))
			for i, n := range q.Fired {
				got[i] = int(n)
			}
			require.ElementsMatch(t, want, got, "burst %d, side %d\n%s", b, k, text)
		}
		each(want)
	}
}
