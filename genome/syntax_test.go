package genome

import (
	"errors"
	"strings"
	"testing"
)

// Faults of syntax must be placed where the author has to look, which is often not where the YAML reader stops. Each
// case stands in line 5 of a text of 10; "‹" marks the place.
func TestSyntaxFaults(t *testing.T) {
	const head = "burst: v1\nareas:\n  - name: a\n    neurons: 5\n"
	const tail = "    leak: 0.1\n  - name: b\n    neurons: 7\nprojections:\n  - {from: a, to: b, rule: all_to_all, weight: 1}\n"
	for _, c := range []struct{ name, why, text string }{
		{"tab", "a tab cannot indent", "\t‹threshold: 1\n"},
		{"one blank less", "the line belongs neither to the mapping nor to the list", "   ‹threshold: 1\n"},
		{"one blank more", "the line continues the one above, then holds a colon", "     ‹threshold: 1\n"},
		{"no colon", "noticed by the reader in the next line only", "    ‹threshold 1\n"},
		{"no blank after the colon", "the same: it is no key", "    ‹threshold:1\n"},
		{"open bracket", "noticed many lines later", "    position: ‹[1, 2, 3\n"},
		{"open brace", "likewise", "    init: ‹{V: 1\n"},
		{"open double quote", "noticed at the end of the text", "    model: ‹\"feagi\n"},
		{"open single quote", "likewise", "    model: ‹'feagi\n"},
		{"lone quote", "likewise, where a key should be", "    ‹\"\n"},
		{"bracket closed twice", "nothing is open", "    position: [1, 2, 3]‹]\n"},
		{"bracket closed by a brace", "the bracket stays open", "    position: ‹[1, 2, 3}\n"},
		{"comment before the bracket's end", "the bracket stays open", "    position: ‹[1, 2, 3 # ]\n"},
		{"bracket open over lines", "the opening is the place", "    position: ‹[1,\n      2,\n      3\n"},
		{"outer bracket open", "the outer opening is the place", "    drive: ‹[{constant: 1}, {poisson: {rate: 1 Hz, weight: 1}}\n"},
		{"bracket open before a document", "the opening is the place", "    position: ‹[1,\n---\n"},
		{"unknown escape", "YAML has no \\q", "    model: \"fe‹\\qagi\"\n"},
		{"unknown escape in a list over lines", "the list itself is sound", "    position: [1,\n      ‹2, \"\\q\"]\n"},
		{"escape with letters", "hexadecimal digits are wanted", "    model: \"‹\\xZZ\"\n"},
		{"at sign", "starts no value", "    model: ‹@feagi\n"},
		{"backtick", "starts no value", "    model: ‹`feagi`\n"},
		{"percent sign", "starts no value", "    model: ‹%feagi\n"},
		{"two colons", "a mapping cannot begin inside a value", "    model: feagi‹: 2\n"},
		{"list in a mapping", "a list cannot begin between keys", "    ‹- model: feagi\n"},
		{"dash without blank", "it is no element of the list", "  ‹-model: feagi\n"},
		{"comma forgotten in braces", "a second value shows it", "    init: {V: 1 W: 2‹}\n"},
		{"comma forgotten in brackets", "a second value shows it", "    position: [1 2: 3: 4‹]\n"},
		{"letters after a bar", "a block text begins on the next line", "    model: |‹x\n"},
		{"unknown alias", "nothing has that anchor", "    model: ‹*x\n"},
		{"anchor without name", "nothing follows &", "    model: ‹&\n"},
		{"text after a quote", "the value is over", "    model: \"feagi\" ‹x\n"},
		{"word in the first column", "it is no key", "‹threshold\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := head + c.text + tail
			mark := strings.Index(text, "‹")
			want := position([]byte(text), mark)
			_, err := Parse("net.yaml", []byte(strings.Replace(text, "‹", "", 1)), nil)
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("no fault (%s): %v", c.why, err)
			}
			if f := faults[0]; f.Line != want.Line || f.Column != want.Column || len(faults) != 1 {
				t.Errorf("%d faults, the first at %d:%d, want one at %d:%d (%s)\n%v", len(faults), f.Line, f.Column, want.Line, want.Column, c.why, err)
			}
			if strings.Contains(faults[0].Message, "yaml: ") {
				t.Errorf("the YAML reader's own words: %v", err)
			}
		})
	}
}

// TestSyntaxAdvice: what beginners forget is advised.
func TestSyntaxAdvice(t *testing.T) {
	const area = "areas: [{name: a, size: [3, 3, 1]}]\n"
	const projection = area + "projections:\n  - {from: a, to: a, rule: patterns, weight: 1, patterns: "
	for name, c := range map[string]struct{ text, advice string }{
		"bare star":               {projection + "[[[‹*, ?, 0], [?, *, 0]]]}", `put it in quotes, as in "*"`},
		"bare question mark":      {projection + "[[[\"*\", ‹?, 0], [0, 0, 0]]]}", `put it in quotes, as in "?"`},
		"bare star in a block":    {projection[:len(projection)-1] + "\n      [[[0, 0, ‹* ],\n [0, 0, 0]]]}", `as in "*"`},
		"star for a name":         {"areas:\n  - name: ‹*\n    neurons: 3", `as in "*"`},
		"tab before a list":       {"areas:\n\t‹- name: a\n\t  neurons: 3", "expects spaces for indentation, found a tab"},
		"tab before a first key":  {area + "record:\n\t‹spikes: [a]", "expects spaces for indentation, found a tab"},
		"bare exclamation mark":   {projection + "[[[0, 0, 0], [0, 0, ‹!]]]}", `as in "!"`},
		"exclamation mark, a tag": {projection + "[[[0, 0, 0], [0, ‹!, 0]]]}", "put a text that begins with ! in quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "burst: v1\n" + c.text + "\n"
			want := position([]byte(text), strings.Index(text, "‹"))
			_, err := Parse("net.yaml", []byte(strings.Replace(text, "‹", "", 1)), nil)
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatal("no fault")
			}
			if f := faults[len(faults)-1]; f.Line != want.Line || f.Column != want.Column || !strings.Contains(f.Message, c.advice) {
				t.Errorf("want %q at %d:%d, got\n%v", c.advice, want.Line, want.Column, err)
			}
		})
	}
}

// The line must be right in a long text as well, and found fast.
func TestSyntaxFaultFarDown(t *testing.T) {
	var b strings.Builder
	b.WriteString("burst: v1\nareas:\n")
	for range 2000 {
		b.WriteString("  - name: a\n    size: [3, 5,\n      1]\n    leak: 0.1\n")
	}
	lines := strings.Split(b.String(), "\n")
	for _, at := range []int{10, 15, 2002, 3339, 4004, 7990, 8002} {
		text := append([]string{}, lines...)
		text[at-1] = "  " + "\t" + text[at-1]
		_, err := Parse("net.yaml", []byte(strings.Join(text, "\n")), nil)
		var faults Faults
		if !errors.As(err, &faults) {
			t.Errorf("want a fault in line %d, got %v", at, err)
		} else if faults[0].Line != at {
			t.Errorf("want line %d, got line %d of %d faults", at, faults[0].Line, len(faults))
		}
	}
}

// A panic of the YAML reader would end the program; it must become an error.
func TestReaderPanics(t *testing.T) {
	if err := decode(nil, nil); err == nil {
		t.Error("no error")
	}
}
