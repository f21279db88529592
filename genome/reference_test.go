package genome

import (
	"strconv"
	"strings"
)

// reference is the table of all keys in Markdown, as docs/genome.md holds it.
func reference() string {
	var b strings.Builder
	table := func(title string, keys []key) {
		b.WriteString("### " + title + "\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n")
		for i := range keys {
			k := &keys[i]
			doc := k.Doc
			if k.Of != nil {
				doc += " *(" + strings.Join(k.Of, ", ") + ")*"
			}
			fallback := k.Default
			switch {
			case k.Unless != "":
				fallback = "*required*, but for `" + k.Unless + "`"
			case k.Required:
				fallback = "*required*"
			}
			b.WriteString("| `" + k.Name + "` | " + k.words() + " | " + fallback + " | " + strings.ReplaceAll(doc, "|", "\\|") + " |\n")
		}
		b.WriteString("\n")
	}
	table("The genome", topKeys())
	for _, s := range sections() {
		table(s.title, s.keys)
	}
	return b.String()
}

// section is one mapping of the format with its place.
type section struct {
	title string
	keys  []key
}

// sections lists the mappings below the top one.
func sections() []section {
	return []section{
		{"An area (`areas[]`)", areaKeys()},
		{"Parameters of an area (`areas[].params`)", areaKeys()[index(areaKeys(), "params")].Keys},
		{"Initial values (`areas[].init`)", areaKeys()[index(areaKeys(), "init")].Keys},
		{"A model (`models[]`)", modelKeys()},
		{"A drive (`areas[].drive` or `areas[].drive[]`)", driveKeys()},
		{"Poisson events (`drive.poisson`)", driveKeys()[index(driveKeys(), "poisson")].Keys},
		{"Normal numbers (`drive.normal`)", driveKeys()[index(driveKeys(), "normal")].Keys},
		{"Spikes of a source (`areas[].spikes[]`)", areaKeys()[index(areaKeys(), "spikes")].Item.Keys},
		{"A projection (`projections[]`)", projectionKeys()},
		{"A mapper (`projections[].mapper`)", projectionKeys()[index(projectionKeys(), "mapper")].Keys},
		{"A stimulus (`stimuli[]`)", stimulusKeys()},
		{"What to record (`record`)", recordKeys()},
		{"Potentials (`record.potentials[]`)", recordKeys()[index(recordKeys(), "potentials")].Item.Keys},
	}
}

// words says in a few words what value a key takes.
func (k *key) words() string {
	switch k.Form {
	case formVersion:
		return "`v1`"
	case formName:
		return "name"
	case formAlias:
		return "name, also with `+`, `/` and `=`"
	case formWhole:
		return "whole number " + reach(k.Low, k.High)
	case formOffset:
		return "whole number"
	case formNumber:
		return k.Dims[0].String() + " " + k.span()
	case formParam:
		return k.Dims[0].String() + " " + k.span() + ", or one a neuron"
	case formBursts:
		return "bursts or time, " + reach(k.Low, k.High)
	case formFlag:
		return "true or false"
	case formChoice:
		return "`" + strings.Join(k.Choices, "`, `") + "`"
	case formScale:
		return "whole number " + reach(k.Low, k.High) + " or `auto`"
	case formValue, formAmount:
		return k.amountWords()
	case formArea:
		return "name of an area"
	case formModel:
		return "`" + strings.Join(k.Choices, "`, `") + "`, or the name of one of `models`"
	case formExpression:
		return "expression"
	case formStart:
		return "number, distribution or expression"
	case formFile:
		return "file in the genome's folder"
	case formElement:
		return "coordinate, `\"*\"`, `\"?\"` or `\"!\"`"
	case formList:
		return k.listWords()
	case formOneOrMany:
		return "mapping, or list of mappings"
	}
	if k.Free != nil && k.Keys == nil {
		return "mapping of names: " + k.Free.words()
	}
	return "mapping"
}

func (k *key) amountWords() string {
	var ways []string
	for _, d := range k.Dims {
		switch d {
		case Bursts:
			ways = append(ways, "bursts or time")
		default:
			ways = append(ways, d.String())
		}
	}
	text := strings.Join(ways, " or ")
	if k.Form == formValue {
		text += ", or a distribution"
	}
	return text
}

func (k *key) listWords() string {
	if k.Len > 0 {
		return "list of " + strconv.Itoa(k.Len) + ": " + k.Item.words()
	}
	return "list: " + k.Item.words()
}

func reach(low, high uint64) string {
	if high >= maxSize {
		return "≥ " + strconv.FormatUint(low, 10)
	}
	return strconv.FormatUint(low, 10) + "…" + strconv.FormatUint(high, 10)
}
