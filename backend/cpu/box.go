package cpu

import (
	"slices"
	"unsafe"

	"burst/engine"
)

// box is what a burst left with a worker. Other workers read it once all have met: fired and ends lie in one cache line, and no other
// box does.
type box struct {
	fired      []uint32               // the worker's neurons that fired, area by area
	ends       []int                  // of each area's in fired
	candidates [][][]engine.Candidate // of each area, a list for each of a neuron's ports
	values     []float32              // of the worker's probes
	_          [2*cacheLine - 4*unsafe.Sizeof([]int{})]byte
}

// makeBoxes makes the boxes of so many bursts, with one for each worker.
func (b *backend) makeBoxes(bursts int) {
	b.boxes = make([][]box, bursts)
	for i := range b.boxes {
		b.boxes[i] = make([]box, len(b.workers))
		if !b.want.FCL {
			continue
		}
		for k, w := range b.workers {
			lists := make([][][]engine.Candidate, len(w.groups))
			for area := range lists {
				lists[area] = make([][]engine.Candidate, w.groups[area].area.PortsEach())
			}
			b.boxes[i][k].candidates = lists
		}
	}
}

// boxesOf are those of a burst of the course.
func (b *backend) boxesOf(ran int) []box { return b.boxes[ran%len(b.boxes)] }

// fires are the neurons of an area.
func (x *box) fires(area int) []uint32 {
	from := 0
	if area > 0 {
		from = x.ends[area-1]
	}
	return x.fired[from:x.ends[area]]
}

// probe is one of Want.Values.
type probe struct {
	at    int // there
	from  []float32
	g     *group // of a variable that fades: of a neuron with a cell; nil: of none
	k     uint32 // which variable, with g
	index uint32 // in from, or of the cell
}

func (p *probe) value(t uint64) float32 {
	if p.g != nil {
		return p.g.event.reads(p.k, p.index, uint32(t))
	}
	return p.from[p.index]
}

// dealProbes gives each worker the probes of its neurons.
func (b *backend) dealProbes() {
	for at, p := range b.want.Values {
		if !b.own.Owns(p.Neuron) {
			continue
		}
		area, n := b.c.AreaOf(p.Neuron), b.own.Count(p.Neuron)
		for _, w := range b.workers {
			g := &w.groups[area]
			switch own := g.lo <= n && n < g.hi; {
			case !own:
			case g.event != nil && int(p.Variable) <= g.area.Variables():
				w.probes = append(w.probes, probe{at: at, g: g, k: p.Variable, index: n - g.lo})
			case p.Variable > 0:
				w.probes = append(w.probes, probe{at: at, from: g.more[p.Variable-1], index: n - g.lo})
			default:
				w.probes = append(w.probes, probe{at: at, from: g.v, index: n - g.lo})
			}
		}
	}
}

// fires is how many neurons fired. It reads each box first, so that the processor waits for all of them at once.
func fires(boxes []box) (n int) {
	for k := range boxes {
		n += len(boxes[k].fired)
	}
	return n
}

// collect makes the outcome of the course's burst from the workers' boxes.
func (b *backend) collect(t uint64, ran int, out *engine.Burst) {
	out.Number, out.Fired, out.Candidates = t, out.Fired[:0], out.Candidates[:0]
	boxes := b.boxesOf(ran)
	out.Fired = slices.Grow(out.Fired, fires(boxes))
	for i := range b.c.Areas {
		for k := range boxes {
			out.Fired = append(out.Fired, boxes[k].fires(i)...)
		}
		if !b.want.FCL {
			continue
		}
		for port := range b.c.Areas[i].PortsEach() {
			for k := range boxes {
				out.Candidates = append(out.Candidates, boxes[k].candidates[i][port]...)
			}
		}
	}
	out.Values = out.Values[:0]
	for range b.want.Values { // those of other parts' neurons are 0
		out.Values = append(out.Values, 0)
	}
	for i, w := range b.workers {
		values := boxes[i].values
		for k := range w.probes {
			out.Values[w.probes[k].at] = values[k]
		}
	}
}
