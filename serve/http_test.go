package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"burst/live"
	"burst/live/wire"
	"burst/record/runfolder"
	"burst/run"
	"burst/serve"

	"github.com/coder/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bodies are what each route that takes one is asked with, and queries what it needs in its address.
var (
	bodies = map[string]string{
		"/v1/inputs/bind": `[{"area":"eye","largest":2}]`, "/v1/inputs": `[{"handle":0,"at":[3],"amounts":[1.5]}]`, "/v1/outputs/bind": `[{"area":"leg","kind":"counts"}]`,
		"/v1/unbind": `{}`, "/v1/control": `{"do":"step","bursts":50}`,
	}
	queries = map[string]string{"/v1/layout": "?area=eye", "/v1/spikes": "?from=0", "/v1/potentials": "?area=crowd"}
)

// addressOf is where a route is asked.
func addressOf(r serve.Route) string {
	return strings.NewReplacer("{name}", "manifest.json", "{i}", "1", "{id}", "30").Replace(r.Path) + queries[r.Path]
}

// TestR24EveryRoute: each route of the table answers those, and those alone, whom its scope lets in, in the order Host, Origin, token,
// scope; and its answers are as the OpenAPI document says.
func TestR24EveryRoute(t *testing.T) {
	s := start(t, serve.Options{Paused: true, Options: live.Options{Options: run.Options{Folder: filepath.Join(t.TempDir(), "out")}}})
	base, view, control := s.tokens()
	require.Len(t, view, 22)
	require.NotEqual(t, view, control)
	code, text := s.call("POST", "/v1/control", control, bodies["/v1/control"]) // so that there is a folder
	require.Equal(t, 200, code, text)
	host := strings.TrimPrefix(base, "http://")
	from := func(origin string) func(*http.Request) {
		return func(q *http.Request) { q.Header.Set("Origin", origin) }
	}
	called := func(name string) func(*http.Request) { return func(q *http.Request) { q.Host = name } }
	tokens := map[string]string{"none": "", "wrong": strings.Repeat("A", 22), "view": view, "control": control}
	ranks := map[string]int{"none": 0, "wrong": 0, "view": 1, "control": 2}
	asked := 0
	for _, r := range serve.Routes() {
		if r.Method == "POST" {
			require.Equal(t, "control", r.Scope, r.Path)
		}
		for name, token := range tokens {
			for _, change := range []struct {
				f    func(*http.Request)
				good bool
			}{
				{func(*http.Request) {}, true}, {from(base), true},
				{from("http://evil.example"), false}, {from("null"), false}, {from("http://127.0.0.1:1"), false}, {from("https://" + host), false},
				{called("evil.example"), false}, {called("evil.example" + host[strings.LastIndex(host, ":"):]), false}, {called("127.0.0.1.evil.example"), false}, {called("10.0.0.1"), false},
			} {
				want := 200
				switch {
				case !change.good:
					want = 403
				case name == "wrong", r.Scope != "none" && name == "none":
					want = 401
				case ranks[name] < map[string]int{"none": 0, "view": 1, "control": 2}[r.Scope]:
					want = 403
				case r.Path == "/live":
					want = 426 // it wants to be a WebSocket
				}
				for {
					code, text = s.call(r.Method, addressOf(r), token, bodies[r.Path], change.f)
					if code != 429 {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				asked++
				require.Equal(t, want, code, "%s %s, token %s: %s", r.Method, r.Path, name, text)
				require.NotContains(t, text, view, "no answer holds a token")
				require.NotContains(t, text, control)
			}
		}
	}
	for path, want := range map[string]int{"/": 200, "/page/main.js": 200, "/page/page.go": 404, "/page/": 404, "/index.html": 404, "/v1/files/..%2f..%2fetc%2fpasswd": 404, "/v1/files/.hold": 404, "/v1/files/inputs": 404, "/v1/layout?area=nowhere": 404, "/v1/spikes?from=x": 400} {
		code, text := s.call("GET", path, view, "")
		assert.Equal(t, want, code, "%s: %s", path, text)
	}
	for name, host := range map[string]string{"localhost": "localhost:99", "IPv6": "[::1]:99", "alone": "127.0.0.1"} {
		code, _ := s.call("GET", "/v1/info", view, "", called(host))
		assert.Equal(t, 200, code, name)
	}
	t.Logf("R24: %d requests to %d routes, each let in or refused as its scope says", asked, len(serve.Routes()))
}

// TestOpenAPI: the document names all routes, and what they answer is as it says.
func TestOpenAPI(t *testing.T) {
	s := start(t, serve.Options{Paused: true, Options: live.Options{Options: run.Options{Folder: filepath.Join(t.TempDir(), "out")}}})
	_, _, control := s.tokens()
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Security  []any
			Responses map[string]struct {
				Content map[string]struct{ Schema any }
			}
		}
	}
	s.get("/v1/openapi.json", &document)
	require.Equal(t, "3.1.0", document.OpenAPI)
	require.Len(t, document.Paths, len(serve.Routes()))
	for _, r := range serve.Routes() {
		described, found := document.Paths[r.Path][strings.ToLower(r.Method)]
		require.True(t, found, r.Path)
		require.Equal(t, r.Scope != "none", len(described.Security) == 1)
		if r.Out == nil {
			continue
		}
		code, text := s.call(r.Method, addressOf(r), control, bodies[r.Path])
		require.Equal(t, 200, code, "%s: %s", r.Path, text)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource("answer.json", described.Responses["200"].Content["application/json"].Schema))
		schema, err := compiler.Compile("answer.json")
		require.NoError(t, err)
		answer, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(answer), "%s: %s", r.Path, text)
	}
}

// TestRoutes: what the routes tell is what the run has done.
func TestRoutes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	s := start(t, serve.Options{Paused: true, Options: live.Options{Options: run.Options{Folder: dir}}})
	_, view, control := s.tokens()
	post := func(path, body string, want int) string {
		t.Helper()
		code, text := s.call("POST", path, control, body)
		require.Equal(t, want, code, text)
		return text
	}
	post("/v1/inputs/bind", `[{"area":"eye","largest":2,"name":"lamp"}]`, 200)
	post("/v1/outputs/bind", `[{"area":"eye","kind":"counts"},{"area":"leg","kind":"rate"}]`, 200)
	require.Contains(t, post("/v1/inputs", `[{"handle":0,"at":[3],"amounts":[9]}]`, 400), `lamp`)
	require.Contains(t, post("/v1/inputs", `[{"handle":7,"amounts":[]}]`, 400), "not bound")
	require.Contains(t, post("/v1/inputs", `[{"handel":0}]`, 400), "handel")
	post("/v1/inputs", `[{"handle":0,"at":[3],"amounts":[1.5]}]`, 200)
	post("/v1/control", `{"do":"step","bursts":40}`, 200)
	code, text := s.call("GET", "/v1/outputs", control, "")
	require.Equal(t, 200, code)
	var readings []serve.Reading
	require.NoError(t, json.Unmarshal([]byte(text), &readings))
	require.Len(t, readings, 2)
	for i, n := range readings[0].Counts {
		require.Equal(t, i == 3, n > 0, "neuron %d: %d", i, n)
	}
	var x serve.Rates
	s.get("/v1/rates", &x)
	require.EqualValues(t, 40, x.Bursts)
	require.EqualValues(t, readings[0].Counts[3], x.Areas[0].Spikes)
	require.InDelta(t, float64(x.Areas[2].Spikes)/5/(40*0.001), x.Areas[2].Hz, 1e-9)
	require.InDelta(t, readings[1].Values[0], x.Areas[2].Hz, 1e-3)
	var st serve.Status
	s.get("/v1/status", &st)
	require.EqualValues(t, 40, st.Burst)
	require.Equal(t, "paused", st.Mode)
	require.EqualValues(t, x.Areas[0].Spikes+x.Areas[1].Spikes+x.Areas[2].Spikes, st.Spikes)
	_, text = s.call("GET", "/v1/layout?area=eye", view, "")
	require.Len(t, text, 24*12)
	require.Equal(t, float32(3), math.Float32frombits(uint32(text[23*12])|uint32(text[23*12+1])<<8|uint32(text[23*12+2])<<16|uint32(text[23*12+3])<<24), "x of the last neuron")
	_, text = s.call("GET", "/metrics", view, "")
	require.Contains(t, text, "\nburst_next_burst 40\n")
	for body, want := range map[string]string{`{"do":"jump"}`: "jump", `{"do":"step"}`: "0 bursts", `{"do":"rate","rate":"fast"}`: "fast", `{"do":"stimulus","stimulus":5}`: "stimulus 5", `{"do":"set","settings":["areas.eye.threshold=2"]}`: "areas.eye.threshold"} {
		require.Contains(t, post("/v1/control", body, 409), want)
	}
	for _, body := range []string{`{"do":"stimulus","stimulus":0,"on":false}`, `{"do":"set","settings":["areas.crowd.drive.poisson.rate=200 Hz"]}`, `{"do":"reset"}`, `{"do":"checkpoint"}`, `{"do":"rate","rate":"1kHz"}`, `{"do":"resume"}`} {
		post("/v1/control", body, 200)
	}
	until(t, "it goes on", func() bool { s.get("/v1/status", &st); return st.Burst > 100 && st.Mode == "real-time" })
	post("/v1/control", `{"do":"pause"}`, 200)
	s.get("/v1/status", &st)
	paused := st.Burst
	time.Sleep(20 * time.Millisecond)
	s.get("/v1/status", &st)
	require.Equal(t, paused, st.Burst)
	require.Equal(t, "paused", st.Mode)
	require.NoError(t, s.stop())

	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.Equal(t, st.Digest, f.Manifest.Digest)
	require.NoError(t, f.CheckAll())
	require.Equal(t, st.Digest, replayed(t, dir))
}

// replayed runs what a folder says again, and gives the digest.
func replayed(t testing.TB, dir string) string {
	t.Helper()
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	g, err := f.Genome()
	require.NoError(t, err)
	l := live.NewLog(dir)
	defer l.Close()
	from, n := f.Manifest.First, f.Manifest.Bursts
	options := run.Options{Backend: "reference", Bursts: n}
	options.Sources = append(options.Sources, l)
	r, err := run.New(context.Background(), g, options)
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, l.Advance(context.Background(), r, from+n))
	return fmt.Sprintf("%016x", r.Engine().Digest())
}

// TestR25Upgrade: a WebSocket is refused to other origins and hosts, and without a token in its hello; a viewer controls nothing.
func TestR25Upgrade(t *testing.T) {
	s := start(t, serve.Options{})
	base, view, control := s.tokens()
	at := "ws" + strings.TrimPrefix(base, "http") + "/live"
	for name, o := range map[string]*websocket.DialOptions{
		"origin": {HTTPHeader: http.Header{"Origin": {"http://evil.example"}}}, "null": {HTTPHeader: http.Header{"Origin": {"null"}}},
		"sibling": {HTTPHeader: http.Header{"Origin": {"http://127.0.0.1:1"}}}, "host": {Host: "evil.example"}, "token": {HTTPHeader: http.Header{"Authorization": {"Bearer x"}}},
	} {
		_, _, err := websocket.Dial(context.Background(), at, o)
		require.ErrorContains(t, err, "40", name)
	}
	for _, token := range []string{"", "x", control[1:], strings.ToLower(control)} {
		_, err := s.web(wire.Hello{Role: wire.RoleView, Token: token})
		require.ErrorContains(t, err, "the token is none of this server's")
	}
	for _, role := range []string{wire.RoleFeed, wire.RoleDrive} {
		_, err := s.web(wire.Hello{Role: role, Token: view})
		require.ErrorContains(t, err, "needs the control token")
	}
	_, err := s.web(wire.Hello{Role: "god", Token: control})
	require.ErrorContains(t, err, `role "god", want view, feed or drive`)
	_, err = s.web(wire.Hello{Role: wire.RoleDrive, Token: control})
	require.ErrorContains(t, err, "--lock-step")
	c, err := s.web(wire.Hello{Role: wire.RoleView, Token: view})
	require.NoError(t, err)
	var v wire.View
	require.NoError(t, c.See(&v))
	require.ErrorContains(t, c.Control(wire.Control{Do: "stop"}), "needs the control token")
	_, err = c.Bind(eyeAndLeg)
	require.ErrorContains(t, err, "not for a client to view")
	_, err = c.Step(1)
	require.ErrorContains(t, err, "not for a client to view")
	d, err := s.web(wire.Hello{Role: wire.RoleView, Token: control})
	require.NoError(t, err)
	require.NoError(t, d.Control(wire.Control{Do: "pause"}))
	require.ErrorContains(t, d.Control(wire.Control{Do: "what"}), "want one of")
	t.Log("R25: 5 of 5 upgrades refused for Origin, Host or token, and 6 of 6 for what their hello says")
	require.NoError(t, d.Control(wire.Control{Do: "stop"}))
	require.NoError(t, <-s.done)
	close(s.done)
}

// TestStopIsAnswered: whoever stops the server is told so before the connection ends, over each kind of it.
func TestStopIsAnswered(t *testing.T) {
	for range 5 {
		for name, stop := range map[string]func(s *served, path, control string){
			"http": func(s *served, _, control string) {
				code, text := s.call("POST", "/v1/control", control, `{"do":"stop"}`)
				require.Equal(t, 200, code, text)
			},
			"WebSocket": func(s *served, _, control string) {
				c, err := s.web(wire.Hello{Role: wire.RoleFeed, Token: control})
				require.NoError(t, err)
				require.NoError(t, c.Control(wire.Control{Do: "stop"}))
			},
			"Unix": func(s *served, path, _ string) {
				require.NoError(t, dial(t, path, wire.Hello{Role: wire.RoleFeed}).Control(wire.Control{Do: "stop"}))
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				path := socketIn(t)
				s := start(t, serve.Options{Listen: "127.0.0.1:0", Socket: path})
				_, _, control := s.tokens()
				stop(s, path, control)
				require.NoError(t, <-s.done)
				close(s.done)
			})
		}
	}
}

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

// TestLastPatience: a client of frames that takes nothing, not even a good-bye, is gone a moment after it is sent away or sends what
// cannot be read, however much is still to be written to it.
func TestLastPatience(t *testing.T) {
	t.Parallel() // it mostly waits
	s := start(t, serve.Options{Paused: true})
	base, _, control := s.tokens()
	deaf := func() *websocket.Conn {
		ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(base, "http")+"/live", nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = ws.CloseNow() })
		hello, err := wire.AppendJSON(nil, wire.TypeHello, 0, wire.Hello{Role: wire.RoleFeed, Token: control})
		require.NoError(t, err)
		require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, hello))
		until(t, "the server knows it", func() bool { return s.feeders() > 0 })
		return ws
	}
	ws := deaf()
	refused, err := wire.AppendJSON(nil, wire.TypeControl, 0, wire.Control{Do: strings.Repeat("x", 1<<20)})
	require.NoError(t, err)
	for range 20 { // the notices, which say what was asked for, fill its socket
		require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, refused))
	}
	bad := wire.AppendSeen(nil, 0)
	bad[4] = 99
	require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, bad))
	until(t, "it has gone", func() bool { return s.feeders() == 0 })

	deaf()
	began := time.Now()
	require.NoError(t, s.stop())
	require.Less(t, time.Since(began), 4500*time.Millisecond, "the WebSocket's own Close would wait for 5 s")
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
	for name, x := range map[string]attack{
		"http": {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), true}, "no hello": {wire.AppendSeen(nil, 0), true}, "long hello": {long, true},
		"huge frame": {append(bytes.Clone(hello), huge...), true}, "second hello": {append(bytes.Clone(hello), hello...), true},
		"step of a feeder": {append(bytes.Clone(hello), wire.AppendStep(nil, 0, &wire.Step{Bursts: 1})...), false},
		"bad inputs":       {append(bytes.Clone(hello), 4, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0), false},
		"half a frame":     {append(bytes.Clone(hello), wire.AppendFeed(nil, 0, []wire.Amounts{{Amounts: make([]float32, 99)}})[:30]...), false},
	} {
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		_, err = conn.Write(x.bytes)
		require.NoError(t, err)
		if x.ends {
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
	var idle []net.Conn
	for range serve.MostWaiting + 1 {
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		defer conn.Close()
		idle = append(idle, conn)
	}
	require.NoError(t, idle[0].SetReadDeadline(time.Now().Add(patience)))
	_, err = idle[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the one that has waited longest")
	for range serve.MostFeeders {
		dial(t, path, wire.Hello{Role: wire.RoleFeed})
	}
	_, err = wire.Dial(path, wire.Hello{Role: wire.RoleFeed})
	require.ErrorContains(t, err, "there are 8 clients to feed already")
	_, err = wire.Dial(path, wire.Hello{Role: wire.RoleView, Name: "\x1b[2Jme"})
	require.ErrorContains(t, err, `the name "\x1b[2Jme", want at most 100 bytes that can be printed`)
}

// TestViewerFlood: what a client with the view token sends is read no faster than its limit, and pings are answered no faster.
func TestViewerFlood(t *testing.T) {
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

// TestR28Stop: clients of every kind are told, and what comes after is refused.
func TestR28Stop(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{Socket: path, Listen: "127.0.0.1:0"})
	_, view, _ := s.tokens()
	unix := dial(t, path, wire.Hello{Role: wire.RoleFeed})
	web, err := s.web(wire.Hello{Role: wire.RoleView, Token: view})
	require.NoError(t, err)
	stalled := rawViewer(t, path)
	told := make(chan string, 20)
	for _, c := range []*wire.Client{unix, web} {
		c.Notice = func(n wire.Notice) { told <- n.Code }
		go func() {
			var err error
			for err == nil {
				err = c.See(new(wire.View))
			}
			told <- "end"
		}()
	}
	require.NoError(t, s.stop())
	got := map[string]int{}
	for got["end"] < 2 {
		got[<-told]++
	}
	require.Equal(t, 2, got[wire.Closing])
	_, err = io.Copy(io.Discard, stalled)
	require.NoError(t, err)
	_, err = wire.Dial(path, wire.Hello{Role: wire.RoleView})
	require.Error(t, err)
	t.Log("R28: a server ends with clients on two kinds of socket told, and one that reads nothing")
}

// TestR28Driver: a driver whose step is cut off by the server's end is told so, as all clients are, and not that its step is refused.
func TestR28Driver(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{LockStep: true, Socket: path})
	c := dial(t, path, wire.Hello{Role: wire.RoleDrive})
	var told []string
	c.Notice = func(n wire.Notice) { told = append(told, n.Code) }
	_, err := c.Step(1)
	require.NoError(t, err)
	go s.end()
	for err == nil {
		_, err = c.Step(1000)
		refused := (*wire.Notice)(nil)
		require.False(t, errors.As(err, &refused), err)
	}
	require.NoError(t, s.stop())
	require.Equal(t, []string{wire.Closing}, told)
}

// TestR23Addresses: addresses that others can reach are refused, with what to type; and sockets in folders that others can enter.
func TestR23Addresses(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":8080", "[::]:8080", "192.168.1.2:80", "example.org:80", "localhost:80"} {
		require.ErrorContains(t, serve.CheckListen(address), "ssh -L", address)
	}
	require.Error(t, serve.CheckListen("8080"))
	for _, address := range []string{"127.0.0.1:0", "127.1.2.3:80", "[::1]:0"} {
		require.NoError(t, serve.CheckListen(address))
	}
	open := t.TempDir() // which others may enter
	_, err := serve.New(context.Background(), network(t, loop), serve.Options{Socket: filepath.Join(open, "b")})
	require.ErrorContains(t, err, "is open to others")
	path := socketIn(t)
	start(t, serve.Options{Socket: path})
	_, err = serve.New(context.Background(), network(t, loop), serve.Options{Socket: path})
	require.ErrorContains(t, err, "another process listens")
	_, err = serve.New(context.Background(), network(t, loop), serve.Options{LockStep: true, Paused: true})
	require.Error(t, err)
	t.Log("R23: 7 of 7 other addresses refused, 3 of 3 loopback ones taken")
}
