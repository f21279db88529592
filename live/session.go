package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"burst/engine"
	"burst/genome"
	"burst/run"
)

// Options of New, Load and Resume: those of the run, whose Rate is that of real time, and more. Sources, OnFault and Peers of the run
// must be left out.
type Options struct {
	run.Options
	Files    Files // arrays handed over: files that the genome names, kept in the run's folder
	LastStep bool  // Resume leaves the log's last Step undone, so that Redo is possible
}

// ErrClosed is the error of a session that has been closed.
var ErrClosed = errors.New("live: the session is closed")

// Session is a run that takes input. Step, Run and Close are for one goroutine at a time. All other methods may be called from any
// goroutine, but not by Recorders. Methods that change the network wait for the next boundary between two bursts. On a GPU that runs many
// bursts at a time this takes some hundredths of a second.
type Session struct {
	run    *run.Run
	log    *Log
	inbox  inbox
	out    outputs
	own    sync.Mutex // whoever holds it may use the run
	period time.Duration
	going  bool // Run is in a stretch
	undone bool // Resume has not yet run all that the log has. own guards it.

	asking sync.Mutex
	asked  []func()    // for whoever holds own, between two bursts
	anyone atomic.Bool // asked is not empty

	modes   sync.Mutex
	paused  bool
	running bool               // Run is at work, or paused
	halt    context.CancelFunc // ends the present stretch of Run
	again   chan struct{}      // closed when a pause ends
	closed  atomic.Bool
}

// New builds the network of g for a session in lock-step, or for Run. With Options.Files, g must have been parsed with them:
// genome.Parse(name, text, files.Open).
func New(ctx context.Context, g *genome.Genome, o Options) (*Session, error) {
	if len(o.Files) > 0 {
		if err := o.Files.check(g); err != nil {
			return nil, err
		}
		own := *g
		own.Folder = filesFolder
		g = &own
	}
	s := newSession(&Log{files: o.Files})
	ro, err := s.options(o)
	if err == nil {
		s.run, err = run.New(ctx, g, ro)
	}
	return s.opened(err)
}

// Load is New for the genome in a file.
func Load(ctx context.Context, path string, o Options) (*Session, error) {
	g, err := genome.Load(path)
	if err != nil {
		return nil, err
	}
	return New(ctx, g, o)
}

// Resume continues a session that was closed early, killed or stopped by an error. It goes back to the last checkpoint and runs the log
// from there, as fast as possible; Recorders receive these bursts, too. Number is then the burst at which the log ends. Feeders must bind
// again; until then there is no input.
func Resume(ctx context.Context, dir string, o Options) (*Session, error) {
	s := newSession(NewLog(dir))
	ro, err := s.options(o)
	if err == nil {
		s.run, err = run.Resume(ctx, dir, ro)
	}
	if s, err = s.opened(err); err != nil {
		return nil, err
	}
	s.inbox.from = math.MaxUint64
	s.undone = true
	end := s.log.End(s.run)
	if from := s.log.last; o.LastStep && s.run.Number() <= from && from < end {
		err = s.log.Advance(ctx, s.run, from)
	} else {
		err = s.finish(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Finish runs the log's last Step, if Resume has left it undone.
func (s *Session) Finish(ctx context.Context) error {
	s.own.Lock()
	defer s.release()
	return s.finish(ctx)
}

// finish runs what the log has. Whoever calls it holds own.
func (s *Session) finish(ctx context.Context) error {
	if !s.undone {
		return nil
	}
	s.undone = false
	err := s.log.Advance(ctx, s.run, s.log.End(s.run))
	s.inbox.from = s.run.Number()
	return err
}

// Redo drops the log's last Step if Resume has not run it (Options.LastStep): the next Step takes its place. After any other action there
// is no such Step, and Redo does nothing.
func (s *Session) Redo() error {
	s.own.Lock()
	defer s.release()
	if !s.undone || s.closed.Load() {
		return nil
	}
	s.undone, s.inbox.from = false, s.run.Number()
	return s.log.forgetLast()
}

// Undone gives the bursts of the log's last Step, if Resume has left it undone: from that burst up to, not including, another. Both are
// 0 where it has not. All that changes or keeps the state runs them first, and only Redo does not.
func (s *Session) Undone() (from, to uint64) {
	s.own.Lock()
	defer s.release()
	if !s.undone {
		return 0, 0
	}
	return s.run.Number(), s.log.End(s.run)
}

func newSession(l *Log) *Session {
	s := &Session{log: l, again: make(chan struct{})}
	s.inbox.log = l
	return s
}

// options are those of the run, with the session in them.
func (s *Session) options(o Options) (run.Options, error) {
	ro := o.Options
	switch {
	case len(ro.Sources) > 0:
		return ro, errors.New("live: Sources are given, whose stimuli would not be in the log; want inputs that a Feeder binds")
	case ro.Peers != nil:
		return ro, errors.New("live: a session runs in one process, which may have several GPUs; several processes are given")
	}
	recorders := []engine.Recorder{&s.out}
	for _, r := range ro.Recorders {
		recorders = append(recorders, guarded{r})
	}
	ro.Sources, ro.Recorders, ro.Inputs = []engine.Source{&s.inbox}, recorders, s.log
	return ro, nil
}

// opened completes a session whose run is open.
func (s *Session) opened(err error) (*Session, error) {
	if err != nil {
		return nil, err
	}
	s.period = s.run.Period()
	s.run.Engine().Pace(0) // Run alone holds it
	s.inbox.c, s.inbox.fits, s.inbox.from = s.run.Connectome, s.run.Engine().Fits, s.run.Number()
	return s, nil
}

// Facts describe the session's run. Callers must not change them.
func (s *Session) Facts() *run.Facts { return &s.run.Facts }

// Status is how far a session is.
type Status struct {
	Burst    uint64 // the next one
	Digest   uint64
	Spikes   uint64 // since the run's first burst
	Paused   bool
	Late     uint64         // bursts that started more than a tenth of a period late
	Lateness engine.Latency // of all starts; 0 where no rate is held
	Latency  engine.Latency
}

// Status says how far the session is, between two bursts.
func (s *Session) Status() (Status, error) {
	var x Status
	err := s.between(func(r *run.Run) error {
		e := r.Engine()
		x = Status{Burst: e.Number(), Digest: e.Digest(), Spikes: r.Activity().Total(), Late: e.Late(), Lateness: e.Lateness(), Latency: e.Latency()}
		return nil
	})
	s.modes.Lock()
	defer s.modes.Unlock()
	x.Paused = s.paused || !s.running
	return x, err
}

// Digest is that of all bursts so far, without the memory that a Status takes. While Run is at work it waits.
func (s *Session) Digest() uint64 {
	s.own.Lock()
	defer s.release()
	return s.run.Engine().Digest()
}

// Checkpoint saves the state to the run's folder in the background.
func (s *Session) Checkpoint() error { return s.act((*run.Run).Save) }

// Flush returns when what the session has recorded so far is on disk, for readers of its folder.
func (s *Session) Flush() error { return s.do((*run.Run).Flush) }

// Close ends the session: Run returns at the next boundary, and recordings and log become the files of a run that has ended. If the run has
// not reached its planned end, Close leaves a checkpoint for Resume.
func (s *Session) Close() error { return s.end((*run.Run).Close) }

// Suspend is Close for a session that is to go on: where no end was planned too, there is a checkpoint for Resume.
func (s *Session) Suspend() error { return s.end((*run.Run).Suspend) }

func (s *Session) end(how func(*run.Run) error) error {
	if s.closed.Swap(true) {
		return nil
	}
	s.Pause()
	s.own.Lock()
	err := errors.Join(s.finish(context.Background()), how(s.run))
	s.release()
	s.Unpause() // a Run that waits sees that all is closed
	return err
}

// Drive calls a driver, whose panic becomes an error: the session can then be closed in good order, with all that it has computed.
func (s *Session) Drive(driver func() error) (err error) {
	defer caught("the driver", &err)
	return driver()
}

// PanicError is a panic of what a caller has given: the driver or a recorder.
type PanicError struct {
	Who   string
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("live: %s panicked: %v", e.Who, e.Value) }

// caught, deferred, makes an error of a panic.
func caught(who string, err *error) {
	if p := recover(); p != nil {
		*err = &PanicError{who, p, debug.Stack()}
	}
}

// guarded is a caller's Recorder, whose panic ends the run as its error does.
type guarded struct{ engine.Recorder }

func (g guarded) Record(b *engine.Burst) (err error) {
	defer caught("a recorder", &err)
	return g.Recorder.Record(b)
}
