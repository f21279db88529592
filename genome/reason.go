package genome

import "strings"

// reason restates the YAML reader's complaint as what was found and what is wanted. r is the character at the fault.
func reason(err error, r rune) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(text, "line ") {
		_, text, _ = strings.Cut(text, ": ")
	}
	if (r == ']' || r == '}') && strings.Contains(text, "did not find expected key") {
		return "a closing bracket without its opening one found"
	}
	for _, c := range [...]struct{ part, say string }{
		{"mapping values are not allowed", "a key where none may stand found: wanted the indentation of the keys above, or quotes around a text that holds a colon"},
		{"could not find expected ':'", `a line without ":" found, "key: value" wanted`},
		{"did not find expected key", "a line that belongs to no mapping found: wanted the indentation of the keys above, and quotes and brackets closed"},
		{"did not find expected '-'", "a line that belongs to no list found: wanted \"- \" at the indentation of the list above"},
		{"block sequence entries are not allowed", `"- " where no list may begin found, the list on its own lines wanted`},
		{"did not find expected ',' or ']'", `a list in brackets cut short found, "," or "]" wanted`},
		{"did not find expected ',' or '}'", `a mapping in braces cut short found, "," or "}" wanted`},
		{"did not find expected node content", "punctuation found, a value wanted"},
		{"unknown escape character", `an escape that YAML does not know found, \\ for a backslash or single quotes wanted`},
		{"did not find expected hexdecimal number", "an escape with too few digits found, hexadecimal digits wanted"},
		{"did not find expected alphabetic or numeric character", `a bare * or & found, which YAML takes for a mark of its own: quotes around it wanted, as in "*"`},
		{"unknown anchor", "an alias found, the value itself wanted"},
		{"exceeded max depth", "brackets nested thousands deep found, a genome wanted"},
		{"violates indentation", "a tab found, spaces wanted for indentation"},
	} {
		if strings.Contains(text, c.part) {
			return c.say
		}
	}
	if strings.Contains(text, "cannot start any token") {
		if r == '\t' {
			return "a tab found, spaces wanted for indentation"
		}
		return "a character that starts no value found, quotes around the text wanted"
	}
	return short(text) + " (YAML)"
}
