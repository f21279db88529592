package genome

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxText is the largest genome text in bytes.
const maxText = 16 << 20

// These limits keep the memory for reading a text below 64 MiB + 50 bytes per byte of text.
const (
	maxLine    = 1 << 20  // bytes; the YAML reader takes long scalars slowly
	freeBytes  = 40 << 20 // memory that the tree of values may always take
	bytesAByte = 30       // additional memory per byte of text
)

// checkText refuses a text that is too long, is not UTF-8, or has too many values for its size.
func checkText(src *source) (Fault, bool) {
	text := src.text
	switch {
	case len(text) > maxText:
		return src.fault(Pos{1, 1}, "", "", fmt.Sprintf("expects a text of at most 16 MiB, found %d bytes", len(text))), false
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		return src.fault(Pos{1, 1}, "", "", "expects text in UTF-8, found UTF-16"), false
	case len(bytes.TrimSpace(text)) == 0:
		return src.fault(Pos{1, 1}, "", "", `expects a genome that starts with "burst: v1", found an empty text`), false
	}
	if at, what := firstBadByte(text); at >= 0 {
		return src.fault(position(text, at), "", "", what), false
	}
	return checkDensity(src)
}

// firstBadByte finds the first byte that does not belong in a genome's text, or -1.
func firstBadByte(text []byte) (at int, what string) {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case c == 0:
			return i, "expects text in UTF-8, found a NUL byte (UTF-16 is not read)"
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case r == utf8.RuneError && n == 1:
			return i, fmt.Sprintf("expects text in UTF-8, found byte 0x%02x", c)
		case r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff':
			return i, fmt.Sprintf("expects plain text with newlines, found control character %U", r)
		}
		i += n
	}
	return -1, ""
}

// checkDensity limits the memory of the tree of values. It adds the largest measured cost of each mark that starts a value in
// YAML: the bytes that yaml.v3 allocates for texts that repeat the mark.
func checkDensity(src *source) (Fault, bool) {
	spent, start := 0, 0
	limit := freeBytes + bytesAByte*len(src.text)
	for i, c := range src.text {
		switch {
		case c == '\n':
			start = i + 1
			spent += 250
		case c == ',':
			spent += 460
		case c == ':':
			spent += 250
		case (c == '-' || c == '?') && i+1 < len(src.text) && blank(src.text[i+1]):
			spent += 210
		case c == '#' && (i == 0 || blank(src.text[i-1])):
			spent += 1000
		}
		if spent > limit {
			return src.fault(position(src.text, i), "", "", "found more values than a text of this size may hold; "+
				"use fewer or longer ones: a picture in place of a long list of neurons, a table in place of many projections (projections: {file: …})"), false
		}
		if i-start >= maxLine {
			return src.fault(position(src.text, start), "", "", "expects lines of at most 1 MiB, found a longer one"), false
		}
	}
	return Fault{}, true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// position is the line and column of byte at.
func position(text []byte, at int) Pos {
	before := text[:at]
	line := 1 + bytes.Count(before, []byte{'\n'})
	return Pos{line, 1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):])}
}
