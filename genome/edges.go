package genome

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"burst/internal/tabular"
)

// EdgeFormats lists the endings of edge lists, and of lists of spikes.
func EdgeFormats() []string { return tabular.Formats() }

// edges reads the name of an edge list.
func (p *parser) edges(f *fields, pr *Projection) {
	f.must("file", "edges")
	pr.File, pr.FilePos = p.listFile(f, "an edge list")
}

// listFile reads the name of a list and checks that the file can be opened. Its rows are read when the network is built.
func (p *parser) listFile(f *fields, what string) (name string, where Pos) {
	n, at, _ := f.get("file")
	if n == nil {
		return "", Pos{}
	}
	name, ok := p.scalar(n, at, "the name of "+what)
	if !ok {
		return "", Pos{}
	}
	if end := filepath.Ext(name); !slices.Contains(EdgeFormats(), end) {
		p.fault(n, at, Nearest(end, EdgeFormats()), "expects %s that ends in %s, found %q", what, strings.Join(EdgeFormats(), ", "), short(name))
		return name, pos(n)
	}
	r, err := p.openFile(name)
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		p.fault(n, at, "", "%v", err)
	}
	return name, pos(n)
}

// ends checks from and to. Only an edge list of the whole network has neither.
func (p *parser) ends(f *fields, pr *Projection) {
	if pr.Rule != Edges || f.lacks("from") != f.lacks("to") {
		for _, name := range []string{"from", "to"} {
			if pr.Rule == Edges && f.lacks(name) {
				p.fault(f.node, f.at, "", "key %q is missing; give it beside %s, or leave out both for a list of the whole network", name, map[string]string{"from": "to", "to": "from"}[name])
			}
		}
		return
	}
	if !f.lacks("to") {
		return
	}
	if driven := slices.IndexFunc(p.g.Areas, func(a Area) bool { return a.PSPMax > 0 }); driven >= 0 {
		f.faultKey("file", "", "found a list of the whole network, whose weights no psp_max concerns, and the area %s with one; want a list between two areas", p.g.Areas[driven].Name)
	}
	if f.has("weight") {
		f.faultKey("weight", "", "found a weight, but a list of the whole network has its weights in a column")
	}
}

// openFile opens a file that the text names and notes its name.
func (p *parser) openFile(name string) (io.ReadCloser, error) {
	if p.open == nil {
		return nil, errors.New("found a file name, but this text has no folder to read files from")
	}
	if !p.g.named[name] {
		p.g.named[name] = true
		p.g.Files = append(p.g.Files, File{Path: name})
	}
	return p.open(name)
}

// Open opens one of Files again.
func (g *Genome) Open(name string) (io.ReadCloser, error) {
	if g.open == nil || !g.named[name] {
		return nil, errors.New("the genome names no file " + name)
	}
	return g.open(name)
}
