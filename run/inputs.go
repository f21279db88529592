package run

import (
	"errors"
	"fmt"

	"burst/checkpoint"
	"burst/record/manifest"
)

// Inputs logs the stimuli of Sources in the run's folder, as package live does, so that the run can be resumed and replayed. Begin, Bytes
// and Finish are called by the goroutine that uses the run.
type Inputs interface {
	// Begin is called before the run's first burst, when the folder is there. A resumed run's log holds that many bytes at least.
	Begin(r *Run, atLeast int64) error
	// Bytes is how long the log is.
	Bytes() int64
	// Sync returns when everything that was in the log when it was called would survive a loss of power. Any goroutine may call it. A
	// checkpoint is written after the inputs before it are synced.
	Sync() error
	// Finish makes manifest.InputsFile of the log of a run that has ended in good order.
	Finish(r *Run) error
	// Close ends the log, when nothing follows.
	Close() error
}

// errNoInputs is that of a run that cannot go on without the log of its inputs.
var errNoInputs = errors.New("took input from outside: `burst resume`, or live.Resume in a program, goes on with its log")

// checkInputs refuses what does not go with the log of a resumed run.
func (r *Run) checkInputs(m *manifest.Manifest) error {
	switch {
	case m.Options.Inputs && r.o.Inputs == nil:
		return fmt.Errorf("run: %s %w", r.Folder, errNoInputs)
	case !m.Options.Inputs && r.o.Inputs != nil:
		return fmt.Errorf("run: %s has no log of inputs: its run took none from outside", r.Folder)
	}
	return nil
}

// beginInputs begins or continues the log.
func (r *Run) beginInputs() error {
	if r.o.Inputs == nil {
		return nil
	}
	atLeast := int64(0)
	if r.resumed != nil && r.start != nil {
		for _, x := range r.start.Saved.Recordings {
			if x.Table == manifest.InputsLog {
				atLeast = x.Bytes
			}
		}
	}
	return r.o.Inputs.Begin(r, atLeast)
}

// markInputs gives what syncs the log before a checkpoint, and the checkpoint's entry of it.
func (r *Run) markInputs() func() ([]checkpoint.Recording, error) {
	log := r.o.Inputs
	if log == nil {
		return func() ([]checkpoint.Recording, error) { return nil, nil }
	}
	bytes := log.Bytes()
	return func() ([]checkpoint.Recording, error) {
		return []checkpoint.Recording{{Table: manifest.InputsLog, Bytes: bytes}}, log.Sync()
	}
}
