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
		im.writeArea(a)
	}
	im.writeMappings()
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
	seconds, at, key := usual, 0, ""
	if m := top.get("physiology"); m != nil && m.object() != nil {
		for i := range m.object().members {
			e := &m.object().members[i]
			name := "physiology." + short(e.key)
			if e.key != "simulation_timestep" && (e.key != "burst_delay" || m.object().get("simulation_timestep") != nil) {
				im.report.note(Note{Key: name, Fate: NoEffect})
				continue
			}
			x, ok := toNumber(e.what)
			if !ok || x <= 0 || x > 1000 {
				im.fault(e.value.at, name, "expects a time above 0 and up to 1000 s, found %s", e.value)
				return
			}
			seconds, at, key = x, e.value.at, name
			im.report.note(Note{Key: name, Fate: Converted, From: e.String() + " s", To: "timestep " + number(float64(x*1000)) + " ms"})
		}
	}
	if key == "" {
		key = "physiology.simulation_timestep"
		im.report.note(Note{Key: key, Fate: Defaulted, To: number(usual) + " s"})
	}
	im.page.line(origin{at, key}, "timestep: "+number(float64(seconds*1000))+" ms", "")
}
