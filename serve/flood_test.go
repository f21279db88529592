package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"burst/internal/slow"
	"burst/live"
	"burst/live/wire"
	"burst/run"
	"burst/serve"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// TestR26Floods: connections that say nothing, long headers and bodies, and many requests leave the server as it was for others.
func TestR26Floods(t *testing.T) {
	s := start(t, serve.Options{Options: live.Options{Options: run.Options{Rate: "1kHz"}}})
	base, view, control := s.tokens()
	address := strings.TrimPrefix(base, "http://")
	var slow []net.Conn
	for i := range 3 * serve.MostFresh {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "GET /v1/info HTTP/1.1\r\nHost: 127.0.0.1\r\nX-%d: ", i)
		slow = append(slow, conn)
		if i%16 == 0 {
			code, _ := s.call("GET", "/v1/info", view, "")
			require.Equal(t, 200, code)
		}
	}
	require.NoError(t, slow[0].SetReadDeadline(time.Now().Add(patience)))
	_, err := slow[0].Read(make([]byte, 1))
	require.Error(t, err, "the one that has waited longest is sent away")
	require.NotErrorIs(t, err, context.DeadlineExceeded)

	code, _ := s.call("POST", "/v1/control", control, `{"do":"`+strings.Repeat("x", 5000)+`"}`)
	require.Equal(t, 413, code)
	code, _ = s.call("POST", "/v1/control", control, `{"do":"pause"}`, func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") })
	require.Equal(t, 415, code)
	code, _ = s.call("POST", "/v1/control", control, `{"do":"pause"}`, func(q *http.Request) {
		q.Header.Set("Content-Type", "application/json; charset=utf-8") // as many libraries write it
		q.Header.Set("Authorization", "bearer "+control)
	})
	require.Equal(t, 200, code)
	code, text := s.call("GET", "/v1/info", "", "", func(q *http.Request) { q.SetBasicAuth("x", control) })
	require.Equal(t, 401, code)
	require.Contains(t, text, "no token")
	code, _ = s.call("GET", "/v1/info", view, "", func(q *http.Request) { q.Header.Set("X", strings.Repeat("x", 1<<20)) })
	require.Equal(t, 431, code)
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/inputs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", control, 1<<30)
	go io.CopyN(conn, zeros{}, 1<<30)
	a, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	a.Body.Close()
	require.Equal(t, 413, a.StatusCode)
	conn.Close()

	answers := make(chan int)
	codes, asked := map[int]int{}, 0
	for round := 0; codes[429] == 0; round++ { // where others keep the machine busy, they may be slow enough at first
		require.Less(t, round, 50)
		for range 3 * serve.Controls { // at once, for the same reason
			go func() {
				code := 0
				defer func() { answers <- code }()
				code, _ = s.call("POST", "/v1/control", control, `{"do":"resume"}`)
			}()
		}
		for range 3 * serve.Controls {
			codes[<-answers]++
			asked++
		}
	}
	require.Equal(t, asked, codes[200]+codes[429])
	require.GreaterOrEqual(t, codes[200], serve.Controls-5)
	x, err := s.Status()
	require.NoError(t, err)
	require.Equal(t, "real-time", x.Mode)
	t.Logf("R26: %d slow connections, too long headers and bodies, %d of %d requests too fast; status and mode as before", len(slow), codes[429], asked)
}

// TestR26Held: connections that are used once and then kept, and answers that nobody takes, hold nothing of the server for long.
func TestR26Held(t *testing.T) {
	s := start(t, serve.Options{Paused: true})
	base, view, _ := s.tokens()
	address := strings.TrimPrefix(base, "http://")
	ask := func(conn net.Conn, line, host string) *http.Response {
		_, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\n\r\n", line, host)
		require.NoError(t, err)
		a, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.NoError(t, a.Body.Close())
		return a
	}
	var kept []net.Conn
	for i := range serve.MostFresh + 1 {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		kept = append(kept, conn)
		require.Equal(t, "same-origin", ask(conn, "GET /healthz", "127.0.0.1").Header.Get("Cross-Origin-Resource-Policy"))
		until(t, "it is kept before the next one comes", func() bool { return s.Fresh() == min(i+1, serve.MostFresh) })
	}
	require.NoError(t, kept[0].SetReadDeadline(time.Now().Add(patience)))
	_, err := kept[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the one that was kept longest is sent away")

	s.SetPatience(100 * time.Millisecond)
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(patience)))
	for err == nil { // nothing is read: the server's answers fill its socket, and then the questions this one
		_, err = io.WriteString(conn, strings.Repeat("GET /page/scene.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 100))
	}
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "want the server to end the connection")

	code, _ := s.call("GET", "/v1/info", view, "")
	require.Equal(t, 200, code)
	require.Equal(t, 403, ask(kept[len(kept)-1], "OPTIONS *", "evil.example").StatusCode, "also where net/http would answer by itself")
}

// askAndLeave sends a request, and gives its error when it ends, and what makes the client leave.
func askAndLeave(t *testing.T, address, token string) (left chan error, leave context.CancelFunc) {
	ctx, leave := context.WithCancel(context.Background())
	q, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	require.NoError(t, err)
	q.Header.Set("Authorization", "Bearer "+token)
	left = make(chan error, 1)
	go func() {
		_, err := http.DefaultTransport.RoundTrip(q)
		left <- err
	}()
	return left, leave
}

// TestR26Turns: of the requests that take long one at a time is answered; those who go while they wait are forgotten.
func TestR26Turns(t *testing.T) {
	s := start(t, serve.Options{Paused: true})
	base, view, _ := s.tokens()
	end := s.TakeTurn()
	left, leave := askAndLeave(t, base+"/v1/neurons/30/inputs", view)
	answered := make(chan int, 1)
	go func() {
		code, _ := s.call("GET", "/v1/neurons/30/synapses", view, "")
		answered <- code
	}()
	code, _ := s.call("GET", "/v1/status", view, "")
	require.Equal(t, 200, code, "what does not take long waits for nobody")
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	select {
	case code := <-answered:
		require.Fail(t, "answered beside another one", code)
	default:
	}
	end()
	require.Equal(t, 200, <-answered)
}

// TestR26SlowReaders: clients that take long answers slowly hold up nobody, until there are too many of them, and get all of it.
func TestR26SlowReaders(t *testing.T) {
	const neurons = 2_000_000 // 24 MB, more than the two sockets hold
	g := network(t, fmt.Sprintf("burst: v1\nname: wide\nareas: [{name: a, neurons: %d, threshold: 1}]\n", neurons))
	s := startGenome(t, g, serve.Options{Paused: true})
	s.SetPatience(time.Hour)
	base, view, control := s.tokens()
	var slow []*http.Response
	for i := range serve.MostLong {
		q, err := http.NewRequest("GET", base+"/v1/layout?area=a", nil)
		require.NoError(t, err)
		q.Header.Set("Authorization", "Bearer "+[]string{view, control}[i%2])
		x, err := (&http.Transport{ReadBufferSize: 1}).RoundTrip(q)
		require.NoError(t, err)
		defer x.Body.Close()
		if slow = append(slow, x); len(slow) < serve.MostLong {
			code, _ := s.call("GET", "/v1/neurons/30/synapses", []string{view, control}[i%2], "")
			require.Equal(t, 200, code)
		}
	}
	left, leave := askAndLeave(t, base+"/v1/neurons/30/inputs", control)
	select {
	case err := <-left:
		require.Fail(t, "answered beside too many", err)
	case <-time.After(50 * time.Millisecond):
	}
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	slow[0].Body.Close() // it leaves, and makes room
	code, _ := s.call("GET", "/v1/neurons/30/synapses", view, "")
	require.Equal(t, 200, code)
	n, err := io.Copy(io.Discard, slow[1].Body)
	require.NoError(t, err)
	require.EqualValues(t, 12*neurons, n)
}

// TestR26Share: who has the view token takes a share of a processor with requests that are long, and waits when it is used up. Others
// do not wait.
func TestR26Share(t *testing.T) {
	s := start(t, serve.Options{Paused: true})
	base, view, control := s.tokens()
	before := s.TakeTime(0)
	code, _ := s.call("GET", "/v1/neurons/30/inputs", view, "")
	require.Equal(t, 200, code)
	require.Greater(t, s.TakeTime(0), before, "a request's time counts, and none comes back while there is all of it")

	require.Greater(t, s.TakeTime(time.Hour), 3*time.Hour)
	left, leave := askAndLeave(t, base+"/v1/neurons/30/inputs", view)
	for range 20 { // at once, and so that the one above may come first or last
		code, _ = s.call("GET", "/v1/neurons/30/inputs", control, "")
		require.Equal(t, 200, code)
		code, _ = s.call("GET", "/v1/status", view, "")
		require.Equal(t, 200, code)
	}
	select {
	case err := <-left:
		require.Fail(t, "answered without time", err)
	default:
	}
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	s.TakeTime(-time.Hour) // which comes only when the one that has left holds it no longer
	code, _ = s.call("GET", "/v1/neurons/30/inputs", view, "")
	require.Equal(t, 200, code)
}

// TestLastPatience: a client of frames that takes nothing, takes all and never answers a good-bye, or has not even said hello, is gone a
// moment after it is sent away or sends what cannot be read. Time is that of testing/synctest, so the moment is measured exactly.
func TestLastPatience(t *testing.T) {
	for name, x := range map[string]struct{ hello, takes, sentAway bool }{
		"takes nothing, bad frame":     {hello: true},
		"takes nothing, sent away":     {hello: true, sentAway: true},
		"answers no good-bye, bad":     {hello: true, takes: true},
		"answers no good-bye, sent":    {hello: true, takes: true, sentAway: true},
		"has said no hello, sent away": {takes: true, sentAway: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipes()
				s := startOn(t, l, serve.Options{Paused: true})
				base, _, control := s.tokens()
				ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(base, "http")+"/live", l.client())
				require.NoError(t, err)
				defer func() { _ = ws.CloseNow() }()
				send := func(b []byte, err error) {
					require.NoError(t, err)
					require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, b))
				}
				if x.hello {
					send(wire.AppendJSON(nil, wire.TypeHello, 0, wire.Hello{Role: wire.RoleFeed, Token: control}))
					_, _, err = ws.Read(t.Context()) // the welcome
					require.NoError(t, err)
				}
				if x.takes {
					go func() { _, _ = io.Copy(io.Discard, l.last) }()
				}
				if x.hello {
					for range 2 { // the notice about one is being written, that about the other waits
						send(wire.AppendJSON(nil, wire.TypeControl, 0, wire.Control{Do: "x"}))
					}
				}
				synctest.Wait()
				began := time.Now()
				if x.sentAway {
					require.NoError(t, s.stop())
				} else {
					bad := wire.AppendSeen(nil, 0)
					bad[4] = 99
					send(bad, nil)
					for s.feeders() > 0 {
						time.Sleep(time.Millisecond)
					}
				}
				require.LessOrEqual(t, time.Since(began), 2*serve.LastPatience+time.Millisecond, "the WebSocket's own Close would wait for 5 s")
			})
		})
	}
}

// feeders is how many there are.
func (x *served) feeders() int {
	s, err := x.Status()
	require.NoError(x.t, err)
	return s.Feeders
}

// zeros are bytes without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestAttacks: what clients of frames can do wrong ends their connection, or is refused, and nobody else's.
func TestAttacks(t *testing.T) {
	t.Parallel() // it mostly waits
	path := socketIn(t)
	s := start(t, serve.Options{Socket: path, Options: live.Options{Options: run.Options{Rate: "1kHz"}}})
	good := dial(t, path, wire.Hello{Role: wire.RoleView})
	hello, err := wire.AppendJSON(nil, wire.TypeHello, 0, wire.Hello{Role: wire.RoleFeed})
	require.NoError(t, err)
	huge := wire.AppendSeen(nil, 0)
	huge[3] = 0xff
	long := wire.AppendSeen(nil, 0)
	long[1] = 0x20 // 8 KiB
	type attack struct {
		bytes []byte
		ends  bool
	}
	attacks := map[string]attack{
		"http": {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), true}, "no hello": {wire.AppendSeen(nil, 0), true}, "long hello": {long, true},
		"huge frame": {append(bytes.Clone(hello), huge...), true}, "second hello": {append(bytes.Clone(hello), hello...), true},
		"step of a feeder": {append(bytes.Clone(hello), wire.AppendStep(nil, 0, &wire.Step{Bursts: 1})...), false},
		"bad inputs":       {append(bytes.Clone(hello), 4, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0), false},
		"half a frame":     {append(bytes.Clone(hello), wire.AppendFeed(nil, 0, []wire.Amounts{{Amounts: make([]float32, 99)}})[:30]...), false},
	}
	conns := map[string]net.Conn{} // all at once: the server grants a second to each that it sends away
	for name, x := range attacks {
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		_, err = conn.Write(x.bytes)
		require.NoError(t, err)
		conns[name] = conn
	}
	for name, conn := range conns {
		if attacks[name].ends {
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
			_, err = io.Copy(io.Discard, conn)
			if ne, ok := err.(net.Error); ok {
				require.False(t, ne.Timeout(), name)
			}
		}
		conn.Close() // also within a frame
		var v wire.View
		require.NoError(t, good.See(&v), name)
	}
	until(t, "all feeders have gone", func() bool {
		x, err := s.Status()
		require.NoError(t, err)
		return x.Feeders == 0 && x.Viewers == 1
	})
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write(append([]byte{1, 0, 0, 0, byte(wire.TypeHello), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, '['))
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	_, body, err := (&wire.Reader{From: conn}).Next()
	require.NoError(t, err)
	require.Contains(t, string(body), "it ends within a value", "a hello whose JSON is cut off is not a connection that is")
	var idle []net.Conn
	for range serve.MostWaiting + 1 {
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		defer conn.Close()
		idle = append(idle, conn)
		until(t, "the server has it", func() bool { return s.Waiting() == min(len(idle), serve.MostWaiting) })
	}
	require.NoError(t, idle[0].SetReadDeadline(time.Now().Add(patience)))
	_, err = idle[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the one that has waited longest")
	for range serve.MostFeeders {
		feeder := dial(t, path, wire.Hello{Role: wire.RoleFeed})
		_, err = feeder.Bind(wire.Bind{Inputs: []wire.Input{{Name: strings.Repeat("x", 5000), Place: wire.Place{Area: "eye"}, Largest: 1}}})
		require.EqualError(t, err, `the name "`+strings.Repeat("x", 100)+`", want at most 100 bytes that can be printed`)
	}
	_, err = wire.Dial(path, wire.Hello{Role: wire.RoleFeed})
	require.ErrorContains(t, err, "there are 8 clients to feed already")
	_, err = wire.Dial(path, wire.Hello{Role: wire.RoleView, Name: "\x1b[2Jme"})
	require.ErrorContains(t, err, `the name "\x1b[2Jme", want at most 100 bytes that can be printed`)
}

// TestViewerFlood: what a client with the view token sends is read no faster than its limit, and pings are answered no faster.
func TestViewerFlood(t *testing.T) {
	slow.Short(t)
	t.Parallel() // it mostly waits
	s := start(t, serve.Options{Paused: true})
	_, view, _ := s.tokens()
	c, err := s.web(wire.Hello{Role: wire.RoleView, Token: view})
	require.NoError(t, err)
	began := time.Now()
	for range 2 * serve.Requests {
		_, err := c.Bind(wire.Bind{Raster: []wire.Place{{Area: "crowd"}}})
		require.NoError(t, err)
	}
	require.Greater(t, time.Since(began), 900*time.Millisecond, "%d at once, and as many in a second", serve.Requests)
	base, _, control := s.tokens()
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(base, "http")+"/live", nil)
	require.NoError(t, err)
	defer ws.CloseNow()
	d, err := wire.NewClient(websocket.NetConn(t.Context(), ws, websocket.MessageBinary), wire.Hello{Role: wire.RoleFeed, Token: control})
	require.NoError(t, err)
	go func() { _ = d.See(new(wire.View)) }() // reads, or no pong comes
	began = time.Now()
	for range 2 * serve.Requests {
		require.NoError(t, ws.Ping(t.Context()))
	}
	require.Greater(t, time.Since(began), 900*time.Millisecond)
}

// TestFeedFlood: messages beyond the limit are left out and counted, and the run goes on.
func TestFeedFlood(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{Socket: path, Options: live.Options{Options: run.Options{Rate: "1kHz"}}})
	c := dial(t, path, wire.Hello{Role: wire.RoleFeed})
	_, err := c.Bind(wire.Bind{Inputs: eyeAndLeg.Inputs})
	require.NoError(t, err)
	var dropped bool
	c.Notice = func(n wire.Notice) { dropped = dropped || n.Code == wire.Dropped }
	until(t, "some were left out", func() bool {
		for range 10_000 {
			require.NoError(t, c.Feed(wire.Amounts{Amounts: amounts(1)}))
		}
		x, err := s.Status()
		require.NoError(t, err)
		return x.Dropped > 0
	})
	_, err = c.Step(1)
	require.Error(t, err)
	require.True(t, dropped)
}
