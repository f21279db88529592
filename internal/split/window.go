package split

import "burst/connectome"

// room is the largest number of words of candidates and values that a part keeps for a window of several bursts.
const room = 1 << 24

// longest is the largest number of bursts in a window.
const longest = 255

// agree sets the number of bursts in a window. It is the smallest delay of all parts' synapses, so that no spike of a window
// arrives in the same window. It is smaller if that is more than longest, or if candidates and values would take too much memory.
func (m *member) agree() error {
	all, err := m.x.Allgather([]uint32{uint32(shortest(m.c))})
	if err != nil {
		return err
	}
	m.window = min(uint64(m.c.Queues()), longest)
	for _, words := range all {
		m.window = min(m.window, uint64(words[0]))
	}
	most := uint64(len(m.want.Values))
	if m.want.FCL {
		most += 3 * uint64(m.c.Ports)
	}
	m.window = max(1, min(m.window, room/max(1, most)))
	m.meet(len(all))
	return nil
}

// meet allocates what a part keeps for each part.
func (m *member) meet(parts int) {
	m.rest, m.wanted = make([][]uint32, parts), make([]int, parts)
	m.fired, m.candidates, m.values = make([][]uint32, parts), make([][]uint32, parts), make([][]uint32, parts)
	for _, p := range m.want.Values {
		m.wanted[m.x.Part().Owner(p.Neuron)]++
	}
}

// shortest is the smallest delay of a part's synapses and modulators. Without any it is the number of fire queues. Memory areas
// answer to spikes of the burst before.
func shortest(c *connectome.Connectome) int {
	least := c.Queues()
	if len(c.Memories()) > 0 {
		return 1
	}
	for i := range c.Plastic {
		p := &c.Plastic[i]
		for s := range p.From.Count {
			if k := p.Row[s]; k < p.Row[s+1] {
				least = min(least, int(p.DelayOf(k)))
			}
		}
		for k := range p.Modulators {
			least = min(least, int(p.Modulators[k].Delay))
		}
	}
	for n := range c.Neurons {
		if d := c.Driven; d != nil && d.Row[n] < d.Row[n+1] {
			least = min(least, int(d.DelayOf(d.Row[n])))
		}
		if k := c.Row[n]; k < c.Row[n+1] { // the first synapse of a row has its smallest delay
			least = min(least, int(c.DelayOf(k)))
		}
	}
	return least
}
