package serve

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"burst/engine"
	"burst/genome"
	"burst/live"
	"burst/live/wire"
	"burst/record/manifest"
	"burst/run"
)

// Options of New. The zero value serves a run that goes on as fast as it can, on 127.0.0.1 with a port of the system's choice.
type Options struct {
	live.Options               // Rate is that of real time
	LockStep     bool          // a driver steps the run
	Paused       bool          // begin paused; not with LockStep
	Listen       string        // a loopback address; "": 127.0.0.1:0, or none if there is a Socket or Inherited
	Socket       string        // path of a Unix socket to make; ""; none
	Inherited    *os.File      // a connected socket, of the process that started this one; the server ends with it. nil: none
	Beside       *Server       // of View: shows the run beside that of another server, by whose address and tokens it is reached; nil: by its own
	StepTimeout  time.Duration // after so long without a step a lock-step run pauses and its driver's connection is closed; 0: 30 s
	Tell         func(string)  // receives a line about what clients do that is out of order; may be nil
}

// Limits of a server; docs/live.md names them.
const (
	mostViewers    = 64
	mostFeeders    = 8
	mostWaiting    = 16 // connections that have not yet said an accepted hello
	mostHello      = 4 << 10
	mostOfViewer   = 64 << 10 // bytes of a viewer's frame
	mostBound      = 1024     // inputs, and outputs, of one client
	mostOfName     = 100      // bytes, of a client's or an input's
	mostKept       = 8        // states
	mostSteps      = 1_000_000
	picturesEach   = 30 // a second
	feedsEach      = 2000
	controlsEach   = 20
	requestsEach   = 200
	mostUnseen     = 2
	helloPatience  = 5 * time.Second
	viewerPatience = 120 * time.Second
	stepPatience   = 30 * time.Second
	lastPatience   = time.Second // with a client that is to go
)

// Server is a live run with its clients.
type Server struct {
	o        Options
	subject  subject
	session  *live.Session // the subject, where clients may act on it; else nil
	facts    *run.Facts
	tap      *tap
	listener net.Listener // HTTP; nil: none
	unix     *unixListener
	http     *http.Server
	routes   []route
	beside   *Server // whose run is shown beside this one; nil: none
	tokens   map[scope]string
	buckets  map[scope]*bucket
	began    time.Time

	steps  sync.Mutex // whoever holds it may Step
	driver driver     // under steps
	bound  bindings   // by HTTP
	states states
	long   chan struct{} // requests that take long and have begun
	turn   chan struct{} // of the one of these that works
	views  share         // of the time of these, for the view token

	patience time.Duration // with clients that take answers slowly

	mu       sync.Mutex
	clients  map[*client]bool
	waiting  []*client  // that have not yet said hello
	fresh    []net.Conn // that have sent no header yet
	mode     string
	dropped  uint64 // values of feeders
	refused  uint64 // requests and connections
	stopping bool

	stop   context.CancelCauseFunc
	ctx    context.Context
	served sync.WaitGroup
}

// errStopped is the cause of an end that is in order.
var errStopped = errors.New("stopped")

// New opens the sockets and builds the network of g.
func New(ctx context.Context, g *genome.Genome, o Options) (*Server, error) {
	return open(o, func(lo live.Options) (*live.Session, error) { return live.New(ctx, g, lo) })
}

// Resume opens the sockets and goes on with the live run in a folder where its log ends, as live.Resume does. Without a Rate it holds
// that of the run before. In lock-step the driver may ask once more for the log's last step.
func Resume(ctx context.Context, dir string, o Options) (*Server, error) {
	m, err := manifest.Read(dir)
	if err != nil {
		return nil, err
	}
	rate := o.Rate
	if o.Rate == "" && !o.LockStep {
		o.Rate = m.Options.RealTime
	}
	return open(o, func(lo live.Options) (*live.Session, error) {
		lo.LastStep = o.LockStep
		s, err := live.Resume(ctx, dir, lo)
		if err == nil && rate != "" {
			if err = s.SetRate(rate); err != nil {
				return nil, errors.Join(err, s.Suspend())
			}
		}
		return s, err
	})
}

// open opens the sockets, and the session with what the server adds to its options.
func open(o Options, session func(live.Options) (*live.Session, error)) (*Server, error) {
	if o.LockStep && (o.Paused || o.Rate != "") {
		return nil, errors.New("serve: LockStep with Paused or a Rate is given, want one of them")
	}
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	lo := o.Options
	lo.Recorders = append([]engine.Recorder{s.tap}, lo.Recorders...)
	if s.session, err = session(lo); err != nil {
		return nil, errors.Join(err, s.unlisten())
	}
	return s, s.begin(s.session)
}

// prepare makes a server and opens its sockets.
func prepare(o Options) (*Server, error) {
	if o.StepTimeout == 0 {
		o.StepTimeout = stepPatience
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	s := &Server{o: o, tap: new(tap), clients: map[*client]bool{}, began: time.Now(), routes: routes(), long: make(chan struct{}, mostLong), turn: make(chan struct{}, 1), views: newShare(), patience: takePatience}
	s.tokens = map[scope]string{scopeView: newToken(), scopeControl: newToken()}
	if o.Beside != nil {
		s.tokens, o.Beside.beside = o.Beside.tokens, s
		o.Beside.routes = append(o.Beside.routes, ofTwo)
	}
	s.buckets = map[scope]*bucket{scopeView: newBucket(requestsEach), scopeControl: newBucket(controlsEach)}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.unlisten())
	}
	return s, nil
}

// begin gives the server what it is to show.
func (s *Server) begin(x subject) error {
	s.subject, s.facts = x, x.Facts()
	now, err := x.Status()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	next := now.Burst
	if s.session != nil {
		if from, to := s.session.Undone(); from < to {
			next, s.driver.undone = to, true
		}
	}
	s.tap.open(s.facts, next)
	s.driver.timer = time.AfterFunc(time.Hour, s.idle)
	s.driver.timer.Stop()
	s.mode = s.modeNow(s.o.Paused)
	if s.o.Paused {
		x.Pause()
	}
	return nil
}

// newToken is 128 random bits as text for an address.
func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Addresses are two URLs with their tokens in the fragment, one to view and one to control; "" without HTTP.
func (s *Server) Addresses() (view, control string) {
	if s.listener == nil {
		return "", ""
	}
	at := "http://" + s.listener.Addr().String() + "/"
	if s.beside != nil {
		at += "pair"
	}
	at += "#token="
	return at + s.tokens[scopeView], at + s.tokens[scopeControl]
}

// Facts describe the server's run. Callers must not change them.
func (s *Server) Facts() *run.Facts { return s.facts }

// Serve serves until ctx ends, a client stops the run, the run reaches its planned end, or the process ends that passed on Inherited. Then
// it tells the clients, saves a checkpoint and closes the run. The error is the one that ended the run.
func (s *Server) Serve(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.stop(errStopped) })()
	s.served.Go(s.pictures)
	if s.listener != nil {
		s.http = s.newHTTP()
		s.served.Go(func() { _ = s.http.Serve(s.listener) }) // which ends with its listener
	}
	if s.unix != nil {
		s.served.Go(s.acceptUnix)
	}
	if s.o.Inherited != nil {
		if err := s.inherit(); err != nil {
			s.stop(err)
		}
	}
	s.run()
	return s.close()
}

// run runs bursts until the server stops. In lock-step drivers do.
func (s *Server) run() {
	if !s.o.LockStep {
		if err := s.subject.Run(s.ctx); s.ctx.Err() == nil {
			if err == nil {
				err = errStopped
			}
			s.stop(err)
		}
	}
	<-s.ctx.Done()
}

// close tells the clients, ends what the server has started and closes the run.
func (s *Server) close() error {
	cause := context.Cause(s.ctx)
	text := "the run ends"
	if cause != errStopped {
		text = cause.Error()
	}
	s.mu.Lock()
	s.stopping = true
	told := maps.Clone(s.clients)
	for _, c := range s.waiting { // one that is being welcomed is in both
		told[c] = true
	}
	s.mu.Unlock()
	for c := range told {
		c.leave(wire.Closing, text)
	}
	var err error
	if s.http != nil {
		err = s.closeHTTP() // before unlisten: it says so if its listener is closed already
	}
	err = errors.Join(err, s.unlisten())
	s.steps.Lock() // an idle that has begun ends
	s.driver.timer.Stop()
	s.bound.close()
	s.steps.Unlock()
	s.served.Wait()
	if cause == errStopped {
		return errors.Join(s.subject.Suspend(), err)
	}
	return errors.Join(cause, s.subject.Close())
}

// Close frees what New has opened, of a server that is not to Serve.
func (s *Server) Close() error { return errors.Join(s.unlisten(), s.subject.Suspend()) }

// modeNow is the name of the run's mode.
func (s *Server) modeNow(paused bool) string {
	switch {
	case paused:
		return "paused"
	case s.o.LockStep:
		return "lock-step"
	case s.o.Rate != "":
		return "real-time"
	}
	return "free"
}

// setMode tells all clients when the run's mode becomes another one.
func (s *Server) setMode(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mode := s.modeNow(paused)
	if mode == s.mode {
		return
	}
	s.mode = mode
	for c := range s.clients {
		c.tell(wire.Notice{Code: wire.Mode, Text: mode})
	}
}

// fatal ends the server for an error of the run.
func (s *Server) fatal(err error) error {
	if s.ctx.Err() == nil {
		s.stop(err)
	}
	return fmt.Errorf("the run has ended: %w", err)
}
