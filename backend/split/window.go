package split

import "burst/connectome"

// room is how many words of candidates and potentials a part keeps for a window, where it is of more than one burst.
const room = 1 << 24

// agree finds out how many bursts the parts step before they gather: as many as the smallest delay of any part's synapses, for
// none of what fires meanwhile arrives in them; fewer where candidates and potentials take too much memory.
func (m *member) agree() error {
	all, err := m.x.Gather([]uint32{uint32(shortest(m.c))})
	if err != nil {
		return err
	}
	m.window = uint64(m.c.MaxDelay)
	for _, words := range all {
		m.window = min(m.window, uint64(words[0]))
	}
	most := uint64(len(m.want.Potentials))
	if m.want.FCL {
		most += 3 * uint64(m.c.Ports)
	}
	m.window = max(1, min(m.window, room/max(1, most)))
	m.meet(len(all))
	return nil
}

// meet makes what a part keeps of all parts.
func (m *member) meet(parts int) {
	m.rest, m.wanted = make([][]uint32, parts), make([]int, parts)
	m.fired, m.candidates, m.potentials = make([][]uint32, parts), make([][]uint32, parts), make([][]uint32, parts)
	for _, n := range m.want.Potentials {
		m.wanted[m.x.Part().Owner(n)]++
	}
}

// shortest is the smallest delay of a part's synapses, the network's longest where it has none.
func shortest(c *connectome.Connectome) int {
	least := c.MaxDelay
	for n := range c.Neurons {
		if k := c.Row[n]; k < c.Row[n+1] { // a row's first synapse is its fastest
			least = min(least, int(c.DelayOf(k)))
		}
	}
	return least
}
