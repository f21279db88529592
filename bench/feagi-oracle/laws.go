package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// laws is a genome of many areas of one neuron, each for a rule or two of FEAGI's law, that a few sources feed.
type laws struct {
	areas []*lawCase
	byKey map[string]*lawCase
}

// lawCase is one area.
type lawCase struct {
	key, name string
	size      int // voxels along x
	each      int // neurons of a voxel
	genes     map[string]any
	to        map[string][]any
}

// usual are the genes of an area unless it says otherwise.
var usual = map[string]any{
	"nx-fire_t-f": 1.0, "nx-leak_c-f": 0.0, "nx-refrac-i": 0, "nx-c_fr_c-i": 0, "nx-snooze-f": 0.0, "nx-mp_acc-b": true, "nx-excite-f": 1.0,
	"nx-fthlim-f": 0.0, "cx-pstcr_-f": 1.0, "cx-pspuni-b": true, "nx-mp_psp-b": false,
}

// area adds one; genes come in pairs of key and value.
func (l *laws) area(key, name string, genes ...any) *lawCase {
	c := &lawCase{key: key, name: name, size: 1, each: 1, genes: map[string]any{}, to: map[string][]any{}}
	for i := 0; i < len(genes); i += 2 {
		c.genes[genes[i].(string)] = genes[i+1]
	}
	l.areas = append(l.areas, c)
	l.byKey[key] = c
	return c
}

// fed adds an area for a rule; its inputs are such as "one 2.5", a source and a multiplier.
func (l *laws) fed(name string, inputs []string, genes ...any) *lawCase {
	c := l.area(fmt.Sprintf("c%03d__", len(l.areas)), name, genes...)
	for _, in := range inputs {
		l.wire(in, c, 1)
	}
	return c
}

// wire adds a mapping from a source.
func (l *laws) wire(in string, to *lawCase, delay int) {
	var source string
	var multiplier float64
	if _, err := fmt.Sscanf(in, "%s %g", &source, &multiplier); err != nil {
		panic(err) // the lists below are wrong
	}
	from := l.byKey["c"+source+strings.Repeat("_", 5-len(source))]
	from.to[to.key] = append(from.to[to.key], []any{"all_to_all", []int{1, 1, 1}, multiplier, false, 1, 1, 1, 1, delay})
}

// newLaws makes the areas.
func newLaws() *laws {
	l := &laws{byKey: map[string]*lawCase{}}
	l.area("___pwr", "power", "nx-fire_t-f", 1.0)
	l.area("cone__", "source one")
	l.area("ctwo__", "source two")
	l.area("chalf_", "source half", "cx-pstcr_-f", 0.5)
	l.area("codd__", "source odd", "cx-pstcr_-f", 2.7)
	l.area("cbig__", "source big", "cx-pstcr_-f", 500.0)
	l.area("cminu_", "source minus", "cx-pstcr_-f", -3.0)
	l.area("cpart_", "source part", "cx-pspuni-b", false)
	one, both := []string{"one 1"}, []string{"one 1", "two -1"}

	for _, refractory := range []int{0, 1, 2, 5} {
		for _, limit := range []int{0, 1, 3} {
			for _, snooze := range []float64{0, 1, 3} {
				if limit > 0 || snooze == 0 {
					l.fed(fmt.Sprintf("refractory %d limit %d snooze %g", refractory, limit, snooze), one,
						"nx-refrac-i", refractory, "nx-c_fr_c-i", limit, "nx-snooze-f", snooze)
				}
			}
		}
	}
	for _, leak := range []float64{0.1, 0.37, 0.5, 1, 1.5, 2, 10} {
		for _, threshold := range []float64{2.5, 5} {
			l.fed(fmt.Sprintf("leak %g threshold %g", leak, threshold), one, "nx-leak_c-f", leak, "nx-fire_t-f", threshold)
		}
		l.fed(fmt.Sprintf("leak %g cancel", leak), []string{"one 2", "two -2", "half 1"}, "nx-leak_c-f", leak, "nx-fire_t-f", 5.0)
	}
	for _, threshold := range []float64{0, -1, -0.25, 0.1, 1.5} {
		l.fed(fmt.Sprintf("forgets threshold %g", threshold), append(both, "half 1"), "nx-mp_acc-b", false, "nx-fire_t-f", threshold)
		l.fed(fmt.Sprintf("keeps threshold %g", threshold), both, "nx-fire_t-f", threshold)
	}
	for _, most := range []float64{1, 1.5, 2, 6.5} {
		l.fed(fmt.Sprintf("window %g", most), []string{"one 1", "two 2", "half 1"}, "nx-fthlim-f", most, "nx-leak_c-f", 0.5)
	}
	for _, multiplier := range []float64{0.5, 2.5, 300, 255.5, -0.75, -2, -300, 0} {
		l.fed(fmt.Sprintf("multiplier %g", multiplier), []string{fmt.Sprintf("one %g", multiplier), "two 1"}, "nx-fire_t-f", 3.0, "nx-leak_c-f", 0.25)
	}
	for _, in := range []string{"odd 1", "odd 2.5", "odd -1", "big 1", "big -1", "minu 1", "minu -1", "half 3"} {
		l.fed("current "+strings.ReplaceAll(in, "-", "minus "), []string{in, "two 1"}, "nx-fire_t-f", 2.7, "nx-leak_c-f", 0.1)
	}
	for _, limit := range []int{1, 3} {
		l.fed(fmt.Sprintf("cancel limit %d", limit), both, "nx-c_fr_c-i", limit)
		l.fed(fmt.Sprintf("nothing limit %d", limit), []string{"one 1", "two 0"}, "nx-c_fr_c-i", limit)
	}
	for _, delay := range []int{2, 3, 7} {
		l.wire("one 1", l.fed(fmt.Sprintf("delay %d", delay), nil, "nx-refrac-i", delay-2), delay)
	}
	for i, threshold := range []float64{1, 0.5, 0.2} {
		l.fed(fmt.Sprintf("share %d", i), []string{"part 1", "half -1"}, "nx-fire_t-f", threshold)
	}
	for _, refractory := range []int{0, 1, 2} {
		a := l.fed(fmt.Sprintf("loop %d", refractory), one, "nx-refrac-i", refractory, "nx-c_fr_c-i", 2*refractory, "nx-leak_c-f", 0.5, "nx-fire_t-f", 1.5)
		b := l.fed(fmt.Sprintf("back %d", refractory), nil, "cx-pstcr_-f", 2.0)
		a.to[b.key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 1, false, 1, 1, 1}}
		b.to[a.key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 0.25, false, 1, 1, 1}}
	}
	for _, chance := range []float64{0, 0.05, 0.3, 0.5, 0.9, 0.998, 0.999} {
		l.fed(fmt.Sprintf("chance %g", chance), one, "nx-excite-f", chance)
		l.fed(fmt.Sprintf("chance %g leak limit", chance), []string{"one 1", "two 0.5"}, "nx-excite-f", chance, "nx-leak_c-f", 0.5, "nx-c_fr_c-i", 2, "nx-fire_t-f", 1.5)
	}
	for _, each := range []int{2, 5} {
		crowd := l.fed(fmt.Sprintf("crowd of %d", each), one, "nx-fire_t-f", 1.5, "nx-excite-f", 0.7)
		crowd.each = each
		crowd.to[l.fed(fmt.Sprintf("after crowd of %d", each), []string{"two 0.25"}, "nx-fire_t-f", 2.0).key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 1, false, 1, 1, 1}}
	}
	gradient := l.fed("gradient", one, "nx-ftincx-f", 0.7, "nx-leak_c-f", 0.2)
	gradient.size = 4
	return l
}

// text is the genome as FEAGI writes it.
func (l *laws) text(name, about string) ([]byte, error) {
	blueprint := map[string]any{}
	for i, a := range l.areas {
		put := func(key string, v any) { blueprint["_____10c-"+a.key+"-"+key] = v }
		for key, v := range usual {
			put(key, v)
		}
		for key, v := range a.genes {
			put(key, v)
		}
		put("cx-__name-t", a.name)
		put("cx-_group-t", map[bool]string{true: "CORE", false: "CUSTOM"}[i == 0])
		put("cx-___bbx-i", a.size)
		put("cx-___bby-i", 1)
		put("cx-___bbz-i", 1)
		put("cx-_n_cnt-i", a.each)
		put("cx-rcordx-i", i)
		put("cx-dstmap-d", a.to)
	}
	return json.MarshalIndent(map[string]any{
		"genome_id": name, "genome_title": name, "genome_description": about, "version": "3.0", "blueprint": blueprint,
		"neuron_morphologies": map[string]any{"all_to_all": map[string]any{"type": "patterns", "parameters": map[string]any{"patterns": []any{[]any{[]any{"*", "*", "*"}, []any{"*", "*", "*"}}}}}},
		"physiology":          map[string]any{"simulation_timestep": 0.025},
		"stats":               map[string]any{"innate_cortical_area_count": len(l.areas), "innate_neuron_count": len(l.areas) + 3, "innate_synapse_count": 0},
	}, "", " ")
}
