package feagi

import (
	"bytes"
	"regexp"
)

// Looks says whether a text is a JSON object other than a genome of burst's own format, which may be written as JSON too.
func Looks(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !opening.Match(text) {
		return false
	}
	return bytes.Contains(text, []byte(`"blueprint"`)) || !own.Match(text)
}

var (
	opening = regexp.MustCompile(`^\s*\{\s*("|\}|$)`)
	own     = regexp.MustCompile(`"burst"\s*:`)
)
