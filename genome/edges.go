package genome

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// EdgeFormats lists the endings of edge lists.
func EdgeFormats() []string { return []string{".csv", ".parquet", ".arrow", ".arrows"} }

// edges reads the name of an edge list and sees whether it can be opened; its rows are read when the network is built.
func (p *parser) edges(f *fields, pr *Projection) {
	n, at, _ := f.get("file")
	if n == nil {
		return
	}
	name, ok := p.scalar(n, at, "the name of an edge list")
	if !ok {
		return
	}
	pr.File, pr.FilePos = name, pos(n)
	if end := filepath.Ext(name); !slices.Contains(EdgeFormats(), end) {
		p.fault(n, at, Nearest(end, EdgeFormats()), "expects an edge list that ends in %s, found %q", strings.Join(EdgeFormats(), ", "), short(name))
		return
	}
	r, err := p.openFile(name)
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		p.fault(n, at, "", "%v", err)
	}
}

// ends sees to from and to, which only an edge list for the whole network goes without.
func (p *parser) ends(f *fields, pr *Projection) {
	if pr.Rule != Edges || f.lacks("from") != f.lacks("to") {
		for _, name := range []string{"from", "to"} {
			if pr.Rule == Edges && f.lacks(name) {
				p.fault(f.node, f.at, "", "key %q is missing, which stands beside %s, or neither for a list of the whole network", name, map[string]string{"from": "to", "to": "from"}[name])
			}
		}
		return
	}
	if f.lacks("to") && f.has("weight") {
		f.faultKey("weight", "", "weight of a list of the whole network found, wanted as a column of the list")
	}
}

// openFile opens a file that the text names and notes its name.
func (p *parser) openFile(name string) (io.ReadCloser, error) {
	if p.open == nil {
		return nil, errors.New("a file named, in a text that has no folder to read it from")
	}
	if !p.g.names(name) {
		p.g.Files = append(p.g.Files, File{Path: name})
	}
	return p.open(name)
}

// names reports whether the text names a file.
func (g *Genome) names(name string) bool {
	return slices.ContainsFunc(g.Files, func(f File) bool { return f.Path == name })
}

// Open opens one of Files again.
func (g *Genome) Open(name string) (io.ReadCloser, error) {
	if g.open == nil || !g.names(name) {
		return nil, errors.New("the genome names no file " + name)
	}
	return g.open(name)
}
