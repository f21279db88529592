package engine_test

import (
	"errors"
	"math"
	"testing"

	"burst/engine"

	"github.com/stretchr/testify/require"
)

func TestCompareBurstsNamesTheFirstDifference(t *testing.T) {
	fcl := func(p uint32, sum int32) engine.Candidate {
		return engine.Candidate{Port: p, Neuron: p + 100, Sum: sum}
	}
	base := engine.Burst{Number: 7, Fired: []uint32{2, 5, 9}, Candidates: []engine.Candidate{fcl(1, 4), fcl(6, -3)}}
	cases := []struct {
		name string
		b    engine.Burst
		want *engine.Difference
	}{
		{"the same", base, nil},
		{"one fires less", engine.Burst{Number: 7, Fired: []uint32{2, 9}, Candidates: base.Candidates}, &engine.Difference{Burst: 7, Neuron: 5, Field: "fired", A: "true", B: "false"}},
		{"one fires more at the end", engine.Burst{Number: 7, Fired: []uint32{2, 5, 9, 11}, Candidates: base.Candidates}, &engine.Difference{Burst: 7, Neuron: 11, Field: "fired", A: "false", B: "true"}},
		{"order", engine.Burst{Number: 7, Fired: []uint32{2, 9, 5}, Candidates: base.Candidates}, &engine.Difference{Burst: 7, Neuron: 5, Field: "order", A: "[2 5 9] from entry 0 of 3", B: "[2 9 5] from entry 0 of 3"}},
		{"a sum", engine.Burst{Number: 7, Fired: base.Fired, Candidates: []engine.Candidate{fcl(1, 4), fcl(6, 3)}},
			&engine.Difference{Burst: 7, Neuron: 106, Field: "candidate", A: "port 6 of neuron 106 with -3 quanta", B: "port 6 of neuron 106 with 3 quanta"}},
		{"a candidate more", engine.Burst{Number: 7, Candidates: []engine.Candidate{fcl(1, 4), fcl(5, 1), fcl(6, -3)}},
			&engine.Difference{Burst: 7, Neuron: 105, Field: "candidate", A: "none", B: "port 5 of neuron 105 with 1 quanta"}},
		{"a candidate less", engine.Burst{Number: 7, Candidates: base.Candidates[:1]},
			&engine.Difference{Burst: 7, Neuron: 106, Field: "candidate", A: "port 6 of neuron 106 with -3 quanta", B: "none"}},
		{"potentials", engine.Burst{Number: 7, Fired: base.Fired, Candidates: base.Candidates, Potentials: []float32{2.5}},
			&engine.Difference{Burst: 7, Field: "potentials", A: "[]", B: "[2.5]"}},
		{"the number", engine.Burst{Number: 8}, &engine.Difference{Burst: 7, Field: "number", A: "7", B: "8"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, engine.CompareBursts(&base, &c.b)) })
	}
}

func TestCompareStatesSeesEveryField(t *testing.T) {
	state := func(change func(s *engine.State)) *engine.State {
		s := &engine.State{Number: 41, V: []float32{1, 0}, Refractory: []uint16{0, 3}, Count: []uint16{5, 0}, Queues: [][]uint32{{0}, {0, 1}}}
		change(s)
		return s
	}
	base := state(func(*engine.State) {})
	cases := []struct {
		name   string
		change func(s *engine.State)
		neuron uint32
		field  string
		a, b   string
	}{
		{"sign of zero", func(s *engine.State) { s.V[1] = float32(math.Copysign(0, -1)) }, 1, "V", "0 (0x00000000)", "-0 (0x80000000)"},
		{"countdown", func(s *engine.State) { s.Refractory[1] = 2 }, 1, "refractory", "3", "2"},
		{"count", func(s *engine.State) { s.Count[0] = 65535 }, 0, "count", "5", "65535"},
		{"queue", func(s *engine.State) { s.Queues[1] = []uint32{0} }, 1, "queue 2: fired", "true", "false"},
		{"number of queues", func(s *engine.State) { s.Queues = s.Queues[:1] }, 0, "size", "2 potentials, 2 countdowns, 2 counts, 2 queues", "2 potentials, 2 countdowns, 2 counts, 1 queues"},
	}
	require.Nil(t, engine.CompareStates(base, state(func(s *engine.State) { s.Digest = 9 })), "the digest belongs to the engine")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, &engine.Difference{Burst: 40, Neuron: c.neuron, Field: c.field, A: c.a, B: c.b}, engine.CompareStates(base, state(c.change)))
		})
	}
}

// drifter is an echo whose countdown of neuron 1 goes wrong in one burst and is right again in the next.
type drifter struct {
	echo
	wrong uint64
}

func (d *drifter) ReadState(s *engine.State) error {
	*s = engine.State{Number: d.number, V: make([]float32, 2), Refractory: make([]uint16, 2), Count: make([]uint16, 2), Queues: make([][]uint32, 1)}
	if d.wrong != 0 && d.number == d.wrong {
		s.Refractory[1] = 1
	}
	return nil
}

func TestCompareLooksAtStatesEveryFewBursts(t *testing.T) {
	next := func(t uint64) ([]engine.Stimulus, error) { return []engine.Stimulus{{Port: uint32(t), Amount: 1}}, nil }
	cases := []struct {
		name  string
		every uint64
		seen  bool
	}{{"each burst", 1, true}, {"each third", 3, true}, {"each fourth", 4, false}, {"only before and after", 0, false}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d, err := engine.Compare(&drifter{}, &drifter{wrong: 6}, 10, next, c.every)
			require.NoError(t, err)
			require.Equal(t, c.seen, d != nil)
			if c.seen {
				require.Equal(t, "burst 5, neuron 1: refractory is 0 in one and 1 in the other", d.String())
			}
		})
	}
	d, err := engine.Compare(&drifter{}, &drifter{wrong: 10}, 10, nil, 0)
	require.NoError(t, err)
	require.NotNil(t, d, "the last state is always compared")
	d, err = engine.Compare(&drifter{echo: echo{number: 3}}, &drifter{}, 1, nil, 0)
	require.NoError(t, err)
	require.Equal(t, "number", d.Field, "the first state is always compared")
}

func TestComparePassesErrorsOn(t *testing.T) {
	stop := errors.New("stop")
	_, err := engine.Compare(&drifter{}, &drifter{echo: echo{fail: stop}}, 4, nil, 0)
	require.ErrorIs(t, err, stop)
	_, err = engine.Compare(&drifter{}, &drifter{}, 4, func(uint64) ([]engine.Stimulus, error) { return nil, stop }, 0)
	require.ErrorIs(t, err, stop)
}
