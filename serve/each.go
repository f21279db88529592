package serve

import (
	"fmt"
	"slices"

	"burst/live/wire"
)

// A step may bring inputs of each burst, and be answered with what outputs tell of each. It is run in pieces of a burst then.

// pieces says in how many pieces the requested step is run, all inputs being such as can be set and the answer no longer than a frame.
func (d *driver) pieces() (uint32, error) {
	r := &d.request
	if len(r.Each) == 0 && !slices.ContainsFunc(r.Inputs, func(x wire.Amounts) bool { return x.Series }) {
		return 1, nil
	}
	bytes := uint64(0)
	for i, handle := range r.Each {
		switch {
		case int(handle) >= len(d.outputs):
			return 0, fmt.Errorf("output %d is not bound, want less than %d", handle, len(d.outputs))
		case d.kinds[handle] == wire.Fired:
			return 0, fmt.Errorf("output %d tells which entries have fired, want counts for each burst", handle)
		case slices.Contains(r.Each[:i], handle):
			return 0, fmt.Errorf("output %d is named twice", handle)
		case d.kinds[handle] == wire.Rate:
			bytes += 4
		default:
			bytes += 4 * uint64(d.outputs[handle].Entries())
		}
	}
	if room := uint64(wire.MostBytes - 20 - 8*len(r.Each)); bytes > room/uint64(r.Bursts) {
		return 0, fmt.Errorf("an answer of %d bytes for each of %d bursts, want at most %d bursts", bytes, r.Bursts, room/bytes)
	}
	for i := range r.Bursts {
		if err := d.check(d.inputsOf(i)); err != nil {
			return 0, fmt.Errorf("burst %d of the step: %w", i, err)
		}
	}
	return r.Bursts, nil
}

// inputsOf are the inputs that are set before a piece of the step: before the first one all, then those of each burst.
func (d *driver) inputsOf(piece uint32) []wire.Amounts {
	d.burst = d.burst[:0]
	for _, x := range d.request.Inputs {
		if x.Series {
			n := len(x.Amounts) / int(d.request.Bursts)
			x.Amounts = x.Amounts[int(piece)*n : int(piece+1)*n]
		} else if piece > 0 {
			continue
		}
		d.burst = append(d.burst, x)
	}
	return d.burst
}

// readEach reads the outputs that are told of each burst, after a piece.
func (d *driver) readEach(piece uint32) {
	each := d.request.Each
	if piece == 0 {
		n := len(each)
		if n == 0 {
			n = len(d.outputs)
		}
		d.result.Outputs = slices.Grow(d.result.Outputs[:0], n)[:n]
	}
	for k, handle := range each {
		if o := &d.result.Outputs[k]; piece == 0 {
			d.read(int(handle), o)
		} else {
			d.readMore(int(handle), o)
		}
	}
}

// readAll reads the outputs at the end of the step, with the numbers of all its bursts in one. If the step's answer has numbers of each
// burst instead, it only empties the outputs.
func (d *driver) readAll() {
	for i := range d.outputs {
		if len(d.request.Each) == 0 {
			d.read(i, &d.result.Outputs[i])
		} else {
			d.outputs[i].View(&d.readings[i])
		}
	}
}
