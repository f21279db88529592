package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"burst/internal/regular"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/record/stats"
)

// mostSpikes is how many rows one answer has at most.
const mostSpikes = 10_000_000

// spikes sends what is recorded of some bursts.
func spikes(s *Server, w http.ResponseWriter, q *http.Request) (any, error) {
	from, to := uint64(0), uint64(math.MaxUint64)
	only := -1
	var err error
	for name, into := range map[string]*uint64{"from": &from, "to": &to} {
		if text := q.FormValue(name); text != "" {
			if *into, err = strconv.ParseUint(text, 10, 64); err != nil {
				return nil, fmt.Errorf("%s=%q, want a burst", name, text)
			}
		}
	}
	if name := q.FormValue("area"); name != "" {
		if only, err = s.area(name); err != nil {
			return nil, err
		}
	}
	f, err := s.folder()
	if err != nil {
		return nil, err
	}
	r, err := f.Recording("spikes")
	if err != nil {
		return nil, &statusError{http.StatusNotFound, errors.New("the run records no spikes; start the server with --record spikes=all")}
	}
	r.Chunks = within(r.Chunks, from, to, only)
	dir, err := os.MkdirTemp("", "burst-serve")
	if err != nil {
		return nil, &statusError{http.StatusInternalServerError, err}
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "spikes.arrow")
	if err := runfolder.Export(path, r); err != nil {
		return nil, err
	}
	return nil, send(w, path, "application/vnd.apache.arrow.file")
}

// Difference is how two recorded runs differ.
type Difference struct {
	A     string            `json:"a"` // the last names of their folders
	B     string            `json:"b"`
	First *stats.Difference `json:"first"` // spike that one has and the other has not, of what both have recorded; null: there is none
}

// ofTwo is the route that a server has for a run beside its own.
var ofTwo = route{method: "GET", path: "/v1/difference", scope: scopeView, about: "the first spike that one of two runs has and the other has not", out: Difference{}, do: difference}

func difference(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) {
	a, err := s.folder()
	if err != nil {
		return nil, err
	}
	b, err := s.beside.folder()
	if err != nil {
		return nil, err
	}
	x := Difference{A: filepath.Base(a.Dir), B: filepath.Base(b.Dir)}
	if x.First, err = stats.FirstDifference(a, b, math.MaxUint64); err != nil {
		return nil, err
	}
	return x, nil
}

// within leaves out what is not of some bursts, or of an area.
func within(all func(func(runfolder.Chunk, error) bool), from, to uint64, area int) func(func(runfolder.Chunk, error) bool) {
	return func(yield func(runfolder.Chunk, error) bool) {
		rows := 0
		for c, err := range all {
			var kept runfolder.Chunk
			for i, t := range c.Burst {
				if t >= from && t < to && (area < 0 || int(c.Area[i]) == area) {
					kept.Burst, kept.Neuron, kept.Area = append(kept.Burst, t), append(kept.Neuron, c.Neuron[i]), append(kept.Area, c.Area[i])
				}
			}
			if rows += len(kept.Burst); rows > mostSpikes && err == nil {
				err = refusal(http.StatusRequestEntityTooLarge, "more than %d spikes, want fewer bursts: from and to", mostSpikes)
			}
			if err == nil && len(kept.Burst) == 0 {
				continue
			}
			if !yield(kept, err) || err != nil {
				return
			}
			if n := len(c.Burst); n > 0 && c.Burst[n-1] >= to {
				return
			}
		}
	}
}

// folder opens the run's folder for reading.
func (s *Server) folder() (*runfolder.Folder, error) {
	if s.facts.Folder == "" {
		return nil, refusal(http.StatusNotFound, "the run writes nothing; start the server without --no-out")
	}
	f, err := runfolder.Open(s.facts.Folder)
	if err != nil {
		return nil, &statusError{http.StatusNotFound, errors.New("the run has no folder before its first burst")}
	}
	return f, nil
}

// fileNames are the files of a run's folder that are sent.
var fileNames = []string{"manifest.json", manifest.GenomeFile, manifest.RatesFile, "spikes.arrows", "potentials.arrows", "variables.arrows", "fcl.arrows"}

// file sends a file of the run's folder.
func file(s *Server, w http.ResponseWriter, q *http.Request) (any, error) {
	name := q.PathValue("name")
	if !slices.Contains(fileNames, name) {
		return nil, refusal(http.StatusNotFound, "no file %q, want one of %v", name, fileNames)
	}
	f, err := s.folder()
	if err != nil {
		return nil, err
	}
	return nil, send(w, filepath.Join(f.Dir, name), "application/octet-stream")
}

// send sends a file as it is now.
func send(w http.ResponseWriter, path, kind string) error {
	f, err := regular.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return refusal(http.StatusNotFound, "the run has no %s yet", filepath.Base(path))
	}
	if err != nil {
		return &statusError{http.StatusInternalServerError, fmt.Errorf("%s cannot be read", filepath.Base(path))}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return &statusError{http.StatusInternalServerError, fmt.Errorf("%s cannot be read", filepath.Base(path))}
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	_, _ = io.CopyN(w, f, info.Size()) // a client that has gone
	return nil
}
