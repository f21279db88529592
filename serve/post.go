package serve

import (
	"net/http"

	"burst/live/wire"
)

// Done answers what has no other answer.
type Done struct {
	Burst uint64 `json:"burst"` // the next one
}

func bindInputs(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	var x wire.Bind
	if err := read(q, &x.Inputs); err != nil {
		return nil, err
	}
	return s.bindHTTP(&x)
}

func bindOutputs(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	var x wire.Bind
	if err := read(q, &x.Outputs); err != nil {
		return nil, err
	}
	return s.bindHTTP(&x)
}

func (s *Server) bindHTTP(x *wire.Bind) (any, error) {
	if s.session == nil {
		return nil, refusal(http.StatusNotImplemented, "%v", errShown)
	}
	answer, err := s.bound.bind(s.session, "HTTP", x)
	if err != nil {
		return nil, err
	}
	answer.Burst = s.nextBurst()
	return answer, nil
}

// Amounts are what an input is set to.
type Amounts struct {
	Handle  uint16    `json:"handle"`
	At      []uint32  `json:"at,omitempty"` // the entries that have an amount; without it, all in order
	Amounts []float32 `json:"amounts"`
}

func setInputs(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	var list []Amounts
	if err := read(q, &list); err != nil {
		return nil, err
	}
	var values []wire.Amounts
	for _, x := range list {
		values = append(values, wire.Amounts{Handle: x.Handle, At: x.At, Amounts: x.Amounts})
	}
	if err := s.bound.set(0, values); err != nil {
		return nil, err
	}
	return Done{s.nextBurst()}, nil
}

// Reading is what an output tells.
type Reading struct {
	Handle uint16    `json:"handle"`
	Counts []uint32  `json:"counts,omitempty"` // of counts and fired
	Values []float32 `json:"values,omitempty"` // of rate and potentials
}

func readOutputs(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) {
	s.bound.mu.Lock()
	defer s.bound.mu.Unlock()
	list := []Reading{}
	for i := range s.bound.outputs {
		var r wire.Result
		s.bound.read(i, &r)
		list = append(list, Reading{r.Handle, r.Counts, r.Values})
	}
	return list, nil
}

func unbind(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	if err := read(q, &struct{}{}); err != nil {
		return nil, err
	}
	s.bound.close()
	return Done{s.nextBurst()}, nil
}

func postControl(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	var x wire.Control
	if err := read(q, &x); err != nil {
		return nil, err
	}
	if err := s.control(q.Context(), &x); err != nil {
		return nil, &statusError{http.StatusConflict, err}
	}
	if x.Do == doStop {
		s.stop(errStopped) // which waits for this answer
	}
	return Done{s.nextBurst()}, nil
}
