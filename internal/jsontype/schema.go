// Package jsontype describes how encoding/json writes a type, as a JSON Schema.
package jsontype

import (
	"maps"
	"reflect"
	"strings"
	"time"
)

// Schema describes how encoding/json writes a type. Fields may be added in later versions, so others are allowed. Types with a method
// of their own for that are described by special.
func Schema(t reflect.Type, special map[reflect.Type]map[string]any) map[string]any {
	if s, known := special[t]; known {
		return maps.Clone(s)
	}
	if t == reflect.TypeFor[time.Time]() {
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
		return map[string]any{"type": "array", "items": Schema(t.Elem(), special)}
	case reflect.Array:
		return map[string]any{"type": "array", "items": Schema(t.Elem(), special), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": Schema(t.Elem(), special)}
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{Schema(t.Elem(), special), map[string]any{"type": "null"}}}
	case reflect.Struct:
		fields, required := map[string]any{}, []string{}
		structFields(t, special, fields, &required)
		return map[string]any{"type": "object", "properties": fields, "required": required}
	}
	panic("BUG: no JSON Schema for " + t.String())
}

// structFields adds the fields of a struct, those of embedded ones too.
func structFields(t reflect.Type, special map[reflect.Type]map[string]any, fields map[string]any, required *[]string) {
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
			structFields(embedded, special, fields, required)
			continue
		case name == "":
			name = f.Name
		}
		fields[name] = Schema(f.Type, special)
		if options != "omitempty" && options != "omitzero" {
			*required = append(*required, name)
		}
	}
}
