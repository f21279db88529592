package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/internal/durable"
	"burst/record/internal/tables"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// Plan says what to keep of a run, beside rates; the zero value keeps nothing.
type Plan struct {
	Spikes     []connectome.Span // neurons; ascending and apart, as are those below
	FCL        []connectome.Span // neurons whose candidates are kept; the backend must deliver the FCL
	Values     []engine.Probe    // the backend must deliver exactly these
	Rest       []float32         // what to add to each of Values to make it absolute
	Potentials []int             // places in Values
	Variables  []Series          // by neuron, then name; with inputs the backend must deliver the FCL
	Names      []string          // of Variables
	Weights    Sampling          // the run must be given samples
}

// Want is what the backend must deliver.
func (p *Plan) Want() engine.Want {
	input := func(s Series) bool { return s.Value < 0 }
	return engine.Want{FCL: len(p.FCL) > 0 || slices.ContainsFunc(p.Variables, input), Values: p.Values}
}

// keeps says whether the plan has rows for a table.
func (p *Plan) keeps(table string) bool {
	switch table {
	case tables.Spikes:
		return p.Spikes != nil
	case tables.Potentials:
		return len(p.Potentials) > 0
	case tables.Variables:
		return len(p.Variables) > 0
	case tables.FCL:
		return len(p.FCL) > 0
	case tables.Weights:
		return p.Weights.Synapses != nil
	}
	return p.Weights.Histograms != nil
}

// Options of Create.
type Options struct {
	Manifest manifest.Manifest // what is known before the run; its areas must be those of the connectome, what is recorded of them the plan says
	Genome   []byte            // genome.yaml as run
	Plan     Plan
	Prepare  func(dir string, m *manifest.Manifest) error // makes what else the folder holds, before the manifest is written; nil: nothing
	Watch
}

// Watch is what a run tells while it records.
type Watch struct {
	Warn   func(string)                                      // called once for each recording if the disk slows the run; may be nil
	Spikes func(m *manifest.Manifest) func(*runfolder.Chunk) // what it gives is given the recorded spikes, by several goroutines, in any order; may be nil
}

// Run is a run folder being written. It is a Recorder; Close ends it.
type Run struct {
	dir     string
	m       manifest.Manifest
	plan    Plan
	tracks  map[string]*track // by table; those that are kept
	waited  time.Duration     // for the disk, by tracks that have ended
	watch   Watch
	every   []uint64 // the intervals of the plan's variables
	sampled uint64   // the burst after that of the last sample of weights; 0: none
}

// Create makes dir, which must not exist or be empty but for the lock of a Hold, and begins its files.
func Create(dir string, o Options) (*Run, error) {
	if err := runfolder.Vacant(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Run{dir: dir, m: o.Manifest, plan: o.Plan, watch: o.Watch}
	r.m.Format, r.m.Status = manifest.Format, manifest.Running
	r.m.Keep(o.Plan.Spikes)
	r.m.Variables = o.Plan.Names
	sum := sha256.Sum256(o.Genome)
	r.m.GenomeSHA256 = hex.EncodeToString(sum[:])
	if err := durable.Replace(filepath.Join(dir, manifest.GenomeFile), o.Genome); err != nil {
		return nil, err
	}
	if o.Prepare != nil {
		if err := o.Prepare(dir, &r.m); err != nil {
			return nil, err
		}
	}
	if err := r.m.Write(dir); err != nil {
		return nil, err
	}
	return r, r.open(r.begin)
}

// open begins every recording of the plan.
func (r *Run) open(begin func(name string) (*track, error)) error {
	r.tracks = map[string]*track{}
	for i := range r.plan.Variables {
		if n := r.plan.Variables[i].Every; !slices.Contains(r.every, n) {
			r.every = append(r.every, n)
		}
	}
	for _, name := range tables.Names() {
		if !r.plan.keeps(name) {
			continue
		}
		t, err := begin(name)
		if err != nil {
			return errors.Join(err, r.closeTracks(false, true))
		}
		r.tracks[name] = t
	}
	return nil
}

// begin starts a recording.
func (r *Run) begin(name string) (*track, error) {
	base := filepath.Join(r.dir, name)
	var files [2]*os.File
	for i, end := range []string{".arrows", ".sums"} {
		f, err := os.OpenFile(base+end, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("record: %w", err), closeAll(files[:i]))
		}
		files[i] = f
	}
	s, err := tables.NewStream(files[0], files[1], tables.Named(name).StreamSchema(&r.m))
	if err == nil {
		err = durable.SyncFolder(r.dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("record: %w", err), closeAll(files[:]))
	}
	return newTrack(base+".arrows", s, r.watch.Warn, Offset{}, r.encode(name))
}

// Record keeps a burst's part of the plan.
func (r *Run) Record(b *engine.Burst) error {
	if t := r.tracks[tables.Spikes]; t != nil {
		if err := t.spikes(b, r.plan.Spikes); err != nil {
			return err
		}
	}
	if t := r.tracks[tables.Potentials]; t != nil {
		if err := t.potentials(b, &r.plan); err != nil {
			return err
		}
	}
	if t := r.tracks[tables.Variables]; t != nil {
		if err := t.variables(b, r); err != nil {
			return err
		}
	}
	if t := r.tracks[tables.FCL]; t != nil {
		return t.fcl(b, r.plan.FCL)
	}
	return nil
}

// Waited is how long the run has waited for the disk.
func (r *Run) Waited() time.Duration {
	total := r.waited
	for _, t := range r.tracks {
		total += t.waited
	}
	return total
}

// GenomeSHA256 is that of genome.yaml, in hexadecimal digits.
func (r *Run) GenomeSHA256() string { return r.m.GenomeSHA256 }

// Mark hands everything recorded so far to the writers. The function it returns waits, in any goroutine, until that is on
// disk, and says for each recording how far it is then: all rows of the bursts so far, and none of later ones.
func (r *Run) Mark() func() (map[string]Offset, error) {
	tracks := maps.Clone(r.tracks)
	reached := map[string]<-chan Offset{}
	for name, t := range tracks {
		reached[name] = t.mark()
	}
	return func() (map[string]Offset, error) {
		at := map[string]Offset{}
		for name, c := range reached {
			o, ok := <-c
			if !ok {
				return nil, *tracks[name].failed.Load()
			}
			at[name] = o
		}
		return at, nil
	}
}

// closeTracks ends the recordings; of their Parquet files and of their streams it says whether they are wanted.
func (r *Run) closeTracks(parquet, streams bool) error {
	var errs []error
	for _, t := range r.tracks {
		t.end(parquet, streams)
	}
	for _, name := range tables.Names() {
		if t := r.tracks[name]; t != nil {
			errs = append(errs, t.close())
			r.waited += t.waited
		}
	}
	r.tracks = nil
	return errors.Join(errs...)
}

// Fail ends a run that an error ended: its recordings stay as they are on disk, its manifest tells the error, and the fault
// of the device if it was one.
func (r *Run) Fail(cause error, f *manifest.Fault) error {
	err := r.closeTracks(false, true)
	r.m.Status, r.m.Failure = manifest.Failed, cause.Error()
	if f != nil {
		r.m.Faults = append(r.m.Faults, *f)
	}
	return errors.Join(err, r.m.Write(r.dir))
}

// End is what is known of a run when it has ended.
type End struct {
	Bursts   uint64
	Spikes   uint64
	Digest   string
	Weights  string // their digest; "" where none changes
	Status   string // Complete or Interrupted; an interrupted run keeps its streams, so that it can be resumed
	Timings  manifest.Timings
	Inputs   bool      // manifest.InputsFile is there
	Activity *Activity // becomes rates.csv
}

// Close ends the run: recordings become Parquet, rates.csv is written, and last the manifest with every file's hash.
func (r *Run) Close(e End) error {
	start, kept := time.Now(), r.tracks
	if err := r.closeTracks(true, e.Status == manifest.Interrupted); err != nil {
		return err
	}
	m := &r.m
	m.Bursts, m.Spikes, m.Digest, m.WeightDigest, m.Status, m.Timings = e.Bursts, e.Spikes, e.Digest, e.Weights, e.Status, e.Timings
	if err := durable.ReplaceBy(filepath.Join(r.dir, manifest.RatesFile), func(w io.Writer) error { return writeRates(w, m, e.Activity) }); err != nil {
		return err
	}
	files := []string{manifest.GenomeFile, manifest.RatesFile}
	if e.Inputs {
		files = append(files, manifest.InputsFile)
	}
	m.Files = nil
	for _, name := range files {
		f, err := manifest.Describe(r.dir, name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, f)
	}
	for _, t := range kept {
		m.Files = append(m.Files, t.parquet)
	}
	slices.SortFunc(m.Files, func(a, b manifest.File) int { return strings.Compare(a.Path, b.Path) })
	m.Timings.Write = time.Since(start).Seconds()
	if err := m.Write(r.dir); err != nil {
		return err
	}
	if e.Status == manifest.Interrupted {
		return nil
	}
	// Only now has every reader something newer to look at.
	if e.Inputs {
		if err := os.Remove(filepath.Join(r.dir, manifest.InputsLog)); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	for name := range kept {
		for _, end := range []string{".arrows", ".sums"} {
			if err := os.Remove(filepath.Join(r.dir, name+end)); err != nil {
				return fmt.Errorf("record: %w", err)
			}
		}
	}
	return durable.SyncFolder(r.dir)
}

// errUnwanted ends a Parquet file of a run that failed.
var errUnwanted = errors.New("not wanted")

// encode makes a recording's Parquet file of what its stream has and of the blocks that are written to it. The file gets its name when
// the recording ends.
func (r *Run) encode(name string) func(*track) error {
	base, table, m := filepath.Join(r.dir, name), tables.Named(name), r.m
	var seen func(*tables.Chunk)
	if name == tables.Spikes && r.watch.Spikes != nil {
		seen = r.watch.Spikes(&m)
	}
	return func(t *track) error {
		into := summed{hash: sha256.New()}
		err := durable.ReplaceVia(filepath.Join(r.dir, durable.Unfinished+name+".parquet"), base+".parquet", func(w io.Writer) error {
			into.Writer = w
			p, err := tables.NewParquet(&into, table.Schema(&m), &m, seen)
			if err != nil {
				return err
			}
			defer p.Wait()
			for c, err := range tables.ReadStream(base, table, &m) { // of a resumed run
				if err == nil {
					err = p.Add(&c)
				}
				if err != nil {
					return err
				}
			}
			t.begun <- nil
			for b := range t.written {
				if err := p.AddBlock(&b.Block); err != nil {
					return err
				}
				t.recycle(b)
			}
			if !t.wanted[0] || t.failed.Load() != nil {
				return errUnwanted
			}
			return p.Finish()
		})
		t.parquet = manifest.File{Path: name + ".parquet", Bytes: into.bytes, SHA256: hex.EncodeToString(into.hash.Sum(nil))}
		if errors.Is(err, errUnwanted) {
			return nil
		}
		return err
	}
}

// summed hashes and counts what is written.
type summed struct {
	io.Writer
	hash  hash.Hash
	bytes int64
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	s.hash.Write(b[:n])
	s.bytes += int64(n)
	return n, err
}

// writeRates writes rates.csv.
func writeRates(w io.Writer, m *manifest.Manifest, a *Activity) error {
	rows := tables.CSV(w, tables.RatesHead)
	bins := 0
	if len(a.bins) > 0 {
		bins = len(a.bins[0])
	}
	for k := range bins {
		first := uint64(k) * a.width
		bursts := min(a.width, a.bursts-first) // the last bin may be unfinished
		first += m.First
		for i, area := range m.Areas {
			hz := Rate(a.bins[i][k], uint64(area.Neurons), bursts, m.Timestep)
			rows.Write([]string{tables.Whole(first), tables.Whole(bursts), area.Name, tables.Whole(a.bins[i][k]), strconv.FormatFloat(hz, 'g', -1, 64)})
		}
	}
	rows.Flush()
	return rows.Error()
}
