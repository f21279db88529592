package genome

import (
	"math"

	"gopkg.in/yaml.v3"
)

// voxelRule reads the keys of a rule that goes by voxels into m.
func (p *parser) voxelRule(f *fields, m Mapper) *Mapper {
	switch m.Rule {
	case Projector:
		axes, end := 0, 0
		f.choice("axes", &axes)
		m.Axes = AxisOrder(axes)
		if f.choice("from_end", &end) {
			m.FromEnd = XAxis + Axis(end)
		}
	case BlockToBlock:
		m.Divide = [3]uint64{1, 1, 1}
		_, at, k := f.get("divide")
		for i, n := range f.list("divide") {
			if x, ok := p.whole(n, at.item(i), k.Item.Low, k.Item.High); ok {
				m.Divide[i] = x
			}
		}
	case Vectors:
		f.must("vectors", "vectors")
		m.Vectors = p.vectors(f)
	case Patterns:
		f.must("patterns", "patterns")
		m.Patterns = p.patterns(f)
	}
	return &m
}

// onto makes the rule the projection's own.
func (m *Mapper) onto(pr *Projection) {
	pr.Axes, pr.FromEnd, pr.Divide, pr.Vectors, pr.Patterns = m.Axes, m.FromEnd, m.Divide, m.Vectors, m.Patterns
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
	if rule := 0; ok && m.choice("rule", &rule) {
		m.only("rule", Mappers()[rule].String())
		pr.Mapper = p.voxelRule(m, Mapper{Pos: pos(n), Rule: Mappers()[rule]})
	}
}

func (p *parser) vectors(f *fields) [][3]int64 {
	var list [][3]int64
	_, at, k := f.get("vectors")
	for i, n := range f.list("vectors") {
		var v [3]int64
		for j, e := range p.list(n, at.item(i), k.Item) {
			v[j], _ = p.integer(e, at.item(i).item(j))
		}
		list = append(list, v)
	}
	return list
}

func (p *parser) patterns(f *fields) []Pattern {
	var list []Pattern
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
		list = append(list, pattern)
	}
	return list
}

// patternElem reads a coordinate or a wildcard. A coordinate may lie outside the area: it matches and reaches nothing.
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

// addressed reads which neurons of an area are meant, by neurons or voxels, ascending.
func (f *fields) addressed(area int) []uint32 {
	switch {
	case f.has("neurons") && f.has("voxels"):
		f.faultKey("voxels", "", "both neurons and voxels found, one of them wanted")
		return nil
	case f.has("voxels"):
		return f.voxels(area)
	}
	return f.neurons(area)
}

// voxels reads a list of voxels and gives all their neurons.
func (f *fields) voxels(area int) []uint32 {
	_, at, k := f.get("voxels")
	list := f.list("voxels")
	if area < 0 || f.p.g.Areas[area].Neurons() == 0 {
		return nil
	}
	a := &f.p.g.Areas[area]
	if each := a.PerVoxel; uint64(len(list)) > maxLit/each || a.Neurons() > math.MaxUint32 {
		f.fault("voxels", "expects voxels of at most %d neurons in all, found %d of %d each", maxLit, len(list), each)
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
