package enginetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/internal/slow"
)

// runLaws checks what holds whatever a network computes.
func runLaws(t *testing.T, open, oracle Open) {
	for seed := range uint64(8) {
		if !slow.Full() && (seed%3 != 1 || seed == 1 && inner()) {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 0x6c617773))
		pick := int(seed)
		if seed >= 6 {
			pick = custom
		}
		n := randomNet(r, pick)
		input := r.Uint64()
		if seed%4 == 1 || seed%4 == 2 { // with and without FCL in batch
			n.slow(1 + uint16(r.IntN(16)))
		}
		t.Run(fmt.Sprintf("split/seed %d", seed), func(t *testing.T) { split(t, open, n, input) })
		t.Run(fmt.Sprintf("unconnected/seed %d", seed), func(t *testing.T) { unconnected(t, open, n, input) })
		t.Run(fmt.Sprintf("want/seed %d", seed), func(t *testing.T) { want(t, open, n, input) })
		t.Run(fmt.Sprintf("values/seed %d", seed), func(t *testing.T) { values(t, open, n, input) })
		t.Run(fmt.Sprintf("state/seed %d", seed), func(t *testing.T) { wholeState(t, open, n, input) })
		t.Run(fmt.Sprintf("late/seed %d", seed), func(t *testing.T) { late(t, open, n, input) })
		t.Run(fmt.Sprintf("batch/seed %d", seed), func(t *testing.T) { batch(t, open, oracle, engine.Want{FCL: seed%2 == 0}, n, input) })
	}
	t.Run("sources", func(t *testing.T) { sources(t, open) })
}

// RunBatches checks StepN and the Steps between, against the oracle's Step, on the networks of Run's laws: for backends with several ways
// of running many bursts.
func RunBatches(t *testing.T, open, oracle Open, w engine.Want) {
	for seed := range seeds(6, 3) {
		r := rand.New(rand.NewPCG(seed, 0x6c617773))
		batch(t, open, oracle, w, randomNet(r, int(seed)), r.Uint64())
		batch(t, open, oracle, w, Uniform(r), r.Uint64())
		if seed%2 == 0 {
			batch(t, open, oracle, w, Uniform(r, "lif_psc_exp"), r.Uint64())
		}
		r = rand.New(rand.NewPCG(seed, 0x636f6c756d6e))
		for _, n := range []Net{randomNet(r, int(seed)), Uniform(r), Uniform(r, "lif_psc_exp")} {
			n.differ(r)
			batch(t, open, oracle, w, n, r.Uint64())
		}
		r = rand.New(rand.NewPCG(seed, 0x706f727473))
		for _, n := range []Net{randomNet(r, wide), randomNet(r, wide).prompt(), Uniform(r, "lif_psc_exp").named(r)} {
			batch(t, open, oracle, w, n, r.Uint64())
		}
	}
}

// RunEventBatches is RunBatches on networks in which half of the areas are of a model with Event, and whose smallest delays are 1, more, or
// those of all synapses.
func RunEventBatches(t *testing.T, open, oracle Open, w engine.Want) {
	for seed := range seeds(60, 20) {
		r := rand.New(rand.NewPCG(seed, 0x6c6973747300))
		n := randomNet(r, event)
		least := among[uint16](r, 1, 2, 3, 18, 200)
		for i := range n.Synapses {
			d := &n.Synapses[i].Delay
			switch seed % 3 {
			case 0:
				*d = least
			case 1:
				*d = max(*d, least)
			}
		}
		if seed%4 == 3 {
			n.differ(r)
		}
		batch(t, open, oracle, w, n, r.Uint64())
	}
}

// fail reports a difference between what was found (B) and what was wanted (A).
func fail(t testing.TB, d *engine.Difference, why string) {
	t.Helper()
	if d != nil {
		t.Fatalf("burst %d, neuron %d: %s is %s, want %s\nwhy: %s", d.Burst, d.Neuron, d.Field, d.B, d.A, why)
	}
}

// split: a run of n + m bursts is one of n, its state read, written into a new backend (which has run something else
// before), and m more.
func split(t testing.TB, open Open, n Net, seed uint64) {
	const first, second = 23, 31
	c := n.Build()
	in := randomInput(seed, c)
	whole, half, rest := start(t, open, c, engine.Want{FCL: true}), start(t, open, c, engine.Want{FCL: true}), start(t, open, c, engine.Want{FCL: true})
	var a, b engine.Burst
	for i := range uint64(first) {
		step(t, whole, in(i), &a)
		step(t, half, in(i), &b)
		step(t, rest, in(i+1000), &b)
	}
	write(t, rest, read(t, half))
	for i := range uint64(second) {
		step(t, whole, in(first+i), &a)
		step(t, rest, in(first+i), &b)
		fail(t, engine.CompareBursts(&a, &b), "a run may be split anywhere and go on in another backend")
	}
	fail(t, engine.CompareStates(read(t, whole), read(t, rest)), "a run may be split anywhere and go on in another backend")
}

// unconnected: an area that nothing connects, put after all others, changes nothing in them.
func unconnected(t testing.TB, open Open, n Net, seed uint64) {
	const why = "an unconnected area changes nothing elsewhere"
	more := n
	island := set(FEAGI(77), map[string]float32{"excitability": 0.5})
	island.Drives = []connectome.Drive{Always(connectome.Inject, n.Scale)}
	more.Areas = append(slices.Clone(n.Areas), island)
	c, d := n.Build(), more.Build()
	in := randomInput(seed, c)
	a, b := start(t, open, c, engine.Want{FCL: true}), start(t, open, d, engine.Want{FCL: true})
	var x, y engine.Burst
	for i := range uint64(30) {
		step(t, a, in(i), &x)
		step(t, b, in(i), &y)
		cut := engine.Burst{Number: y.Number, Amplitudes: y.Amplitudes} // the new area has none
		for _, id := range y.Fired {
			if id < c.Neurons {
				cut.Fired = append(cut.Fired, id)
			}
		}
		for _, k := range y.Candidates {
			if k.Neuron < c.Neurons {
				cut.Candidates = append(cut.Candidates, k)
			}
		}
		fail(t, engine.CompareBursts(&x, &cut), why)
		if len(y.Candidates) != len(cut.Candidates)+77 {
			t.Fatalf("burst %d: %d candidates, want the driven area's 77 beside %d", i, len(y.Candidates), len(cut.Candidates))
		}
	}
}

// want: without Want.FCL the same neurons fire, and no candidates are delivered.
func want(t testing.TB, open Open, n Net, seed uint64) {
	c := n.Build()
	in := randomInput(seed, c)
	a, b := start(t, open, c, engine.Want{FCL: true}), start(t, open, c, engine.Want{})
	var x, y engine.Burst
	for i := range uint64(30) {
		step(t, a, in(i), &x)
		step(t, b, in(i), &y)
		if err := shape(&x); err != nil {
			t.Fatalf("burst %d, %v", i, err)
		}
		x.Candidates = nil
		fail(t, engine.CompareBursts(&x, &y), "asking for the FCL changes nothing but the FCL, which is empty when nobody asks")
	}
	fail(t, engine.CompareStates(read(t, a), read(t, b)), "asking for the FCL changes no state")
}

// values: those asked for, of every variable, are those of the state after the burst, and asking changes nothing else.
func values(t testing.TB, open Open, n Net, seed uint64) {
	c := n.Build()
	in := randomInput(seed, c)
	list := someProbes(c)
	a, b := start(t, open, c, engine.Want{FCL: true}), start(t, open, c, engine.Want{FCL: true, Values: list})
	var x, y engine.Burst
	for i := range uint64(20) {
		step(t, a, in(i), &x)
		step(t, b, in(i), &y)
		s := read(t, b)
		x.Values = x.Values[:0]
		for _, p := range list {
			x.Values = append(x.Values, p.In(c, s))
		}
		fail(t, engine.CompareBursts(&x, &y), "the values asked for are those of the state after the burst")
	}
	fail(t, engine.CompareStates(read(t, a), read(t, b)), "asking for values changes no state")
}

// someProbes are of every variable: neighbours, gaps and the last neuron.
func someProbes(c *connectome.Connectome) []engine.Probe {
	var list []engine.Probe
	for k := range uint32(1 + c.Variables()) {
		for i := range c.Neurons {
			if (i+k)%7 < 3 || i == c.Neurons-1 {
				list = append(list, engine.Probe{Neuron: i, Variable: k})
			}
		}
	}
	return list
}

// wholeState: what is written is what is read, the caller's memory stays the caller's, and the queues of a state are
// the fire queues that were delivered.
func wholeState(t testing.TB, open Open, n Net, seed uint64) {
	c := n.Build()
	in := randomInput(seed, c)
	b := start(t, open, c, engine.Want{})
	fail(t, engine.CompareStates(engine.NewState(c), read(t, b)), "a new backend is in the state before burst 0")
	var out engine.Burst
	past := make([][]uint32, c.Queues())
	var sizes [][]engine.Amplitude
	if c.Driven != nil {
		sizes = make([][]engine.Amplitude, c.AmplitudeLists())
	}
	for i := range uint64(20) {
		step(t, b, in(i), &out)
		past = append([][]uint32{slices.Clone(out.Fired)}, past[:len(past)-1]...)
		if sizes != nil {
			sizes = append([][]engine.Amplitude{slices.Clone(out.Amplitudes)}, sizes[:len(sizes)-1]...)
		}
	}
	s := read(t, b)
	fail(t, engine.CompareStates(&engine.State{Number: 20, V: s.V, Refractory: s.Refractory, Count: s.Count, More: s.More, Queues: past, Amplitudes: sizes, Plastic: s.Plastic, Memory: s.Memory}, s),
		"queue d of a state is the fire queue of burst Number − d, with its amplitudes")
	first := s.Clone()
	write(t, b, s)
	fail(t, engine.CompareStates(first, read(t, b)), "a state that is written is read back")
	for i := range s.V {
		s.V[i], s.Refractory[i], s.Count[i] = 1e9, 3, 9
		for _, more := range s.More {
			more[i] = 7
		}
	}
	for _, q := range s.Queues {
		clear(q)
	}
	for _, list := range s.Amplitudes {
		clear(list)
	}
	for i := range s.Memory {
		clear(s.Memory[i].Pattern)
		clear(s.Memory[i].Lifespan)
	}
	fail(t, engine.CompareStates(first, read(t, b)), "a backend copies the state that is written")
	if s.Digest = 99; b.ReadState(s) != nil || s.Digest != 99 {
		t.Fatal("Digest was changed, want it left to the engine")
	}
	fail(t, engine.CompareStates(first, s), "a state's memory can be used again")
}

// late: a run that begins at any burst delivers that number and goes on from there, also above 2^32 bursts and next to
// a multiple of the number of queues.
func late(t testing.TB, open Open, n Net, seed uint64) {
	c := n.Build()
	in := randomInput(seed, c)
	for _, number := range []uint64{1, uint64(c.MaxDelay), 1<<32 - 2, 1<<40 + 3} {
		b := start(t, open, c, engine.Want{})
		var out engine.Burst
		for i := range uint64(7) {
			step(t, b, in(i), &out)
		}
		s := read(t, b)
		s.Number = number
		write(t, b, s)
		fail(t, engine.CompareStates(s, read(t, b)), "a state of any number is read back")
		step(t, b, nil, &out)
		if out.Number != number {
			t.Fatalf("burst %d was delivered as number %d", number, out.Number)
		}
		q := read(t, b)
		var sizes [][]engine.Amplitude
		if c.Driven != nil {
			sizes = append([][]engine.Amplitude{slices.Clone(out.Amplitudes)}, s.Amplitudes[:len(s.Amplitudes)-1]...)
		}
		fail(t, engine.CompareStates(&engine.State{Number: number + 1, V: q.V, Refractory: q.Refractory, Count: q.Count, More: q.More, Plastic: q.Plastic, Memory: q.Memory, Amplitudes: sizes,
			Queues: append([][]uint32{slices.Clone(out.Fired)}, s.Queues[:len(s.Queues)-1]...)}, q), "queues move on by one burst")
	}
}

// sources: stimuli reach a backend merged and ascending, so that the order in which they were made changes nothing.
func sources(t testing.TB, open Open) {
	n := Net{Areas: []connectome.Area{set(FEAGI(5), map[string]float32{"threshold": 3}), LIF(70)}}
	c := n.Build()
	list := []engine.Stimulus{{Port: 3, Amount: 900}, {Port: 70, Amount: -5}, {Port: 3, Amount: 2100}, {Port: 0, Amount: 1}, {Port: 70, Amount: 5}, {Port: 74, Amount: 30000}}
	a, b := start(t, open, c, engine.Want{FCL: true}), start(t, open, c, engine.Want{FCL: true})
	back := slices.Clone(list)
	slices.Reverse(back)
	feedA, feedB := engine.NewFeed(c, []engine.Source{constant(list)}), engine.NewFeed(c, []engine.Source{constant(back)})
	var x, y engine.Burst
	for i := range uint64(5) {
		inA, errA := feedA.Next(i)
		inB, errB := feedB.Next(i)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		step(t, a, inA, &x)
		step(t, b, inB, &y)
		fail(t, engine.CompareBursts(&x, &y), "the order of stimuli changes nothing")
		if i == 0 && !slices.Equal(x.Fired, []uint32{3, 74}) {
			t.Fatalf("burst 0: fired %d, want [3 74]: 900 + 2100 reach 3 units", x.Fired)
		}
	}
}

// constant is a Source of the same stimuli in every burst.
type constant []engine.Stimulus

func (c constant) Stimuli(_ uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	return append(in, c...), nil
}

// batch: where a backend advances many bursts at a time, that equals as many Steps, whatever was done before and is done
// after, and a failing receiver leaves it with whole bursts. Every second network's state variables are wanted too.
func batch(t testing.TB, open, oracle Open, w engine.Want, n Net, seed uint64) {
	const why = "StepN(n) equals n Steps"
	r := rand.New(rand.NewPCG(seed, 9))
	ports := n.Build().Ports
	for k := range 3 {
		s := connectome.Stimulus{At: uint64(3 * k), Every: uint64(k), From: 2, Until: 40}
		for p := uint32(k); p < ports; p += 1 + uint32(r.IntN(5)) {
			s.Ports, s.Amounts = append(s.Ports, p), append(s.Amounts, quanta(r, n.Scale))
		}
		n.Stimuli = append(n.Stimuli, s)
	}
	c := n.Build()
	if seed%2 == 1 {
		w.Values = someProbes(c)
	}
	many, ok := start(t, open, c, w).(engine.Batcher)
	if !ok || !many.CanStepN() {
		return // this backend has no StepN for this network
	}
	one, given := start(t, oracle, c, w), randomInput(seed, c)
	feed := engine.NewFeed(c, nil)
	var a, b engine.Burst
	next := func() []engine.Stimulus {
		in, err := feed.Next(a.Number + 1)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	a.Number = math.MaxUint64 // so that the next is 0
	for _, size := range []int{1, 7, 0, 40, 2, 13} {
		seen := 0
		err := many.StepN(size, func(b *engine.Burst) error {
			step(t, one, next(), &a)
			fail(t, engine.CompareBursts(&a, b), why)
			seen++
			return nil
		})
		if err != nil || seen != size {
			t.Fatalf("StepN(%d) delivered %d bursts and returned %v", size, seen, err)
		}
		fail(t, engine.CompareStates(read(t, one), read(t, many)), why)
		for _, in := range [][]engine.Stimulus{next(), given(uint64(size)), nil}[:1+size%3] { // in a Step act what it is given and no others
			step(t, one, in, &a)
			step(t, many, in, &b)
			fail(t, engine.CompareBursts(&a, &b), "single bursts may follow StepN")
		}
	}
	s := read(t, many)
	write(t, many, s)
	fail(t, engine.CompareStates(s, read(t, many)), "a state is written over what StepN left")
	enough := errors.New("enough")
	if err := many.StepN(50, func(*engine.Burst) error { return enough }); !errors.Is(err, enough) {
		t.Fatalf("StepN returned %v, want the error of each", err)
	}
	s = read(t, many)
	for s.Number > a.Number+1 {
		step(t, one, next(), &a)
	}
	fail(t, engine.CompareStates(read(t, one), s), "after a receiver's error the state is that of whole bursts")
}
