package run

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"burst/checkpoint"
	"burst/engine"
	"burst/record/runfolder"
)

// CheckpointFolder is the name of the folder of checkpoints in a run folder.
const CheckpointFolder = "checkpoints"

// schedule says when checkpoints are due. The zero value means never.
type schedule struct {
	bursts uint64        // at every burst that is a multiple; 0: by time, or never
	every  time.Duration // 0: by bursts, or never
	last   time.Time     // by time: the checkpoint before
	piece  uint64        // by time: bursts that take about lookEvery
}

// lookEvery is how often a run whose checkpoints are due by time looks at the clock.
const lookEvery = 50 * time.Millisecond

// parseSchedule reads Options.Checkpoints.
func parseSchedule(s string) (schedule, error) {
	if s == "" {
		return schedule{}, nil
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil && n > 0 {
		return schedule{bursts: n}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= time.Second {
		return schedule{every: d, piece: 1, last: time.Now()}, nil
	}
	return schedule{}, fmt.Errorf("%q, want a number of bursts, or a time of a second or more such as 5m", s)
}

// CheckCheckpoints returns an error if text is not valid for Options.Checkpoints.
func CheckCheckpoints(s string) error {
	_, err := parseSchedule(s)
	return err
}

// ParseRate reads Options.Rate as the time between bursts; 0 where no rate is to be held.
func ParseRate(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	number, unit := strings.TrimSuffix(s, "Hz"), 1.0
	if kilo, ok := strings.CutSuffix(number, "k"); ok && number != s {
		number, unit = kilo, 1000
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if rate *= unit; err != nil || !(rate >= 0.001 && rate <= 1e6) {
		return 0, fmt.Errorf("%q, want bursts a second, 0.001 to 1000000, such as 100, 100Hz or 1kHz", s)
	}
	return time.Duration(float64(time.Second) / rate), nil
}

// never reports whether no checkpoint will be due.
func (s *schedule) never() bool { return s.bursts == 0 && s.every == 0 }

// ahead is how many bursts to run before looking at the schedule again.
func (s *schedule) ahead(number uint64) uint64 {
	switch {
	case s.bursts > 0:
		return s.bursts - number%s.bursts
	case s.every > 0:
		return s.piece
	}
	return math.MaxUint64
}

// begin is when a piece begins, for due: reading the clock takes a tenth of a small network's burst.
func (s *schedule) begin() (start time.Time) {
	if s.every > 0 {
		start = time.Now()
	}
	return start
}

// due reports whether a checkpoint is due at a burst, the last of a piece that began at start.
func (s *schedule) due(number uint64, start time.Time) bool {
	if s.bursts > 0 {
		return number%s.bursts == 0
	}
	if s.every == 0 {
		return false
	}
	took := time.Since(start)
	if took < lookEvery/2 {
		s.piece *= 2
	} else if took > 2*lookEvery {
		s.piece = max(1, s.piece/2)
	}
	if time.Since(s.last) < s.every {
		return false
	}
	s.last = time.Now()
	return true
}

// Save copies the state and starts writing it to a checkpoint in the run's folder in the background. It first waits for the
// previous checkpoint, and returns its error too.
func (r *Run) Save() error {
	switch {
	case r.failed != nil:
		return r.failed
	case r.closed:
		return errors.New("run: Save after Close")
	case !r.keeps():
		return errors.New("run: a checkpoint needs a run with a folder")
	}
	if err := r.begin(); err != nil {
		return r.fail(err)
	}
	return r.save()
}

// Flush returns when all that was recorded so far is on disk. Where nothing is written it does nothing.
func (r *Run) Flush() error {
	if r.closed {
		return errors.New("run: Flush after Close")
	}
	if err := r.Prepare(); err != nil || r.recording == nil {
		return err
	}
	_, err := r.recording.Mark()()
	return err
}

// save is Save for a run that has begun.
func (r *Run) save() error {
	next, err := r.saver.Next()
	if err != nil {
		return err
	}
	if err := r.copyState(&next.State); err != nil {
		return err
	}
	next.Activity = r.activity.Save(next.Activity[:0])
	r.asked = next.State.Number
	wait, inputs := r.recording.Mark(), r.markInputs()
	r.saver.Save(func() ([]checkpoint.Recording, error) {
		list, err := inputs()
		if err != nil {
			return nil, err
		}
		at, err := wait()
		for _, table := range runfolder.Tables() {
			if o, kept := at[table]; kept {
				list = append(list, checkpoint.Recording{Table: table, Bytes: o.Bytes, Rows: o.Rows, Burst: o.Burst, Sums: o.Sums, SumsHash: o.SumsHash})
			}
		}
		return list, err
	})
	return nil
}

// copyState makes s the state as the next burst begins.
func (r *Run) copyState(s *engine.State) error {
	if len(r.Connectome.Plastic) == 0 {
		return r.engine.State(s)
	}
	now, err := r.present()
	if err != nil {
		return err
	}
	s.Copy(now)
	s.Digest = now.Digest
	return nil
}

// lastSave saves a checkpoint of the last burst if the run stopped early, saves checkpoints anyway, or has learnt weights.
func (r *Run) lastSave(stopped bool) error {
	if (stopped || !r.schedule.never() || len(r.Connectome.Plastic) > 0) && r.asked != r.engine.Number() {
		if err := r.save(); err != nil {
			return err
		}
	}
	return r.closeSaver()
}

// closeSaver waits for the last checkpoint and removes the folder of checkpoints if it is empty.
func (r *Run) closeSaver() error {
	if r.saver == nil {
		return nil
	}
	err := r.saver.Close()
	_ = os.Remove(filepath.Join(r.Folder, CheckpointFolder)) // fails if the folder is not empty
	return err
}

// newSaver makes the saver of the run's checkpoints.
func (r *Run) newSaver() error {
	dir := filepath.Join(r.Folder, CheckpointFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	what := checkpoint.Checkpoint{Version: Version, Connectome: r.ID, Seed: r.Connectome.Seed, RunSeed: r.Connectome.RunSeed}
	if _, err := hex.Decode(what.Genome[:], []byte(r.recording.GenomeSHA256())); err != nil {
		return err
	}
	r.saver = checkpoint.NewSaver(r.o.Disk, dir, what)
	return nil
}

// Resumable reports whether the run's folder has a checkpoint.
func (r *Run) Resumable() bool {
	list, err := checkpoint.List(r.o.Disk, filepath.Join(r.Folder, CheckpointFolder))
	return err == nil && len(list) > 0
}
