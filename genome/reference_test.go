package genome

import (
	"slices"
	"strconv"
	"strings"
)

// reference is the list of all keys in Markdown, as docs/genome.md holds it.
func reference() string {
	var b strings.Builder
	list := func(title string, keys []key) {
		b.WriteString("### " + title + "\n\n")
		for i := range keys {
			k := &keys[i]
			notes := []string{k.words()}
			switch {
			case k.Unless != "":
				notes = append(notes, "*required* but for `"+k.Unless+"`")
			case k.Required:
				notes = append(notes, "*required*")
			case k.Default != "":
				notes = append(notes, "default "+k.Default)
			}
			if k.Of != nil {
				notes = append(notes, "for "+strings.Join(k.Of, ", "))
			}
			b.WriteString(wrap("- `"+k.Name+"` ("+strings.Join(notes, "; ")+"): "+k.Doc, "  "))
		}
		b.WriteString("\n")
	}
	list("The genome", topKeys())
	for _, s := range sections() {
		list(s.title, s.keys)
	}
	return b.String()
}

// ruleReference is the table of all rules in Markdown, as docs/genome.md holds it.
func ruleReference() string {
	var b strings.Builder
	b.WriteString("| rule | its keys | synapses |\n| --- | --- | --- |\n")
	for _, r := range rules() {
		keys := ""
		for _, k := range r.keys {
			keys += ", `" + k.Name + "`"
		}
		b.WriteString("| `" + r.name + "` | " + strings.TrimPrefix(keys, ", ") + " | " + r.doc + " |\n")
	}
	return b.String() + "\n"
}

// plasticityReference lists the rules of plasticity that come with burst, as docs/plasticity-rules.md holds them.
func plasticityReference() string {
	var b strings.Builder
	for _, r := range Plasticities() {
		b.WriteString("### `" + r.Name + "`\n\n" + wrap(strings.ToUpper(r.Doc[:1])+r.Doc[1:]+".", "") + "\n")
		for _, line := range r.Equations {
			b.WriteString("    " + line + "\n")
		}
		if len(r.Equations) > 0 {
			b.WriteString("\n")
		}
		list := slices.Clone(r.Params)
		for i := range r.Synapse {
			if v := &r.Synapse[i]; v.Limit.Doc != "" {
				list = append(list, v.Limit)
				list[len(list)-1].Doc += "; of each synapse"
			}
		}
		for i := range list {
			p := &list[i]
			k := key{Dims: []Dimension{p.Dim}, Min: p.Min, Max: p.Max, MinOpen: p.MinOpen}
			b.WriteString(wrap("- `"+p.Name+"` ("+p.defaultText()+"; "+strings.TrimPrefix(k.span(), "of ")+"): "+p.Doc, "  "))
		}
		b.WriteString("\n" + wrap("Source: "+r.Origin+".", "") + "\n")
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
		{"A rule of plasticity (`plasticity[]`)", plasticityKeys()},
		{"A trace (`plasticity[].pre` and `post`, behind its name)", traceKeys()},
		{"A modulator (`plasticity[].modulators`, behind its name)", modulatorKeys()},
		{"A sweep (`plasticity[].every`)", everyKeys()},
		{"A drive (`areas[].drive` or `areas[].drive[]`)", driveKeys()},
		{"Poisson events (`drive.poisson`)", driveKeys()[index(driveKeys(), "poisson")].Keys},
		{"Factors (`drive.factor`, and `areas[].factor` of the model poisson)", factorKeys()},
		{"Steps (`factor.steps`) and ramps (`factor.ramp`)", factorKeys()[index(factorKeys(), "steps")].Keys},
		{"Sines (`factor.sine`)", factorKeys()[index(factorKeys(), "sine")].Keys},
		{"Pulses (`factor.pulse`)", factorKeys()[index(factorKeys(), "pulse")].Keys},
		{"Columns (`factor.file`)", factorKeys()[index(factorKeys(), "file")].Keys},
		{"Normal numbers (`drive.normal`)", driveKeys()[index(driveKeys(), "normal")].Keys},
		{"Spikes of a source (`areas[].spikes[]`)", areaKeys()[index(areaKeys(), "spikes")].Item.Keys},
		{"A projection (`projections[]`)", projectionKeys()},
		{"A table of projections (`projections` or `projections[]`)", tableKeys()},
		{"A mapper (`projections[].mapper`)", projectionKeys()[index(projectionKeys(), "mapper")].Keys},
		{"Plasticity of a projection (`projections[].plasticity`), beside the rule's parameters and variables of the synapse", learningKeys()},
		{"A stimulus (`stimuli[]`)", stimulusKeys()},
		{"What to record (`record`)", recordKeys()},
		{"Potentials (`record.potentials[]`)", recordKeys()[index(recordKeys(), "potentials")].Item.Keys},
		{"Variables (`record.variables[]`)", recordKeys()[index(recordKeys(), "variables")].Item.Keys},
		{"Weights (`record.weights`)", weightKeys()},
		{"Synapses (`record.weights.synapses[]`)", weightKeys()[index(weightKeys(), "synapses")].Item.Keys},
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
	case formNeuron:
		return "whole number " + reach(k.Low, k.High) + " or a range such as 0..9"
	case formOffset:
		return "whole number"
	case formNumber:
		text := k.Dims[0].String() + " " + k.span()
		if k.Column {
			text += ", or a column"
		}
		return text
	case formParam:
		return k.Dims[0].String() + " " + k.span() + ", or one a neuron"
	case formBursts:
		text := "bursts or time, " + reach(k.Low, k.High)
		if k.Column {
			text += ", or one a neuron"
		}
		return text
	case formFlag:
		return "true or false"
	case formChoice:
		return "`" + strings.Join(k.Choices, "`, `") + "`"
	case formScale:
		return "whole number " + reach(k.Low, k.High) + " or `auto`"
	case formValue, formAmount:
		return k.amountWords()
	case formRuleValue:
		return k.amountWords() + ", or the name of a parameter or constant"
	case formLearning:
		return "name of a rule, or mapping"
	case formArea, formTarget:
		words := "name of an area"
		if k.Several {
			words += ", or list of names"
		}
		if k.Form == formTarget {
			words += ", or mapping of `area` and `port`"
		}
		return words
	case formPorts:
		return "list of names, or mapping of names to `" + strings.Join(k.Choices, "`, `") + "`"
	case formModel:
		return "`" + strings.Join(k.Choices, "`, `") + "`, or the name of one of `models`"
	case formKernel:
		return "number or formula of pairs"
	case formColumn:
		return "column of a file"
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
	if k.Column {
		text += ", or a column"
	}
	return text
}

func (k *key) listWords() string {
	if k.Len > 0 {
		return "list of " + strconv.Itoa(k.Len) + ": " + k.Item.words()
	}
	if k.All {
		return "list: " + k.Item.words() + "; or `all`"
	}
	if k.Or != nil {
		return "list: mapping; or mapping of `" + k.Or[0].Name + "`"
	}
	return "list: " + k.Item.words()
}

func reach(low, high uint64) string {
	if high >= maxSize {
		return "≥ " + strconv.FormatUint(low, 10)
	}
	return strconv.FormatUint(low, 10) + "…" + strconv.FormatUint(high, 10)
}
