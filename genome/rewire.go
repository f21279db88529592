package genome

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Rewired is the genome's text with its projections replaced by lists, and with the given scale: an edge list of the whole network in
// file, unless that is empty, and for each projection that learns one of its own, by its place in the genome. It is the same network
// when the lists are those of what was built from g.
func (g *Genome) Rewired(file string, plastic map[int]string, scale int32) ([]byte, error) {
	if g.src == nil {
		return nil, errors.New("genome: only a genome that was read from a text can be rewired")
	}
	root, faults := readTree(g.src)
	if faults != nil {
		return nil, faults
	}
	word := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }
	edges := func(file string) []*yaml.Node {
		return []*yaml.Node{word("rule"), word(Edges.String()), word("file"), word(file)}
	}
	lists := &yaml.Node{Kind: yaml.SequenceNode}
	if file != "" {
		lists.Content = append(lists.Content, &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: edges(file)})
	}
	for i := range g.Projections {
		pr := &g.Projections[i]
		if pr.Learning == nil {
			continue
		}
		old := valueOf(root, "projections").Content[pr.place]
		list := &yaml.Node{Kind: yaml.MappingNode, Style: old.Style}
		to := word(g.Areas[pr.To].Name)
		if pr.Port > 0 {
			to = &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{word("area"), to, word("port"), word(g.Areas[pr.To].Model.Ports[pr.Port-1].Name)}}
		}
		list.Content = append(list.Content, word("from"), word(g.Areas[pr.From].Name), word("to"), to)
		learning := valueOf(old, "plasticity")
		if len(pr.Learning.Listed) > 0 {
			own := *learning // several projections may have it
			own.Content = slices.Clone(own.Content)
			learning = &own
		}
		for _, c := range pr.Learning.Listed {
			variable := pr.Learning.Rule.Synapse[c.Variable].Name
			setKey(learning, variable, word("column("+plastic[i]+", "+StartColumn(variable)+")"))
		}
		list.Content = append(append(list.Content, edges(plastic[i])...), word("plasticity"), learning)
		lists.Content = append(lists.Content, list)
	}
	setKey(root, "projections", lists)
	setKey(root, "scale", word(strconv.Itoa(int(scale))))
	if !hasKey(root, "name") {
		name := word(g.Name)
		name.Style = yaml.DoubleQuotedStyle
		setKey(root, "name", name) // otherwise the name of the new file would be the network's name
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}

// StartColumn is the column of an exported list with what a variable of the synapses starts from, in its base unit.
func StartColumn(variable string) string { return "start_" + variable }

func hasKey(n *yaml.Node, name string) bool { return valueOf(n, name) != n }

// setKey sets the value of a key in a mapping.
func setKey(n *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
}
