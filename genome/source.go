package genome

import (
	"bytes"
	"fmt"
	"strings"
)

// source is a text with its name, kept so that later steps can point into it.
type source struct {
	name   string
	text   []byte
	origin *Origin // nil when a user wrote the text
}

// Origin is the text of another format that a genome's text was made from: faults point into it.
type Origin struct {
	Text  []byte
	Place func(line int) (at Pos, key string) // what a line of the made text comes from
}

// line is the n-th line, from 1, without its end; empty when there is none. Lines are cut at 4 KiB.
func (s *source) line(n int) string {
	const most = 4096
	rest := s.text
	for ; n > 1; n-- {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return ""
		}
		rest = rest[end+1:]
	}
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return strings.ToValidUTF8(strings.TrimSuffix(string(rest[:min(len(rest), most)]), "\r"), "�")
}

// fault makes a Fault at a place of the text.
func (s *source) fault(pos Pos, key, suggestion, message string) Fault {
	if o := s.origin; o != nil {
		pos, key = o.Place(pos.Line)
		s = &source{name: s.name, text: o.Text}
	}
	return Fault{
		File: s.name, Line: max(1, pos.Line), Column: max(1, pos.Column), Source: s.line(pos.Line),
		Key: key, Message: message, Suggestion: suggestion,
	}
}

// Fault makes the error, a Faults of one, for something found wrong after parsing, such as a sum that could overflow.
// p is a place the genome names and key its path, such as projections[3].weight.
func (g *Genome) Fault(p Pos, key, format string, args ...any) error {
	src := g.src
	if src == nil {
		src = &source{name: g.Name}
	}
	return Faults{src.fault(p, key, "", fmt.Sprintf(format, args...))}
}
