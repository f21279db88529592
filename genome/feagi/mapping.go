package feagi

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"burst/internal/quanta"
)

// mapping is one rule of an area's mapping to another.
type mapping struct {
	from, to   *area
	at         int
	where      string // area, key, destination and number of the rule
	morphology string
	scalar     [3]float64
	weight     float64
	delay      uint64    // bursts
	made       uint64    // per cent of the synapses that are made
	key        string    // where, without the area
	own        *learning // the file's own rule of plasticity; nil: none
	plasticity string    // what the genome says of it; empty: synapses keep their weights
	refused    string    // why FEAGI's release refuses the rule, and with it all mappings of the area; else empty
	connection []line    // rule and its keys; nil when the rule makes no synapses, but refuses others or has plasticity for them
	subscribes bool      // it lets a memory area see another one, and makes no synapses
}

// line is a piece of text with where it comes from.
type line struct {
	origin
	text, comment string
}

// maxMade bounds what the morphologies of all mappings become, in bytes: a short file may use a long one many times.
const maxMade = 4 << 20

// fields are the elements of a rule in the order of its array form.
var fields = []string{
	"morphology_id", "morphology_scalar", "postSynapticCurrent_multiplier", "plasticity_flag", "plasticity_constant",
	"ltp_multiplier", "ltd_multiplier", "plasticity_window", "synaptic_delay_bursts",
}

// oldRule is the key by which mappings told their rule before there were morphologies.
const oldRule = "neighbor_locator_rule_id"

// likeThis is a rule as it should be.
const likeThis = `["projector", [1, 1, 1], 1, false]`

// allMappings reads the mappings of all areas, in the order of areas, destinations and rules.
func (im *importer) allMappings() (all []*mapping) {
	for _, a := range im.areas {
		all = append(all, im.mappings(a)...)
	}
	return all
}

// writeMappings adds all projections.
func (im *importer) writeMappings(all []*mapping) {
	together := map[[2]*area]int{}
	for _, m := range all {
		if m.plasticity == "" {
			together[[2]*area{m.from, m.to}]++
		}
	}
	if len(all) > 0 {
		im.page.line(origin{}, "projections:", "")
	}
	for _, m := range all {
		here := origin{m.at, m.where}
		im.page.line(here, "  - from: "+quoted(m.from.name), "")
		im.page.line(here, "    to: "+quoted(m.to.name), "")
		for _, l := range m.connection {
			im.page.line(l.origin, "    "+l.text, l.comment)
		}
		im.page.line(here, "    weight: "+number(m.weight), "")
		if m.delay > 1 {
			im.page.line(here, fmt.Sprintf("    delay: %d", m.delay), "")
		}
		if m.made < 100 {
			im.page.line(here, fmt.Sprintf("    attractivity: %d", m.made), "")
		}
		if which := m.connection[0].text; im.release() && m.to.each > 1 && which == "rule: last_to_first" {
			im.page.line(here, "    first_of_voxel: true", "")
		} else if im.release() && m.to.each > 1 && which != "rule: randomizer" {
			im.page.line(here, "    last_of_voxel: true", "")
		}
		switch {
		case m.plasticity != "":
			im.page.line(here, "    plasticity: "+m.plasticity, "")
		case together[[2]*area{m.from, m.to}] > 1:
			im.page.line(here, "    merge: true", "")
		}
	}
}

// mappings reads an area's outgoing mappings; those that make no synapses are reported and left out.
func (im *importer) mappings(a *area) []*mapping {
	e, ok := a.genes["dstmap"]
	if !ok || e.what == nil {
		a.note("dstmap", Defaulted, "", "no mappings", "")
		return nil
	}
	o := e.object()
	if o == nil {
		im.fault(e.at, a.where(e.key), `expects an object of destinations, such as {"c__two": [%s]}, found %s`, likeThis, e.value)
		return nil
	}
	var all []*mapping
	for i := range o.members {
		d := &o.members[i]
		rules, list := d.what.([]value)
		switch {
		case d.object() != nil:
			rules = []value{d.value}
		case !list && d.what != nil:
			im.fault(d.value.at, a.where(e.key+" to "+short(d.key)), "expects a list of rules, such as [%s], found %s", likeThis, d.value)
			continue
		}
		to := im.destination(d.key)
		for k := range rules {
			where := fmt.Sprintf("%s to %s, rule %d", e.key, short(d.key), k+1)
			if m := im.rule(a, to, d, rules[k], where); m != nil {
				all = append(all, m)
			}
		}
	}
	all = im.see(im.refused(a, all))
	im.pairs(all)
	return slices.DeleteFunc(all, func(m *mapping) bool { return m.connection == nil })
}

// refused leaves out the mappings of an area that FEAGI's release refuses, as it does itself: it takes them in the order of the
// destinations' ids in base64, and at the first rule that it refuses it leaves the area.
func (im *importer) refused(a *area, all []*mapping) []*mapping {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(m, n *mapping) int { return cmp.Compare(encoded(m.to.id), encoded(n.to.id)) })
	i := slices.IndexFunc(order, func(m *mapping) bool { return m.refused != "" })
	if i < 0 || im.o.Unlearnable {
		return all
	}
	left, rest := "no mappings", "all of the area"
	if i > 0 {
		left, rest = fmt.Sprintf("the %d before %s", i, order[i].to.name), "all that follow in the order of FEAGI's ids"
	}
	a.note("dstmap", Converted, fmt.Sprintf("%d rules", len(all)), left,
		"FEAGI refuses a rule with "+order[i].refused+", and with it "+rest+"; --keep-unlearnable keeps them")
	kept := order[:i]
	return slices.DeleteFunc(all, func(m *mapping) bool { return !slices.Contains(kept, m) })
}

// destination is the area with an id, however that is written; nil when there is none.
func (im *importer) destination(id string) *area {
	if a := im.byID[id]; a != nil {
		return a
	}
	if isPower(id) {
		id = "___power"
	}
	return im.byCanonical[canonical(id)]
}

// rule reads one rule; nil when it makes no synapses or is at fault.
func (im *importer) rule(a, to *area, d *member, v value, key string) *mapping {
	m := &mapping{from: a, to: to, at: v.at, where: a.where(key), key: key, scalar: [3]float64{1, 1, 1}, weight: 1, delay: 1, made: 100}
	if !im.ruleFields(m, v, key) {
		return nil
	}
	if to == nil {
		im.missing(a, d.at, m.where, Note{Key: key, From: d.key, Reason: "no area has that id"})
		return nil
	}
	if m.subscribes = im.sees(m); m.subscribes {
		return m
	}
	if a.memory || to.memory {
		im.dropped(&a.report.Lines, m.at, m.where, Note{Key: key, From: m.morphology, Reason: "a mapping of a memory area, which makes no synapses before it learns"})
		return im.unmade(m)
	}
	if im.made > maxMade { // a mistake already
		return nil
	}
	var ok bool
	if m.connection, ok = im.morphology(m, key); !ok {
		return im.unmade(m)
	}
	for _, l := range m.connection {
		im.made += len(l.text)
	}
	if im.made > maxMade {
		im.fault(m.at, m.where, "with this rule the morphologies of all mappings take more than 4 MiB written out, want fewer")
		return nil
	}
	return m
}

// unmade is a mapping that makes no synapses, where it matters all the same: FEAGI's release may refuse it, and its plasticity is that of
// the pair of areas.
func (im *importer) unmade(m *mapping) *mapping {
	if !im.release() || m.refused == "" && m.own == nil {
		return nil
	}
	m.connection = nil
	return m
}

// missing is what a mapping asks for and the file lacks: a fault, unless the caller leaves such mappings out.
func (im *importer) missing(a *area, at int, where string, n Note) {
	if im.o.SkipMissing {
		n.Reason += "; the mapping is left out"
		im.dropped(&a.report.Lines, at, where, n)
		return
	}
	im.fault(at, where, "%q found, %s (--skip-missing leaves such mappings out)", short(n.From), n.Reason)
}

// ruleFields reads a rule in either form.
func (im *importer) ruleFields(m *mapping, v value, key string) bool {
	parts := map[string]value{}
	switch x := v.what.(type) {
	case []value:
		if len(x) < 4 {
			im.fault(v.at, m.where, "expects a rule of 4, 7, 8 or 9 elements (%s, …), found %s", fields[0], v)
			return false
		}
		for i, e := range x {
			if i < len(fields) {
				parts[fields[i]] = e
			} else {
				im.dropped(&m.from.report.Lines, e.at, m.where, Note{Key: key, From: e.String(), Reason: fmt.Sprintf("element %d, of at most %d", i+1, len(fields))})
			}
		}
	case *object:
		im.ruleObject(m, x, parts, key)
	default:
		im.fault(v.at, m.where, "expects a rule as a list or an object, such as %s, found %s", likeThis, v)
		return false
	}
	before := len(im.faults)
	if old, form := parts[oldRule]; form {
		im.missing(m.from, v.at, m.where, Note{Key: key, From: strings.Trim(old.String(), `"`), Reason: "a rule of an old form (" + oldRule + "), which FEAGI no longer has; want a morphology, as in " + likeThis})
		return false
	}
	im.ruleValues(m, parts, key)
	return len(im.faults) == before
}

// ruleObject sorts the keys of a rule in object form.
func (im *importer) ruleObject(m *mapping, o *object, parts map[string]value, key string) {
	for _, e := range o.members {
		known := e.key == "synapse_attractivity" || e.key == oldRule && o.get(fields[0]) == nil
		for _, f := range fields {
			known = known || f == e.key
		}
		if known {
			parts[e.key] = e.value
			continue
		}
		im.dropped(&m.from.report.Lines, e.at, m.where, Note{Key: key + "." + short(e.key), From: e.value.String(), Reason: "a key that FEAGI's rules do not have"})
	}
}

// ruleValues reads the values of a rule.
func (im *importer) ruleValues(m *mapping, parts map[string]value, key string) {
	name, there := parts["morphology_id"]
	switch m.morphology, _ = name.what.(string); {
	case !there:
		im.fault(m.at, m.where, "expects the name of a morphology as morphology_id, found none; a rule is such as %s", likeThis)
	case m.morphology == "":
		im.fault(name.at, m.where, "expects the name of a morphology as morphology_id, found %s", name)
	}
	im.scalar(m, parts, key)
	im.multiplier(m, parts, key)
	im.plasticity(m, parts, key)
	im.delay(m, parts["synaptic_delay_bursts"], key)
	im.attractivity(m, parts["synapse_attractivity"], key)
}

// delay reads the bursts from spike to arrival, of which there is at least one.
func (im *importer) delay(m *mapping, v value, key string) {
	const field, most = "synaptic_delay_bursts", quanta.MaxApart // as any mapping may learn
	if v.what == nil {
		return
	}
	x, ok := toNumber(v.what)
	switch {
	case !ok || x < 0 || x > most || x != math.Trunc(x):
		im.fault(v.at, m.where+", "+field, "expects a whole number of bursts up to %d, found %s", most, v)
	case x == 0 && im.release():
		m.refused = field + " 0"
	case x == 0:
		m.from.note(key+"."+field, Converted, "0", "delay 1", "nothing arrives in the burst in which it is sent")
	default:
		m.delay = uint64(x)
		m.from.note(key+"."+field, Carried, v.String(), "", "")
	}
}

// attractivity reads the per cent of synapses that are made; FEAGI draws a whole number 0…99 below it.
func (im *importer) attractivity(m *mapping, v value, key string) {
	const field = "synapse_attractivity"
	if v.what == nil {
		return
	}
	x, ok := toNumber(v.what)
	if !ok {
		im.fault(v.at, m.where+", "+field, "expects 0…100, found %s", v)
		return
	}
	m.made = uint64(math.Ceil(max(0, min(x, 100))))
	if float64(m.made) == x {
		m.from.note(key+"."+field, Carried, v.String(), "", "")
		return
	}
	m.from.note(key+"."+field, Converted, v.String(), fmt.Sprintf("attractivity %d", m.made), "")
}

// absent notes the default of a field that a rule lacks.
func (m *mapping) absent(parts map[string]value, key, field, fallback string) bool {
	if v, ok := parts[field]; ok && v.what != nil {
		return false
	}
	m.from.note(key+"."+field, Defaulted, "", fallback, "")
	return true
}

func (im *importer) scalar(m *mapping, parts map[string]value, key string) {
	if m.absent(parts, key, "morphology_scalar", "[1, 1, 1]") {
		return
	}
	v := parts["morphology_scalar"]
	list, ok := v.what.([]value)
	if x, single := toNumber(v.what); single {
		m.scalar = [3]float64{x, x, x}
		return
	}
	if ok = ok && len(list) == 3; ok {
		for i, e := range list {
			x, fine := toNumber(e.what)
			m.scalar[i], ok = x, ok && fine
		}
	}
	if !ok {
		im.fault(v.at, m.where+", morphology_scalar", "expects three numbers, found %s", v)
	}
}

// multiplier reads the weight. The dialect rust knows whole weights only and takes any other number for 1.
func (im *importer) multiplier(m *mapping, parts map[string]value, key string) {
	const field = "postSynapticCurrent_multiplier"
	if m.absent(parts, key, field, "1") {
		return
	}
	v := parts[field]
	x, ok := toNumber(v.what)
	if !ok || math.Abs(x) > math.MaxFloat32 {
		im.fault(v.at, m.where+", "+field, "expects a number within ±3.4e38, found %s", v)
		return
	}
	reason := ""
	if m.weight, reason = im.clamped(x, false); !im.python() && !im.release() && x != math.Trunc(x) {
		m.weight, reason = 1, "no whole number"
	}
	if m.weight == x {
		m.from.note(key+"."+field, Carried, v.String(), "", "")
		return
	}
	m.from.note(key+"."+field, Converted, v.String(), "weight "+number(m.weight), reason)
}

// plasticity reads whether and by what the rule learns.
func (im *importer) plasticity(m *mapping, parts map[string]value, key string) {
	if m.absent(parts, key, "plasticity_flag", "false") {
		return
	}
	v := parts["plasticity_flag"]
	x, ok := toNumber(v.what)
	if on, boolean := v.what.(bool); boolean {
		x, ok = 0, true
		if on {
			x = 1
		}
	}
	switch {
	case !ok || x != 0 && x != 1:
		im.fault(v.at, m.where+", plasticity_flag", "expects true or false, found %s", v)
	case x == 1:
		m.own = im.learning(m, parts, key)
	}
}
