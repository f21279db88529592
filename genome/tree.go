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

// readTree parses the text into YAML's tree, or returns the first fault of syntax.
func readTree(src *source) (*yaml.Node, Faults) {
	if f, ok := checkText(src); !ok {
		return nil, Faults{f}
	}
	feed := &feeder{text: src.text}
	decoder := yaml.NewDecoder(feed)
	var doc, more yaml.Node
	if err := decode(decoder, &doc); err == io.EOF {
		return nil, Faults{src.fault(Pos{1, 1}, "", "", `expects a genome that starts with "burst: v1", found comments only`)}
	} else if err != nil {
		return nil, Faults{syntaxFault(src, feed.fed, err)}
	}
	if err := decode(decoder, &more); err != io.EOF {
		at := Pos{more.Line, more.Column}
		if err != nil {
			at = position(src.text, max(0, feed.fed-1))
			at.Column = 1
		}
		return nil, Faults{src.fault(at, "", "", "expects one genome per file, found a second document")}
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

// errMore is the error of a feeder whose text is used up, if more may follow.
var errMore = errors.New("more text wanted")

// feeder passes a text to the YAML reader line by line, so that fed shows how far the reader had read when it failed.
type feeder struct {
	text []byte
	fed  int
	slow int  // if not 0: pass single bytes from this byte on
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

// sweep refuses YAML's anchors, aliases, merge keys, tags and deep nesting. So each value has one position, and no short text
// expands into a long one.
func (p *parser) sweep(n *yaml.Node, depth int) {
	if p.full() {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		p.fault(n, nil, "", "expects the value itself, found the alias *%s", n.Value)
		return
	case n.Anchor != "":
		p.fault(n, nil, "", "expects a plain value, found the anchor &%s (genomes do not use aliases)", n.Anchor)
	case n.Tag == "!!merge":
		p.fault(n, nil, "", "expects the keys themselves, found the merge key <<")
	case n.Style&yaml.TaggedStyle != 0:
		p.fault(n, nil, "", "expects a plain value, found the tag %s; put a text that begins with ! in quotes", short(n.Tag))
	}
	p.join(n)
	if depth > maxDepth {
		p.fault(n, nil, "", "expects values nested at most %d deep, found %d", maxDepth, depth)
		return
	}
	for _, c := range n.Content {
		p.sweep(c, depth+1)
	}
}

// join joins a value that a comma inside braces or brackets has split, as in {delay: uniform(1 ms, 2 ms)}, so that it gives one
// fault only.
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
			p.fault(v, nil, strconv.Quote(text), "found %s, which ends at a comma: inside braces and brackets a value with commas needs quotes", short(v.Value))
			v.Value = text
			i = next - step
		}
		whole = append(whole, item...)
		i += step
	}
	n.Content = whole
}

// isRest reports whether an element of a list, or a key without a value, can be the end of a value that was split.
func isRest(item []*yaml.Node) bool {
	return isPlain(item[0]) && (len(item) == 1 || isPlain(item[1]) && item[1].Value == "")
}

func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

func unclosed(text string) bool { return strings.Count(text, "(") > strings.Count(text, ")") }

// short is a text shortened for a message.
func short(s string) string {
	const most = 60
	if r := []rune(s[:min(len(s), 4*most+4)]); len(r) > most {
		return strings.ToValidUTF8(string(r[:most]), "") + "…"
	}
	return s
}
