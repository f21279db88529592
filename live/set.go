package live

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"burst/engine"
	"burst/internal/durable"
	"burst/internal/regular"
	"burst/live/internal/inputlog"
	"burst/run"
)

// settingsFolder holds the settings that a session was given, each list named by its hash.
const settingsFolder = "settings"

// mostSettings is how long the text of one Set can be.
const mostSettings = 1 << 20

// Set changes drives, stimuli and run_seed from the next burst on, such as areas.L4E.drive.poisson.rate=20Hz. Meaning and errors are those
// of genome.With; nothing else of a genome can change. Either all settings take effect or none. Set first proves that no sum can leave
// int32 with all bound inputs. Then it opens the backend again, which takes as long as at the start of the run.
func (s *Session) Set(settings ...string) error {
	return s.act(func(r *run.Run) error {
		text := strings.Join(settings, "\n")
		if len(text) > mostSettings {
			return fmt.Errorf("live: settings of %d bytes, want at most %d", len(text), mostSettings)
		}
		change, err := r.Plan(settings)
		if err != nil {
			return err
		}
		if err := engine.NewFeed(change.Connectome, nil).Fits(s.inbox.reserved()); err != nil {
			return fmt.Errorf("live: beside the inputs that are bound: %w", err)
		}
		if err := r.Prepare(); err != nil {
			return err
		}
		hash, err := s.log.keepSettings(r.Folder, text)
		if err != nil {
			return err
		}
		if err := s.event(r, inputlog.Set, hash); err != nil {
			return err
		}
		return r.Change(change)
	})
}

// reserved are the largest amounts of all inputs that are bound.
func (b *inbox) reserved() (all []engine.Stimulus) {
	for _, in := range b.inputs {
		if !in.leaves(b) {
			all = append(all, in.reserved...)
		}
	}
	return all
}

// set makes a change that the log names by its hash.
func (l *Log) set(r *run.Run, hash uint64) error {
	path := settingsPath(l.dir, hash)
	f, err := regular.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", regular.Damaged(path, "the log of inputs names these settings, which are gone"), fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSettings+1))
	if err != nil {
		return fmt.Errorf("live: %w", err)
	}
	if got := hashOf(string(text)); got != hash {
		return regular.Damaged(path, "it hashes to %016x, its name says %016x", got, hash)
	}
	if _, err := l.keepSettings(r.Folder, string(text)); err != nil {
		return err
	}
	change, err := r.Plan(strings.Split(string(text), "\n"))
	if err != nil {
		return err
	}
	return r.Change(change)
}

// keepSettings keeps settings in the folder of a run whose log is written, and gives their hash.
func (l *Log) keepSettings(dir, text string) (uint64, error) {
	hash := hashOf(text)
	path := settingsPath(dir, hash)
	if _, err := os.Stat(path); l.w == nil || err == nil {
		return hash, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, fmt.Errorf("live: %w", err)
	}
	return hash, durable.Replace(path, []byte(text))
}

func settingsPath(dir string, hash uint64) string {
	return filepath.Join(dir, settingsFolder, fmt.Sprintf("%016x.txt", hash))
}

// hashOf is the beginning of the text's SHA-256.
func hashOf(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}
