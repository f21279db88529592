package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"burst/internal/eager"

	"github.com/coder/websocket"
)

// socket is a WebSocket as a connection that carries frames. Its deadlines are those of the connection below: contexts that end would
// cost memory in every frame.
type socket struct {
	net.Conn // below
	ws       *websocket.Conn
	message  io.Reader // what is left of it; nil: nothing
}

// Read reads what clients send in binary messages.
func (x *socket) Read(b []byte) (int, error) {
	for {
		if x.message == nil {
			kind, r, err := x.ws.Reader(context.Background())
			if err != nil {
				return 0, err
			}
			if kind != websocket.MessageBinary {
				return 0, fmt.Errorf("a message of text, want binary ones")
			}
			x.message = r
		}
		n, err := x.message.Read(b)
		if err == io.EOF {
			x.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// Write sends a message.
func (x *socket) Write(b []byte) (int, error) {
	if err := x.ws.Write(context.Background(), websocket.MessageBinary, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close ends it without waiting for the other side, also in the midst of the WebSocket's own Close, which would wait for 10 s.
func (x *socket) Close() error { return errors.Join(x.Conn.Close(), x.ws.CloseNow()) }

// hijacked keeps the connection that a WebSocket takes over.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack is for websocket.Accept.
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err == nil {
		conn = eager.Conn(conn)
	}
	h.conn = conn
	return conn, buffers, err
}

// upgrade makes a WebSocket of a request and serves it.
func upgrade(s *Server, w http.ResponseWriter, q *http.Request) (any, error) {
	c := new(client)
	h := &hijacked{ResponseWriter: w}
	ws, err := websocket.Accept(h, q, &websocket.AcceptOptions{OnPingReceived: func(context.Context, []byte) bool {
		c.slow()
		return true
	}})
	if err != nil {
		return nil, nil // Accept has answered
	}
	ws.SetReadLimit(-1) // wire.Reader has one
	c.conn, c.ws = &socket{Conn: h.conn, ws: ws}, ws
	s.served.Go(func() { s.serve(c) })
	return nil, nil
}
