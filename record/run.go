package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"burst/connectome"
	"burst/engine"
	"burst/internal/durable"
)

// Plan says what to keep of a run, beside rates; the zero value keeps nothing.
type Plan struct {
	Spikes     []connectome.Span // neurons; ascending and apart, as are those below
	Potentials []uint32          // neurons; the backend must deliver exactly these
	Rest       []float32         // what to add to each of Potentials to make it absolute
	FCL        []connectome.Span // neurons whose candidates are kept; the backend must deliver the FCL
}

// Options of Create.
type Options struct {
	Manifest Manifest // what is known before the run; its areas must be those of the connectome, what is recorded of them the plan says
	Genome   []byte   // genome.yaml as run
	Plan     Plan
	Prepare  func(dir string, m *Manifest) error // makes what else the folder holds, before the manifest is written; nil: nothing
	Warn     func(string)                        // told once for each recording when the disk slows the run; nil: nobody
}

// Run is a run folder being written. It is a Recorder; Close ends it.
type Run struct {
	dir                     string
	m                       Manifest
	plan                    Plan
	spikes, potentials, fcl *track // nil: not kept
}

// Create makes dir, which must not exist or be empty but for the lock of a Hold, and begins its files.
func Create(dir string, o Options) (*Run, error) {
	if err := Vacant(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Run{dir: dir, m: o.Manifest, plan: o.Plan}
	r.m.Format, r.m.Status = format, Running
	r.m.keep(o.Plan.Spikes)
	sum := sha256.Sum256(o.Genome)
	r.m.GenomeSHA256 = hex.EncodeToString(sum[:])
	if err := durable.Replace(filepath.Join(dir, genomeFile), o.Genome); err != nil {
		return nil, err
	}
	if o.Prepare != nil {
		if err := o.Prepare(dir, &r.m); err != nil {
			return nil, err
		}
	}
	if err := r.m.write(dir); err != nil {
		return nil, err
	}
	return r, r.open(func(name string) (*track, error) { return r.begin(name, o.Warn) })
}

// open begins every recording of the plan.
func (r *Run) open(begin func(name string) (*track, error)) error {
	for _, t := range []struct {
		name string
		kept bool
		into **track
	}{
		{spikesTable, r.plan.Spikes != nil, &r.spikes}, {potentialsTable, len(r.plan.Potentials) > 0, &r.potentials}, {fclTable, len(r.plan.FCL) > 0, &r.fcl},
	} {
		if !t.kept {
			continue
		}
		var err error
		if *t.into, err = begin(t.name); err != nil {
			return errors.Join(err, r.closeTracks())
		}
	}
	return nil
}

// Vacant reports a folder that Create would refuse.
func Vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	for _, e := range entries {
		if e.Name() != lockName {
			return &fs.PathError{Op: "record", Path: dir, Err: fmt.Errorf("holds %s already; want a folder that is empty or not there yet", e.Name())}
		}
	}
	return nil
}

// begin starts a recording.
func (r *Run) begin(name string, warn func(string)) (*track, error) {
	base := filepath.Join(r.dir, name)
	var files [2]*os.File
	for i, end := range []string{".arrows", ".sums"} {
		f, err := os.OpenFile(base+end, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("record: %w", err), closeAll(files[:i]))
		}
		files[i] = f
	}
	s, err := newStream(files[0], files[1], tableNamed(name).streamSchema(&r.m))
	if err == nil {
		err = durable.SyncFolder(r.dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("record: %w", err), closeAll(files[:]))
	}
	return newTrack(base+".arrows", s, warn, Offset{}), nil
}

// Record keeps a burst's part of the plan.
func (r *Run) Record(b *engine.Burst) error {
	if r.spikes != nil {
		if err := r.spikes.spikes(b, r.plan.Spikes); err != nil {
			return err
		}
	}
	if r.potentials != nil {
		if err := r.potentials.potentials(b, r.plan.Potentials, r.plan.Rest); err != nil {
			return err
		}
	}
	if r.fcl != nil {
		return r.fcl.fcl(b, r.plan.FCL)
	}
	return nil
}

// GenomeSHA256 is that of genome.yaml, in hexadecimal digits.
func (r *Run) GenomeSHA256() string { return r.m.GenomeSHA256 }

// Dir is the run's folder.
func (r *Run) Dir() string { return r.dir }

// Offsets says for each recording, by its table's name, how far it is on disk.
func (r *Run) Offsets() map[string]Offset {
	at := map[string]Offset{}
	for name, t := range r.tracks() {
		if o := t.last.Load(); o != nil {
			at[name] = *o
		}
	}
	return at
}

// Mark hands everything recorded so far to the writers. The function it returns waits, in any goroutine, until that is on
// disk, and says for each recording how far it is then: all rows of the bursts so far, and none of later ones.
func (r *Run) Mark() func() (map[string]Offset, error) {
	tracks := r.tracks()
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

// tracks are the recordings that there are.
func (r *Run) tracks() map[string]*track {
	all := map[string]*track{spikesTable: r.spikes, potentialsTable: r.potentials, fclTable: r.fcl}
	for name, t := range all {
		if t == nil {
			delete(all, name)
		}
	}
	return all
}

// closeTracks ends the recordings; what is on disk stays.
func (r *Run) closeTracks() error {
	var errs []error
	for _, t := range []*track{r.spikes, r.potentials, r.fcl} {
		if t != nil {
			errs = append(errs, t.close())
		}
	}
	r.spikes, r.potentials, r.fcl = nil, nil, nil
	return errors.Join(errs...)
}

// Fail ends a run that an error ended: its recordings stay as they are on disk, its manifest tells the error, and the fault
// of the device if it was one.
func (r *Run) Fail(cause error, f *Fault) error {
	err := r.closeTracks()
	r.m.Status, r.m.Failure = Failed, cause.Error()
	if f != nil {
		r.m.Faults = append(r.m.Faults, *f)
	}
	return errors.Join(err, r.m.write(r.dir))
}

// End is what is known of a run when it has ended.
type End struct {
	Bursts   uint64
	Spikes   uint64
	Digest   string
	Status   string // Complete or Interrupted; an interrupted run keeps its streams, so that it can be resumed
	Timings  Timings
	Activity *Activity // becomes rates.csv
}

// Close ends the run: recordings become Parquet, rates.csv is written, and last the manifest with every file's hash.
func (r *Run) Close(e End) error {
	kept := r.tracks()
	if err := r.closeTracks(); err != nil {
		return err
	}
	m := &r.m
	m.Bursts, m.Spikes, m.Digest, m.Status, m.Timings = e.Bursts, e.Spikes, e.Digest, e.Status, e.Timings
	if err := durable.ReplaceBy(filepath.Join(r.dir, ratesFile), func(w io.Writer) error { return writeRates(w, m, e.Activity) }); err != nil {
		return err
	}
	files := []string{genomeFile, ratesFile}
	for _, name := range []string{spikesTable, potentialsTable, fclTable} {
		if kept[name] == nil {
			continue
		}
		if err := r.toParquet(name); err != nil {
			return err
		}
		files = append(files, name+".parquet")
	}
	slices.Sort(files)
	m.Files = nil
	for _, name := range files {
		f, err := describe(r.dir, name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, f)
	}
	if err := m.write(r.dir); err != nil {
		return err
	}
	if e.Status == Interrupted {
		return nil
	}
	// Only now has every reader something newer to look at.
	for name := range kept {
		for _, end := range []string{".arrows", ".sums"} {
			if err := os.Remove(filepath.Join(r.dir, name+end)); err != nil {
				return fmt.Errorf("record: %w", err)
			}
		}
	}
	return durable.SyncFolder(r.dir)
}

// toParquet makes a recording's Parquet file from its stream, checking every chunk on the way.
func (r *Run) toParquet(name string) error {
	base := filepath.Join(r.dir, name)
	return durable.ReplaceBy(base+".parquet", func(w io.Writer) error {
		t := tableNamed(name)
		return writeParquet(w, t.schema(&r.m), r.m.Areas, readStream(base, t, r.m.Areas))
	})
}

// describe hashes a file of the folder.
func describe(dir, name string) (File, error) {
	f, err := openFile(filepath.Join(dir, name), os.O_RDONLY)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return File{}, fmt.Errorf("record: %w", err)
	}
	return File{Path: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// writeRates writes rates.csv.
func writeRates(w io.Writer, m *Manifest, a *Activity) error {
	rows := csvWriter(w, ratesHead)
	bins := 0
	if len(a.bins) > 0 {
		bins = len(a.bins[0])
	}
	for k := range bins {
		first := uint64(k) * a.width
		bursts := min(a.width, a.bursts-first) // the last bin may be unfinished
		first += m.First
		for i, area := range m.Areas {
			hz := 0.0
			if area.Neurons > 0 {
				hz = float64(a.bins[i][k]) / float64(area.Neurons) / (float64(bursts) * m.Timestep / 1000)
			}
			rows.Write([]string{whole(first), whole(bursts), area.Name, whole(a.bins[i][k]), strconv.FormatFloat(hz, 'g', -1, 64)})
		}
	}
	rows.Flush()
	return rows.Error()
}
