package genome

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"burst/internal/plain"
	"burst/internal/tabular"
)

// source is a text with its name, kept so that later errors can point into it.
type source struct {
	name   string
	text   []byte
	origin *Origin // nil if the text was not made from another
}

// Origin is the text of another format that a genome's text was made from. Faults point into it.
type Origin struct {
	Text  []byte
	Place func(line int) (at Pos, key string) // the origin of a line of the made text
}

// line is the n-th line, from 1, without its newline; empty if there is none. Of a line of more than 4 KiB it is a piece around
// column, from 1. before is the number of characters before the piece.
func (s *source) line(n, column int) (text string, before int) {
	const most = 4096
	rest := s.text
	for ; n > 1; n-- {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return "", 0
		}
		rest = rest[end+1:]
	}
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	if len(rest) > most {
		before = max(0, column-1-most/8) // a character has at most 4 bytes
		for range before {
			_, size := utf8.DecodeRune(rest)
			rest = rest[size:]
		}
	}
	return strings.ToValidUTF8(strings.TrimSuffix(string(rest[:min(len(rest), most)]), "\r"), "�"), before
}

// fault makes a Fault at a position in the text.
func (s *source) fault(pos Pos, key, suggestion, message string) Fault {
	if o := s.origin; o != nil {
		pos, key = o.Place(pos.Line)
		s = &source{name: s.name, text: o.Text}
	}
	text, before := s.line(pos.Line, pos.Column)
	return Fault{
		File: s.name, Line: max(1, pos.Line), Column: max(1, pos.Column), Source: text, before: before,
		Key: key, Message: message, Suggestion: suggestion,
	}
}

// FaultAt makes a fault at a position in a text of another format.
func FaultAt(name string, text []byte, at Pos, key, message string) Fault {
	return (&source{name: name, text: text}).fault(at, key, "", message)
}

// Fault makes an error for a mistake that is found after parsing, such as a sum that could overflow. p is its position in the
// text, and key its path, such as projections[3].weight. The error is a Faults with one entry.
func (g *Genome) Fault(p Pos, key, format string, args ...any) error {
	src := g.src
	if src == nil {
		src = &source{name: g.Name}
	}
	return Faults{src.fault(p, key, "", plain.Sprintf(format, args...))}
}

// ProjectionFault is Fault for a key of the i-th projection. Where that is a row of a table the message names the row and the column.
func (g *Genome) ProjectionFault(i int, p Pos, key, format string, args ...any) error {
	pr := &g.Projections[i]
	path := fmt.Sprintf("projections[%d].%s", i, key)
	if pr.Table == "" {
		return g.Fault(p, path, format, args...)
	}
	row := tabular.Fault{Row: pr.Row, Line: g.lineOf(pr.Table, pr.Row), Column: columnFor(key), Message: plain.Sprintf(format, args...)}
	return g.Fault(pr.Pos, "projections", "%s: %s", pr.Table, row.Error())
}

// lineOf is the line of a row of a CSV file that the genome names. It is 0, which messages leave out, of another file, or if the file
// cannot be read again.
func (g *Genome) lineOf(file string, row uint64) (line uint64) {
	r, err := g.Open(file)
	if err != nil {
		return 0
	}
	defer r.Close()
	if f, ok := r.(tabular.File); ok {
		line, _ = tabular.Line(f, file, row)
	}
	return line
}
