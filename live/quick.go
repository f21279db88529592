package live

import (
	"slices"

	"burst/engine"
	"burst/live/internal/amounts"
)

// quick is how an input makes stimuli of many amounts at once, without sorting them.
type quick struct {
	ports []uint32 // of amounts ≥ 0, ascending
	twice bool     // some are named twice
	from  []uint32 // the entries that they belong to; nil: all in order
	apart uint32   // how far behind them those of amounts < 0 are; all ports of an area are as far apart

	make     amounts.Maker
	amounts  []float32 // in the order of ports
	some     []uint32  // ports of some entries
	negative []engine.Stimulus
}

func quickOf(in *Input) quick {
	of := in.ports[0]
	sorted := make([]uint64, len(of)) // ports, and their places in the lower half
	for i, p := range of {
		sorted[i] = uint64(p)<<32 | uint64(i)
	}
	slices.Sort(sorted)
	q := quick{apart: in.ports[1][0] - of[0], make: amounts.Best()}
	ordered := in.each == 1
	for i, x := range sorted {
		q.ports, q.from = append(q.ports, uint32(x>>32)), append(q.from, uint32(x)/in.each)
		ordered = ordered && uint32(x) == uint32(i)
	}
	q.twice = !strictlyAscending(q.ports)
	if ordered {
		q.ports, q.from = of, nil
	}
	return q
}

// quickly makes the stimuli of a value, and says whether it has: it leaves what is to be refused, with its error, to add.
func (in *Input) quickly(v Value) bool {
	q := &in.quick
	ports, list := q.ports, v.Amounts
	switch {
	case v.At != nil && q.from != nil:
		return false
	case v.At != nil:
		q.some = slices.Grow(q.some[:0], len(v.At))[:len(v.At)]
		least := 0
		for i, at := range v.At {
			if int(at) < least || int(at) >= len(ports) {
				return false
			}
			q.some[i], least = ports[at], int(at)+1
		}
		ports = q.some
	case q.from != nil:
		q.amounts = slices.Grow(q.amounts[:0], len(ports))[:len(ports)]
		for i, entry := range q.from {
			q.amounts[i] = v.Amounts[entry]
		}
		list = q.amounts
	}
	in.scratch = slices.Grow(in.scratch[:0], len(list))[:len(list)]
	n, good := q.make(in.scratch, ports, list, in.scale, in.largest)
	in.scratch = in.scratch[:n]
	if q.apart > 0 {
		in.scratch = q.part(in.scratch)
	}
	if q.twice {
		in.scratch = joined(in.scratch)
	}
	return good == len(list)
}

// part moves negative amounts behind the others, to their own ports.
func (q *quick) part(list []engine.Stimulus) []engine.Stimulus {
	q.negative = slices.Grow(q.negative[:0], len(list))[:len(list)]
	n, negative := 0, 0
	for _, s := range list { // without a branch: signs may come in any order
		list[n], q.negative[negative] = s, engine.Stimulus{Port: s.Port + q.apart, Amount: s.Amount}
		sign := int(uint32(s.Amount) >> 31)
		n += 1 - sign
		negative += sign
	}
	return append(list[:n], q.negative[:negative]...)
}
