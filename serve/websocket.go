package serve

import (
	"bufio"
	"context"
	"net"
	"net/http"

	"burst/internal/eager"
	"burst/internal/webconn"

	"github.com/coder/websocket"
)

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
	c.conn, c.ws = webconn.New(h.conn, ws), ws // wire.Reader limits messages
	s.served.Go(func() { s.serve(c) })
	return nil, nil
}
