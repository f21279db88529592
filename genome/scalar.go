package genome

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// found describes a node, for messages.
func found(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Tag == "!!null":
		return "nothing"
	case quoted(n):
		return strconv.Quote(short(n.Value)) + " in quotes"
	}
	return short(n.Value)
}

func quoted(n *yaml.Node) bool { return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 }

// scalar returns the text of a single value. Anything else is a fault; wanted says what is expected.
func (p *parser) scalar(n *yaml.Node, at *path, wanted string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		p.fault(n, at, "", "expects %s, found %s", wanted, found(n))
		return "", false
	}
	if isColumn(n) {
		p.fault(n, at, "", "expects %s, found %s; columns are for what has a value for each neuron: parameters that may differ, initial values, constant drives and columns, which projections read as source_NAME and target_NAME", wanted, short(n.Value))
		return "", false
	}
	return n.Value, true
}

// bare is scalar for values that must not be in quotes.
func (p *parser) bare(n *yaml.Node, at *path, wanted string) (string, bool) {
	text, ok := p.scalar(n, at, wanted)
	if ok && quoted(n) {
		p.fault(n, at, unquoted(text), "expects %s without quotes, found %s", wanted, found(n))
		return "", false
	}
	return text, ok
}

// unquoted is text if it is a quantity or a flag; else "".
func unquoted(text string) string {
	if _, _, m := quantity(text, anyDimension()...); m == nil || text == "true" || text == "false" {
		return text
	}
	return ""
}

// mistake reports a mistake in the scalar n.
func (p *parser) mistake(n *yaml.Node, at *path, m *mistake) {
	spot := *n
	spot.Value = n.Value[min(m.offset, len(n.Value)):]
	if quoted(n) {
		spot.Column++
	}
	if m.offset == 0 || strings.ContainsAny(n.Value, "\n\\\"'") {
		spot.Column = n.Column // with escapes and folded lines, offsets in the text are not columns of the source
	} else {
		spot.Column += len([]rune(n.Value[:min(m.offset, len(n.Value))]))
	}
	p.fault(&spot, at, m.suggestion, "%s", m.message)
}

// whole reads a whole number low…high.
func (p *parser) whole(n *yaml.Node, at *path, low, high uint64) (uint64, bool) {
	wanted := "a whole number " + wholeRange(low, high)
	text, ok := p.bare(n, at, wanted)
	if !ok {
		return 0, false
	}
	if len(text) > 1 && text[0] == '0' && numeric(text) == len(text) && !strings.ContainsAny(text, ".eE") {
		_, m := number(text)
		p.mistake(n, at, m)
		return 0, false
	}
	x, err := strconv.ParseUint(text, 10, 64)
	if err != nil || x < low || x > high {
		if err == nil && x > high || errors.Is(err, strconv.ErrRange) {
			wanted = "a whole number " + upTo(low, high)
		}
		p.fault(n, at, wholeSuggestion(text, low, high), "expects %s, found %s", wanted, short(text))
		return 0, false
	}
	return x, true
}

// wholeSuggestion turns 1e6, 800.0 or 1,000 into the whole number that it means; "" where that is not within the limits.
func wholeSuggestion(text string, low, high uint64) string {
	s := strings.NewReplacer("_", "", ",", "").Replace(digitsOnly(text))
	if x, m := number(text); m == nil && x == math.Floor(x) && x >= 0 && x < 1e15 {
		s = strconv.FormatUint(uint64(x), 10)
	}
	if x, err := strconv.ParseUint(s, 10, 64); err != nil || x < low || x > high || s == text {
		return ""
	}
	return s
}

// digitsOnly is text if it has only digits and separators; else "".
func digitsOnly(text string) string {
	if len(text) < 30 && strings.ContainsAny(text, "_,") && strings.Trim(text, "0123456789_,") == "" {
		return text
	}
	return ""
}

func wholeRange(low, high uint64) string {
	if high >= maxSize {
		return fmt.Sprintf("of at least %d", low)
	}
	return fmt.Sprintf("%d…%d", low, high)
}

// upTo is the range for a number that is too large.
func upTo(low, high uint64) string {
	if high >= maxSize {
		return fmt.Sprintf("of at most %d", high)
	}
	return wholeRange(low, high)
}

// integer reads a whole number of either sign.
func (p *parser) integer(n *yaml.Node, at *path) (int64, bool) {
	wanted := fmt.Sprintf("a whole number %d…%d", -maxOffset, maxOffset)
	text, ok := p.bare(n, at, wanted)
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil || x < -maxOffset || x > maxOffset || strings.HasPrefix(strings.TrimLeft(text, "+-"), "0") && x != 0 {
		p.fault(n, at, "", "expects %s, found %s", wanted, short(text))
		return 0, false
	}
	return x, true
}

// number reads a number of the key's dimension and range. It must also fit float32, which models use.
func (p *parser) number(n *yaml.Node, at *path, k *key) (float64, bool) {
	dim := k.Dims[0]
	read := p.bare
	if dim != Plain {
		read = p.scalar
	}
	text, ok := read(n, at, dim.article()+" such as "+dim.example())
	if !ok {
		return 0, false
	}
	x, m := within(text, dim, 1)
	if m != nil {
		p.mistake(n, at, m)
		return 0, false
	}
	if x < k.Min || x > k.Max || k.MinOpen && x == k.Min {
		p.fault(n, at, "", "expects %s %s, found %s", dim.article(), k.span(), short(text))
		return 0, false
	}
	return x, p.fits(n, at, x)
}

// fits checks that x is a number that float32 can hold.
func (p *parser) fits(n *yaml.Node, at *path, x float64) bool {
	switch y := float32(x); {
	case math.IsInf(float64(y), 0):
		p.fault(n, at, "", "expects a number within ±3.4e38 (float32), found %g", x)
	case x != 0 && y == 0:
		p.fault(n, at, "", "expects 0 or a number of at least 1.4e-45 (float32), found %g", x)
	default:
		return true
	}
	return false
}

// span is the range of a key's number in words.
func (k *key) span() string {
	unit := ""
	if name := k.Dims[0].example(); k.Dims[0] != Plain {
		unit = name[strings.LastIndexByte(name, ' '):]
	}
	say := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) + unit }
	switch {
	case math.IsInf(k.Min, -1) && math.IsInf(k.Max, 1):
		return "of any size"
	case k.MinOpen && math.IsInf(k.Max, 1):
		return "above " + say(k.Min)
	case k.MinOpen:
		return "above " + say(k.Min) + " and at most " + say(k.Max)
	case math.IsInf(k.Max, 1):
		return "of at least " + say(k.Min)
	}
	return strconv.FormatFloat(k.Min, 'g', -1, 64) + "…" + say(k.Max)
}

// bursts reads a whole number of bursts, plain or as a time.
func (p *parser) bursts(n *yaml.Node, at *path, low, high uint64) (uint64, bool) {
	wanted := "whole bursts such as 2 or a time such as 2 ms"
	text, ok := p.scalar(n, at, wanted)
	if !ok {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		return p.whole(n, at, low, high)
	}
	x, dim, m := quantity(text, Time)
	switch {
	case numeric(text) == 0:
		p.fault(n, at, "", "expects %s, found %s", wanted, short(text))
		return 0, false
	case m != nil:
		p.mistake(n, at, m)
		return 0, false
	case dim != Time:
		p.fault(n, at, wholeSuggestion(text, low, high), "expects %s, found %s", wanted, short(text))
		return 0, false
	case p.timestep == 0:
		return 0, false // the time step has a fault
	}
	b, m := wholeBursts(float64(x/p.timestep), p.timestep)
	if m != nil {
		p.mistake(n, at, m)
		return 0, false
	}
	switch {
	case b < float64(low):
		p.fault(n, at, "", "expects bursts %s, found %s, which is %g", wholeRange(low, high), short(text), b)
		return 0, false
	case b > float64(high) || b >= 1<<63:
		p.fault(n, at, "", "expects bursts %s, found %s, which is %g", upTo(low, min(high, 1<<63-1)), short(text), b)
		return 0, false
	}
	return uint64(b), true
}

// flag reads true or false.
func (p *parser) flag(n *yaml.Node, at *path) (value, ok bool) {
	text, ok := p.bare(n, at, "true or false")
	if !ok {
		return false, false
	}
	switch text {
	case "true", "false":
		return text == "true", true
	}
	suggestion := Nearest(text, []string{"true", "false"})
	switch strings.ToLower(text) {
	case "yes", "on", "y", "1":
		suggestion = "true"
	case "no", "off", "n", "0":
		suggestion = "false"
	}
	p.fault(n, at, suggestion, "expects true or false, found %s", short(text))
	return false, false
}

// choice reads one of a few words and returns its index.
func (p *parser) choice(n *yaml.Node, at *path, choices []string) (int, bool) {
	wanted := "one of " + strings.Join(choices, ", ")
	text, ok := p.scalar(n, at, wanted)
	if !ok {
		return 0, false
	}
	i := slices.Index(choices, text)
	if i < 0 {
		suggestion, say := meant(text, choices)
		if say != "" {
			say = ", " + say
		}
		p.fault(n, at, suggestion, "expects %s, found %s%s", wanted, short(text), say)
	}
	return i, i >= 0
}

// maxName is the largest length of a name in bytes, because names become file names.
const maxName = 100

// name reads a name: ASCII letters, digits, "_", "-", "." and blanks inside; it starts with a letter, a digit or "_".
func (p *parser) name(n *yaml.Node, at *path) (string, bool) {
	const wanted = `a name of ASCII letters, digits, "_", "-", "." and blanks`
	text, ok := p.scalar(n, at, wanted)
	if !ok {
		return "", false
	}
	if !quoted(n) && (n.Tag == "!!int" || n.Tag == "!!float" || n.Tag == "!!bool") {
		p.fault(n, at, strconv.Quote(short(text)), "expects a name, found %s, which YAML reads as another kind of value: put it in quotes", short(text))
		return "", false
	}
	if !validName(text) {
		suggestion := cleanName(text)
		if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
			suggestion = "" // no suggestion for a word in other letters
		}
		p.fault(n, at, suggestion, `expects %s, at most %d long and starting with a letter, a digit or "_", found %q`, wanted, maxName, short(text))
		return "", false
	}
	return text, true
}

// alias reads a further name of an area. It may have all characters of FEAGI's ids.
func (p *parser) alias(n *yaml.Node, at *path) (string, bool) {
	const wanted = `a name of ASCII letters, digits, "_", "-", ".", "+", "/" and "="`
	text, ok := p.scalar(n, at, wanted)
	if ok && !IsAlias(text) {
		p.fault(n, at, "", "expects %s, at most %d long, found %q", wanted, maxName, short(text))
		ok = false
	}
	return text, ok
}

// IsAlias reports whether a text may be an alias of an area.
func IsAlias(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.+/=", r)
	})
}

func validName(s string) bool {
	return s != "" && len(s) <= maxName && cleanName(s) == s
}

// cleanName makes a valid name of a text: it replaces characters that are not allowed, and drops bad ones at the ends.
func cleanName(s string) string {
	if len(s) > maxName {
		s = s[:maxName]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == ' ', r == '-':
			return r
		}
		return '-'
	}, s)
	return strings.TrimRight(strings.TrimLeft(s, " .-"), " ")
}

// list returns the elements of a list, which must have the key's length.
func (p *parser) list(n *yaml.Node, at *path, k *key) []*yaml.Node {
	wanted := "a list"
	if k.Len > 0 {
		wanted = fmt.Sprintf("a list of %d", k.Len)
	}
	if n.Kind != yaml.SequenceNode {
		p.fault(n, at, "", "expects %s, found %s", wanted, found(n))
		return nil
	}
	if k.Len > 0 && len(n.Content) != k.Len {
		p.fault(n, at, "", "expects %s, found %d elements", wanted, len(n.Content))
		return nil
	}
	if len(n.Content) == 0 && !k.Empty {
		p.fault(n, at, "", "expects %s of at least one element, found none", wanted)
	}
	return n.Content
}
