package feagi

import (
	"fmt"
	"math"
	"strings"
)

// maxSide bounds an area's size along an axis, in voxels, and the neurons of a voxel.
const maxSide = 1 << 32

// shape reads the size; FEAGI's own check makes 1 of 0.
func (im *importer) shape(a *area) {
	side := func(name string) uint64 {
		x, e, ok := im.real(a, name, 1)
		switch {
		case !ok:
			return 1
		case x < 0 || x > maxSide || x != math.Floor(x):
			im.fault(e.at, a.where(e.key), "expects a whole number from 1 to %d, found %s", uint64(maxSide), e.value)
			return 1
		case x == 0:
			a.note(e.key, Converted, "0", "1", "nothing is smaller than one")
			return 1
		}
		a.note(e.key, Carried, e.String(), "", "")
		return uint64(x)
	}
	a.size = [3]uint64{side("___bbx"), side("___bby"), side("___bbz")}
	a.each = side("_n_cnt")
}

// longest is the gene of the size that a size beyond all bounds is due to: that of the longest side which the file gives.
func (a *area) longest() string {
	gene, most := "___bbx", uint64(0)
	for i, name := range []string{"___bbx", "___bby", "___bbz"} {
		if _, ok := a.genes[name]; ok && a.size[i] > most {
			gene, most = name, a.size[i]
		}
	}
	if _, ok := a.genes["_n_cnt"]; ok && a.each > most {
		return "_n_cnt"
	}
	return gene
}

// idle are genes that nothing in a burst depends on, in FEAGI either, but for the release's de_gen.
var idle = []string{"2dcorx", "2dcory", "gd_vis", "__rand", "synatt", "leak_v", "de_gen", "plst_c"}

// ofMemory are genes of memory areas.
var ofMemory = []string{"mem__t", "mem_gr", "mem_ls", "tmpdpt", "twinrf"}

// writeArea adds an area to the page.
func (im *importer) writeArea(a *area) {
	if a.memory {
		im.writeMemory(a)
		return
	}
	w := &areaWriter{im, a}
	w.head()
	w.place()
	w.threshold()
	w.leak()
	w.quiet()
	w.rules()
	w.excitability()
	if !im.flag(a, "mp_acc", false) {
		w.line("mp_acc", "accumulate: false", "")
	}
	w.current()
	w.feed()
}

// leftOut reports the genes that have no part in a burst.
func (im *importer) leftOut(a *area) {
	for _, name := range idle {
		e, ok := a.genes[name]
		switch x, _ := toNumber(e.what); {
		case !ok:
		case name == "de_gen" && im.release() && x > 0 && a.sends():
			im.dropped(&a.report.Lines, e.at, a.where(e.key), Note{Key: e.key, From: e.String(), Reason: "in FEAGI's release each spike lowers the area's postsynaptic current by it, to 0 at last; here it stays"})
		default:
			a.note(e.key, NoEffect, e.String(), "", "")
		}
	}
	if e, ok := a.genes["pstcrm"]; ok && im.python() {
		a.note(e.key, Carried, e.String(), "", "the ceiling of weights that learn")
	} else if ok {
		a.note(e.key, NoEffect, e.String(), "", "")
	}
	if e, ok := a.genes["subgrp"]; ok && !a.memory {
		a.note(e.key, NoEffect, e.String(), "", "")
	}
	learns := a.memory
	if e, ok := a.genes["memory"]; ok && im.flag(a, "memory", false) && !learns {
		learns = true
		im.dropped(&a.report.Lines, e.at, a.where(e.key), Note{Key: e.key, From: "true", Reason: "the area keeps its neurons, for its subgroup is not MEMORY"})
	}
	for _, name := range ofMemory {
		e, ok := a.genes[name]
		twin, _ := e.what.(string) // replays what was learnt
		switch {
		case !ok, a.memory && name != "twinrf": // writeMemory notes it
		case learns && name != "twinrf" || name == "twinrf" && twin != "":
			im.dropped(&a.report.Lines, e.at, a.where(e.key), Note{Key: e.key, From: e.String(), Reason: "memory is not run"})
		default:
			a.note(e.key, NoEffect, e.String(), "", "")
		}
	}
	if e, ok := a.genes["mp_psp"]; ok && im.flag(a, "mp_psp", false) {
		if a.driven = im.release(); !a.driven {
			im.dropped(&a.report.Lines, e.at, a.where(e.key), Note{Key: e.key, From: "true", Reason: "psp stays what the area says; potentials do not drive it"})
		}
	}
}

// sends says whether the area has mappings.
func (a *area) sends() bool {
	to := a.genes["dstmap"].object()
	return to != nil && len(to.members) > 0
}

// areaWriter writes the keys of one area.
type areaWriter struct {
	*importer
	a *area
}

// line adds a key that comes from a gene.
func (w *areaWriter) line(name, text, comment string) {
	at, key := w.a.at, name
	if e, ok := w.a.genes[name]; ok {
		at, key = e.at, e.key
	}
	w.page.line(origin{at, w.a.where(key)}, "    "+text, comment)
}

// head begins an area: its name, and the ids of FEAGI that stand for it.
func (w *areaWriter) head() {
	here := origin{w.a.at, "area " + short(w.a.id)}
	if len(w.a.aliases) == 0 {
		w.page.line(here, "  - name: "+quoted(w.a.name), "FEAGI's "+w.a.id)
		return
	}
	w.page.line(here, "  - name: "+quoted(w.a.name), "")
	w.page.line(here, `    aliases: ["`+strings.Join(w.a.aliases, `", "`)+`"]`, "FEAGI's id")
}

// place writes group, devices, size and position.
func (w *areaWriter) place() {
	a := w.a
	group := strings.ToLower(cleanName(w.text1(a, "_group")))
	if e, ok := a.genes["_group"]; ok && group != "" {
		a.note(e.key, Carried, e.String(), "", "")
	} else {
		group = groupOf(a.id)
		a.note("_group", Defaulted, "", group, "")
	}
	w.line("_group", "group: "+quoted(group), "")
	w.line(a.longest(), "size: "+numbers(a.size[:]...), "")
	if a.each != 1 {
		w.line("_n_cnt", fmt.Sprintf("neurons_per_voxel: %d", a.each), "")
	}
	if _, ok := a.genes["devcnt"]; ok {
		if n, _ := w.whole(a, "devcnt", 0, maxSide, true); n > 0 {
			w.line("devcnt", fmt.Sprintf("devices: %d", n), "")
		}
	}
	w.triple("rcord", "position")
}

// triple writes three genes, one an axis, as one key; zeros are left out.
func (w *areaWriter) triple(stem, key string) {
	var at [3]float64
	for i, axis := range []string{"x", "y", "z"} {
		x, e, ok := w.real(w.a, stem+axis, 0)
		if at[i] = x; ok {
			w.a.note(e.key, Carried, e.String(), "", "")
		}
	}
	if at != [3]float64{} {
		w.line(stem+"x", key+": "+numbers(at[:]...), "")
	}
}

func (w *areaWriter) threshold() {
	a := w.a
	base, e, ok := w.real(a, "fire_t", 1)
	if ok {
		a.note(e.key, Carried, e.String(), "", "")
	}
	w.line("fire_t", "threshold: "+number(base), "")
	w.triple("ftinc", "threshold_gradient")
	limit, e, ok := w.real(a, "fthlim", 0)
	switch {
	case !ok:
	case limit < 0:
		w.fault(e.at, a.where(e.key), "expects a limit of at least 0, found %s", e.value)
	case limit == 0:
		a.note(e.key, Carried, e.String(), "", "0 means none")
	case !w.python():
		a.note(e.key, Carried, e.String(), "", "absolute")
		w.line("fthlim", "threshold_limit: "+number(limit), "")
	default:
		w.width(e, base, limit)
	}
}

// width writes a threshold limit that counts from the threshold.
func (w *areaWriter) width(e entry, base, width float64) {
	a, sum := w.a, base+width
	if sum <= 0 {
		w.fault(e.at, a.where(e.key), "expects a limit above 0, found %s above a threshold of %s", e.value, number(base))
		return
	}
	for _, axis := range []string{"ftincx", "ftincy", "ftincz"} {
		if x, ok := toNumber(a.genes[axis].what); ok && x != 0 {
			w.dropped(&a.report.Lines, e.at, a.where(e.key), Note{Key: e.key, From: e.String(), Reason: "the width counts from the threshold of voxel 0, 0, 0 in all voxels, whatever the gradient"})
			break
		}
	}
	a.note(e.key, Converted, e.String(), "threshold_limit "+number(sum), "a width above the threshold")
	w.line("fthlim", "threshold_limit: "+number(sum), "FEAGI: "+e.String()+" above the threshold")
}

func (w *areaWriter) leak() {
	a := w.a
	x, e, ok := w.real(a, "leak_c", 0)
	switch {
	case !ok:
	case x < 0:
		w.fault(e.at, a.where(e.key), "expects a leak of at least 0, found %s", e.value)
	case x == 0:
		a.note(e.key, Carried, e.String(), "", "")
	case w.python():
		a.note(e.key, Converted, e.String(), "leak_amount "+number(x), "an amount, not a fraction")
		w.line("leak_c", "leak_amount: "+number(x), "")
	case x > 1 && !w.release():
		w.fault(e.at, a.where(e.key), "expects a fraction 0…1 in the dialect rust, found %s; the dialect python takes it as an amount (--dialect python)", e.value)
	case x > 1:
		a.note(e.key, Carried, e.String(), "", "a fraction above 1, which turns potentials over")
		w.line("leak_c", "leak: "+number(x), "a fraction above 1 turns potentials over")
	default:
		a.note(e.key, Carried, e.String(), "", "a fraction")
		w.line("leak_c", "leak: "+number(x), "")
	}
}

// quiet writes what silences a neuron that has fired.
func (w *areaWriter) quiet() {
	const most = 65535
	if n, _ := w.whole(w.a, "refrac", 0, most, true); n > 0 {
		w.line("refrac", fmt.Sprintf("refractory: %d", n), "")
	}
	switch n, e := w.whole(w.a, "c_fr_c", 0, most, true); {
	case n == most:
		w.a.note(e.key, Converted, e.String(), "no fire_limit", "65535 means none")
	case n > 0:
		w.line("c_fr_c", fmt.Sprintf("fire_limit: %d", n), "")
	}
	if e, ok := w.a.genes["snooze"]; ok && w.release() && strings.HasSuffix(e.key, "snooze-i") {
		w.a.note(e.key, NoEffect, e.String(), "", "FEAGI reads snooze-f alone")
		return
	}
	if n, _ := w.whole(w.a, "snooze", 0, most, true); n > 0 {
		w.line("snooze", fmt.Sprintf("snooze: %d", n), "")
	}
}

// rules writes what FEAGI's release does otherwise in a burst.
func (w *areaWriter) rules() {
	if w.release() {
		w.line("", "rectify: true", "")
		w.line("", "always_recover: true", "")
	}
}

// excitability writes a probability; 0.999 and more is certain.
func (w *areaWriter) excitability() {
	a, certain, unit := w.a, 1.0, "a fraction"
	if w.python() {
		certain, unit = 100, "per cent"
	}
	x, e, ok := w.real(a, "excite", certain)
	if !ok {
		return
	}
	p := x
	if w.python() {
		p = x / 100
	}
	p = max(0, p)
	if p >= 0.999 {
		p = 1
	}
	switch {
	case p == x:
		a.note(e.key, Carried, e.String(), "", "")
	case p == 1 && x != certain:
		a.note(e.key, Converted, e.String(), "excitability 1", unit+", certain from 0.999 on")
	default:
		a.note(e.key, Converted, e.String(), "excitability "+number(p), unit)
	}
	if p < 1 {
		w.line("excite", "excitability: "+number(p), "")
		w.line("excite", "draw: feagi", "")
	}
}

// current writes the postsynaptic potential and its division.
func (w *areaWriter) current() {
	a := w.a
	if a.driven {
		w.driven()
		return
	}
	x, e, ok := w.real(a, "pstcr_", 1)
	psp, reason := w.clamped(x, !w.python() && !w.release())
	comment := ""
	switch {
	case ok && psp == x:
		a.note(e.key, Carried, e.String(), "", "")
	case ok:
		a.note(e.key, Converted, e.String(), "psp "+number(psp), reason)
		comment = "FEAGI: " + e.String() + ", " + reason
	}
	if psp != 1 {
		w.line("pstcr_", "psp: "+number(psp), comment)
	}
	w.division()
}

// division writes that the current is divided; FEAGI's release does not divide that of power unless the file says so.
func (w *areaWriter) division() {
	if !w.flag(w.a, "pspuni", w.python() || w.release() && isPower(w.a.id)) {
		w.line("pspuni", "divide_psp: true", "")
	}
}

// usualMost is the psp_max of an area whose potentials drive its current, unless its own numbers ask for another. The proof against
// overflow has room for about a million inputs of it, less where weights are above 1.
const usualMost = 1024

// driven writes that potentials drive the current, which has no bound in FEAGI.
func (w *areaWriter) driven() {
	a := w.a
	given := func(name string, fallback float64) float64 { // reported where it is written
		if x, ok := toNumber(a.genes[name].what); ok {
			return x
		}
		return fallback
	}
	threshold := given("fire_t", 1)
	for i, axis := range []string{"ftincx", "ftincy", "ftincz"} {
		threshold += max(0, float64(given(axis, 0)*float64(a.size[i]-1)))
	}
	most, why := max(usualMost, 16*threshold), "FEAGI has no bound; a larger one takes a smaller scale"
	if limit := given("fthlim", 0); limit > 0 {
		most, why = limit, "no neuron fires above its threshold limit"
	}
	e := a.genes["mp_psp"]
	a.note(e.key, Converted, "true", "psp_max "+number(most), "the psp of a spike is the potential at which it was fired, one beyond psp_max ends the run: "+why)
	w.line("mp_psp", "psp_max: "+number(most), "FEAGI: "+e.key+" true, "+why)
	if e, ok := a.genes["pstcr_"]; ok {
		a.note(e.key, NoEffect, e.String(), "", "the potential takes its place")
	}
	w.division()
}

// psp is the postsynaptic current of an area as the genome has it.
func (im *importer) psp(a *area) float64 {
	if a.driven {
		return 1
	}
	x, ok := toNumber(a.genes["pstcr_"].what)
	if !ok {
		x = 1
	}
	psp, _ := im.clamped(x, !im.python() && !im.release())
	return psp
}

// clamped is a current or multiplier as the dialect takes it, and why it is another; whole cuts signs and fractions off.
func (im *importer) clamped(x float64, whole bool) (y float64, reason string) {
	const most = 255
	switch {
	case im.release():
		return x, ""
	case whole && x < 0:
		return 0, "negative currents are 0"
	case !im.o.NoClamp && math.Abs(x) > most:
		return math.Copysign(most, x), "clamped to 255"
	case whole && x != math.Trunc(x):
		if y = math.Trunc(x); y == 0 {
			return 0, "truncated to nothing"
		}
		return y, "truncated"
	}
	return x, ""
}

// feed writes the input that FEAGI gives the power area in every burst.
func (w *areaWriter) feed() {
	a := w.a
	switch {
	case isPower(a.id) && a.neurons() == 1:
		w.line("power", "drive: {constant: 1}", "FEAGI's power, in every burst")
		a.note("power", Carried, "", "drive {constant: 1}", "")
	case isPower(a.id):
		a.note("power", Carried, "", "a stimulus of 1 for the first neuron, in every burst", "")
	case isFatigue(a.id):
		a.note("fatigue", NoEffect, "", "", "burst never runs out of memory, so nothing feeds the area")
	}
}
