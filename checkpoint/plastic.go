package checkpoint

import (
	"io"

	"burst/engine"
)

// plasticFormat is that of a state with plastic projections. Other files stay of format 1, whose bytes older programs read.
const plasticFormat = 2

// sizesSection has sizeWords numbers for each projection, by which the other sections are cut.
const sizesSection = "plastic sizes"

// The numbers of sizesSection.
const (
	synapses       = iota // of the projection, in the whole network
	synapseValues         // variables of a synapse beside the weight
	sources               // neurons of the source area
	sourceTraces          // traces of a source
	sourceValues          // variables of a source
	targets               // neurons of the target area
	targetTraces          // traces of a target
	modulatorCount        // modulators
	sizeWords             // how many numbers there are
)

// learnt is a section of plastic projections: arrays of one kind, those of a projection after those of the one before.
type learnt struct {
	name    string
	entries int // which number of sizesSection tells how long each array is
	numbers func(*engine.Plastic) []*[]float32
	bursts  func(*engine.Plastic) *[]uint64 // in place of numbers
}

// plasticSections are these sections in their order.
var plasticSections = []learnt{
	{name: "weights", entries: synapses, numbers: func(p *engine.Plastic) []*[]float32 { return []*[]float32{&p.Weight} }},
	{name: "synapse values", entries: synapses, numbers: func(p *engine.Plastic) []*[]float32 { return each(p.Synapse) }},
	{name: "source traces", entries: sources, numbers: func(p *engine.Plastic) []*[]float32 { return each(p.Pre) }},
	{name: "source spikes", entries: sources, bursts: func(p *engine.Plastic) *[]uint64 { return &p.PreLast }},
	{name: "source values", entries: sources, numbers: func(p *engine.Plastic) []*[]float32 { return each(p.Source) }},
	{name: "target traces", entries: targets, numbers: func(p *engine.Plastic) []*[]float32 { return each(p.Post) }},
	{name: "target spikes", entries: targets, bursts: func(p *engine.Plastic) *[]uint64 { return &p.PostLast }},
	{name: "modulators", entries: modulatorCount, numbers: func(p *engine.Plastic) []*[]float32 { return []*[]float32{&p.Modulator} }},
	{name: "modulator bursts", entries: modulatorCount, bursts: func(p *engine.Plastic) *[]uint64 { return &p.ModulatorLast }},
}

func each(list [][]float32) (arrays []*[]float32) {
	for k := range list {
		arrays = append(arrays, &list[k])
	}
	return arrays
}

// sizesOf are the numbers of sizesSection.
func sizesOf(list []engine.Plastic) []uint64 {
	var sizes []uint64
	for i := range list {
		p := &list[i]
		for _, n := range [sizeWords]int{
			len(p.Weight), len(p.Synapse), len(p.PreLast), len(p.Pre), len(p.Source), len(p.PostLast), len(p.Post), len(p.Modulator),
		} {
			sizes = append(sizes, uint64(n))
		}
	}
	return sizes
}

// plasticParts lists the sections of what projections have learnt; none where nothing learns.
func (c *Checkpoint) plasticParts() []part {
	if len(c.State.Plastic) == 0 {
		return nil
	}
	list := []part{numbers(sizesSection, sizesOf(c.State.Plastic))}
	for k := range plasticSections {
		x, arrays := &plasticSections[k], []part{}
		for i := range c.State.Plastic {
			p := &c.State.Plastic[i]
			if x.bursts != nil {
				arrays = append(arrays, numbers("", *x.bursts(p)))
				continue
			}
			for _, values := range x.numbers(p) {
				arrays = append(arrays, numbers("", *values))
			}
		}
		list = append(list, joined(x.name, arrays))
	}
	return list
}

// joined is a section of several parts.
func joined(name string, parts []part) part {
	total := uint64(0)
	for _, p := range parts {
		total += p.length
	}
	return part{name, total, func(w io.Writer) error {
		for _, p := range parts {
			if err := p.write(w); err != nil {
				return err
			}
		}
		return nil
	}}
}

// plasticSection is the section of that name, nil where it is another one.
func plasticSection(name string) *learnt {
	for k := range plasticSections {
		if plasticSections[k].name == name {
			return &plasticSections[k]
		}
	}
	return nil
}

// mostArrays bounds the arrays that a file may ask for, which take memory even where they are empty: four times its size, and a
// mebibyte that is small anyway.
func mostArrays(fileBytes uint64) uint64 {
	const header = 24 // bytes of a slice
	return (4*fileBytes + 1<<20) / header
}

// plasticSizes makes the projections that sizesSection names, without their numbers.
func (r *reader) plasticSizes(sizes []uint64) error {
	n := len(sizes) / sizeWords
	if n == 0 || len(sizes)%sizeWords != 0 {
		return r.damaged(sizesSection, "%d numbers, want %d for each projection", len(sizes), sizeWords)
	}
	left := mostArrays(r.size)
	list := make([]engine.Plastic, n)
	for i := range list {
		p, size := &list[i], sizes[i*sizeWords:]
		for _, x := range []struct {
			count uint64
			into  *[][]float32
		}{{size[synapseValues], &p.Synapse}, {size[sourceTraces], &p.Pre}, {size[sourceValues], &p.Source}, {size[targetTraces], &p.Post}} {
			if x.count > left {
				return r.damaged(sizesSection, "projection %d has %d arrays of a kind, a file of %d bytes can hold %d more", i, x.count, r.size, left)
			}
			left -= x.count
			*x.into = make([][]float32, x.count)
		}
	}
	r.sizes, r.c.State.Plastic = sizes, list
	return nil
}

// learnt reads a section of what projections have learnt.
func (r *reader) learnt(x *learnt, e entry) error {
	if x.bursts != nil {
		all, err := items[uint64](r, e)
		if err != nil {
			return err
		}
		return cutArrays(r, x, all, func(p *engine.Plastic) []*[]uint64 { return []*[]uint64{x.bursts(p)} })
	}
	all, err := items[float32](r, e)
	if err != nil {
		return err
	}
	return cutArrays(r, x, all, x.numbers)
}

// cutArrays cuts the entries of a section into the arrays of each projection.
func cutArrays[T any](r *reader, x *learnt, all []T, arrays func(*engine.Plastic) []*[]T) error {
	for i := range r.c.State.Plastic {
		n := r.sizes[i*sizeWords+x.entries]
		for k, into := range arrays(&r.c.State.Plastic[i]) {
			if n > uint64(len(all)) {
				return r.damaged(x.name, "array %d of projection %d has %d entries, %d are left", k, i, n, len(all))
			}
			*into, all = all[:n:n], all[n:]
		}
	}
	if len(all) > 0 {
		return r.damaged(x.name, "%d entries belong to no projection", len(all))
	}
	return nil
}
