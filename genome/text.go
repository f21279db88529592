package genome

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// MaxText is the largest genome text in bytes.
const MaxText = 16 << 20

// The bounds that keep reading a text within 64 MiB + 50 bytes a byte of text.
const (
	maxLine    = 1 << 20  // bytes; the YAML reader takes long scalars slowly
	freeBytes  = 40 << 20 // memory that any text may take in its tree of values
	bytesAByte = 30       // further memory for each byte of text
)

// checkText refuses what need not reach the YAML reader: too long, no UTF-8, or more values than its size may bring.
func checkText(src *source) (Fault, bool) {
	text := src.text
	switch {
	case len(text) > MaxText:
		return src.fault(Pos{1, 1}, "", "", fmt.Sprintf("a text of %d bytes found, at most 16 MiB wanted", len(text))), false
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		return src.fault(Pos{1, 1}, "", "", "a text in UTF-16 found, UTF-8 wanted"), false
	case len(bytes.TrimSpace(text)) == 0:
		return src.fault(Pos{1, 1}, "", "", `an empty text found, a genome that starts with "burst: v1" wanted`), false
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
			return i, "a NUL byte found, text in UTF-8 wanted (UTF-16 is not read)"
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case r == utf8.RuneError && n == 1:
			return i, fmt.Sprintf("byte 0x%02x found, text in UTF-8 wanted", c)
		case r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff':
			return i, fmt.Sprintf("control character %U found, plain text with newlines wanted", r)
		}
		i += n
	}
	return -1, ""
}

// checkDensity bounds, from above, the memory that the tree of values will take: what YAML needs to start a value
// costs as much as was measured for its worst use (bytes allocated by yaml.v3 for texts that repeat it).
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
			return src.fault(position(src.text, i), "", "", "more values found than a text of this size may hold, "+
				"fewer or longer ones wanted (a picture, say, in place of a long list of neurons)"), false
		}
		if i-start >= maxLine {
			return src.fault(position(src.text, start), "", "", "a line of more than 1 MiB found, shorter lines wanted"), false
		}
	}
	return Fault{}, true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// position is the place of byte at.
func position(text []byte, at int) Pos {
	before := text[:at]
	line := 1 + bytes.Count(before, []byte{'\n'})
	return Pos{line, 1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):])}
}
