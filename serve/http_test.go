package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
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
	"github.com/google/jsonschema-go/jsonschema"
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
				Content map[string]struct{ Schema *jsonschema.Schema }
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
		schema, err := described.Responses["200"].Content["application/json"].Schema.Resolve(nil)
		require.NoError(t, err)
		var answer any
		require.NoError(t, json.Unmarshal([]byte(text), &answer))
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
		for code == 429 { // a fast machine asks more often than 20 times a second
			time.Sleep(50 * time.Millisecond)
			code, text = s.call("POST", path, control, body)
		}
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
	for body, want := range map[string]string{`{"do":"jump"}`: "jump", `{"do":"step"}`: "0 bursts", `{"do":"rate","rate":"fast"}`: "fast", `{"do":"stimulus","stimulus":5,"on":true}`: "stimulus 5", `{"do":"stimulus","stimulus":0}`: "true or false", `{"do":"stimulus","on":true}`: "its place", `{"do":"set","settings":["areas.eye.threshold=2"]}`: "areas.eye.threshold"} {
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
	t.Parallel() // it mostly waits
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
		require.ErrorContains(t, err, "the token is not one of this server's")
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
	for _, address := range []string{"0.0.0.0:0", ":8080", "[::]:8080", "192.168.1.2:80", "example.org:80"} {
		require.ErrorContains(t, serve.CheckListen(address), "ssh -L", address)
	}
	require.ErrorContains(t, serve.CheckListen("localhost:80"), "want 127.0.0.1:80")
	require.Error(t, serve.CheckListen("8080"))
	require.ErrorContains(t, serve.CheckListen("127.0.0.1:65536"), `port "65536", want a number`)
	require.ErrorContains(t, serve.CheckListen("127.0.0.1:http"), `port "http", want a number`)
	for _, address := range []string{"127.0.0.1:0", "127.1.2.3:80", "[::1]:0"} {
		require.NoError(t, serve.CheckListen(address))
	}
	open := t.TempDir() // which others may enter
	_, err := serve.New(context.Background(), network(t, loop), serve.Options{Socket: filepath.Join(open, "b")})
	require.ErrorContains(t, err, "is open to others")
	path := socketIn(t)
	_, err = serve.New(context.Background(), network(t, loop), serve.Options{Socket: path + strings.Repeat("x", 100)})
	require.ErrorContains(t, err, "bytes, want at most")
	start(t, serve.Options{Socket: path})
	_, err = serve.New(context.Background(), network(t, loop), serve.Options{Socket: path})
	require.ErrorContains(t, err, "another process listens")
	_, err = serve.New(context.Background(), network(t, loop), serve.Options{LockStep: true, Paused: true})
	require.Error(t, err)
	t.Log("R23: 7 of 7 other addresses refused, 3 of 3 loopback ones taken")
}
