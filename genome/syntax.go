package genome

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// searchBudget is the largest number of bytes that are read again to find the position of a syntax error.
const searchBudget = 256 << 10

// standing is the state of the beginning of a text: complete, still possible to complete, or broken.
type standing uint8

const (
	whole  standing = iota // a complete text
	begun                  // inside a quote or bracket that more text could close
	broken                 // no further text can make it valid
)

// search finds the position of one syntax error by reading growing prefixes, because the YAML reader's line is often wrong.
type search struct {
	src    *source // number of bytes that the reader had read when it failed
	atEnd  bool    // it failed at the end of the text
	ends   []int   // ends[i] is where line i ends, newline included; ends[0] = 0
	known  map[int]standing
	budget int
}

// syntaxFault finds the position of a syntax error. fed is the number of bytes that the reader had read when it returned err.
func syntaxFault(src *source, fed int, err error) Fault {
	if strings.Contains(err.Error(), "exceeded max depth") {
		return src.fault(Pos{position(src.text, max(0, fed-1)).Line, 1}, "", "", reason(err, 0))
	}
	text, skipped := surroundings(src.text[:fed], err)
	s := &search{
		src: &source{text: text}, atEnd: fed == len(src.text), known: map[int]standing{}, budget: searchBudget,
	}
	at, message := s.place(err)
	at.Line += skipped
	return src.fault(at, "", "", message)
}

// place finds the line, the column and the message of the fault.
func (s *search) place(err error) (Pos, string) {
	line := s.firstBroken(s.index())
	closed := s.lastWhole(line)
	for n := closed + 1; n <= min(line, len(s.ends)-1); n++ {
		if text := s.line(n); bareMark(text) >= 0 {
			at := bareMark(text)
			return Pos{n, 1 + utf8.RuneCountInString(text[:at])}, fmt.Sprintf("found a bare %c, which has a meaning of its own in YAML: put it in quotes, as in %q", text[at], text[at:at+1])
		}
	}
	if closed+1 < line && s.forgotten(closed+1, line) {
		return s.unclosed(closed + 1)
	}
	line = min(line, len(s.ends)-1)
	column, blanks := s.column(line), s.line(line)[:indent(s.line(line))]
	if column == 1+len(blanks) && strings.Contains(blanks, "\t") {
		return Pos{line, column}, reason(err, '\t')
	}
	return Pos{line, column}, reason(err, s.at(line, column))
}

// bareMark is the offset of a *, ? or ! without quotes that is an element of a list; -1 if there is none.
func bareMark(line string) int {
	for i := range len(line) {
		before, after := strings.TrimRight(line[:i], " "), strings.TrimLeft(line[i+1:], " \r\n")
		if strings.ContainsAny(line[i:i+1], "*?!") && strings.Count(before, `"`)%2 == 0 && endsIn(before, "[,") && strings.ContainsAny(firstByte(after), ",]") {
			return i
		}
	}
	return -1
}

// endsIn reports whether the last byte of a text is one of those.
func endsIn(text, bytes string) bool {
	return text != "" && strings.IndexByte(bytes, text[len(text)-1]) >= 0
}

// index stores the ends of all lines and returns the number of the line in which the reader failed. If the text only ends too
// soon, that is one more than the number of lines.
func (s *search) index() int {
	text := s.src.text
	s.ends = append(make([]int, 0, 64), 0)
	for at := 0; at < len(text); {
		n := bytes.IndexByte(text[at:], '\n') + 1
		if n == 0 {
			n = len(text) - at
		}
		at += n
		s.ends = append(s.ends, at)
	}
	if s.atEnd && s.standing(len(s.ends)-1) == begun {
		return len(s.ends)
	}
	return len(s.ends) - 1
}

// firstBroken finds, backwards from line, the first line after which the text can no longer be completed.
func (s *search) firstBroken(line int) int {
	low, step := line-1, 1
	for low > 0 && s.standing(low) == broken {
		line = low
		low -= step
		step *= 2
	}
	for low = max(low, 0); low+1 < line; {
		if mid := (low + line) / 2; s.standing(mid) == broken {
			line = mid
		} else {
			low = mid
		}
	}
	return line
}

// lastWhole is the last line before the broken one after which the text was complete.
func (s *search) lastWhole(line int) int {
	low, high, step := line-1, line, 1
	for low > 0 && s.standing(low) != whole {
		high = low
		low -= step
		step *= 2
	}
	for low = max(low, 0); low+1 < high; {
		if mid := (low + high) / 2; s.standing(mid) == whole {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// forgotten reports whether the value that begins in line first was most likely never closed. Then the text ends inside it, or
// the broken line is a new key, which is not indented deeper than the first line.
func (s *search) forgotten(first, line int) bool {
	if line >= len(s.ends) {
		return true
	}
	return indent(s.line(line)) <= indent(s.line(first)) && !strings.ContainsAny(firstByte(s.line(line)), "]}\"'")
}

// unclosed finds the quote or bracket in a line that is never closed: the text before it is complete.
func (s *search) unclosed(line int) (Pos, string) {
	start, text := s.ends[line-1], strings.TrimRight(s.line(line), "\r\n")
	column := indent(text)
	for i, c := range text {
		if strings.ContainsRune("[{\"'", c) && s.prefix(start+i) == whole && s.prefix(start+i+1) != whole {
			column = i
			break
		}
	}
	what := "found an opening bracket or quote that is never closed"
	switch firstByte(text[column:]) {
	case "[":
		what = `expects "]", found "[" that is never closed`
	case "{":
		what = `expects "}", found "{" that is never closed`
	case `"`, "'":
		what = "found a quote that is never closed"
	}
	return Pos{line, 1 + utf8.RuneCountInString(text[:column])}, what
}

// column is the first character of line after which the text can no longer be completed. If that cannot be decided, it is the
// first character that is not blank.
func (s *search) column(line int) int {
	start, end := s.ends[line-1], s.ends[line]
	text := s.src.text[start:end]
	first := 1 + indent(string(text))
	at := s.colon(text, start)
	if len(text) > 400 || at < 0 {
		return first
	}
	low, high := at, len(bytes.TrimRight(text, "\r\n"))
	if fed := s.failed(start+low, start+high) - start; fed < high {
		// The reader looks ahead by a few bytes.
		if low, high = max(at, fed-5), fed; s.prefix(start+low) == broken {
			low = at
		}
	} else if low >= high || s.prefix(start+high) != broken {
		return first
	}
	for low+1 < high {
		if mid := (low + high) / 2; s.prefix(start+mid) == broken {
			high = mid
		} else {
			low = mid
		}
	}
	return max(first, len([]rune(string(text[:high]))))
}

// failed is the number of bytes, between from and to, after which the reader fails. It is to if the reader expects more.
func (s *search) failed(from, to int) int {
	if s.budget -= to; s.budget < 0 {
		return to
	}
	feed := &feeder{text: s.src.text[:to], slow: from, open: true}
	var n yaml.Node
	if err := decode(yaml.NewDecoder(feed), &n); needsMore(err) {
		return to
	}
	return max(from, feed.fed)
}

// colon is the number of bytes of a line before its first key's value; −1 if the text up to there is broken.
func (s *search) colon(text []byte, start int) int {
	at := bytes.Index(text, []byte(": "))
	if at < 0 || s.prefix(start+at+2) == broken {
		return -1
	}
	return at + 2
}

// standing is the standing of the text after a line.
func (s *search) standing(line int) standing { return s.prefix(s.ends[line]) }

// prefix is the standing of the first n bytes.
func (s *search) prefix(n int) standing {
	if known, ok := s.known[n]; ok {
		return known
	}
	stands := s.read(n)
	s.known[n] = stands
	return stands
}

// read is prefix without the cache.
func (s *search) read(n int) standing {
	var node yaml.Node
	if s.budget -= n; s.budget < 0 {
		return whole // no time left: the search ends here
	}
	err := decode(yaml.NewDecoder(&feeder{text: s.src.text[:n]}), &node)
	if err == nil || err == io.EOF {
		return whole
	}
	if !ends(err) || s.brokenAt(n) {
		return broken
	}
	return begun
}

// brokenAt reports whether the YAML reader fails on the first n bytes even if more may follow.
func (s *search) brokenAt(n int) bool {
	if s.budget -= n; s.budget < 0 {
		return false
	}
	var node yaml.Node
	text := append(append(make([]byte, 0, n+8), s.src.text[:n]...), "\n\n\n\n"...)
	err := decode(yaml.NewDecoder(&feeder{text: text, open: true}), &node)
	return err != nil && !needsMore(err)
}

func needsMore(err error) bool { return err == nil || strings.Contains(err.Error(), errMore.Error()) }

// ends reports whether an error can come from a text that only ends too early.
func ends(err error) bool {
	for _, m := range []string{"found unexpected end of stream", "did not find expected ',' or", "did not find expected node content"} {
		if strings.Contains(err.Error(), m) {
			return true
		}
	}
	return false
}

func (s *search) line(n int) string { return string(s.src.text[s.ends[n-1]:s.ends[n]]) }

// at is the character at a column of a line, or 0.
func (s *search) at(line, column int) rune {
	if r := []rune(s.line(line)); column <= len(r) {
		return r[column-1]
	}
	return 0
}

// indent is the number of blanks before the first other character.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func firstByte(line string) string {
	if t := strings.TrimLeft(line, " \t"); t != "" {
		return t[:1]
	}
	return ""
}
