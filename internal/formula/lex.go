package formula

import (
	"fmt"
	"strconv"
	"strings"
)

// Mistake is what is wrong with a text, and how many bytes into it that stands.
type Mistake struct {
	Offset  int
	Message string
	Word    string   // a name that is not known, else empty
	Known   []string // those that could have been meant
}

func wrong(at int, format string, args ...any) *Mistake {
	return &Mistake{Offset: at, Message: fmt.Sprintf(format, args...)}
}

// kind is the kind of a token.
type kind uint8

const (
	atEnd kind = iota
	aNumber
	aName
	aMark
)

// token is a piece of an expression.
type token struct {
	kind kind
	at   int // bytes into the text
	text string
	x    float64 // of a number
}

// String is the token for messages.
func (t token) String() string {
	if t.kind == atEnd {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// marks are longest first, so that <= is not read as <.
var marks = [...]string{"<=", ">=", "==", "!=", "**", "&&", "||", "<", ">", "=", "+", "-", "*", "/", "(", ")", ",", "!", "^", "%"}

// maxText bounds an expression, in bytes.
const maxText = 4096

// scan cuts a text into tokens, the last of them atEnd.
func scan(text string) ([]token, *Mistake) {
	if len(text) > maxText {
		return nil, wrong(0, "expects an expression of at most %d bytes, found %d", maxText, len(text))
	}
	out := make([]token, 0, 2+len(text)/3)
	for i := 0; i < len(text); {
		t := token{at: i}
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n':
			i++
			continue
		case digit(c) || c == '.':
			t.kind, t.text = aNumber, text[i:i+numeral(text[i:])]
			x, err := strconv.ParseFloat(t.text, 64)
			if err != nil || float32(x) > maxFloat || x != 0 && float32(x) == 0 {
				return nil, wrong(i, "expects a number that float32 can hold, found %q", cut(text[i:]))
			}
			t.x = x
		case letter(c):
			end := i
			for end < len(text) && (letter(text[end]) || digit(text[end])) {
				end++
			}
			t.kind, t.text = aName, text[i:end]
		default:
			t.kind = aMark
			for _, m := range marks {
				if t.text == "" && strings.HasPrefix(text[i:], m) {
					t.text = m
				}
			}
			if t.text == "" {
				return nil, wrong(i, "found %q, which has no meaning in an expression", string([]rune(text[i:])[:1]))
			}
		}
		out = append(out, t)
		i += len(t.text)
	}
	return append(out, token{at: len(text)}), nil
}

// maxFloat is the largest float32.
const maxFloat = 0x1p127 * (1 + (1 - 0x1p-23))

func digit(c byte) bool  { return '0' <= c && c <= '9' }
func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// numeral is the length of the decimal number at the begin of a text, at least 1.
func numeral(text string) int {
	i := 0
	run := func() (any bool) {
		for i < len(text) && digit(text[i]) {
			i++
			any = true
		}
		return any
	}
	run()
	if i < len(text) && text[i] == '.' {
		i++
		run()
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		mark := i
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !run() {
			i = mark
		}
	}
	return i
}

// cut is a text short enough for a message.
func cut(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
