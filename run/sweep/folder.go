package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"burst/genome"
	"burst/genomes"
	"burst/internal/durable"
	"burst/internal/regular"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"
)

// Files of a sweep's folder.
const (
	sheetFile = "sweep.json"
	tableName = "sweep" // .csv and .parquet
)

// sheet is what a sweep's folder says of the sweep, for Resume.
type sheet struct {
	Format       int             `json:"format"`
	Burst        string          `json:"burst"` // the version that began it
	Genome       string          `json:"genome"`
	GenomeFolder string          `json:"genome_folder,omitempty"` // where its files are
	Inputs       []manifest.File `json:"inputs,omitempty"`
	Seed         uint64          `json:"seed"`
	RunSeed      uint64          `json:"run_seed"`
	Plan         Plan            `json:"plan"`
	Bursts       uint64          `json:"bursts"`
	Settle       uint64          `json:"settle"`
	Bin          float64         `json:"bin_ms"` // 0: 5
	Backend      string          `json:"backend"`
	Record       []string        `json:"record,omitempty"`
	Checkpoints  string          `json:"checkpoint_every,omitempty"`
	MaxBytes     uint64          `json:"max_bytes,omitempty"` // of all points together; 0: what the machine has free
	Command      []string        `json:"command"`
	Complete     bool            `json:"complete"`
}

const format = 1

// Is reports whether a folder is that of a sweep.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, sheetFile))
	return err == nil && info.Mode().IsRegular()
}

// create makes the sweep's folder, if it is to have one.
func (s *sweep) create() (err error) {
	if s.dir = s.o.Folder; s.dir == "" && s.o.Runs == "" {
		return nil
	}
	if s.dir == "" {
		s.dir, err = run.NextFolder(s.o.Runs, s.genome.Name)
	} else if err = runfolder.Vacant(s.dir); err == nil {
		err = os.MkdirAll(s.dir, 0o755)
	}
	if err == nil {
		s.hold, err = runfolder.Take(s.dir)
	}
	if err == nil {
		err = durable.Replace(filepath.Join(s.dir, manifest.GenomeFile), s.genome.Text())
	}
	if err != nil {
		return err
	}
	return s.save(false)
}

// save writes the sheet.
func (s *sweep) save(complete bool) error {
	g, o := s.genome, &s.o.Run
	x := sheet{
		Format: format, Burst: run.Version, Genome: g.Name, Seed: g.Seed, RunSeed: g.RunSeed, Plan: s.plan, Bursts: o.Bursts, Settle: s.o.Settle, Bin: s.o.Bin,
		Backend: o.Backend, Record: o.Record, Checkpoints: o.Checkpoints, MaxBytes: o.MaxBytes, Command: os.Args, Complete: complete,
	}
	for _, f := range g.Files {
		x.Inputs, x.GenomeFolder = append(x.Inputs, manifest.File(f)), g.Folder
	}
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	return durable.Replace(filepath.Join(s.dir, sheetFile), append(text, '\n'))
}

// Resume goes on with a sweep in its folder: it runs the points that are not finished, those that failed among them, each from its beginning.
// Of o only Run.Backend, Run.Threads, Run.GPUs, Run.MaxBytes, Run.Disk, Jobs and Tell count; where Run.Backend or Run.MaxBytes is not given,
// the sweep keeps the one that it had. A sweep that is complete is not run again.
func Resume(ctx context.Context, dir string, o Options) (*Result, error) {
	hold, err := runfolder.Take(dir)
	if err != nil {
		return nil, err
	}
	s, err := load(dir, o)
	if err != nil {
		return nil, errors.Join(err, hold.Release(false))
	}
	s.hold = hold
	return s.run(ctx)
}

// load reads a sweep and the rows of the points that are finished, and removes what there is of others.
func load(dir string, o Options) (*sweep, error) {
	x, err := readSheet(filepath.Join(dir, sheetFile))
	if err != nil {
		return nil, err
	}
	g, err := x.genome(dir)
	if err != nil {
		return nil, err
	}
	if o.Run.Backend == "" {
		o.Run.Backend = x.Backend
	}
	if o.Run.MaxBytes == 0 {
		o.Run.MaxBytes = x.MaxBytes
	}
	o.Settle, o.Bin, o.Run.Bursts, o.Run.Record, o.Run.Checkpoints = x.Settle, x.Bin, x.Bursts, x.Record, x.Checkpoints
	s := &sweep{o: o, plan: x.Plan, genome: g, dir: dir}
	if s.points, err = x.Plan.Points(g); err != nil {
		return nil, err
	}
	s.rows = make([]*Row, len(s.points))
	for i := range s.points {
		p := &s.points[i]
		if s.rows[i], err = loadRow(s.folder(p)); err != nil {
			return nil, err
		}
		if r := s.rows[i]; r != nil && (r.Point != p.Number || !slices.Equal(r.Values, p.Values) || r.Seed != p.Genome.Seed || r.RunSeed != p.Genome.RunSeed) {
			return nil, regular.Damaged(filepath.Join(s.folder(p), rowFile), "is of another point than %s", x.Plan.place(p))
		}
		if s.rows[i] == nil {
			if err := os.RemoveAll(s.folder(p)); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// readSheet reads a sweep's sheet.
func readSheet(path string) (*sheet, error) {
	f, err := regular.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 64 << 20
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, err
	}
	x := &sheet{}
	if err := json.Unmarshal(text, x); err != nil {
		return nil, regular.Damaged(path, "is no sheet of a sweep: %v", err)
	}
	if x.Format != format {
		return nil, regular.Damaged(path, "has format %d, this burst reads %d", x.Format, format)
	}
	return x, nil
}

// genome reads the sweep's genome, with the seeds that it had.
func (x *sheet) genome(dir string) (*genome.Genome, error) {
	path := filepath.Join(dir, manifest.GenomeFile)
	text, err := genome.ReadText(path)
	if err != nil {
		return nil, err
	}
	var g *genome.Genome
	if x.GenomeFolder == "" {
		g, err = genome.Parse(path, text, genomes.Open)
	} else {
		g, err = genome.ParseIn(x.GenomeFolder, path, text)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range g.Files {
		if !slices.Contains(x.Inputs, manifest.File(f)) {
			return nil, regular.Damaged(filepath.Join(x.GenomeFolder, f.Path), "has changed since the sweep began: its SHA-256 is %s", f.SHA256)
		}
	}
	g.Name, g.Seed, g.RunSeed = x.Genome, x.Seed, x.RunSeed
	return g, nil
}

// finish writes the table, and that the sweep is complete if it is, and gives the folder back.
func (s *sweep) finish(r *Result, complete bool) error {
	if s.dir == "" {
		return nil
	}
	err := r.table().Write(s.dir, tableName)
	if err == nil {
		err = s.save(complete)
	}
	return errors.Join(err, s.hold.Release(complete))
}
