package serve

import (
	"net"
	"net/http"
	"time"
)

// Route is what tests know of a route.
type Route struct {
	Method, Path, Scope string
	In, Out             any
}

// Routes are all of a server's.
func Routes() (list []Route) {
	for _, r := range routes() {
		list = append(list, Route{r.method, r.path, r.scope.String(), r.in, r.out})
	}
	return list
}

// Limits that tests pass.
const (
	MostFresh   = mostFresh
	MostWaiting = mostWaiting
	MostViewers = mostViewers
	MostFeeders = mostFeeders
	MostLong    = mostLong
	Controls    = controlsEach
	Requests    = requestsEach
)

// LastPatience is with a client that is to go.
const LastPatience = lastPatience

// Accept has HTTP come from another listener, before Serve. It closes the one there was.
func (s *Server) Accept(l net.Listener) error {
	old := s.listener
	s.listener = l
	return old.Close()
}

// KeepState has viewers get the last copy of the state for a time.
func (s *Server) KeepState(d time.Duration) { s.states.again = time.Now().Add(d) }

// Fresh is how many connections wait for their next request.
func (s *Server) Fresh() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fresh)
}

// Waiting is how many connections have not yet said hello.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// Watchers is how many clients view.
func (s *Server) Watchers() int {
	s.tap.mu.Lock()
	defer s.tap.mu.Unlock()
	return s.tap.watchers
}

// AgeViews makes the pictures that viewers have not acknowledged older.
func (s *Server) AgeViews(by time.Duration) {
	for _, c := range s.viewers() {
		c.mu.Lock()
		c.since = c.since.Add(-by)
		c.mu.Unlock()
	}
}

// SetPatience is with clients that take answers slowly.
func (s *Server) SetPatience(d time.Duration) { s.patience = d }

// TakeTurn takes the turn of routes that are long.
func (s *Server) TakeTurn() (end func()) {
	s.turn <- struct{}{}
	return func() { <-s.turn }
}

// TakeTime has those who view take time for requests that are long; it gives how long they must wait for the next one.
func (s *Server) TakeTime(d time.Duration) time.Duration {
	s.views.turn <- struct{}{}
	s.views.end(d)
	return time.Until(s.views.free)
}

// Unlimited are the routes, for as many requests as come.
func (s *Server) Unlimited() http.Handler {
	s.buckets = nil
	return s.guard(s.mux())
}

// Hold pauses the run.
func (s *Server) Hold() { _ = s.hold(true) }
