package genome

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// unit is a unit of measure. A number in it is multiplied by mul and divided by div to give the dimension's base unit. With
// both, the result is in most cases the float64 nearest to the written number: 1500 us is 1500/1000 ms.
type unit struct {
	name     string
	dim      Dimension
	mul, div float64
}

// units lists every unit a genome may use.
func units() []unit { return allUnits[:] }

var allUnits = [...]unit{
	{"ms", Time, 1, 1}, {"s", Time, 1000, 1}, {"us", Time, 1, 1000},
	{"mV", Voltage, 1, 1}, {"V", Voltage, 1000, 1},
	{"pA", Current, 1, 1}, {"nA", Current, 1000, 1},
	{"Hz", Frequency, 1, 1}, {"kHz", Frequency, 1000, 1},
	{"pF", Capacitance, 1, 1}, {"nF", Capacitance, 1000, 1},
	{"nS", Conductance, 1, 1}, {"uS", Conductance, 1000, 1},
	{"weight", Weight, 1, 1},
	{"um", Length, 1, 1}, {"mm", Length, 1000, 1}, {"m", Length, 1e6, 1},
}

// String is the dimension's name in messages and in the documentation.
func (d Dimension) String() string {
	return [...]string{"plain number", "number of bursts", "time", "voltage", "current", "frequency", "capacitance", "conductance", "true or false", "weight", "length"}[d]
}

// BaseUnit is the unit in which a Genome holds numbers of the dimension; "" for plain numbers, flags and weights.
func (d Dimension) BaseUnit() string {
	return [...]string{"", "bursts", "ms", "mV", "pA", "Hz", "pF", "nS", "", "", "um"}[d]
}

// example is a quantity of the dimension as a genome would write it.
func (d Dimension) example() string {
	return [...]string{"1.5", "2", "2 ms", "-65 mV", "100 pA", "10 Hz", "250 pF", "5 nS", "true", "1 weight", "100 um"}[d]
}

// article is the dimension's name with its article.
func (d Dimension) article() string { return "a " + d.String() }

// mistake is a mistake in a scalar. offset is its first byte in the scalar.
type mistake struct {
	message, suggestion string
	offset              int
}

func wrong(offset int, suggestion, format string, args ...any) *mistake {
	return &mistake{fmt.Sprintf(format, args...), suggestion, offset}
}

// number reads a decimal number: digits, at most one point, and perhaps an exponent. Other numbers of YAML are refused.
func number(text string) (float64, *mistake) {
	digits := strings.TrimLeft(text, "+-")
	switch strings.ToLower(strings.TrimPrefix(digits, ".")) {
	case "nan", "inf", "infinity":
		return 0, wrong(0, "", "expects a finite number, found %s", short(text))
	}
	if n := numeric(text); n == 0 || n != len(text) {
		return 0, wrong(0, "", "expects a decimal number, found %q", short(text))
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		sign := text[:len(text)-len(digits)]
		return 0, wrong(0, sign+cmp.Or(strings.TrimLeft(digits, "0"), "0"), "expects a decimal number, found %s, which YAML may read as octal", short(text))
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) {
		return 0, wrong(0, "", "expects a finite number, found %s, which is out of range", short(text))
	}
	return x, nil
}

// numeric is the length of the decimal number at the beginning of text; 0 if there is none.
func numeric(text string) int {
	i, digits := 0, 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		i++
	}
	run := func() {
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
			digits++
		}
	}
	run()
	if i < len(text) && text[i] == '.' {
		i++
		run()
	}
	if digits == 0 {
		return 0
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		mark := i
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		before := digits
		if run(); digits == before {
			i = mark
		}
	}
	return i
}

// quantity reads a number with or without a unit. The dimension of a bare number is Plain. For an unknown unit the message
// lists the units of the wanted dimensions.
func quantity(text string, wanted ...Dimension) (float64, Dimension, *mistake) {
	n := numeric(text)
	name := strings.TrimLeft(text[n:], " ")
	if n == 0 || name == "" {
		x, m := number(strings.TrimRight(text, " "))
		if n == 0 && text != "" && strings.HasPrefix(m.message, "expects a decimal number") {
			m.message = fmt.Sprintf("expects %s, found %q", ways(wanted), short(text))
		}
		return x, Plain, m
	}
	x, m := number(text[:n])
	if m != nil {
		return 0, Plain, m
	}
	for _, u := range units() {
		if u.name == name {
			if x = float64(x*u.mul) / u.div; math.IsInf(x, 0) {
				return 0, u.dim, wrong(0, "", "expects a finite number, found %s, which is out of range", short(text))
			}
			return x, u.dim, nil
		}
	}
	names := unitNames(wanted)
	switch {
	case name == "%" && slices.Contains(wanted, Plain):
		return 0, Plain, wrong(0, strconv.FormatFloat(x/100, 'g', 12, 64), "expects a plain number, found %s", short(text))
	case len(names) == 0 && strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }):
		return 0, Plain, wrong(0, "", "expects a plain number, found %s", short(text))
	case len(names) == 0:
		return 0, Plain, wrong(0, text[:n], "expects a plain number, found %s", short(text))
	}
	return 0, Plain, wrong(len(text)-len(name), nearestUnit(name, names), "unknown unit %q, wanted one of %s", short(name), strings.Join(names, ", "))
}

// ways says what quantities of dimensions may look like: a time such as 2 ms or a voltage such as -65 mV.
func ways(dims []Dimension) string {
	var ways []string
	for _, d := range dims {
		ways = append(ways, d.article()+" such as "+d.example())
	}
	return strings.Join(ways, " or ")
}

// unitNames are the names of the units of dimensions.
func unitNames(dims []Dimension) (names []string) {
	for _, u := range units() {
		if slices.Contains(dims, u.dim) || u.dim == Time && slices.Contains(dims, Bursts) {
			names = append(names, u.name)
		}
	}
	return names
}

// nearestUnit is Nearest for units. It also knows the micro sign and units written out.
func nearestUnit(name string, names []string) string {
	for _, alias := range [...][2]string{
		{"µs", "us"}, {"μs", "us"}, {"µS", "uS"}, {"μS", "uS"}, {"sec", "s"}, {"second", "s"}, {"seconds", "s"}, {"msec", "ms"}, {"millisecond", "ms"},
		{"milliseconds", "ms"}, {"µm", "um"}, {"μm", "um"}, {"micron", "um"}, {"microns", "um"}, {"volt", "V"}, {"millivolt", "mV"}, {"hertz", "Hz"},
	} {
		if strings.EqualFold(alias[0], name) && slices.Contains(names, alias[1]) {
			return alias[1]
		}
	}
	return Nearest(name, names)
}

// within reads a quantity that must be of dimension dim. For Bursts a time is divided by timestep.
func within(text string, dim Dimension, timestep float64) (float64, *mistake) {
	x, got, m := quantity(text, dim)
	switch {
	case m != nil:
		return 0, m
	case got == dim:
		return x, nil
	case dim == Bursts && got == Plain:
		return x, nil
	case dim == Bursts && got == Time:
		return float64(x / timestep), nil
	case dim == Bursts:
		return 0, wrong(0, "", "expects a number of bursts such as 2 or a time such as 2 ms, found %s", short(text))
	case dim == Plain:
		return 0, wrong(0, text[:numeric(text)], "expects a plain number, found %s", short(text))
	case got == Plain:
		return 0, wrong(0, "", "expects %s such as %s, found %s without a unit", dim.article(), dim.example(), short(text))
	}
	return 0, wrong(0, "", "expects %s such as %s, found %s", dim.article(), dim.example(), short(text))
}

// wholeBursts rounds a number of bursts. It must be within 1e-6 of a whole number.
func wholeBursts(x, timestep float64) (float64, *mistake) {
	n := math.Round(x)
	if math.Abs(x-n) <= 1e-6 {
		return n, nil
	}
	down := math.Floor(x)
	say := func(bursts float64) string { return strconv.FormatFloat(float64(bursts*timestep), 'g', 9, 64) + " ms" }
	return 0, wrong(0, say(n), "expects whole bursts of %s, found %.9g bursts; the nearest are %s and %s",
		say(1), x, say(down), say(down+1))
}
