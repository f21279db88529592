package genome

import (
	"math"
	"slices"

	"gopkg.in/yaml.v3"
)

func (p *parser) projector(f *fields, m *Mapper) {
	axes, end, division := 0, 0, 0
	f.choice("axes", &axes)
	f.choice("division", &division)
	m.Single = division == 1
	m.Axes = AxisOrder(axes)
	if f.choice("from_end", &end) {
		m.FromEnd = XAxis + Axis(end)
	}
}

func (p *parser) blockToBlock(f *fields, m *Mapper) {
	m.Divide = [3]uint64{1, 1, 1}
	_, at, k := f.get("divide")
	for i, n := range f.list("divide") {
		if x, ok := p.whole(n, at.item(i), k.Item.Low, k.Item.High); ok {
			m.Divide[i] = x
		}
	}
}

// onto copies the rule's values to a projection.
func (m *Mapper) onto(pr *Projection) {
	pr.Axes, pr.FromEnd, pr.Single, pr.Divide, pr.Vectors, pr.Patterns = m.Axes, m.FromEnd, m.Single, m.Divide, m.Vectors, m.Patterns
}

// composite reads the blocks and the mapper of a composite.
func (p *parser) composite(f *fields, pr *Projection) {
	f.must("src_seed", "composite")
	f.must("mapper", "composite")
	pr.Blocks, pr.Choose = [3]uint64{1, 1, 1}, [3][2]uint64{{1, 0}, {1, 0}, {1, 0}}
	_, at, k := f.get("src_seed")
	for i, n := range f.list("src_seed") {
		if x, ok := p.whole(n, at.item(i), k.Item.Low, k.Item.High); ok {
			pr.Blocks[i] = x
		}
	}
	_, at, k = f.get("src_pattern")
	for i, n := range f.list("src_pattern") {
		for j, e := range p.list(n, at.item(i), k.Item) {
			if x, ok := p.whole(e, at.item(i).item(j), uint64(1-j), maxOffset); ok {
				pr.Choose[i][j] = x
			}
		}
	}
	n, at, k := f.get("mapper")
	if n == nil {
		return
	}
	m, ok := p.fields(n, at, k.Keys)
	if i := 0; ok && m.choice("rule", &i) {
		name := m.keys[index(m.keys, "rule")].Choices[i]
		m.only("rule", name)
		pr.Mapper = &Mapper{Pos: pos(n), Rule: Rule(slices.IndexFunc(p.rules, func(r rule) bool { return r.name == name }))}
		p.rules[pr.Mapper.Rule].voxels(p, m, pr.Mapper)
	}
}

func (p *parser) vectors(f *fields, m *Mapper) {
	f.must("vectors", "vectors")
	_, at, k := f.get("vectors")
	for i, n := range f.list("vectors") {
		var v [3]int64
		for j, e := range p.list(n, at.item(i), k.Item) {
			v[j], _ = p.integer(e, at.item(i).item(j))
		}
		m.Vectors = append(m.Vectors, v)
	}
}

func (p *parser) patterns(f *fields, m *Mapper) {
	f.must("patterns", "patterns")
	_, at, k := f.get("patterns")
	for i, n := range f.list("patterns") {
		var pattern Pattern
		for side, e := range p.list(n, at.item(i), k.Item) {
			into := &pattern.From
			if side == 1 {
				into = &pattern.To
			}
			for j, c := range p.list(e, at.item(i).item(side), k.Item.Item) {
				into[j] = p.patternElem(c, at.item(i).item(side).item(j))
			}
		}
		m.Patterns = append(m.Patterns, pattern)
	}
}

// patternElem reads a coordinate or a wildcard. A coordinate outside the area is allowed; it matches no voxel.
func (p *parser) patternElem(n *yaml.Node, at *path) PatternElem {
	const wanted = `a coordinate, "*", "?" or "!"`
	text, ok := p.scalar(n, at, wanted)
	if !ok {
		return PatternElem{}
	}
	switch text {
	case "*":
		return PatternElem{Kind: Any}
	case "?":
		return PatternElem{Kind: Same}
	case "!":
		return PatternElem{Kind: Other}
	}
	if numeric(text) != len(text) {
		p.fault(n, at, "", "expects %s, found %s", wanted, found(n))
		return PatternElem{}
	}
	x, _ := p.whole(n, at, 0, maxOffset)
	return PatternElem{Kind: Exact, Coord: int64(x)}
}

// addressed reads neurons of an area, given as neurons or voxels, ascending.
func (f *fields) addressed(area int) []uint32 {
	switch {
	case f.has("neurons") && f.has("voxels"):
		f.faultKey("voxels", "", "expects either neurons or voxels, found both")
		return nil
	case f.has("voxels"):
		return f.voxels(area)
	}
	a := &Area{}
	if area >= 0 {
		a = &f.p.g.Areas[area]
	}
	return f.neurons(a)
}

// voxels reads a list of voxels and returns all their neurons.
func (f *fields) voxels(area int) []uint32 {
	_, at, k := f.get("voxels")
	list := f.list("voxels")
	if area < 0 || f.p.g.Areas[area].Neurons() == 0 {
		return nil
	}
	a := &f.p.g.Areas[area]
	if each := a.PerVoxel; uint64(len(list)) > maxLit/each || a.Neurons() > math.MaxUint32 {
		f.fault("voxels", "expects voxels with at most %d neurons in all, found %d voxels with %d neurons each", maxLit, len(list), each)
		return nil
	}
	var places []spot
	for i, n := range list {
		var c [3]uint64
		fine := false
		for j, e := range f.p.list(n, at.item(i), k.Item) {
			c[j], fine = f.p.whole(e, at.item(i).item(j), 0, a.Size[j]-1)
			if !fine {
				break
			}
		}
		if fine {
			first, _ := a.Voxel(c[0], c[1], c[2])
			places = append(places, spot{uint32(first), i})
		}
	}
	var ids []uint32
	for _, first := range f.sorted("voxels", places) {
		for j := range a.PerVoxel {
			ids = append(ids, first+uint32(j))
		}
	}
	return ids
}
