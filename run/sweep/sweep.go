// Package sweep runs a network many times: over values of its genome, seeds, and trials of one network under several run seeds. Points run
// beside each other and share the processors. What came of them is one table. A sweep that was stopped or killed goes on where it was: points
// that were finished are not run again. Like package run it prints nothing; it reports what happens as Events.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"burst/backend"
	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/record/runfolder"
	"burst/run"
)

// Options of Run and Resume.
type Options struct {
	Run    run.Options // of every point, but for Folder, Runs, Recorders, Tell, Network, From, Weights, Sources, Inputs and Peers, which must be unset. Threads are those of all points together
	Folder string      // for the table and a folder for each point; it must be empty or not exist
	Runs   string      // instead of Folder: make a new folder NAME-N in here. Without both nothing is written
	Jobs   int         // points that run beside each other; 0: one a thread; on a GPU one, or of trials as many as suit it
	Settle uint64      // first bursts of each point that its figures leave out
	Bin    float64     // ms, of the counts behind synchrony; 0: 5 ms
	Tell   func(Event) // receives events, from one goroutine at a time; may be nil
}

// Event is something that happened to a sweep.
type Event interface{ event() }

// Of is an event of a point's run.
type Of struct {
	Place string
	Event run.Event
}

// Progress tells, some times a second, how far a sweep is: points that have ended, those of before included, and bursts and spikes of the
// others too.
type Progress struct {
	Ended, Points int
	Bursts, Of    uint64
	Spikes        uint64
}

// Ended tells what came of a point.
type Ended struct{ Row Row }

// Failed tells that a point has failed. The others go on.
type Failed struct{ Err error }

func (Of) event()       {}
func (Progress) event() {}
func (Ended) event()    {}
func (Failed) event()   {}

// tellEvery is how often Progress is told.
const tellEvery = 200 * time.Millisecond

// Result is a sweep as far as it went.
type Result struct {
	Genome string // its name
	Plan   Plan
	Points int    // all there are to be
	Rows   []Row  // of those that have ended, in order
	Folder string // "" if nothing is written
}

// Run runs all points of a plan. Result has what came of them also where there is an error: that of the first point, in order, which failed,
// as a *PointError, or ctx's. A point that fails does not keep the others from running, but a failed device does.
func Run(ctx context.Context, g *genome.Genome, p Plan, o Options) (*Result, error) {
	points, err := p.Points(g)
	if err != nil {
		return nil, err
	}
	s := &sweep{o: o, plan: p, genome: g, points: points, rows: make([]*Row, len(points))}
	if err := s.create(); err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// sweep is a sweep that goes on.
type sweep struct {
	o      Options
	plan   Plan
	genome *genome.Genome
	points []Point
	dir    string
	hold   *runfolder.Hold // nil: no folder

	next     atomic.Int64
	bursts   atomic.Uint64
	spikes   atomic.Uint64
	mu       sync.Mutex // of what follows, and of Tell
	rows     []*Row     // nil: not ended
	errs     []error    // of points that failed, at their places
	ended    int
	networks map[int]*shared
}

// shared is the network of the points of one cell, while there are some that need it.
type shared struct {
	once    sync.Once
	network *run.Network
	err     error
	left    int // points that have not ended
}

// run runs the points that have no row.
func (s *sweep) run(ctx context.Context) (*Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.errs, s.networks = make([]error, len(s.points)), map[int]*shared{}
	var left []int
	for i := range s.points {
		if s.rows[i] != nil {
			s.ended++
			continue
		}
		left = append(left, i)
		if n := s.networks[s.points[i].cell]; n != nil {
			n.left++
		} else {
			s.networks[s.points[i].cell] = &shared{left: 1}
		}
	}
	jobs := s.jobs(len(left))
	each := s.o.Run
	each.Threads = max(1, threads(each.Threads)/jobs)
	each.GPUs.Beside = jobs
	if each.MaxBytes == 0 && jobs > 1 && !s.shares() { // those that share a network open one after the other, and look at what is free
		each.MaxBytes = connectome.AvailableMemory()
	}
	each.MaxBytes /= uint64(jobs)
	before := uint64(s.ended) * s.o.Run.Bursts // of points that an earlier run has ended
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for ctx.Err() == nil {
				k := int(s.next.Add(1)) - 1
				if k >= len(left) {
					return
				}
				s.point(ctx, stop, left[k], each, jobs)
			}
		})
	}
	s.watch(&wg, len(s.points), before)
	return s.close(ctx)
}

// watch tells the progress until all is done; before are the bursts of an earlier run.
func (s *sweep) watch(wg *sync.WaitGroup, points int, before uint64) {
	if s.o.Tell == nil {
		wg.Wait()
		return
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			s.mu.Lock()
			s.o.Tell(Progress{Ended: s.ended, Points: points, Bursts: before + s.bursts.Load(), Of: uint64(points) * s.o.Run.Bursts, Spikes: s.spikes.Load()})
			s.mu.Unlock()
		}
	}
}

func (s *sweep) emit(e Event) {
	if s.o.Tell != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.o.Tell(e)
	}
}

// jobs is how many points run beside each other.
func (s *sweep) jobs(points int) int {
	jobs := s.o.Jobs
	if jobs == 0 {
		jobs = s.jobsOnGPU(points)
	}
	cuda.AskForQueues(min(jobs, points)) // before the question whether there is a GPU, which starts the driver
	if s.o.Jobs == 0 && !s.onGPU() {
		jobs = threads(s.o.Run.Threads)
	}
	return max(1, min(jobs, points))
}

// jobsOnGPU is how many points suit a GPU at once: trials that share a network.
func (s *sweep) jobsOnGPU(points int) int {
	if !s.shares() {
		return 1
	}
	return cuda.Beside(s.genome, uint64(points)*s.o.Run.Bursts)
}

// shares reports whether the points of a cell share a network, which is built once.
func (s *sweep) shares() bool {
	return s.plan.Trials > 1 && !s.o.Run.GPUs.All && len(s.o.Run.GPUs.List) <= 1
}

// onGPU reports whether the points use a GPU.
func (s *sweep) onGPU() bool {
	switch s.o.Run.Backend {
	case "cuda":
		return true
	case "auto", "":
		found, err := cuda.Visible()
		for _, d := range found {
			if err == nil && d.Usable {
				return true
			}
		}
	}
	return false
}

func threads(n int) int {
	if n == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

// point runs one point. A device that failed stops the sweep: other points would fail too.
func (s *sweep) point(ctx context.Context, stop context.CancelCauseFunc, i int, o run.Options, jobs int) {
	x := &s.points[i]
	defer s.release(x)
	row, err := s.runPoint(ctx, x, o)
	var device *engine.DeviceError
	switch {
	case err == nil:
		s.emit(Ended{*row})
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		s.discard(x)
		return
	default:
		err = &PointError{s.plan.place(x), withCure(err, jobs)}
		row = &Row{Point: x.Number, Values: x.Values, Seed: x.Genome.Seed, RunSeed: x.Genome.RunSeed, Error: err.Error()}
		s.emit(Failed{err})
		if errors.As(err, &device) {
			stop(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[i], s.errs[i] = row, err
	s.ended++
}

// withCure says what to do where points beside each other need too much memory.
func withCure(err error, jobs int) error {
	var limit *connectome.LimitError
	var memory *backend.MemoryError
	if jobs > 1 && (errors.As(err, &limit) || errors.As(err, &memory)) {
		return fmt.Errorf("%w; %d points share the memory, want fewer beside each other", err, jobs)
	}
	return err
}

// discard removes what there is of a point that was stopped; it is run again from its beginning.
func (s *sweep) discard(x *Point) {
	if s.dir != "" {
		if err := os.RemoveAll(s.folder(x)); err != nil {
			s.emit(Of{s.plan.place(x), run.Trouble{Err: err}})
		}
	}
}

// folder is that of a point.
func (s *sweep) folder(x *Point) string { return filepath.Join(s.dir, s.plan.folder(x)) }

// network is what the points of a cell share; nil: each builds its own.
func (s *sweep) network(ctx context.Context, x *Point, o run.Options) (*run.Network, error) {
	s.mu.Lock()
	n := s.networks[x.cell]
	s.mu.Unlock()
	if !s.shares() {
		return nil, nil
	}
	n.once.Do(func() { n.network, n.err = run.Build(ctx, x.Genome, o) })
	return n.network, n.err
}

// release frees a network that no other point needs.
func (s *sweep) release(x *Point) {
	s.mu.Lock()
	n := s.networks[x.cell]
	n.left--
	last := n.left == 0
	s.mu.Unlock()
	if !last || n.network == nil {
		return
	}
	if err := n.network.Close(); err != nil {
		s.emit(Of{s.plan.place(x), run.Trouble{Err: err}})
	}
	n.network = nil
}

// close writes the table and gives the folder back.
func (s *sweep) close(ctx context.Context) (*Result, error) {
	for _, n := range s.networks { // of points that were not begun
		if n.network != nil {
			n.network.Close() // its runs have ended
		}
	}
	r := &Result{Genome: s.genome.Name, Plan: s.plan, Points: len(s.points), Folder: s.dir}
	var failed error
	for i, row := range s.rows {
		if row != nil {
			r.Rows = append(r.Rows, *row)
		}
		if failed == nil {
			failed = s.errs[i]
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	if err := s.finish(r, failed == nil); failed == nil {
		failed = err
	}
	return r, failed
}
