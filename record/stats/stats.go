// Package stats describes the recorded spikes of a run in numbers: rates, intervals, synchrony and correlation of each
// area, and the first spike in which two runs differ. It reads recordings as streams, so that its memory depends on the
// number of neurons and not on the number of spikes.
package stats

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"burst/record/manifest"
	"burst/record/runfolder"
)

// Options of Compute; the zero value takes the whole run and all areas.
type Options struct {
	From, Until uint64   // bursts From ≤ t < Until, as numbered in the recording; Until 0: to the run's end
	Areas       []string // names; empty: all
	Bin         float64  // ms, of the counts behind synchrony and correlation; 0: 5 ms
	Sample      int      // neurons of an area whose pairs are correlated, at least 2; 0: 100
	Seed        uint64   // of the sample
}

// Value is a figure that may be undefined: NaN here, null in JSON.
type Value float64

// MarshalJSON writes null for an undefined figure.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.Defined() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*v = undefined
		return nil
	}
	return json.Unmarshal(text, (*float64)(v))
}

// Defined reports whether there is a figure.
func (v Value) Defined() bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

var undefined = Value(math.NaN())

// Summary is what Compute finds.
type Summary struct {
	From     uint64  `json:"from"`  // burst
	Until    uint64  `json:"until"` // the burst after the last
	Timestep float64 `json:"timestep_ms"`
	Bin      float64 `json:"bin_ms"` // of synchrony and correlation; whole bursts, wider than asked for where more than 10,000 would be needed; bursts behind the last whole bin are left out
	Areas    []Area  `json:"areas"`

	Weights []Weights `json:"weights,omitempty"` // of projections that learn, from an area that was asked for or to one
}

// Area is one area's figures; those of neurons are of the recorded ones.
type Area struct {
	Name     string `json:"name"`
	Neurons  uint32 `json:"neurons"`
	Recorded uint32 `json:"recorded"` // neurons whose spikes were recorded
	Spikes   uint64 `json:"spikes"`
	Rate     Value  `json:"rate_hz"` // mean over neurons
	Active   Value  `json:"active"`  // share of neurons that fired at all, 0…1

	// Intervals between successive spikes of a neuron. Mean is over all intervals; CV is the mean over neurons with at least
	// two intervals of standard deviation (n−1) over mean.
	ISI Value `json:"isi_ms"`
	CV  Value `json:"isi_cv"`

	// Synchrony is Golomb's chi (Golomb and Rinzel 1994; Golomb 2007) on spike counts in bins: the square root of the variance
	// over time of the mean count over the mean of the neurons' own variances. 1: all fire as one; 1/√N: independently.
	Synchrony Value `json:"synchrony"`
	// Correlation is the mean Pearson coefficient of the counts of all pairs among a sample of neurons that fired.
	Correlation Value `json:"correlation"`
	Pairs       int   `json:"pairs"` // pairs behind Correlation

	Counts    []uint64 `json:"-"` // spikes of each recorded neuron
	Intervals []uint64 `json:"-"` // how many intervals were k bursts long; the last entry holds all longer ones too
}

// Seconds is the simulated time that the summary covers.
func (s *Summary) Seconds() float64 { return float64(s.Until-s.From) * s.Timestep / 1000 }

// Limits of what is kept.
const (
	mostBins        = 10_000
	longestInterval = 1 << 16 // bursts
	defaultBin      = 5.0     // ms
	defaultSample   = 100
)

// WindowError means that the run has none of the chosen bursts.
type WindowError struct{ From, Until, First, Last uint64 }

// Error says which bursts there are.
func (e *WindowError) Error() string {
	return fmt.Sprintf("no burst from %d until %d; the run has bursts %d to %d", e.From, e.Until, e.First, e.Last)
}

// Window is the bursts that a reader looks at, cut to those of the run; until 0 is the run's end.
func Window(f *runfolder.Folder, from, until uint64) (uint64, uint64, error) {
	first := f.Manifest.First
	end, err := End(f)
	if err != nil {
		return 0, 0, err
	}
	lo, hi := max(from, first), end
	if until > 0 {
		hi = min(until, end)
	}
	if lo > hi || lo == hi && end > first {
		return 0, 0, &WindowError{from, hi, first, max(end, first+1) - 1}
	}
	return lo, hi, nil
}

// End is the burst after a run's last one; of a run without an end in good order, after its last recorded spike.
func End(f *runfolder.Folder) (uint64, error) {
	m := &f.Manifest
	if m.Status == manifest.Complete || m.Status == manifest.Interrupted || !slices.Contains(f.Tables(), "spikes") {
		return m.First + m.Bursts, nil
	}
	end := m.First
	for c, err := range f.Spikes() {
		if err != nil {
			return 0, err
		}
		if n := len(c.Burst); n > 0 {
			end = max(end, c.Burst[n-1]+1)
		}
	}
	return end, nil
}

// Select marks the areas that are named; no names mean all of them.
func Select(areas []manifest.Area, names []string) ([]bool, error) {
	taken := make([]bool, len(areas))
	for i := range areas {
		taken[i] = len(names) == 0
	}
	for _, name := range names {
		i, err := manifest.Find(areas, name)
		if err != nil {
			return nil, err
		}
		taken[i] = true
	}
	return taken, nil
}

// Rows gives the rows of chunks that lie in bursts from ≤ t < until; a view, not a copy.
func Rows(chunks iter.Seq2[runfolder.Chunk, error], from, until uint64) iter.Seq2[runfolder.Chunk, error] {
	return func(yield func(runfolder.Chunk, error) bool) {
		for c, err := range chunks {
			if err != nil {
				yield(c, err)
				return
			}
			lo, _ := slices.BinarySearch(c.Burst, from)
			hi, _ := slices.BinarySearch(c.Burst, until)
			if hi > lo && !yield(cut(c, lo, hi), nil) {
				return
			}
			if hi < len(c.Burst) {
				return
			}
		}
	}
}

// cut is rows lo ≤ i < hi of a chunk of spikes or potentials.
func cut(c runfolder.Chunk, lo, hi int) runfolder.Chunk {
	c.Burst, c.Neuron, c.Area = c.Burst[lo:hi], c.Neuron[lo:hi], c.Area[lo:hi]
	if c.Potential != nil {
		c.Potential = c.Potential[lo:hi]
	}
	return c
}
