package checkpoint

import "burst/engine"

// memoryFormat is that of a state with memory areas. From this format on, a group of sections is there where its first one is.
const memoryFormat = 4

// The sections of memory areas, those of an area after those of the one before.
const (
	keptSection      = "memory areas" // for each: its neurons, and how many patterns were lost
	patternsSection  = "memory patterns"
	lifespansSection = "memory lifespans"
	longTermSection  = "memory long-term"
)

// keptWords is how many numbers of keptSection an area has.
const keptWords = 2

var memorySections = []string{keptSection, patternsSection, lifespansSection, longTermSection}

// memoryParts lists the sections of memory areas; none where there are none.
func (c *Checkpoint) memoryParts() []part {
	areas := c.State.Memory
	if len(areas) == 0 {
		return nil
	}
	var sizes []uint64
	var patterns, lifespans, longTerm []part
	for i := range areas {
		m := &areas[i]
		sizes = append(sizes, uint64(len(m.Pattern)), m.Lost)
		patterns, lifespans = append(patterns, numbers("", m.Pattern)), append(lifespans, numbers("", m.Lifespan))
		longTerm = append(longTerm, numbers("", m.LongTerm))
	}
	return []part{numbers(keptSection, sizes), joined(patternsSection, patterns), joined(lifespansSection, lifespans), joined(longTermSection, longTerm)}
}

// kept reads keptSection.
func (r *reader) kept(e entry) error {
	sizes, err := items[uint64](r, e)
	if err != nil {
		return err
	}
	if len(sizes) == 0 || len(sizes)%keptWords != 0 {
		return r.damaged(e.name, "%d numbers, want %d for each memory area", len(sizes), keptWords)
	}
	r.c.State.Memory = make([]engine.Memory, len(sizes)/keptWords)
	for i := range r.c.State.Memory {
		r.memorySizes = append(r.memorySizes, sizes[i*keptWords])
		r.c.State.Memory[i].Lost = sizes[i*keptWords+1]
	}
	return nil
}

// memory reads another section of memory areas; it reports false where it is none.
func (r *reader) memory(e entry) (bool, error) {
	switch e.name {
	case keptSection:
		return true, r.kept(e)
	case patternsSection:
		return true, cutMemory(r, e, func(m *engine.Memory) *[]uint64 { return &m.Pattern })
	case lifespansSection:
		return true, cutMemory(r, e, func(m *engine.Memory) *[]uint32 { return &m.Lifespan })
	case longTermSection:
		return true, cutMemory(r, e, func(m *engine.Memory) *[]uint8 { return &m.LongTerm })
	}
	return false, nil
}

// cutMemory reads a section and cuts it among the areas.
func cutMemory[T uint8 | uint32 | uint64](r *reader, e entry, of func(*engine.Memory) *[]T) error {
	all, err := items[T](r, e)
	if err != nil {
		return err
	}
	for i, n := range r.memorySizes {
		if n > uint64(len(all)) {
			return r.damaged(e.name, "memory area %d has %d neurons, %d are left", i, n, len(all))
		}
		*of(&r.c.State.Memory[i]), all = all[:n:n], all[n:]
	}
	if len(all) > 0 {
		return r.damaged(e.name, "%d entries belong to no memory area", len(all))
	}
	return nil
}
