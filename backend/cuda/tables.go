package cuda

import (
	"math"

	"burst/connectome"
)

// area and drive are the tables of kernels/network.cuh, field for field.
type area struct {
	first, end                uint32
	firstPort                 uint32
	model                     uint32
	thresholds                uint64
	exciteBelow               uint64
	threshold, thresholdLimit float32
	keep, leakAmount          float32
	excitability              float32
	em1, reset                float32
	refractory                uint32
	fireLimit, snooze         uint32
	accumulate, feagiDraw     uint32
}

type drive struct {
	end         uint64
	from, until uint64
	counts      uint64
	entries     uint32
	first       uint32
	firstPort   uint32
	count       uint32
	place       uint32
	kind        uint32
	amount      int32
}

// The kernels' numbers of models and kinds of drive.
const (
	modelFEAGI, modelLIF    = 0, 1
	kindInject, kindPoisson = 0, 1
	noTable                 = math.MaxUint64
)

// tables are a network's parameters as the kernels read them.
type tables struct {
	areas      []area
	thresholds []float32
	drives     []drive
	counts     []uint32
	driven     uint64 // threads that the drives need
}

// makeTables collects them from c.
func makeTables(c *connectome.Connectome) *tables {
	t := &tables{}
	for i := range c.Areas {
		a := &c.Areas[i]
		t.addArea(a)
		for place := range a.Drives {
			t.addDrive(a, uint32(place))
		}
	}
	return t
}

func (t *tables) addArea(a *connectome.Area) {
	e := area{
		first: a.Neurons.First, end: a.Neurons.End(), firstPort: a.Ports.First, thresholds: noTable,
	}
	switch a.Model {
	case connectome.FEAGIModel:
		p := &a.FEAGI
		e.model = modelFEAGI
		e.exciteBelow, e.excitability, e.feagiDraw = p.ExciteBelow, p.Excitability, flag(p.FEAGIDraw)
		e.threshold, e.thresholdLimit = p.Threshold.Const, p.ThresholdLimit
		e.keep, e.leakAmount = p.Keep, p.LeakAmount
		e.refractory, e.fireLimit, e.snooze = uint32(p.Refractory), uint32(p.FireLimit), uint32(p.Snooze)
		e.accumulate = flag(p.Accumulate)
		if p.Threshold.Each != nil {
			e.thresholds = uint64(len(t.thresholds))
			t.thresholds = append(t.thresholds, p.Threshold.Each...)
		}
	case connectome.LIFModel:
		p := &a.LIF
		e.model = modelLIF
		e.em1, e.threshold, e.reset, e.refractory = p.EM1, p.Threshold, p.Reset, uint32(p.Refractory)
	default:
		panic("BUG: a model without a kernel")
	}
	t.areas = append(t.areas, e)
}

// addDrive adds the drive at a place of its area, if it goes into acc.
func (t *tables) addDrive(a *connectome.Area, place uint32) {
	d := &a.Drives[place]
	if d.Kind == connectome.Term || a.Neurons.Count == 0 {
		return
	}
	t.driven += uint64(a.Neurons.Count)
	e := drive{
		end: t.driven, from: d.From, until: d.Until,
		first: a.Neurons.First, firstPort: a.Ports.First, count: a.Neurons.Count,
		place: place, kind: kindInject, amount: d.Amount,
	}
	if d.Kind == connectome.Poisson {
		e.kind, e.counts, e.entries = kindPoisson, uint64(len(t.counts)), uint32(len(d.Counts))
		t.counts = append(t.counts, d.Counts...)
	}
	t.drives = append(t.drives, e)
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
