package genome

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
	"burst/internal/plain"
)

// Opener opens a file that a genome names, by its path inside the genome's folder.
type Opener func(path string) (io.ReadCloser, error)

// Parse reads a genome's text. name names the text in messages. open opens the files that the genome names; nil allows none.
// All faults of the text are reported at once, as Faults. Genome.Files gets the sizes and hashes of the files.
func Parse(name string, text []byte, open Opener) (*Genome, error) {
	return parse(&source{name: name, text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))}, open)
}

// ParseFrom is Parse for a text that was made from another text, called name. It opens no files.
func ParseFrom(name string, text []byte, from *Origin) (*Genome, error) {
	return parse(&source{name: name, text: text, origin: from}, nil)
}

func parse(src *source, open Opener) (*Genome, error) {
	var learned []*Plasticity
	var written []*Model
	var both sync.WaitGroup // which take some milliseconds each, once in a process
	both.Go(func() { learned = Plasticities() })
	both.Go(func() { written = Written() })
	root, faults := readTree(src)
	both.Wait()
	if faults != nil {
		return nil, faults
	}
	p := &parser{src: src, open: open, rules: rules(), learned: learned, written: written, swept: map[Pos]bool{}, g: &Genome{src: src, open: open, named: map[string]bool{}}}
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

// parser walks the tree of one text and collects its faults.
type parser struct {
	src      *source
	open     Opener
	rules    []rule
	g        *Genome
	faults   Faults
	pairs    int                      // of areas, of projections whose ends are lists
	swept    map[Pos]bool             // places where sweep has found a fault
	timestep float64                  // ms; 0 if it has a fault
	scale    int32                    // 0 is auto; −1 if it has a fault
	areas    map[string]int           // index by name or alias; −1: an area whose name has a fault
	names    []string                 // of the areas that have one
	learned  []*Plasticity            // that come with burst, as written
	written  []*Model                 // that come with burst as formulas
	shipped  bool                     // the text is theirs
	known    map[string]*formula.Rule // rules that know their exponents, by name and those
	row      *tableRow                // that is read; nil: the text itself
}

// full reports whether enough faults were found to stop.
func (p *parser) full() bool { return len(p.faults) > maxFaults }

// fault adds a fault at a node. It drops a suggestion that equals the text of the node.
func (p *parser) fault(n *yaml.Node, at *path, suggestion, format string, args ...any) {
	if p.row != nil {
		n, at, format, args = p.row.fault(at, format, args)
	}
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
	p.ownModels(f)
	p.readAreas(f)
	p.plasticity(f)
	p.projections(f)
	_, at, _ := f.get("stimuli")
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

// title is the genome's name, or one made from the file's name.
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
	for i := range p.g.Areas { // after all names, because no alias may equal a name
		if len(p.g.Areas[i].Aliases) > 0 {
			p.readAliases(valueOf(list[i], "aliases"), at.item(i).key("aliases"), i)
		}
	}
	for i := range p.g.Areas { // which may name areas further down
		if m := p.g.Areas[i].Model; m != nil && m.Has("upstream") {
			p.readUpstream(list[i], at.item(i), &p.g.Areas[i])
		}
	}
}

// readUpstream reads the areas that a memory area keeps the patterns of.
func (p *parser) readUpstream(n *yaml.Node, at *path, a *Area) {
	list := valueOf(n, "upstream")
	if list == n {
		p.fault(n, at, "", "key %q is missing; it must list the areas whose spikes the model %s keeps", "upstream", a.Model.Name)
		return
	}
	if list.Kind != yaml.SequenceNode { // refused before
		return
	}
	at = at.key("upstream")
	for k, e := range list.Content {
		i := p.areaAt(e, at.item(k))
		switch {
		case i < 0:
		case slices.Contains(a.Upstream, i):
			p.fault(e, at.item(k), "", "%q found again in the list", p.g.Areas[i].Name)
		default:
			a.Upstream = append(a.Upstream, i)
		}
	}
	slices.Sort(a.Upstream)
}

// readAliases reads the aliases of an area.
func (p *parser) readAliases(n *yaml.Node, at *path, area int) {
	for k, e := range n.Content {
		first, twice := p.areas[e.Value]
		switch {
		case !slices.Contains(p.g.Areas[area].Aliases, e.Value): // refused before
		case twice && first < 0:
			p.fault(e, at.item(k), "", "expects another name for the area, found %q, which another area has", e.Value)
		case twice:
			p.fault(e, at.item(k), "", "expects another name for the area, found %q, which the area in line %d has", e.Value, p.g.Areas[first].Pos.Line)
		default:
			p.areas[e.Value] = area
			p.names = append(p.names, e.Value)
		}
	}
}

// valueOf is the value of a key in a mapping; the mapping itself if the key is absent.
func valueOf(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return n
}

// apiece is what to write instead of a list of areas under a key: an entry for each. It shows two; "" if these are no names.
func apiece(n *yaml.Node, key string) string {
	if len(n.Content) < 2 || n.Content[0].Kind != yaml.ScalarNode || n.Content[1].Kind != yaml.ScalarNode {
		return ""
	}
	one, other := short(n.Content[0].Value), short(n.Content[1].Value)
	return fmt.Sprintf("; write an entry for each: `- {%[1]s: %[2]s, …}` and `- {%[1]s: %[3]s, …}`", key, one, other)
}

// areaAt is the index of the area that a node names; −1 after a fault.
func (p *parser) areaAt(n *yaml.Node, at *path) int {
	if n.Kind == yaml.SequenceNode {
		p.fault(n, at, "", "expects the name of one area, found a list%s", apiece(n, at.name))
		return -1
	}
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

// areaOf is areaAt for a key; −1 also if the key is absent.
func (f *fields) areaOf(name string) int {
	n, at, _ := f.get(name)
	if n == nil {
		return -1
	}
	return f.p.areaAt(n, at)
}

// inputArea is areaOf for an area that must take input.
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
