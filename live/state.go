package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"burst/checkpoint"
	"burst/engine"
	"burst/internal/regular"
	"burst/live/internal/inputlog"
	"burst/run"
)

// statesFolder holds the states that a session was put into, each named by its hash.
const statesFolder = "states"

// State copies the state between two bursts, for Restore.
func (s *Session) State() (*engine.State, error) {
	x := new(engine.State)
	err := s.act(func(r *run.Run) error { return r.Engine().State(x) })
	return x, err
}

// Reset puts the network into the state before burst 0. Burst numbers go on: drives draw other numbers than at the beginning, and stimuli
// that the genome gives for past bursts do not come again.
func (s *Session) Reset() error {
	return s.act(func(r *run.Run) error {
		x := engine.NewState(r.Connectome)
		return s.segment(r, inputlog.Reset, x, x.Hash())
	})
}

// Restore puts the network into a given state, which the run's folder then keeps. Burst numbers go on from the present one. If projections
// are plastic, the state must be of an earlier burst, or of this one.
func (s *Session) Restore(x *engine.State) error {
	return s.act(func(r *run.Run) error {
		if err := x.Check(r.Connectome); err != nil {
			return err
		}
		hash := x.Hash()
		if err := r.Prepare(); err != nil {
			return err
		}
		if err := s.log.keep(r, x, hash); err != nil {
			return err
		}
		return s.segment(r, inputlog.Restore, x.Clone(), hash)
	})
}

// Switch turns one of the genome's stimuli off, or on again, by its place in the genome's list.
func (s *Session) Switch(stimulus int, on bool) error {
	kind := inputlog.SwitchOff
	if on {
		kind = inputlog.SwitchOn
	}
	return s.act(func(r *run.Run) error {
		if n := len(r.Connectome.Stimuli); stimulus < 0 || stimulus >= n {
			return fmt.Errorf("live: stimulus %d, want less than the genome's %d", stimulus, n)
		}
		if err := s.event(r, kind, uint64(stimulus)); err != nil {
			return err
		}
		return r.Engine().Switch(stimulus, on)
	})
}

// segment begins one with a state.
func (s *Session) segment(r *run.Run, kind inputlog.Kind, x *engine.State, hash uint64) error {
	if err := movable(x, r.Number()); err != nil {
		return err
	}
	if err := s.event(r, kind, hash); err != nil {
		return err
	}
	return begin(r, x)
}

// event logs what is about to be done before the next burst.
func (s *Session) event(r *run.Run, kind inputlog.Kind, value uint64) error {
	if err := r.Prepare(); err != nil {
		return err
	}
	s.log.add(&inputlog.Entry{Kind: kind, Burst: r.Number(), Value: value})
	return s.log.flush()
}

// movable refuses a state that cannot be one of a burst.
func movable(x *engine.State, to uint64) error {
	if len(x.Plastic) > 0 && x.Number > to {
		return fmt.Errorf("live: a state of burst %d at burst %d, want one of an earlier burst: the traces of plastic projections tell when neurons fired", x.Number, to)
	}
	return nil
}

// begin puts the run into a state, which becomes one of the next burst: what it says of earlier bursts moves along. The digest goes
// on.
func begin(r *run.Run, x *engine.State) error {
	e := r.Engine()
	if err := movable(x, e.Number()); err != nil {
		return err
	}
	for i := range x.Plastic {
		for _, a := range x.Plastic[i].Arrays() {
			for k, burst := range a.Bursts {
				if burst > 0 { // 0 is none
					a.Bursts[k] = burst + e.Number() - x.Number
				}
			}
		}
	}
	x.Number, x.Digest = e.Number(), e.Digest()
	return e.Restore(x)
}

// keep keeps a state in the run's folder.
func (l *Log) keep(r *run.Run, x *engine.State, hash uint64) error {
	if l.w == nil {
		return nil
	}
	dir := filepath.Join(r.Folder, statesFolder)
	path := statePath(r.Folder, hash)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("live: %w", err)
	}
	c := &checkpoint.Checkpoint{Version: run.Version, Connectome: r.ID, Seed: r.Connectome.Seed, RunSeed: r.Connectome.RunSeed, State: *x}
	return checkpoint.SaveAs(r.Disk(), path, c)
}

func statePath(dir string, hash uint64) string {
	return filepath.Join(dir, statesFolder, fmt.Sprintf("%016x.checkpoint", hash))
}

// readState reads a state that a run's folder keeps.
func readState(dir string, hash uint64, r *run.Run) (*engine.State, error) {
	path := statePath(dir, hash)
	c, err := checkpoint.Read(r.Disk(), path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", regular.Damaged(path, "the log of inputs names this state, which is gone"), os.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	if got := c.State.Hash(); got != hash {
		return nil, regular.Damaged(path, "its state hashes to %016x, its name says %016x", got, hash)
	}
	return &c.State, c.State.Check(r.Connectome)
}
