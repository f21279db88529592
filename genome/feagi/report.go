package feagi

import (
	"fmt"
	"io"
	"strings"
)

// Report says what became of everything in a FEAGI genome.
type Report struct {
	File    string       `json:"file"`
	Version string       `json:"version"` // as the file states it
	Form    string       `json:"form"`    // flat or hierarchical
	Dialect Dialect      `json:"dialect"`
	Why     string       `json:"why"` // of the dialect
	Neurons uint64       `json:"neurons"`
	Stated  *Stats       `json:"stated,omitempty"` // what the file says of itself; often stale
	Notes   []Note       `json:"notes"`            // about the file as a whole
	Areas   []AreaReport `json:"areas"`
}

// Stats are counts as a file states them; -1 where it does not.
type Stats struct {
	Areas    int64 `json:"areas"`
	Neurons  int64 `json:"neurons"`
	Synapses int64 `json:"synapses"`
}

// AreaReport is what became of one area.
type AreaReport struct {
	ID      string `json:"id"`   // FEAGI's
	Name    string `json:"name"` // in the genome
	Neurons uint64 `json:"neurons"`
	Lines   []Note `json:"lines"`
}

// Note is what became of one key.
type Note struct {
	Key    string `json:"key"` // as in the file; empty when the note is about no key
	Fate   Fate   `json:"fate"`
	From   string `json:"from,omitempty"` // the value in the file
	To     string `json:"to,omitempty"`   // what the genome has
	Reason string `json:"reason,omitempty"`
}

// Fate is what became of a value.
type Fate string

// The fates.
const (
	Carried     Fate = "carried"      // the same in the genome
	Converted   Fate = "converted"    // another value in the genome
	Defaulted   Fate = "defaulted"    // absent from the file
	NoEffect    Fate = "no effect"    // nothing in FEAGI's bursts depends on it
	NotHonoured Fate = "not honoured" // FEAGI would act on it, burst does not
)

// String is the note in words.
func (n Note) String() string {
	var b strings.Builder
	if n.Key != "" {
		b.WriteString(n.Key + ": ")
	}
	switch {
	case n.From != "" && n.To != "" && n.From != n.To:
		b.WriteString(n.From + " becomes " + n.To)
	case n.To != "":
		b.WriteString(n.To)
	default:
		b.WriteString(n.From)
	}
	if n.Reason != "" {
		if n.From != "" || n.To != "" {
			b.WriteString(", ")
		}
		b.WriteString(n.Reason)
	}
	return b.String()
}

// Count is how many notes have a fate.
func (r *Report) Count(f Fate) int {
	n := 0
	each := func(notes []Note) {
		for i := range notes {
			if notes[i].Fate == f {
				n++
			}
		}
	}
	each(r.Notes)
	for i := range r.Areas {
		each(r.Areas[i].Lines)
	}
	return n
}

// Summary is one line on the whole import.
func (r *Report) Summary() string {
	return fmt.Sprintf("%s: a FEAGI genome (%s, %d areas), dialect %s (%s); %d values carried, %d converted, %d defaulted, %d without effect, %d not honoured",
		r.File, r.Form, len(r.Areas), r.Dialect, r.Why, r.Count(Carried), r.Count(Converted), r.Count(Defaulted), r.Count(NoEffect), r.Count(NotHonoured))
}

// CompareSynapses adds a note when the file's own count of synapses is not the true one.
func (r *Report) CompareSynapses(synapses uint64) {
	if r.Stated != nil && r.Stated.Synapses >= 0 && uint64(r.Stated.Synapses) != synapses {
		r.note(stale("innate_synapse_count", r.Stated.Synapses, synapses))
	}
}

func (r *Report) note(n Note) { r.Notes = append(r.Notes, n) }

func stale(key string, stated int64, counted uint64) Note {
	return Note{Key: "stats." + key, Fate: NoEffect, From: fmt.Sprint(stated), To: fmt.Sprint(counted), Reason: "the file's own count is stale"}
}

// Write prints the report for people: all that is not carried as it is, area by area.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Summary() + "\n")
	section(&b, "", r.Notes)
	for i := range r.Areas {
		a := &r.Areas[i]
		section(&b, fmt.Sprintf("area %s (%s), %d neurons", a.ID, a.Name, a.Neurons), a.Lines)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// section prints the notes of one area; notes about defaults and values without effect share a line.
func section(b *strings.Builder, head string, notes []Note) {
	indent := "  "
	if head != "" {
		indent = "    "
	}
	var quiet [2][]string
	var loud []string
	for _, n := range notes {
		switch {
		case n.Fate == Carried:
		case n.Fate == Defaulted:
			quiet[0] = append(quiet[0], n.Key+" "+n.To)
		case n.Fate == NoEffect && n.Reason == "" && n.Key != "":
			quiet[1] = append(quiet[1], n.Key)
		default:
			loud = append(loud, string(n.Fate)+": "+n.String())
		}
	}
	for i, what := range []string{"defaulted: ", "no effect: "} {
		if len(quiet[i]) > 0 {
			loud = append(loud, what+strings.Join(quiet[i], ", "))
		}
	}
	if len(loud) == 0 {
		return
	}
	if head != "" {
		b.WriteString("  " + head + "\n")
	}
	for _, l := range loud {
		b.WriteString(indent + l + "\n")
	}
}
