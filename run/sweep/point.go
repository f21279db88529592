package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"burst/engine"
	"burst/internal/durable"
	"burst/record/stats"
	"burst/run"
)

// Row is a point and what came of it.
type Row struct {
	Point   int      `json:"point"`  // from 1 on
	Values  []string `json:"values"` // of the axes
	Seed    uint64   `json:"seed"`
	RunSeed uint64   `json:"run_seed"`
	Digest  string   `json:"digest,omitempty"`
	Weights string   `json:"weight_digest,omitempty"` // of a network whose weights change
	Bursts  uint64   `json:"bursts"`
	Spikes  uint64   `json:"spikes"`
	Areas   []Area   `json:"areas,omitempty"`
	Seconds float64  `json:"total_s"`          // from building to the end
	Error   string   `json:"error,omitempty"`  // why the point has failed; all that follows from a run is then zero
	Folder  string   `json:"folder,omitempty"` // of its recordings, in the sweep's
}

// Area is an area's part. All but Active leaves the first bursts out that Options.Settle says.
type Area struct {
	Name      string      `json:"name"`
	Neurons   uint32      `json:"neurons"`
	Spikes    uint64      `json:"spikes"`
	Rate      stats.Value `json:"rate_hz"`   // mean over neurons
	Active    stats.Value `json:"active"`    // share of neurons that fired, 0…1
	CV        stats.Value `json:"isi_cv"`    // of intervals, mean over neurons with at least two
	Synchrony stats.Value `json:"synchrony"` // of counts in bins of Options.Bin, as stats.Area has it
}

// rowFile is the file of a point's folder that has its row. It is written when the run has ended, and the point is finished where it is.
const rowFile = "point.json"

// runPoint runs a point to its end.
func (s *sweep) runPoint(ctx context.Context, x *Point, o run.Options) (*Row, error) {
	start := time.Now()
	network, err := s.network(ctx, x, o)
	if err != nil {
		return nil, err
	}
	o.Network = network
	if s.dir != "" {
		o.Folder = s.folder(x)
	}
	place := s.plan.place(x)
	o.Tell = func(e run.Event) { s.emit(Of{place, e}) }
	late := &lateLive{}
	o.Recorders = []engine.Recorder{s, late}
	r, err := run.New(ctx, x.Genome, o)
	if err != nil {
		return nil, err
	}
	late.Live = stats.NewLive(r.Connectome, r.First+min(s.o.Settle, o.Bursts), r.End(), s.o.Bin)
	err = r.Advance(ctx, r.End())
	if ended := r.Close(); err == nil {
		err = ended
	}
	if err != nil {
		return nil, err
	}
	row := &Row{
		Point: x.Number, Values: x.Values, Seed: x.Genome.Seed, RunSeed: x.Genome.RunSeed, Digest: fmt.Sprintf("%016x", r.Engine().Digest()), Weights: r.WeightDigest(),
		Bursts: r.Number() - r.First, Spikes: r.Activity().Total(), Seconds: time.Since(start).Seconds(),
	}
	for _, a := range late.Summary().Areas {
		row.Areas = append(row.Areas, Area{a.Name, a.Neurons, a.Spikes, a.Rate, a.Active, a.CV, a.Synchrony})
	}
	if s.dir == "" {
		return row, nil
	}
	row.Folder = filepath.Base(o.Folder)
	return row, row.save(o.Folder)
}

// lateLive is a stats.Live that is made once the network is built: recorders are named before that.
type lateLive struct{ *stats.Live }

// Record counts a burst of any point.
func (s *sweep) Record(b *engine.Burst) error {
	s.bursts.Add(1)
	s.spikes.Add(uint64(len(b.Fired)))
	return nil
}

// save writes the row of a point that has ended.
func (r *Row) save(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return durable.Replace(filepath.Join(dir, rowFile), append(text, '\n'))
}

// loadRow reads the row of a finished point; nil where the point is not finished.
func loadRow(dir string) (*Row, error) {
	text, err := os.ReadFile(filepath.Join(dir, rowFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Row{}
	return r, json.Unmarshal(text, r)
}
