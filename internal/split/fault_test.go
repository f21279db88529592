package split_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/exchange"
	"burst/internal/split"
)

// chatter is a network of nine slices in which every neuron drives itself and reaches the next.
func chatter() *connectome.Connectome {
	const n = 9*connectome.Slice - 5
	a := enginetest.FEAGI(n)
	a.Constant("excitability").Const = 0.37
	a.Drives = []connectome.Drive{enginetest.Always(connectome.Inject, 1200)}
	net := enginetest.Net{RunSeed: 5, Areas: []connectome.Area{a, enginetest.LIF(131)}}
	for i := range uint32(n - 1) {
		net.Synapses = append(net.Synapses, enginetest.Synapse{From: i, To: i + 1, Weight: 31, Delay: uint16(1 + i%7)})
	}
	return net.Build()
}

// faulty is a part whose nth call of a method fails.
type faulty struct {
	split.Part
	step, read, write int
	err               error
}

func (f *faulty) fail(left *int) error {
	if *left--; *left == 0 {
		return f.err
	}
	return nil
}

func (f *faulty) Step(in []engine.Stimulus, out *engine.Burst) error {
	return errors.Join(f.Part.Step(in, out), f.fail(&f.step))
}

func (f *faulty) ReadState(s *engine.State) error {
	return errors.Join(f.Part.ReadState(s), f.fail(&f.read))
}

func (f *faulty) WriteState(s *engine.State) error {
	return errors.Join(f.Part.WriteState(s), f.fail(&f.write))
}

// withFault opens the network in three parts of which one is faulty.
func withFault(t *testing.T, c *connectome.Connectome, part int, f faulty) engine.Backend {
	b, err := split.Local(cut(c, 3), engine.Want{}, func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
		p, err := openCPU(c, w)
		if c.Part.Index == part {
			f.Part = p
			return &f, err
		}
		return p, err
	})
	require.NoError(t, err)
	return b
}

// A part's failure, in any call, is the network's, told with the part where that is another process's, and nothing works
// afterwards but Close.
func TestPartThatFails(t *testing.T) {
	c := chatter()
	device := &engine.DeviceError{Err: errors.New("fell off the bus"), Lost: true}
	for _, f := range []struct {
		name  string
		fault faulty
		call  func(b engine.Backend) error
	}{
		{"step", faulty{step: 3}, func(b engine.Backend) error {
			var out engine.Burst
			return errors.Join(b.Step(nil, &out), b.Step(nil, &out), b.Step(nil, &out))
		}},
		{"batch", faulty{step: 17}, func(b engine.Backend) error {
			return b.(engine.Batcher).StepN(40, func(*engine.Burst) error { return nil })
		}},
		{"read", faulty{read: 1}, func(b engine.Backend) error { return b.ReadState(&engine.State{}) }},
		{"write", faulty{write: 1}, func(b engine.Backend) error { return b.WriteState(engine.NewState(c)) }},
	} {
		for part := range 3 {
			t.Run(fmt.Sprintf("%s/part %d", f.name, part), func(t *testing.T) {
				f.fault.err = device
				b := withFault(t, c, part, f.fault)
				defer b.Close()
				err := f.call(b)
				require.ErrorContains(t, err, "fell off the bus")
				var p *exchange.PartError
				if assert.Equal(t, part > 0, errors.As(err, &p), "an error of another part says so") && part > 0 {
					assert.Equal(t, connectome.Part{Index: part, Of: 3}, p.Part)
				}
				if d := (&engine.DeviceError{}); f.name == "step" || f.name == "batch" {
					require.ErrorAs(t, err, &d)
					assert.True(t, d.Lost)
				}
				assert.EqualError(t, b.ReadState(&engine.State{}), err.Error(), "all that follows fails alike")
				assert.Error(t, b.Step(nil, &engine.Burst{}))
			})
		}
	}
}

// The fault of another part's device is a device's fault here too, lost or not; another error is none.
func TestKindOfAnotherPartsFault(t *testing.T) {
	for _, k := range []struct {
		err    error
		device *engine.DeviceError // nil: none
	}{
		{errors.New("no room"), nil},
		{&engine.DeviceError{Err: errors.New("no room")}, &engine.DeviceError{}},
		{&engine.DeviceError{Err: errors.New("no room"), Lost: true}, &engine.DeviceError{Lost: true}},
	} {
		b := withFault(t, chatter(), 1, faulty{step: 1, err: k.err})
		err := b.Step(nil, &engine.Burst{})
		assert.ErrorContains(t, err, "no room")
		var d *engine.DeviceError
		if errors.As(err, &d) {
			d = &engine.DeviceError{Lost: d.Lost}
		}
		assert.Equal(t, k.device, d, "%T", k.err)
		b.Close()
	}
}

// A part that cannot be opened is told by all, and leaves nothing behind (TestMain).
func TestPartThatDoesNotOpen(t *testing.T) {
	for part := range 3 {
		_, err := split.Local(cut(chatter(), 3), engine.Want{}, func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
			if c.Part.Index == part {
				return nil, errors.New("no room")
			}
			return openCPU(c, w)
		})
		assert.ErrorContains(t, err, "no room")
	}
}

// closing counts how often a part is closed.
type closing struct {
	split.Part
	times *atomic.Int32
}

func (c closing) Close() error {
	c.times.Add(1)
	return c.Part.Close()
}

// A part is closed once: with the network, or at once where another part does not open.
func TestPartsAreClosedOnce(t *testing.T) {
	for _, broken := range []int{-1, 0, 1, 2} { // the part that does not open
		var times [3]atomic.Int32
		closed := func() (n [3]int32) {
			for i := range times {
				n[i] = times[i].Load()
			}
			return n
		}
		b, err := split.Local(cut(chatter(), 3), engine.Want{}, func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
			if c.Part.Index == broken {
				return nil, errors.New("no room")
			}
			p, err := openCPU(c, w)
			return closing{p, &times[c.Part.Index]}, err
		})
		want := [3]int32{1, 1, 1}
		if broken >= 0 {
			require.ErrorContains(t, err, "no room")
			want[broken] = 0
		} else {
			require.NoError(t, err)
			require.NoError(t, b.Step(nil, &engine.Burst{})) // now every part has opened
			require.Zero(t, closed())
			require.NoError(t, b.Close())
		}
		require.Equal(t, want, closed(), "part %d does not open", broken)
	}
}

// A part that serves ends well when it is dismissed, and with an error when it cannot reach the leader.
func TestServeEndsBeforeTheLeaderOpens(t *testing.T) {
	for _, k := range []struct {
		leader func(x exchange.Exchange)
		check  require.ErrorAssertionFunc
	}{
		{split.Dismiss, require.NoError},
		{func(x exchange.Exchange) { x.Abort(errors.New("no genome")) }, require.Error},
	} {
		ends := exchange.Local(2)
		go k.leader(ends[0])
		k.check(t, split.Serve(cut(chatter(), 2)[1], ends[1], openCPU))
	}
}

// What refuses a burst ends the batch soon after, and the network goes on from there as if it had been run so far.
func TestBatchThatIsRefused(t *testing.T) {
	c := chatter()
	for _, at := range []uint64{0, 11, 29} {
		b, err := split.Local(cut(c, 2), engine.Want{}, openCPU)
		require.NoError(t, err)
		enough := errors.New("enough")
		err = b.(engine.Batcher).StepN(30, func(out *engine.Burst) error {
			if out.Number == at {
				return enough
			}
			return nil
		})
		require.ErrorIs(t, err, enough)
		var s, want engine.State
		require.NoError(t, b.ReadState(&s))
		require.LessOrEqual(t, s.Number, at+2)
		oracle, err := reference.Open(c, engine.Want{})
		require.NoError(t, err)
		for range s.Number {
			require.NoError(t, oracle.Step(nil, &engine.Burst{}))
		}
		require.NoError(t, oracle.ReadState(&want))
		require.Nil(t, engine.CompareStates(&want, &s))
		require.NoError(t, b.Close())
	}
}

// The first variable's first neuron that is no number is found, whichever part it is in.
func TestNotFinite(t *testing.T) {
	c := enginetest.Net{Areas: []connectome.Area{enginetest.Izhikevich(640)}}.Build()
	b, err := split.Local(cut(c, 3), engine.Want{}, openCPU)
	require.NoError(t, err)
	defer b.Close()
	w := b.(engine.Watcher)
	require.Nil(t, w.NotFinite())
	inf := float32(math.Inf(1))
	for _, k := range []struct {
		v, u []uint32 // neurons; 64 of them are a slice, of which part 0 has the first, part 1 the second
		want engine.NotFinite
	}{
		{v: []uint32{500, 70, 333}, want: engine.NotFinite{Neuron: 70, Value: inf}},
		{v: []uint32{200, 70}, want: engine.NotFinite{Neuron: 70, Value: inf}},
		{v: []uint32{3, 70, 130}, want: engine.NotFinite{Neuron: 3, Value: inf}},
		{v: []uint32{200}, u: []uint32{3, 70}, want: engine.NotFinite{Neuron: 200, Value: inf}},
		{v: []uint32{300}, u: []uint32{3, 70}, want: engine.NotFinite{Neuron: 300, Value: inf}},
		{u: []uint32{130, 70}, want: engine.NotFinite{Neuron: 70, Variable: 1, Value: inf}},
	} {
		s := engine.NewState(c)
		for _, n := range k.v {
			s.V[n] = inf
		}
		for _, n := range k.u {
			s.More[0][n] = inf
		}
		require.NoError(t, b.WriteState(s))
		require.Equal(t, &k.want, w.NotFinite())
	}
}

// A state of any burst reaches all parts with its whole number, on which their draws depend.
func TestLateState(t *testing.T) {
	c := enginetest.Net{Areas: []connectome.Area{enginetest.Poisson(200, 0.5)}}.Build()
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	b, err := split.Local(cut(c, 3), engine.Want{}, openCPU)
	require.NoError(t, err)
	defer b.Close()
	s := engine.NewState(c)
	s.Number = 1<<32 + 3
	require.NoError(t, oracle.WriteState(s))
	require.NoError(t, b.WriteState(s))
	d, err := engine.Compare(oracle, b, 5, nil, 1)
	require.NoError(t, err)
	require.Nil(t, d)
}

// A state of N parts goes on in M, and an engine sees one network.
func TestStateGoesOnInOtherParts(t *testing.T) {
	c := chatter()
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	whole := engine.New(c, oracle, engine.Options{})
	require.NoError(t, whole.Run(context.Background(), 90))
	var s, want engine.State
	for i, parts := range []int{2, 3, 1, 5} {
		b, err := split.Local(cut(c, parts), engine.Want{}, openCPU)
		require.NoError(t, err)
		e := engine.New(c.Cut(connectome.Part{Index: 0, Of: parts}), b, engine.Options{})
		if i > 0 {
			require.NoError(t, e.Restore(&s))
		}
		require.NoError(t, e.Run(context.Background(), []uint64{7, 31, 22, 30}[i]))
		require.NoError(t, e.State(&s))
		require.NoError(t, b.Close())
	}
	require.NoError(t, whole.State(&want))
	require.Nil(t, engine.CompareStates(&want, &s))
	require.Equal(t, whole.Digest(), s.Digest)
	require.NotZero(t, whole.Spikes())
}
