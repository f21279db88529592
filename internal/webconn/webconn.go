// Package webconn makes connections of WebSockets: a Write is a binary message, and a Read takes what messages hold. Server and client
// both use it.
package webconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"burst/internal/eager"

	"github.com/coder/websocket"
)

// Conn is a WebSocket as a connection. Its deadlines are those of the connection below: contexts that end would cost memory in every
// message.
type Conn struct {
	net.Conn // below
	ws       *websocket.Conn
	message  io.Reader // what is left of it; nil: nothing
}

// New makes a connection of a WebSocket and the connection below it. Messages may be of any length.
func New(below net.Conn, ws *websocket.Conn) *Conn {
	ws.SetReadLimit(-1)
	return &Conn{Conn: below, ws: ws}
}

// Dial opens a WebSocket at a URL, ws://HOST/PATH.
func Dial(url string) (*Conn, error) {
	var below net.Conn
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		below = eager.Conn(conn)
		return below, nil
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	ws, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		return nil, err
	}
	return New(below, ws), nil
}

// Read is for one goroutine at a time.
func (x *Conn) Read(b []byte) (int, error) {
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
func (x *Conn) Write(b []byte) (int, error) {
	if err := x.ws.Write(context.Background(), websocket.MessageBinary, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close ends it without waiting for the other side, also in the midst of the WebSocket's own Close, which would wait for 10 s.
func (x *Conn) Close() error { return errors.Join(x.Conn.Close(), x.ws.CloseNow()) }
