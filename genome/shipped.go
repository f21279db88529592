package genome

import (
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:generate go test . -run TestShippedTrees -update

// The trees of neurons.yaml and plasticity.yaml, which every process needs: to read the YAML would take a short command a third of its time.
var (
	//go:embed neurons.tree
	neuronsTree string
	//go:embed plasticity.tree
	plasticityTree string
)

// readShipped reads the list of a text that comes with burst, each item by item.
func readShipped(name, tree string, item func(p *parser, n *yaml.Node, at *path)) {
	root, rest := unpackTree(inflated(tree))
	if rest != "" {
		panic("BUG: " + name + " has more than a tree")
	}
	p := &parser{src: &source{name: name}, g: &Genome{}, swept: map[Pos]bool{}, timestep: 1, shipped: true}
	for i, n := range root.Content {
		item(p, n, (*path)(nil).item(i))
	}
	if len(p.faults) > 0 {
		panic("BUG: " + p.faults.Error())
	}
}

// inflated is a tree's text, which takes a third of its size in the program.
func inflated(tree string) string {
	text, err := io.ReadAll(flate.NewReader(strings.NewReader(tree)))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text)
}

// tags are those of YAML, which packed trees have by number.
func tags() []string {
	return []string{"", "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null"}
}

// packTree appends a tree of values: of each its kind, style, place, number of values in it, tag and text.
func packTree(to []byte, n *yaml.Node) []byte {
	for _, x := range []int{int(n.Kind), int(n.Style), n.Line, n.Column, len(n.Content), slices.Index(tags(), n.Tag), len(n.Value)} {
		to = binary.AppendUvarint(to, uint64(x))
	}
	to = append(to, n.Value...)
	for _, c := range n.Content {
		to = packTree(to, c)
	}
	return to
}

// unpackTree reads what packTree has written.
func unpackTree(from string) (n *yaml.Node, rest string) {
	number := func() (x int) {
		for shift := 0; ; shift += 7 {
			b := from[0]
			from = from[1:]
			if x |= int(b&0x7F) << shift; b < 0x80 {
				return x
			}
		}
	}
	n = &yaml.Node{Kind: yaml.Kind(number()), Style: yaml.Style(number()), Line: number(), Column: number(), Content: make([]*yaml.Node, number()), Tag: tags()[number()]}
	size := number()
	n.Value, from = from[:size], from[size:]
	for i := range n.Content {
		n.Content[i], from = unpackTree(from)
	}
	return n, from
}
