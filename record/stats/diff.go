package stats

import (
	"fmt"
	"iter"

	"burst/record/manifest"
	"burst/record/runfolder"
)

// Difference is the first spike that one of two runs has and the other has not.
type Difference struct {
	Burst  uint64 `json:"burst"`
	Area   string `json:"area"`
	Index  uint32 `json:"index"`  // of the neuron in its area
	Neuron uint32 `json:"neuron"` // global id
	In     string `json:"in"`     // "a" or "b": the run in which it fires
}

// FirstDifference compares the recorded spikes of two runs of networks with the same areas, in bursts before until that both
// have run and for neurons that both have recorded. It returns nil when there is none.
func FirstDifference(a, b *runfolder.Folder, until uint64) (*Difference, error) {
	both := make([]manifest.Kept, len(a.Manifest.Areas))
	for i, x := range a.Manifest.Areas {
		if i >= len(b.Manifest.Areas) || b.Manifest.Areas[i].Name != x.Name || b.Manifest.Areas[i].Neurons != x.Neurons {
			return nil, fmt.Errorf("areas[%d] (%s) differs in %s; spikes of different networks cannot be compared", i, x.Name, b.Dir)
		}
		kept := x.Kept()
		both[i] = kept.Shared(b.Manifest.Areas[i].Kept())
	}
	from := max(a.Manifest.First, b.Manifest.First)
	nextA, stopA := iter.Pull2(shared(a, both, from, until))
	defer stopA()
	nextB, stopB := iter.Pull2(shared(b, both, from, until))
	defer stopB()
	var x, y spikes
	for {
		if err := x.fill(nextA); err != nil {
			return nil, err
		}
		if err := y.fill(nextB); err != nil {
			return nil, err
		}
		n := min(len(x.Burst), len(y.Burst))
		if n == 0 {
			break
		}
		for i := range n {
			if x.Burst[i] != y.Burst[i] || x.Neuron[i] != y.Neuron[i] {
				x.Chunk, y.Chunk = cut(x.Chunk, i, len(x.Burst)), cut(y.Chunk, i, len(y.Burst))
				return earlier(a, &x, &y), nil
			}
		}
		x.Chunk, y.Chunk = cut(x.Chunk, n, len(x.Burst)), cut(y.Chunk, n, len(y.Burst))
	}
	return earlier(a, &x, &y), nil
}

// spikes are rows of a run not compared yet.
type spikes struct{ runfolder.Chunk }

// fill takes the next chunk when there are no rows left.
func (s *spikes) fill(next func() (runfolder.Chunk, error, bool)) error {
	for len(s.Burst) == 0 {
		c, err, ok := next()
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		s.Chunk = c
	}
	return nil
}

// earlier is the earlier of two first rows that differ; a run without rows has none.
func earlier(f *runfolder.Folder, x, y *spikes) *Difference {
	in, s := "a", x
	switch {
	case len(x.Burst) == 0 && len(y.Burst) == 0:
		return nil
	case len(x.Burst) == 0:
		in, s = "b", y
	case len(y.Burst) > 0 && (y.Burst[0] < x.Burst[0] || y.Burst[0] == x.Burst[0] && y.Neuron[0] < x.Neuron[0]):
		in, s = "b", y
	}
	area := &f.Manifest.Areas[s.Area[0]]
	return &Difference{Burst: s.Burst[0], Area: area.Name, Index: s.Neuron[0] - area.First, Neuron: s.Neuron[0], In: in}
}

// shared gives the spikes of neurons that both runs have recorded.
func shared(f *runfolder.Folder, both []manifest.Kept, from, until uint64) iter.Seq2[runfolder.Chunk, error] {
	return func(yield func(runfolder.Chunk, error) bool) {
		var kept runfolder.Chunk
		for c, err := range Rows(f.Spikes(), from, until) {
			if err != nil {
				yield(c, err)
				return
			}
			kept.Burst, kept.Neuron, kept.Area = kept.Burst[:0], kept.Neuron[:0], kept.Area[:0]
			for i, n := range c.Neuron {
				a := c.Area[i]
				if _, has := both[a].Rank(n); has {
					kept.Burst, kept.Neuron, kept.Area = append(kept.Burst, c.Burst[i]), append(kept.Neuron, n), append(kept.Area, a)
				}
			}
			if !yield(kept, nil) {
				return
			}
		}
	}
}
