package main

import (
	"fmt"
	"strings"

	"burst/genome"
)

// verdict is what a comparison of spikes comes to.
type verdict struct {
	differences
	reasons   []string
	unnamed   int // spikes that differ for none of the reasons
	synapses  int // FEAGI's
	onlyThem  int // pairs
	onlyOurs  int
	burstOnes uint64
	memories  int    // areas whose spikes are left out
	note      string // how burst's run was another than usual
}

// judge compares what FEAGI and burst fired. FEAGI's law, with all that its program does otherwise than burst, must give what FEAGI
// fired, and without that, on burst's synapses, what burst fired; each part that matters is a reason.
func judge(g *genome.Genome, rec *recording, p *played) verdict {
	c, n := p.c, p.bursts
	recorded := rec.fired(n)
	v := verdict{differences: compareSpikes(recorded, p.fired, g), burstOnes: c.Total(), memories: len(c.Memories()), note: p.note}
	both, ours, synapses := pairs(c, rec)
	v.synapses, v.onlyThem, v.onlyOurs = synapses, without(both, ours), without(ours, both)
	if v.differ == 0 {
		return v
	}
	full := newLaw(g, rec, c, theirs()).run(n)
	v.unnamed = compareSpikes(recorded, full, g).differ
	because := func(what string, f features) {
		if d := compareSpikes(full, newLaw(g, rec, c, f).run(n), g); d.differ > 0 {
			v.reasons = append(v.reasons, fmt.Sprintf("%d spikes by %s", d.differ, what))
		}
	}
	because("FEAGI's other way with 10,000 candidates and more", features{float: true, worn: true})
	because("degeneration, by which spikes lower the current", features{float: true, batch: true})
	if v.onlyThem+v.onlyOurs > 0 {
		return v // on other synapses burst fires otherwise
	}
	if area := dividedElse(g, rec); area != "" { // which would pass for the rounding of shares
		v.unnamed, v.reasons = v.differ, append(v.reasons, "one of both divides the current of "+area)
		return v
	}
	because("float32 sums and shares, which are whole quanta here", features{batch: true, worn: true})
	bare := newLaw(g, rec, c, features{}).run(n)
	v.unnamed = max(v.unnamed, compareSpikes(bare, p.fired, g).differ)
	return v
}

// dividedElse names an area whose current FEAGI divides among its synapses and burst does not, or the other way round.
func dividedElse(g *genome.Genome, rec *recording) string {
	for i := range g.Areas {
		if len(rec.areas[i].synapses) > 0 && rec.areas[i].first.Uniform == g.Areas[i].DividePSP {
			return g.Areas[i].Name
		}
	}
	return ""
}

// row is the verdict as a line of the guide's table.
func (v *verdict) row(file, dialect string) string {
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d |\n", file, dialect, v.synapses, v.burstOnes, v.theirs, v.ours, v.differ)
}

// why says where the differences come from; empty when there is none.
func (v *verdict) why() string {
	var all []string
	if v.onlyThem+v.onlyOurs > 0 {
		all = append(all, fmt.Sprintf("%d pairs are connected only in FEAGI, %d only in burst", v.onlyThem, v.onlyOurs))
	}
	all = append(all, v.reasons...)
	if v.memories > 0 {
		all = append(all, fmt.Sprintf("spikes of %d memory areas left out, which FEAGI fires in a thread of their own", v.memories))
	}
	if v.note != "" {
		all = append(all, v.note)
	}
	if v.unnamed > 0 {
		all = append(all, fmt.Sprintf("%d spikes for no known reason, the first in burst %d, area %s", v.unnamed, v.first, v.area))
	}
	return strings.Join(all, "; ")
}
