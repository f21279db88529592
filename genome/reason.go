package genome

import "strings"

// reason rewords an error of the YAML reader: what was expected and what was found. r is the character at the fault.
func reason(err error, r rune) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(text, "line ") {
		_, text, _ = strings.Cut(text, ": ")
	}
	if (r == ']' || r == '}') && strings.Contains(text, "did not find expected key") {
		return "found a closing bracket without an opening one"
	}
	for _, c := range [...]struct{ part, say string }{
		{"mapping values are not allowed", "found a key where none may stand: indent it like the keys above, or put quotes around a text that holds a colon"},
		{"could not find expected ':'", `expects "key: value", found a line without ":"`},
		{"did not find expected key", "found a line that belongs to no mapping: indent it like the keys above, and close all quotes and brackets"},
		{"did not find expected '-'", "found a line that belongs to no list: begin it with \"- \", indented like the list above"},
		{"block sequence entries are not allowed", `found "- " where no list may begin: write the list on lines of its own`},
		{"did not find expected ',' or ']'", `expects "," or "]", found a list in brackets that is cut short`},
		{"did not find expected ',' or '}'", `expects "," or "}", found a mapping in braces that is cut short`},
		{"did not find expected node content", "expects a value, found punctuation"},
		{"unknown escape character", `found an escape that YAML does not know: write \\ for a backslash, or use single quotes`},
		{"did not find expected hexdecimal number", "expects hexadecimal digits, found an escape with too few of them"},
		{"did not find expected alphabetic or numeric character", `found a bare * or &, which has a meaning of its own in YAML: put it in quotes, as in "*"`},
		{"unknown anchor", "expects the value itself, found an alias"},
		{"exceeded max depth", "expects a genome, found brackets nested thousands deep"},
		{"violates indentation", "expects spaces for indentation, found a tab"},
	} {
		if strings.Contains(text, c.part) {
			return c.say
		}
	}
	if strings.Contains(text, "cannot start any token") {
		if r == '\t' {
			return "expects spaces for indentation, found a tab"
		}
		return "found a character that starts no value: put the text in quotes"
	}
	return short(text) + " (YAML)"
}
