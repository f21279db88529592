package genome

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// stimulusWords are the words that may follow the neurons of a stimulus, each with a value.
var stimulusWords = []string{"every", "at", "from", "until", "amount", "port"}

// likeStimulus is an example for messages.
const likeStimulus = "such as eye=all every 10"

// Stimulate returns the genome with more stimuli, which are added at the end of its text. Each is written AREA=WHERE WHEN.
// AREA is a name or an alias. WHERE is all, voxels such as 0,1,2, or neurons such as 7 or 0..9. WHEN is every N or at N, and
// perhaps from N, until N, amount X and port NAME, which mean the same as the keys of a stimulus. In a feagi area the default amount
// makes every neuron reach its threshold; for other models an amount is required. Like With it wants a genome that was read
// from a text: the areas of any other may lack a model.
func (g *Genome) Stimulate(stimuli []string) (*Genome, error) {
	if g.src == nil {
		return nil, errors.New("genome: only a genome that was read from a text can be given stimuli")
	}
	var settings []string
	for _, s := range stimuli {
		text, err := g.stimulusText(s)
		if err == nil {
			err = g.checkStimulus(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", short(s), err)
		}
		settings = append(settings, fmt.Sprintf("stimuli.%d=%s", len(g.Stimuli)+len(settings), text))
	}
	return g.With(settings)
}

// stimulusText turns a stimulus in words into YAML.
func (g *Genome) stimulusText(s string) (string, error) {
	at := strings.LastIndexByte(s, '=') // an alias may end with "="
	if at < 1 {
		return "", fmt.Errorf("expects AREA=WHERE WHEN, %s", likeStimulus)
	}
	i, err := g.FindArea(s[:at])
	if err != nil {
		return "", err
	}
	a, words := &g.Areas[i], strings.Fields(s[at+1:])
	n := 0
	for n < len(words) && !slices.Contains(stimulusWords, words[n]) {
		n++
	}
	where, err := whereOf(words[:n])
	if err != nil {
		return "", err
	}
	values := map[string]string{}
	for rest := words[n:]; len(rest) > 0; {
		key := rest[0]
		n = 1
		for n < len(rest) && !slices.Contains(stimulusWords, rest[n]) {
			n++
		}
		value := strings.Join(rest[1:n], " ")
		switch _, twice := values[key]; {
		case twice:
			return "", fmt.Errorf("%s found again", key)
		case value == "" || strings.ContainsAny(value, "{}[],:#&*!|>'\"%@`?"):
			return "", fmt.Errorf("expects a value after %s, found %q", key, value)
		}
		values[key], rest = value, rest[n:]
	}
	if _, given := values["amount"]; !given {
		if a.Model.Name != feagiModel.Name {
			return "", fmt.Errorf("expects an amount for the model %s, %s amount X", a.Model.Name, likeStimulus)
		}
		values["amount"] = strconv.FormatFloat(a.suprathreshold(), 'g', -1, 64)
	}
	text := "{area: " + strconv.Quote(a.Name) + ", " + where
	if port, ok := values["port"]; ok {
		text = "{to: {area: " + strconv.Quote(a.Name) + ", port: " + port + "}, " + where
	}
	for _, key := range stimulusWords {
		if v, ok := values[key]; ok && key != "port" {
			text += ", " + key + ": " + v
		}
	}
	return text + "}", nil
}

// whereOf is the YAML key for the neurons or voxels in words.
func whereOf(words []string) (string, error) {
	if len(words) == 1 && words[0] == "all" {
		return "neurons: all", nil
	}
	if len(words) == 0 {
		return "", fmt.Errorf("expects all, voxels or neurons after =, %s", likeStimulus)
	}
	var list []string
	key := "neurons"
	for i, w := range words {
		voxel := strings.Count(w, ",") == 2
		if i == 0 && voxel {
			key = "voxels"
		}
		if voxel {
			w = "[" + strings.ReplaceAll(w, ",", ", ") + "]"
		}
		some, err := numbered(w)
		switch {
		case w == "all": // a fault in the other words comes first
		case err != nil:
			return "", err
		case voxel != (key == "voxels"):
			return "", errors.New("expects either neurons or voxels, found both")
		}
		if list = append(list, some...); len(list) > maxLit {
			return "", fmt.Errorf("expects at most %d neurons or voxels, found more", maxLit)
		}
	}
	if slices.Contains(words, "all") {
		return "", errors.New("expects either all or others, found both")
	}
	return key + ": [" + strings.Join(list, ", ") + "]", nil
}

// numbered lists the neurons of a word, which may be a range.
func numbered(w string) ([]string, error) {
	first, last, span := strings.Cut(w, "..")
	if strings.Trim(w, "0123456789.,[] ") != "" || strings.Contains(w, ",") && w[0] != '[' {
		err := fmt.Errorf("found %q; write all, voxels such as 0,1,2, or neurons such as 7 or 0..9, and then %s", short(w), strings.Join(stimulusWords, ", "))
		if near := Nearest(w, append([]string{"all"}, stimulusWords...)); near != "" {
			err = fmt.Errorf("%w; did you mean %q?", err, near)
		}
		return nil, err
	}
	if !span {
		return []string{w}, nil
	}
	low, err := strconv.ParseUint(first, 10, 32)
	high, wrong := strconv.ParseUint(last, 10, 32)
	if err != nil || wrong != nil || high < low || high-low >= maxLit {
		return nil, fmt.Errorf("found %q; write neurons such as 0..9, at most %d", short(w), maxLit)
	}
	var list []string
	for n := low; n <= high; n++ {
		list = append(list, strconv.FormatUint(n, 10))
	}
	return list, nil
}

// suprathreshold is an amount that takes every neuron of a feagi area from 0 to its threshold, but not above its limit. It is a
// whole number if possible, which is a whole number of quanta at any scale.
func (a *Area) suprathreshold() float64 {
	most := a.Params["threshold"]
	if v, varied := a.Varied["threshold"]; varied {
		most = slices.Max(v.Each)
	}
	for i, step := range a.Gradient {
		most += max(0, step*float64(a.Size[i]-1))
	}
	amount := max(1, math.Ceil(most))
	if limit := a.Params["threshold_limit"]; limit > 0 && amount > limit {
		return min(max(most, math.SmallestNonzeroFloat32), limit)
	}
	return amount
}

// checkStimulus parses the YAML of a stimulus.
func (g *Genome) checkStimulus(text string) error {
	src := &source{name: g.Name, text: []byte(text)}
	root, faults := readTree(src)
	if faults != nil {
		return errors.New(faults[0].Message)
	}
	p := &parser{src: src, rules: rules(), swept: map[Pos]bool{}, g: &Genome{Areas: g.Areas}, timestep: g.Timestep, scale: g.Scale, areas: map[string]int{}}
	for i := range g.Areas {
		p.areas[g.Areas[i].Name] = i
	}
	if p.stimulus(root, nil); len(p.faults) == 0 {
		return nil
	}
	f := p.faults[0]
	err := errors.New(f.Message)
	if f.Key != "" {
		err = fmt.Errorf("%s: %w", f.Key, err)
	}
	if f.Suggestion != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, f.meant())
	}
	return err
}
