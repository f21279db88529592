package connectome

import (
	"slices"

	"burst/genome"
)

// vectors reach source + v, where that lies in the target area; each vector stands here once.
type vectors struct {
	to   [3]int64
	list [][3]int64
}

func newVectors(m *genome.Mapper, _, to [3]int64) (shape morphology, disjoint bool) {
	v := &vectors{to: to, list: slices.Clone(m.Vectors)}
	slices.SortFunc(v.list, func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) })
	v.list = slices.Compact(v.list)
	return v, true
}

func (v *vectors) boxes(at [3]int64, out []box) []box {
next:
	for _, d := range v.list {
		var b box
		for i := range d {
			if d[i] < -at[i] || d[i] >= v.to[i]-at[i] {
				continue next
			}
			b[i] = only(at[i] + d[i])
		}
		out = append(out, b)
	}
	return out
}

// patterns reach what FEAGI's pattern elements describe.
type patterns struct {
	to   [3]int64
	list []genome.Pattern
}

// newPatterns keeps each pattern once; "?" and "!" as source elements match anything, as "*" does.
func newPatterns(m *genome.Mapper, _, to [3]int64) (shape morphology, disjoint bool) {
	p := &patterns{to: to}
	for _, one := range m.Patterns {
		for i := range one.From {
			if one.From[i].Kind != genome.Exact {
				one.From[i] = genome.PatternElem{Kind: genome.Any}
			}
			if one.To[i].Kind != genome.Exact {
				one.To[i].Coord = 0
			}
		}
		if !slices.Contains(p.list, one) {
			p.list = append(p.list, one)
		}
	}
	return p, false
}

func (p *patterns) boxes(at [3]int64, out []box) []box {
next:
	for i := range p.list {
		var b box
		for k := range b {
			if from := p.list[i].From[k]; from.Kind == genome.Exact && from.Coord != at[k] {
				continue next
			}
			b[k] = p.along(p.list[i].To[k], at[k], k)
			if b[k].size() == 0 {
				continue next
			}
		}
		out = append(out, b)
	}
	return out
}

// along is what a destination element describes on axis k for a source at c.
func (p *patterns) along(to genome.PatternElem, c int64, k int) axis {
	whole := axis{0, p.to[k], noHole, 0}
	switch to.Kind {
	case genome.Any:
		return whole
	case genome.Other:
		whole.hole = c
		return whole
	case genome.Exact:
		c = to.Coord
	}
	if !whole.has(c) {
		return axis{}
	}
	return only(c)
}
