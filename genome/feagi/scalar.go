package feagi

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// toNumber takes a number, also one that stands in quotes or as true or false.
func toNumber(what any) (float64, bool) {
	switch x := what.(type) {
	case json.Number:
		f, err := x.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// real reads a number of an area; absent and null give the default, which is noted. ok is false unless the file has one.
func (im *importer) real(a *area, name string, fallback float64) (x float64, e entry, ok bool) {
	e, there := a.genes[name]
	if e.what == nil {
		key := e.key
		if !there {
			key = name
		}
		a.note(key, Defaulted, "", number(fallback), "")
		return fallback, entry{key: key, value: value{at: a.at}}, false
	}
	if x, ok = toNumber(e.what); ok && math.Abs(x) <= math.MaxFloat32 {
		return x, e, true
	}
	im.fault(e.at, a.where(e.key), "expects a number within ±3.4e38, found %s", e.value)
	return fallback, e, false
}

// whole reads a number from 0 to most; fractions are cut off and what is above most becomes most.
func (im *importer) whole(a *area, name string, fallback, most uint64, fates bool) (uint64, entry) {
	x, e, ok := im.real(a, name, float64(fallback))
	switch {
	case !ok:
		return fallback, e
	case x < 0:
		im.fault(e.at, a.where(e.key), "expects a whole number from 0, found %s", e.value)
		return fallback, e
	}
	n := uint64(math.Floor(math.Min(x, float64(most))))
	switch {
	case !fates:
	case float64(n) == x:
		a.note(e.key, Carried, e.String(), "", "")
	case x > float64(most):
		a.note(e.key, Converted, e.String(), fmt.Sprint(n), "the largest there is")
	default:
		a.note(e.key, Converted, e.String(), fmt.Sprint(n), "a whole number is wanted")
	}
	return n, e
}

// flag reads true or false.
func (im *importer) flag(a *area, name string, fallback bool) bool {
	e, there := a.genes[name]
	if e.what == nil {
		key := e.key
		if !there {
			key = name
		}
		a.note(key, Defaulted, "", strconv.FormatBool(fallback), "")
		return fallback
	}
	switch x := e.what.(type) {
	case bool:
		a.note(e.key, Carried, e.String(), "", "")
		return x
	case string:
		if b, err := strconv.ParseBool(strings.ToLower(x)); err == nil {
			a.note(e.key, Converted, e.String(), strconv.FormatBool(b), "")
			return b
		}
	case json.Number:
		if f, ok := toNumber(x); ok && (f == 0 || f == 1) {
			a.note(e.key, Converted, e.String(), strconv.FormatBool(f == 1), "")
			return f == 1
		}
	}
	im.fault(e.at, a.where(e.key), "expects true or false, found %s", e.value)
	return fallback
}
