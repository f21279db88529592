package serve

import "time"

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
	Controls    = controlsEach
)

// KeepState has viewers get the last copy of the state for a time.
func (s *Server) KeepState(d time.Duration) { s.states.again = time.Now().Add(d) }
