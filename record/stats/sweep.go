package stats

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"burst/internal/durable"
	"burst/record/internal/tables"
)

// Sweep gathers runs that differ in their seed.
type Sweep struct{ rows []sweepRow }

// sweepRow is one area of one run.
type sweepRow struct {
	seed    uint64
	area    string
	neurons uint32
	spikes  uint64
	hz      float64
	active  uint64
	digest  string
}

// Add takes one area of the run with the seed; hz is the mean rate of its neurons, active how many fired at all.
func (s *Sweep) Add(seed uint64, area string, neurons uint32, spikes uint64, hz float64, active uint64, digest string) {
	s.rows = append(s.rows, sweepRow{seed, area, neurons, spikes, hz, active, digest})
}

// Spread is an area over all runs: means and standard deviations (of a sample: n − 1), 0 for a single run.
type Spread struct {
	Area       string  `json:"name"`
	Neurons    uint32  `json:"neurons"`
	SpikesMean float64 `json:"spikes_mean"`
	SpikesSD   float64 `json:"spikes_sd"`
	RateMean   float64 `json:"rate_hz_mean"`
	RateSD     float64 `json:"rate_hz_sd"`
}

// Areas gives every area's spread, in the order in which areas were added.
func (s *Sweep) Areas() []Spread {
	areas := []Spread{}
	at := map[string]int{}
	var spikes, rates [][]float64
	for _, r := range s.rows {
		i, met := at[r.area]
		if !met {
			i = len(areas)
			at[r.area] = i
			areas, spikes, rates = append(areas, Spread{Area: r.area, Neurons: r.neurons}), append(spikes, nil), append(rates, nil)
		}
		spikes[i], rates[i] = append(spikes[i], float64(r.spikes)), append(rates[i], r.hz)
	}
	for i := range areas {
		areas[i].SpikesMean, areas[i].SpikesSD = spread(spikes[i])
		areas[i].RateMean, areas[i].RateSD = spread(rates[i])
	}
	return areas
}

func spread(x []float64) (mean, sd float64) {
	if len(x) == 1 {
		return x[0], 0
	}
	mean, squares := squaresOf(x)
	return mean, math.Sqrt(squares / float64(len(x)-1))
}

// Write writes sweep.csv into a folder: a line for each area of each run.
func (s *Sweep) Write(dir string) error {
	return durable.ReplaceBy(filepath.Join(dir, "sweep.csv"), func(w io.Writer) error {
		rows := tables.CSV(w, []string{"seed", "area", "neurons", "spikes", "rate_hz", "active", "digest"})
		for _, r := range s.rows {
			rows.Write([]string{tables.Whole(r.seed), r.area, fmt.Sprint(r.neurons), tables.Whole(r.spikes), strconv.FormatFloat(r.hz, 'g', -1, 64), tables.Whole(r.active), r.digest})
		}
		rows.Flush()
		return rows.Error()
	})
}
