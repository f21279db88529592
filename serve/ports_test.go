package serve_test

import (
	"encoding/json"
	"testing"

	"burst/live/wire"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// receptors is a network whose neurons keep what each of their inputs has brought.
const receptors = `burst: v1
name: receptors
models:
  - name: cell
    ports: {ampa: nS, gaba: nS, current: pA}
    state: {v: 0, a: 0 nS, g: 0 nS, c: 0 pA}
    update: [a = a + ampa, g = g + gaba, c = c + current]
    threshold: v >= 1
areas:
  - {name: E, neurons: 3, model: cell}
`

// TestPorts: the genome's route names the ports with their units, and inputs are bound to each by name or number.
func TestPorts(t *testing.T) {
	s := startGenome(t, network(t, receptors), serve.Options{Paused: true})
	var g serve.Genome
	s.get("/v1/genome", &g)
	require.Equal(t, []serve.Port{{Name: "ampa", Unit: "nS"}, {Name: "gaba", Unit: "nS"}, {Name: "current", Unit: "pA"}}, g.Areas[0].Ports)
	_, _, control := s.tokens()
	post := func(path, body string, want int) string {
		t.Helper()
		code, text := s.call("POST", path, control, body)
		require.Equal(t, want, code, text)
		return text
	}
	post("/v1/inputs/bind", `[{"area":"E","largest":8,"port":"gaba"},{"area":"E","largest":8,"port":3}]`, 200)
	for body, want := range map[string]string{
		`[{"area":"E","largest":8}]`:                 "port 0, want a name or 1 to 3",
		`[{"area":"E","largest":8,"port":"gabba"}]`:  `did you mean \"gaba\"?`,
		`[{"area":"E","largest":8,"port":4}]`:        "port 4, want 0",
		`[{"area":"E","largest":8,"port":""}]`:       "port: want a whole number or a name",
		`[{"area":"E","largest":8,"port":2.5}]`:      "port: want a whole number or a name",
		`[{"area":"E","largest":8,"port":["gaba"]}]`: "port: want a whole number or a name",
	} {
		require.Contains(t, post("/v1/inputs/bind", body, 400), want, body)
	}
	post("/v1/inputs", `[{"handle":0,"amounts":[1,2,3]},{"handle":1,"amounts":[0,0,-4]}]`, 200)
	post("/v1/control", `{"do":"step","bursts":1}`, 200)
	var n serve.Neuron
	s.get("/v1/neurons/2", &n)
	require.Equal(t, map[string]float32{"v": 0, "a": 0, "g": 3, "c": -4}, n.State)
}

// TestPortOfFrames: a port is written as its name or its number, and read again.
func TestPortOfFrames(t *testing.T) {
	for want, p := range map[string]wire.Port{`"gaba"`: {Name: "gaba"}, `16`: {Number: 16}, `0`: {}} {
		b, err := json.Marshal(p)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
		var back wire.Port
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, p, back)
	}
	b, err := json.Marshal(wire.Input{Place: wire.Place{Area: "E"}, Largest: 1})
	require.NoError(t, err)
	require.JSONEq(t, `{"area":"E","largest":1}`, string(b))
}
