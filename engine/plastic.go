package engine

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"burst/connectome"
	"burst/internal/exact"
)

// Plastic is the state of one of connectome.Connectome.Plastic: what its synapses, sources and targets have learnt. Traces and
// variables include the spikes that have left the fire queues (State.Queues). Spikes that are still in the queues are not
// included, because synapses of different delays see them in different bursts.
type Plastic struct {
	Weight  []float32   // by target, see connectome.Plastic
	Synapse [][]float32 // further variables, likewise

	Pre     [][]float32 // per trace, per source: the value after its last spike that has left the queues
	PreLast []uint64    // per source: the burst of that spike plus 1; 0: none
	Source  [][]float32 // per variable, per source: after that spike

	Post     [][]float32 // per trace, per target: the value after its last event whose spike has left the queues
	PostLast []uint64    // per target: the burst of that spike plus 1; with Rule.When that of the event, which is not in the queues

	Modulator     []float32 // value after the last burst that has left the queues in which the area fired
	ModulatorLast []uint64  // that burst plus 1; 0: none
}

// Array is one array of a Plastic, of numbers or of bursts. Plastic.Arrays lists all of them, for code that treats them alike.
type Array struct {
	Name    string
	Numbers []float32
	Bursts  []uint64
	By      By
}

// By says what the entries of an Array belong to.
type By uint8

// The kinds.
const (
	BySynapse By = iota // in the order by target
	BySource            // neuron of the source area
	ByTarget            // neuron of the target area
	ByNetwork           // modulators
)

// Arrays are all arrays, in the order of the fields.
func (s *Plastic) Arrays() []Array {
	list := []Array{{"weight", s.Weight, nil, BySynapse}}
	several := func(name string, values [][]float32, by By) {
		for k, v := range values {
			list = append(list, Array{fmt.Sprintf("%s %d", name, k), v, nil, by})
		}
	}
	several("synapse variable", s.Synapse, BySynapse)
	several("source trace", s.Pre, BySource)
	list = append(list, Array{"source spike", nil, s.PreLast, BySource})
	several("source variable", s.Source, BySource)
	several("target trace", s.Post, ByTarget)
	return append(list, Array{"target spike", nil, s.PostLast, ByTarget},
		Array{"modulator", s.Modulator, nil, ByNetwork}, Array{"modulator burst", nil, s.ModulatorLast, ByNetwork})
}

// Entry is one entry of an array of State.Plastic.
type Entry struct {
	Plastic int    // which of State.Plastic
	Array   string // its name
	By      By
	At      uint64 // in the array
}

func (x *Entry) String() string {
	return fmt.Sprintf("plastic projection %d: %s, entry %d", x.Plastic, x.Array, x.At)
}

// locate gives the neuron that an entry belongs to, of a synapse its target, and says what it is of it.
func (x *Entry) locate(c *connectome.Connectome) (neuron uint32, text string) {
	p := &c.Plastic[x.Plastic]
	text = fmt.Sprintf("%s of projections[%d] (%s)", x.Array, p.Projection, p.Rule.Name)
	switch x.By {
	case BySource:
		return p.From.First + uint32(x.At), text
	case ByTarget:
		return p.To.First + uint32(x.At), text
	case ByNetwork:
		return p.To.First, fmt.Sprintf("%s, number %d", text, x.At)
	}
	port, k, source, here := p.SynapseAt(x.At)
	neuron = c.NeuronOf(port)
	if !here {
		return neuron, text + ", from a neuron that another part knows"
	}
	a := &c.Areas[c.AreaOf(source)]
	return neuron, fmt.Sprintf("%s, from neuron %d of area %q (id %d) with delay %d", text, source-a.Neurons.First, a.Name, source, p.DelayOf(k))
}

// resize gives the arrays the lengths that p needs; their content is undefined.
func (s *Plastic) resize(p *connectome.Plastic) {
	n, sources, targets := int(p.Whole()), int(p.From.Count), int(p.To.Count)
	several := func(list [][]float32, count, entries int) [][]float32 {
		list = resized(list, count)
		for k := range list {
			list[k] = resized(list[k], entries)
		}
		return list
	}
	s.Weight, s.Synapse = resized(s.Weight, n), several(s.Synapse, len(p.Synapse), n)
	s.Pre, s.PreLast, s.Source = several(s.Pre, len(p.Pre), sources), resized(s.PreLast, sources), several(s.Source, len(p.Source), sources)
	s.Post, s.PostLast = several(s.Post, len(p.Post), targets), resized(s.PostLast, targets)
	s.Modulator, s.ModulatorLast = resized(s.Modulator, len(p.Modulators)), resized(s.ModulatorLast, len(p.Modulators))
}

// start makes it the state before burst 0. In a part of a network the weights of others' synapses are 0, as are their draws.
func (s *Plastic) start(p *connectome.Plastic, scale int32, seed uint64) {
	for _, a := range s.Arrays() {
		if a.By != BySynapse { // which are all set, by all processors
			clear(a.Numbers)
			clear(a.Bursts)
		}
	}
	p.StartWeights(scale, s.Weight)
	for k := range p.Synapse {
		p.Start(k, seed, s.Synapse[k])
	}
	for k, x := range p.Source {
		fill(s.Source[k], x)
	}
}

func fill(list []float32, x float32) {
	for i := range list {
		list[i] = x
	}
}

// copy makes s equal to from.
func (s *Plastic) copy(from *Plastic) {
	several := func(to, from [][]float32) [][]float32 {
		to = resized(to, len(from))
		for k := range from {
			to[k] = append(to[k][:0], from[k]...)
		}
		return to
	}
	s.Weight, s.Synapse = append(s.Weight[:0], from.Weight...), several(s.Synapse, from.Synapse)
	s.Pre, s.PreLast, s.Source = several(s.Pre, from.Pre), append(s.PreLast[:0], from.PreLast...), several(s.Source, from.Source)
	s.Post, s.PostLast = several(s.Post, from.Post), append(s.PostLast[:0], from.PostLast...)
	s.Modulator, s.ModulatorLast = append(s.Modulator[:0], from.Modulator...), append(s.ModulatorLast[:0], from.ModulatorLast...)
}

// comparePlastic is the first difference of what projections have learnt, or nil.
func comparePlastic(a, b []Plastic) *Difference {
	for i := range a {
		other := b[i].Arrays()
		for k, x := range a[i].Arrays() {
			y := other[k]
			differ := func(n int, a, b string) *Difference {
				entry := &Entry{Plastic: i, Array: x.Name, By: x.By, At: uint64(n)}
				return &Difference{Field: entry.String(), Entry: entry, A: a, B: b}
			}
			for n := range x.Numbers {
				if !sameFloat(x.Numbers[n], y.Numbers[n]) {
					return differ(n, potential(x.Numbers[n]), potential(y.Numbers[n]))
				}
			}
			for n := range x.Bursts {
				if x.Bursts[n] != y.Bursts[n] {
					return differ(n, number(x.Bursts[n]), number(y.Bursts[n]))
				}
			}
		}
	}
	return nil
}

// size shows the lengths of the arrays.
func (s *Plastic) size() (text string) {
	for _, a := range s.Arrays() {
		text += fmt.Sprintf(", %d of %s", len(a.Numbers)+len(a.Bursts), a.Name)
	}
	return text
}

// check reports the first thing in which s does not fit p.
func (s *Plastic) check(p *connectome.Plastic, number uint64) error {
	want := Plastic{}
	want.resize(p)
	if have, fits := s.size(), want.size(); have != fits {
		return fmt.Errorf("state of a plastic projection with %s; want %s", have[2:], fits[2:])
	}
	for _, a := range s.Arrays() {
		if n := firstNotFinite(a.Numbers); n >= 0 {
			return fmt.Errorf("state: %s, entry %d is %v", a.Name, n, a.Numbers[n])
		}
		for n, t := range a.Bursts {
			if t > number {
				return fmt.Errorf("state: %s, entry %d is burst %d, want one before burst %d", a.Name, n, t-1, number)
			}
		}
	}
	for n, w := range s.Weight {
		if !(p.Lo <= w && w <= p.Hi) {
			return fmt.Errorf("state: weight %d is %v, want one within %v…%v", n, w, p.Lo, p.Hi)
		}
	}
	return nil
}

// WeightDigest is a hash of all weights of a whole network, independent of the order of summation: the sum modulo 2^64, over
// plastic projections i and the places k of their synapses in the state, of mix(mix(mix(i+1) + k) + bits of w), with mix the
// finaliser of SplitMix64.
func (s *State) WeightDigest() uint64 {
	var sum atomic.Uint64
	var all sync.WaitGroup
	for i := range s.Plastic {
		head, weights, parts := exact.Mix(uint64(i)+1), s.Plastic[i].Weight, runtime.GOMAXPROCS(0)
		for part := range parts {
			all.Go(func() {
				lo, hi, own := len(weights)*part/parts, len(weights)*(part+1)/parts, uint64(0)
				for place, w := range weights[lo:hi] {
					own += exact.Mix(exact.Mix(head+uint64(lo+place)) + uint64(math.Float32bits(w)))
				}
				sum.Add(own)
			})
		}
		all.Wait()
	}
	return sum.Load()
}
