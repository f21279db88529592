package serve

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"burst/live/wire"
	"burst/run"

	"github.com/coder/websocket"
)

// client is a connection that speaks frames.
type client struct {
	s       *Server
	conn    net.Conn
	ws      *websocket.Conn // nil: conn is a socket
	trusted bool            // it needs no token
	parent  bool            // it is the process that has started this one
	name    string
	role    string
	scope   scope
	in      wire.Reader
	bound   bindings
	feeds   *bucket
	frames  *bucket        // of one with the view token, and pings of all
	fed     []wire.Amounts // memory of feed

	writing sync.Mutex // of frames to conn

	mu      sync.Mutex
	until   time.Time // the deadline of writes
	hasty   bool      // it is the last one
	notices [][]byte
	leaving bool
	status  websocket.StatusCode // with which it leaves
	wake    chan struct{}        // something is to be written, or the client leaves
	gone    chan struct{}        // closed when its reader has ended
	viewer
}

// most is how many notices wait for a client that does not read; older ones are left out.
const mostNotices = 16

// serve talks to a client until it leaves.
func (s *Server) serve(c *client) {
	c.s, c.wake, c.gone = s, make(chan struct{}, 1), make(chan struct{})
	c.in = wire.Reader{From: c.conn, Most: mostHello}
	c.feeds, c.frames = newBucket(feedsEach), newBucket(requestsEach)
	defer c.conn.Close()
	if !s.enter(c) {
		return
	}
	hello, err := c.hello()
	if err == nil {
		err = s.accept(c, hello)
	}
	s.unwait(c)
	if err != nil {
		s.count(&s.refused)
		c.refuse(err)
		return
	}
	var writer sync.WaitGroup
	writer.Go(c.write)
	err = c.read()
	c.hasten()
	close(c.gone)
	writer.Wait()
	c.end(err)
	s.leave(c)
}

// enter makes a client one that has not yet said hello. The one that has waited longest makes room.
func (s *Server) enter(c *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.waiting = append(s.waiting, c)
	if len(s.waiting) > mostWaiting {
		s.waiting[0].conn.Close()
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
	return true
}

// unwait ends that.
func (s *Server) unwait(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(x *client) bool { return x == c })
}

// hello reads and checks what a client says first.
func (c *client) hello() (h wire.Hello, err error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(helloPatience)); err != nil {
		return h, err
	}
	head, body, err := c.in.Next()
	if err != nil {
		return h, err
	}
	if head.Type != wire.TypeHello {
		return h, fmt.Errorf("a frame of type %d came first, want hello, of type %d", head.Type, wire.TypeHello)
	}
	if err := wire.ParseJSON(body, &h); err != nil {
		return h, err
	}
	switch c.scope = c.s.scopeOf(h.Token); {
	case c.trusted:
		c.scope = scopeControl
	case c.scope == scopeNone:
		return h, errors.New("the token is not one of this server's, want that of an address it printed when it started")
	}
	need, known := roles[h.Role]
	switch {
	case !known:
		return h, fmt.Errorf("role %q, want %s, %s or %s", h.Role, wire.RoleView, wire.RoleFeed, wire.RoleDrive)
	case need > c.scope:
		return h, fmt.Errorf("the role %s needs the control token, this is the view token", h.Role)
	case h.Role != wire.RoleView && c.s.session == nil:
		return h, errShown
	case h.Role == wire.RoleDrive && !c.s.o.LockStep:
		return h, errors.New("the run goes on by itself, so nobody can drive it; start the server with --lock-step, or feed it")
	case h.Role == wire.RoleView && len(c.s.tap.areas) > mostAreas:
		return h, fmt.Errorf("the network has %d areas, and pictures have at most %d", len(c.s.tap.areas), mostAreas)
	case !(h.Pictures >= 0 && h.Pictures <= picturesEach):
		return h, fmt.Errorf("%v pictures a second, want at most %d", h.Pictures, picturesEach)
	}
	return h, c.conn.SetReadDeadline(time.Time{})
}

// roles are those of clients, with the scope that each needs.
var roles = map[string]scope{wire.RoleView: scopeView, wire.RoleFeed: scopeControl, wire.RoleDrive: scopeControl}

// most is how many clients of a role there can be.
func most(role string) int {
	switch role {
	case wire.RoleView:
		return mostViewers
	case wire.RoleFeed:
		return mostFeeders
	}
	return 1
}

// printable refuses names that messages cannot have.
func printable(name string) error {
	if len(name) > mostOfName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("the name %.*q, want at most %d bytes that can be printed", mostOfName, name, mostOfName)
	}
	return nil
}

// accept makes a client one of the server's, and welcomes it.
func (s *Server) accept(c *client, h wire.Hello) error {
	c.role, c.name = h.Role, cmp.Or(h.Name, "a client")
	if err := printable(c.name); err != nil {
		return err
	}
	c.in.Most = wire.MostBytes
	if c.scope < scopeControl {
		c.in.Most = mostOfViewer
	}
	c.viewer.begin(h.Pictures)
	next := s.nextBurst()
	s.mu.Lock()
	n := 0
	for x := range s.clients {
		if x.role == c.role {
			n++
		}
	}
	full := n >= most(c.role)
	if !full && !s.stopping {
		s.clients[c] = true
		if c.role == wire.RoleView {
			s.tap.watch(1)
		}
	}
	stopping, mode := s.stopping, s.mode
	s.mu.Unlock()
	switch {
	case stopping:
		return errors.New("the server ends")
	case full:
		if n == 1 {
			return fmt.Errorf("there is a client to %s already, and one is the most", c.role)
		}
		return fmt.Errorf("there are %d clients to %s already, which is the most", n, c.role)
	}
	f := s.facts
	b, err := wire.AppendJSON(nil, wire.TypeHello, next, wire.Welcome{
		Program: run.Version, Name: f.Genome.Name, Network: fmt.Sprintf("%016x", f.ID), Mode: mode, Burst: next, Step: f.Genome.Timestep, Areas: s.tap.areas,
	})
	if err == nil {
		err = c.send(b, helloPatience)
	}
	if err != nil {
		s.leave(c)
	} else if c.role == wire.RoleDrive {
		s.driver.timer.Reset(s.o.StepTimeout)
	}
	return err
}

// leave ends what a client has been given.
func (s *Server) leave(c *client) {
	c.bound.close()
	s.driver.left(s, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[c] && c.role == wire.RoleView {
		s.tap.watch(-1)
		s.tap.unraster(c)
	}
	delete(s.clients, c)
}

// handlers are what frames of a client do, by their type.
var handlers = map[wire.Type]struct {
	roles []string // that may send them; nil: whoever has the control token
	do    func(c *client, h wire.Header, body []byte) error
}{
	wire.TypeSeen:    {[]string{wire.RoleView}, (*client).seen},
	wire.TypeBind:    {[]string{wire.RoleView, wire.RoleFeed, wire.RoleDrive}, (*client).bind},
	wire.TypeFeed:    {[]string{wire.RoleFeed}, (*client).feed},
	wire.TypeStep:    {[]string{wire.RoleDrive}, (*client).step},
	wire.TypeControl: {nil, (*client).control},
}

// read reads frames until the client leaves or must.
func (c *client) read() error {
	for {
		h, body, err := c.in.Next()
		if err != nil {
			return err
		}
		if c.scope < scopeControl {
			c.slow()
		}
		handler, known := handlers[h.Type]
		switch {
		case !known:
			return fmt.Errorf("a frame of type %d is the server's to send", h.Type)
		case handler.roles == nil && c.scope < scopeControl:
			err = errors.New("to control needs the control token, this is the view token")
		case handler.roles != nil && !slices.Contains(handler.roles, c.role):
			err = fmt.Errorf("a frame of type %d is not for a client to %s", h.Type, c.role)
		default:
			err = handler.do(c, h, body)
		}
		if err == nil {
			continue
		}
		if broken := (*brokenError)(nil); errors.As(err, &broken) {
			return broken.error
		}
		if c.s.ctx.Err() == nil { // else all clients are told that the run ends
			c.tell(noticeOf(err))
		}
	}
}

// slow waits until the client may send one more: what it sends meanwhile waits in its socket.
func (c *client) slow() {
	for !c.frames.take() {
		time.Sleep(time.Second / requestsEach)
	}
}

// brokenError is the error of a client that cannot go on.
type brokenError struct{ error }

// noticeOf says that something was refused.
func noticeOf(err error) wire.Notice {
	n := new(wire.Notice)
	if errors.As(err, &n) {
		return *n
	}
	return wire.Notice{Code: wire.Refused, Text: err.Error()}
}

// tell has a notice written to the client.
func (c *client) tell(n wire.Notice) {
	b, err := wire.AppendJSON(nil, wire.TypeNotice, c.s.nextBurst(), n)
	if err != nil {
		panic("BUG: a notice: " + err.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.notices) == mostNotices {
		c.notices = slices.Delete(c.notices, 0, 1)
	}
	c.notices = append(c.notices, b)
	c.rouse()
}

// rouse wakes the client's writer.
func (c *client) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// leave tells the client why it must go, and ends its connection.
func (c *client) leave(code, why string) {
	c.tell(wire.Notice{Code: code, Text: why})
	c.mu.Lock()
	c.leaving, c.status = true, websocket.StatusPolicyViolation
	if code == wire.Closing {
		c.status = websocket.StatusGoingAway
	}
	c.mu.Unlock()
	c.rouse()
	c.hasten()
	time.AfterFunc(lastPatience, func() { c.conn.Close() }) // one that sends nothing holds nobody up either
}

// hasten gives a client that is to go lastPatience to take what is still written to it, also what is being written already.
func (c *client) hasten() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasty {
		c.hasty = true
		_ = c.conn.SetWriteDeadline(time.Now().Add(lastPatience)) // of one that has gone
	}
}

// write writes what waits for the client, until it leaves.
func (c *client) write() {
	for {
		select {
		case <-c.wake:
		case <-c.gone:
			c.flush()
			return
		}
		if !c.flush() {
			c.drop()
			return
		}
	}
}

// flush writes notices and pictures, and reports whether the client may stay.
func (c *client) flush() bool {
	c.mu.Lock()
	list, leaving := c.notices, c.leaving
	c.notices = nil
	list = append(list, c.pictures...)
	c.pictures = nil
	c.mu.Unlock()
	for _, b := range list {
		if c.send(b, viewerPatience) != nil {
			return false
		}
	}
	return !leaving
}

// drop ends the connection, so that the reader ends.
func (c *client) drop() {
	if c.ws != nil {
		c.mu.Lock()
		status := c.status
		c.mu.Unlock()
		c.closeWS(max(status, websocket.StatusNormalClosure), "")
	}
	c.conn.Close()
}

// closeWS says good-bye, to one who may not listen.
func (c *client) closeWS(code websocket.StatusCode, why string) {
	defer time.AfterFunc(lastPatience, func() { c.conn.Close() }).Stop()
	_ = c.ws.Close(code, why[:min(len(why), 100)])
}

// send writes a frame to a client that may take it for so long, or up to twice as long: so not each frame has a deadline of its own.
func (c *client) send(b []byte, patience time.Duration) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.allow(patience); err != nil {
		return err
	}
	_, err := c.conn.Write(b)
	return err
}

// allow sets the deadline of the next write, unless the client is to go.
func (c *client) allow(patience time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := time.Until(c.until); c.hasty || left >= patience && left <= 2*patience {
		return nil
	}
	c.until = time.Now().Add(2 * patience)
	return c.conn.SetWriteDeadline(c.until)
}

// refuse tells a client why it is not accepted.
func (c *client) refuse(why error) {
	if c.ended(why) {
		return
	}
	if b, err := wire.AppendJSON(nil, wire.TypeNotice, 0, wire.Notice{Code: wire.Refused, Text: why.Error()}); err == nil {
		_ = c.send(b, helloPatience)
	}
	if c.ws != nil {
		c.closeWS(websocket.StatusPolicyViolation, why.Error())
	}
}

// end closes the connection of a client whose frames cannot be read, and says why.
func (c *client) end(err error) {
	if c.ended(err) {
		return
	}
	c.s.o.Tell(fmt.Sprintf("%s: %v", c.name, err))
	if b, failed := wire.AppendJSON(nil, wire.TypeNotice, 0, wire.Notice{Code: wire.Refused, Text: err.Error()}); failed == nil {
		_ = c.send(b, lastPatience)
	}
	if c.ws != nil {
		c.closeWS(websocket.StatusUnsupportedData, err.Error())
	}
}

// ended says whether an error is only that the client has gone, or was sent away.
func (c *client) ended(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var network net.Error
	return c.leaving || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &network) || websocket.CloseStatus(err) >= 0
}

// scopeOf is what a token allows.
func (s *Server) scopeOf(token string) (found scope) {
	for x, t := range s.tokens {
		if subtle.ConstantTimeCompare([]byte(t), []byte(token)) == 1 {
			found = x
		}
	}
	return found
}

// count counts one.
func (s *Server) count(n *uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}
