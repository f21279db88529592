package eager

import (
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"time"
)

// A Read that finds nothing looks again for so long before it sleeps: a client in Python that steps as fast as it can needs about 20 µs
// between two steps. After a look in vain the next Reads sleep at once: one at first, then about twice as many each time, and at most
// mostAsleep.
const (
	looking    = 50 * time.Microsecond
	mostAsleep = 1023
)

// socket is one whose Read looks for a moment before it sleeps.
type socket struct {
	net.Conn
	raw    syscall.RawConn
	try    func(fd uintptr) bool // e.read; made in each call it would take memory
	into   []byte
	n      int
	err    error
	look   bool // this Read does
	asleep int  // so many more Reads do not
	last   int  // asleep, as it was set last
}

// Conn is conn with an eager Read, for one goroutine at a time. It is conn itself if that is no socket, or if the only processor would
// have to run the other side, too.
func Conn(conn net.Conn) net.Conn {
	s, ok := conn.(syscall.Conn)
	if !ok || runtime.GOMAXPROCS(0) < 2 {
		return conn
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return conn
	}
	e := &socket{Conn: conn, raw: raw}
	e.try = e.read
	return e
}

// Read is for one goroutine at a time.
func (e *socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	e.look = e.asleep == 0
	e.asleep = max(0, e.asleep-1)
	e.into, e.n, e.err = b, 0, nil
	err := e.raw.Read(e.try)
	e.into = nil
	switch {
	case err != nil:
		return 0, err
	case e.err != nil:
		return 0, e.err
	case e.n == 0:
		return 0, io.EOF
	}
	return e.n, nil
}

// read takes what has come. It reports false, after it has looked, if nothing has: then it is called again when there is something.
func (e *socket) read(fd uintptr) bool {
	var until time.Time // the end of the look; zero: it has not begun
	for {
		n, err := syscall.Read(int(fd), e.into)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EAGAIN):
			e.n = n
			if err != nil {
				e.err = &net.OpError{Op: "read", Net: e.LocalAddr().Network(), Addr: e.RemoteAddr(), Err: err}
			}
			if e.look {
				e.last = 0
			}
			return true
		case !e.look:
			return false
		}
		if now := time.Now(); until.IsZero() {
			until = now.Add(looking)
		} else if now.After(until) {
			e.look = false
			e.last = min(2*e.last+1, mostAsleep)
			e.asleep = e.last
			return false
		}
	}
}
