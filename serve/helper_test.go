package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"burst/genome"
	"burst/live/wire"
	"burst/serve"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		if err := answerSteps(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come: so long that no machine is too slow.
const patience = 2 * time.Minute

// loop is a network with a sensor, a motor, noise and a stimulus.
const loop = `burst: v1
name: loop
seed: 31
areas:
  - {name: eye, size: [4, 3, 1], neurons_per_voxel: 2, threshold: 0.9}
  - {name: crowd, neurons: 200, threshold: 1.5, refractory: 1, leak: 0.13, drive: {poisson: {rate: 300 Hz, weight: 0.9}}}
  - {name: leg, neurons: 5, threshold: 2}
projections:
  - {from: eye, to: crowd, rule: fixed_outdegree, outdegree: 13, weight: 0.5, delay: "uniform(1, 9)"}
  - {from: crowd, to: leg, rule: fixed_indegree, indegree: 20, weight: 0.4, delay: 2, plasticity: {rule: stdp, w_max: 1}}
stimuli:
  - {area: crowd, every: 7, neurons: [0, 1, 2], amount: 2}
`

func network(t testing.TB, text string) *genome.Genome {
	t.Helper()
	g, err := genome.Parse("net.yaml", []byte(text), nil)
	require.NoError(t, err)
	return g
}

// served is a server at work.
type served struct {
	*serve.Server
	t    testing.TB
	end  context.CancelFunc
	done chan error
}

// start serves loop until the test ends.
func start(t testing.TB, o serve.Options) *served {
	t.Helper()
	return startGenome(t, network(t, loop), o)
}

func startGenome(t testing.TB, g *genome.Genome, o serve.Options) *served {
	t.Helper()
	if o.Backend == "" {
		o.Backend, o.Threads = "cpu", 1
	}
	s, err := serve.New(context.Background(), g, o)
	require.NoError(t, err)
	return begin(t, s)
}

// startOn serves loop on a listener instead of an address.
func startOn(t testing.TB, l net.Listener, o serve.Options) *served {
	t.Helper()
	o.Backend, o.Threads = "cpu", 1
	s, err := serve.New(context.Background(), network(t, loop), o)
	require.NoError(t, err)
	require.NoError(t, s.Accept(l))
	return begin(t, s)
}

// begin has a server serve until the test ends.
func begin(t testing.TB, s *serve.Server) *served {
	ctx, end := context.WithCancel(context.Background())
	x := &served{Server: s, t: t, end: end, done: make(chan error, 1)}
	go func() { x.done <- s.Serve(ctx) }()
	t.Cleanup(func() { x.stop() })
	return x
}

// stop ends the server as a signal does, and gives its error.
func (x *served) stop() error {
	x.end()
	err, open := <-x.done
	if open {
		close(x.done)
	}
	return err
}

// tokens are those of the printed addresses; base is what stands before them.
func (x *served) tokens() (base, view, control string) {
	v, c := x.Addresses()
	base, view, _ = strings.Cut(v, "/#token=")
	_, control, _ = strings.Cut(c, "/#token=")
	return base, view, control
}

// call makes a request.
func (x *served) call(method, path, token, body string, change ...func(*http.Request)) (int, string) {
	x.t.Helper()
	base, _, _ := x.tokens()
	q, err := http.NewRequest(method, base+path, strings.NewReader(body))
	require.NoError(x.t, err)
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(q)
	}
	q.Close = true
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	a, err := client.Do(q)
	require.NoError(x.t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	require.NoError(x.t, err)
	return a.StatusCode, string(text)
}

// get reads a JSON answer.
func (x *served) get(path string, v any) {
	x.t.Helper()
	_, view, _ := x.tokens()
	code, text := x.call("GET", path, view, "")
	require.Equal(x.t, 200, code, text)
	require.NoError(x.t, json.Unmarshal([]byte(text), v))
}

// pipes are a listener without the system, for testing/synctest: whoever dials sends it the other end of a pipe.
type pipes struct {
	conns  chan net.Conn
	closed context.Context
	close  context.CancelFunc
	last   net.Conn // that was dialled
}

func newPipes() *pipes {
	closed, end := context.WithCancel(context.Background())
	return &pipes{conns: make(chan net.Conn), closed: closed, close: end}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// client dials.
func (p *pipes) client() *websocket.DialOptions {
	dial := func(context.Context, string, string) (net.Conn, error) {
		there, here := net.Pipe()
		p.conns <- there
		p.last = here
		return here, nil
	}
	return &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// until waits for something that another goroutine does.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	require.Eventually(t, f, patience, 5*time.Millisecond, what)
}

// socketIn is a path for a Unix socket; those of tests can be too long for the system.
func socketIn(t testing.TB) string { return filepath.Join(t.TempDir(), "s", "b") }

// dial connects over the Unix socket.
func dial(t testing.TB, path string, h wire.Hello) *wire.Client {
	t.Helper()
	c, err := wire.Dial(path, h)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// web connects over the WebSocket.
func (x *served) web(h wire.Hello) (*wire.Client, error) {
	base, _, _ := x.tokens()
	c, err := wire.Dial(base+"/", h)
	if err == nil {
		x.t.Cleanup(func() { c.Close() })
	}
	return c, err
}
