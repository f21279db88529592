package engine_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"burst/backend"
	"burst/engine"

	"github.com/stretchr/testify/require"
)

// looked is an echo that notes at which bursts it is looked at and its state is read.
type looked struct {
	drifter
	looks, reads []uint64
}

func (b *looked) NotFinite() *engine.NotFinite {
	b.looks = append(b.looks, b.number)
	return nil
}

func (b *looked) ReadState(s *engine.State) error {
	b.reads = append(b.reads, b.number)
	return b.drifter.ReadState(s)
}

// TestWhenTheEngineLooks: every 64 bursts where the backend looks by itself, and its state is kept every 8192; every 8192 where it must
// be read. A state that is restored begins that anew.
func TestWhenTheEngineLooks(t *testing.T) {
	c := net()
	run := func(e *engine.Engine, n uint64) { require.NoError(t, e.Run(context.Background(), n)) }
	b := &looked{}
	e := engine.New(c, b, engine.Options{})
	run(e, 200)
	require.Equal(t, []uint64{64, 128, 192}, b.looks)
	require.Empty(t, b.reads)
	s := engine.NewState(c)
	for _, at := range []struct {
		restored uint64
		looks    []uint64
	}{{10, []uint64{64, 128}}, {130, []uint64{192, 256}}, {64, []uint64{128, 192}}} {
		b.looks, b.reads, s.Number = nil, nil, at.restored
		require.NoError(t, e.Restore(s))
		run(e, 128)
		require.Equal(t, at.looks, b.looks, "from burst %d on", at.restored)
		require.Equal(t, []uint64{at.restored}, b.reads, "what was restored is kept")
	}
	b.looks, b.reads, s.Number = nil, nil, 0
	require.NoError(t, e.Restore(s))
	run(e, 16_400)
	require.Len(t, b.looks, 256)
	require.Equal(t, []uint64{0, 8192, 16_384}, b.reads)

	b = &looked{}
	run(engine.New(c, b, engine.Options{Sources: []engine.Source{list{}}}), 8200)
	require.Empty(t, b.reads, "nothing is kept of what cannot be run again")

	b = &looked{}
	run(engine.New(c, blind{b}, engine.Options{}), 16_400)
	require.Empty(t, b.looks)
	require.Equal(t, []uint64{8192, 16_384}, b.reads)
}

// mistaken is an echo that once sees a NaN, before burst 64.
type mistaken struct {
	drifter
	seen bool
}

func (b *mistaken) NotFinite() *engine.NotFinite {
	if b.number != 64 || b.seen {
		return nil
	}
	b.seen = true
	return &engine.NotFinite{Neuron: 3, Value: float32(math.Inf(1))}
}

// TestNotFiniteThatIsNotFoundAgain: where the same bursts give sound numbers, the error names the bursts between two looks, and they are
// run again up to the one that the engine was at.
func TestNotFiniteThatIsNotFoundAgain(t *testing.T) {
	c, b := net(), &mistaken{}
	e := engine.New(c, b, engine.Options{})
	s := engine.NewState(c)
	s.Number = 10
	require.NoError(t, e.Restore(s))
	var n *engine.NumberError
	require.ErrorAs(t, e.Run(context.Background(), 100), &n)
	require.Equal(t, [2]uint64{10, 63}, [2]uint64{n.After, n.Burst})
	require.EqualValues(t, 3, n.Index)
	require.EqualValues(t, 64, b.number)
}

// TestRestoreIsSound: what is said of a NaN begins with the state that was restored, not with what this engine did
// before.
func TestRestoreIsSound(t *testing.T) {
	c := wild(t, 100)
	for _, o := range []engine.Options{{Sources: []engine.Source{list{}}}, {}} {
		b, err := backend.Open("cpu", c, backend.Options{})
		require.NoError(t, err)
		e := engine.New(c, b, o)
		var s engine.State
		require.NoError(t, e.Run(context.Background(), 80))
		require.NoError(t, e.State(&s))
		require.EqualValues(t, 80, s.Number)
		require.NoError(t, e.Run(context.Background(), 15)) // sound before 64 when it looked last
		require.NoError(t, e.Restore(&s))
		var n *engine.NumberError
		require.ErrorAs(t, e.Run(context.Background(), 100), &n)
		if o.Sources != nil {
			require.Equal(t, [2]uint64{80, 127}, [2]uint64{n.After, n.Burst})
		} else {
			require.Equal(t, n.After, n.Burst)
			require.Less(t, n.Burst, uint64(110))
		}

		s = *engine.NewState(c) // one that no run from the beginning has: it leaves the numbers at once, at another neuron
		s.Number, s.V[3+5] = 33, 1e30
		require.NoError(t, e.Restore(&s))
		require.ErrorAs(t, e.Run(context.Background(), 100), &n)
		require.EqualValues(t, 5, n.Index)
		require.EqualValues(t, 33, n.After)
		if o.Sources == nil {
			require.EqualValues(t, 33, n.Burst)
		}
		require.NoError(t, b.Close())
	}
}

// TestStateSaysWhatIsSound: reading a state looks at it, too.
func TestStateSaysWhatIsSound(t *testing.T) {
	c := wild(t, 100)
	b, err := backend.Open("cpu", c, backend.Options{})
	require.NoError(t, err)
	defer b.Close()
	e := engine.New(c, b, engine.Options{Sources: []engine.Source{list{}}})
	require.NoError(t, e.Run(context.Background(), 90))
	require.NoError(t, e.State(&engine.State{}))
	require.NoError(t, e.Run(context.Background(), 30))
	var n *engine.NumberError
	require.ErrorAs(t, e.State(&engine.State{}), &n)
	require.Equal(t, [2]uint64{90, 119}, [2]uint64{n.After, n.Burst})
	require.Equal(t, "potential", n.Name)
	require.ErrorIs(t, e.Check(), error(n), "the engine's work has ended")
}

// TestNotFiniteNamesTheFirst: V comes first, then the further variables in order, each from the first neuron on.
func TestNotFiniteNamesTheFirst(t *testing.T) {
	nan := float32(math.NaN())
	for _, tc := range []struct {
		variable int
		neuron   uint32
		plant    func(s *engine.State)
	}{
		{0, 30, func(s *engine.State) { s.V[30], s.V[31], s.More[0][2] = nan, nan, nan }},
		{1, 29, func(s *engine.State) { s.More[0][29], s.More[1][0] = nan, nan }},
		{2, 0, func(s *engine.State) { s.More[1][0] = nan }},
	} {
		s := &engine.State{V: make([]float32, 32), More: [][]float32{make([]float32, 32), make([]float32, 32)}}
		require.Nil(t, s.NotFinite())
		tc.plant(s)
		x := s.NotFinite()
		require.Equal(t, tc.variable, x.Variable)
		require.Equal(t, tc.neuron, x.Neuron)
		require.True(t, math.IsNaN(float64(x.Value)))
	}
}

// unsteady is a backend whose state has a NaN when it is read for the first time and never again; then steps may fail.
type unsteady struct {
	drifter
	reads int
	then  error
}

func (b *unsteady) ReadState(s *engine.State) error {
	err := b.drifter.ReadState(s)
	if b.reads++; b.reads == 1 {
		s.V[1] = float32(math.NaN())
		b.fail = b.then
	}
	return err
}

// TestNotFiniteOnceOnly: a NaN that does not come again when its bursts run once more ends the run, too, with the bursts
// between the looks, and with what went wrong when they ran again.
func TestNotFiniteOnceOnly(t *testing.T) {
	for _, then := range []error{nil, errors.New("stop")} {
		e := engine.New(net(), &unsteady{then: then}, engine.Options{})
		err := e.Run(context.Background(), 10_000)
		var n *engine.NumberError
		require.ErrorAs(t, err, &n)
		require.Equal(t, [2]uint64{0, 8191}, [2]uint64{n.After, n.Burst})
		require.EqualValues(t, 1, n.Index)
		require.Equal(t, "here", n.Area)
		if then != nil {
			require.ErrorIs(t, err, then)
			require.ErrorContains(t, err, "running again to find its burst: burst 0: stop")
		}
		require.EqualValues(t, 8192, e.Number())
	}
}
