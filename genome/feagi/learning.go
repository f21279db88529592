package feagi

import (
	"fmt"
	"math"
)

// startRoom is by how much the bound of a weight lies above it where FEAGI's ceiling does not: weights start from whole quanta, and
// there are a thousand or more to the unit unless inputs are large.
const startRoom = 0.001

// learning is by what a mapping learns.
type learning struct {
	window             float64 // bursts; 0: the rule has none
	constant, ltp, ltd float64
}

// mostWindow is the longest window that burst's rules have.
const mostWindow = 255

// pythonWindow is the window of all rules of FEAGI's Python server, whatever the file says.
const pythonWindow = 3

// noCeiling bounds the weights of FEAGI's released server, which has no ceiling: those that burst has no room for end the run.
const noCeiling = 3e38

// learning reads the constants of a rule whose plasticity_flag is on; nil where one is at fault.
func (im *importer) learning(m *mapping, parts map[string]value, key string) *learning {
	l, sound := &learning{constant: 1, ltp: 1, ltd: 1}, true
	read := func(field string, into *float64) {
		v := parts[field]
		x, ok := toNumber(v.what)
		if !ok || math.Abs(x) > math.MaxFloat32 {
			im.fault(v.at, m.where+", "+field, "expects a number within ±3.4e38, found %s", v)
			sound = false
		}
		*into = x
	}
	for i, into := range []*float64{&l.constant, &l.ltp, &l.ltd} {
		if field := fields[4+i]; !m.absent(parts, key, field, "1") {
			read(field, into)
		}
	}
	const field = "plasticity_window"
	v := parts[field]
	switch {
	case im.python():
		if v.what != nil {
			m.from.note(key+"."+field, NoEffect, v.String(), "", fmt.Sprintf("the window of FEAGI's Python server is always %d bursts", pythonWindow))
		}
		l.window = pythonWindow
	case im.release() && !atLeast1(v):
		if m.refused = "plasticity and no " + field; v.what != nil {
			m.refused = field + " " + v.String()
		}
		l.window = float64(im.o.Window)
	case v.what == nil:
		l.window = float64(im.o.Window)
	default:
		if read(field, &l.window); sound && (l.window < 1 || l.window > mostWindow || l.window != math.Trunc(l.window)) {
			im.fault(v.at, m.where+", "+field, "expects a whole number of bursts from 1 to %d, found %s", mostWindow, v)
			sound = false
		}
	}
	if !sound {
		return nil
	}
	return l
}

// atLeast1 says that a value is a number of 1 or more.
func atLeast1(v value) bool {
	x, ok := toNumber(v.what)
	return ok && x >= 1
}

// pairs gives all mappings of a pair of areas of which one learns the rule of the pair, as FEAGI does.
func (im *importer) pairs(all []*mapping) {
	by := map[*area][]*mapping{}
	for _, m := range all {
		by[m.to] = append(by[m.to], m)
	}
	for _, m := range all {
		if list := by[m.to]; list != nil {
			im.pair(list)
			by[m.to] = nil
		}
	}
}

// pair works out the rule of a pair of areas.
func (im *importer) pair(list []*mapping) {
	var l *learning
	rules := 0
	for _, m := range list {
		switch own := m.own; {
		case own == nil:
			continue
		case own.window == 0 && m.connection == nil:
			continue
		case own.window == 0:
			im.dropped(&m.from.report.Lines, m.at, m.where, Note{Key: m.key, From: "plasticity", Reason: "a rule without plasticity_window, which FEAGI refuses: synapses keep their weights; --plasticity-window gives it one"})
			continue
		case l != nil && im.python(): // each rule changes all synapses of the pair
			l = &learning{window: l.window, constant: 1, ltp: l.constant*l.ltp + own.constant*own.ltp, ltd: l.constant*l.ltd + own.constant*own.ltd}
		default: // the last rule counts
			l = own
		}
		rules++
	}
	if l == nil {
		return
	}
	for _, m := range list {
		why := ""
		switch {
		case m.connection == nil: // no synapses
			continue
		case len(list) == 1:
		case im.python() && rules > 1:
			why = fmt.Sprintf("FEAGI applies the %d rules of a pair of areas to all of its synapses, one after the other; mappings are not merged", rules)
		case m.own == nil:
			why = "FEAGI keeps one rule for a pair of areas, which changes the synapses of this mapping too; mappings are not merged"
		default:
			why = "FEAGI keeps the last rule of a pair of areas for all of its synapses; mappings are not merged"
		}
		im.learn(m, l, why)
	}
}

// learn writes by what a mapping learns.
func (im *importer) learn(m *mapping, l *learning, why string) {
	psp := im.psp(m.from)
	from := "no plasticity"
	if m.own != nil {
		from = fmt.Sprintf("plasticity, constant %s, ltp %s, ltd %s", number(m.own.constant), number(m.own.ltp), number(m.own.ltd))
	}
	if im.python() && m.weight*psp < 0 {
		im.dropped(&m.from.report.Lines, m.at, m.where, Note{Key: m.key, From: from, Reason: "synapses below 0 keep their weights: FEAGI's Python server makes them 0 or more at the first change"})
		return
	}
	rule, most := "feagi", noCeiling
	switch {
	case im.python():
		rule, most = "feagi-python", im.ceiling(m.from)
		if first := m.weight * psp; first >= most {
			most = first + startRoom
		}
	case !im.release():
		rule, most = "feagi-february", 255*math.Abs(psp)
	}
	bounds := "[0, " + number(most) + "]"
	if (m.weight < 0) != (psp < 0) {
		bounds = "[" + number(-most) + ", 0]"
	}
	m.plasticity = fmt.Sprintf("{rule: %s, window: %s, constant: %s, ltp: %s, ltd: %s, bounds: %s, overflow: fail}",
		rule, number(l.window), number(l.constant), number(l.ltp), number(l.ltd), bounds)
	m.from.note(m.key, Converted, from, "plasticity "+m.plasticity, why)
}

// ceiling is the largest weight of the synapses that leave an area in FEAGI's Python server.
func (im *importer) ceiling(a *area) float64 {
	const usual = 99999
	if x, ok := toNumber(a.genes["pstcrm"].what); ok && math.Abs(x) <= math.MaxFloat32 {
		return max(0, x)
	}
	return usual
}
