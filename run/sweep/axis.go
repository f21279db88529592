package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"burst/genome"
)

// Most is how many points a sweep has at most.
const Most = 100_000

// Axis is one value of a genome that is varied, or several that are the same in each point.
type Axis struct {
	Paths  []string `json:"paths"`  // as of genome.With
	Values []string `json:"values"` // YAML, with units
}

// ParseAxis reads PATH=VALUES, such as areas.E.params.tau=10ms,12ms,15ms or projections.0.weight=0.1..0.5/5. VALUES are values with commas
// between them, or FIRST..LAST/COUNT: so many at equal distances, both ends among them. A unit stands at LAST, or at both. Several paths
// with commas between them have the same value in each point.
func ParseAxis(s string) (Axis, error) {
	path, text := genome.CutSetting(s)
	if path == "" || text == "" {
		return Axis{}, fmt.Errorf("%q, want PATH=VALUES, such as areas.E.params.tau=10ms,12ms or projections.0.weight=0.1..0.5/5", s)
	}
	a := Axis{Paths: split(path)}
	var err error
	if a.Values, err = values(text); err != nil {
		return Axis{}, fmt.Errorf("%q, %w", s, err)
	}
	return a, nil
}

// split cuts at commas that are not within brackets or quotes.
func split(s string) (parts []string) {
	depth, quote, from := 0, byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, strings.TrimSpace(s[from:i])), i+1
		}
	}
	return append(parts, strings.TrimSpace(s[from:]))
}

// values reads a list or a range.
func values(s string) ([]string, error) {
	if first, rest, is := strings.Cut(s, ".."); is && !strings.ContainsAny(s, ",[({\"'") {
		last, count, _ := strings.Cut(rest, "/")
		return between(strings.TrimSpace(first), strings.TrimSpace(last), strings.TrimSpace(count))
	}
	list := split(s)
	for i, v := range list {
		if v == "" {
			return nil, fmt.Errorf("value %d is empty", i+1)
		}
		if at := slices.Index(list[:i], v); at >= 0 {
			return nil, fmt.Errorf("value %d is %s, as value %d is; want each once, and --trials or --seeds for several runs of it", i+1, v, at+1)
		}
	}
	return list, nil
}

// between gives so many values from first to last.
func between(first, last, count string) ([]string, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 2 || n > Most {
		return nil, fmt.Errorf("found %q as the count of a range, want FIRST..LAST/COUNT with a count of 2 to %d, such as 0.1..0.5/5", count, Most)
	}
	a, unitA, okA := quantity(first)
	b, unit, okB := quantity(last)
	if !okA || !okB || unitA != "" && unitA != unit || a == b {
		return nil, fmt.Errorf("found a range from %q to %q, want two different numbers with the same unit, such as 1mV..5mV/5", first, last)
	}
	list := make([]string, n)
	for i := range list {
		x := a + (b-a)*float64(i)/float64(n-1)
		list[i] = strconv.FormatFloat(round(x, math.Max(math.Abs(a), math.Abs(b))), 'g', -1, 64)
		if unit != "" {
			list[i] += " " + unit
		}
	}
	return list, nil
}

// round gives x twelve digits of the largest number beside it, so that 0.1 three times is 0.3.
func round(x, largest float64) float64 {
	if largest == 0 {
		return 0
	}
	digits := 11 - int(math.Floor(math.Log10(largest)))
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', max(digits, 0), 64), 64)
	if err != nil {
		return x
	}
	return y + 0 // no −0
}

// quantity reads a number and what stands behind it.
func quantity(s string) (x float64, unit string, ok bool) {
	for end := len(s); end > 0; end-- {
		if x, err := strconv.ParseFloat(s[:end], 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			unit = strings.TrimSpace(s[end:])
			return x, unit, !strings.ContainsAny(unit, "0123456789,()[]{}\"'")
		}
	}
	return 0, "", false
}

// Name is what the axis is called in tables and pictures: its paths.
func (a *Axis) Name() string { return strings.Join(a.Paths, ",") }

// Numbers are the values as numbers of one unit; ok is false where they are not.
func (a *Axis) Numbers() (x []float64, unit string, ok bool) {
	for i, v := range a.Values {
		n, u, is := quantity(v)
		if !is || i > 0 && u != unit {
			return nil, "", false
		}
		x, unit = append(x, n), u
	}
	return x, unit, true
}

// settings are what the axis sets at its i-th value.
func (a *Axis) settings(i int) (list []string) {
	for _, path := range a.Paths {
		list = append(list, path+"="+a.Values[i])
	}
	return list
}

// ParseSeeds reads A..B, or seeds and such ranges with commas between them.
func ParseSeeds(s string) (seeds []uint64, err error) {
	wrong := fmt.Errorf("%q, want A..B with A of at most B, or a list such as 1,5,9..12, of at most %d seeds", s, Most)
	for part := range strings.SplitSeq(s, ",") {
		a, b, ranged := strings.Cut(part, "..")
		if !ranged {
			b = a
		}
		first, errA := strconv.ParseUint(strings.TrimSpace(a), 10, 64)
		last, errB := strconv.ParseUint(strings.TrimSpace(b), 10, 64)
		if errA != nil || errB != nil || first > last || last-first >= uint64(Most-len(seeds)) {
			return nil, wrong
		}
		for i := range last - first + 1 {
			seeds = append(seeds, first+i)
		}
	}
	sorted := slices.Sorted(slices.Values(seeds))
	for i := range len(sorted) - 1 {
		if sorted[i] == sorted[i+1] {
			return nil, fmt.Errorf("%q has seed %d twice, want each once", s, sorted[i])
		}
	}
	return seeds, nil
}
