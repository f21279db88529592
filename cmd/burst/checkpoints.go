package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"burst/checkpoint"
	"burst/record"
)

// checkpointFolder holds the checkpoints in a run folder; fromFile is a copy of the one that a run began from.
const (
	checkpointFolder = "checkpoints"
	fromFile         = "from.checkpoint"
)

// diskKey is the key of a context's checkpoint.Disk, which tests make fail; without one it is the machine's.
type diskKey struct{}

func diskOf(ctx context.Context) checkpoint.Disk {
	if d, ok := ctx.Value(diskKey{}).(checkpoint.Disk); ok {
		return d
	}
	return checkpoint.OS{}
}

// schedule says when checkpoints are due; its zero value: never.
type schedule struct {
	bursts uint64        // at every burst that is a multiple; 0: by time, or never
	every  time.Duration // 0: by bursts, or never
	last   time.Time     // by time: the checkpoint before
	piece  uint64        // by time: bursts that take about lookEvery
}

// lookEvery is how often a run whose checkpoints are due by time looks at the clock.
const lookEvery = 50 * time.Millisecond

// parseSchedule reads --checkpoint-every: a number of bursts, or a time.
func parseSchedule(s string) (schedule, error) {
	if s == "" {
		return schedule{}, nil
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil && n > 0 {
		return schedule{bursts: n}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= time.Second {
		return schedule{every: d, piece: 1}, nil
	}
	return schedule{}, usageError{fmt.Errorf("--checkpoint-every %q, want a number of bursts, or a time of a second or more such as 5m", s)}
}

// never says that no checkpoint will be due.
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

// due says whether a checkpoint is due at a burst, to which the last piece took so long.
func (s *schedule) due(number uint64, took time.Duration) bool {
	if s.bursts > 0 {
		return number%s.bursts == 0
	}
	if s.every == 0 {
		return false
	}
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

// advance runs the bursts, in pieces where state hashes or checkpoints are asked for.
func (r *runner) advance(ctx context.Context) error {
	r.schedule.last = time.Now()
	for end := r.first + r.bursts; r.engine.Number() < end; {
		n := min(end-r.engine.Number(), r.schedule.ahead(r.engine.Number()))
		if r.stateEvery > 0 {
			n = min(n, r.stateEvery-r.engine.Number()%r.stateEvery)
		}
		start := time.Now()
		if err := r.engine.Run(ctx, n); err != nil {
			return err
		}
		if err := r.hash(); err != nil {
			return err
		}
		if r.saver != nil && r.schedule.due(r.engine.Number(), time.Since(start)) {
			if err := r.save(); err != nil {
				return err
			}
		}
	}
	return r.engine.Check()
}

// hash prints the hash of the state where one is asked for, and at the end.
func (r *runner) hash() error {
	if n := r.engine.Number(); r.stateEvery == 0 || n%r.stateEvery != 0 && n != r.first+r.bursts {
		return nil
	}
	if err := r.engine.State(&r.state); err != nil {
		return err
	}
	r.progress.data(r.out, r.o.json, "burst %d state %016x\n", r.engine.Number(), r.state.Hash())
	return nil
}

// save copies the state and begins to write it.
func (r *runner) save() error {
	next, err := r.saver.Next()
	if err != nil {
		return err
	}
	if err := r.engine.State(&next.State); err != nil {
		return err
	}
	next.Activity = r.activity.Save(next.Activity[:0])
	r.asked = next.State.Number
	wait := r.recording.Mark()
	r.saver.Save(func() ([]checkpoint.Recording, error) {
		at, err := wait()
		var list []checkpoint.Recording
		for _, table := range record.Tables() {
			if o, kept := at[table]; kept {
				list = append(list, checkpoint.Recording{Table: table, Bytes: o.Bytes, Rows: o.Rows, Burst: o.Burst, Sums: o.Sums, SumsHash: o.SumsHash})
			}
		}
		return list, err
	})
	return nil
}

// lastSave ends the saving of checkpoints: a run that a signal stopped, or that saves them anyway, leaves one of its last
// burst.
func (r *runner) lastSave(stopped bool) error {
	if r.saver == nil {
		return nil
	}
	if (stopped || !r.schedule.never()) && r.asked != r.engine.Number() {
		if err := r.save(); err != nil {
			return err
		}
	}
	return r.closeSaver()
}

// closeSaver waits for the last checkpoint; a run that saved none leaves no folder for them.
func (r *runner) closeSaver() error {
	if r.saver == nil {
		return nil
	}
	err := r.saver.Close()
	_ = os.Remove(filepath.Join(r.folder, checkpointFolder)) // refused while it holds one
	return err
}

// newSaver makes what saves the run's checkpoints in its folder, if it has one.
func (r *runner) newSaver() error {
	if r.recording == nil {
		return nil
	}
	dir := filepath.Join(r.folder, checkpointFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	what := checkpoint.Checkpoint{Version: version, Connectome: r.id, Seed: r.c.Seed, RunSeed: r.c.RunSeed}
	if _, err := hex.Decode(what.Genome[:], []byte(r.recording.GenomeSHA256())); err != nil {
		return err
	}
	r.saver = checkpoint.NewSaver(r.disk, dir, what)
	return nil
}

// start is what a run begins from, if not from burst 0.
type start struct {
	path   string // of the checkpoint, for people
	saved  *checkpoint.Checkpoint
	folder *record.Folder // the run that goes on; nil for a new one
}
