package engine_test

import (
	"errors"
	"fmt"
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
		{"values", engine.Burst{Number: 7, Fired: base.Fired, Candidates: base.Candidates, Values: []float32{2.5}},
			&engine.Difference{Burst: 7, Field: "values", A: "[]", B: "[2.5]"}},
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

// TestCompareQueues tells who fired in one alone, or where a queue is out of order.
func TestCompareQueues(t *testing.T) {
	for _, c := range []struct {
		a, b   []uint32
		neuron uint32
		field  string
		A, B   string
	}{
		{[]uint32{}, []uint32{7}, 7, "fired", "false", "true"},
		{[]uint32{1, 2, 3}, []uint32{2, 3}, 1, "fired", "true", "false"},
		{[]uint32{1, 2, 3}, []uint32{1, 3}, 2, "fired", "true", "false"},
		{[]uint32{1, 2, 3}, []uint32{1, 2}, 3, "fired", "true", "false"},
		{[]uint32{1, 2, 3}, []uint32{1, 2, 4}, 3, "fired", "true", "false"},
		{[]uint32{2, 1, 3}, []uint32{1, 2, 3}, 1, "order", "[2 1] from entry 0 of 3", "[1 2] from entry 0 of 3"},
		{[]uint32{1, 3, 2}, []uint32{1, 2, 3}, 2, "order", "[1 3 2] from entry 0 of 3", "[1 2 3] from entry 0 of 3"},
		{[]uint32{1, 2, 3, 4}, []uint32{1, 2, 3, 3}, 3, "order", "[3 4] from entry 2 of 4", "[3 3] from entry 2 of 4"},
		{[]uint32{1, 2, 3, 4}, []uint32{1, 2, 3, 4, 4}, 4, "order", "[4] from entry 3 of 4", "[4 4] from entry 3 of 5"},
		{[]uint32{5, 6, 7, 8, 9}, []uint32{5, 6, 8, 7, 9}, 7, "order", "[6 7 8] from entry 1 of 5", "[6 8 7] from entry 1 of 5"},
		{[]uint32{1, 5, 9, 2}, []uint32{2, 5, 9, 10}, 1, "fired", "true", "false"}, // the first difference comes before what is out of order
	} {
		a, b := &engine.Burst{Number: 3, Fired: c.a}, &engine.Burst{Number: 3, Fired: c.b}
		require.Equal(t, &engine.Difference{Burst: 3, Neuron: c.neuron, Field: c.field, A: c.A, B: c.B}, engine.CompareBursts(a, b), "%v and %v", c.a, c.b)
		require.Equal(t, &engine.Difference{Burst: 3, Neuron: c.neuron, Field: c.field, A: c.B, B: c.A}, engine.CompareBursts(b, a), "%v and %v", c.b, c.a)
	}
}

// TestCompareCandidates tells which one has a candidate that the other lacks.
func TestCompareCandidates(t *testing.T) {
	list := func(ports ...uint32) (b engine.Burst) {
		for _, p := range ports {
			b.Candidates = append(b.Candidates, engine.Candidate{Port: p, Neuron: p + 100, Sum: 1})
		}
		return b
	}
	for _, c := range []struct {
		a, b engine.Burst
		port uint32 // that b lacks
	}{{list(1), list(), 1}, {list(1, 2, 3), list(2, 3), 1}, {list(1, 2, 3), list(1, 3), 2}, {list(1, 2, 3), list(1, 2), 3}} {
		has := fmt.Sprintf("port %d of neuron %d with 1 quanta", c.port, c.port+100)
		require.Equal(t, &engine.Difference{Neuron: c.port + 100, Field: "candidate", A: has, B: "none"}, engine.CompareBursts(&c.a, &c.b))
		require.Equal(t, &engine.Difference{Neuron: c.port + 100, Field: "candidate", A: "none", B: has}, engine.CompareBursts(&c.b, &c.a))
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

// counted is a drifter that counts how often its state is read, and fails once that has been done so often.
type counted struct {
	drifter
	reads, fail int
}

func (c *counted) ReadState(s *engine.State) error {
	if c.reads++; c.reads == c.fail {
		return errors.New("stop")
	}
	return c.drifter.ReadState(s)
}

// TestCompareReadsEveryStateOnce, the first and the last among them, and gives the stimuli of the bursts it runs.
func TestCompareReadsEveryStateOnce(t *testing.T) {
	for _, c := range []struct {
		bursts, every uint64
		reads         int
	}{{0, 1, 2}, {1, 1, 2}, {4, 1, 5}, {7, 3, 4}, {6, 3, 3}, {5, 0, 2}} {
		var asked []uint64
		a, b := &counted{}, &counted{}
		a.number, b.number = 20, 20
		d, err := engine.Compare(a, b, c.bursts, func(t uint64) ([]engine.Stimulus, error) {
			asked = append(asked, t)
			return nil, nil
		}, c.every)
		require.NoError(t, err)
		require.Nil(t, d)
		require.Equal(t, [2]int{c.reads, c.reads}, [2]int{a.reads, b.reads}, "%d bursts, every %d", c.bursts, c.every)
		require.Len(t, asked, int(c.bursts))
		for i, at := range asked {
			require.EqualValues(t, 20+i, at)
		}
		for fail := range c.reads {
			_, err = engine.Compare(&counted{fail: fail + 1}, &counted{}, c.bursts, nil, c.every)
			require.Error(t, err)
			_, err = engine.Compare(&counted{}, &counted{fail: fail + 1}, c.bursts, nil, c.every)
			require.Error(t, err)
		}
	}
	a, b := &drifter{echo: echo{number: 3}}, &drifter{echo: echo{number: 3}, wrong: 3}
	d, err := engine.Compare(a, b, 4, nil, 0)
	require.NoError(t, err)
	require.Equal(t, &engine.Difference{Burst: 2, Neuron: 1, Field: "refractory", A: "0", B: "1"}, d, "only the first state differs")
}

func TestComparePassesErrorsOn(t *testing.T) {
	stop := errors.New("stop")
	_, err := engine.Compare(&drifter{}, &drifter{echo: echo{fail: stop}}, 4, nil, 0)
	require.ErrorIs(t, err, stop)
	_, err = engine.Compare(&drifter{}, &drifter{}, 4, func(uint64) ([]engine.Stimulus, error) { return nil, stop }, 0)
	require.ErrorIs(t, err, stop)
}
