package connectome

import "runtime"

// Whole is the number of the projection's synapses in the whole network, which is the number of its weights in a state.
func (p *Plastic) Whole() uint64 {
	if p.In == nil {
		return p.Synapses()
	}
	n := uint64(0)
	for _, in := range p.In {
		n += uint64(in)
	}
	return n
}

// Onto is, per port of Ports, the number of synapses onto it in the whole network.
func (p *Plastic) Onto() []uint32 {
	if p.In != nil {
		return p.In
	}
	onto := make([]uint32, p.Ports.Count)
	for _, port := range p.Target {
		onto[port-p.Ports.First]++
	}
	return onto
}

// Places returns the place of every synapse of the rows in the order of the state. It takes 8 bytes per synapse.
func (p *Plastic) Places() []uint64 {
	places := make([]uint64, len(p.Target))
	p.EachPlace(func(k, place uint64) { places[k] = place })
	return places
}

// EachPlace goes through the rows and tells the place of each synapse in the order by target.
func (p *Plastic) EachPlace(take func(k, place uint64)) {
	next := p.places()
	for k, port := range p.Target {
		at := &next[port-p.Ports.First]
		take(uint64(k), *at)
		*at++
	}
}

// places is where the synapses onto each port begin in the order of the state.
func (p *Plastic) places() []uint64 {
	next := make([]uint64, p.Ports.Count+1)
	for i, n := range p.Onto() {
		next[i+1] = next[i] + uint64(n)
	}
	return next
}

// SynapseAt returns the port of the synapse at a place in the order of the state. If this part has the synapse, it also returns
// its number in the rows and its source neuron.
func (p *Plastic) SynapseAt(place uint64) (port uint32, k uint64, source uint32, here bool) {
	port = p.Ports.First
	for rest, onto := place, p.Onto(); rest >= uint64(onto[port-p.Ports.First]); port++ {
		rest -= uint64(onto[port-p.Ports.First])
	}
	p.EachPlace(func(synapse, at uint64) {
		if at == place {
			k, here = synapse, true
		}
	})
	for here && p.Row[source+1] <= k {
		source++
	}
	return port, k, p.From.First + source, here
}

// ToState copies values of the part's synapses, in the order of the rows, to an array of a state.
func (p *Plastic) ToState(rows, state []float32) {
	p.stretches(func(lo, hi uint64, next []uint64) {
		rows := rows[lo:hi]
		for k, port := range p.Target[lo:hi] {
			at := &next[port-p.Ports.First]
			state[*at] = rows[k]
			*at++
		}
	})
}

// FromState copies values from an array of a state to the order of the rows.
func (p *Plastic) FromState(rows, state []float32) {
	p.stretches(func(lo, hi uint64, next []uint64) {
		rows := rows[lo:hi]
		for k, port := range p.Target[lo:hi] {
			at := &next[port-p.Ports.First]
			rows[k] = state[*at]
			*at++
		}
	})
}

// stretches cuts the rows into stretches, one a processor. next has the place of a stretch's first synapse onto each port; the others
// follow. So that next takes at most a byte a synapse there are fewer stretches where ports have few.
func (p *Plastic) stretches(do func(lo, hi uint64, next []uint64)) {
	n, ports := p.Synapses(), uint64(p.Ports.Count)
	count := max(1, min(uint64(runtime.GOMAXPROCS(0)), n/(8*ports+1)))
	next := make([][]uint64, count)
	parallel(int(count), count, func(_ int, i uint64) {
		own := make([]uint64, ports)
		for _, port := range p.Target[n*i/count : n*(i+1)/count] {
			own[port-p.Ports.First]++
		}
		next[i] = own
	})
	at := uint64(0)
	for port := range ports {
		begin := at
		for i := range next {
			next[i][port], at = at, at+next[i][port]
		}
		if p.In != nil {
			at = begin + uint64(p.In[port]) // other parts have the rest
		}
	}
	parallel(int(count), count, func(_ int, i uint64) { do(n*i/count, n*(i+1)/count, next[i]) })
}
