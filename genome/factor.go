package genome

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"burst/internal/exact"
)

// Factor is what an area's drive, or the rate of its source neurons, is multiplied by in each burst. It is a plain number.
type Factor struct {
	Pos      Pos
	Kind     FactorKind
	Timestep float64   // ms
	At       []uint64  // Steps, Ramp: bursts, ascending; nil: value k stands for bursts k·Every ≤ t < (k+1)·Every
	Values   []float64 // Steps, Ramp: one for each entry of At, or for each row of a file

	Amplitude, Offset float64 // Sine; Pulse: the value within a pulse, and outside
	Frequency, Phase  float64 // Sine: Hz and degrees
	Start, Width      uint64  // Pulse: first burst, and bursts of a pulse
	Every             uint64  // bursts. Pulse: from one pulse to the next, 0 for a single one; Steps of a file: of a row

	Lo, Hi float64 // of all bursts, bounds of In
}

// FactorKind names a form of Factor.
type FactorKind uint8

// The forms.
const (
	Steps FactorKind = iota
	Ramp
	Sine
	Pulse
)

// In is the factor in burst t, by the formulas of engine/doc.go.
func (f *Factor) In(t uint64) float64 {
	x := f.Offset
	switch f.Kind {
	case Steps, Ramp:
		x = f.listed(t)
	case Sine:
		turns := float64(f.Frequency*float64(float64(t)*f.Timestep))/1000 + f.Phase/360
		x = f.Offset + float64(f.Amplitude*exact.Sin(float64((turns-math.Floor(turns))*(2*math.Pi))))
	case Pulse:
		if t < f.Start {
			break
		}
		at := t - f.Start
		if f.Every > 0 {
			at %= f.Every
		}
		if at < f.Width {
			x = f.Amplitude
		}
	}
	return min(max(x, f.Lo), f.Hi)
}

// listed is the value of Steps and Ramp in burst t.
func (f *Factor) listed(t uint64) float64 {
	if f.At == nil {
		if k := t / f.Every; k < uint64(len(f.Values)) {
			return f.Values[k]
		}
		return 0
	}
	next := sort.Search(len(f.At), func(i int) bool { return f.At[i] > t })
	switch {
	case next == 0:
		return 0
	case f.Kind == Steps || next == len(f.At):
		return f.Values[next-1]
	}
	from, to, low, high := f.At[next-1], f.At[next], f.Values[next-1], f.Values[next]
	return low + float64((high-low)*(float64(t-from)/float64(to-from)))
}

// Bound finds Lo and Hi of a factor whose other fields are set.
func (f *Factor) Bound() {
	switch f.Kind {
	case Sine:
		f.Lo, f.Hi = f.Offset-math.Abs(f.Amplitude), f.Offset+math.Abs(f.Amplitude)
	case Pulse:
		f.Lo, f.Hi = min(f.Offset, f.Amplitude), max(f.Offset, f.Amplitude)
	default:
		f.Lo, f.Hi = min(0, slices.Min(f.Values)), max(0, slices.Max(f.Values))
	}
}

// factorKeys are the keys of a factor, which has one of them.
func factorKeys() []key {
	plain := func(name, standard, doc string) key {
		return key{Name: name, Form: formNumber, Dims: []Dimension{Plain}, Min: -inf, Max: inf, Default: standard, Doc: doc}
	}
	needed := func(k key) key {
		k.Required = true
		return k
	}
	list := func(what string) []key {
		return []key{
			{Name: "at", Form: formList, Required: true, Item: &key{Form: formBursts, High: maxRun}, Doc: "bursts or times, ascending; before the first one the factor is 0"},
			{Name: "values", Form: formList, Required: true, Item: &key{Form: formNumber, Dims: []Dimension{Plain}, Min: -inf, Max: inf}, Doc: "as many numbers; " + what},
		}
	}
	return []key{
		{Name: "steps", Form: formMap, Keys: list("each holds from its burst on"), Doc: "values that hold until the next one"},
		{Name: "ramp", Form: formMap, Keys: list("between two bursts the factor goes on a straight line, and the last one holds"), Doc: "straight lines between values"},
		{Name: "sine", Form: formMap, Doc: "offset + amplitude·sin(360°·frequency·time + phase)", Keys: []key{
			needed(plain("amplitude", "", "largest distance from offset")),
			{Name: "frequency", Form: formNumber, Required: true, Dims: []Dimension{Frequency}, Max: inf, Doc: "cycles a second"},
			plain("phase", "0", "degrees at burst 0"),
			plain("offset", "0", "mean"),
		}},
		{Name: "pulse", Form: formMap, Doc: "one pulse, or a train of them", Keys: []key{
			plain("value", "1", "factor within a pulse"),
			plain("base", "0", "factor outside"),
			{Name: "start", Form: formBursts, High: maxRun, Default: "0", Doc: "first burst of the first pulse"},
			{Name: "width", Form: formBursts, Required: true, Low: 1, High: maxRun, Doc: "bursts or time that a pulse lasts"},
			{Name: "every", Form: formBursts, Low: 1, High: maxRun, Doc: "bursts or time from one pulse to the next; there is one pulse unless given"},
		}},
		{Name: "file", Form: formMap, Doc: "a column of a CSV file in the genome's folder", Keys: []key{
			{Name: "path", Form: formFile, Required: true, Doc: "CSV file with a header"},
			{Name: "column", Form: formName, Required: true, Doc: "column of plain numbers, a row for each stretch of time from burst 0 on; after the last one the factor is 0"},
			{Name: "every", Form: formBursts, Low: 1, High: maxRun, Default: "1", Doc: "bursts or time that a row stands for"},
		}},
	}
}

const factorDoc = "plain number that changes in time, which the input is multiplied by"

// factor reads the key factor of a drive or of a source area; nil if it is absent or has a fault.
func (f *fields) factor() *Factor {
	n, at, k := f.get("factor")
	if n == nil {
		return nil
	}
	e, ok := f.p.fields(n, at, k.Keys)
	if !ok {
		return nil
	}
	x := &Factor{Pos: pos(n), Timestep: f.p.timestep}
	var names []string
	for i := range k.Keys {
		if e.has(k.Keys[i].Name) {
			names = append(names, k.Keys[i].Name)
		}
	}
	switch {
	case len(names) > 1:
		e.faultKey(names[1], "", "expects one form of factor in a mapping, found both %s and %s", names[0], names[1])
		return nil
	case len(names) == 0:
		if len(e.meant) == 0 {
			f.p.fault(n, at, "", "expects steps, ramp, sine, pulse or file, found none of them")
		}
		return nil
	}
	before := len(f.p.faults)
	m, at2, form := e.get(names[0])
	inside, ok := f.p.fields(m, at2, form.Keys)
	if !ok {
		return nil
	}
	read := map[string]func(*fields, *Factor){
		"steps": (*fields).points, "ramp": (*fields).points, "sine": (*fields).sine, "pulse": (*fields).pulse, "file": (*fields).rows,
	}
	x.Kind = map[string]FactorKind{"steps": Steps, "ramp": Ramp, "sine": Sine, "pulse": Pulse, "file": Steps}[names[0]]
	if read[names[0]](inside, x); len(f.p.faults) > before {
		return nil
	}
	if x.Bound(); !(math.Abs(x.Lo) <= math.MaxFloat32 && math.Abs(x.Hi) <= math.MaxFloat32) {
		f.fault("factor", "expects a factor within ±3.4e38, found one from %g to %g", x.Lo, x.Hi)
		return nil
	}
	return x
}

// points reads at and values.
func (f *fields) points(x *Factor) {
	_, at, k := f.get("at")
	last := uint64(0)
	for i, n := range f.list("at") {
		t, ok := f.p.bursts(n, at.item(i), k.Item.Low, k.Item.High)
		if ok && i > 0 && t <= last {
			f.p.fault(n, at.item(i), "", "expects a burst after the one before, which is %d, found %d", last, t)
			return
		}
		last = t
		x.At = append(x.At, t)
	}
	_, at, k = f.get("values")
	for i, n := range f.list("values") {
		if v, ok := f.p.number(n, at.item(i), k.Item); ok {
			x.Values = append(x.Values, v)
		}
	}
	if f.has("at") && f.has("values") && len(x.At) != len(x.Values) {
		f.fault("values", "expects a value for each of %d entries of at, found %d", len(x.At), len(x.Values))
	}
}

func (f *fields) sine(x *Factor) {
	f.number("amplitude", &x.Amplitude)
	f.number("frequency", &x.Frequency)
	f.number("phase", &x.Phase)
	f.number("offset", &x.Offset)
	if dt := f.p.timestep; float64(x.Frequency*dt) >= 500 {
		f.fault("frequency", "expects more than two bursts of %g ms a cycle, a frequency below %.15g Hz, found %g Hz; a smaller timestep has faster ones", dt, 500/dt, x.Frequency)
	}
}

func (f *fields) pulse(x *Factor) {
	x.Amplitude = 1
	f.number("value", &x.Amplitude)
	f.number("base", &x.Offset)
	f.bursts("start", &x.Start)
	f.bursts("width", &x.Width)
	if f.bursts("every", &x.Every) && x.Every <= x.Width {
		f.fault("every", "expects pulses that end before the next one begins, found one of %d bursts every %d bursts", x.Width, x.Every)
	}
}

// rows reads a column of a file.
func (f *fields) rows(x *Factor) {
	x.Every = 1
	f.bursts("every", &x.Every)
	var name string
	named := f.name("column", &name)
	n, at, _ := f.get("path")
	if n == nil {
		return
	}
	path, ok := f.p.scalar(n, at, "the name of a file")
	if !ok || !named {
		return
	}
	values, err := f.p.anyColumn(path, name)
	if f.p.fileFault(n, at, path, err) {
		return
	}
	x.Values = values
}

// anyColumn reads a column of a file inside the genome's folder that has as many rows as it likes, at least one.
func (p *parser) anyColumn(file, name string) ([]float64, error) {
	values, err := p.column(file, name, anyRows, func(x float64) (float64, string) {
		if math.Abs(x) > math.MaxFloat32 {
			return x, fmt.Sprintf("%g, want a number within ±3.4e38", x)
		}
		return x, ""
	})
	if err == nil && len(values) == 0 {
		err = errors.New("expects at least one row below the header, found none")
	}
	return values, err
}

// rising refuses a factor of a rate that is below 0 in a list or file, or in all bursts. A sine below 0 counts as 0.
func (f *fields) rising(x *Factor) *Factor {
	switch {
	case x == nil:
	case x.Kind != Sine && x.Lo < 0:
		f.fault("factor", "expects a factor of at least 0 for a rate, found %g", x.Lo)
		return nil
	case x.Hi < 0:
		f.fault("factor", "expects a factor for a rate that is above 0 in some bursts, found a sine from %g to %g", x.Lo, x.Hi)
		return nil
	}
	return x
}
