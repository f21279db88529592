package genome

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// path is the path of a value, such as areas[2].leak; nil is the genome itself.
type path struct {
	up    *path
	name  string // key, or "" for an element of a list
	index int
}

func (at *path) key(name string) *path { return &path{up: at, name: name} }
func (at *path) item(i int) *path      { return &path{up: at, index: i} }

func (at *path) String() string {
	switch {
	case at == nil:
		return ""
	case at.name == "":
		return at.up.String() + "[" + strconv.Itoa(at.index) + "]"
	case at.up == nil:
		return at.name
	}
	return at.up.String() + "." + at.name
}

// fields is a mapping sorted by its table of keys.
type fields struct {
	p     *parser
	node  *yaml.Node
	at    *path
	keys  []key
	names []*yaml.Node // names[i] and values[i] belong to keys[i]; nil when absent
	value []*yaml.Node
	meant []string // keys that were probably meant by misspelt ones; they are not reported as missing
}

// fields reads a mapping. Unknown, repeated and missing keys are faults. It returns false if n is not a mapping.
func (p *parser) fields(n *yaml.Node, at *path, keys []key) (*fields, bool) {
	if n.Kind != yaml.MappingNode {
		p.fault(n, at, "", "expects a mapping of keys, found %s", found(n))
		return nil, false
	}
	room := make([]*yaml.Node, 2*len(keys))
	f := &fields{p: p, node: n, at: at, keys: keys, names: room[:len(keys)], value: room[len(keys):]}
	for i := 0; i+1 < len(n.Content) && !p.full(); i += 2 {
		f.add(n.Content[i], n.Content[i+1])
	}
	for i := range keys {
		if keys[i].Required && f.lacks(keys[i].Name) && !f.excused(&keys[i]) {
			p.fault(n, at, "", "key %q is missing", keys[i].Name)
		}
	}
	return f, true
}

// excused reports whether the mapping has the rule under which a required key may be missing.
func (f *fields) excused(k *key) bool {
	return k.Unless != "" && f.has("rule") && f.value[index(f.keys, "rule")].Value == k.Unless
}

// add stores one pair under its key.
func (f *fields) add(name, value *yaml.Node) {
	if name.Kind != yaml.ScalarNode {
		if name.Kind != yaml.AliasNode {
			f.p.fault(name, f.at, "", "expects a key, found %s", found(name))
		}
		return
	}
	if name.Tag == "!!merge" {
		f.p.swept[pos(f.node)] = true // sweep has refused this key; keys that seem to be missing may be behind it
		return
	}
	i := slices.IndexFunc(f.keys, func(k key) bool { return k.Name == name.Value })
	switch {
	case i < 0:
		f.unknown(name)
	case f.value[i] != nil:
		f.p.fault(name, f.at.key(name.Value), "", "key %q found again, its first use is in line %d", name.Value, f.names[i].Line)
	default:
		f.names[i], f.value[i] = name, value
	}
}

// unknown is the fault of a key that the mapping does not have.
func (f *fields) unknown(name *yaml.Node) {
	var names []string
	for i := range f.keys {
		if k := &f.keys[i]; k.Of == nil || len(k.Of) > 0 { // leaves out keys of astray
			names = append(names, k.Name)
		}
	}
	if key, value, found := strings.Cut(name.Value, ":"); found && slices.Contains(names, strings.TrimSpace(key)) {
		key = strings.TrimSpace(key)
		f.meant = append(f.meant, key)
		f.p.fault(name, f.at.key(key), key+": "+strings.TrimSpace(value), "expects a blank after the colon, found %s", short(name.Value))
		return
	}
	suggestion, say := meant(name.Value, names)
	wanted := "wanted one of " + strings.Join(names, ", ")
	switch {
	case say != "":
		wanted = say
	case len(names) == 0:
		wanted = "wanted none"
	}
	f.meant = append(f.meant, suggestion)
	f.p.fault(name, f.at.key(short(name.Value)), suggestion, "unknown key, %s", wanted)
}

// index is the index of a key in a table. A missing key is a bug.
func index(keys []key, name string) int {
	for i := range keys {
		if keys[i].Name == name {
			return i
		}
	}
	panic("BUG: no key " + name + " in the table")
}

// lacks reports whether the mapping has none of the keys, not even a misspelt one.
func (f *fields) lacks(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return f.has(name) || slices.Contains(f.meant, name) })
}

func (f *fields) has(name string) bool { return f.value[index(f.keys, name)] != nil }

// get is the value of a key, nil if it is absent.
func (f *fields) get(name string) (*yaml.Node, *path, *key) {
	i := index(f.keys, name)
	return f.value[i], f.at.key(name), &f.keys[i]
}

// fault reports something about the value of a key, or about the mapping when the key is absent.
func (f *fields) fault(name, format string, args ...any) {
	n, at, _ := f.get(name)
	if n == nil {
		n, at = f.node, f.at
	}
	f.p.fault(n, at, "", format, args...)
}

// faultKey reports that a key should not be there.
func (f *fields) faultKey(name, suggestion, format string, args ...any) {
	f.p.fault(f.names[index(f.keys, name)], f.at.key(name), suggestion, format, args...)
}

// only refuses keys that belong to other models or rules than the chosen one.
func (f *fields) only(kind, chosen string) {
	for i, k := range f.keys {
		if f.value[i] != nil && k.Of != nil && !slices.Contains(k.Of, chosen) {
			f.faultKey(k.Name, "", "found a key of the %s %s, which the %s %s does not have", plural(kind, k.Of), strings.Join(k.Of, ", "), kind, chosen)
		}
	}
}

func plural(word string, of []string) string {
	if len(of) > 1 {
		return word + "s"
	}
	return word
}

// The readers below do not change *into if the key is absent or its value has a fault. They report whether they set it.

func (f *fields) whole(name string, into *uint64) bool {
	n, at, k := f.get(name)
	if n == nil {
		return false
	}
	x, ok := f.p.whole(n, at, k.Low, k.High)
	if ok {
		*into = x
	}
	return ok
}

func (f *fields) bursts(name string, into *uint64) bool {
	n, at, k := f.get(name)
	if n == nil {
		return false
	}
	x, ok := f.p.bursts(n, at, k.Low, k.High)
	if ok {
		*into = x
	}
	return ok
}

func (f *fields) number(name string, into *float64) bool {
	n, at, k := f.get(name)
	if n == nil {
		return false
	}
	x, ok := f.p.number(n, at, k)
	if ok {
		*into = x
	}
	return ok
}

func (f *fields) flag(name string, into *bool) bool {
	n, at, _ := f.get(name)
	if n == nil {
		return false
	}
	x, ok := f.p.flag(n, at)
	if ok {
		*into = x
	}
	return ok
}

func (f *fields) choice(name string, into *int) bool {
	n, at, k := f.get(name)
	if n == nil {
		return false
	}
	x, ok := f.p.choice(n, at, k.Choices)
	if ok {
		*into = x
	}
	return ok
}

func (f *fields) name(name string, into *string) bool {
	n, at, _ := f.get(name)
	if n == nil {
		return false
	}
	x, ok := f.p.name(n, at)
	if ok {
		*into = x
	}
	return ok
}

// list returns the elements of a list; nil if the key is absent or has a fault.
func (f *fields) list(name string) []*yaml.Node {
	n, at, k := f.get(name)
	if n == nil {
		return nil
	}
	return f.p.list(n, at, k)
}

// numbers3 reads a list of three numbers.
func (f *fields) numbers3(name string, into *[3]float64) {
	_, at, k := f.get(name)
	for i, n := range f.list(name) {
		if x, ok := f.p.number(n, at.item(i), k.Item); ok {
			into[i] = x
		}
	}
}
