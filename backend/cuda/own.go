package cuda

import (
	"math"

	"burst/connectome"
	"burst/internal/cuda/driver"
)

// owner is a drive whose neurons have numbers of their own, at so many bytes of the table of these.
type owner struct {
	drive int // its place in the table of drives
	at    uint64
}

// addOwn adds own_numbers of kernels/network.cuh and, for each neuron, own_events or own_noise, all of 16 bytes. Thresholds follow, two in
// a 64-bit number.
func (t *tables) addOwn(o *connectome.Own) {
	t.own = append(t.own, math.Float64bits(o.Scale), uint64(o.Lift))
	for i, mean := range o.Mean {
		t.own = append(t.own, math.Float64bits(mean), math.Float64bits(o.SD[i]))
	}
	behind := 4 * uint64(len(o.Amounts)) // words of 4 bytes from the first own_events to the thresholds
	for i, amount := range o.Amounts {
		row := o.Rows[i]
		first, end := o.Begin[row], o.Begin[row+1]
		t.own = append(t.own, behind+first, uint64(uint32(amount))<<32|(end-first))
	}
	for k := 0; k < len(o.Counts); k += 2 {
		two := uint64(o.Counts[k])
		if k+1 < len(o.Counts) {
			two |= uint64(o.Counts[k+1]) << 32
		}
		t.own = append(t.own, two)
	}
	if len(t.own)%2 > 0 {
		t.own = append(t.own, 0)
	}
}

// placeOwn tells the drives where on the device their neurons' numbers lie.
func (t *tables) placeOwn(base driver.Ptr) {
	for _, x := range t.owners {
		t.drives[x.drive].moving = instants{first: base + driver.Ptr(x.at)}
	}
}
