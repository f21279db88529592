package feagi

import (
	"fmt"
	"slices"
	"strings"
)

// pool is how many neurons FEAGI has for all of its memory areas together. Each area gets as many.
const pool = 50_000

// mostLifespan is the largest lifespan that burst has, in bursts, and mostDepth the most bursts of a pattern.
const mostLifespan, mostDepth = 1 << 24, 255

// isMemory says whether an area has no neurons until it learns. FEAGI's released server was measured to go by the flag alone, its
// Python server goes by the subgroup alone: a group or an id of memory empties no area.
func (im *importer) isMemory(a *area) bool {
	subgroup := strings.Contains(im.text1(a, "subgrp"), "MEMORY")
	switch flag := a.genes["memory"].what == true; {
	case im.python():
		return subgroup
	case im.release():
		return flag
	default:
		return subgroup || flag
	}
}

// sees says whether a memory area sees another area by a mapping. The released server was measured to let it see another memory area
// by whatever morphology; before it they had synapses.
func (im *importer) sees(m *mapping) bool {
	if im.python() || !m.to.memory || m.from.memory && !im.release() {
		return false
	}
	return m.from.memory || m.morphology == "memory" || m.morphology == "episodic_memory"
}

// see makes the areas of such mappings upstream, and gives the other mappings.
func (im *importer) see(all []*mapping) []*mapping {
	return slices.DeleteFunc(all, func(m *mapping) bool {
		if !m.subscribes {
			return false
		}
		if !slices.Contains(m.to.upstream, m.from) {
			m.to.upstream = append(m.to.upstream, m.from)
		}
		m.from.note(m.key, Converted, m.morphology, "upstream of "+m.to.name, "")
		return true
	})
}

// writeMemory writes a memory area; one that sees nothing is declared without neurons.
func (im *importer) writeMemory(a *area) {
	w := &areaWriter{im, a}
	w.head()
	w.line("subgrp", "group: memory", "")
	if len(a.upstream) == 0 {
		w.line("subgrp", "neurons: 0", "it keeps no patterns")
		w.triple("rcord", "position")
		why := "no area maps to it by the morphology memory or episodic_memory"
		if im.python() {
			why = "FEAGI's Python server keeps patterns by a law of its own, which burst does not have"
		}
		e, key := a.genes["memory"], "memory"
		if subgroup, ok := a.genes["subgrp"]; ok && !im.release() {
			e, key = subgroup, subgroup.key
		} else if e.key != "" {
			key = e.key
		}
		im.dropped(&a.report.Lines, e.at, a.where(key), Note{Key: key, From: e.String(), Reason: "a memory area without neurons: " + why})
		for _, name := range ofMemory {
			if e, ok := a.genes[name]; ok && name != "twinrf" {
				im.dropped(&a.report.Lines, e.at, a.where(e.key), Note{Key: e.key, From: e.String(), Reason: "memory is not run"})
			}
		}
		return
	}
	w.line("memory", fmt.Sprintf("neurons: %d", pool), "FEAGI has as many for all memory areas together")
	w.triple("rcord", "position")
	names := make([]string, len(a.upstream))
	for i, from := range a.upstream {
		names[i] = quoted(from.name)
	}
	w.line("memory", "model: memory", "")
	w.line("memory", "upstream: ["+strings.Join(names, ", ")+"]", "")
	depth := max(1, w.lifetime("tmpdpt", 1, mostDepth))
	lifespan, growth := w.lifetime("mem_ls", 9, mostLifespan), w.lifetime("mem_gr", 1, mostLifespan)
	if e := a.genes["mem_ls"]; lifespan == 0 {
		im.fault(e.at, a.where(e.key), "expects a lifespan of at least 1, found %s", e.value)
	}
	params := fmt.Sprintf("temporal_depth: %d, lifespan: %d, lifespan_growth: %d, long_term: %d", depth, lifespan, growth, max(1, w.lifetime("mem__t", 100, mostLifespan)))
	if im.release() {
		params += ", spare_seen: true"
	}
	w.line("mem_ls", "params: {"+params+"}", "")
}

// lifetime reads a gene of memory areas, whose fractions FEAGI cuts off. The released server was measured not to read mem_gr-f.
func (w *areaWriter) lifetime(name string, fallback, most uint64) uint64 {
	if e := w.a.genes[name]; w.release() && strings.HasSuffix(e.key, "mem_gr-f") {
		w.a.note(e.key, NoEffect, e.String(), "", "FEAGI reads mem_gr-i alone")
		return fallback
	}
	x, _ := w.whole(w.a, name, fallback, most, true)
	return x
}
