package feagi

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"burst/genome"
)

// area is a cortical area as the file describes it.
type area struct {
	id       string
	at       int
	genes    map[string]entry
	name     string   // in the genome, unique
	aliases  []string // FEAGI's ids, as the genome takes them
	memory   bool     // it has no neurons until it learns
	upstream []*area  // whose patterns it keeps
	driven   bool     // its potentials drive its current
	size     [3]uint64
	each     uint64 // neurons in a voxel
	report   *AreaReport
}

// entry is the value of a gene with the key it stands under.
type entry struct {
	key string
	value
}

func (a *area) note(key string, fate Fate, from, to, reason string) {
	a.report.Lines = append(a.report.Lines, Note{key, fate, from, to, reason})
}

// where names an area and a key in messages.
func (a *area) where(key string) string { return "area " + short(a.id) + ", " + key }

// genome reads the whole file; false when there is nothing to go on with.
func (im *importer) genome(root value) bool {
	top := root.object()
	if top == nil {
		im.fault(root.at, "", "expects a JSON object with the key blueprint, found %s", root)
		return false
	}
	im.unused(top)
	blueprint := top.get("blueprint")
	switch {
	case blueprint == nil:
		im.fault(root.at, "", "expects a FEAGI genome with an object of areas under the key blueprint, found no such key")
		return false
	case blueprint.object() == nil:
		im.fault(blueprint.value.at, "blueprint", "expects an object of areas, found %s", blueprint.value)
		return false
	}
	if !im.blueprint(blueprint.object(), blueprint.value.at) {
		return false
	}
	if m := top.get("neuron_morphologies"); m != nil {
		if im.morphologies = m.object(); im.morphologies == nil {
			im.fault(m.at, "neuron_morphologies", "expects an object of morphologies, found %s", m)
		}
	}
	im.chooseDialect()
	im.prepare()
	im.compare(top)
	im.write(top)
	return true
}

// unused notes the keys at the top that nothing in a burst depends on, and refuses none.
func (im *importer) unused(top *object) {
	im.report.Version = "none"
	for _, m := range top.members {
		n := Note{Key: m.key, Fate: NoEffect}
		switch m.key {
		case "blueprint", "neuron_morphologies", "stats", "physiology", "genome_title", "burst_delay":
			continue
		case "version":
			if s, ok := m.what.(string); ok {
				im.report.Version = short(s)
			} else {
				im.report.Version = m.value.String()
			}
			continue
		case "genome_id", "genome_description", "hosts", "signatures", "timestamp", "brain_regions", "species",
			"max_burst_count", "evolution_burst_count", "max_age", "ipu_idle_threshold", "firing_patterns", "neighbor_locator_rule":
		default:
			n.From, n.Reason = m.value.String(), "a key that FEAGI's genomes do not have"
		}
		im.report.note(n)
	}
}

// blueprint gathers the areas in the order in which the file first names them.
func (im *importer) blueprint(b *object, at int) bool {
	im.byID = map[string]*area{}
	im.report.Form = "hierarchical"
	for i := range b.members {
		m := &b.members[i]
		if id, rest, name, ok := flat(m.key); ok {
			im.report.Form = "flat"
			im.flatGene(im.area(id, m.at), m, rest, name)
			continue
		}
		switch properties := m.object(); {
		case m.key == "cortical_areas":
			im.fault(m.at, "blueprint.cortical_areas", "expects areas by their FEAGI ids, or flat keys such as _____10c-c__for-nx-fire_t-f; found a layout of its own, of which FEAGI itself loads no area")
			return false
		case strings.HasPrefix(m.key, "_____10b-"): // genes of the whole brain, such as its name
			im.report.note(Note{Key: "blueprint." + short(m.key), Fate: NoEffect, From: m.value.String()})
		case properties == nil || strings.HasPrefix(m.key, "___") && len(m.key) > 20:
			im.dropped(&im.report.Notes, m.at, "blueprint."+short(m.key), Note{Key: "blueprint." + short(m.key), From: m.value.String(), Reason: "the key names no area"})
		default:
			im.properties(im.area(m.key, m.at), properties)
		}
	}
	if len(im.areas) == 0 {
		im.fault(at, "blueprint", `expects at least one area, found none; a key of an area is such as "_____10c-c__one-cx-___bbx-i" (flat), or its id with an object such as {"block_boundaries": [1, 1, 1]} (hierarchical)`)
		return false
	}
	return true
}

// area is the area with an id, a new one when the file names it for the first time.
func (im *importer) area(id string, at int) *area {
	if a := im.byID[id]; a != nil {
		return a
	}
	a := &area{id: id, at: at, genes: map[string]entry{}, report: &AreaReport{ID: id, Lines: []Note{}}}
	im.byID[id] = a
	im.areas = append(im.areas, a)
	return a
}

// flatGene files a gene of the flat form; scope and type letter do not matter.
func (im *importer) flatGene(a *area, m *member, rest, name string) {
	if !known(name) {
		im.unknown(a, rest, m)
		return
	}
	im.add(a, name, entry{rest, m.value}, m.at)
}

// properties files the genes of the hierarchical form.
func (im *importer) properties(a *area, o *object) {
	for i := range o.members {
		m := &o.members[i]
		if names := lists[m.key]; names != nil {
			im.list(a, m, names)
			continue
		}
		at := slices.IndexFunc(genes, func(g gene) bool { return g.long == m.key })
		switch {
		case at >= 0:
			im.add(a, genes[at].name, entry{m.key, m.value}, m.at)
		case m.key == "neuron_params" && m.object() != nil: // the oldest genomes
			im.properties(a, m.object())
		default:
			im.unknown(a, m.key, m)
		}
	}
}

// list files a property that holds several genes.
func (im *importer) list(a *area, m *member, names []string) {
	list, ok := m.what.([]value)
	switch {
	case m.what == nil:
	case ok && len(list) == len(names):
		for i, name := range names {
			im.add(a, name, entry{fmt.Sprintf("%s[%d]", m.key, i), list[i]}, list[i].at)
		}
	case m.key == "firing_threshold_increment" && !ok:
		im.unknown(a, m.key, m)
	default:
		im.fault(m.value.at, a.where(m.key), "expects a list of %d numbers, found %s", len(names), m.value)
	}
}

func (im *importer) unknown(a *area, key string, m *member) {
	im.dropped(&a.report.Lines, m.at, a.where(short(key)), Note{Key: short(key), From: m.value.String(), Reason: "a key that FEAGI's genomes do not have"})
}

// add files a gene; one that stands there already keeps its first value.
func (im *importer) add(a *area, name string, e entry, at int) {
	first, twice := a.genes[name]
	switch {
	case !twice:
		a.genes[name] = e
	case first.String() == e.String():
		a.note(e.key, NoEffect, e.String(), "", "the same as "+first.key)
	default:
		im.dropped(&a.report.Lines, at, a.where(e.key), Note{Key: e.key, From: e.String(), Reason: first.key + " gives " + first.String() + " already"})
	}
}

// chooseDialect settles the dialect and says why.
func (im *importer) chooseDialect() {
	im.report.Dialect, im.report.Why = im.o.Dialect, "as asked"
	if im.o.Dialect != Auto && im.o.Dialect != "" {
		return
	}
	if format, err := strconv.ParseFloat(im.report.Version, 64); err == nil && format >= 3 {
		im.report.Dialect, im.report.Why = Release, "version "+im.report.Version
		return
	}
	im.report.Dialect, im.report.Why = Rust, "no leak exceeds 1"
	for _, a := range im.areas {
		if x, ok := toNumber(a.genes["leak_c"].what); ok && x > 1 {
			im.report.Dialect, im.report.Why = Python, fmt.Sprintf("area %s leaks %s, more than the fraction 1", short(a.id), number(x))
			return
		}
	}
}

func (im *importer) python() bool  { return im.report.Dialect == Python }
func (im *importer) release() bool { return im.report.Dialect == Release }

// prepare settles what other areas and the file's statistics ask of an area: kind, name, size.
func (im *importer) prepare() {
	taken := map[string]int{}
	im.byCanonical = map[string]*area{}
	for _, a := range im.areas {
		im.canonicalise(a)
		im.identify(a, taken)
		a.memory = im.isMemory(a)
		im.shape(a)
		if !a.memory {
			a.report.Neurons = a.neurons()
			im.report.Neurons += min(a.report.Neurons, math.MaxUint64-im.report.Neurons)
		}
	}
	for _, a := range im.areas {
		im.address(a, taken)
	}
}

// address finds the ids by which an area can be meant beside its name: as the file writes it and, where that is coded, as
// it reads, with and without what fills it up. taken counts the uses of each.
func (im *importer) address(a *area, taken map[string]int) {
	for i, id := range []string{a.id, decoded(a.id), canonical(a.id)} {
		switch {
		case !genome.IsAlias(id) || id == a.name || slices.Contains(a.aliases, id):
		case taken[id] == 0 && (i == 0 || im.byID[id] == nil):
			taken[id]++
			a.aliases = append(a.aliases, id)
		case i == 0:
			a.note("id", Converted, id, a.name, "another area's name, which is meant by it")
		}
	}
}

// neurons is the area's number of neurons, MaxUint64 beyond 64 bits; the genome's parser refuses what is too many.
func (a *area) neurons() uint64 {
	n := float64(a.each)
	for _, s := range a.size {
		n *= float64(s)
	}
	if n >= 1<<63 {
		return math.MaxUint64
	}
	return a.size[0] * a.size[1] * a.size[2] * a.each
}

// canonicalise files an area under the way of writing its id that old and new files share; nil where two share one.
func (im *importer) canonicalise(a *area) {
	id := canonical(a.id)
	if isPower(a.id) {
		id = "___power"
	}
	if _, twice := im.byCanonical[id]; twice {
		a = nil
	}
	im.byCanonical[id] = a
}

// identify finds a readable name that no other area has; taken counts the uses of each.
func (im *importer) identify(a *area, taken map[string]int) {
	found := im.text1(a, "__name")
	name := cleanName(found)
	id := canonical(a.id)
	if strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		id = a.id // base64 of what is no text
	}
	id = cleanName(id)
	if name == "" {
		name = id
	}
	if name == "" {
		name = "area"
	}
	if taken[name] > 0 {
		name = cleanName(name + " " + id)
	}
	for base := name; taken[name] > 0; {
		taken[base]++
		name = fmt.Sprintf("%s %d", base, taken[base])
	}
	taken[name]++
	a.name, a.report.Name = name, name
	if e, ok := a.genes["__name"]; ok {
		switch {
		case found == name:
			a.note(e.key, Carried, found, "", "")
		default:
			a.note(e.key, Converted, e.String(), name, "names are unique and of letters, digits, _ - . and blanks")
		}
		return
	}
	a.note("__name-t", Defaulted, "", name, "")
}

// text1 is a gene that holds a text, "" when there is none.
func (im *importer) text1(a *area, name string) string {
	e, ok := a.genes[name]
	if !ok || e.what == nil {
		return ""
	}
	s, ok := e.what.(string)
	if !ok {
		im.fault(e.at, a.where(e.key), "expects a text, found %s", e.value)
	}
	return s
}

// compare notes statistics that differ from what is counted; synapses are counted when the network is built.
func (im *importer) compare(top *object) {
	stats := top.get("stats")
	if stats == nil || stats.object() == nil {
		return
	}
	read := func(key string) int64 {
		if m := stats.object().get(key); m != nil {
			if x, ok := toNumber(m.what); ok && x >= 0 && x < 1<<53 {
				return int64(x)
			}
		}
		return -1
	}
	s := &Stats{read("innate_cortical_area_count"), read("innate_neuron_count"), read("innate_synapse_count")}
	im.report.Stated = s
	if s.Areas >= 0 && int(s.Areas) != len(im.areas) {
		im.report.note(stale("innate_cortical_area_count", s.Areas, uint64(len(im.areas))))
	}
	if s.Neurons >= 0 && uint64(s.Neurons) != im.report.Neurons {
		im.report.note(stale("innate_neuron_count", s.Neurons, im.report.Neurons))
	}
}

// title is the genome's name: the file's own, or the name of the file.
func (im *importer) title(top *object) (string, int) {
	if m := top.get("genome_title"); m != nil {
		if s, ok := m.what.(string); ok && cleanName(s) != "" {
			return cleanName(s), m.at
		}
	}
	base := filepath.Base(im.name)
	if s := cleanName(strings.TrimSuffix(base, filepath.Ext(base))); s != "" {
		return s, 0
	}
	return "genome", 0
}
