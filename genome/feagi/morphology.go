package feagi

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// functions are the morphologies that FEAGI computes, as rules of a genome.
var functions = map[string][]string{
	"projector":          {"rule: projector"},
	"projector_xy":       {"rule: projector", "axes: yxz"},
	"projector_yz":       {"rule: projector", "axes: xzy"},
	"projector_xz":       {"rule: projector", "axes: zyx"},
	"project_from_end_x": {"rule: projector", "from_end: x"},
	"project_from_end_y": {"rule: projector", "from_end: y"},
	"project_from_end_z": {"rule: projector", "from_end: z"},
	"expander_x":         {"rule: expander"},
	"reducer_x":          {"rule: reducer"},
	"randomizer":         {"rule: randomizer"},
	"lateral_pairs_x":    {"rule: lateral_pairs"},
	"last_to_first":      {"rule: last_to_first"},
	"block_to_block":     {"rule: block_to_block"},
	"block_connection":   {"rule: block_to_block", "divide: [10, 1, 1]"},
}

// noMapper are the functions that cannot be the mapper of a composite, and why.
var noMapper = map[string]string{
	"randomizer": "which draws a voxel for every neuron of an area; burst does so for whole areas alone",
	"tile":       "a composite itself",
}

// silent are the morphologies that make no synapses before memory or learning does.
var silent = map[string]bool{
	"memory": true, "episodic_memory": true, "memory_replay": true, "associative_memory": true, "bi_directional_stdp": true,
}

// core are the morphologies that FEAGI has without a definition in the file.
var core = map[string][]string{
	"all_to_0-0-0": {`rule: patterns`, `patterns: [[["*", "*", "*"], [0, 0, 0]]]`},
	"0-0-0_to_all": {`rule: patterns`, `patterns: [[[0, 0, 0], ["*", "*", "*"]]]`},
	"all_to_all":   {`rule: patterns`, `patterns: [[["*", "*", "*"], ["*", "*", "*"]]]`},
	"lateral_+x":   {`rule: vectors`, `vectors: [[1, 0, 0]]`},
	"lateral_-x":   {`rule: vectors`, `vectors: [[-1, 0, 0]]`},
	"lateral_+y":   {`rule: vectors`, `vectors: [[0, 1, 0]]`},
	"lateral_-y":   {`rule: vectors`, `vectors: [[0, -1, 0]]`},
	"lateral_+z":   {`rule: vectors`, `vectors: [[0, 0, 1]]`},
	"lateral_-z":   {`rule: vectors`, `vectors: [[0, 0, -1]]`},
	"tile":         {`rule: composite`, `src_seed: [16, 16, 1]`, `mapper: {rule: projector}`},
}

// unmade are the functions by which FEAGI's release makes no synapses.
var unmade = map[string]bool{
	"projector_xy": true, "projector_yz": true, "projector_xz": true, "project_from_end_x": true, "project_from_end_y": true, "project_from_end_z": true,
	"expander_x": true, "reducer_x": true, "randomizer": true, "lateral_pairs_x": true, "block_connection": true,
}

// fixed are the morphologies of which FEAGI's release takes its own, whatever a file says of the name.
var fixed = map[string]bool{
	"projector": true, "block_to_block": true, "last_to_first": true, "tile": true, "all_to_0-0-0": true, "0-0-0_to_all": true,
	"lateral_+x": true, "lateral_-x": true, "lateral_+y": true, "lateral_-y": true, "lateral_+z": true, "lateral_-z": true,
}

// released is what FEAGI's release makes of a morphology otherwise than its earlier programs; false where it does as they do.
func (im *importer) released(m *mapping, key string, d *member) ([]line, bool) {
	name, kind, bare := m.morphology, "functions", false
	here := origin{m.at, m.where}
	if d != nil {
		def, ok := im.define(d)
		if !ok {
			return nil, true
		}
		kind, bare, here = def.kind, def.bare, origin{def.at, m.where + ", morphology " + short(name)}
	}
	rule := []string{"rule: projector", "division: float32"}
	switch {
	case name == "tile" && !im.o.Unmade:
		if rule = im.tiled(m); rule == nil {
			return nil, true
		}
		m.from.note(key, Converted, name, rule[0], "FEAGI's release repeats the smaller area over the larger, voxel by voxel")
		return m.lines(here, rule), true
	case name == "projector":
		if kind != "functions" {
			m.from.note(key, Converted, name, rule[0], "FEAGI's release takes its own morphology of that name, whatever the file says")
		}
		im.unscaled(m, key, rule)
		return m.lines(here, rule), true
	case fixed[name] && d != nil:
		return im.fixed(m, key, d, here)
	case im.o.Unmade:
		return nil, false
	case bare:
		m.from.note(key, Converted, name, "no synapses", "FEAGI's release reads no definition without parameters; --keep-unmade makes those of its earlier programs")
		return nil, true
	case kind != "composite" && !(kind == "functions" && unmade[name]) && !(name == "all_to_all" && d == nil):
		return nil, false
	}
	m.from.note(key, Converted, name, "no synapses", "FEAGI's release makes none by this morphology; --keep-unmade makes those of its earlier programs")
	return nil, true
}

// fixed is FEAGI's own rule of a name that the file defines too; the file's text stays where it says the same.
func (im *importer) fixed(m *mapping, key string, d *member, here origin) ([]line, bool) {
	rule := functions[m.morphology]
	if rule == nil {
		rule = core[m.morphology]
	}
	var said []string
	lines, ok := im.defined(m, key, d)
	for _, l := range lines {
		said = append(said, l.text)
	}
	if ok && (slices.Equal(said, rule) || m.morphology == "block_to_block" && slices.Equal(said, []string{"rule: vectors", "vectors: [[0, 0, 0]]"})) {
		return lines, true
	}
	m.from.note(key, Converted, m.morphology, rule[0], "FEAGI's release takes its own morphology of that name, whatever the file says")
	return m.lines(here, rule), true
}

// tiled is the rule by which FEAGI's release repeats the one of two areas with fewer voxels over the other.
func (im *importer) tiled(m *mapping) []string {
	from, to := m.from.size, m.to.size
	sources, targets, copies := 1.0, 1.0, 1.0
	for i := range from {
		sources, targets, copies = sources*float64(from[i]), targets*float64(to[i]), copies*math.Ceil(float64(to[i])/float64(from[i]))
	}
	switch {
	case sources > targets:
		return []string{"rule: composite", "src_seed: " + numbers(to[:]...), "mapper: {rule: block_to_block}"}
	case copies > maxMade/10: // bytes of a vector, at the least
		im.fault(m.at, m.where, "tile repeats %s %.0f times over %s, which takes more than 4 MiB written out, want fewer", m.from.name, copies, m.to.name)
		return nil
	}
	var vectors []string
	for x := uint64(0); x < to[0]; x += from[0] {
		for y := uint64(0); y < to[1]; y += from[1] {
			for z := uint64(0); z < to[2]; z += from[2] {
				vectors = append(vectors, numbers(x, y, z))
			}
		}
	}
	return append([]string{"rule: vectors"}, block("vectors", vectors)...)
}

// morphology turns a rule's morphology into the keys of a projection; false when it makes no synapses or is at fault.
func (im *importer) morphology(m *mapping, key string) ([]line, bool) {
	name := m.morphology
	if im.release() {
		if lines, otherwise := im.released(m, key, im.morphologies.get(name)); otherwise {
			return lines, lines != nil
		}
	}
	if d := im.morphologies.get(name); d != nil {
		return im.defined(m, key, d)
	}
	if silent[name] {
		return im.learns(m, key, name)
	}
	rule := functions[name]
	if rule == nil {
		rule = core[name]
	}
	if rule == nil {
		im.missing(m.from, m.at, m.where, Note{Key: key, From: name, Reason: "no morphology has that name"})
		return nil, false
	}
	m.from.note(key, Converted, name, rule[0], "the file does not define it; FEAGI's own is taken")
	im.unscaled(m, key, rule)
	return m.lines(origin{m.at, m.where}, rule), true
}

// learns reports a morphology that makes no synapses.
func (im *importer) learns(m *mapping, key, name string) ([]line, bool) {
	im.dropped(&m.from.report.Lines, m.at, m.where, Note{Key: key, From: name, Reason: "a morphology of memory and learning, which makes no synapses before burst learns"})
	return nil, false
}

// lines are the keys of a projection; the first carries the morphology's name where it says more.
func (m *mapping) lines(o origin, rule []string) []line {
	list := make([]line, len(rule))
	for i, text := range rule {
		list[i] = line{o, text, ""}
	}
	if "rule: "+m.morphology != rule[0] {
		list[0].comment = "FEAGI's " + m.morphology
	}
	return list
}

// definition is a morphology of the file.
type definition struct {
	name, kind string
	at         int
	bare       bool // neither a type nor parameters of their own, as in the oldest genomes
	parameters *object
}

// define reads what all kinds of definitions share.
func (im *importer) define(d *member) (definition, bool) {
	where := "morphology " + short(d.key)
	o := d.object()
	if o == nil {
		im.fault(d.value.at, where, "expects an object with type and parameters, found %s", d.value)
		return definition{}, false
	}
	def := definition{name: d.key, at: d.value.at, parameters: o}
	if p := o.get("parameters"); p != nil && p.object() != nil {
		def.parameters = p.object()
	}
	if t := o.get("type"); t != nil && t.what != nil {
		s, ok := t.what.(string)
		if !ok {
			im.fault(t.value.at, where+", type", "expects a text, found %s", t.value)
			return def, false
		}
		def.kind = s
		return def, true
	}
	def.bare = def.parameters == o
	def.kind = "functions" // the oldest genomes do not say; the parameters do
	for kind, sign := range map[string]string{"vectors": "vectors", "patterns": "patterns", "composite": "mapper_morphology"} {
		if def.parameters.get(sign) != nil {
			def.kind = kind
		}
	}
	return def, true
}

// defined turns a definition of the file into the keys of a projection.
func (im *importer) defined(m *mapping, key string, d *member) ([]line, bool) {
	def, ok := im.define(d)
	if !ok {
		return nil, false
	}
	if def.kind == "functions" && silent[def.name] {
		return im.learns(m, key, def.name)
	}
	rule, ok := im.definedRule(m, key, def, false)
	if !ok {
		return nil, false
	}
	return m.lines(origin{def.at, m.where + ", morphology " + short(def.name)}, rule), true
}

// definedRule writes the rule of a definition; inside says that a composite applies it.
func (im *importer) definedRule(m *mapping, key string, def definition, inside bool) ([]string, bool) {
	where := "morphology " + short(def.name)
	switch def.kind {
	case "vectors":
		return im.vectors(m, key, def)
	case "patterns":
		return im.patterns(m, key, def)
	case "composite":
		if inside {
			im.fault(def.at, where, "a composite inside a composite, want a morphology of another type")
			return nil, false
		}
		return im.composite(m, key, def)
	case "functions":
		return im.function(m, key, def.name, m.where, inside)
	case "placeholder":
		m.from.note(key, Converted, def.name, "no synapses", "a placeholder, which makes none in FEAGI either")
		return nil, false
	}
	im.missing(m.from, m.at, m.where, Note{Key: key, From: def.name, Reason: fmt.Sprintf("its type %q is none of vectors, patterns, functions, composite", short(def.kind))})
	return nil, false
}

// function is the rule of one of FEAGI's functions; inside says that a composite applies it.
func (im *importer) function(m *mapping, key, name, where string, inside bool) ([]string, bool) {
	rule, reason := functions[name], "no function of FEAGI has that name, of which there are "+strings.Join(slices.Sorted(maps.Keys(functions)), ", ")
	switch {
	case inside && noMapper[name] != "":
		rule, reason = nil, "a morphology that a composite cannot apply, "+noMapper[name]
	case inside && silent[name]:
		reason = "a morphology of memory and learning, which a composite cannot apply"
	}
	if rule == nil {
		im.missing(m.from, m.at, where, Note{Key: key, From: name, Reason: reason})
		return nil, false
	}
	im.unscaled(m, key, rule)
	return rule, true
}

// unscaled reports a scalar that the rule does not use.
func (im *importer) unscaled(m *mapping, key string, rule []string) {
	if m.scalar != [3]float64{1, 1, 1} {
		m.from.note(key+".morphology_scalar", NoEffect, numbers(m.scalar[:]...), "", "FEAGI scales vectors only, in the dialect python; the rule here is "+strings.TrimPrefix(rule[0], "rule: "))
	}
}

// triples reads the lists of a parameter; false after a fault or when there are none.
func (im *importer) triples(m *mapping, key string, def definition, name string) ([]value, bool) {
	where := "morphology " + short(def.name) + ", " + name
	p := def.parameters.get(name)
	if p == nil {
		im.fault(def.at, where, "no %s, which this type of morphology wants", name)
		return nil, false
	}
	list, ok := p.what.([]value)
	if !ok {
		im.fault(p.value.at, where, "expects a list, found %s", p.value)
		return nil, false
	}
	if len(list) == 0 {
		m.from.note(key, Converted, def.name, "no synapses", "the morphology has no "+name)
		return nil, false
	}
	return list, true
}

// vectors writes offsets; the dialect python multiplies them by the rule's scalar.
func (im *importer) vectors(m *mapping, key string, def definition) ([]string, bool) {
	list, ok := im.triples(m, key, def, "vectors")
	if !ok {
		return nil, false
	}
	scalar := [3]float64{1, 1, 1}
	if im.python() {
		scalar = m.scalar
	} else {
		im.unscaled(m, key, []string{"rule: vectors"})
	}
	rule := []string{"rule: vectors"}
	var texts []string
	for _, v := range list {
		xs, ok := v.what.([]value)
		var t [3]int64
		if ok = ok && len(xs) == 3; ok {
			for i, x := range xs {
				f, fine := toNumber(x.what)
				f = math.Trunc(float64(f * scalar[i]))
				ok = ok && fine && math.Abs(f) <= maxSide
				t[i] = int64(f)
			}
		}
		if !ok {
			im.fault(v.at, "morphology "+short(def.name)+", vectors", "expects three whole numbers up to 2^32, found %s", v)
			return nil, false
		}
		texts = append(texts, numbers(t[:]...))
	}
	if scalar != [3]float64{1, 1, 1} {
		m.from.note(key+".morphology_scalar", Converted, numbers(scalar[:]...), "vectors multiplied by it", "")
	}
	return append(rule, block("vectors", texts)...), true
}

// block writes a list: a short one in a line, a long one element by element.
func block(name string, texts []string) []string {
	if len(texts) <= 4 {
		return []string{name + ": [" + strings.Join(texts, ", ") + "]"}
	}
	lines := []string{name + ":"}
	for _, t := range texts {
		lines = append(lines, "  - "+t)
	}
	return lines
}

// patterns writes pairs of source and destination.
func (im *importer) patterns(m *mapping, key string, def definition) ([]string, bool) {
	list, ok := im.triples(m, key, def, "patterns")
	if !ok {
		return nil, false
	}
	var texts []string
	for _, v := range list {
		ends, ok := v.what.([]value)
		if !ok || len(ends) != 2 {
			im.fault(v.at, "morphology "+short(def.name)+", patterns", "expects a pair of source and destination, found %s", v)
			return nil, false
		}
		from, fromOutside, ok := im.patternEnd(def, ends[0])
		to, toOutside, fine := im.patternEnd(def, ends[1])
		if !ok || !fine {
			return nil, false
		}
		if fromOutside || toOutside {
			m.from.note(key, Converted, "["+from+", "+to+"]", "no synapses", "a negative coordinate lies in no area")
			continue
		}
		texts = append(texts, "["+from+", "+to+"]")
	}
	if len(texts) == 0 {
		return nil, false
	}
	im.unscaled(m, key, []string{"rule: patterns"})
	return append([]string{"rule: patterns"}, block("patterns", texts)...), true
}

// patternEnd writes one side of a pattern; outside says that a coordinate is negative.
func (im *importer) patternEnd(def definition, v value) (text string, outside, ok bool) {
	list, _ := v.what.([]value)
	if len(list) != 3 {
		im.fault(v.at, "morphology "+short(def.name)+", patterns", `expects three of a coordinate, "*", "?" and "!", found %s`, v)
		return "", false, false
	}
	var parts [3]string
	for i, e := range list {
		if s, _ := e.what.(string); s == "*" || s == "?" || s == "!" {
			parts[i] = `"` + s + `"`
			continue
		}
		x, number := toNumber(e.what)
		if _, boolean := e.what.(bool); boolean || !number || x != math.Trunc(x) || math.Abs(x) > maxSide {
			im.fault(e.at, "morphology "+short(def.name)+", patterns", `expects a coordinate, "*", "?" or "!", found %s`, e)
			return "", false, false
		}
		outside = outside || x < 0
		parts[i] = fmt.Sprintf("%.0f", x)
	}
	return "[" + strings.Join(parts[:], ", ") + "]", outside, true
}

// composite writes blocks of the source and the rule for each.
func (im *importer) composite(m *mapping, key string, def definition) ([]string, bool) {
	where := "morphology " + short(def.name)
	p := def.parameters.get("src_seed")
	if p == nil {
		im.fault(def.at, where+", src_seed", "no size of a block, want one such as [16, 16, 1]")
		return nil, false
	}
	seed, ok := im.wholes(p.value, 3, where+", src_seed", 1, "the voxels of a block along x, y and z")
	if !ok {
		return nil, false
	}
	rule := []string{"rule: composite", "src_seed: [" + strings.Join(seed, ", ") + "]"}
	if p := def.parameters.get("src_pattern"); p != nil && p.what != nil {
		list, _ := p.what.([]value)
		if len(list) != 3 {
			im.fault(p.value.at, where+", src_pattern", "expects three pairs of choose and skip, found %s", p.value)
			return nil, false
		}
		var pairs []string
		for _, pair := range list {
			xs, ok := im.wholes(pair, 2, where+", src_pattern", 0, "how many blocks to choose, then how many to skip")
			if !ok {
				return nil, false
			}
			if xs[0] == "0" {
				m.from.note(key, Converted, def.name, "no synapses", "the morphology chooses no blocks")
				return nil, false
			}
			pairs = append(pairs, "["+strings.Join(xs, ", ")+"]")
		}
		if text := "src_pattern: [" + strings.Join(pairs, ", ") + "]"; text != "src_pattern: [[1, 0], [1, 0], [1, 0]]" {
			rule = append(rule, text)
		}
	}
	mapper, ok := im.mapper(m, key, def)
	return append(rule, mapper), ok
}

// mapper writes the rule that a composite applies to its blocks.
func (im *importer) mapper(m *mapping, key string, def definition) (string, bool) {
	where := m.where + ", morphology " + short(def.name) + ", mapper_morphology"
	p := def.parameters.get("mapper_morphology")
	if p == nil {
		im.fault(def.at, where, "no name of a morphology, want one")
		return "", false
	}
	name, text := p.what.(string)
	if !text {
		im.fault(p.value.at, where, "expects the name of a morphology, found %s", p.value)
		return "", false
	}
	rule, ok := core[name], true
	switch d := im.morphologies.get(name); {
	case d != nil:
		inner, fine := im.define(d)
		if !fine {
			return "", false
		}
		rule, ok = im.definedRule(m, key, inner, true)
	case rule == nil || noMapper[name] != "":
		rule, ok = im.function(m, key, name, where, true)
	}
	if !ok {
		return "", false
	}
	return "mapper: {" + flow(rule) + "}", true
}

// flow joins the lines of a rule for one line of text.
func flow(rule []string) string {
	text := strings.Join(rule, ", ")
	if i := strings.Index(text, ":,"); i >= 0 { // a block: its elements become a list
		text = text[:i+1] + " [" + strings.ReplaceAll(strings.TrimLeft(text[i+2:], " -"), ",   - ", ", ") + "]"
	}
	return text
}

// wholes reads a list of n whole numbers from least on; meaning says what they are.
func (im *importer) wholes(v value, n int, where string, least float64, meaning string) ([]string, bool) {
	list, _ := v.what.([]value)
	ok := len(list) == n
	texts := make([]string, len(list))
	for i, e := range list {
		x, number := toNumber(e.what)
		ok = ok && number && x == math.Trunc(x) && x >= least && x <= maxSide
		texts[i] = fmt.Sprintf("%.0f", x)
	}
	if !ok {
		im.fault(v.at, where, "expects %d whole numbers from %.0f to 2^32 (%s), found %s", n, least, meaning, v)
	}
	return texts, ok
}
