package genome

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"
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
		"Parameters are converted once, in float64, into the constants that a burst uses; the state is float32.\n")
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

Some formulas to begin with, for one burst of dt:

| model | update | reset |
| --- | --- | --- |
| leaky, exact for a constant input | ` + "`v = v + expm1(-dt/tau)*(v - rest) + in`, the factor under `constants`" + ` | ` + "`v = low`" + ` |
| exponential current | ` + "`i = exp(-dt/tau_s)*i + in`, the factor under `constants`" + ` | |
| adaptive exponential | ` + "`v = v + dt/C*(g*(E - v) + g*slope*exp((v - T)/slope) - w + in)`, `w = w + dt/tau_w*(a*(v - E) - w)`; example `adex`" + ` | ` + "`v = low`, `w = w + b`" + ` |
| gate of a channel | ` + "`n = n + dt*(a_n*(1 - n) - b_n*n)`, with `b_n = 0.125*exp(-(v + 44)/80)`" + ` | |
| adaptive threshold | ` + "`th = th + decay*(th - th0)`, `threshold: v >= th`" + ` | ` + "`th = th + jump`" + ` |
| quadratic, Euler step | ` + "`v = v + dt*(a*(v - rest)*(v - crit) + in)`" + ` | ` + "`v = low`" + ` |
| synapses as conductances | ` + "`v = v + dt/tau*(rest - v + ge*(e_ex - v) + gi*(e_in - v))`, with `ports: [ex, ih]` and `gi = keep*gi - ih`" + ` | ` + "`v = low`" + ` |

A state variable that becomes NaN or infinite ends the run with its name and place; one that is worked out to be so before burst 0 is refused when the
network is built.
`

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
