package genome

import (
	"bytes"
	"errors"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Rewired is the genome's text with its projections replaced by an edge list of the whole network in file, and with the
// given scale. It is the same network when the list is that of what was built from g.
func (g *Genome) Rewired(file string, scale int32) ([]byte, error) {
	if g.src == nil {
		return nil, errors.New("genome: a genome that has no text cannot be rewired")
	}
	root, faults := readTree(g.src)
	if faults != nil {
		return nil, faults
	}
	word := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }
	list := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{
		word("rule"), word(Edges.String()), word("file"), word(file),
	}}
	setKey(root, "projections", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{list}})
	setKey(root, "scale", word(strconv.Itoa(int(scale))))
	if !hasKey(root, "name") {
		name := word(g.Name)
		name.Style = yaml.DoubleQuotedStyle
		setKey(root, "name", name) // without one it would be that of the new file
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}

func hasKey(n *yaml.Node, name string) bool { return valueOf(n, name) != n }

// setKey puts a value behind a key of a mapping, in place of what stands there.
func setKey(n *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
}
