package connectome

import (
	"fmt"
	"math"
	"slices"

	"burst/genome"
	"burst/internal/quanta"
)

// Own is what each neuron of a Poisson or normal drive has for itself, from columns.
type Own struct {
	Amounts []int32   // Poisson: quanta per event, one a neuron
	Rows    []uint32  // Poisson: one a neuron, which row of thresholds it has
	Begin   []uint64  // Poisson: row r is Counts[Begin[r]:Begin[r+1]]
	Counts  []uint32  // Poisson: thresholds, ascending in each row
	Mean    []float64 // Noise: in the port's unit, one a neuron
	SD      []float64 // Noise: likewise
	Scale   float64   // Noise: quanta per unit
	Lift    int64     // Noise: of an area that rectifies, 0 for others
}

// Row is the thresholds of the i-th neuron.
func (o *Own) Row(i uint32) []uint32 {
	r := o.Rows[i]
	return o.Counts[o.Begin[r]:o.Begin[r+1]]
}

// Step is the quanta of the i-th neuron for the k-th step of a normal drive.
func (o *Own) Step(i uint32, k int32) int32 {
	return quanta.Clamp(lift(quanta.Of(noiseAmount(o.Mean[i], o.SD[i], int(k)), o.Scale), o.Lift))
}

// InputOf is the number of quanta for the random draw x of the i-th neuron.
func (d *Drive) InputOf(i, x uint32) int32 {
	switch {
	case d.Own == nil:
		return d.Input(x)
	case d.Kind == Noise:
		return d.Own.Step(i, events(d.Counts, x))
	}
	return events(d.Own.Row(i), x) * d.Own.Amounts[i]
}

// bytes is the memory of the arrays.
func (o *Own) bytes() uint64 {
	if o == nil {
		return 0
	}
	return size(o.Amounts) + size(o.Rows) + size(o.Begin) + size(o.Counts) + size(o.Mean) + size(o.SD)
}

// fold adds each neuron's numbers to a hash.
func (o *Own) fold(h uint64) uint64 {
	for i, amount := range o.Amounts {
		row := o.Row(uint32(i))
		h = fold(fold(h, uint64(uint32(amount))), uint64(len(row)))
		for _, count := range row {
			h = fold(h, uint64(count))
		}
	}
	for i, mean := range o.Mean {
		h = fold(fold(h, math.Float64bits(mean)), math.Float64bits(o.SD[i]))
	}
	return h
}

// unlifted is the same with amounts as they are before they are lifted.
func (o *Own) unlifted(a *Area) *Own {
	if o == nil {
		return nil
	}
	plain := *o
	plain.Amounts = slices.Clone(o.Amounts)
	for i, amount := range o.Amounts {
		plain.Amounts[i] = a.sum(amount)
	}
	return &plain
}

// makeOwn makes what neurons have for themselves of a drive of the i-th area.
func (p *plan) makeOwn(i int, d *genome.Drive) *Own {
	neurons, o := uint64(p.areas[i].Count), &Own{}
	if d.Kind == genome.Noise {
		o.Scale, o.Lift = p.scale, p.lifts[i]
		for n := range neurons {
			one := d.Of(n)
			o.Mean, o.SD = append(o.Mean, one.Mean), append(o.SD, one.SD)
		}
		return o
	}
	known := map[float64]uint32{}
	var rates []float64
	for n := range neurons {
		one := d.Of(n)
		row, found := known[one.Rate]
		if !found {
			row = uint32(len(rates))
			known[one.Rate] = row
			rates = append(rates, one.Rate)
		}
		o.Rows = append(o.Rows, row)
		o.Amounts = append(o.Amounts, quanta.Clamp(lift(quanta.Of(one.Weight, p.scale), p.lifts[i])))
	}
	rows := make([][]uint32, len(rates))
	spans(p.workers, uint64(len(rates)), 1<<8, func(_ int, lo, hi uint64) {
		for r := lo; r < hi; r++ {
			rows[r] = poissonCounts(poissonMean(rates[r], p.g.Timestep))
		}
	})
	o.Begin = make([]uint64, 1, len(rows)+1)
	for _, row := range rows {
		o.Begin = append(o.Begin, o.Begin[len(o.Begin)-1]+uint64(len(row)))
	}
	o.Counts = slices.Concat(rows...)
	return o
}

// ownBytes is the most that makeOwn takes for a neuron.
func (p *plan) ownBytes(d *genome.Drive) uint64 {
	switch {
	case !d.Differs():
		return 0
	case d.Kind == genome.Noise:
		return 16
	}
	return 4 + 4 + 8 + 2*4*uint64(p.mostEvents(d)) // thresholds twice while they are put together
}

// differing is how many neurons of an area to look at for all that a drive does: one, unless they have numbers of their own.
func (p *plan) differing(i int, d *genome.Drive) uint64 {
	if !d.Differs() {
		return 1
	}
	return uint64(p.areas[i].Count)
}

// checkAmounts refuses amounts of a drive that become no quanta.
func (p *plan) checkAmounts(i, k int) error {
	d := &p.g.Areas[i].Drives[k]
	for n := range p.differing(i, d) {
		one := d.Of(n)
		amounts := []float64{one.Value}
		switch d.Kind {
		case genome.Poisson:
			amounts = []float64{one.Weight}
		case genome.Noise:
			amounts = []float64{one.Mean, one.SD}
		}
		for _, amount := range amounts {
			if d.Factor != nil && d.Kind != genome.Poisson {
				amount = float64(amount * max(math.Abs(d.Factor.Lo), math.Abs(d.Factor.Hi)))
			}
			wrong := quanta.TooSmall(amount, p.scale)
			if wrong != "" && d.Differs() {
				wrong = fmt.Sprintf("neuron %d: %s", n, wrong)
			}
			if wrong != "" {
				return p.g.Fault(d.Pos, areaKey(i, fmt.Sprintf("drive[%d]", k)), "%s", wrong)
			}
		}
	}
	return nil
}

// soleSign is the port, 1 or 2, that the sign of each amount of a Poisson drive chooses of two; 0: they choose different ones.
func soleSign(d *Drive) int {
	negative := d.Amount < 0
	if d.Own != nil {
		negative = d.Own.Amounts[0] < 0
		if slices.ContainsFunc(d.Own.Amounts, func(x int32) bool { return x < 0 != negative }) {
			return 0
		}
	}
	if negative {
		return 2
	}
	return 1
}
