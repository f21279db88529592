package connectome

// agreed encodes what a part sends to the others: its numbers, then the sums of its ports, ascending.
type agreed struct {
	synapses, byRule uint64
	maxDelay         int
	plastic          []uint32 // for each plastic projection: its longest delay, and the number of synapses onto each of the part's ports
	sums             []uint64
}

func (a *agreed) words() []uint32 {
	words := make([]uint32, 0, 5+2*len(a.sums))
	put := func(x uint64) { words = append(words, uint32(x), uint32(x>>32)) }
	put(a.synapses)
	put(a.byRule)
	words = append(words, uint32(a.maxDelay), uint32(len(a.plastic)))
	words = append(words, a.plastic...)
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
	a.maxDelay, a.plastic, words = int(words[0]), words[2:2+words[1]], words[2+words[1]:]
	for a.sums = a.sums[:0]; len(words) > 0; {
		a.sums = append(a.sums, take())
	}
}

// agree gives all parts the same longest delay, number of synapses and sums of all ports. So every part checks the bounds of
// the whole network, and refuses it with the same error.
func (p *plan) agree(c *Connectome, sums []uint64) error {
	c.total = c.Synapses() + c.apartHere()
	if p.allgather == nil {
		return nil
	}
	mine := agreed{synapses: c.total, byRule: c.ByRule, maxDelay: c.MaxDelay}
	for i := range c.Plastic {
		m := &c.Plastic[i]
		mine.plastic = append(mine.plastic, m.Longest)
		p.eachPort(p.part, func(port uint64) {
			if m.Ports.Has(uint32(port)) {
				mine.plastic = append(mine.plastic, m.In[uint32(port)-m.Ports.First])
			}
		})
	}
	p.eachPort(p.part, func(port uint64) { mine.sums = append(mine.sums, sums[port]) })
	all, err := p.allgather(mine.words())
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
		learnt := theirs.plastic
		for k := range c.Plastic {
			m := &c.Plastic[k]
			m.Longest, learnt = max(m.Longest, learnt[0]), learnt[1:]
			p.eachPort(Part{i, len(all)}, func(port uint64) {
				if m.Ports.Has(uint32(port)) {
					m.In[uint32(port)-m.Ports.First], learnt = learnt[0], learnt[1:]
				}
			})
		}
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
