package genome

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// searchBudget bounds the text that is read again, in all, to place a fault of syntax, in bytes.
const searchBudget = 256 << 10

// standing says what can still become of the first part of a text.
type standing uint8

const (
	whole  standing = iota // a text in itself
	begun                  // inside a quote or bracket that more text could close
	broken                 // no further text can mend it
)

// search places one fault of syntax by reading growing prefixes: the YAML reader's own line is often wrong.
type search struct {
	src    *source // up to where the reader failed
	atEnd  bool    // it failed at the end of the text
	ends   []int   // ends[i] is where line i ends, newline included; ends[0] = 0
	known  map[int]standing
	budget int
}

// syntaxFault places the fault of a text that is no YAML. fed is how much text the reader had been given when it failed
// with err.
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

// place finds the line and column and says what is wrong there.
func (s *search) place(err error) (Pos, string) {
	line := s.firstBroken(s.index())
	closed := s.lastWhole(line)
	for n := closed + 1; n <= min(line, len(s.ends)-1); n++ {
		if text := s.line(n); bareMark(text) >= 0 {
			at := bareMark(text)
			return Pos{n, 1 + utf8.RuneCountInString(text[:at])}, fmt.Sprintf("a bare %c found, which YAML takes for a mark of its own: quotes around it wanted, as in %q", text[at], text[at:at+1])
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

// bareMark is where a *, ? or ! stands as an element of a list without quotes, -1 where none does.
func bareMark(line string) int {
	for i := range len(line) {
		before, after := strings.TrimRight(line[:i], " "), strings.TrimLeft(line[i+1:], " \r\n")
		if strings.ContainsAny(line[i:i+1], "*?!") && strings.Count(before, `"`)%2 == 0 && endsIn(before, "[,") && strings.ContainsAny(firstByte(after), ",]") {
			return i
		}
	}
	return -1
}

// endsIn says that a text's last byte is one of those.
func endsIn(text, bytes string) bool {
	return text != "" && strings.IndexByte(bytes, text[len(text)-1]) >= 0
}

// index notes the ends of all lines and gives the number of the line in which the reader failed, one more than there
// are where it failed at the end of a text that merely ends too soon.
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

// firstBroken goes back from line to the first line with which the text is broken for good.
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

// lastWhole is a line before the broken one after which the text stood whole, with none after it that did.
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

// forgotten says whether what begins in line first was most likely left open there: the text ends inside it, or the
// broken line stands no deeper than the first, as a new key would.
func (s *search) forgotten(first, line int) bool {
	if line >= len(s.ends) {
		return true
	}
	return indent(s.line(line)) <= indent(s.line(first)) && !strings.ContainsAny(firstByte(s.line(line)), "]}\"'")
}

// unclosed finds the quote or bracket in a line that is never closed: the one before which the text is whole.
func (s *search) unclosed(line int) (Pos, string) {
	start, text := s.ends[line-1], strings.TrimRight(s.line(line), "\r\n")
	column := indent(text)
	for i, c := range text {
		if strings.ContainsRune("[{\"'", c) && s.prefix(start+i) == whole && s.prefix(start+i+1) != whole {
			column = i
			break
		}
	}
	what := "an opening bracket or quote that is never closed found, its end wanted"
	switch firstByte(text[column:]) {
	case "[":
		what = `"[" that is never closed found, "]" wanted`
	case "{":
		what = `"{" that is never closed found, "}" wanted`
	case `"`, "'":
		what = "a quote that is never closed found, its end wanted"
	}
	return Pos{line, 1 + utf8.RuneCountInString(text[:column])}, what
}

// column is the first character of line with which the text is broken for good, or the first that is not blank where
// that cannot be told.
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

// failed is how many bytes, between from and to, the reader must be given to fail; to when it hopes for more.
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

// colon is the number of bytes of a line up to its first key's value, −1 when the text up to there is broken already.
func (s *search) colon(text []byte, start int) int {
	at := bytes.Index(text, []byte(": "))
	if at < 0 || s.prefix(start+at+2) == broken {
		return -1
	}
	return at + 2
}

// standing tells how the text stands after a line.
func (s *search) standing(line int) standing { return s.prefix(s.ends[line]) }

// prefix tells how the first n bytes stand.
func (s *search) prefix(n int) standing {
	if known, ok := s.known[n]; ok {
		return known
	}
	stands := s.read(n)
	s.known[n] = stands
	return stands
}

// read is prefix without memory.
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

// brokenAt says whether the YAML reader fails on the first n bytes even when it may hope for more.
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

// ends says whether an error can come from a text that merely ends too soon.
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
