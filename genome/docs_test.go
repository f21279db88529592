package genome

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const guide = "../docs/genome.md"

// The marks between which the guide holds the tables of keys.
const begin, end = "<!-- keys: begin -->\n", "<!-- keys: end -->\n"

var update = flag.Bool("update", false, "write the tables of keys into docs/genome.md")

// The tables of the guide must be those of the parser.
func TestGuideTables(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the guide lacks the marks of its tables")
	}
	want := "\n" + reference()
	if *update {
		write(t, guide, []byte(before+begin+want+end+after))
	} else if table != want {
		t.Error("the tables are out of step: run go test ./genome -run GuideTables -update")
	}
}

// Every YAML block of the guide must be a genome, or with areas to stand on become one.
func TestGuideExamples(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	schema := compiled(t)
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	if len(blocks) < 10 {
		t.Errorf("%d examples, want at least 10", len(blocks))
	}
	for i, block := range blocks {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			block, _, _ = strings.Cut(block, "```")
			if !strings.Contains(block, "areas:") {
				block = "areas:\n  - {name: eye, size: [16, 16, 1]}\n  - {name: cortex, neurons: 800, model: lif}\n" + block
			}
			if !strings.Contains(block, "burst: v1") {
				block = "burst: v1\n" + block
			}
			if _, err := Parse("example.yaml", []byte(block), square); err != nil {
				t.Errorf("%v\n%s", err, block)
			}
			if err := validate(t, schema, block); err != nil {
				t.Errorf("schema: %v\n%s", err, block)
			}
		})
	}
}

// square opens any file as a picture of 16 by 16 pixels.
func square(string) (io.ReadCloser, error) {
	var b bytes.Buffer
	err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 16)))
	return io.NopCloser(&b), err
}

// The guide to the models must be what the tables say.
func TestModelGuide(t *testing.T) {
	const file = "../docs/models.md"
	want := modelGuide()
	if *update {
		write(t, file, []byte(want))
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		t.Error("docs/models.md is out of step: run go test ./genome -run ModelGuide -update", err)
	}
}

// modelGuide is docs/models.md.
func modelGuide() string {
	var b strings.Builder
	b.WriteString("# Neuron models\n\nThe law of a burst, step by step and with the order of every rounding, is in [engine/doc.go](../engine/doc.go). " +
		"Parameters are converted once, in float64, into the constants that a burst uses; the state is float32. " +
		"[bits.md](bits.md) has what else it takes to work out every bit: random numbers, tables of drives, exp and log, hashes.\n")
	for _, m := range Models() {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s.\n\n", m.Name, strings.ToUpper(m.Doc[:1])+m.Doc[1:])
		for _, e := range m.Equations {
			b.WriteString("    " + e + "\n")
		}
		b.WriteString("\n")
		if m.Ports > 0 {
			fmt.Fprintf(&b, "Weights and amounts: %s.", m.Input)
			if m.Ports == 2 {
				b.WriteString(" Those ≥ 0 and those < 0 have an input port each.")
			}
			b.WriteString("\n\n")
		}
		modelTable(&b, "parameter", m.Params)
		modelTable(&b, "state variable", m.State)
		if m.Precision != "" {
			b.WriteString("Precision: " + m.Precision + "\n\n")
		}
		if m.Source != "" {
			b.WriteString("Source: " + m.Source + ".\n")
		}
	}
	b.WriteString(ownModels)
	return b.String()
}

// ownModels is the chapter on models that genomes define.
const ownModels = `
## Models of your own

A genome may define models by their formulas, under ` + "`models`" + `: [genome.md](genome.md#models-of-your-own) says how. A written model is as exact as a
built-in one: the examples ` + "`izhikevich-2003-custom`" + ` and ` + "`burst-100k-custom`" + ` reach the digests of ` + "`izhikevich-2003`" + ` and ` + "`burst-100k`" + `. In a burst

    refractory is true while silence is left
    update, assignment by assignment
    threshold true and refractory not: fires; reset, assignment by assignment; silence for refractory

Some formulas to begin with, for one burst of dt; ` + "`input`" + ` is what arrived in it, unless ` + "`ports`" + ` says otherwise:

| model | update | reset |
| --- | --- | --- |
| leaky, exact for a constant input | ` + "`v = v + em1*(v - rest) + input`, with `em1: expm1(-dt/tau)` under `constants`" + ` | ` + "`v = low`" + ` |
| exponential current | ` + "`i = keep*i + input`, with `keep: exp(-dt/tau_s)` under `constants`" + ` | |
| adaptive exponential | ` + "`v = v + dt/C*(g*(E - v) + g*slope*exp((v - T)/slope) - w + input)`, `w = w + dt/tau_w*(a*(v - E) - w)`; example `adex`" + ` | ` + "`v = low`, `w = w + b`" + ` |
| gate of a channel | ` + "`n = n + dt*(a_n*(1 - n) - b_n*n)`, with `b_n = 0.125*exp(-(v + 44)/80)`" + ` | |
| adaptive threshold | ` + "`th = th + decay*(th - th0)`, `threshold: v >= th`" + ` | ` + "`th = th + jump`" + ` |
| quadratic, Euler step | ` + "`v = v + dt*(a*(v - rest)*(v - crit) + input)`" + ` | ` + "`v = low`" + ` |
| synapses as conductances | ` + "`v = v + dt/tau*(rest - v + ge*(e_ex - v) + gi*(e_in - v))`, with `ports: [ex, ih]`, `ge = keep*ge + ex` and `gi = keep*gi - ih`" + ` | ` + "`v = low`" + ` |

A state variable that becomes NaN or infinite ends the run with its name and place; one that is worked out to be so before burst 0 is refused when the
network is built.
`

// TestModelFormulas: every formula of the guide is one that a model may have.
func TestModelFormulas(t *testing.T) {
	rows := 0
	for line := range strings.Lines(ownModels) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(line, "`") {
			continue
		}
		rows++
		parts := map[string]string{"threshold": "v > 1", "ports": "[input]"}
		params := []string{"tau", "tau_s", "tau_w", "rest", "low", "C", "g", "E", "slope", "T", "a", "b", "a_n", "th0", "decay", "jump", "crit", "e_ex", "e_in", "keep"}
		state, lines := []string{"v", "i", "n", "th", "w", "ge", "gi"}, [2][]string{}
		constants := ""
		for column, cell := range cells[2:4] {
			for i, piece := range strings.Split(cell, "`") {
				name, text, assigns := strings.Cut(piece, " = ")
				key, value, _ := strings.Cut(piece, ": ")
				switch {
				case i%2 == 0 || !assigns && value == "":
				case assigns && slices.Contains(state, name):
					lines[column] = append(lines[column], `"`+piece+`"`)
				case assigns:
					lines[column] = append([]string{`"` + name + " = " + text + `"`}, lines[column]...)
				case key == "threshold" || key == "ports":
					parts[key] = value
				default:
					constants = ", constants: {" + piece + "}"
					params = slices.DeleteFunc(params, func(p string) bool { return p == key })
				}
			}
		}
		require.NotEmpty(t, lines[0], line)
		text := fmt.Sprintf("burst: v1\nmodels: [{name: m, ports: %s, params: {%s: 1}, state: {%s: 0}, update: [%s], threshold: %s, reset: [%s]%s}]\nareas: [{name: a, neurons: 1, model: m}]\n", parts["ports"],
			strings.Join(params, ": 1, "), strings.Join(state, ": 0, "), strings.Join(lines[0], ", "), parts["threshold"], strings.Join(lines[1], ", "), constants)
		_, err := Parse("row.yaml", []byte(text), nil)
		require.NoError(t, err, text)
	}
	require.Equal(t, 7, rows)
}

// modelTable writes a table of parameters or state variables.
func modelTable(b *strings.Builder, title string, params []Param) {
	if len(params) == 0 {
		return
	}
	b.WriteString("| " + title + " | symbol | default | value | meaning |\n| --- | --- | --- | --- | --- |\n")
	for i := range params {
		p := &params[i]
		symbol, fallback := p.Symbol, p.defaultText()
		if symbol == "" {
			symbol = p.Name
		}
		if p.Needed {
			fallback = "*required*"
		}
		if title != "parameter" {
			fallback = ""
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", p.Name, symbol, fallback, p.Dim, p.Doc)
	}
	b.WriteString("\n")
}
