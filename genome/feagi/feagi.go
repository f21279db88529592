// Package feagi reads the JSON genomes of FEAGI. It rewrites each as a genome of format version 1, which package genome then parses, and
// reports what became of every key.
package feagi

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"burst/genome"
)

// Dialect says how FEAGI means some of its numbers; its programs read one file differently.
type Dialect string

// The dialects. Auto takes Release for a file of format 3 and later, else Python where a leak exceeds 1, else Rust.
const (
	Auto    Dialect = "auto"
	Release Dialect = "release" // the released server: as rust, but any leak, signed and fractional currents, and other rules of a burst
	Rust    Dialect = "rust"    // leak and excitability are fractions, the threshold limit is absolute
	Python  Dialect = "python"  // leak is an amount, excitability per cent, the threshold limit a width
)

// Options are choices of an import; the zero value is fine.
type Options struct {
	Dialect     Dialect // "" is Auto
	Unlearnable bool    // release: keep the mappings of areas with a rule that FEAGI refuses, which leaves all of them out
	Unmade      bool    // release: make synapses by the morphologies of which FEAGI's release makes none
	Window      uint8   // release and rust: bursts of the window of rules that learn and have none, which else do not learn; 0: none
	Strict      bool    // what burst does not honour is a fault
	NoClamp     bool    // postsynaptic currents and multipliers beyond 255 keep their values
	SkipMissing bool    // mappings to areas or by morphologies that the file lacks are left out and reported
}

// Import reads a FEAGI genome. name stands for the text in messages. All mistakes are genome.Faults that name area and
// key; the report is given whenever the text is a genome at all.
func Import(name string, text []byte, o Options) (*genome.Genome, *Report, error) {
	g, _, r, err := Translate(name, text, o)
	return g, r, err
}

// Translate is Import that also gives the genome's text in format version 1, from which genome.Parse reads the same.
func Translate(name string, text []byte, o Options) (*genome.Genome, []byte, *Report, error) {
	im := &importer{name: name, text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), o: o, report: &Report{File: name, Notes: []Note{}, Reached: []string{}, Sensors: []Sensor{}}}
	root, wrong := read(im.text)
	if wrong != nil {
		im.fault(wrong.at, wrong.key, "%s", wrong.message)
		return nil, nil, nil, im.faults
	}
	if !im.genome(root) || len(im.faults) > 0 {
		return nil, nil, im.report, im.faults
	}
	made := im.page.text.Bytes()
	g, err := genome.ParseFrom(name, made, &genome.Origin{Text: im.text, Place: func(line int) (genome.Pos, string) {
		o := im.page.origin(line)
		return im.pos(o.at), o.key
	}})
	if err == nil {
		im.report.feed(g)
	}
	return g, made, im.report, err
}

// importer is the work on one file.
type importer struct {
	name   string
	text   []byte
	o      Options
	report *Report
	faults genome.Faults
	page   page

	areas        []*area
	byID         map[string]*area
	byCanonical  map[string]*area
	morphologies *object
	made         int // bytes of rules written out
}

// maxFaults bounds a report: nobody reads further.
const maxFaults = 100

// fault notes a mistake at a byte of the text.
func (im *importer) fault(at int, key, format string, args ...any) {
	if len(im.faults) == maxFaults {
		return
	}
	im.faults = append(im.faults, genome.FaultAt(im.name, im.text, im.pos(at), key, fmt.Sprintf(format, args...)))
}

// pos is the place of a byte.
func (im *importer) pos(at int) genome.Pos {
	before := im.text[:min(at, len(im.text))]
	start := 1 + bytes.LastIndexByte(before, '\n')
	return genome.Pos{Line: 1 + bytes.Count(before, []byte{'\n'}), Column: 1 + utf8.RuneCount(before[start:])}
}

// dropped reports something that FEAGI would act on and burst does not; strict makes it a fault.
func (im *importer) dropped(notes *[]Note, at int, where string, n Note) {
	n.Fate = NotHonoured
	*notes = append(*notes, n)
	if im.o.Strict {
		n.Key = "" // where names it
		im.fault(at, where, "%s (not honoured, and --strict was given)", n)
	}
}
