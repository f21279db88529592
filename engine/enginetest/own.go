package enginetest

import (
	"math"
	"math/rand/v2"
	"slices"

	"burst/connectome"
)

// differ gives the neurons of all Poisson and normal drives without a factor numbers of their own; where there are none, the last area
// with a port has both at first. Amounts stay as small as those of other drives.
func (n *Net) differ(r *rand.Rand) {
	drawn := func(d connectome.Drive) bool {
		return d.Moving == nil && (d.Kind == connectome.Poisson || d.Kind == connectome.Noise)
	}
	some := slices.ContainsFunc(n.Areas, func(a connectome.Area) bool { return slices.ContainsFunc(a.Drives, drawn) })
	for i := len(n.Areas) - 1; i >= 0 && !some; i-- {
		if a := &n.Areas[i]; a.PortsEach() > 0 {
			a.Drives = append(a.Drives, Always(connectome.Poisson, quanta(r, n.Scale/4+1), 1<<30, 3<<30), Always(connectome.Noise, 0))
			some = true
		}
	}
	for i := range n.Areas {
		a := &n.Areas[i]
		for k := range a.Drives {
			if d := &a.Drives[k]; drawn(*d) {
				d.Own = randomOwn(r, d, a.Neurons.Count, n.Scale)
				d.Amount, d.Table = 0, nil
				if d.Kind == connectome.Poisson {
					d.Counts = nil
				}
			}
		}
	}
}

// randomOwn are numbers of so many neurons for a drive. A normal drive gets the thresholds of one.
func randomOwn(r *rand.Rand, d *connectome.Drive, neurons uint32, scale int32) *connectome.Own {
	o := &connectome.Own{}
	if d.Kind == connectome.Noise {
		o.Scale, o.Lift = float64(scale), among[int64](r, 0, 0, 4)
		for range neurons {
			o.Mean = append(o.Mean, float64(quanta(r, scale/8+1))/float64(scale))
			o.SD = append(o.SD, among(r, 0, 1, 1, 1.0)*math.Abs(float64(quanta(r, scale/64+1))/float64(scale)))
		}
		d.Counts = make([]uint32, 792)
		for k := range d.Counts {
			d.Counts[k] = uint32(k+1) * (math.MaxUint32 / 800)
		}
		return o
	}
	o.Begin = []uint64{0}
	for range 1 + r.IntN(5) {
		for _, x := range d.Counts {
			if r.IntN(3) > 0 {
				o.Counts = append(o.Counts, x-min(x, r.Uint32N(1<<20)))
			}
		}
		row := o.Counts[o.Begin[len(o.Begin)-1]:]
		slices.Sort(row)
		o.Begin = append(o.Begin, uint64(len(o.Counts)))
	}
	for range neurons {
		o.Rows = append(o.Rows, r.Uint32N(uint32(len(o.Begin)-1)))
		o.Amounts = append(o.Amounts, among(r, 0, 1, -1, r.Int32N(1+max(d.Amount, -d.Amount)), d.Amount))
	}
	return o
}

// mostOwn is the largest |input| of any neuron in one burst.
func mostOwn(d *connectome.Drive) (most int64) {
	o := d.Own
	for i, amount := range o.Amounts {
		most = max(most, abs(amount)*int64(len(o.Row(uint32(i)))))
	}
	for i := range o.Mean {
		most = max(most, abs(o.Step(uint32(i), 0)), abs(o.Step(uint32(i), int32(len(d.Counts)))))
	}
	return most
}
