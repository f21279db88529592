package main

import (
	"encoding/json"
	"reflect"
	"slices"

	"burst/backend/cuda/doctor"
	"burst/bench"
	"burst/internal/jsontype"
	"burst/record/manifest"
	"burst/record/stats"
)

// outputs names what each command prints with --json; the JSON Schemas are made from these types.
func outputs() map[string]any {
	return map[string]any{
		"bench": []bench.Result{}, "bench-start": []startResult{}, "checkpoint-inspect": checkpointFacts{}, "checkpoint-verify": []proved{}, "devices": devices{}, "diff": comparison{}, "doctor": doctor.Report{}, "examples": []example{}, "examples-write": writtenExample{}, "export": written{}, "export-connectome": exported{}, "init": written{}, "inspect": inspection{},
		"plot": plotted{}, "replay": result{}, "report": reported{}, "resume": result{}, "resume-complete": manifest.Manifest{}, "run": result{}, "run-sweep": sweepResult{},
		"stats": statistics{Summary: &stats.Summary{}}, "validate": []verdict{}, "verify": verification{}, "version": buildInfo{},
	}
}

// outputNames lists the outputs in order.
func outputNames() []string {
	var names []string
	for name := range outputs() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// outputSchema is the JSON Schema of what a command prints.
func outputSchema(name string) ([]byte, error) {
	v, ok := outputs()[name]
	if !ok {
		return nil, checkChoice("no output", name, outputNames())
	}
	s := jsontype.Schema(reflect.TypeOf(v), map[reflect.Type]map[string]any{
		reflect.TypeFor[stats.Value](): {"type": []string{"number", "null"}},
	})
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "burst " + name + " --json"
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
