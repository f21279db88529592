package genome

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Text is the YAML that the genome was read from.
func (g *Genome) Text() []byte {
	if g.src == nil {
		return nil
	}
	return g.src.text
}

// With returns the genome with some values of its text replaced or added. A setting is PATH=VALUE, such as
// areas.L4E.params.tau=12ms or projections.0.weight=2. PATH is the keys of the value, joined by points. An entry of a list is
// named by its name, an alias, or its index from 0, a projection also by its areas, as in projections.E->I.weight; the longest name that
// fits counts. An entry may also stand in brackets, as errors write it: projections[0].weight. VALUE is YAML. A missing key is
// added, and a missing entry is added at the end of its list, as in stimuli.0.area=eye. The new text is checked in full. A
// genome that was made in Go has no text, and With returns an error.
func (g *Genome) With(settings []string) (*Genome, error) {
	if g.src == nil {
		return nil, errors.New("genome: only a genome that was read from a text can be set")
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
	name := strings.TrimSuffix(g.src.name, asSet) + asSet
	made, err := Parse(name, text.Bytes(), g.open)
	if err != nil {
		return nil, err
	}
	made.Folder = g.Folder // which need not be where open looks: of files that were handed over it is where a run will keep them
	return made, nil
}

// asSet is added to the name of a text that settings have changed.
const asSet = " (as set)"

// set replaces or adds one value.
func set(root *yaml.Node, setting string) error {
	where, text := CutSetting(setting)
	if where == "" || text == "" {
		return fmt.Errorf("expects PATH=VALUE, such as areas.L4E.params.tau=12ms")
	}
	var doc yaml.Node
	if err := decode(yaml.NewDecoder(strings.NewReader(text)), &doc); err != nil || len(doc.Content) != 1 {
		return fmt.Errorf("expects a YAML value after =, found %q", short(text))
	}
	keys := strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(where), ".")
	at := root
	for i := 0; i < len(keys); {
		n := nameLength(at, keys[i:])
		k := strings.Join(keys[i:i+n], ".")
		if k == "" {
			return fmt.Errorf("expects keys joined by single points, found %q", short(where))
		}
		next, err := step(at, k, keys[i+n:])
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

// CutSetting splits a setting of With at its "=", both "" where it has none. An "=" before a point belongs to an area's alias.
func CutSetting(setting string) (where, text string) {
	for at, r := range setting {
		if rest := setting[at:]; r == '=' && !(len(rest) > 2 && rest[1] == '.' && unicode.IsLetter(rune(rest[2])) && strings.Contains(rest[2:], "=")) {
			return setting[:at], rest[1:]
		}
	}
	return "", ""
}

// nameLength is the number of keys that together, joined by points, are the name of an entry of a list. Names may hold points,
// so it takes the longest.
func nameLength(at *yaml.Node, keys []string) int {
	for n := len(keys); n > 1 && at.Kind == yaml.SequenceNode; n-- {
		name := strings.Join(keys[:n], ".")
		if slices.ContainsFunc(at.Content, func(e *yaml.Node) bool { return slices.Contains(namesOf(e), name) }) {
			return n
		}
	}
	return 1
}

// namesOf returns the name and the aliases of an entry of a list, or what a projection is called by its areas.
func namesOf(e *yaml.Node) (names []string) {
	if e.Kind != yaml.MappingNode {
		return nil
	}
	if v := valueOf(e, "name"); v.Kind == yaml.ScalarNode {
		names = append(names, v.Value)
	}
	if v := valueOf(e, "aliases"); v.Kind == yaml.SequenceNode {
		for _, alias := range v.Content {
			names = append(names, alias.Value)
		}
	}
	from, to := valueOf(e, "from"), valueOf(e, "to")
	if to.Kind == yaml.MappingNode {
		to = valueOf(to, "area")
	}
	if from.Kind == yaml.ScalarNode && to.Kind == yaml.ScalarNode {
		names = append(names, from.Value+"->"+to.Value)
	}
	return names
}

// step returns the node of one key. It adds a missing key, as a list if a number follows. Unknown keys are refused later,
// when the new text is checked.
func step(at *yaml.Node, key string, rest []string) (*yaml.Node, error) {
	switch at.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == key {
				return at.Content[i+1], nil
			}
		}
		next := missing(rest)
		at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, next)
		return next, nil
	case yaml.SequenceNode:
		return entry(at, key, rest)
	}
	return nil, fmt.Errorf("is %s, which has no %q", found(at), short(key))
}

// missing makes the empty node of a missing key, which the rest of a path continues.
func missing(rest []string) *yaml.Node {
	if len(rest) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode}
	}
	if _, err := strconv.Atoi(rest[0]); err == nil {
		return &yaml.Node{Kind: yaml.SequenceNode}
	}
	return &yaml.Node{Kind: yaml.MappingNode}
}

// entry is an entry of a list, by name or index. An index one past the end adds an entry.
func entry(at *yaml.Node, key string, rest []string) (*yaml.Node, error) {
	var names []string
	var found []int
	for i, n := range at.Content {
		own := namesOf(n)
		if slices.Contains(own, key) {
			found = append(found, i)
		}
		names = append(names, own...)
	}
	switch {
	case len(found) == 1:
		return at.Content[found[0]], nil
	case len(found) > 1:
		return nil, fmt.Errorf("has %d entries %q, want the number of one: %d or %d", len(found), short(key), found[0], found[1])
	}
	if i, err := strconv.Atoi(key); err == nil {
		switch {
		case i < 0 || i > len(at.Content):
			return nil, fmt.Errorf("has %d entries, found number %d, want 0 to %d, where %d adds one", len(at.Content), i, len(at.Content), len(at.Content))
		case i == len(at.Content):
			at.Content = append(at.Content, missing(rest))
		}
		return at.Content[i], nil
	}
	if near := Nearest(key, names); near != "" {
		return nil, fmt.Errorf("has no entry %q, did you mean %q?", short(key), near)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("has no names, found %q, want a number from 0 to %d", short(key), len(at.Content))
	}
	return nil, fmt.Errorf("has no entry %q, only %s", short(key), strings.Join(slices.Compact(names), ", "))
}
