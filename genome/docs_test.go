package genome

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const guide, learningGuide, learningRules = "../docs/genome.md", "../docs/plasticity.md", "../docs/plasticity-rules.md"

// The marks between which the guides hold the table of rules, those of keys and the rules of plasticity.
var marks = []struct {
	file       string
	begin, end string
	made       func() string
}{
	{guide, "<!-- rules: begin -->\n", "<!-- rules: end -->\n", ruleReference},
	{guide, "<!-- keys: begin -->\n", "<!-- keys: end -->\n", reference},
	{learningRules, "<!-- rules: begin -->\n", "<!-- rules: end -->\n", plasticityReference},
}

var update = flag.Bool("update", false, "write the tables of keys into docs/genome.md")

// The tables of the guide must be those of the parser.
func TestGuideTables(t *testing.T) {
	for _, m := range marks {
		text, err := os.ReadFile(m.file)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(text), m.begin)
		table, after, ok2 := strings.Cut(rest, m.end)
		if !ok || !ok2 {
			t.Fatal("the guide lacks the marks of its tables")
		}
		want := "\n" + m.made()
		if *update {
			write(t, m.file, []byte(before+m.begin+want+m.end+after))
		} else if table != want {
			t.Error("the tables are out of step: run go test ./genome -run GuideTables -update")
		}
	}
}

// Every YAML block of the guides must be a genome, or with areas to stand on become one.
func TestGuideExamples(t *testing.T) {
	var text []byte
	for _, file := range []string{guide, learningGuide, learningRules} {
		more, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
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

// square opens any file as a picture of 16 by 16 pixels, but v1.csv as a table of 400 neurons.
func square(name string) (io.ReadCloser, error) {
	if name == "v1.csv" {
		return holding("theta,axon\n" + strings.Repeat("0.5,300\n", 400))(name)
	}
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
	b.WriteString(introduction)
	for i, m := range slices.Concat(Models(), Written()) {
		if i == len(Models()) {
			b.WriteString(byName)
		}
		fmt.Fprintf(&b, "\n## `%s`\n\n%s\n", m.Name, wrap(strings.ToUpper(m.Doc[:1])+m.Doc[1:]+".", ""))
		for _, e := range m.Equations {
			b.WriteString("    " + e + "\n")
		}
		b.WriteString("\n")
		if len(m.Aliases) > 0 {
			fmt.Fprintf(&b, "Also called `%s`, as in NEST.\n\n", strings.Join(m.Aliases, "`, `"))
		}
		if len(m.Ports) > 0 {
			fmt.Fprintf(&b, "Weights and amounts: %s.", portUnits(m))
			if len(m.Ports) == 2 {
				fmt.Fprintf(&b, " Ports: `%s` for those ≥ 0 and `%s` for those < 0, unless the genome names one.", m.Ports[0].Name, m.Ports[1].Name)
			}
			b.WriteString("\n\n")
		}
		paramTable(&b, m.Params)
		stateTable(&b, m.State)
		if picture := "pictures/model-" + m.Name + ".svg"; exists("../docs/" + picture) {
			fmt.Fprintf(&b, "![f-I curve, with NEST's points, and what a spike does to V](%s)\n\n", picture)
		}
		if m.Precision != "" {
			b.WriteString(wrap("Precision: "+m.Precision, "") + "\n")
		}
		if m.Longest > 0 {
			fmt.Fprintf(&b, "Compared with NEST up to a timestep of %v ms; `burst validate` and `burst run` warn of a longer one.\n\n", m.Longest)
		}
		if m.Source != "" {
			b.WriteString(wrap("Source: "+m.Source+".", ""))
		}
	}
	b.WriteString(ownModels)
	return b.String()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// portUnits says in what the amounts of a model's ports are.
func portUnits(m *Model) string {
	if m.BySign() {
		return m.Ports[0].Unit.String()
	}
	var list []string
	for _, port := range m.Ports {
		list = append(list, port.Unit.String()+" for port `"+port.Name+"`")
	}
	return strings.Join(list, ", ")
}

// byName is the chapter before the models that are written as formulas; § stands for a backquote.
var byName = strings.ReplaceAll(`
## Models that are written as formulas

The models from here on are formulas, in [neurons.yaml](../genome/neurons.yaml): a model under §models§ may be copied
from there and changed. A genome's own model of the same name takes its place in that genome. NEST's names for these
models stand for them, too. A constant current is the parameter §I_e§; §current§ is a port for currents that change.
Amounts for §ex§ and §in§ in nS are conductances, and both ≥ 0. Bursts of 0.1 ms are meant, as in NEST; what follows is
compared at that step.

§lif_psc_delta§, §lif_psc_alpha§, §mat2_psc_exp§, §gif§ and the §glif§ models are exact for a current that is constant
during a burst. The others approximate: conductances decay exactly, and V and w take one step of the classical
Runge-Kutta method; §hh_cond_exp§ says its own. At the currents of
[nest_models.json](../bench/science/testdata/nest_models.json) all rates are within 0.4 % of NEST
3.10's, and the peaks of post-synaptic potentials within 1e-4 of them, relatively.
§go test ./bench/science -run AgainstNEST -v§ prints them; the script beside the table made it. Pictures show our f-I
curve with NEST's points as circles, and what spikes of the two named amounts do to V: the first of a neuron's ports
gets the first one, the second port the second one. §make pictures§ draws them. §gif§ draws random numbers and has the
parameters of Mensi et al. there; its rates are means of 200 neurons here and of 8,000 in NEST. The built-in models
§lif§, §lif_psc_exp§ and §izhikevich§ are compared and drawn likewise.

§python python/bench/peers/models.py bin/burst§ compares 18 models with NEST 3.10 over other parameters, drawn at
random, and bursts of 0.05, 0.1 and 0.2 ms: 24 f-I points, 24 single spikes and 18 trains of excitation and inhibition
for each model and timestep. This is what differs:

- **Rates.** Models without conductances and without an upstroke of their own are within 0.4 % of NEST; most fire
  spike for spike as there, and the §lif_cond§ models all do. §izhikevich§ is within 0.5 % (with §--seed 2§ 0.8 %),
  §hh_cond_exp§ within 0.31 % up to 0.1 ms and within 0.85 % at 0.2 ms. The §adex§ models are within 0.2 % up to 500
  Hz and 0.1 ms (with §--seed 2§ 1.1 %), and within 0.6 % above 500 Hz. At 0.2 ms they are up to 8 % lower, by one
  step in intervals of 12, and up to 21 % above 500 Hz without a refractory time: take 0.1 ms or less.
- **Peaks** of 0.5 mV and more are within 1.2e-3 of NEST's. Smaller ones are apart by up to 0.006 mV: V is a float32
  that cannot follow changes below 4e-6 mV a burst. It stands still up to 8e-6 mV·tau/timestep from where it is going.
- **Strong conductances.** With x the sum of all conductances times timestep/C, a step of the Runge-Kutta method errs
  by 4e-4 at x = 0.5, by 2 % at x = 1, and is unstable above 2.7: then take a shorter timestep.
- **Words.** NEST sets V of §gif_psc_exp§ to its reset a burst after the spike, and never with a §t_ref§ of 0.
  §mat2_psc_exp§ refuses a §tau_syn§ that is §tau_m§. The gates of §hh_cond_exp_traub§ start from those of
  §V_T§ − 60 mV whatever §E_L§ is, ours from those of §rest§.

§go test ./bench/science -run AdaptiveAgainstNEST -v§ holds some of the §adex§ rates to 0.5 %, above 500 Hz to 1 %.
`, "§", "`")

// introduction is the head of the guide.
const introduction = `# Neuron models

This page has the equations and parameters of each neuron model. Parameters are converted once, in float64, into the
constants that a burst uses; the state is float32. [engine/doc.go](../engine/doc.go) has the law of a burst: every step,
and the order of every rounding. [bits.md](bits.md) has the rest that determines every bit: random numbers, tables of
drives, exp and log, hashes.
`

// ownModels is the chapter on models that genomes define; § stands for a backquote.
var ownModels = strings.ReplaceAll(`
## Models of your own

A genome may define models by formulas, under §models§; [genome.md](genome.md#models-of-your-own) says how. Such a model
is as exact as a built-in one: the examples §izhikevich-2003-custom§ and §burst-100k-custom§ reach the digests of
§izhikevich-2003§ and §burst-100k§. In each burst:

    refractory is true while bursts of silence are left
    update: its assignments, one after the other
    threshold true and refractory false: fires; reset: its assignments; silence for refractory

Brian2 tests the threshold before the spikes of a step arrive, and resets after that. A delay of 0 there is one burst
here. Where a model has a synaptic current, the same order is §v = v + dt/tau*(i + input - v)§, then
§i = keep*(i + input)§, with §keep: 1 - dt/tau_s§ under §constants§ for its method §euler§. What arrives in the step of
a spike is lost where the reset sets that variable.

Formulas to begin with, for one burst of length dt. §input§ is what arrived in the burst, unless §ports§
names other inputs.

- **leaky, exact for a constant input**: §v = v + em1*(v - rest) + input§, with §em1: expm1(-dt/tau)§ under §constants§;
  reset §v = low§.
- **exponential current**: §i = keep*i + input§, with §keep: exp(-dt/tau_s)§ under §constants§.
- **adaptive exponential**: §v = v + dt/C*(g*(E - v) + g*slope*exp((v - T)/slope) - w + input)§,
  §w = w + dt/tau_w*(a*(v - E) - w)§; reset §v = low§, §w = w + b§. Example §adex§ is one.
- **escape rate**: §lambda = rate*exp((v - T)/slope)§,
  §threshold: random() < 1 - exp(-dt*lambda)§; reset §v = low§. The neuron fires at §rate§ per ms where v is T.
- **white noise**: §v = v + em1*(v - rest) + noise*normal()§, with
  §noise: sigma*sqrt(-expm1(-2*dt/tau))§ under §constants§, sigma being the
  standard deviation of the free potential; reset §v = low§.
- **gate of a channel**: §n = n + dt*(a_n*(1 - n) - b_n*n)§, with §b_n = 0.125*exp(-(v + 44)/80)§.
- **adaptive threshold**: §th = th + decay*(th - th0)§, §threshold: v >= th§; reset §th = th + jump§.
- **quadratic, Euler step**: §v = v + dt*(a*(v - rest)*(v - crit) + input)§; reset §v = low§.
- **synapses as conductances**: §v = v + dt/tau*(rest - v + ge*(e_ex - v) + gi*(e_in - v))§, with §ports: [ex, ih]§,
  §ge = keep*ge + ex§ and §gi = keep*gi - ih§; reset §v = low§.

A state variable that becomes NaN or infinite ends the run; the error names it, its neuron and the burst. If an initial
value is NaN or infinite, the network is not built.
`, "§", "`")

// wrap breaks text into lines of at most 118 characters, each after the first with the given indent. It breaks no code span.
func wrap(text, indent string) string {
	words := regexp.MustCompile("(`[^`]*`|[^` ])+").FindAllString(text, -1)
	out, length := words[0], utf8.RuneCountInString(words[0])
	for _, w := range words[1:] {
		n := utf8.RuneCountInString(w)
		if length+1+n > 118 {
			out, length = out+"\n"+indent, utf8.RuneCountInString(indent)
		} else {
			out, length = out+" ", length+1
		}
		out, length = out+w, length+n
	}
	return out + "\n"
}

// TestModelFormulas: every formula of the guide is one that a model may have.
func TestModelFormulas(t *testing.T) {
	_, list, _ := strings.Cut(ownModels, "\n- **")
	list, _, _ = strings.Cut(list, "\n\n")
	items := strings.Split(list, "\n- **")
	require.Len(t, items, 9)
	for _, item := range items {
		_, line, _ := strings.Cut(strings.Join(strings.Fields(item), " "), "**: ")
		update, reset, _ := strings.Cut(line, "; reset ")
		reset, _, _ = strings.Cut(reset, ". ")
		parts := map[string]string{"threshold": "v > 1", "ports": "[input]"}
		params := []string{"tau", "tau_s", "tau_w", "rest", "low", "C", "g", "E", "slope", "T", "a", "b", "a_n", "th0", "decay", "jump", "crit", "e_ex", "e_in", "em1", "keep", "rate", "sigma"}
		state, lines := []string{"v", "i", "n", "th", "w", "ge", "gi"}, [2][]string{}
		constants := ""
		for column, cell := range []string{update, reset} {
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
}

// stateTable writes a table of state variables.
func stateTable(b *strings.Builder, state []Variable) {
	if len(state) == 0 {
		return
	}
	b.WriteString("| state variable | symbol | default | value | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, v := range state {
		fmt.Fprintf(b, "| `%s` | %s |  | %s | %s |\n", v.Name, v.Name, v.Dim, v.Doc)
	}
	b.WriteString("\n")
}

// paramTable writes a table of parameters.
func paramTable(b *strings.Builder, params []Param) {
	if len(params) == 0 {
		return
	}
	b.WriteString("| parameter | symbol | default | value | meaning |\n| --- | --- | --- | --- | --- |\n")
	for i := range params {
		p := &params[i]
		symbol, fallback := p.Symbol, p.defaultText()
		if symbol == "" {
			symbol = p.Name
		}
		if p.Needed {
			fallback = "*required*"
		}
		value := p.Dim.String()
		if p.Choices != nil {
			value = strings.Join(p.Choices, " or ")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", p.Name, symbol, fallback, value, p.Doc)
	}
	b.WriteString("\n")
}
