package feagi_test

import (
	"fmt"
	"math"
	"slices"
)

// The oracle runs a FEAGI genome as FEAGI's law says, in plain float code that shares nothing with the engine, the
// connectome or the importer. It takes the file's own values (sketch), wires and converts them by itself.

// sketch is a FEAGI genome as the file would say it.
type sketch struct {
	python bool
	areas  []sketchArea
	morphs []sketchMorph
}

type sketchArea struct {
	id    string
	size  [3]int
	each  int
	genes map[string]any // by gene name; absent ones are not in the file
	rules []sketchRule
}

type sketchRule struct {
	to         int
	morphology string
	multiplier float64
	scalar     [3]int
}

type sketchMorph struct {
	name     string
	vectors  [][3]int
	patterns [][2][3]any // int or "*", "?", "!"
}

func (a *sketchArea) number(gene string, fallback float64) float64 {
	if x, ok := a.genes[gene].(float64); ok {
		return x
	}
	return fallback
}

func (a *sketchArea) flag(gene string, fallback bool) bool {
	if x, ok := a.genes[gene].(bool); ok {
		return x
	}
	return fallback
}

// oracle is the state of a brain.
type oracle struct {
	s         *sketch
	first     []int // of each area
	neurons   []neuron
	out       [][]contribution
	synapses  int // before merging
	fired     []int
	burst     uint32
	mostOfOne int // the largest number of synapses of a neuron that divides
}

type neuron struct {
	area                 int
	threshold, limit     float32 // limit 0: none
	v                    float32
	countdown, count     int
	refractory, snooze   int
	consecutive          int
	leak, excitability   float32
	accumulate, leaksOut bool // leaksOut: leak is an amount
}

type contribution struct {
	to     int
	amount float64
}

func newOracle(s *sketch, scale float64) *oracle {
	o := &oracle{s: s}
	for i := range s.areas {
		o.first = append(o.first, len(o.neurons))
		o.grow(i)
	}
	o.out = make([][]contribution, len(o.neurons))
	for i := range s.areas {
		o.wire(i, scale)
	}
	return o
}

// grow makes an area's neurons: x outermost, z innermost, then the neurons of a voxel.
func (o *oracle) grow(i int) {
	a := &o.s.areas[i]
	for x := range a.size[0] {
		for y := range a.size[1] {
			for z := range a.size[2] {
				t := a.number("fire_t", 1)
				t += float64(x) * a.number("ftincx", 0)
				t += float64(y) * a.number("ftincy", 0)
				t += float64(z) * a.number("ftincz", 0)
				n := neuron{area: i, threshold: float32(t), refractory: int(a.number("refrac", 0)), snooze: int(a.number("snooze", 0)),
					consecutive: int(a.number("c_fr_c", 0)) % 65535, leak: float32(a.number("leak_c", 0)), accumulate: a.flag("mp_acc", false)}
				limit, e := a.number("fthlim", 0), a.number("excite", 100)
				if o.s.python {
					if limit != 0 {
						limit += a.number("fire_t", 1)
					}
					e, n.leaksOut = e/100, true
				}
				n.limit, n.excitability = float32(limit), float32(e)
				for range a.each {
					o.neurons = append(o.neurons, n)
				}
			}
		}
	}
}

// wire makes the synapses that leave area i; those of one pair are one contribution.
func (o *oracle) wire(i int, scale float64) {
	a := &o.s.areas[i]
	voxels := a.size[0] * a.size[1] * a.size[2]
	psp := a.number("pstcr_", 1)
	if psp = min(max(psp, -255), 255); !o.s.python {
		psp = math.Trunc(max(psp, 0))
	}
	for v := range voxels {
		at := [3]int{v / (a.size[1] * a.size[2]), v / a.size[2] % a.size[1], v % a.size[2]}
		var to [][2]float64 // neuron, weight
		for _, r := range a.rules {
			b := &o.s.areas[r.to]
			w := min(max(r.multiplier, -255), 255)
			if !o.s.python && w != math.Trunc(w) {
				w = 1
			}
			for _, d := range o.reach(a, b, r, at) {
				for j := range b.each {
					to = append(to, [2]float64{float64(o.first[r.to] + ((d[0]*b.size[1]+d[1])*b.size[2]+d[2])*b.each + j), w})
				}
			}
		}
		o.synapses += len(to) * a.each
		sum := map[int]float64{}
		for _, t := range to {
			quanta := math.Abs(t[1] * psp * scale)
			if a.flag("pspuni", o.s.python) {
				quanta = math.Floor(quanta + 0.5)
			} else {
				quanta = math.Ceil(math.Ceil(quanta) / float64(len(to)))
				o.mostOfOne = max(o.mostOfOne, len(to))
			}
			sum[int(t[0])] += math.Copysign(quanta, t[1]*psp)
		}
		for j := range a.each {
			for n, q := range sum {
				from := o.first[i] + v*a.each + j
				o.out[from] = append(o.out[from], contribution{n, q / scale})
			}
		}
	}
}

// reach is where a rule leads from a voxel, each voxel once.
func (o *oracle) reach(a, b *sketchArea, r sketchRule, at [3]int) [][3]int {
	var found [][3]int
	s, t := a.size, b.size
	everywhere := func(ok func(d [3]int) bool) {
		for x := range t[0] {
			for y := range t[1] {
				for z := range t[2] {
					if ok([3]int{x, y, z}) {
						found = append(found, [3]int{x, y, z})
					}
				}
			}
		}
	}
	axis := func(s, t, l, d int) bool { // projector along one axis
		if s > t {
			return l*t/s == d
		}
		return d*s/t == l
	}
	project := func(order [3]int) {
		everywhere(func(d [3]int) bool {
			for k, from := range order {
				if !axis(s[from], t[k], at[from], d[k]) {
					return false
				}
			}
			return true
		})
	}
	switch r.morphology {
	case "projector":
		project([3]int{0, 1, 2})
	case "projector_xy":
		project([3]int{1, 0, 2})
	case "projector_yz":
		project([3]int{0, 2, 1})
	case "projector_xz":
		project([3]int{2, 1, 0})
	case "block_to_block":
		everywhere(func(d [3]int) bool { return d == at })
	case "all_to_all":
		everywhere(func([3]int) bool { return true })
	case "lateral_pairs_x":
		everywhere(func(d [3]int) bool { return d == [3]int{at[0] ^ 1, at[1], at[2]} })
	case "last_to_first":
		everywhere(func(d [3]int) bool {
			return d == [3]int{} && at == [3]int{s[0] - 1, s[1] - 1, s[2] - 1}
		})
	case "expander_x": // the destination's numeral, filled up to the source's width, has a 1 there
		everywhere(func(d [3]int) bool {
			return d[1] == 0 && d[2] == 0 && fmt.Sprintf("%0*b", s[0], d[0])[at[0]] == '1'
		})
	case "reducer_x": // the source's numeral, filled up to the destination's width, has a 1 there
		everywhere(func(d [3]int) bool {
			return d[1] == 0 && d[2] == 0 && fmt.Sprintf("%0*b", t[0], at[0])[d[0]] == '1'
		})
	default:
		o.defined(r, at, everywhere)
	}
	return found
}

// defined is reach for the vectors and patterns of the file.
func (o *oracle) defined(r sketchRule, at [3]int, everywhere func(func([3]int) bool)) {
	m := o.s.morphs[slices.IndexFunc(o.s.morphs, func(m sketchMorph) bool { return m.name == r.morphology })]
	everywhere(func(d [3]int) bool {
		for _, v := range m.vectors {
			want := at
			for k := range want {
				if want[k] += v[k]; o.s.python {
					want[k] += v[k] * (r.scalar[k] - 1)
				}
			}
			if d == want {
				return true
			}
		}
		for _, p := range m.patterns {
			ok := true
			for k := range 3 {
				if c, number := p[0][k].(int); number && c != at[k] {
					ok = false
				}
				switch c := p[1][k].(type) {
				case int:
					ok = ok && d[k] == c
				case string:
					ok = ok && (c == "*" || c == "?" && d[k] == at[k] || c == "!" && d[k] != at[k])
				}
			}
			if ok {
				return true
			}
		}
		return false
	})
}

// step is one burst: what the last one's fired neurons send, plus inputs, makes the candidates. A sum of 0 makes none.
func (o *oracle) step(inputs map[int]float64) []int {
	o.burst++
	sum := map[int]float64{}
	for n, x := range inputs {
		sum[n] += x
	}
	for i := range o.s.areas {
		if o.s.areas[i].id == "___pwr" {
			sum[o.first[i]]++
		}
	}
	for _, n := range o.fired {
		for _, c := range o.out[n] {
			sum[c.to] += c.amount
		}
	}
	var fired []int
	for n := range o.neurons {
		if c := sum[n]; c != 0 && o.neurons[n].update(float32(c), uint32(n), o.burst) {
			fired = append(fired, n)
		}
	}
	o.fired = fired
	return fired
}

// update is FEAGI's law for one candidate.
func (n *neuron) update(input float32, id, burst uint32) bool {
	if n.countdown > 0 {
		if n.countdown--; n.countdown == 0 && n.consecutive > 0 && n.count >= n.consecutive {
			n.count = 0
		}
		return false
	}
	if !n.accumulate {
		n.v = 0
	}
	n.v += input
	if n.v >= n.threshold && (n.limit == 0 || n.v <= n.limit) {
		if n.consecutive > 0 && n.count >= n.consecutive {
			n.count = 0
			return false
		}
		if n.excitability >= 0.999 || n.excitability > 0 && chance(id, burst) < n.excitability {
			n.v = 0
			n.count = min(n.count+1, 65535)
			if n.countdown = n.refractory; n.consecutive > 0 && n.count >= n.consecutive {
				n.countdown = min(n.countdown+n.snooze, 65535)
			}
			return true
		}
	}
	n.count *= min(1, max(0, 1-n.consecutive)) // a limit counts fires since the last failure
	if !n.leaksOut {
		n.v = float32(n.v * (1 - n.leak))
	} else if n.v > 0 && n.leak > 0 {
		n.v = max(n.v-n.leak, 0)
	}
	return false
}

// chance is FEAGI's hash of neuron and burst.
func chance(n, burst uint32) float32 {
	seed := n*2654435761 + burst*1597334677
	s := seed*747796405 + 2891336453
	w := ((s >> ((s >> 28) + 4)) ^ s) * 277803737
	return float32((w>>22)^w) / 4294967296
}
