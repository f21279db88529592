package record

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/exact"
	"burst/record/internal/tables"
	"burst/record/manifest"
)

// Sampling says what to keep of the weights of projections that learn, which Run.Sample is given. The zero value keeps nothing.
type Sampling struct {
	Every      uint64   // bursts from one sample to the next; 0: as DefaultEvery says
	Synapses   []Traced // those whose weights are kept, by place in the genome's projections
	Histograms []Bins   // of all weights of each projection that learns; nil: none
}

// Traced are synapses of a projection, in the order of the state (connectome.Plastic).
type Traced struct {
	Plastic               int    // which of connectome.Connectome.Plastic
	Projection            uint32 // in the genome
	Places                []uint64
	Source, Target, Delay []uint32
}

// Bins are the edges of a histogram.
type Bins struct {
	Plastic    int
	Projection uint32
	Edges      []float64 // one more than bins; the first and the last are the bounds of the weights
}

// Limits of what is kept of weights.
const (
	mostTraced = 1 << 20 // synapses: a sample of them is held in memory
	bins       = 50
)

// DefaultEvery is the default interval between samples, in bursts: a hundredth of the run, where no end is planned (0) 100 ms, or more, so
// that on average a burst samples at most a thousand synapses, which takes about thirty microseconds.
func DefaultEvery(c *connectome.Connectome, planned uint64) uint64 {
	synapses := uint64(0)
	for i := range c.Plastic {
		synapses += c.Plastic[i].Whole()
	}
	part := (planned + 99) / 100
	if planned == 0 {
		part = uint64(math.Ceil(100 / c.Timestep))
	}
	return max(1, part, (synapses+999)/1000)
}

// Due says whether there is a sample as a burst begins.
func (s *Sampling) Due(burst uint64) bool { return s.Keeps() && burst%s.Every == 0 }

// Ahead is how many bursts there are until a sample may be due.
func (s *Sampling) Ahead(burst uint64) uint64 {
	if !s.Keeps() {
		return math.MaxUint64
	}
	return s.Every - burst%s.Every
}

// Keeps says whether anything is kept.
func (s *Sampling) Keeps() bool { return s.Synapses != nil || s.Histograms != nil }

// wanted is what is asked for of weights: by the genome, or in its place by requests.
type wanted struct {
	every      uint64
	synapses   []genome.Synapses // From < 0: of all projections that learn
	histograms bool
}

// sampling makes the plan for weights.
func sampling(g *genome.Genome, c *connectome.Connectome, w *wanted) (s Sampling, err error) {
	s.Every = w.every
	picked, left := make([][]traced, len(c.Plastic)), mostTraced
	for i := range w.synapses {
		for k := range c.Plastic {
			p := &c.Plastic[k]
			pr := &g.Projections[p.Projection]
			if want := &w.synapses[i]; want.From >= 0 && (want.From != pr.From || want.To != pr.To) {
				continue
			}
			if p.Synapses() != p.Whole() {
				return s, fmt.Errorf("weights: a process that holds a part of the network does not know all synapses of projections[%d]; want one process for chosen ones (histograms are kept in any)", p.Projection)
			}
			if picked[k], left = pick(c, p, &w.synapses[i], picked[k], left); left < 0 {
				return s, fmt.Errorf("weights: more than %d synapses chosen, want fewer of them, such as a share: weights=1%%", mostTraced)
			}
		}
	}
	for k, list := range picked {
		if len(list) > 0 {
			s.Synapses = append(s.Synapses, newTraced(k, uint32(c.Plastic[k].Projection), list))
		}
	}
	if !w.histograms {
		return s, nil
	}
	for k := range c.Plastic {
		s.Histograms = append(s.Histograms, newBins(k, &c.Plastic[k]))
	}
	return s, nil
}

// traced is a synapse.
type traced struct {
	place                 uint64
	source, target, delay uint32
}

// pick adds the synapses of a projection that are wanted. left is how many more may be, below 0 where there are too many.
func pick(c *connectome.Connectome, p *connectome.Plastic, want *genome.Synapses, to []traced, left int) ([]traced, int) {
	limit, source := uint64(math.MaxUint64), uint32(0)
	if want.Share < 1 {
		limit = uint64(want.Share * (1 << 63) * 2)
	}
	of := func(list []uint32, n uint32) bool {
		_, found := slices.BinarySearch(list, n)
		return list == nil || found
	}
	key := exact.Mix(uint64(p.Projection) + 1)
	p.EachPlace(func(k, place uint64) {
		for p.Row[source+1] <= k {
			source++
		}
		target := c.NeuronOf(p.Target[k])
		if left < 0 || exact.Mix(key+place) > limit || !of(want.Sources, source) || !of(want.Targets, target-p.To.First) {
			return
		}
		left--
		to = append(to, traced{place, p.From.First + source, target, p.DelayOf(k)})
	})
	return to, left
}

func newTraced(plastic int, projection uint32, list []traced) Traced {
	slices.SortFunc(list, func(a, b traced) int { return int(int64(a.place) - int64(b.place)) })
	t := Traced{Plastic: plastic, Projection: projection}
	for _, x := range slices.Compact(list) {
		t.Places = append(t.Places, x.place)
		t.Source, t.Target, t.Delay = append(t.Source, x.source), append(t.Target, x.target), append(t.Delay, x.delay)
	}
	return t
}

func newBins(plastic int, p *connectome.Plastic) Bins {
	b := Bins{Plastic: plastic, Projection: uint32(p.Projection), Edges: make([]float64, bins+1)}
	lo, hi := decimal(p.Lo), decimal(p.Hi)
	for k := range b.Edges {
		b.Edges[k] = lo + (hi-lo)*float64(k)/bins
	}
	b.Edges[bins] = hi
	return b
}

// decimal is the number as people write it: of 0.01 in float32 the float64 that is 0.01.
func decimal(x float32) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return y
}

// count is how many weights lie in each bin: from its lower edge to below its upper one. What lies outside by the rounding of a bound
// is in the outermost bin.
func (b *Bins) count(weights []float32) []uint64 {
	counts := make([]uint64, bins)
	lo, scale := b.Edges[0], 0.0
	if wide := b.Edges[bins] - lo; wide > 0 {
		scale = bins / wide
	}
	for _, w := range weights {
		x := float64(w)
		k := min(int((x-lo)*scale), bins-1)
		for k > 0 && x < b.Edges[k] { // the product is rounded
			k--
		}
		for k < bins-1 && x >= b.Edges[k+1] {
			k++
		}
		counts[k]++
	}
	return counts
}

// Sample keeps the weights of a state, as its next burst begins. A sample that is on disk already is left out.
func (r *Run) Sample(s *engine.State) error {
	if s.Number < r.sampled {
		return nil
	}
	r.sampled = s.Number + 1
	if t := r.tracks[tables.Weights]; t != nil {
		if err := t.weights(s, r.plan.Weights.Synapses); err != nil {
			return err
		}
	}
	if t := r.tracks[tables.Histograms]; t != nil {
		return t.histograms(s, r.plan.Weights.Histograms)
	}
	return nil
}

// Sampled is the burst after that of the last sample; 0: there is none.
func (r *Run) Sampled() uint64 { return r.sampled }

// weights adds those of the synapses.
func (t *track) weights(s *engine.State, list []Traced) error {
	c := &t.filled.Rows
	for i := range list {
		x := &list[i]
		for _, place := range x.Places {
			c.Projection, c.Weight = append(c.Projection, x.Projection), append(c.Weight, s.Plastic[x.Plastic].Weight[place])
		}
		c.Source, c.Target, c.Delay = append(c.Source, x.Source...), append(c.Target, x.Target...), append(c.Delay, x.Delay...)
	}
	return t.added(s.Number)
}

// histograms adds a row for each bin.
func (t *track) histograms(s *engine.State, list []Bins) error {
	c := &t.filled.Rows
	for i := range list {
		b := &list[i]
		var m exact.Moments
		m.Add(s.Plastic[b.Plastic].Weight)
		mean, sd := m.Mean(), m.SD()
		c.Synapses = append(c.Synapses, b.count(s.Plastic[b.Plastic].Weight)...)
		c.Low, c.High = append(c.Low, b.Edges[:bins]...), append(c.High, b.Edges[1:]...)
		for range bins {
			c.Projection, c.Mean, c.SD = append(c.Projection, b.Projection), append(c.Mean, mean), append(c.SD, sd)
		}
	}
	return t.added(s.Number)
}

// weightRequest reads what --record says behind weights=: all, none, or areas and shares, and then every and an interval.
func weightRequest(g *genome.Genome, c *connectome.Connectome, text string, w *wanted) error {
	what, every, timed := strings.Cut(text, " every ")
	if timed {
		n, err := interval(strings.TrimSpace(every), c.Timestep)
		if err != nil {
			return err
		}
		w.every = n
	}
	switch what {
	case "none":
		return nil
	case "all":
		w.synapses = append(w.synapses, genome.Synapses{From: -1, Share: 1})
		return nil
	}
	for _, part := range strings.Split(what, ",") {
		s, err := chosenSynapses(g, c, strings.TrimSpace(part))
		if err != nil {
			return err
		}
		w.synapses = append(w.synapses, s)
	}
	return nil
}

// chosenSynapses reads "5%", "A:B", or "A[0..9]:B[3] 5%".
func chosenSynapses(g *genome.Genome, c *connectome.Connectome, part string) (s genome.Synapses, err error) {
	s = genome.Synapses{From: -1, Share: 1}
	where := part
	if strings.HasSuffix(part, "%") {
		at := strings.LastIndex(part, " ") + 1 // names may hold blanks
		share := part[at:]
		x, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
		if err != nil || !(x > 0 && x <= 100) {
			return s, fmt.Errorf("%q, want a share of synapses such as 5%%, above 0%%, at most 100%%", share)
		}
		s.Share, where = x/100, strings.TrimSpace(part[:at])
	}
	if where == "" && part != "" {
		return s, nil
	}
	from, to, paired := strings.Cut(where, ":")
	if !paired {
		return s, fmt.Errorf("%q, want all, none, a share such as 5%%, or two areas such as E:I or E[0..9]:I[3], then perhaps a share", part)
	}
	if s.From, s.Sources, err = neuronsOf(g, c, from); err != nil {
		return s, err
	}
	if s.To, s.Targets, err = neuronsOf(g, c, to); err != nil {
		return s, err
	}
	if why := g.Learns(s.From, s.To); why != "" {
		return s, fmt.Errorf("%q, want areas between which a projection learns, %s", part, why)
	}
	return s, nil
}

// neuronsOf reads an area, with a range of its neurons; nil are all.
func neuronsOf(g *genome.Genome, c *connectome.Connectome, text string) (area int, neurons []uint32, err error) {
	name, rest, ranged := strings.Cut(text, "[")
	if area, err = g.FindArea(name); err != nil || !ranged {
		return area, nil, err
	}
	s, err := within(connectome.Span{Count: c.Areas[area].Neurons.Count}, text, rest)
	for n := s.First; err == nil && n < s.End(); n++ {
		neurons = append(neurons, n)
	}
	return area, neurons, err
}

// interval reads bursts, such as 1000, or a time of whole bursts, such as 100ms.
func interval(text string, timestep float64) (uint64, error) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 && n <= manifest.MostBursts {
		return n, nil
	}
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	n := float64(d) / float64(time.Millisecond) / timestep
	whole := math.Round(n)
	if err != nil || whole < 1 || whole > manifest.MostBursts || math.Abs(n-whole) > 1e-6*whole {
		return 0, fmt.Errorf("every %q, want bursts such as 1000, or a time of whole bursts of %g ms, such as %v", text, timestep, time.Duration(1000*timestep*float64(time.Millisecond)))
	}
	return uint64(whole), nil
}
