package genome

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/plain"
)

// Opener opens a file that a genome names, by its path inside the genome's folder.
type Opener func(path string) (io.ReadCloser, error)

// Parse reads a genome's text. name stands for the text in messages; open reaches the files that the genome names, nil
// allows none. All that can be wrong with the text is reported as Faults, every fault of it in one run. Genome.Files gets the
// files' sizes and hashes.
func Parse(name string, text []byte, open Opener) (*Genome, error) {
	return parse(&source{name: name, text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))}, open)
}

// ParseFrom is Parse for a text that was made from another; name stands for that other. No files are reached.
func ParseFrom(name string, text []byte, from *Origin) (*Genome, error) {
	return parse(&source{name: name, text: text, origin: from}, nil)
}

func parse(src *source, open Opener) (*Genome, error) {
	root, faults := readTree(src)
	if faults != nil {
		return nil, faults
	}
	p := &parser{src: src, open: open, swept: map[Pos]bool{}, g: &Genome{src: src, open: open}}
	p.sweep(root, 0)
	for _, f := range p.faults {
		p.swept[Pos{f.Line, f.Column}] = true
	}
	p.genome(root)
	if len(p.faults) > 0 {
		return nil, p.faults.sorted()
	}
	for i := range p.g.Files {
		if err := p.g.Files[i].hash(open); err != nil {
			return nil, err
		}
	}
	return p.g, nil
}

// parser walks the tree of one text and gathers its faults.
type parser struct {
	src      *source
	open     Opener
	g        *Genome
	faults   Faults
	swept    map[Pos]bool   // places that sweep has refused already
	timestep float64        // ms; 0 while it is at fault
	scale    int32          // 0 is auto; −1 while it is at fault
	areas    map[string]int // −1: an area whose name is at fault
	names    []string       // of the areas that have one
}

// full says that enough faults were found to stop.
func (p *parser) full() bool { return len(p.faults) > maxFaults }

// fault notes what is wrong at a node. A suggestion that says what stands there already is none.
func (p *parser) fault(n *yaml.Node, at *path, suggestion, format string, args ...any) {
	if suggestion == n.Value && !quoted(n) {
		suggestion = ""
	}
	switch {
	case len(p.faults) > maxFaults || p.swept[pos(n)]:
	case len(p.faults) == maxFaults:
		p.faults = append(p.faults, p.src.fault(Pos{n.Line, n.Column}, "", "", fmt.Sprintf("more than %d faults found; the rest is not listed", maxFaults)))
	default:
		p.faults = append(p.faults, p.src.fault(Pos{n.Line, n.Column}, at.String(), suggestion, plain.Sprintf(format, args...)))
	}
}

func pos(n *yaml.Node) Pos { return Pos{n.Line, n.Column} }

// genome reads the whole text.
func (p *parser) genome(root *yaml.Node) {
	f, ok := p.fields(root, nil, topKeys())
	if !ok {
		return
	}
	g := p.g
	p.version(f)
	p.title(f)
	f.whole("seed", &g.Seed)
	g.RunSeed = g.Seed
	g.OwnRunSeed = f.whole("run_seed", &g.RunSeed)
	g.Timestep = 1
	if f.number("timestep", &g.Timestep) || !f.has("timestep") {
		p.timestep = g.Timestep
	}
	g.Scale = p.readScale(f)
	f.bursts("bursts", &g.Bursts)
	p.models(f)
	p.readAreas(f)
	_, at, _ := f.get("projections")
	for i, n := range f.list("projections") {
		p.projection(n, at.item(i))
	}
	_, at, _ = f.get("stimuli")
	for i, n := range f.list("stimuli") {
		p.stimulus(n, at.item(i))
	}
	p.record(f)
}

func (p *parser) version(f *fields) {
	n, at, _ := f.get("burst")
	if n == nil {
		return
	}
	if text, ok := p.scalar(n, at, "format version v1"); ok && text != "v1" {
		p.fault(n, at, "v1", "expects format version v1, found %s", short(text))
	}
}

// title takes the genome's name, or makes one from the file's.
func (p *parser) title(f *fields) {
	base := filepath.Base(p.src.name)
	p.g.Name = cleanName(strings.TrimSuffix(base, filepath.Ext(base)))
	if p.g.Name == "" {
		p.g.Name = "genome"
	}
	f.name("name", &p.g.Name)
}

// readScale is the number of quanta per unit, 0 for auto.
func (p *parser) readScale(f *fields) int32 {
	n, at, k := f.get("scale")
	p.scale = 1000
	if n == nil {
		return p.scale
	}
	if n.Kind == yaml.ScalarNode && n.Value == "auto" {
		p.scale = 0
		return 0
	}
	text, ok := p.bare(n, at, "a whole number or auto")
	if ok && strings.ContainsAny(strings.ToLower(text), "auto") && numeric(text) == 0 {
		p.fault(n, at, Nearest(text, []string{"auto"}), "expects a whole number %s or auto, found %s", wholeRange(k.Low, k.High), short(text))
		ok = false
	}
	p.scale = -1
	if ok {
		if x, ok := p.whole(n, at, k.Low, k.High); ok {
			p.scale = int32(x)
		}
	}
	return max(0, p.scale)
}

// readAreas reads all areas and notes their names.
func (p *parser) readAreas(f *fields) {
	_, at, _ := f.get("areas")
	list := f.list("areas")
	p.areas = make(map[string]int, len(list))
	for i, n := range list {
		if p.full() {
			return
		}
		a := p.area(n, at.item(i))
		if first, twice := p.areas[a.Name]; twice && first >= 0 {
			p.fault(valueOf(n, "name"), at.item(i).key("name"), "", "area %q found again, its first definition is in line %d", a.Name, p.g.Areas[first].Pos.Line)
		} else if a.Name != "" {
			p.areas[a.Name] = i
			p.names = append(p.names, a.Name)
		} else if wrong := valueOf(n, "name").Value; wrong != "" {
			p.areas[wrong] = -1
		}
		p.g.Areas = append(p.g.Areas, a)
	}
	for i := range p.g.Areas { // after all names: an alias may be none of them
		if len(p.g.Areas[i].Aliases) > 0 {
			p.readAliases(valueOf(list[i], "aliases"), at.item(i).key("aliases"), i)
		}
	}
}

// readAliases notes the aliases of an area.
func (p *parser) readAliases(n *yaml.Node, at *path, area int) {
	for k, e := range n.Content {
		first, twice := p.areas[e.Value]
		switch {
		case !slices.Contains(p.g.Areas[area].Aliases, e.Value): // refused before
		case twice && first < 0:
			p.fault(e, at.item(k), "", "expects another name for the area, found %q, which is that of another one", e.Value)
		case twice:
			p.fault(e, at.item(k), "", "expects another name for the area, found %q, which is that of the area in line %d", e.Value, p.g.Areas[first].Pos.Line)
		default:
			p.areas[e.Value] = area
			p.names = append(p.names, e.Value)
		}
	}
}

// valueOf is the value behind a key that stands in a mapping.
func valueOf(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return n
}

// areaAt gives the area that a node names; −1 after a fault.
func (p *parser) areaAt(n *yaml.Node, at *path) int {
	text, ok := p.scalar(n, at, "the name of an area")
	if !ok {
		return -1
	}
	if i, ok := p.areas[text]; ok && i >= 0 && p.g.Areas[i].Empty() {
		p.fault(n, at, "", "expects an area with neurons, found %s, which has none", text)
		return -1
	} else if ok {
		return i
	}
	p.fault(n, at, Nearest(text, p.names), "expects the name of an area, found %q, which no area has", short(text))
	return -1
}

// areaOf is areaAt for a key; −1 also when it is absent.
func (f *fields) areaOf(name string) int {
	n, at, _ := f.get(name)
	if n == nil {
		return -1
	}
	return f.p.areaAt(n, at)
}

// inputArea is areaOf for an area that takes input; one that takes none is a fault.
func (f *fields) inputArea(name string) int {
	i := f.areaOf(name)
	if i < 0 {
		return i
	}
	if a := &f.p.g.Areas[i]; a.Source() {
		f.fault(name, "expects an area that takes input, found %s, whose model %s is a source", a.Name, a.Model.Name)
		return -1
	}
	return i
}

// span reads from and until.
func (f *fields) span(from, until *uint64) {
	*from, *until = 0, math.MaxUint64
	f.bursts("from", from)
	if f.bursts("until", until) && *until <= *from {
		f.fault("until", "expects a burst after from, which is %d, found %d", *from, *until)
	}
}

// record reads what the author wants kept.
func (p *parser) record(f *fields) {
	n, at, k := f.get("record")
	if n == nil {
		return
	}
	r, ok := p.fields(n, at, k.Keys)
	if !ok {
		return
	}
	said, spikes, _ := r.get("spikes")
	if said != nil {
		p.g.Record.Spikes = []int{}
	}
	for i, n := range r.list("spikes") {
		if a := p.areaAt(n, spikes.item(i)); a >= 0 {
			p.g.Record.Spikes = append(p.g.Record.Spikes, a)
		}
	}
	_, potentials, pk := r.get("potentials")
	for i, n := range r.list("potentials") {
		if e, ok := p.fields(n, potentials.item(i), pk.Item.Keys); ok {
			a := e.areaOf("area")
			if a >= 0 && p.g.Areas[a].Source() {
				e.fault("area", "expects an area whose neurons have a potential, found %s, whose model %s is a source: of it spikes alone can be recorded", p.g.Areas[a].Name, p.g.Areas[a].Model.Name)
			}
			if e.lacks("neurons", "voxels") {
				p.fault(n, potentials.item(i), "", "neither neurons nor voxels found, one of them wanted")
			}
			p.g.Record.Potentials = append(p.g.Record.Potentials, Potentials{Area: a, Neurons: e.addressed(a)})
		}
	}
	r.flag("fcl", &p.g.Record.FCL)
}
