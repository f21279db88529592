package stats

import (
	"errors"
	"io/fs"
	"iter"
	"slices"

	"burst/record/manifest"
	"burst/record/runfolder"
)

// Weights are the weights of a projection that learns, at the first and the last sample of a window.
type Weights struct {
	Projection uint32       `json:"projection"`
	From       string       `json:"from"`
	To         string       `json:"to"`
	Rule       string       `json:"rule"`
	Synapses   uint64       `json:"synapses"`
	Before     WeightSpread `json:"before"`
	After      WeightSpread `json:"after"`
}

// WeightSpread is how weights lie between their bounds.
type WeightSpread struct {
	Burst uint64  `json:"burst"` // that begins with these weights
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	Low   float64 `json:"low"`  // share of them in the lowest fifth between the bounds
	High  float64 `json:"high"` // and in the highest
}

// Sample is the rows of one projection in one burst of a recording of weights or histograms.
type Sample struct {
	Burst      uint64
	Projection uint32
	Mean, SD   float64   // of a histogram
	Low, High  []float64 // edges of each bin
	Synapses   []uint64  // in each bin

	Source, Target []uint32 // of each recorded synapse
	Weight         []float32
}

// Samples puts the rows of chunks together that are of one projection and burst, from ≤ burst ≤ until. A sample holds until the next one.
func Samples(chunks iter.Seq2[runfolder.Chunk, error], from, until uint64) iter.Seq2[*Sample, error] {
	return func(yield func(*Sample, error) bool) {
		var s Sample
		some := false
		for c, err := range chunks {
			if err != nil {
				yield(nil, err)
				return
			}
			for i, burst := range c.Burst {
				if burst < from || burst > until {
					continue
				}
				if some && (burst != s.Burst || c.Projection[i] != s.Projection) {
					if !yield(&s, nil) {
						return
					}
					s.reset()
				}
				some = true
				s.add(&c, i)
			}
		}
		if some {
			yield(&s, nil)
		}
	}
}

func (s *Sample) reset() {
	s.Low, s.High, s.Synapses = s.Low[:0], s.High[:0], s.Synapses[:0]
	s.Source, s.Target, s.Weight = s.Source[:0], s.Target[:0], s.Weight[:0]
}

// add takes row i of a chunk.
func (s *Sample) add(c *runfolder.Chunk, i int) {
	s.Burst, s.Projection = c.Burst[i], c.Projection[i]
	if c.Weight != nil {
		s.Source, s.Target, s.Weight = append(s.Source, c.Source[i]), append(s.Target, c.Target[i]), append(s.Weight, c.Weight[i])
		return
	}
	s.Mean, s.SD = c.Mean[i], c.SD[i]
	s.Low, s.High, s.Synapses = append(s.Low, c.Low[i]), append(s.High, c.High[i]), append(s.Synapses, c.Synapses[i])
}

// spread describes a histogram; its bins are as wide as each other.
func (s *Sample) spread() WeightSpread {
	out := WeightSpread{Burst: s.Burst, Mean: s.Mean, SD: s.SD}
	n, low, high, fifth := uint64(0), uint64(0), uint64(0), (len(s.Synapses)+4)/5
	for k, synapses := range s.Synapses {
		n += synapses
		if k < fifth {
			low += synapses
		}
		if k >= len(s.Synapses)-fifth {
			high += synapses
		}
	}
	if n > 0 {
		out.Low, out.High = float64(low)/float64(n), float64(high)/float64(n)
	}
	return out
}

// LearningOf is the projection that a sample is of; nil where the manifest names none.
func LearningOf(m *manifest.Manifest, projection uint32) *manifest.Learns {
	i := slices.IndexFunc(m.Learning, func(l manifest.Learns) bool { return l.Projection == projection })
	if i < 0 {
		return nil
	}
	return &m.Learning[i]
}

// LearntWeights is how the weights of each projection that learns lie at the first and the last sample between two bursts, by place in the
// genome; none where the run kept no histograms.
func LearntWeights(f *runfolder.Folder, from, until uint64) ([]Weights, error) {
	var list []Weights
	for s, err := range Samples(f.Histograms(), from, until) {
		switch {
		case errors.Is(err, fs.ErrNotExist) && !slices.Contains(f.Tables(), "histograms"):
			return nil, nil
		case err != nil:
			return nil, err
		}
		i := slices.IndexFunc(list, func(w Weights) bool { return w.Projection == s.Projection })
		if i < 0 {
			l := LearningOf(&f.Manifest, s.Projection)
			if l == nil {
				return nil, &runfolder.DamagedError{Path: f.Dir, Reason: "has histograms of a projection that its manifest does not name as one that learns"}
			}
			list = append(list, Weights{Projection: l.Projection, From: l.From, To: l.To, Rule: l.Rule, Synapses: l.Synapses, Before: s.spread()})
			i = len(list) - 1
		}
		list[i].After = s.spread()
	}
	return list, nil
}
