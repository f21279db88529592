package feagi

import (
	"fmt"
)

// write makes the genome's text.
func (im *importer) write(top *object) {
	p := &im.page
	p.line(origin{}, "", "From a FEAGI genome, dialect "+string(im.report.Dialect)+": "+im.report.Why)
	p.line(origin{}, "burst: v1", "")
	name, at := im.title(top)
	p.line(origin{at, "genome_title"}, "name: "+quoted(name), "")
	im.timestep(top)
	p.line(origin{}, "scale: auto", "")
	blueprint := origin{top.get("blueprint").at, "blueprint"}
	p.line(blueprint, "areas:", "")
	for _, a := range im.areas {
		im.leftOut(a)
	}
	all := im.allMappings() // which say what memory areas see
	for _, a := range im.areas {
		im.writeArea(a)
	}
	im.writeMappings(all)
	for _, a := range im.areas {
		if !a.memory && isPower(a.id) && a.neurons() > 1 {
			p.line(origin{a.at, a.where("power")}, "stimuli:", "")
			break
		}
	}
	for _, a := range im.areas {
		if !a.memory && isPower(a.id) && a.neurons() > 1 {
			p.line(origin{a.at, a.where("power")}, fmt.Sprintf("  - {area: %s, every: 1, neurons: [0], amount: 1}", quoted(a.name)), "FEAGI's power feeds the first neuron")
		}
	}
	for _, a := range im.areas {
		im.report.Areas = append(im.report.Areas, *a.report)
	}
}

// timestep writes what a burst stands for; the rest of the physiology has no part in a burst.
func (im *importer) timestep(top *object) {
	const usual = 0.025 // s
	physiology := &object{}
	if m := top.get("physiology"); m != nil && m.object() != nil {
		physiology = m.object()
	}
	found, key := physiology.get("simulation_timestep"), "physiology.simulation_timestep"
	if found == nil {
		found, key = physiology.get("burst_delay"), "physiology.burst_delay"
	}
	for i := range physiology.members {
		if m := &physiology.members[i]; m != found {
			im.report.note(Note{Key: "physiology." + short(m.key), Fate: NoEffect})
		}
	}
	if found == nil { // the oldest genomes
		found, key = top.get("burst_delay"), "burst_delay"
	} else if m := top.get("burst_delay"); m != nil {
		im.report.note(Note{Key: "burst_delay", Fate: NoEffect, From: m.value.String(), Reason: key + " says it already"})
	}
	if found == nil {
		key = "physiology.simulation_timestep"
		im.report.note(Note{Key: key, Fate: Defaulted, To: number(usual) + " s"})
		im.page.line(origin{0, key}, "timestep: 25 ms", "")
		return
	}
	x, ok := toNumber(found.what)
	if !ok || x <= 0 || x > 1000 {
		im.fault(found.value.at, key, "expects a time above 0 and up to 1000 s, found %s", found.value)
		return
	}
	ms := number(float64(x*1000)) + " ms"
	im.report.note(Note{Key: key, Fate: Converted, From: found.value.String() + " s", To: "timestep " + ms})
	im.page.line(origin{found.value.at, key}, "timestep: "+ms, "")
}
