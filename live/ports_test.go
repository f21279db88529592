package live_test

import (
	"fmt"
	"math"
	"testing"

	"burst/live"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// receptors is a network whose neurons keep what each of their inputs has brought, the third in another unit.
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
  - {name: train, model: poisson, neurons: 1, params: {rate: 1 Hz}}
`

// TestInputsOfEveryPort: an input is bound to each port, by name and by number, and its amounts reach that port alone.
func TestInputsOfEveryPort(t *testing.T) {
	s, err := live.New(t.Context(), network(t, receptors), live.Options{Options: run.Options{Backend: "reference"}})
	require.NoError(t, err)
	defer s.Close()
	f := s.Feeder("camera")
	place := live.Place{Area: "E", Neurons: []uint32{1}}
	names := []string{"ampa", "gaba", "current"}
	for i, name := range names {
		byName := bound(t, f, live.Binding{Place: place, PortName: name, Largest: 8, Once: true})
		byNumber := bound(t, f, live.Binding{Place: place, Port: i + 1, Largest: 8, Once: true})
		require.NoError(t, s.Step(t.Context(), 1, live.Value{To: byName, Amounts: []float32{float32(i + 1)}}))
		require.NoError(t, s.Step(t.Context(), 1, live.Value{To: byNumber, Amounts: []float32{-0.25}}))
	}
	state, err := s.State()
	require.NoError(t, err)
	for i, name := range names {
		require.Equal(t, []float32{0, float32(i) + 0.75, 0, 0}, state.More[i], name)
	}
	for want, b := range map[string]live.Binding{
		`port "gabba", want one by name: the model cell of area "E" has the ports ampa, gaba, current; did you mean "gaba"?`: {Place: place, PortName: "gabba"},
		`port "Ampa", want one by name`:                                     {Place: place, PortName: "Ampa"},
		`port 2 and port "gaba", want one of them`:                          {Place: place, Port: 2, PortName: "gaba"},
		`port 4, want 0 for the law's choice, or 1 to 3`:                    {Place: place, Port: 4},
		`port -1, want 0`:                                                   {Place: place, Port: -1},
		`port 0, want a name or 1 to 3: the model cell of area "E" has the`: {Place: place},
		`area "train" takes no input: its model poisson is a source`:        {Place: live.Place{Area: "train"}, PortName: "ampa"},
	} {
		b.Largest = 1
		_, err := f.Bind(b)
		require.ErrorContains(t, err, want)
	}
}

// TestSixteenPorts: the last of the most ports that a model may have can be bound, and no other.
func TestSixteenPorts(t *testing.T) {
	ports, sum := "p1", "p1"
	for i := 2; i <= 16; i++ {
		ports, sum = fmt.Sprintf("%s, p%d", ports, i), fmt.Sprintf("%s + %d*p%d", sum, i, i)
	}
	text := "burst: v1\nname: many\nmodels:\n  - {name: cell, ports: [" + ports + "], state: {v: 0}, update: [\"v = v + " + sum + "\"], threshold: v >= 1000}\n" +
		"areas:\n  - {name: E, neurons: 2, model: cell}\n"
	s, err := live.New(t.Context(), network(t, text), live.Options{Options: run.Options{Backend: "cpu", Threads: 1}})
	require.NoError(t, err)
	defer s.Close()
	f := s.Feeder("camera")
	in := bound(t, f, live.Binding{Place: live.Place{Area: "E"}, PortName: "p16", Largest: 8, Once: true})
	require.NoError(t, s.Step(t.Context(), 1, live.Value{To: in, Amounts: []float32{0, 2}}))
	state, err := s.State()
	require.NoError(t, err)
	require.Equal(t, []float32{0, 32}, state.V)
	_, err = f.Bind(live.Binding{Place: live.Place{Area: "E"}, Port: 17, Largest: 8})
	require.ErrorContains(t, err, "port 17, want 0 for the law's choice, or 1 to 16")
	_, err = f.Bind(live.Binding{Place: live.Place{Area: "E"}, Port: math.MaxInt, Largest: 8})
	require.ErrorContains(t, err, "or 1 to 16")
}
