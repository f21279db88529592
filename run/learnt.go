package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"burst/checkpoint"
	"burst/connectome"
	"burst/engine"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// Learnt are the weights that another run has learnt, for Options.Weights.
type Learnt struct {
	Path     string // of the checkpoint, for messages
	Saved    *checkpoint.Checkpoint
	Genome   string            // name
	Wiring   string            // hash of its network without the rules by which weights change
	Learning []manifest.Learns // the projections that learnt, in the order of Saved.State.Plastic
}

// LearntError is a reason why a run cannot begin with the weights of another one.
type LearntError struct{ Path, Reason string }

func (e *LearntError) Error() string { return e.Path + " " + e.Reason }

// OpenLearnt reads the weights at the newest checkpoint of the run in a folder, or at a checkpoint that lies in one.
func OpenLearnt(d checkpoint.Disk, path string) (*Learnt, error) {
	dir, saved := path, (*checkpoint.Checkpoint)(nil)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		dir = filepath.Dir(filepath.Dir(path))
		if saved, err = checkpoint.Read(d, path); err != nil {
			return nil, err
		}
	}
	f, err := runfolder.Open(dir)
	if err != nil {
		if saved != nil && errors.Is(err, fs.ErrNotExist) {
			return nil, &LearntError{path, "is no checkpoint in the folder of its run, whose manifest says what learnt there; want that folder"}
		}
		return nil, err
	}
	if saved == nil {
		if saved, path, _, err = checkpoint.Newest(d, filepath.Join(dir, CheckpointFolder)); err != nil {
			return nil, err
		}
		if saved == nil {
			return nil, &LearntError{dir, "has no checkpoint; runs that learn end with one, if they have a folder"}
		}
	}
	m := &f.Manifest
	l := &Learnt{path, saved, m.Genome, m.Wiring, m.Learning}
	if got := fmt.Sprintf("%016x", saved.Connectome); got != m.Connectome {
		return nil, &checkpoint.DamagedError{Path: path, Section: "header", Reason: fmt.Sprintf("is of the network %s, the manifest of its run says %s", got, m.Connectome)}
	}
	return l, l.check()
}

// LearntBefore returns the weights that the run in a folder began with; nil if they were those of its genome.
func LearntBefore(d checkpoint.Disk, f *runfolder.Folder) (*Learnt, error) {
	m := f.Manifest.Weights
	if m == nil {
		return nil, nil
	}
	if err := f.Check(weightsFile); err != nil {
		return nil, err
	}
	path := filepath.Join(f.Dir, weightsFile)
	c, err := checkpoint.Read(d, path)
	if err != nil {
		return nil, err
	}
	l := &Learnt{path, c, m.Genome, m.Wiring, m.Learning}
	return l, l.check()
}

// check holds the manifest and the checkpoint to each other.
func (l *Learnt) check() error {
	if len(l.Saved.State.Plastic) == 0 {
		return &LearntError{l.Path, "is of a network that does not learn"}
	}
	if len(l.Learning) != len(l.Saved.State.Plastic) {
		return &LearntError{l.Path, fmt.Sprintf("has %d projections that learn, the manifest names %d; it was written by another version of burst", len(l.Saved.State.Plastic), len(l.Learning))}
	}
	for i := range l.Learning {
		if n := len(l.Saved.State.Plastic[i].Weight); uint64(n) != l.Learning[i].Synapses {
			return &checkpoint.DamagedError{Path: l.Path, Section: "header", Reason: fmt.Sprintf("has %d weights of %s, the manifest of its run says %d", n, l.Learning[i].Call(), l.Learning[i].Synapses)}
		}
	}
	return nil
}

// Of are the weights of a projection, by its place in the genome; nil where it did not learn.
func (l *Learnt) Of(projection int) []float32 {
	for i := range l.Learning {
		if int(l.Learning[i].Projection) == projection {
			return l.Saved.State.Plastic[i].Weight
		}
	}
	return nil
}

// Fits says whether a network, of such a wiring, can go on with the weights; otherwise the error is a LearntError.
func (l *Learnt) Fits(c *connectome.Connectome, wiring uint64) error {
	if got := fmt.Sprintf("%016x", wiring); got != l.Wiring {
		return &LearntError{l.Path, fmt.Sprintf("is of the network %q with the wiring %s, this one has %s; want the same genome and seed but for plasticity, and the same scale if it is auto there", l.Genome, l.Wiring, got)}
	}
	for i := range l.Learning {
		p := plasticOf(c, int(l.Learning[i].Projection))
		if p == nil {
			return &LearntError{l.Path, fmt.Sprintf("has weights of %s, which is not plastic here; want its plasticity, or plasticity: {rule: off, bounds: [%g, %g]}", l.Learning[i].Call(), l.Learning[i].Low, l.Learning[i].High)}
		}
		for _, w := range l.Saved.State.Plastic[i].Weight {
			if !(p.Lo <= w && w <= p.Hi) {
				return &LearntError{l.Path, fmt.Sprintf("has the weight %g of %s, whose bounds are %g and %g here; want bounds such as [%g, %g]", w, l.Learning[i].Call(), p.Lo, p.Hi, l.Learning[i].Low, l.Learning[i].High)}
			}
		}
	}
	return nil
}

// plasticOf is a projection that learns, by its place in the genome; nil where it does not.
func plasticOf(c *connectome.Connectome, projection int) *connectome.Plastic {
	for i := range c.Plastic {
		if c.Plastic[i].Projection == projection {
			return &c.Plastic[i]
		}
	}
	return nil
}

// checkLearnt refuses weights that do not fit the network.
func (r *Run) checkLearnt() error {
	if r.o.Weights == nil {
		return nil
	}
	return r.o.Weights.Fits(r.Connectome, r.Wiring)
}

// startFromLearnt gives a new run the weights of another one; all else is as it is before burst 0.
func (r *Run) startFromLearnt() error {
	if r.o.Weights == nil {
		return nil
	}
	var s engine.State
	if err := r.engine.State(&s); err != nil {
		return err
	}
	for i := range r.Connectome.Plastic {
		if w := r.o.Weights.Of(r.Connectome.Plastic[i].Projection); w != nil {
			copy(s.Plastic[i].Weight, w)
		}
	}
	return r.engine.Restore(&s)
}
