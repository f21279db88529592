package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"burst/record/manifest"
	"burst/record/runfolder"
)

// Compute reads the spikes of a run twice: once for what every neuron did, once for the sampled neurons' bins.
func Compute(f *runfolder.Folder, o Options) (*Summary, error) {
	from, until, err := Window(f, o.From, o.Until)
	if err != nil {
		return nil, err
	}
	taken, err := Select(f.Manifest.Areas, o.Areas)
	if err != nil {
		return nil, err
	}
	if o.Bin < 0 || math.IsNaN(o.Bin) || math.IsInf(o.Bin, 0) {
		return nil, fmt.Errorf("bins of %v ms, want more than 0", o.Bin)
	}
	p := pass{from: from, until: until, width: binWidth(o.Bin, f.Manifest.Timestep, until-from)}
	p.bins = int((until - from) / p.width) // a last bin that is shorter than the others would vary of itself
	p.areas = make([]*tally, len(f.Manifest.Areas))
	for i, a := range f.Manifest.Areas {
		if taken[i] {
			p.areas[i] = newTally(a, p.bins)
		}
	}
	if err := p.first(f); err != nil {
		return nil, err
	}
	if err := p.second(f, o); err != nil {
		return nil, err
	}
	s := &Summary{From: from, Until: until, Timestep: f.Manifest.Timestep, Bin: float64(p.width) * f.Manifest.Timestep, Areas: []Area{}}
	for i, t := range p.areas {
		if t != nil {
			s.Areas = append(s.Areas, t.area(&f.Manifest.Areas[i], s, p.bins))
		}
	}
	if s.Weights, err = LearntWeights(f, from, until); err != nil {
		return nil, err
	}
	asked := func(name string) bool {
		return slices.ContainsFunc(s.Areas, func(a Area) bool { return a.Name == name })
	}
	s.Weights = slices.DeleteFunc(s.Weights, func(w Weights) bool { return !asked(w.From) && !asked(w.To) })
	return s, nil
}

// binWidth is the bursts in a bin.
func binWidth(ms, timestep float64, bursts uint64) uint64 {
	if ms == 0 {
		ms = defaultBin
	}
	width := uint64(max(1, math.Round(min(ms/timestep, 1e15))))
	return max(width, (bursts+mostBins-1)/mostBins)
}

// pass is the state of reading.
type pass struct {
	from, until uint64
	width       uint64   // bursts in a bin
	bins        int      // whole ones
	areas       []*tally // nil: not asked for
}

// neuron is what is kept of each neuron. Sums of whole bursts are exact: the square of a run's length fits 64 bits.
type neuron struct {
	last      uint64 // burst of the last spike
	spikes    uint64
	intervals uint64 // sum over intervals of length²; their plain sum is last − first
	first     uint64
	binned    uint64 // spikes in whole bins
	bin       uint64 // the bin being counted
	inBin     uint64
	squares   uint64 // sum over bins that have ended of count²
}

// tally is what is kept of an area.
type tally struct {
	kept      manifest.Kept
	neurons   []neuron // the kept ones
	spikes    uint64
	course    []uint64 // spikes in each bin
	intervals []uint64
	sample    []int32    // per neuron: its row in counts, −1 for none
	counts    [][]uint16 // of each sampled neuron in each bin
}

func newTally(a manifest.Area, bins int) *tally {
	return &tally{kept: a.Kept(), neurons: make([]neuron, a.Recorded), course: make([]uint64, bins)}
}

// first reads what every neuron did.
func (p *pass) first(f *runfolder.Folder) error {
	for c, err := range Rows(f.Spikes(), p.from, p.until) {
		if err != nil {
			return err
		}
		for i, t := range c.Burst {
			a := p.areas[c.Area[i]]
			if a == nil {
				continue
			}
			k, kept := a.kept.Rank(c.Neuron[i])
			if !kept {
				area := &f.Manifest.Areas[c.Area[i]]
				return &runfolder.DamagedError{Path: f.Dir, Reason: fmt.Sprintf("neuron %d of area %q has spikes, but by its manifest the %d recorded neurons do not include it", c.Neuron[i]-area.First, area.Name, area.Recorded)}
			}
			a.add(k, t, (t-p.from)/p.width)
		}
	}
	return nil
}

// add counts a spike of neuron k in burst t.
func (a *tally) add(k uint32, t, bin uint64) {
	n := &a.neurons[k]
	a.spikes++
	if n.spikes > 0 {
		d := t - n.last
		n.intervals += d * d
		d = min(d, longestInterval)
		for uint64(len(a.intervals)) <= d {
			a.intervals = append(a.intervals, 0)
		}
		a.intervals[d]++
	} else {
		n.first = t
	}
	n.last = t
	n.spikes++
	if bin < uint64(len(a.course)) {
		a.course[bin]++
		n.count(bin)
	}
}

// count counts a spike in a bin, which is the last one's or a later one.
func (n *neuron) count(bin uint64) {
	if bin != n.bin {
		n.squares += n.inBin * n.inBin
		n.bin, n.inBin = bin, 0
	}
	n.inBin++
	n.binned++
}

// second counts the sampled neurons' spikes in bins.
func (p *pass) second(f *runfolder.Folder, o Options) error {
	any := false
	for i, a := range p.areas {
		if a != nil {
			a.choose(o, i, p.bins)
			any = any || a.counts != nil
		}
	}
	if !any {
		return nil
	}
	for c, err := range Rows(f.Spikes(), p.from, p.from+uint64(p.bins)*p.width) {
		if err != nil {
			return err
		}
		for i, t := range c.Burst {
			a := p.areas[c.Area[i]]
			if a == nil || a.counts == nil {
				continue
			}
			k, _ := a.kept.Rank(c.Neuron[i]) // the first pass has met no other
			if row := a.sample[k]; row >= 0 {
				if x := &a.counts[row][(t-p.from)/p.width]; *x < math.MaxUint16 {
					*x++
				}
			}
		}
	}
	return nil
}

// choose draws the sample of area i: the same for the same seed and the same neurons that fired.
func (a *tally) choose(o Options, i, bins int) {
	want := o.Sample
	if want == 0 {
		want = defaultSample
	}
	var fired []uint32
	for k := range a.neurons {
		if a.neurons[k].spikes > 0 {
			fired = append(fired, uint32(k))
		}
	}
	if len(fired) < 2 || bins < 2 || want < 2 {
		return
	}
	r := rand.New(rand.NewPCG(o.Seed, uint64(i)))
	r.Shuffle(len(fired), func(x, y int) { fired[x], fired[y] = fired[y], fired[x] })
	fired = fired[:min(want, len(fired))]
	slices.Sort(fired)
	a.sample = slices.Repeat([]int32{-1}, len(a.neurons))
	for row, k := range fired {
		a.sample[k] = int32(row)
		a.counts = append(a.counts, make([]uint16, bins))
	}
}

// area turns a tally into figures.
func (a *tally) area(from *manifest.Area, s *Summary, bins int) Area {
	out := Area{Name: from.Name, Neurons: from.Neurons, Recorded: from.Recorded, Spikes: a.spikes, Intervals: a.intervals,
		Rate: undefined, Active: undefined, ISI: undefined, CV: undefined, Synchrony: undefined, Correlation: undefined}
	n := float64(len(a.neurons))
	if n == 0 {
		return out
	}
	if t := s.Seconds(); t > 0 {
		out.Rate = Value(float64(a.spikes) / n / t)
	}
	active, length, intervals := 0, uint64(0), uint64(0)
	var cvs []float64
	out.Counts = make([]uint64, len(a.neurons))
	for k := range a.neurons {
		m := &a.neurons[k]
		out.Counts[k] = m.spikes
		if m.spikes == 0 {
			continue
		}
		active++
		length += m.last - m.first
		intervals += m.spikes - 1
		if m.spikes >= 3 {
			cvs = append(cvs, m.cv())
		}
	}
	out.Active = Value(float64(active) / n)
	if intervals > 0 {
		out.ISI = Value(float64(length) / float64(intervals) * s.Timestep)
	}
	if len(cvs) > 0 {
		out.CV = Value(meanOf(cvs))
	}
	out.Synchrony = a.synchrony(bins)
	out.Correlation, out.Pairs = a.correlation(bins)
	return out
}

// cv is the coefficient of variation of a neuron's intervals, of which there are at least two.
func (n *neuron) cv() float64 {
	count, sum := float64(n.spikes-1), float64(n.last-n.first)
	mean := sum / count
	return math.Sqrt(max(0, float64(n.intervals)-sum*mean)/(count-1)) / mean
}

// synchrony is Golomb's chi of counts in bins.
func (a *tally) synchrony(bins int) Value {
	if bins < 2 || a.spikes == 0 {
		return undefined
	}
	own := 0.0
	for k := range a.neurons {
		m := &a.neurons[k]
		mean := float64(m.binned) / float64(bins)
		own += float64(m.squares+m.inBin*m.inBin)/float64(bins) - mean*mean
	}
	own /= float64(len(a.neurons))
	mean := make([]float64, bins)
	for k, x := range a.course {
		mean[k] = float64(x) / float64(len(a.neurons))
	}
	if !(own > 1e-12) { // nobody varies, as where every neuron fires in every burst
		return undefined
	}
	_, squares := squaresOf(mean)
	return Value(math.Sqrt(squares / float64(bins) / own))
}

// correlation is the mean over pairs of sampled neurons whose counts vary.
func (a *tally) correlation(bins int) (Value, int) {
	var rows [][]float64
	for _, counts := range a.counts {
		row := make([]float64, bins)
		for k, x := range counts {
			row[k] = float64(x)
		}
		if _, squares := squaresOf(row); squares > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 {
		return undefined, 0
	}
	// Of rows with mean 0 and length 1 the correlation is the product, and the products of all pairs are in the square of the rows' sum.
	all := make([]float64, bins)
	for _, row := range rows {
		mean, squares := squaresOf(row)
		for k, x := range row {
			all[k] += (x - mean) / math.Sqrt(squares)
		}
	}
	sum, n := 0.0, len(rows)
	for _, x := range all {
		sum += x * x
	}
	pairs := n * (n - 1) / 2
	return Value((sum - float64(n)) / 2 / float64(pairs)), pairs
}
