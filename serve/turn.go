package serve

import (
	"net/http"
	"time"
)

// mostLong is how many requests that take long have begun and wait for their turn, or for their client.
const mostLong = 8

// turn is the answer to a request that takes long. One of these works at a time; while its client takes what is written, others do. With
// the view token it also waits until those who view have time left.
type turn struct {
	http.ResponseWriter
	s       *Server
	gone    <-chan struct{}
	viewing bool
	has     bool
	began   time.Time
	until   time.Time // when the client must have taken the answer
}

// begin waits for the first turn. It reports whether the client is still there.
func (w *turn) begin() bool {
	select {
	case w.s.long <- struct{}{}:
	case <-w.gone:
		return false
	}
	if !w.take() {
		<-w.s.long
		return false
	}
	w.allow(w.s.patience)
	return true
}

// end ends the request.
func (w *turn) end() {
	if w.has {
		w.give()
	}
	<-w.s.long
}

// Write has others work while the client takes b. For a client that has gone nothing more is computed.
func (w *turn) Write(b []byte) (int, error) {
	w.give()
	n, err := w.ResponseWriter.Write(b)
	asked := time.Now()
	if err != nil || !w.take() {
		panic(http.ErrAbortHandler)
	}
	w.allow(time.Until(w.until) + time.Since(asked)) // it is not the client that has waited
	return n, nil
}

// allow gives the client so long from now on.
func (w *turn) allow(d time.Duration) {
	w.until = time.Now().Add(d)
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.until) // of a connection that has gone
}

// take waits for the turn. It reports whether the client is still there.
func (w *turn) take() bool {
	if w.viewing && !w.s.views.begin(w.gone) {
		return false
	}
	select {
	case w.s.turn <- struct{}{}:
		w.began, w.has = time.Now(), true
	case <-w.gone:
		if w.viewing {
			w.s.views.end(0)
		}
	}
	return w.has
}

// give ends the turn.
func (w *turn) give() {
	w.has = false
	<-w.s.turn
	if w.viewing {
		w.s.views.end(time.Since(w.began))
	}
}

// Unwrap is for http.ResponseController.
func (w *turn) Unwrap() http.ResponseWriter { return w.ResponseWriter }
