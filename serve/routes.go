package serve

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"burst/engine"
	"burst/live/wire"
	"burst/record"
	"burst/record/manifest"
	"burst/run"
)

// discard is where net/http's own messages go: they would repeat what clients have sent.
var discard = log.New(io.Discard, "", 0)

// route is one of the server's. The OpenAPI document is made of the same table.
type route struct {
	method, path string
	scope        scope
	about        string
	query        []parameter // of the query, and of the path
	in           any         // of the type of the body; nil: there is none
	out          any         // likewise of the answer; nil: it is not JSON
	kind         string      // of an answer that is not JSON
	long         bool        // it takes a processor, memory or disk for long, so that requests take turns
	do           func(s *Server, w http.ResponseWriter, q *http.Request) (any, error)
}

type parameter struct {
	name, in, about string
	required        bool
}

// most is how long the body of a request may be.
func (r *route) most() int64 {
	switch {
	case r.in == nil:
		return 0
	case r.path == "/v1/control":
		return 4 << 10
	}
	return wire.MostBytes
}

// routes are all of them.
func routes() []route {
	const raw = "application/octet-stream"
	area, id := parameter{"area", "query", "its name", true}, parameter{"id", "path", "the neuron's number in the network", true}
	return []route{
		{method: "GET", path: "/healthz", about: "says that the server is there", kind: "text/plain", do: healthz},
		{method: "GET", path: "/metrics", scope: scopeView, about: "counters in the text format of Prometheus", kind: "text/plain; version=0.0.4", do: metrics},
		{method: "GET", path: "/live", about: "opens the WebSocket, whose messages are frames; its hello carries the token", kind: raw, do: upgrade},
		{method: "GET", path: "/v1/openapi.json", scope: scopeView, about: "this document", kind: "application/json", do: openAPI},
		{method: "GET", path: "/v1/info", scope: scopeView, about: "what is run, on what", out: Info{}, do: info},
		{method: "GET", path: "/v1/status", scope: scopeView, about: "how far the run is, and who takes part", out: Status{}, do: status},
		{method: "GET", path: "/v1/areas", scope: scopeView, about: "the areas, as pictures have them", out: []wire.Area{}, do: areas},
		{method: "GET", path: "/v1/genome", scope: scopeView, about: "parameters and ports of the areas with their units, and the stimuli", out: Genome{}, do: genomeShown},
		{method: "GET", path: "/v1/layout", scope: scopeView, about: "x, y and z of every neuron of an area, float32", query: []parameter{area}, kind: raw, long: true, do: layout},
		{method: "GET", path: "/v1/projections", scope: scopeView, about: "the projections", out: []Projection{}, do: projections},
		{method: "GET", path: "/v1/projections/{i}/weights", scope: scopeView, about: "of a projection that learns: source, target and delay as u32 and weight as float32, for each synapse", query: []parameter{{"i", "path", "its place in projections", true}}, kind: raw, long: true, do: weights},
		{method: "GET", path: "/v1/neurons/{id}", scope: scopeView, about: "a neuron and its state", query: []parameter{id}, out: Neuron{}, do: neuron},
		{method: "GET", path: "/v1/neurons/{id}/synapses", scope: scopeView, about: "what a neuron sends through", query: []parameter{id}, out: Synapses{}, long: true, do: synapses},
		{method: "GET", path: "/v1/neurons/{id}/inputs", scope: scopeView, about: "what a neuron receives through", query: []parameter{id}, out: Inputs{}, long: true, do: inputsOf},
		{method: "GET", path: "/v1/potentials", scope: scopeView, about: "the potential of every neuron of an area, float32", query: []parameter{area}, kind: raw, long: true, do: potentials},
		{method: "GET", path: "/v1/rates", scope: scopeView, about: "spikes and mean rate of each area since the server began", out: Rates{}, do: rates},
		{method: "GET", path: "/v1/spikes", scope: scopeView, about: "recorded spikes as an Arrow file, as far as they are on disk", kind: "application/vnd.apache.arrow.file", long: true, do: spikes,
			query: []parameter{{"area", "query", "of this area alone", false}, {"from", "query", "the first burst", false}, {"to", "query", "the burst after the last one", false}}},
		{method: "GET", path: "/v1/files/{name}", scope: scopeView, about: "a file of the run's folder: " + fmt.Sprint(fileNames), query: []parameter{{"name", "path", "one of those names", true}}, kind: raw, long: true, do: file},
		{method: "POST", path: "/v1/inputs/bind", scope: scopeControl, about: "binds inputs for POST inputs; handles count on", in: []wire.Input{}, out: wire.Bound{}, do: bindInputs},
		{method: "POST", path: "/v1/inputs", scope: scopeControl, about: "sets inputs, all from the same burst on", in: []Amounts{}, out: Done{}, do: setInputs},
		{method: "POST", path: "/v1/outputs/bind", scope: scopeControl, about: "binds outputs for GET outputs; handles count on", in: []wire.Output{}, out: wire.Bound{}, do: bindOutputs},
		{method: "GET", path: "/v1/outputs", scope: scopeControl, about: "what all bound outputs tell since they were last read", out: []Reading{}, do: readOutputs},
		{method: "POST", path: "/v1/unbind", scope: scopeControl, about: "takes away all that was bound over HTTP", in: struct{}{}, out: Done{}, do: unbind},
		{method: "POST", path: "/v1/control", scope: scopeControl, about: "pause, resume, step, rate, seek, stimulus, set, checkpoint, flush, keep, restore, reset or stop", in: wire.Control{}, out: Done{}, do: postControl},
	}
}

func healthz(_ *Server, w http.ResponseWriter, _ *http.Request) (any, error) {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, "ok\n")
	return nil, nil
}

// Info says what is run, on what.
type Info struct {
	Program     string  `json:"program"`
	Name        string  `json:"name"`
	Network     string  `json:"network"`
	Seed        uint64  `json:"seed"`
	RunSeed     uint64  `json:"run_seed"`
	Timestep    float64 `json:"timestep_ms"`
	Scale       int32   `json:"scale"`
	Neurons     uint32  `json:"neurons"`
	Areas       int     `json:"areas"`
	Projections int     `json:"projections"`
	Stimuli     int     `json:"stimuli"`
	Kind        string  `json:"kind"`  // live, on which clients act; watched; or recorded
	First       uint64  `json:"first"` // burst of the run
	End         uint64  `json:"end"`   // the burst after the last one; 0: the run has no planned end
	Scope       string  `json:"scope"` // what the token of this request allows: view or control
	Backend     string  `json:"backend"`
	Device      string  `json:"device"`
	Folder      string  `json:"folder"` // its last name; "" if nothing is written
	LockStep    bool    `json:"lock_step"`
}

func info(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	f := s.facts
	c := f.Connectome
	kind := "live"
	if _, recorded := s.subject.(*player); recorded {
		kind = "recorded"
	} else if s.session == nil {
		kind = "watched"
	}
	x := Info{
		Program: run.Version, Name: f.Genome.Name, Network: fmt.Sprintf("%016x", f.ID), Seed: c.Seed, RunSeed: c.RunSeed, Timestep: f.Genome.Timestep, Scale: c.Scale,
		Neurons: c.Neurons, Areas: len(c.Areas), Projections: len(f.Genome.Projections), Stimuli: len(f.Genome.Stimuli), Backend: f.Backend, Device: f.Device, LockStep: s.o.LockStep,
		Kind: kind, First: f.First, Scope: s.tokenScope(q).String(),
	}
	if f.Planned > 0 {
		x.End = f.First + f.Planned
	}
	if f.Folder != "" {
		x.Folder = filepath.Base(f.Folder)
	}
	return x, nil
}

// Status is how far the run is.
type Status struct {
	Burst    uint64         `json:"burst"` // the next one
	Mode     string         `json:"mode"`
	Rate     string         `json:"rate"` // that the run holds; "" is as fast as it goes
	Digest   string         `json:"digest"`
	Spikes   uint64         `json:"spikes"`
	Late     uint64         `json:"late"`
	Lateness engine.Latency `json:"lateness"`
	Latency  engine.Latency `json:"latency"`
	Viewers  int            `json:"viewers"`
	Feeders  int            `json:"feeders"`
	Driven   bool           `json:"driven"`  // a driver is connected
	Dropped  uint64         `json:"dropped"` // messages of feeders that came too fast
	Refused  uint64         `json:"refused"` // requests and connections
	Uptime   float64        `json:"uptime_s"`
}

// Status says how far the run is, also of a server that has ended.
func (s *Server) Status() (Status, error) {
	x, err := s.subject.Status()
	if err != nil {
		return Status{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		Burst: x.Burst, Mode: s.mode, Rate: s.o.Rate, Digest: fmt.Sprintf("%016x", x.Digest), Spikes: x.Spikes, Late: x.Late, Lateness: x.Lateness, Latency: x.Latency,
		Dropped: s.dropped, Refused: s.refused, Uptime: time.Since(s.began).Seconds(),
	}
	for c := range s.clients {
		switch c.role {
		case wire.RoleView:
			out.Viewers++
		case wire.RoleFeed:
			out.Feeders++
		case wire.RoleDrive:
			out.Driven = true
		}
	}
	return out, nil
}

func status(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) { return s.Status() }

func areas(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) { return s.tap.areas, nil }

// layout writes where the neurons of an area lie: in their voxel, at the area's position.
func layout(s *Server, w http.ResponseWriter, q *http.Request) (any, error) {
	i, err := s.area(q.FormValue("area"))
	if err != nil {
		return nil, err
	}
	a := &s.tap.areas[i]
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatUint(12*uint64(a.Neurons), 10))
	out := bufio.NewWriterSize(w, 1<<16)
	var b [12]byte
	for n := range a.Neurons {
		x, y, z := manifest.Voxel(a.Size, a.PerVoxel, n)
		for axis, at := range [3]uint32{x, y, z} {
			binary.LittleEndian.PutUint32(b[4*axis:], math.Float32bits(float32(a.Position[axis]+float64(at))))
		}
		if _, err := out.Write(b[:]); err != nil {
			return nil, nil // the client has gone
		}
	}
	_ = out.Flush()
	return nil, nil
}

// area finds an area by its name.
func (s *Server) area(name string) (int, error) {
	i, err := s.facts.Genome.FindArea(name)
	if err != nil {
		return 0, &statusError{http.StatusNotFound, err}
	}
	return i, nil
}

// Rates are what the areas have done since the server began.
type Rates struct {
	Next   uint64     `json:"next"`   // burst
	Bursts uint64     `json:"bursts"` // that were counted
	Areas  []AreaRate `json:"areas"`
}

// AreaRate is that of an area.
type AreaRate struct {
	Name   string  `json:"name"`
	Spikes uint64  `json:"spikes"`
	Hz     float64 `json:"hz"`
}

func rates(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) {
	list, bursts, next := s.tap.rates(nil)
	x := Rates{Next: next, Bursts: bursts, Areas: []AreaRate{}}
	for i, n := range list {
		a := &s.tap.areas[i]
		x.Areas = append(x.Areas, AreaRate{a.Name, n, record.Rate(n, uint64(a.Neurons), bursts, s.facts.Genome.Timestep)})
	}
	return x, nil
}

// metrics writes the counters.
func metrics(s *Server, w http.ResponseWriter, _ *http.Request) (any, error) {
	x, err := s.Status()
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	paused := 0
	if x.Mode == "paused" {
		paused = 1
	}
	for _, m := range []struct {
		name, kind, help string
		value            any
	}{
		{"burst_next_burst", "counter", "Number of the next burst.", x.Burst},
		{"burst_spikes_total", "counter", "Spikes since the run's first burst.", x.Spikes},
		{"burst_late_total", "counter", "Bursts that started more than a tenth of a period late.", x.Late},
		{"burst_paused", "gauge", "1 while the run is paused.", paused},
		{"burst_viewers", "gauge", "Clients to view.", x.Viewers},
		{"burst_feeders", "gauge", "Clients to feed.", x.Feeders},
		{"burst_dropped_total", "counter", "Messages of feeders that came too fast.", x.Dropped},
		{"burst_refused_total", "counter", "Requests and connections that were refused.", x.Refused},
		{"burst_uptime_seconds", "gauge", "Time since the server began.", x.Uptime},
	} {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n%[1]s %[4]v\n", m.name, m.help, m.kind, m.value)
	}
	return nil, nil
}
