// Package run runs a network from beginning to end. It builds the network, opens a backend, advances burst by burst, saves
// checkpoints and recordings in a folder, and continues a run after a stop, a crash or a device fault. It prints nothing
// and never exits the program; it reports what happens as Events.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"burst/backend"
	"burst/backend/cuda"
	"burst/checkpoint"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/record"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// Version is the next release of burst from this source tree. It is written to checkpoints and manifests.
const Version = "0.1.0"

// Options of New and Resume. With the zero value the network runs on the best available backend and nothing is written.
type Options struct {
	Backend  string   // one of backend.Names, or "auto" (also ""): a GPU if one is available and has enough memory, else the CPU
	GPUs     GPUs     // of the cuda backend
	Threads  int      // of the cpu backend and of building, not negative; 0: all processors
	MaxBytes uint64   // limit of host memory; a larger network is an error. 0: the free memory
	Peers    *Peers   // the processes that share the network; nil: only this one
	Network  *Network // built once for several runs (Build); nil: this run builds its own

	Bursts    uint64                                            // planned length of the run, also after Resume; 0: no planned end
	Rate      string                                            // bursts per second of wall-clock time, such as 100, 100Hz or 1kHz; "": as fast as possible
	Sources   []engine.Source                                   // stimuli in addition to the genome's
	Inputs    Inputs                                            // records what Sources give in the run's folder, if there is one; may be nil
	Spikes    func(m *manifest.Manifest) func(*runfolder.Chunk) // of a run with a folder; see record.Watch
	Recorders []engine.Recorder                                 // receive every burst, in addition to the run's own recordings

	Folder      string          // for checkpoints and recordings; it must be empty or not exist
	Runs        string          // instead of Folder: make a new folder NAME-N in here. Without both nothing is written
	Record      []string        // what to record, see record.NewPlan; none: what the genome says. Without a folder Recorders have the state variables alone
	Checkpoints string          // interval of checkpoints in bursts, such as 1000, or time, such as 5m; "": only by Save and Close
	From        *Start          // a checkpoint to begin from; nil: burst 0
	Weights     *Learnt         // weights to begin with, which another run has learnt; nil: those of the genome. Not with From
	Disk        checkpoint.Disk // file system for checkpoints; nil: the machine's
	OnFault     Action          // what to do when a device fails; "": Stop
	Elsewhere   bool            // another process will do what OnFault says: the manifest names it, Advance returns the fault
	Tell        func(Event)     // receives events, from one goroutine at a time; may be nil
}

// Start is a checkpoint of the same network, from this or another run.
type Start struct {
	Path  string // for messages
	Saved *checkpoint.Checkpoint
}

// Facts describe an open Run. Callers must not change them.
type Facts struct {
	Genome     *genome.Genome
	Connectome *connectome.Connectome // without synapses if several GPUs share the network, or GPUs have built it
	ID         uint64                 // hash of the whole connectome, also if this process has only a part of it
	Wiring     uint64                 // likewise without the rules by which weights change (connectome.Wiring)
	Backend    string
	Device     string
	Path       *cuda.Path     // how a GPU runs bursts, of several processes that of the first; nil: there is none
	Builder    *Builder       // who has built the network for GPUs, where either could have; nil: the host, as it was to
	Exchange   string         // how the processes exchange spikes; "": there is only one process
	Threads    int            // number of threads that the cpu backend may use
	FCL        bool           // the backend delivers the fire candidate list
	Values     []engine.Probe // the state variables that it delivers
	Rest       []float32      // what to add to each of these to make it absolute
	First      uint64         // first burst of the run
	Planned    uint64         // planned number of bursts; 0: no planned end
	Began      uint64         // first burst that this process runs
	Folder     string         // "" if nothing is written
}

// ThreadsUsed is the number of threads that the cpu backend used for its newest burst; it may have found that fewer are faster. It is 0 for
// other backends, and in several processes.
func (r *Run) ThreadsUsed() int { return backend.ThreadsUsed(r.backend) }

// Run is one run. One goroutine at a time uses it.
type Run struct {
	Facts
	o        Options
	schedule schedule
	period   time.Duration
	parts    *connectome.Parts // that are built while GPUs are opened; nil: Connectome has its synapses
	start    *Start            // nil: burst 0
	resumed  *runfolder.Folder // the folder of a run that goes on; nil: of a new one, or none

	backend   engine.Backend
	engine    *engine.Engine
	activity  *record.Activity
	plan      record.Plan
	hold      *runfolder.Hold
	recording *record.Run       // nil: none yet, or no folder
	saver     *checkpoint.Saver // with recording
	asked     uint64            // the burst of the last checkpoint that was asked for; 0: none
	times     Times
	changed   *Change      // drives and stimuli that are others than the genome's; nil: none are
	weights   string       // their digest
	read      engine.State // as present has read it
	readAt    uint64       // its burst + 1; 0: there is none
	begun     bool         // the folder is there
	complete  bool         // the folder holds all there will be
	failed    error        // ended the run
	closed    bool
	suspended bool // by Suspend
}

// New builds the network of g, opens a backend and sets the initial state. Nothing is written before the first Advance. The
// errors are those of packages genome, connectome, backend and checkpoint. If ctx ends during the build, New returns ctx's
// error at once, and the build is finished in the background and dropped.
func New(ctx context.Context, g *genome.Genome, o Options) (*Run, error) {
	r := &Run{Facts: Facts{Genome: g, Planned: o.Bursts}, o: o, start: o.From}
	err := r.check()
	if err == nil && o.Folder != "" {
		err = runfolder.Vacant(o.Folder)
	}
	if err = o.Peers.Settle(err); err != nil {
		return nil, err
	}
	return r.opened(ctx)
}

// Load is New for the genome in a file.
func Load(ctx context.Context, path string, o Options) (*Run, error) {
	g, err := genome.Load(path)
	if err != nil {
		return nil, o.Peers.Settle(err)
	}
	return New(ctx, g, o)
}

// check parses and checks the options before anything is built.
func (r *Run) check() (err error) {
	if r.o.Disk == nil {
		r.o.Disk = checkpoint.OS{}
	}
	if r.o.Backend == "" {
		r.o.Backend = "auto"
	}
	if r.o.Threads < 0 {
		return fmt.Errorf("run: %d threads, want a whole number; 0 is all processors", r.o.Threads)
	}
	switch b := r.o.GPUs.Build; {
	case b != OnHost && b != OnDevice && b != OnEither:
		return fmt.Errorf("run: GPUs.Build is %q, want OnHost, OnDevice or OnEither", b)
	case b == OnDevice && r.o.Peers != nil:
		return errors.New("run: GPUs.Build is OnDevice with Peers, want one process: several build on their hosts")
	}
	if r.o.From != nil && r.o.Weights != nil {
		return errors.New("run: both From and Weights, want one: a checkpoint has weights too")
	}
	if err := r.o.Network.check(r.Genome, &r.o); err != nil {
		return err
	}
	if r.period, err = ParseRate(r.o.Rate); err != nil {
		return fmt.Errorf("rate %w", err)
	}
	if r.schedule, err = parseSchedule(r.o.Checkpoints); err != nil {
		return fmt.Errorf("checkpoints %w", err)
	}
	return r.checkFault()
}

// opened opens the run. If that fails, it frees everything.
func (r *Run) opened(ctx context.Context) (*Run, error) {
	if err := r.open(ctx); err != nil {
		return nil, r.abandon(err)
	}
	return r, nil
}

// abandon frees everything that a run holds that could not be opened.
func (r *Run) abandon(err error) error {
	r.failed = err
	r.Close()
	return err
}

// open builds the network, opens the backend and makes the engine in the run's initial state.
func (r *Run) open(ctx context.Context) error {
	o, start, before := &r.o, time.Now(), r.times.made()
	defer func() { r.times.Open += time.Since(start) - (r.times.made() - before) }()
	if err := o.takeGPU(); err != nil {
		return err
	}
	one := *r // if ctx ends first, making goes on with the copy, and r is free
	made, err := heed(ctx, func() (*Run, error) { return &one, one.make(ctx) }, func(left *Run) { left.backend.Close() })
	if err != nil {
		return err
	}
	*r = *made
	b := r.backend
	r.Device, r.Exchange, r.Threads = o.Peers.joined(backend.Device(b)), o.Peers.name(), threads(o.Threads)
	r.Path = backend.Path(b)
	if err := r.checkStart(); err != nil {
		return err
	}
	if err := r.checkLearnt(); err != nil {
		return err
	}
	r.activity = record.NewActivity(r.Connectome)
	recorders := append([]engine.Recorder{r.activity}, o.Recorders...)
	r.engine = engine.New(r.Connectome, b, engine.Options{Period: r.period, Sources: o.Sources, Recorders: append(recorders, folderRecorder{r})})
	return r.restore()
}

// make builds the network, unless there is one, and opens the backend. It stops between its steps when ctx ends.
func (r *Run) make(ctx context.Context) error {
	o, maker := &r.o, (*cuda.Maker)(nil)
	if r.Connectome == nil {
		r.emit(Began{"planning"})
		var err error
		if maker, err = o.maker(); err != nil {
			return err
		}
		defer maker.Close() // after opening: parts build while they are opened, and the device's context stays
		if err := r.buildOr(maker); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	options, err := o.backendOptions()
	if err != nil {
		return err
	}
	if err := r.makePlan(); err != nil {
		if o.Peers != nil {
			o.Peers.dismiss()
		}
		return err
	}
	options.Want, options.Maker = r.want(), maker
	r.FCL, r.Values, r.Rest = options.Want.FCL, r.plan.Values, r.plan.Rest
	return r.openOr(options)
}

// folderRecorder records into the run's folder, which exists before the first burst.
type folderRecorder struct{ r *Run }

func (f folderRecorder) Record(b *engine.Burst) error {
	if f.r.recording == nil {
		return nil
	}
	return f.r.recording.Record(b)
}

// Prepare makes the run's folder, or opens that of a resumed run, as the first Advance does; nothing where there is none.
func (r *Run) Prepare() error {
	if r.failed != nil {
		return r.failed
	}
	if err := r.begin(); err != nil {
		return r.fail(err)
	}
	return nil
}

// Disk is the file system for checkpoints.
func (r *Run) Disk() checkpoint.Disk { return r.o.Disk }

// Engine returns the run's engine, for its State, Between, Fits and counters. Only Advance may run its bursts.
func (r *Run) Engine() *engine.Engine { return r.engine }

// Activity returns the counts of spikes since the run's first burst.
func (r *Run) Activity() *record.Activity { return r.activity }

// Number is the number of the next burst.
func (r *Run) Number() uint64 { return r.engine.Number() }

// End is the number of the burst after the last planned one. Without a planned end it is the run's first burst.
func (r *Run) End() uint64 { return r.First + r.Planned }

// Period is the time between bursts that Options.Rate asks for; 0 where no rate is to be held.
func (r *Run) Period() time.Duration { return r.period }

// emit passes an event to Options.Tell.
func (r *Run) emit(e Event) {
	if r.o.Tell != nil {
		r.o.Tell(e)
	}
}

// Advance runs bursts until to is the next one, and saves the checkpoints that are due. The first call makes the run's
// folder. When ctx ends, Advance stops between two bursts and returns ctx's error; a later call continues. Any other error
// ends the run, unless a device failed and OnFault says to continue. A *FailedError tells what is left in the folder.
func (r *Run) Advance(ctx context.Context, to uint64) error {
	switch {
	case r.failed != nil:
		return r.failed
	case r.closed:
		return errors.New("run: Advance after Close")
	case to > manifest.MostBursts:
		return fmt.Errorf("run: cannot advance to burst %d, want at most %d", to, uint64(manifest.MostBursts))
	}
	for {
		err := r.begin()
		if err == nil {
			err = r.advance(ctx, to)
		}
		if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return err
		}
		err = r.fail(err)
		if !r.retries(err) {
			return err
		}
		if again := r.again(ctx); again != nil {
			return errors.Join(err, again)
		}
	}
}

// advance runs the bursts in pieces and saves checkpoints between them.
func (r *Run) advance(ctx context.Context, to uint64) error {
	began := time.Now()
	defer func() { r.times.Run += time.Since(began) }()
	for first := true; ; first = false {
		if err := r.sample(); err != nil {
			return err
		}
		at := r.engine.Number()
		if at >= to {
			return nil
		}
		start, n := r.schedule.begin(), min(to-at, r.schedule.ahead(at), r.plan.Weights.Ahead(at))
		var err error
		if first {
			err = r.engine.Run(ctx, n)
		} else {
			err = r.engine.Continue(ctx, n) // saving is part of the run
		}
		if err != nil {
			return err
		}
		if r.saver != nil && r.schedule.due(r.engine.Number(), start) {
			if err := r.save(); err != nil {
				return err
			}
		}
	}
}

// Close ends the run and frees its resources. Recordings in the folder become Parquet files. The manifest says complete if
// all planned bursts were run. Otherwise it says interrupted, and there is a checkpoint of the last burst for Resume. The
// folder of a failed run is not changed. Only the first call does anything.
func (r *Run) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	began := time.Now()
	r.emit(Began{"writing"})
	defer func() { r.times.Write = time.Since(began) }()
	var err error
	if r.failed == nil {
		err = r.finish()
	}
	if r.backend != nil {
		r.backend.Close() // what it computed is safe, and a device that failed cannot be closed in good order
	}
	if r.o.Inputs != nil {
		if ended := r.o.Inputs.Close(); err == nil {
			err = ended
		}
	}
	if r.hold != nil {
		if unlocked := r.hold.Release(r.complete); unlocked != nil {
			r.emit(Trouble{unlocked})
		}
	}
	return err
}

// Suspend is Close for a run that is to go on: where no end was planned too, there is a checkpoint of the last burst for Resume.
func (r *Run) Suspend() error {
	r.suspended = true
	return r.Close()
}

// finish completes the folder of a run that has not failed.
func (r *Run) finish() error {
	if len(r.Connectome.Plastic) == 0 { // the state of one that learns is read and looked at below
		if err := r.engine.Check(); err != nil {
			return r.fail(err)
		}
	}
	status := manifest.Complete
	if r.engine.Number() < r.End() || r.suspended {
		status = manifest.Interrupted
	}
	if err := r.lastWeights(status == manifest.Complete); err != nil {
		return r.fail(err)
	}
	if r.recording == nil {
		return nil
	}
	if err := r.lastSave(status == manifest.Interrupted); err != nil {
		return r.fail(err)
	}
	if r.o.Inputs != nil {
		if err := r.o.Inputs.Finish(r); err != nil {
			return r.fail(err)
		}
	}
	digest := fmt.Sprintf("%016x", r.engine.Digest())
	err := r.recording.Close(record.End{
		Bursts: r.engine.Number() - r.First, Spikes: r.activity.Total(), Digest: digest, Weights: r.weights, Status: status, Activity: r.activity, Inputs: r.o.Inputs != nil,
		Timings: manifest.Timings{Plan: r.times.Plan.Seconds(), Build: r.times.Build.Seconds(), Upload: r.times.Upload.Seconds(), Open: r.times.Open.Seconds(), Run: r.times.Run.Seconds(), Wait: r.recording.Waited().Seconds(), Latency: r.engine.Latency(), Lateness: r.lateness()},
	})
	if err != nil {
		r.failed = fmt.Errorf("%w\nthe run itself ended with digest %s; what it recorded is in %s", err, digest, r.Folder)
		return r.failed
	}
	r.complete = status == manifest.Complete
	return nil
}

// lateness is how late bursts started; nil where no rate was held.
func (r *Run) lateness() *engine.Latency {
	l := r.engine.Lateness()
	if l == (engine.Latency{}) {
		return nil
	}
	return &l
}

// WeightDigest is the digest of all weights after the last burst, in hexadecimal digits (engine.State.WeightDigest); "" before
// Close, and for a network whose weights do not change.
func (r *Run) WeightDigest() string { return r.weights }

// fail writes to the folder that an error ended the run.
func (r *Run) fail(cause error) error {
	r.failed = cause
	if r.recording == nil {
		return cause
	}
	for _, err := range []error{r.closeSaver(), r.recording.Fail(cause, r.faultOf(cause))} {
		if err != nil && err.Error() != cause.Error() {
			r.emit(Trouble{err})
		}
	}
	r.times.Wait += r.recording.Waited()
	r.recording, r.saver = nil, nil
	n := new(engine.NumberError)
	r.failed = &FailedError{Err: cause, Folder: r.Folder, Resumable: r.Resumable() && !errors.As(cause, &n)} // the same numbers would fail again
	return r.failed
}

// FailedError is an error that ended a run with a folder.
type FailedError struct {
	Err       error
	Folder    string
	Resumable bool // Resume can go on from a checkpoint, and may get further
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("%v\nwhat was recorded until then is in %s", e.Err, e.Folder)
}

// Unwrap is what ended the run.
func (e *FailedError) Unwrap() error { return e.Err }

// heed calls a function that cannot be cancelled. When ctx ends it returns at once, and the function's result is dropped.
func heed[T any](ctx context.Context, work func() (T, error), drop func(T)) (made T, err error) {
	if err := ctx.Err(); err != nil {
		return made, err
	}
	if ctx.Done() == nil {
		return work()
	}
	done := make(chan func() (T, error), 1)
	go func() {
		made, err := work()
		done <- func() (T, error) { return made, err }
	}()
	select {
	case result := <-done:
		return result()
	case <-ctx.Done():
		go func() {
			if made, err := (<-done)(); err == nil {
				drop(made)
			}
		}()
		return made, ctx.Err()
	}
}
