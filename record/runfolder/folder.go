// Package runfolder reads what a run has left behind, or has written so far: manifest.json, recordings and rates, each held to its hash.
package runfolder

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"burst/internal/regular"
	"burst/record/internal/tables"
	"burst/record/manifest"
)

// Folder is what a run has left behind, or has written so far.
type Folder struct {
	Dir      string
	Manifest manifest.Manifest
}

// Chunk is consecutive rows of a recording, sorted by burst, then neuron (FCL: then port). Its columns are Burst, Neuron (a global id) and
// Area (an index into Manifest.Areas); of potentials also Potential; of candidates also Port and Sum, in quanta of 1/scale. Rows of
// weights and histograms are of projections, not of neurons: Burst, Projection (its place in the genome), then Source, Target, Delay and
// Weight, or Mean, SD, Low, High and Synapses of a bin. All are equally long, those that a recording has not are nil. A chunk lent by an
// iterator holds until the next one.
type Chunk = tables.Chunk

// DamagedError is a file of a run folder that cannot be what was written, or is of another version. It has Path and Reason.
type DamagedError = regular.DamagedError

// Tables names all tables that burst can record.
func Tables() []string { return tables.Names() }

// Open reads the manifest of a run folder; what was recorded is read when it is asked for.
func Open(dir string) (*Folder, error) {
	m, err := manifest.Read(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{Dir: dir, Manifest: m}, nil
}

// Tables names what the run recorded: those of Tables that there are, or that the manifest says there are.
func (f *Folder) Tables() []string {
	var names []string
	for _, name := range Tables() {
		if f.recorded(name) {
			names = append(names, name)
		}
	}
	return names
}

// recorded says whether the run has, or should have, a recording.
func (f *Folder) recorded(name string) bool {
	m := &f.Manifest
	if _, named := m.Named(name + ".parquet"); named || m.Ended() {
		return named
	}
	if name == tables.Spikes && slices.ContainsFunc(m.Areas, func(a manifest.Area) bool { return a.Recorded > 0 }) {
		return true
	}
	for _, end := range []string{".sums", ".parquet"} { // it may have ended since Open
		if _, err := os.Stat(filepath.Join(f.Dir, name+end)); err == nil {
			return true
		}
	}
	return false
}

// Spikes gives the recorded spikes in order; of a run that goes on or was killed, up to the last chunk on disk. A run that
// recorded none gives an error that wraps fs.ErrNotExist; a recording that is not as the manifest or its .sums file says, or
// gone, a DamagedError.
func (f *Folder) Spikes() iter.Seq2[Chunk, error] { return f.rows(tables.Spikes) }

// Potentials gives the recorded potentials likewise.
func (f *Folder) Potentials() iter.Seq2[Chunk, error] { return f.rows(tables.Potentials) }

// Variables gives the recorded state variables and inputs likewise.
func (f *Folder) Variables() iter.Seq2[Chunk, error] { return f.rows(tables.Variables) }

// FCL gives the recorded fire candidate lists likewise.
func (f *Folder) FCL() iter.Seq2[Chunk, error] { return f.rows(tables.FCL) }

// Weights gives the recorded weights of synapses likewise.
func (f *Folder) Weights() iter.Seq2[Chunk, error] { return f.rows(tables.Weights) }

// Histograms gives the histograms of weights likewise.
func (f *Folder) Histograms() iter.Seq2[Chunk, error] { return f.rows(tables.Histograms) }

// Recording is one of the Tables, for Export.
func (f *Folder) Recording(name string) (Recording, error) {
	have := f.Tables()
	if !slices.Contains(have, name) {
		return Recording{}, fmt.Errorf("record: %s has no recording of %s, only %v: %w", f.Dir, name, have, fs.ErrNotExist)
	}
	r := Recording{Table: name, Manifest: f.Manifest, Chunks: f.rows(name)}
	if f.Manifest.Ended() {
		r.rows = func() (uint64, error) { return tables.ParquetRows(filepath.Join(f.Dir, name+".parquet")) }
	}
	return r, nil
}

// rows reads a table from the stream while the run goes on, else from Parquet, whose hash the manifest has.
func (f *Folder) rows(name string) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		rows, err := f.find(name)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		rows(yield)
	}
}

func (f *Folder) find(name string) (iter.Seq2[Chunk, error], error) {
	m := f.Manifest
	base := filepath.Join(f.Dir, name)
	if !m.Ended() {
		if _, err := os.Stat(base + ".sums"); err == nil {
			return tables.ReadStream(base, tables.Named(name), &m), nil
		}
		var err error
		if m, err = manifest.Read(f.Dir); err != nil { // the run may have ended since Open
			return nil, err
		}
	}
	file, named := m.Named(name + ".parquet")
	if !named {
		return nil, fmt.Errorf("record: %s has no recording of %s: %w", f.Dir, name, fs.ErrNotExist)
	}
	if err := file.Check(f.Dir); err != nil {
		return nil, err
	}
	return tables.ReadParquet(base+".parquet", tables.Named(name), &m), nil
}

// Rates are spikes per area over time, of all neurons of each area.
type Rates struct {
	First  uint64      // burst of the first bin
	Width  uint64      // bursts in a bin
	Bursts uint64      // in all; the last bin may have fewer than Width
	Spikes [][]uint64  // of area i in bin k
	Hz     [][]float64 // mean rate of a neuron of area i in bin k; 0 for an area without neurons
}

// HasRates reports whether there is a rates.csv, which a run writes when it ends.
func (f *Folder) HasRates() bool {
	_, named := f.Manifest.Named(manifest.RatesFile)
	return named
}

// Rates reads rates.csv. A run that has none gives an error that wraps fs.ErrNotExist; one that is not as the manifest says,
// a DamagedError.
func (f *Folder) Rates() (*Rates, error) {
	path := filepath.Join(f.Dir, manifest.RatesFile)
	want, named := f.Manifest.Named(manifest.RatesFile)
	if !named {
		return nil, fmt.Errorf("record: %s has no %s: %w", f.Dir, manifest.RatesFile, fs.ErrNotExist)
	}
	if err := want.Check(f.Dir); err != nil {
		return nil, err
	}
	file, err := regular.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(&lines{r: file, path: path})
	r.FieldsPerRecord = len(tables.RatesHead)
	head, err := r.Read()
	if err != nil || !slices.Equal(head, tables.RatesHead) {
		return nil, regular.Damaged(path, "line 1 is not %v", tables.RatesHead)
	}
	rates := &Rates{First: f.Manifest.First}
	for n := 0; ; n++ {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = rates.add(n, row, f.Manifest.Areas)
		}
		if err != nil {
			return nil, regular.Damaged(path, "line %d: %v", n+2, err)
		}
	}
	return rates, nil
}

// add takes row n of rates.csv.
func (r *Rates) add(n int, row []string, areas []manifest.Area) error {
	if len(areas) == 0 {
		return errors.New("found a row, but the run has no areas")
	}
	i, k := n%len(areas), n/len(areas)
	var number [3]uint64
	for at, column := range []int{0, 1, 3} {
		var err error
		if number[at], err = strconv.ParseUint(row[column], 10, 64); err != nil {
			return err
		}
	}
	first, bursts, spikes := number[0]-r.First, number[1], number[2]
	hz, err := strconv.ParseFloat(row[4], 64)
	if err != nil {
		return err
	}
	if n == 0 {
		r.Width, r.Spikes, r.Hz = bursts, make([][]uint64, len(areas)), make([][]float64, len(areas))
	}
	if row[2] != areas[i].Name || first != uint64(k)*r.Width {
		return fmt.Errorf("area %q from burst %d, want %q from burst %d", row[2], number[0], areas[i].Name, r.First+uint64(k)*r.Width)
	}
	r.Bursts = first + bursts
	r.Spikes[i], r.Hz[i] = append(r.Spikes[i], spikes), append(r.Hz[i], hz)
	return nil
}

// lines is a reader that refuses a line of more than 64 KiB, so that a file of one endless line is not gathered in memory.
type lines struct {
	r    io.Reader
	path string
	line int // bytes since its beginning
}

func (l *lines) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if end := bytes.LastIndexByte(b[:n], '\n'); end >= 0 {
		l.line = n - 1 - end
	} else {
		l.line += n
	}
	if l.line > 1<<16 {
		return 0, regular.Damaged(l.path, "a line of more than %d bytes", 1<<16)
	}
	return n, err
}
