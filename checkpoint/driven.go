package checkpoint

import "burst/engine"

// drivenFormat is that of a state with amplitudes.
const drivenFormat = 3

// amplitudesSection has, for each list of a state's amplitudes, their number and then neuron and quanta of each.
const amplitudesSection = "amplitudes"

// drivenParts is that section; none where no synapse is driven.
func (c *Checkpoint) drivenParts() []part {
	if c.State.Amplitudes == nil {
		return nil
	}
	var words []uint32
	for _, list := range c.State.Amplitudes {
		words = append(words, uint32(len(list)))
		for _, x := range list {
			words = append(words, x.Neuron, uint32(x.Quanta))
		}
	}
	return []part{numbers(amplitudesSection, words)}
}

// amplitudes cuts the words of the section into lists.
func (r *reader) amplitudes(words []uint32) error {
	if len(words) == 0 {
		return r.damaged(amplitudesSection, "no list, want one for each burst of delay")
	}
	for len(words) > 0 {
		n := uint64(words[0])
		if words = words[1:]; 2*n > uint64(len(words)) {
			return r.damaged(amplitudesSection, "list %d has %d entries, %d words are left", len(r.c.State.Amplitudes)+1, n, len(words))
		}
		list := make([]engine.Amplitude, n)
		for i := range list {
			list[i] = engine.Amplitude{Neuron: words[2*i], Quanta: int32(words[2*i+1])}
		}
		r.c.State.Amplitudes = append(r.c.State.Amplitudes, list)
		words = words[2*n:]
	}
	return nil
}
