package connectome

// agreed is what a part tells the others of itself: its numbers, then the sums of its ports, ascending.
type agreed struct {
	synapses, byRule uint64
	maxDelay         int
	sums             []uint64
}

func (a *agreed) words() []uint32 {
	words := make([]uint32, 0, 5+2*len(a.sums))
	put := func(x uint64) { words = append(words, uint32(x), uint32(x>>32)) }
	put(a.synapses)
	put(a.byRule)
	words = append(words, uint32(a.maxDelay))
	for _, s := range a.sums {
		put(s)
	}
	return words
}

func (a *agreed) read(words []uint32) {
	take := func() uint64 {
		x := uint64(words[1])<<32 | uint64(words[0])
		words = words[2:]
		return x
	}
	a.synapses, a.byRule = take(), take()
	a.maxDelay, words = int(words[0]), words[1:]
	for a.sums = a.sums[:0]; len(words) > 0; {
		a.sums = append(a.sums, take())
	}
}

// agree makes what all parts must know the same on each: the longest delay, the number of synapses and the sums of all
// ports, so that every part proves the whole network, and refuses it with the same words.
func (p *plan) agree(c *Connectome, sums []uint64) error {
	c.total = c.Synapses()
	if p.gather == nil {
		return nil
	}
	mine := agreed{synapses: c.Synapses(), byRule: c.ByRule, maxDelay: c.MaxDelay}
	p.eachPort(p.part, func(port uint64) { mine.sums = append(mine.sums, sums[port]) })
	all, err := p.gather(mine.words())
	if err != nil {
		return err
	}
	c.total, c.ByRule = 0, 0
	var theirs agreed
	for i, words := range all {
		if len(words) == 0 {
			return ErrElsewhere
		}
		theirs.read(words)
		c.total += theirs.synapses
		c.ByRule += theirs.byRule
		c.MaxDelay = max(c.MaxDelay, theirs.maxDelay)
		rest := theirs.sums
		p.eachPort(Part{i, len(all)}, func(port uint64) { sums[port], rest = rest[0], rest[1:] })
	}
	return nil
}

// eachPort calls take for the ports of a part's neurons, ascending.
func (p *plan) eachPort(part Part, take func(port uint64)) {
	for i, neurons := range p.areas {
		ports := p.ports[i]
		for first := uint64(ports.First); first < uint64(ports.End()); first += uint64(neurons.Count) {
			for n := part.Next(uint64(neurons.First)); n < uint64(neurons.End()); n = part.Next(n + 1) {
				take(first + n - uint64(neurons.First))
			}
		}
	}
}
