package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"burst/live/wire"
)

// scope is what a token allows.
type scope int

const (
	scopeNone scope = iota
	scopeView
	scopeControl
)

func (x scope) String() string { return []string{"none", "view", "control"}[x] }

// Limits of HTTP.
const (
	mostFresh      = 64 // connections whose next request has not come yet
	headerPatience = 5 * time.Second
	bodyPatience   = 10 * time.Second
	answerPatience = 2 * time.Second // for those that have begun when the server stops
	idlePatience   = time.Minute     // with a connection that was used before
	takePatience   = time.Minute     // with a client that takes an answer slowly
	mostHeader     = 16 << 10
)

// newHTTP makes the server of the routes.
func (s *Server) newHTTP() *http.Server {
	return &http.Server{
		Handler:           s.guard(s.mux()),
		ReadHeaderTimeout: headerPatience, ReadTimeout: bodyPatience, IdleTimeout: idlePatience, MaxHeaderBytes: mostHeader,
		ConnState: s.track, ErrorLog: discard, DisableGeneralOptionsHandler: true,
	}
}

// closeHTTP ends the server of the routes. Answers that have begun are given, unless they take longer than answerPatience.
func (s *Server) closeHTTP() error {
	s.mu.Lock()
	for _, conn := range s.fresh { // Shutdown would wait for their requests
		conn.Close()
	}
	s.mu.Unlock()
	ctx, end := context.WithTimeout(context.Background(), answerPatience)
	defer end()
	if err := s.http.Shutdown(ctx); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		return unlessClosed(err)
	}
	return s.http.Close()
}

// mux leads to the routes and the page, and below /beside to those of the server beside this one.
func (s *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.showPage)
	mux.HandleFunc("GET /page/{name}", s.showPage)
	if s.beside != nil {
		mux.HandleFunc("GET /pair", s.showPage)
		mux.Handle("/beside/", http.StripPrefix("/beside", s.beside.mux()))
	}
	for i := range s.routes {
		r := &s.routes[i]
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, q *http.Request) { s.answer(w, q, r) })
	}
	return mux
}

// track closes the connection that has waited longest with its next request when there are too many of these.
func (s *Server) track(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateNew && state != http.StateIdle {
		s.fresh = slices.DeleteFunc(s.fresh, func(x net.Conn) bool { return x == conn })
		return
	}
	if s.fresh = append(s.fresh, conn); len(s.fresh) > mostFresh {
		s.fresh[0].Close()
		s.fresh = slices.Delete(s.fresh, 0, 1)
	}
}

// statusError is an error with its status.
type statusError struct {
	status int
	error
}

func refusal(status int, format string, args ...any) error {
	return &statusError{status, fmt.Errorf(format, args...)}
}

// guard holds every request to Host and Origin, also of paths that there are not.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		s.wait(w)
		err := checkHost(q.Host)
		if err == nil {
			err = checkOrigin(q)
		}
		if err != nil {
			s.fail(w, err)
			return
		}
		next.ServeHTTP(w, q)
	})
}

// wait begins the time in which the client must take an answer. One that does not loses its connection.
func (s *Server) wait(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience)) // of a connection that has gone
}

// checkHost refuses names that are not this machine's own: a name of somebody else's can be made to point here.
func checkHost(name string) error {
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost") {
		return nil
	}
	return refusal(http.StatusForbidden, "Host %q, want a loopback address or localhost", name)
}

// checkOrigin refuses requests that a page of another server makes.
func checkOrigin(q *http.Request) error {
	origins := q.Header.Values("Origin")
	if len(origins) == 0 || len(origins) == 1 && origins[0] == "http://"+q.Host {
		return nil
	}
	return refusal(http.StatusForbidden, "Origin %q, want http://%s or none", origins, q.Host)
}

// answer holds a request to what its route needs, and answers it.
func (s *Server) answer(w http.ResponseWriter, q *http.Request, r *route) {
	if err := s.authorise(q, r); err != nil {
		s.fail(w, err)
		return
	}
	if r.long {
		long := &turn{ResponseWriter: w, s: s, gone: q.Context().Done(), viewing: s.tokenScope(q) < scopeControl}
		if !long.begin() {
			return
		}
		defer long.end()
		w = long
	}
	q.Body = http.MaxBytesReader(w, q.Body, r.most())
	x, err := r.do(s, w, q)
	if r.method == "POST" {
		s.wait(w) // what was asked for may have taken long
	}
	switch {
	case err != nil:
		s.fail(w, err)
	case x != nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(x) // a client that has gone
	}
}

// bearer is the token that a request has; "" if it has none.
func bearer(q *http.Request) string {
	scheme, token, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// tokenScope is what the token of a request allows.
func (s *Server) tokenScope(q *http.Request) scope {
	return s.scopeOf(bearer(q))
}

// authorise checks token, scope and rate, in this order.
func (s *Server) authorise(q *http.Request, r *route) error {
	sent, has := q.Header.Get("Authorization"), s.tokenScope(q)
	switch {
	case r.scope == scopeNone && sent == "":
		return nil
	case bearer(q) == "":
		return refusal(http.StatusUnauthorized, "no token, want the header Authorization: Bearer TOKEN")
	case has == scopeNone:
		return refusal(http.StatusUnauthorized, "the token is not one of this server's, want that of an address it printed when it started")
	case has < r.scope:
		return refusal(http.StatusForbidden, "%s %s needs the control token, this is the view token", r.method, r.path)
	}
	if b := s.buckets[r.scope]; b != nil && !b.take() {
		return refusal(http.StatusTooManyRequests, "more than %v requests a second", b.each)
	}
	return nil
}

// failure is the body of every answer that is not a success.
type failure struct {
	Error string `json:"error"`
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, err error) {
	s.count(&s.refused)
	status := http.StatusBadRequest
	var known *statusError
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		status = known.status
	case errors.As(err, &long):
		status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("a body of more than %d bytes", long.Limit)
	}
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(failure{err.Error()})
}

// read reads a body that is JSON.
func read(q *http.Request, v any) error {
	kind := q.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
		return refusal(http.StatusUnsupportedMediaType, "Content-Type %q, want application/json", kind)
	}
	body, err := io.ReadAll(q.Body)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refusal(http.StatusRequestTimeout, "the body did not come within %v", bodyPatience)
	}
	if err != nil {
		return err
	}
	return wire.ParseJSON(body, v)
}
