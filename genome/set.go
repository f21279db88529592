package genome

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Text is the YAML that the genome was read from.
func (g *Genome) Text() []byte {
	if g.src == nil {
		return nil
	}
	return g.src.text
}

// With is the genome with some values of its text replaced or added. A setting is PATH=VALUE: the keys that lead to the
// value, joined by points, an entry of a list being meant by its name, the longest that fits, or its number from 0
// (areas.L4E.params.tau=12ms, projections.0.weight=2), and a value as YAML has it. The new text is checked in full. A genome that was made in Go has no text to set anything in.
func (g *Genome) With(settings []string) (*Genome, error) {
	if g.src == nil {
		return nil, errors.New("genome: a genome that has no text cannot be set")
	}
	root, faults := readTree(g.src)
	if faults != nil {
		return nil, faults
	}
	for _, s := range settings {
		if err := set(root, s); err != nil {
			return nil, fmt.Errorf("%s: %w", short(s), err)
		}
	}
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	name := g.src.name + " (as set)"
	if g.Folder == "" {
		return Parse(name, text.Bytes(), g.open)
	}
	return ParseIn(g.Folder, name, text.Bytes())
}

// set replaces or adds one value.
func set(root *yaml.Node, setting string) error {
	where, text, found := strings.Cut(setting, "=")
	if !found || where == "" || text == "" {
		return fmt.Errorf("expects PATH=VALUE, such as areas.L4E.params.tau=12ms")
	}
	var doc yaml.Node
	if err := decode(yaml.NewDecoder(strings.NewReader(text)), &doc); err != nil || len(doc.Content) != 1 {
		return fmt.Errorf("expects a YAML value after =, found %q", short(text))
	}
	keys := strings.Split(where, ".")
	at := root
	for i := 0; i < len(keys); {
		n := nameLength(at, keys[i:])
		k := strings.Join(keys[i:i+n], ".")
		if k == "" {
			return fmt.Errorf("expects keys joined by single points, found %q", short(where))
		}
		next, err := step(at, k, i+n == len(keys))
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("%s %w", strings.Join(keys[:i], "."), err)
			}
			return err
		}
		at, i = next, i+n
	}
	value := *doc.Content[0]
	value.HeadComment, value.LineComment, value.FootComment = at.HeadComment, at.LineComment, at.FootComment
	*at = value
	return nil
}

// nameLength is how many of keys, joined by points, make the name of an entry of a list: as many as can, for names may hold points.
func nameLength(at *yaml.Node, keys []string) int {
	for n := len(keys); n > 1 && at.Kind == yaml.SequenceNode; n-- {
		name := strings.Join(keys[:n], ".")
		if slices.ContainsFunc(at.Content, func(e *yaml.Node) bool { return e.Kind == yaml.MappingNode && valueOf(e, "name").Value == name }) {
			return n
		}
	}
	return 1
}

// step goes down by one key, which is added when it is not there: the strict reading that follows refuses what no genome
// has.
func step(at *yaml.Node, key string, last bool) (*yaml.Node, error) {
	switch at.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == key {
				return at.Content[i+1], nil
			}
		}
		added := &yaml.Node{Kind: yaml.MappingNode}
		if last {
			added.Kind = yaml.ScalarNode
		}
		at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, added)
		return added, nil
	case yaml.SequenceNode:
		return entry(at, key)
	}
	return nil, fmt.Errorf("is %s, which has no %q", found(at), short(key))
}

// entry is an entry of a list by name or number.
func entry(at *yaml.Node, key string) (*yaml.Node, error) {
	var names []string
	for _, n := range at.Content {
		if n.Kind == yaml.MappingNode {
			if v := valueOf(n, "name"); v.Kind == yaml.ScalarNode {
				names = append(names, v.Value)
				if v.Value == key {
					return n, nil
				}
			}
		}
	}
	if i, err := strconv.Atoi(key); err == nil {
		if i < 0 || i >= len(at.Content) {
			return nil, fmt.Errorf("has %d entries, found number %d, want 0 to %d", len(at.Content), i, len(at.Content)-1)
		}
		return at.Content[i], nil
	}
	if near := Nearest(key, names); near != "" {
		return nil, fmt.Errorf("has no entry %q, did you mean %q?", short(key), near)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("has no names, found %q, want a number from 0 to %d", short(key), len(at.Content)-1)
	}
	return nil, fmt.Errorf("has no entry %q, only %s", short(key), strings.Join(slices.Compact(names), ", "))
}
