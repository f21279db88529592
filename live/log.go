package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"burst/engine"
	"burst/internal/durable"
	"burst/internal/regular"
	"burst/live/internal/inputlog"
	"burst/record/manifest"
	"burst/run"
)

// Log is the log of a session's inputs and actions. `burst replay` and `burst resume` give them to a run again. Use it as one
// of Options.Sources; for a run with a folder that is created or continued, also as Options.Inputs. Call Log.Advance in place
// of the run's own Advance.
type Log struct {
	dir   string // that is read; "" there is none
	files Files
	w     *inputlog.Writer

	in       inputlog.Reader // nil before attach, and of a new session
	end      uint64
	whole    int64  // bytes of the whole records, of a log that goes on
	last     uint64 // where its last entry begins, if that is of Inputs
	lastAt   int64  // and the place of its record
	id       uint64
	now      inputlog.Entry  // the Inputs that count
	next     *inputlog.Entry // nil: there is none
	resuming bool            // what is read is not to be written again
	run      *run.Run
	failed   error
}

// NewLog returns the log in a run's folder. The file is read when the log is first used.
func NewLog(dir string) *Log { return &Log{dir: dir} }

// End is the first burst after those that the log covers.
func (l *Log) End(r *run.Run) uint64 {
	l.attach(r)
	return max(l.end, r.Number())
}

// attach opens the log, of a run that stands at its beginning, and goes to the run's next burst.
func (l *Log) attach(r *run.Run) error {
	if l.in != nil || l.failed != nil || l.dir == "" {
		return l.failed
	}
	l.failed = l.open(r)
	return l.failed
}

func (l *Log) open(r *run.Run) error {
	l.run = r
	m, err := manifest.Read(l.dir)
	if err != nil {
		return err
	}
	ended, named := m.Named(manifest.InputsFile)
	switch path := filepath.Join(l.dir, manifest.InputsLog); {
	case r.Folder == l.dir && r.Number() == r.First && none(path):
		l.dir = "" // killed before the log had begun
		return nil
	case named && r.Folder != l.dir:
		if err := ended.Check(l.dir); err != nil {
			return err
		}
		l.in, err = openArrow(filepath.Join(l.dir, manifest.InputsFile), r.Connectome.Ports)
	default:
		if err := l.scan(path, r); err != nil {
			return err
		}
		l.in, err = openRunning(path, r.Connectome.Ports, l.whole)
	}
	if err != nil {
		return err
	}
	if l.in.Network() != r.ID {
		return regular.Damaged(l.dir, "its log of inputs is of the network %016x, genome and seed make %016x", l.in.Network(), r.ID)
	}
	return l.forward(r)
}

// none says that a log is not there, or has not even a head.
func none(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < inputlog.HeadBytes
}

// openArrow and openRunning keep a failed open from being a Reader that is not nil.
func openArrow(path string, ports uint32) (inputlog.Reader, error) {
	r, err := inputlog.OpenArrow(path, ports)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func openRunning(path string, ports uint32, bytes int64) (inputlog.Reader, error) {
	r, err := inputlog.Open(path, ports)
	if err != nil {
		return nil, err
	}
	r.Limit(bytes)
	return r, nil
}

// scan reads the log of a run that goes on, to find where it ends.
func (l *Log) scan(path string, r *run.Run) error {
	in, err := inputlog.Open(path, r.Connectome.Ports)
	if err != nil {
		return err
	}
	defer in.Close()
	l.id = in.ID()
	for {
		e, err := in.Next()
		if err == io.EOF {
			l.whole = in.Bytes()
			return nil
		}
		if err != nil {
			return err
		}
		l.end, l.last, l.lastAt = max(e.End(), e.Burst), math.MaxUint64, in.Place()
		if e.Kind == inputlog.Inputs {
			l.last = e.Burst
		}
	}
}

// forward goes to the run's next burst. What was switched and set before it is so again; a Reset or Restore at that burst
// comes again, which changes nothing if the checkpoint was saved after it.
func (l *Log) forward(r *run.Run) error {
	if err := l.read(); err != nil {
		return err
	}
	for l.next != nil && l.next.Burst < r.Number() {
		switch l.next.Kind {
		case inputlog.Inputs:
			l.take()
		case inputlog.SwitchOff, inputlog.SwitchOn, inputlog.Set:
			if err := l.apply(r, l.next); err != nil {
				return err
			}
		}
		if err := l.read(); err != nil {
			return err
		}
	}
	return nil
}

// take makes the next entry the one that counts.
func (l *Log) take() {
	l.now = inputlog.Entry{Kind: l.next.Kind, Burst: l.next.Burst, Value: l.next.Value, Stimuli: append(l.now.Stimuli[:0], l.next.Stimuli...)}
}

// read reads the next entry.
func (l *Log) read() (err error) {
	if l.next, err = l.in.Next(); err == io.EOF {
		l.next, err = nil, nil
	}
	return err
}

// Stimuli gives those of burst t, as the log has them, and has what was done after that burst done.
func (l *Log) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	switch {
	case l.failed != nil:
		return nil, l.failed
	case l.in == nil:
		return nil, errors.New("live: a run with a Log is advanced by the Log's Advance")
	}
	for l.next != nil && l.next.Kind == inputlog.Inputs && l.next.Burst <= t {
		l.take()
		if l.failed = errors.Join(l.rewrite(&l.now), l.read()); l.failed != nil {
			return nil, l.failed
		}
	}
	if l.next != nil && l.next.Kind != inputlog.Inputs && l.next.Burst == t+1 {
		l.run.Engine().Between(l.catchUp)
	}
	if l.counts(t) {
		in = append(in, l.now.Stimuli...)
	}
	return in, nil
}

// counts says whether the last inputs are those of burst t.
func (l *Log) counts(t uint64) bool {
	return l.now.Kind == inputlog.Inputs && l.now.Burst <= t && t < l.now.End()
}

// QuietUntil says when the log has something again: stimuli, or something that was done after a burst.
func (l *Log) QuietUntil(t uint64) uint64 {
	switch {
	case l.failed != nil || l.in == nil || l.counts(t) && len(l.now.Stimuli) > 0:
		return t
	case l.next == nil:
		return math.MaxUint64
	case l.next.Kind != inputlog.Inputs && l.next.Burst > 0:
		return max(t, l.next.Burst-1)
	}
	return max(t, l.next.Burst)
}

// Advance runs bursts until to is the next one, as run.Run's Advance does, and does between them what the log says was done.
func (l *Log) Advance(ctx context.Context, r *run.Run, to uint64) error {
	err := l.attach(r)
	if err == nil {
		err = r.Prepare()
	}
	if err == nil {
		err = l.catchUp()
	}
	if err != nil {
		return err
	}
	return r.Advance(ctx, to)
}

// catchUp does what was done before the next burst.
func (l *Log) catchUp() error {
	for l.next != nil && l.next.Kind != inputlog.Inputs && l.next.Burst <= l.run.Number() {
		if err := l.rewrite(l.next); err != nil {
			return err
		}
		if err := l.apply(l.run, l.next); err != nil {
			return err
		}
		if err := l.read(); err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes an entry to the log of another folder.
func (l *Log) rewrite(e *inputlog.Entry) error {
	if l.resuming {
		return nil
	}
	l.add(e)
	return l.flush()
}

// apply does between two bursts what an entry says.
func (l *Log) apply(r *run.Run, e *inputlog.Entry) error {
	switch e.Kind {
	case inputlog.SwitchOff, inputlog.SwitchOn:
		return r.Engine().Switch(int(e.Value), e.Kind == inputlog.SwitchOn)
	case inputlog.Set:
		return l.set(r, e.Value)
	case inputlog.Reset:
		s := engine.NewState(r.Connectome)
		if got := s.Hash(); got != e.Value {
			return regular.Damaged(l.dir, "the log says that the run was reset to the state %016x, the network makes %016x", e.Value, got)
		}
		return begin(r, s)
	}
	s, err := readState(l.dir, e.Value, r)
	if err != nil {
		return err
	}
	if err := l.keep(r, s, e.Value); err != nil {
		return err
	}
	return begin(r, s)
}

// Begin opens the log for writing: a new one, or the one that goes on, which is cut behind its last whole record.
func (l *Log) Begin(r *run.Run, atLeast int64) error {
	path := filepath.Join(r.Folder, manifest.InputsLog)
	if l.resuming = r.Folder == l.dir; l.resuming {
		if err := l.attach(r); err != nil {
			return err
		}
		if l.whole < atLeast {
			return regular.Damaged(path, "its whole records end at %d, the checkpoint says at %d or later", l.whole, atLeast)
		}
		return l.goOn(path)
	}
	if err := l.files.keep(r.Folder); err != nil {
		return err
	}
	f, err := r.Disk().Create(path)
	if err != nil {
		return err
	}
	if l.w, err = inputlog.Create(path, f, r.ID); err != nil {
		return err
	}
	return durable.SyncFolder(r.Folder)
}

// goOn opens the log for writing behind its whole records.
func (l *Log) goOn(path string) error {
	f, err := regular.Open(path, os.O_RDWR)
	if err != nil {
		return err
	}
	_, err = f.Seek(l.whole, io.SeekStart)
	if err = errors.Join(err, f.Truncate(l.whole), f.Sync()); err != nil {
		return errors.Join(fmt.Errorf("live: %w", err), f.Close())
	}
	l.w = inputlog.Continue(path, f, l.id, l.whole)
	return nil
}

// forgetLast cuts off the last entry, of Inputs, which is still to come.
func (l *Log) forgetLast() error {
	if err := l.catchUp(); err != nil {
		return err
	}
	if err := l.w.Close(); err != nil {
		return err
	}
	l.next, l.whole = nil, l.lastAt
	l.failed = l.goOn(filepath.Join(l.dir, manifest.InputsLog))
	return l.failed
}

// add and flush write an entry, where there is a log to write.
func (l *Log) add(e *inputlog.Entry) {
	if l.w != nil {
		l.w.Add(e)
	}
}

func (l *Log) flush() error {
	if l.w == nil {
		return nil
	}
	return l.w.Flush()
}

// Bytes is how long the log is that is written.
func (l *Log) Bytes() int64 { return l.w.Bytes() }

// Sync returns when all that is in it is on disk.
func (l *Log) Sync() error { return l.w.Sync() }

// Finish makes inputs.arrows of the log.
func (l *Log) Finish(r *run.Run) error {
	if err := l.w.Sync(); err != nil {
		return err
	}
	in, err := inputlog.Open(filepath.Join(r.Folder, manifest.InputsLog), r.Connectome.Ports)
	if err != nil {
		return err
	}
	defer in.Close()
	return durable.ReplaceBy(filepath.Join(r.Folder, manifest.InputsFile), func(w io.Writer) error { return inputlog.WriteArrow(w, r.ID, in) })
}

// Close ends reading and writing. Only the first call does anything.
func (l *Log) Close() error {
	var errs []error
	if l.in != nil {
		errs = append(errs, l.in.Close())
	}
	if l.w != nil {
		errs = append(errs, l.w.Close())
	}
	l.in, l.w, l.failed = nil, nil, cmp.Or(l.failed, ErrClosed)
	return errors.Join(errs...)
}
