package genome

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"
)

// compiled is the published schema, ready to validate.
func compiled(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	s, err := compileOnce()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var compileOnce = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(Schema(), s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// asJSON turns YAML's tree into what a JSON document would hold.
func asJSON(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		o := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			o[n.Content[i].Value] = asJSON(n.Content[i+1])
		}
		return o
	case yaml.SequenceNode:
		list := []any{}
		for _, e := range n.Content {
			list = append(list, asJSON(e))
		}
		return list
	}
	switch n.Tag {
	case "!!int", "!!float":
		if x, err := strconv.ParseFloat(n.Value, 64); err == nil && !strings.Contains(strings.ToLower(n.Value), "n") {
			return x
		}
	case "!!bool":
		return n.Value == "true"
	case "!!null":
		return nil
	}
	return n.Value
}

func validate(t *testing.T, s *jsonschema.Resolved, text string) error {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return s.Validate(asJSON(doc.Content[0]))
}

// The schema must take what the parser takes, and refuse the planted mistakes that a schema can know.
func TestSchemaValidates(t *testing.T) {
	s := compiled(t)
	for _, text := range append([]string{base}, sound()...) {
		if err := validate(t, s, text); err != nil {
			t.Errorf("refuses a sound genome: %v\n%s", err, text)
		}
	}
	for _, m := range mistakes() {
		if m.name == "tab" {
			break // faults of syntax are no business of a schema
		}
		text, _ := m.plant(t)
		if err := validate(t, s, text); (err != nil) != m.shape {
			t.Errorf("%s: the schema says %v, want a refusal: %v", m.name, err, m.shape)
		}
	}
}

// place is a mapping of the format: its keys in the schema and a genome with the mapping's content left open.
type place struct {
	title string
	path  []string // in the schema
	text  string   // %s is the content of the mapping
}

func places() []place {
	const area = "burst: v1\nareas:\n- {name: a, neurons: 3}\n"
	return []place{
		{"genome", nil, "%s"},
		{"area", []string{"areas", "items"}, "burst: v1\nareas:\n- {%s}"},
		{"params", []string{"areas", "items", "params"}, "burst: v1\nareas:\n- {name: a, neurons: 3, model: lif, params: {%s}}"},
		{"init", []string{"areas", "items", "init"}, "burst: v1\nareas:\n- {name: a, neurons: 3, model: lif, init: {%s}}"},
		{"model", []string{"models", "items"}, "burst: v1\nmodels:\n- {%s}\nareas:\n- {name: a, neurons: 3}"},
		{"plasticity", []string{"plasticity", "items"}, area + "plasticity:\n- {%s}"},
		{"trace", []string{"plasticity", "items", "pre", "free"}, area + "plasticity: [{name: r, bounds: [0, 1], on_pre: [w = 1], pre: {x: {%s}}}]"},
		{"modulator", []string{"plasticity", "items", "modulators", "free"}, area + "plasticity: [{name: r, bounds: [0, 1], on_pre: [w = 1], modulators: {x: {%s}}}]"},
		{"every", []string{"plasticity", "items", "every"}, area + "plasticity: [{name: r, bounds: [0, 1], every: {%s}}]"},
		{"drive", []string{"areas", "items", "drive", "anyOf"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {%s}}"},
		{"poisson", []string{"areas", "items", "drive", "anyOf", "poisson"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {poisson: {%s}}}"},
		{"factor", []string{"areas", "items", "drive", "anyOf", "factor"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {constant: 1, factor: {%s}}}"},
		{"steps", []string{"areas", "items", "drive", "anyOf", "factor", "steps"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {constant: 1, factor: {steps: {%s}}}}"},
		{"ramp", []string{"areas", "items", "drive", "anyOf", "factor", "ramp"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {constant: 1, factor: {ramp: {%s}}}}"},
		{"sine", []string{"areas", "items", "drive", "anyOf", "factor", "sine"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {constant: 1, factor: {sine: {%s}}}}"},
		{"pulse", []string{"areas", "items", "factor", "pulse"}, "burst: v1\nareas:\n- {name: a, neurons: 3, model: poisson, params: {rate: 1 Hz}, factor: {pulse: {%s}}}"},
		{"file", []string{"areas", "items", "drive", "anyOf", "factor", "file"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {constant: 1, factor: {file: {%s}}}}"},
		{"normal", []string{"areas", "items", "drive", "anyOf", "normal"}, "burst: v1\nareas:\n- {name: a, neurons: 3, drive: {normal: {%s}}}"},
		{"spikes", []string{"areas", "items", "spikes", "items"}, "burst: v1\nareas:\n- {name: a, neurons: 3, model: spike_list, spikes: [{%s}]}"},
		{"projection", []string{"projections", "anyOf", "items", "anyOf"}, area + "projections:\n- {%s}"},
		{"mapper", []string{"projections", "anyOf", "items", "anyOf", "mapper"}, area + "projections:\n- {from: a, to: a, rule: composite, mapper: {%s}}"},
		{"stimulus", []string{"stimuli", "items"}, area + "stimuli:\n- {%s}"},
		{"table", []string{"projections", "or"}, area + "projections: {%s}"},
		{"record", []string{"record"}, area + "record: {%s}"},
		{"potentials", []string{"record", "potentials", "items"}, area + "record: {potentials: [{%s}]}"},
		{"variables", []string{"record", "variables", "items"}, area + "record: {variables: [{%s}]}"},
		{"weights", []string{"record", "weights"}, area + "record: {weights: {%s}}"},
		{"synapses", []string{"record", "weights", "synapses", "items"}, area + "record: {weights: {synapses: [{%s}]}}"},
	}
}

// properties follows a path through the schema to a mapping's keys.
func properties(t *testing.T, path []string) map[string]any {
	t.Helper()
	var at map[string]any
	if err := json.Unmarshal(Schema(), &at); err != nil {
		t.Fatal(err)
	}
	for _, step := range path {
		switch step {
		case "items":
			at = at["items"].(map[string]any)
		case "anyOf":
			at = at["anyOf"].([]any)[0].(map[string]any)
		case "or":
			at = at["anyOf"].([]any)[1].(map[string]any)
		case "free":
			at = at["additionalProperties"].(map[string]any)
		default:
			at = at["properties"].(map[string]any)[step].(map[string]any)
		}
	}
	return at["properties"].(map[string]any)
}

// Every key in the schema must be read by the parser, in every mapping: a value that no key takes must be at fault
// there, and not as an unknown key. A key that is not in the schema must be unknown.
func TestSchemaKeys(t *testing.T) {
	total := 0
	for _, p := range places() {
		t.Run(p.title, func(t *testing.T) {
			keys := properties(t, p.path)
			total += len(keys)
			for k := range keys {
				if !faulty(t, p, k, "[{zzz: 1}]", false) && !faulty(t, p, k, "zzz: zzz", false) {
					t.Errorf("the parser does not read %s", k)
				}
			}
			if !faulty(t, p, "zzz", "1", true) {
				t.Error("the parser takes a key zzz that the schema does not have")
			}
		})
	}
	// Keys of rules are in docs/genome.md already.
	if total -= len(ruleKeys(Rules())) + len(ruleKeys(Mappers())); total != 245 {
		t.Errorf("%d keys in the schema beside those of rules, want 245: a change of the format belongs into docs/genome.md and CHANGELOG.md", total)
	}
}

// faulty says whether the parser finds key's value at fault, as an unknown key when that is asked.
func faulty(t *testing.T, p place, key, value string, unknown bool) bool {
	t.Helper()
	text := fmt.Sprintf(p.text, key+": "+value)
	extras := []string{"", ", from: a, to: a", ", area: a, at: 1", ", model: lif", ", name: b, neurons: 2"}
	for _, r := range Rules() {
		extras = append(extras, ", rule: "+r.String())
	}
	for _, extra := range extras {
		for _, m := range slices.Concat(Models(), Written()) {
			full := text
			if at := strings.LastIndex(text, key+": "+value); extra != "" && p.path != nil {
				full = text[:at] + key + ": " + value + extra + text[at+len(key+": "+value):]
			}
			_, err := Parse("keys.yaml", []byte(strings.ReplaceAll(full, "model: lif", "model: "+m.Name)), nil)
			var faults Faults
			errors.As(err, &faults)
			for _, f := range faults {
				at := strings.LastIndex(f.Key, key)
				own := at >= 0 && (at == 0 || f.Key[at-1] == '.')
				if own && strings.HasPrefix(f.Message, "unknown key") == unknown && !strings.Contains(f.Message, "does not have") {
					return true
				}
			}
		}
	}
	return false
}
