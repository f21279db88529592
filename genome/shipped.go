package genome

import (
	_ "embed"
	"encoding/binary"

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
	root, rest := unpackTree(tree)
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

// packTree appends a tree of values: of each its kind, style, place, number of values in it, tag and text.
func packTree(to []byte, n *yaml.Node) []byte {
	for _, x := range []int{int(n.Kind), int(n.Style), n.Line, n.Column, len(n.Content)} {
		to = binary.AppendUvarint(to, uint64(x))
	}
	for _, s := range []string{n.Tag, n.Value} {
		to = append(binary.AppendUvarint(to, uint64(len(s))), s...)
	}
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
	text := func() (s string) {
		size := number()
		s, from = from[:size], from[size:]
		return s
	}
	n = &yaml.Node{Kind: yaml.Kind(number()), Style: yaml.Style(number()), Line: number(), Column: number(), Content: make([]*yaml.Node, number()), Tag: text(), Value: text()}
	for i := range n.Content {
		n.Content[i], from = unpackTree(from)
	}
	return n, from
}
