package feagi

import (
	"fmt"
	"io"
	"strconv"
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
	Reached []string     `json:"reached"`          // areas that input reaches without stimuli
	Quiet   string       `json:"quiet,omitempty"`  // that nothing, or nothing but power, can fire, and why; empty when more can
	Feed    string       `json:"feed,omitempty"`   // then what --stimulate makes fire; empty when there is no area for it
	Sensors []Sensor     `json:"sensors"`
	Notes   []Note       `json:"notes"` // about the file as a whole
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

// Write prints the report for people: facts about the network, what fires and how to make more fire, then all that is not carried as it
// is. What holds of three areas or more stands once.
func (r *Report) Write(w io.Writer, facts ...string) error {
	var b strings.Builder
	b.WriteString(r.Summary() + "\n")
	for _, l := range facts {
		b.WriteString("  " + l + "\n")
	}
	if r.Quiet != "" || len(r.Reached) > 0 {
		b.WriteString("  " + r.firing() + "\n")
	}
	if r.Feed != "" {
		fmt.Fprintf(&b, "  with a stimulus: burst run %s --stimulate '%s'\n", r.File, r.Feed)
	}
	for i := range r.Sensors {
		s := &r.Sensors[i]
		fmt.Fprintf(&b, "  sensor %s (%s), %s: --stimulate '%s'\n", s.ID, s.Name, s.voxels(), s.Stimulus)
	}
	for _, l := range lines(r.Notes) {
		b.WriteString("  " + l + "\n")
	}
	areas := make([][]string, len(r.Areas))
	count := map[string]int{}
	var order []string
	for i := range r.Areas {
		areas[i] = lines(r.Areas[i].Lines)
		for _, l := range areas[i] {
			if count[l]++; count[l] == 3 {
				order = append(order, l)
			}
		}
	}
	for _, l := range order {
		fmt.Fprintf(&b, "  in %d areas, %s\n", count[l], l)
	}
	for i := range r.Areas {
		head := fmt.Sprintf("  area %s (%s)\n", r.Areas[i].ID, r.Areas[i].Name)
		for _, l := range areas[i] {
			if count[l] < 3 {
				b.WriteString(head + "    " + l + "\n")
				head = ""
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines are the notes in words, those first that burst does not honour; defaults share a line, and so do keys without effect of which there
// is no more to say.
func lines(notes []Note) []string {
	var lost, list, defaults, idle []string
	for _, n := range together(notes) {
		switch {
		case n.Fate == Carried:
		case n.Fate == Defaulted:
			defaults = append(defaults, n.Key+" "+n.To)
		case n.Fate == NoEffect && n.Reason == "" && n.Key != "":
			idle = append(idle, n.Key)
		case n.Fate == NotHonoured:
			lost = append(lost, string(n.Fate)+": "+n.String())
		default:
			list = append(list, string(n.Fate)+": "+n.String())
		}
	}
	if len(defaults) > 0 {
		list = append(list, "defaulted: "+strings.Join(defaults, ", "))
	}
	if len(idle) > 0 {
		list = append(list, "no effect: "+strings.Join(idle, ", "))
	}
	return append(lost, list...)
}

// together makes one note of those that say the same of successive rules of a mapping.
func together(notes []Note) []Note {
	const rule = ", rule "
	var list []Note
	first := 0 // number of the first rule that the last note is about
	for _, n := range notes {
		pair, number, _ := strings.Cut(n.Key, rule)
		k, err := strconv.Atoi(number)
		if last := len(list) - 1; err == nil && last >= 0 && first > 0 {
			x := n
			if x.Key = list[last].Key; x == list[last] && (x.Key == fmt.Sprintf("%s%s%d", pair, rule, k-1) || x.Key == fmt.Sprintf("%s, rules %d to %d", pair, first, k-1)) {
				list[last].Key = fmt.Sprintf("%s, rules %d to %d", pair, first, k)
				continue
			}
		}
		if first = 0; err == nil {
			first = k
		}
		list = append(list, n)
	}
	return list
}
