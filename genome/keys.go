package genome

import (
	"math"
	"slices"
	"strings"
	"sync"

	"burst/internal/formula"
	"burst/internal/quanta"
)

// form is the form of a key's value.
type form uint8

const (
	formVersion    form = iota // v1
	formName                   // ASCII letters, digits and a few marks
	formAlias                  // the same with + / and = and without blanks
	formWhole                  // whole number, Low…High
	formNeuron                 // number of a neuron, Low…High, or a range of them
	formNumber                 // number of dimension Dims[0], Min…Max
	formBursts                 // whole number of bursts Low…High, plain or as a time
	formFlag                   // true or false
	formChoice                 // one of Choices
	formScale                  // whole number Low…High, or auto
	formValue                  // number or distribution of one of Dims
	formParam                  // number of dimension Dims[0], Min…Max, or a distribution or column with one for each neuron
	formAmount                 // number of one of Dims
	formArea                   // name of an area of the genome
	formTarget                 // the same, or mapping of Keys
	formPorts                  // list of Item, or mapping of names to one of Choices
	formModel                  // one of Choices, or the name of a model that the genome defines
	formExpression             // expression or assignment of a model
	formStart                  // number or distribution of any dimension, or an expression
	formFile                   // name of a file in the genome's folder
	formElement                // element of a pattern: whole number, "*", "?" or "!"
	formOffset                 // whole number, negative too
	formRuleValue              // number of one of Dims, or the name of a parameter or constant of the rule
	formKernel                 // number Min…Max, or a formula of pairs
	formColumn                 // column of one of Dims
	formLearning               // name of a rule of plasticity, or mapping of Keys and the rule's parameters
	formList                   // list of Item; Len of them unless Len is 0
	formMap                    // mapping of Keys
	formOneOrMany              // mapping of Keys, or a list of such mappings
)

// key describes one key of a mapping. The parser, the published schema and the reference's tables all use it.
type key struct {
	Name      string
	Doc       string
	Form      form
	Required  bool
	Unless    string // the rule for which a required key may be missing
	Default   string // as a genome would write it; empty when there is none
	Dims      []Dimension
	Min, Max  float64
	MinOpen   bool
	Low, High uint64
	Choices   []string
	Item      *key
	Len       int
	Empty     bool     // formList: the list may be empty
	Or        []key    // formList: an element may instead be a mapping of these, and so may be the whole
	Several   bool     // formArea: it may be a list, one after the other
	Column    bool     // formValue, formAmount, formNumber: a column may have one for each neuron; formBursts: a distribution, too
	All       bool     // formList: the word all may stand for all neurons of the area
	Keys      []key    // formMap, formOneOrMany
	Free      *key     // formMap: the value of keys that the genome chooses; nil: there are no such keys
	Of        []string // models or rules that have the key; nil: all; empty: none, it belongs elsewhere
}

const (
	maxSize   = 1<<63 - 1 // neurons of an area, and each factor of their number
	maxBursts = math.MaxUint64
	maxRun    = 1 << 56 // bursts: random draws use 56 bits of a burst's number
	maxOffset = 1 << 32 // voxels
	maxQuiet  = 65535   // bursts of silence
)

// inputs are the dimensions that amounts may have, those of all models with ports.
func inputs() []Dimension { return []Dimension{Plain, Voltage, Current, Conductance} }

// inputUnits are their base units, as models of genomes name them.
func inputUnits() []string { return []string{"plain", "mV", "pA", "nS"} }

// driven lists the models that a drive can act on.
func driven() []string {
	var names []string
	for _, m := range Models() {
		if len(m.Ports) > 0 {
			names = append(names, m.Name)
		}
	}
	return append(names, custom)
}

// having lists the models that have a key.
func having(key string) []string {
	names := []string{}
	for _, m := range Models() {
		if m.Has(key) {
			names = append(names, m.Name)
		}
	}
	return names
}

// triple is a list of three.
func triple(item key) (form, *key, int) { return formList, &item, 3 }

// topKeys are the keys of a genome.
var topKeys = sync.OnceValue(func() []key {
	return []key{
		{Name: "burst", Form: formVersion, Required: true, Doc: "format version"},
		{Name: "name", Form: formName, Doc: "name of the network; the file's name unless given"},
		{Name: "seed", Form: formWhole, High: math.MaxUint64, Default: "0", Doc: "seed of wiring, weights, delays and initial state"},
		{Name: "run_seed", Form: formWhole, High: math.MaxUint64, Doc: "seed of Poisson drive and excitability; the value of seed unless given"},
		{Name: "timestep", Form: formNumber, Dims: []Dimension{Time}, MinOpen: true, Max: 1e6, Default: "1 ms", Doc: "time that one burst stands for"},
		{Name: "scale", Form: formScale, Low: 1, High: quanta.MaxScale, Default: "1000", Doc: "quanta per unit of weight, or auto for the largest power of two that fits"},
		{Name: "bursts", Form: formBursts, Low: 1, High: maxRun, Doc: "length of a run when the command names none"},
		{Name: "models", Form: formList, Empty: true, Item: &key{Form: formMap, Keys: modelKeys()}, Doc: "neuron models of the genome's own"},
		{Name: "plasticity", Form: formList, Empty: true, Item: &key{Form: formMap, Keys: plasticityKeys()}, Doc: "rules of the genome's own by which weights change"},
		{Name: "areas", Form: formList, Required: true, Item: &key{Form: formMap, Keys: areaKeys()}, Doc: "the cortical areas, in the order in which their neurons are numbered"},
		{Name: "projections", Form: formList, Empty: true, Item: &key{Form: formMap, Keys: projectionKeys()}, Or: tableKeys(), Doc: "what connects the areas; a mapping with a file is a table with a projection in each row"},
		{Name: "stimuli", Form: formList, Empty: true, Item: &key{Form: formMap, Keys: stimulusKeys()}, Doc: "amounts injected in chosen bursts"},
		{Name: "record", Form: formMap, Keys: recordKeys(), Doc: "what to keep of a run"},
	}
})

// areaKeys are the keys of an area, those of all models.
var areaKeys = sync.OnceValue(func() []key {
	position, where, three := triple(key{Form: formNumber, Dims: []Dimension{Plain}, Min: -inf, Max: inf})
	_, voxels, _ := triple(key{Form: formWhole, Low: 1, High: maxSize})
	var names []string
	for _, m := range slices.Concat(Models(), Written()) {
		names = append(append(names, m.Name), m.Aliases...)
	}
	keys := []key{
		{Name: "name", Form: formName, Required: true, Doc: "unique name"},
		{Name: "aliases", Form: formList, Item: &key{Form: formAlias}, Doc: "further unique names of the area, such as FEAGI's ids; each may stand wherever the name does"},
		{Name: "size", Form: formList, Item: voxels, Len: three, Doc: "voxels in x, y and z; or neurons"},
		{Name: "neurons", Form: formWhole, High: maxSize, Doc: "number of neurons of an area without a grid, the same as size: [neurons, 1, 1]; only areas of group memory may have 0"},
		{Name: "neurons_per_voxel", Form: formWhole, Low: 1, High: maxSize, Default: "1", Doc: "neurons in each voxel, beside size"},
		{Name: "position", Form: position, Item: where, Len: three, Default: "[0, 0, 0]", Doc: "place in pictures; the network does not depend on it"},
		{Name: "extent", Form: formList, Item: &key{Form: formNumber, Dims: []Dimension{Length}, Min: 0, Max: inf}, Len: 3, Doc: "lengths of the area along x, y and z, which give its neurons positions, beside size: each at the middle of its voxel"},
		{Name: "center", Form: formList, Item: &key{Form: formNumber, Dims: []Dimension{Length}, Min: -inf, Max: inf}, Len: 3, Default: "[0 um, 0 um, 0 um]", Doc: "where the middle of the extent lies"},
		{Name: "periodic", Form: formFlag, Default: "false", Doc: "whether distances go the shorter way round, as if each end of the extent met the other"},
		{Name: "positions", Form: formFile, Doc: "file with columns x, y and z in um (CSV, Parquet or Arrow), a row for each neuron, which lies there; extent and center are then the box around them, unless they are given"},
		{Name: "columns", Form: formMap, Free: &key{Form: formColumn, Dims: columnDims()}, Doc: "numbers of each neuron, which formulas of projections read as source_NAME and target_NAME"},
		{Name: "model", Form: formModel, Choices: names, Default: names[0], Doc: "neuron model"},
		{Name: "group", Form: formName, Doc: "what the area is for: ipu, opu, core, custom, memory or any other name"},
		{Name: "devices", Form: formWhole, Low: 1, High: maxSize, Doc: "number of devices that the area stands for"},
		{Name: "psp", Form: formNumber, Dims: []Dimension{Plain}, Min: -inf, Max: inf, Default: "1", Doc: "factor of the weights of all projections from the area"},
		{Name: "psp_max", Form: formNumber, Dims: []Dimension{Plain}, Min: 0, MinOpen: true, Max: inf, Of: having("psp_max"), Doc: "makes the psp of each spike the potential at which it was fired; one beyond this ends the run, one below 0 delivers nothing"},
		{Name: "divide_psp", Form: formFlag, Default: "false", Doc: "whether those weights are divided by the number of synapses that leave the source neuron"},
		{Name: "params", Form: formMap, Free: anyParam(), Doc: "parameters of the model"},
		{Name: "init", Form: formMap, Free: anyStart(), Doc: "initial values of state variables, drawn for each neuron"},
		{Name: "drive", Form: formOneOrMany, Keys: driveKeys(), Of: driven(), Doc: "input that the area makes by itself"},
		{Name: "threshold_gradient", Form: formList, Item: where, Len: three, Default: "[0, 0, 0]", Of: having("threshold_gradient"), Doc: "added to the threshold for each voxel step in x, y and z"},
	}
	keys = append(keys, sourceKeys()...)
	for _, m := range slices.Concat(Models(), Written()) {
		level := paramKeys(m, m.Params)
		switch {
		case m.AreaLevel:
			keys = append(keys, level...)
		case len(level) > 0:
			at := index(keys, "params")
			keys[at].Keys = mergeParams(keys[at].Keys, level)
			keys[at].Of = append(keys[at].Of, m.Name)
		}
		at := index(keys, "init")
		keys[at].Keys = mergeKeys(keys[at].Keys, stateKeys(m))
	}
	at := index(keys, "params")
	keys[at].Of = append(keys[at].Of, custom)
	return keys
})

// modelKeys are the keys of a model that the genome defines.
var modelKeys = sync.OnceValue(func() []key {
	formula := &key{Form: formExpression}
	return []key{
		{Name: "name", Form: formName, Required: true, Doc: "name by which areas choose the model"},
		{Name: "input", Form: formChoice, Choices: inputUnits(), Default: "plain", Doc: "unit of weights, drives and stimuli"},
		{Name: "ports", Form: formPorts, Item: &key{Form: formName}, Choices: inputUnits(), Default: "[input]", Doc: "names of the inputs in expressions, 1 to 16, each with its unit where they differ: {ampa: nS, noise: pA}. Where `to` names no port, the first of two takes weights ≥ 0 and the second those < 0"},
		{Name: "params", Form: formMap, Free: &key{Form: formAmount, Dims: anyDimension()}, Doc: "parameters with their defaults; one named refractory is the silence after a spike, in whole bursts"},
		{Name: "constants", Form: formMap, Free: formula, Doc: "what is worked out once, in float64, of parameters, dt and the constants before it"},
		{Name: "state", Form: formMap, Required: true, Free: anyStart(), Doc: "state variables, the potential first, with what they start from"},
		{Name: "update", Form: formList, Required: true, Item: formula, Doc: "assignments of every burst, in order"},
		{Name: "threshold", Form: formExpression, Required: true, Doc: "condition on which the neuron fires, unless it is refractory"},
		{Name: "reset", Form: formList, Empty: true, Item: formula, Doc: "assignments where the neuron fires, in order"},
	}
})

// ruleDimensions are the dimensions that a parameter of a plasticity rule may have; weightDimensions those of its bounds.
func ruleDimensions() []Dimension   { return append(anyDimension(), Weight) }
func weightDimensions() []Dimension { return append(inputs(), Weight) }

// plasticityKeys are the keys of a plasticity rule that the genome defines.
var plasticityKeys = sync.OnceValue(func() []key {
	formula := &key{Form: formExpression}
	number := &key{Form: formRuleValue, Dims: ruleDimensions()}
	return []key{
		{Name: "name", Form: formName, Required: true, Doc: "name by which projections choose the rule"},
		{Name: "params", Form: formMap, Free: &key{Form: formAmount, Dims: ruleDimensions()}, Doc: "parameters with their defaults; in the unit weight they are in that of the projection's weights"},
		{Name: "constants", Form: formMap, Free: formula, Doc: "what is worked out once, in float64, of parameters, dt and the constants before it"},
		{Name: "pre", Form: formMap, Free: &key{Form: formMap, Keys: traceKeys()}, Doc: "traces of each source neuron, raised by its spikes"},
		{Name: "post", Form: formMap, Keys: []key{{Name: "when", Form: formExpression, Doc: "condition that is a post event in place of the target's spike; it reads target variables"}}, Free: &key{Form: formMap, Keys: traceKeys()}, Doc: "traces of each target neuron, likewise; when beside them is a condition that is a post event in place of the target's spike"},
		{Name: "source", Form: formMap, Free: number, Doc: "variables of each source neuron, which on_source assigns, with what they start from"},
		{Name: "synapse", Form: formMap, Free: number, Doc: "variables of each synapse beside its weight w, with what they start from"},
		{Name: "target", Form: formList, Item: &key{Form: formName}, Doc: "state variables of the target's model that the rule reads"},
		{Name: "modulators", Form: formMap, Free: &key{Form: formMap, Keys: modulatorKeys()}, Doc: "numbers of the whole projection that the spikes of an area raise"},
		{Name: "bounds", Form: formList, Required: true, Len: 2, Item: &key{Form: formRuleValue, Dims: weightDimensions()}, Doc: "least and largest weight; after each handler a weight is put back between them"},
		{Name: "on_pre", Form: formList, Item: formula, Doc: "assignments where a spike of the source arrives; out is what is delivered, w unless assigned"},
		{Name: "on_post", Form: formList, Item: formula, Doc: "assignments where the target has fired"},
		{Name: "on_source", Form: formList, Item: formula, Doc: "assignments where the source fires, to source variables"},
		{Name: "every", Form: formMap, Keys: everyKeys(), Doc: "a sweep over all synapses at the end of every so many bursts"},
	}
})

func everyKeys() []key {
	return []key{
		{Name: "bursts", Form: formRuleValue, Dims: []Dimension{Bursts}, Low: 1, High: maxRun, Required: true, Doc: "from one sweep to the next: whole bursts, a time, or the name of a parameter"},
		{Name: "do", Form: formList, Item: &key{Form: formExpression}, Required: true, Doc: "assignments of the sweep"},
	}
}

// traceKeys are the keys of a trace.
func traceKeys() []key {
	return []key{
		{Name: "tau", Form: formRuleValue, Dims: []Dimension{Time}, Required: true, Doc: "time constant"},
		{Name: "add", Form: formRuleValue, Dims: ruleDimensions(), Doc: "what an event adds to the trace; or set"},
		{Name: "set", Form: formRuleValue, Dims: ruleDimensions(), Doc: "what an event makes the trace; or add"},
	}
}

// modulatorKeys are the keys of a modulator.
func modulatorKeys() []key {
	return []key{
		{Name: "from", Form: formArea, Doc: "area of the spikes; the projection names it where the rule does not, as NAME: AREA"},
		{Name: "tau", Form: formRuleValue, Dims: []Dimension{Time}, Required: true, Doc: "time constant"},
		{Name: "add", Form: formRuleValue, Dims: ruleDimensions(), Required: true, Doc: "what each spike adds"},
		{Name: "delay", Form: formRuleValue, Dims: []Dimension{Bursts}, Low: 1, High: quanta.MaxDelay, Default: "1", Doc: "from spike to event: 1…65,535 bursts, a time, or the name of a parameter"},
	}
}

// learningKeys are the keys of a projection's plasticity, without the parameters of its rule and the variables of its synapses.
func learningKeys() []key {
	return []key{
		{Name: "rule", Form: formName, Required: true, Doc: "name of a rule, one of the genome's or of docs/plasticity-rules.md"},
		{Name: "bounds", Form: formList, Len: 2, Item: &key{Form: formRuleValue, Dims: weightDimensions()}, Doc: "least and largest weight; the rule's unless given"},
		{Name: "overflow", Form: formChoice, Choices: overflows(), Doc: "what becomes of bounds that do not fit: the genome is refused, or the run ends in the burst in which a weight passes what fits"},
	}
}

// overflows are the choices of the key overflow.
func overflows() []string { return []string{"refuse", "fail"} }

// anyParam and anyStart describe a parameter and a state variable of a model that the genome defines.
func anyParam() *key { return &key{Form: formValue, Dims: anyDimension()} }
func anyStart() *key { return &key{Form: formStart, Dims: anyDimension()} }

// sourceKeys are the keys of source areas.
func sourceKeys() []key {
	span := spanKeys("source")
	for i := range span {
		span[i].Of = having(span[i].Name)
	}
	span = append(span, key{Name: "file", Form: formFile, Of: having("spikes"), Doc: "in place of `spikes`, a list of them in the genome's folder: .csv, .parquet, .arrow or .arrows"})
	span = append(span, key{Name: "factor", Form: formMap, Keys: factorKeys(), Of: having("factor"), Doc: "plain number that changes in time, which rate is multiplied by"})
	span = append(span, key{Name: "upstream", Form: formList, Of: having("upstream"), Item: &key{Form: formArea}, Doc: "areas whose spikes are the patterns that the area keeps"})
	return append(span, key{Name: "spikes", Form: formList, Empty: true, Of: having("spikes"), Doc: "which neurons fire when", Item: &key{Form: formMap, Keys: []key{
		{Name: "neurons", Form: formList, Required: true, All: true, Item: neuronKey(), Doc: "neurons of the area, counted from 0"},
		{Name: "at", Form: formList, Required: true, Item: &key{Form: formBursts, High: maxBursts - 1}, Doc: "bursts in which all of them fire"},
	}}})
}

// paramKeys are the keys of a model's parameters.
func paramKeys(m *Model, params []Param) []key {
	keys := make([]key, len(params))
	for i, p := range params {
		k := key{Name: p.Name, Doc: p.Doc, Of: []string{m.Name}, Dims: []Dimension{p.Dim}, Min: p.Min, Max: p.Max, MinOpen: p.MinOpen, Required: p.Needed}
		switch {
		case p.Choices != nil:
			k.Form, k.Choices = formChoice, p.Choices
		case p.Dim == Flag:
			k.Form = formFlag
		case p.Whole:
			k.Form, k.Low, k.High = formBursts, uint64(p.Min), maxQuiet
			if p.Dim == Bursts && p.Name != formula.Quiet {
				k.High = uint64(min(p.Max, maxRun))
			}
		case m.varies(&p) && !m.AreaLevel:
			k.Form = formParam
		default:
			k.Form = formNumber
		}
		k.Column = m.varies(&p) && k.Form != formParam
		k.Default = p.defaultText()
		keys[i] = k
	}
	return keys
}

// stateKeys are the keys that init may hold for a model.
func stateKeys(m *Model) []key {
	keys := make([]key, len(m.State))
	for i, s := range m.State {
		keys[i] = key{Name: s.Name, Doc: s.Doc, Form: formValue, Dims: []Dimension{s.Dim}, Of: []string{m.Name}, Column: true}
	}
	return keys
}

// mergeParams adds the parameters of a model to a table. If a name is there already, the wider range counts, and each
// default is listed with its models.
func mergeParams(table, more []key) []key {
	for _, k := range more {
		k.Required = false
		at := slices.IndexFunc(table, func(t key) bool { return t.Name == k.Name })
		if at < 0 {
			table = append(table, k)
			continue
		}
		t := &table[at]
		if t.Default != k.Default {
			t.Default = alsoDefault(said(t), k.Default, k.Of[0])
		}
		if t.Doc != k.Doc && !strings.Contains(t.Doc, k.Doc) {
			t.Doc += "; " + k.Of[0] + ": " + k.Doc
		}
		for _, d := range k.Dims {
			if !slices.Contains(t.Dims, d) {
				t.Dims = append(slices.Clip(t.Dims), d)
			}
		}
		t.Min, t.Max, t.MinOpen = min(t.Min, k.Min), max(t.Max, k.Max), t.MinOpen && k.MinOpen
		t.Of = slices.Concat(t.Of, k.Of)
	}
	return table
}

// alsoDefault adds a default and its model to a list such as "1 (a, b), 2 (c)".
func alsoDefault(list, text, model string) string {
	if at := strings.Index(", "+list, ", "+text+" ("); at >= 0 {
		end := at + strings.IndexByte(list[at:], ')')
		return list[:end] + ", " + model + list[end:]
	}
	return list + ", " + text + " (" + model + ")"
}

// said is the text of a default with its models.
func said(k *key) string {
	if strings.HasSuffix(k.Default, ")") {
		return k.Default
	}
	return k.Default + " (" + strings.Join(k.Of, ", ") + ")"
}

// mergeKeys adds keys to a table. A key that is there already also gets the dimensions and models of the new one.
func mergeKeys(table, more []key) []key {
	for _, k := range more {
		at := slices.IndexFunc(table, func(t key) bool { return t.Name == k.Name })
		if at < 0 {
			table = append(table, k)
			continue
		}
		for _, d := range k.Dims {
			if !slices.Contains(table[at].Dims, d) {
				table[at].Dims = append(table[at].Dims, d)
			}
		}
		table[at].Of = slices.Concat(table[at].Of, k.Of)
	}
	return table
}

// driveKeys are the keys of a drive.
var driveKeys = sync.OnceValue(func() []key {
	constant := inputs()
	for _, m := range Models() {
		for _, d := range m.Drive {
			if !slices.Contains(constant, d) {
				constant = append(constant, d)
			}
		}
	}
	return append([]key{
		{Name: "to", Form: formMap, Keys: toKeys("the area itself, unless left out"), Doc: "input that takes the amounts, as {port: NAME}"},
		{Name: "constant", Form: formValue, Dims: constant, Column: true, Doc: "the same input in every burst, a term of the formula of lif, lif_event, lif_psc_exp and izhikevich, else an amount that arrives"},
		{Name: "poisson", Form: formMap, Doc: "random events that arrive as spikes do, independent for each neuron", Keys: []key{
			{Name: "rate", Form: formNumber, Required: true, Dims: []Dimension{Frequency}, Max: inf, Column: true, Doc: "events a second; at most 500 a burst"},
			{Name: "weight", Form: formAmount, Required: true, Dims: inputs(), Column: true, Doc: "amount of one event"},
		}},
		{Name: "normal", Form: formMap, Doc: "a normal number that arrives in every burst as a spike does, independent for each neuron", Keys: []key{
			{Name: "mean", Form: formAmount, Dims: inputs(), Default: "0", Column: true, Doc: "mean of the amount"},
			{Name: "sd", Form: formAmount, Required: true, Dims: inputs(), Column: true, Doc: "standard deviation of the amount, in steps of sd/64 up to 6.2 sd"},
		}},
	}, append(spanKeys("drive"), key{Name: "factor", Form: formMap, Keys: factorKeys(), Doc: factorDoc})...)
})

// spanKeys are from and until.
func spanKeys(what string) []key {
	return []key{
		{Name: "from", Form: formBursts, High: maxBursts, Default: "0", Doc: "first burst in which the " + what + " acts"},
		{Name: "until", Form: formBursts, Low: 1, High: maxBursts, Doc: "first burst in which it no longer acts; the end of the run unless given"},
	}
}

// stimulusKeys are the keys of a stimulus.
var stimulusKeys = sync.OnceValue(func() []key {
	return append([]key{
		{Name: "area", Form: formArea, Doc: "area that receives the amounts; or to"},
		{Name: "to", Form: formTarget, Keys: toKeys("area that receives the amounts"), Doc: "instead of area, the area and the input that takes the amounts, as {area: NAME, port: NAME}"},
		{Name: "at", Form: formBursts, High: maxBursts - 1, Doc: "the one burst in which the stimulus acts; or every"},
		{Name: "every", Form: formBursts, Low: 1, High: maxBursts, Doc: "acts in every burst that is a multiple of this"},
		{Name: "neurons", Form: formList, All: true, Item: neuronKey(), Doc: "neurons of the area, counted from 0; or voxels, or image"},
		{Name: "voxels", Form: formList, Item: voxelKey(), Doc: "voxels [x, y, z] of the area, all neurons of each; instead of neurons"},
		{Name: "image", Form: formFile, Doc: "PNG picture of size x by size y pixels: z of 1 takes grey levels, z of 3 red, green and blue"},
		{Name: "amount", Form: formAmount, Dims: inputs(), Default: "1", Doc: "amount for each neuron, times level/255 for an image; required with neurons and voxels"},
	}, spanKeys("stimulus")...)
})

func neuronKey() *key { return &key{Form: formNeuron, High: math.MaxUint32} }

func voxelKey() *key {
	return &key{Form: formList, Item: &key{Form: formWhole, High: math.MaxUint32}, Len: 3}
}

// recordKeys are the keys of record.
var recordKeys = sync.OnceValue(func() []key {
	return []key{
		{Name: "spikes", Form: formList, Empty: true, Item: &key{Form: formArea}, Doc: "areas whose spikes are kept; an empty list keeps none"},
		{Name: "potentials", Form: formList, Empty: true, Doc: "neurons whose potentials are kept", Item: &key{Form: formMap, Keys: []key{
			{Name: "area", Form: formArea, Required: true, Doc: "area of the neurons"},
			{Name: "neurons", Form: formList, All: true, Item: neuronKey(), Doc: "neurons of the area, counted from 0; or voxels"},
			{Name: "voxels", Form: formList, Item: voxelKey(), Doc: "voxels [x, y, z] of the area, all neurons of each"},
		}}},
		{Name: "variables", Form: formList, Empty: true, Doc: "neurons whose state variables and inputs are kept", Item: &key{Form: formMap, Keys: []key{
			{Name: "area", Form: formArea, Required: true, Doc: "area of the neurons"},
			{Name: "names", Form: formList, Required: true, Item: &key{Form: formName}, Doc: "names of state variables, and of inputs: those of the model's ports, input, or ex and in"},
			{Name: "neurons", Form: formList, All: true, Item: neuronKey(), Doc: "neurons of the area, counted from 0; or voxels"},
			{Name: "voxels", Form: formList, Item: voxelKey(), Doc: "voxels [x, y, z] of the area, all neurons of each"},
			{Name: "every", Form: formBursts, Low: 1, High: maxRun, Default: "1", Doc: "bursts or time from one row to the next: those bursts are kept whose number is a multiple"},
		}}},
		{Name: "fcl", Form: formFlag, Default: "false", Doc: "whether the fire candidate list of every burst is kept"},
		{Name: "weights", Form: formMap, Keys: weightKeys(), Doc: "which synapses of projections that learn are kept, and how often"},
		{Name: "histograms", Form: formFlag, Default: "true", Doc: "whether mean, standard deviation and histogram of all weights of each projection that learns are kept"},
	}
})

func weightKeys() []key {
	return []key{
		{Name: "every", Form: formBursts, Low: 1, High: maxRun, Doc: "bursts or time from one look at the weights to the next, for histograms too; unless given a hundredth of the run, 100 ms where no end is planned, longer in large networks"},
		{Name: "synapses", Form: formList, Empty: true, Doc: "synapses whose weights are kept", Item: &key{Form: formMap, Keys: []key{
			{Name: "from", Form: formArea, Required: true, Doc: "area of the sources"},
			{Name: "to", Form: formArea, Required: true, Doc: "area of the targets; every projection between the two that learns is meant"},
			{Name: "sources", Form: formList, Item: neuronKey(), Doc: "source neurons, counted from 0 in their area; all unless given"},
			{Name: "targets", Form: formList, Item: neuronKey(), Doc: "target neurons likewise"},
			{Name: "share", Form: formNumber, Dims: []Dimension{Plain}, MinOpen: true, Max: 1, Default: "1", Doc: "share of these synapses that is kept: the same ones in every run of the network"},
		}}},
	}
}
