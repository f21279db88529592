package genome

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one mistake in a genome's text.
type Fault struct {
	File       string `json:"file"`
	Line       int    `json:"line"`   // from 1
	Column     int    `json:"column"` // in characters, from 1
	Source     string `json:"source"` // the source line; of a line of more than 4 KiB only a piece
	Key        string `json:"key"`    // such as areas[2].leak; empty for faults of syntax
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"` // what was probably meant

	before int // number of characters of the line before Source
}

// Faults are all mistakes of one text, in the order of their positions. Parse and Load return it as their error for all
// mistakes in the text itself.
type Faults []Fault

// maxFaults is the largest number of faults that are reported, so that a hostile text cannot fill memory with messages.
const maxFaults = 1000

// Error prints every fault as Fault.Error does, one after the other.
func (f Faults) Error() string {
	var b strings.Builder
	for i := range f {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f[i].Error())
	}
	return b.String()
}

// Error prints the fault like a compiler: place and message, then the source line with a caret, then a suggestion.
func (f Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", f.File, f.Line, f.Column)
	if f.Key != "" {
		b.WriteString(printable(f.Key) + ": ")
	}
	b.WriteString(printable(f.Message))
	if text, caret := window([]rune(f.Source), f.Column-1-f.before); strings.TrimSpace(text) != "" {
		fmt.Fprintf(&b, "\n    %s\n    %s^", text, caret)
	}
	if f.Suggestion != "" {
		fmt.Fprintf(&b, "\ndid you mean %s?", f.meant())
	}
	return b.String()
}

// meant is the suggestion for the message: in quotes, or with the words "without quotes" if these alone are the mistake.
func (f Fault) meant() string {
	line := []rune(f.Source)
	at := max(0, min(f.Column-1-f.before, len(line)))
	switch quote := strconv.Quote(f.Suggestion); {
	case strings.HasPrefix(f.Suggestion, `"`):
		return printable(f.Suggestion)
	case at < len(line) && (line[at] == '"' || line[at] == '\'') && strings.HasPrefix(string(line[at+1:]), f.Suggestion+string(line[at])):
		return quote[1:len(quote)-1] + " without quotes"
	default:
		return quote
	}
}

// window shortens a long source line to the text around column at. It also returns the blanks before the caret.
func window(line []rune, at int) (text, blanks string) {
	const before, width = 60, 100
	at = max(0, min(at, len(line)))
	first := 0
	if len(line) > width {
		first = max(0, at-before)
	}
	last := min(len(line), first+width)
	pad := make([]rune, 0, at-first)
	for _, r := range line[first:at] {
		if r != '\t' {
			r = ' '
		}
		pad = append(pad, r)
	}
	text = string(line[first:last])
	if first > 0 {
		text, pad = "…"+text, append(pad, ' ')
	}
	if last < len(line) {
		text += "…"
	}
	return printable(text), string(pad)
}

// printable replaces control characters, so that a hostile text cannot send them to the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, s)
}

// sorted orders faults by position; faults at one place keep the order in which they were found.
func (f Faults) sorted() Faults {
	sort.SliceStable(f, func(i, j int) bool {
		if f[i].Line != f[j].Line {
			return f[i].Line < f[j].Line
		}
		return f[i].Column < f[j].Column
	})
	return f
}
