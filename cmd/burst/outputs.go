package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"burst/backend/cuda/doctor"
	"burst/bench"
	"burst/record"
	"burst/record/stats"
)

// outputs names what each command prints with --json; the JSON Schemas are made from these types.
func outputs() map[string]any {
	return map[string]any{
		"bench": []bench.Result{}, "checkpoint-inspect": checkpointFacts{}, "checkpoint-verify": []proved{}, "devices": devices{}, "diff": comparison{}, "doctor": doctor.Report{}, "examples": []example{}, "examples-write": writtenExample{}, "export": written{}, "export-connectome": exported{}, "init": written{}, "inspect": inspection{},
		"plot": plotted{}, "replay": result{}, "report": reported{}, "resume": result{}, "resume-complete": record.Manifest{}, "run": result{}, "run-seeds": sweepResult{},
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
	s := schemaOf(reflect.TypeOf(v))
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "burst " + name + " --json"
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// schemaOf describes how encoding/json writes a type. Fields may be added in later versions, so others are allowed.
func schemaOf(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[stats.Value]():
		return map[string]any{"type": []string{"number", "null"}}
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Array:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{schemaOf(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Struct:
		fields, required := map[string]any{}, []string{}
		structFields(t, fields, &required)
		return map[string]any{"type": "object", "properties": fields, "required": required}
	}
	panic("BUG: no JSON Schema for " + t.String())
}

// structFields adds the fields of a struct, those of embedded ones too.
func structFields(t reflect.Type, fields map[string]any, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, said := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case f.Anonymous && !said:
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			structFields(embedded, fields, required)
			continue
		case name == "":
			name = f.Name
		}
		fields[name] = schemaOf(f.Type)
		if options != "omitempty" {
			*required = append(*required, name)
		}
	}
}
