package genome

import (
	"encoding/json"
	"math"
	"strings"

	"burst/internal/formula"
	"burst/internal/quanta"
)

// Schema is the JSON Schema (draft 2020-12) of the genome format, made from the tables that Parse itself uses. It tells
// an editor which keys stand where and what their values look like; what relates one value to another (names of areas,
// whole bursts, quanta) only Parse checks.
func Schema() []byte {
	top := mapSchema(topKeys())
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "burst genome, format version 1"
	top["if"], top["then"] = object{"not": object{"required": []string{"models"}}}, builtInOnly()
	text, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		panic("BUG: schema: " + err.Error())
	}
	return append(text, '\n')
}

// builtInOnly is what holds for areas where the genome defines no models: no further models, parameters and variables.
func builtInOnly() object {
	properties := object{}
	for _, k := range areaKeys() {
		switch {
		case k.Form == formModel:
			properties[k.Name] = object{"enum": k.Choices}
		case k.Free != nil && k.Keys != nil:
			properties[k.Name] = mapSchema(k.Keys)
		}
	}
	return object{"properties": object{"areas": object{"items": object{"properties": properties}}}}
}

type object = map[string]any

// mapSchema describes a mapping of keys.
func mapSchema(keys []key) object {
	properties := object{}
	var required, unless []string
	for i := range keys {
		s := keys[i].schema()
		if free := keys[i].Free; free != nil {
			s["additionalProperties"] = free.schema()
			keys[i].loosen(s["properties"].(object))
		}
		s["description"] = keys[i].description()
		properties[keys[i].Name] = s
		switch {
		case keys[i].Unless != "":
			unless = append(unless, keys[i].Name)
		case keys[i].Required:
			required = append(required, keys[i].Name)
		}
	}
	o := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		o["required"] = required
	}
	if unless != nil {
		rule := object{"properties": object{"rule": object{"const": Edges.String()}}, "required": []string{"rule"}}
		o["if"], o["then"], o["else"] = rule, object{"required": []string{"file"}}, object{"required": unless}
	}
	return o
}

// loosen lets parameters and variables of built-in models be what a genome's own model of the same name for them takes, too.
func (k *key) loosen(properties object) {
	if k.Free.Form == formMap {
		return
	}
	for i := range k.Keys {
		s := properties[k.Keys[i].Name].(object)
		properties[k.Keys[i].Name] = object{"anyOf": []object{s, k.Free.schema()}, "description": s["description"]}
	}
}

// description is the key's text with its default and what it belongs to.
func (k *key) description() string {
	text := k.Doc
	if k.Default != "" {
		text += " (default " + k.Default + ")"
	}
	if k.Of != nil {
		text += "; " + strings.Join(k.Of, ", ")
	}
	return text
}

// schema describes the value of one key.
func (k *key) schema() object {
	switch k.Form {
	case formVersion:
		return object{"const": "v1"}
	case formName:
		return object{"type": "string", "pattern": "^[A-Za-z0-9_]([A-Za-z0-9_. -]*[A-Za-z0-9_.-])?$", "maxLength": maxName}
	case formAlias:
		return object{"type": "string", "pattern": "^[A-Za-z0-9_.+/=-]+$", "maxLength": maxName}
	case formWhole:
		return wholeSchema(k.Low, k.High)
	case formNeuron:
		return object{"anyOf": []object{wholeSchema(k.Low, k.High), {"type": "string", "pattern": `^[0-9]+\.\.[0-9]+$`}}}
	case formOffset:
		return object{"type": "integer", "minimum": -maxOffset, "maximum": maxOffset}
	case formNumber:
		if k.Column {
			return object{"anyOf": []object{k.numberSchema(k.Dims[0]), {"type": "string", "pattern": `^\s*` + columnPattern + `\s*$`}}}
		}
		return k.numberSchema(k.Dims[0])
	case formParam:
		ways := []object{{"type": "string", "pattern": distributionPattern(k.Dims)}}
		for _, d := range k.Dims {
			ways = append(ways, k.numberSchema(d), object{"type": "string", "pattern": tiedPattern(d)})
		}
		return object{"anyOf": ways}
	case formBursts:
		ways := []object{wholeSchema(k.Low, k.High), quantitySchema(Time)}
		if k.Column {
			ways = append(ways, object{"type": "string", "pattern": distributionPattern(k.Dims)}, object{"type": "string", "pattern": tiedPattern(k.Dims[0])})
		}
		return object{"anyOf": ways}
	case formFlag:
		return object{"type": "boolean"}
	case formChoice:
		return object{"enum": k.Choices}
	case formScale:
		return object{"anyOf": []object{wholeSchema(k.Low, k.High), {"const": "auto"}}}
	case formValue, formAmount:
		return k.amountSchema()
	case formRuleValue:
		ways := k.amountSchema()["anyOf"].([]object)
		if k.Dims[0] == Bursts {
			ways[0] = wholeSchema(k.Low, k.High)
		}
		return object{"anyOf": append(ways, object{"type": "string", "pattern": namePattern})}
	case formLearning:
		o := mapSchema(k.Keys)
		o["additionalProperties"] = object{"type": []string{"string", "number"}}
		return object{"anyOf": []object{{"type": "string", "minLength": 1}, o}}
	case formColumn:
		return object{"type": "string", "pattern": `^\s*` + columnPattern + `\s*$`}
	case formKernel:
		return object{"anyOf": []object{k.numberSchema(Plain), {"type": "string", "pattern": placePattern}}}
	case formArea, formTarget:
		name := object{"type": "string", "minLength": 1}
		ways := []object{name}
		if k.Form == formTarget {
			ways = append(ways, mapSchema(k.Keys))
		}
		if k.Several {
			ways = append(ways, object{"type": "array", "items": name, "minItems": 1})
		}
		if len(ways) == 1 {
			return name
		}
		return object{"anyOf": ways}
	case formPorts:
		return object{"anyOf": []object{
			{"type": "array", "items": k.Item.schema(), "minItems": 1, "maxItems": formula.MaxInputs},
			{"type": "object", "additionalProperties": object{"enum": k.Choices}, "minProperties": 1, "maxProperties": formula.MaxInputs},
		}}
	case formModel:
		return object{"anyOf": []object{{"enum": k.Choices}, {"type": "string", "minLength": 1}}}
	case formExpression, formStart:
		return object{"type": []string{"string", "number"}}
	case formFile:
		return object{"type": "string", "minLength": 1, "not": object{"pattern": `^/|(^|/)\.\.(/|$)`}}
	case formElement:
		return object{"anyOf": []object{wholeSchema(0, maxOffset), {"enum": []string{"*", "?", "!"}}}}
	case formList:
		return k.listSchema()
	case formOneOrMany:
		one := mapSchema(k.Keys)
		return object{"anyOf": []object{one, {"type": "array", "items": one}}}
	}
	return mapSchema(k.Keys)
}

func wholeSchema(low, high uint64) object {
	return object{"type": "integer", "minimum": low, "maximum": high}
}

// numberSchema is a bare number, or a text with a unit.
func (k *key) numberSchema(dim Dimension) object {
	if dim != Plain {
		return quantitySchema(dim)
	}
	o := object{"type": "number", "minimum": max(k.Min, -math.MaxFloat32), "maximum": min(k.Max, math.MaxFloat32)}
	if k.MinOpen {
		o["exclusiveMinimum"] = k.Min
		delete(o, "minimum")
	}
	return o
}

// placePattern is a formula of pairs.
const placePattern = `\b(d[xyz]?|(source|target)_[A-Za-z0-9_]+)\b`

const namePattern = `^[A-Za-z_][A-Za-z0-9_]*$`

const decimal = `[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?`

// quantitySchema is a number with one of the dimension's units.
func quantitySchema(dim Dimension) object {
	return object{"type": "string", "pattern": "^" + quantityPattern(dim) + "$"}
}

func quantityPattern(dim Dimension) string {
	var names []string
	for _, u := range units() {
		if u.dim == dim {
			names = append(names, u.name)
		}
	}
	return decimal + " *(" + strings.Join(names, "|") + ")"
}

// amountSchema is a number of any of the key's dimensions, for formValue a distribution too.
func (k *key) amountSchema() object {
	var ways []object
	for _, d := range k.Dims {
		switch d {
		case Plain:
			ways = append(ways, object{"type": "number", "minimum": -math.MaxFloat32, "maximum": math.MaxFloat32})
		case Bursts:
			ways = append(ways, wholeSchema(1, quanta.MaxDelay), quantitySchema(Time))
		default:
			ways = append(ways, quantitySchema(d))
		}
	}
	if k.Form == formValue {
		ways = append(ways, object{"type": "string", "pattern": distributionPattern(k.Dims)}, object{"type": "string", "pattern": placePattern})
	}
	if k.Column {
		ways = append(ways, object{"type": "string", "pattern": `^\s*` + columnPattern + `\s*$`})
	}
	return object{"anyOf": ways}
}

// columnPattern is column(FILE, NAME), perhaps with a unit.
const columnPattern = `column\s*\(.+,.+\)`

// distributionPattern is what parseValue takes, units of any one dimension for each number.
func distributionPattern(dims []Dimension) string {
	var ways []string
	for _, d := range dims {
		switch d {
		case Plain:
			ways = append(ways, decimal)
		case Bursts:
			ways = append(ways, decimal, quantityPattern(Time))
		default:
			ways = append(ways, quantityPattern(d))
		}
	}
	x := `\s*(0|` + strings.Join(ways, "|") + `)\s*`
	dist := `\s*(uniform|normal|lognormal)\s*\(` + x + `,` + x + `\)\s*`
	return `^(` + dist + `([<>]=?` + x + `){0,2}|\s*clip\s*\(` + dist + `,` + x + `,` + x + `\)\s*)$`
}

// tiedPattern is lin(a, b, u), sq(a, b, u) or column(FILE, NAME).
func tiedPattern(dim Dimension) string {
	x := decimal
	if dim != Plain {
		x = `(0|` + quantityPattern(dim) + `)`
	}
	return `^\s*((lin|sq)\s*\(\s*` + x + `\s*,\s*` + x + `\s*,\s*[A-Za-z_]+\s*\)|` + columnPattern + `)\s*$`
}

func (k *key) listSchema() object {
	item := k.Item.schema()
	if k.Or != nil {
		item = object{"anyOf": []object{item, mapSchema(k.Or)}}
	}
	o := object{"type": "array", "items": item}
	switch {
	case k.Len > 0:
		o["minItems"], o["maxItems"] = k.Len, k.Len
	case !k.Empty:
		o["minItems"] = 1
	}
	if k.Or != nil {
		return object{"anyOf": []object{o, mapSchema(k.Or)}}
	}
	if k.All {
		return object{"anyOf": []object{o, {"const": "all"}}}
	}
	return o
}
