package genome

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxDepth is how deep lists and mappings may nest; the format itself needs 8.
const maxDepth = 32

// readTree turns the text into YAML's tree, or into the fault of syntax that stands first.
func readTree(src *source) (*yaml.Node, Faults) {
	if f, ok := checkText(src); !ok {
		return nil, Faults{f}
	}
	feed := &feeder{text: src.text}
	decoder := yaml.NewDecoder(feed)
	var doc, more yaml.Node
	if err := decode(decoder, &doc); err == io.EOF {
		return nil, Faults{src.fault(Pos{1, 1}, "", "", `comments only found, a genome that starts with "burst: v1" wanted`)}
	} else if err != nil {
		return nil, Faults{syntaxFault(src, feed.fed, err)}
	}
	if err := decode(decoder, &more); err != io.EOF {
		at := Pos{more.Line, more.Column}
		if err != nil {
			at = position(src.text, max(0, feed.fed-1))
			at.Column = 1
		}
		return nil, Faults{src.fault(at, "", "", "a second document found, one genome a file wanted")}
	}
	return doc.Content[0], nil
}

// decode reads the next document. The YAML reader promises errors; a panic of its own is turned into one, since a
// text must never stop the program.
func decode(d *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("text that YAML cannot hold (%v)", r)
		}
	}()
	return d.Decode(into)
}

// errMore is what a feeder without an end answers when its text is used up.
var errMore = errors.New("more text wanted")

// feeder hands a text to the YAML reader line by line, so that fed tells how far the reader had to look before it
// gave up.
type feeder struct {
	text []byte
	fed  int
	slow int  // from this byte on, when it is not 0, byte by byte
	open bool // answer errMore rather than io.EOF at the end
}

func (f *feeder) Read(p []byte) (int, error) {
	rest := f.text[f.fed:]
	if len(rest) == 0 {
		if f.open {
			return 0, errMore
		}
		return 0, io.EOF
	}
	n := bytes.IndexByte(rest, '\n') + 1
	if n == 0 {
		n = len(rest)
	}
	if f.slow > 0 {
		n = min(n, max(1, f.slow-f.fed))
	}
	n = copy(p, rest[:min(n, len(rest))])
	f.fed += n
	return n, nil
}

// sweep refuses what YAML offers beyond plain values: anchors, aliases, merge keys, tags, and deep nesting. One value
// stands in one place, so a fault has one line and no short text grows into a long one.
func (p *parser) sweep(n *yaml.Node, depth int) {
	if p.full() {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		p.fault(n, nil, "", "alias *%s found, the value itself wanted", n.Value)
		return
	case n.Anchor != "":
		p.fault(n, nil, "", "anchor &%s found, a plain value wanted (genomes do not use aliases)", n.Anchor)
	case n.Tag == "!!merge":
		p.fault(n, nil, "", "merge key << found, the keys themselves wanted")
	case n.Style&yaml.TaggedStyle != 0:
		p.fault(n, nil, "", "tag %s found, a plain value wanted, in quotes where it begins with !", short(n.Tag))
	}
	p.join(n)
	if depth > maxDepth {
		p.fault(n, nil, "", "values nested %d deep found, at most %d wanted", depth, maxDepth)
		return
	}
	for _, c := range n.Content {
		p.sweep(c, depth+1)
	}
}

// join puts values together again that a comma inside braces or brackets has cut, as in {delay: uniform(1 ms, 2 ms)}, so that
// one fault tells of each.
func (p *parser) join(n *yaml.Node) {
	if n.Style&yaml.FlowStyle == 0 {
		return
	}
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	var whole []*yaml.Node
	for i := 0; i+step <= len(n.Content); {
		item := n.Content[i : i+step]
		v, text := item[step-1], item[step-1].Value
		next := i + step
		for isPlain(v) && unclosed(text) && next+step <= len(n.Content) && isRest(n.Content[next:next+step]) {
			text += ", " + n.Content[next].Value
			next += step
		}
		if next > i+step && !unclosed(text) {
			p.fault(v, nil, strconv.Quote(text), "%s found, which a comma ends: inside braces and brackets a value with commas needs quotes", short(v.Value))
			v.Value = text
			i = next - step
		}
		whole = append(whole, item...)
		i += step
	}
	n.Content = whole
}

// isRest says that an element of a list, or a key without a value, may be what follows a comma.
func isRest(item []*yaml.Node) bool {
	return isPlain(item[0]) && (len(item) == 1 || isPlain(item[1]) && item[1].Value == "")
}

func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

func unclosed(text string) bool { return strings.Count(text, "(") > strings.Count(text, ")") }

// short is a text cut for a message.
func short(s string) string {
	const most = 60
	if r := []rune(s[:min(len(s), 4*most+4)]); len(r) > most {
		return strings.ToValidUTF8(string(r[:most]), "") + "…"
	}
	return s
}
