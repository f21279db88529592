package feagi

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// origin is what a line of the genome's text comes from.
type origin struct {
	at  int    // byte in the FEAGI genome
	key string // area and key there
}

// page is the genome's text, line by line.
type page struct {
	text    bytes.Buffer
	origins []origin
}

// line adds a line; comment may be empty.
func (p *page) line(o origin, text, comment string) {
	p.text.WriteString(text)
	if comment != "" {
		if text != "" {
			p.text.WriteString("  ")
		}
		p.text.WriteString("# " + plain(comment))
	}
	p.text.WriteByte('\n')
	p.origins = append(p.origins, o)
}

// origin is where a line, counted from 1, comes from.
func (p *page) origin(line int) origin {
	if line < 1 || line > len(p.origins) {
		return origin{}
	}
	return p.origins[line-1]
}

// plain replaces what may not stand in a comment.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || r > 0xffff || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string([]rune(s)[:min(len([]rune(s)), 200)]))
}

// number writes a number as briefly as reading it back allows.
func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// numbers writes a short list.
func numbers[T int64 | uint64 | float64](list ...T) string {
	text := make([]string, len(list))
	for i, x := range list {
		text[i] = number(float64(x))
	}
	return "[" + strings.Join(text, ", ") + "]"
}

// cleanName makes a name for an area or genome of what FEAGI calls it; empty when nothing is left.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == ' ', r == '-':
			return r
		case r == '+':
			return 'p' // lateral_+x and lateral_-x stay two names
		}
		return '-'
	}, s)
	if len(s) > 80 {
		s = s[:80]
	}
	return strings.TrimRight(strings.TrimLeft(s, " .-"), " ")
}

// quoted writes a name so that YAML reads it as a text.
func quoted(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return strconv.Quote(s)
	}
	if c := s[0]; c >= '0' && c <= '9' || c == '.' || strings.Contains(s, " #") {
		return strconv.Quote(s)
	}
	return s
}
