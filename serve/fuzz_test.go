package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"burst/genome"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// FuzzMessages: whatever is asked of the routes, by a client with the control token, the server answers with one of its own statuses and
// JSON where it says so, and goes on.
func FuzzMessages(f *testing.F) {
	all := serve.Routes()
	for i, r := range all {
		switch r.Path {
		case "/v1/control":
			for _, body := range []string{
				`{"do":"step","bursts":3}`, `{"do":"rate","rate":"1kHz"}`, `{"do":"resume"}`, `{"do":"pause"}`, `{"do":"stimulus","stimulus":0,"on":true}`,
				`{"do":"set","settings":["areas.crowd.drive.poisson.rate=20Hz"]}`, `{"do":"keep","state":"a"}`, `{"do":"restore","state":"a"}`,
				`{"do":"reset"}`, `{"do":"seek","burst":9}`, `{"do":"checkpoint"}`, `{"do":"flush"}`, `{"do":"stop"}`,
			} {
				f.Add(uint8(i), "", []byte(body))
			}
		case "/v1/inputs/bind":
			f.Add(uint8(i), "", []byte(`[{"name":"a","area":"eye","largest":3},{"name":"b","area":"leg","neurons":[0,4],"largest":1,"once":true}]`))
		case "/v1/inputs":
			f.Add(uint8(i), "", []byte(`[{"handle":0,"amounts":[1,2]},{"handle":1,"at":[1],"amounts":[0.5]}]`))
		case "/v1/outputs/bind":
			f.Add(uint8(i), "", []byte(`[{"name":"c","area":"crowd","kind":"counts"},{"name":"v","area":"leg","kind":"potentials"}]`))
		default:
			f.Add(uint8(i), "30?area=crowd&from=3&to=9", []byte(`{}`))
		}
	}
	var s *served
	var routes http.Handler
	var control string
	begin := func() {
		g, err := genome.Parse("net.yaml", []byte(loop), nil)
		if err != nil {
			panic(err)
		}
		o := serve.Options{Paused: true}
		o.Backend, o.Threads = "cpu", 1
		opened, err := serve.New(context.Background(), g, o)
		if err != nil {
			panic(err)
		}
		ctx, end := context.WithCancel(context.Background())
		s = &served{Server: opened, end: end, done: make(chan error, 1)}
		routes = s.Unlimited()
		_, _, control = s.tokens()
		go func(s *served) { s.done <- s.Serve(ctx) }(s)
	}
	begin()
	f.Cleanup(func() { _ = s.stop() })
	f.Fuzz(func(t *testing.T, route uint8, words string, body []byte) {
		r := all[int(route)%len(all)]
		if r.Path == "/live" {
			return // FuzzFrames has its frames
		}
		name, query, _ := strings.Cut(words, "?")
		path := strings.NewReplacer("{i}", name, "{id}", name, "{name}", name).Replace(r.Path)
		ctx, end := context.WithTimeout(t.Context(), 20*time.Millisecond) // a step of many bursts ends
		defer end()
		q := (&http.Request{
			Method: r.Method, URL: &url.URL{Path: path, RawQuery: query}, Host: "localhost", Body: io.NopCloser(bytes.NewReader(body)),
			Header: http.Header{"Authorization": {"Bearer " + control}, "Content-Type": {"application/json"}},
		}).WithContext(ctx)
		a := httptest.NewRecorder()
		func() {
			defer func() {
				if p := recover(); p != nil && p != http.ErrAbortHandler { // which net/http takes for the end of a connection
					panic(p)
				}
			}()
			routes.ServeHTTP(a, q)
		}()
		require.Contains(t, []int{0, 200, 301, 307, 400, 404, 405, 409, 413, 501}, a.Code, "%s %s %s", path, body, a.Body)
		if a.Header().Get("Content-Type") == "application/json" {
			require.True(t, json.Valid(a.Body.Bytes()), "%s %s %s", path, body, a.Body)
		}
		x, err := s.Status()
		if a.Code == 200 && strings.Contains(string(body), "stop") && r.Path == "/v1/control" {
			require.NoError(t, s.stop())
			begin()
			return
		}
		require.NoError(t, err, "%s %s", path, body)
		if x.Mode != "paused" { // it would take a processor
			s.Hold()
		}
	})
}
