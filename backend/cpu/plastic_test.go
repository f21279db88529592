package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
	"burst/internal/formula"
	"burst/internal/slow"
	"burst/internal/split"
)

// TestPendingEvents compares networks that learn with the reference, with states read rarely, so that events are pending for long,
// and with little room for them, so that sweeps come at any time.
func TestPendingEvents(t *testing.T) {
	slow.Short(t)
	many := slow.Times(6, 30)
	for seed := range uint64(many) {
		r := rand.New(rand.NewPCG(seed, 0x706c6173))
		n := enginetest.RandomPlastic(r, int(seed))
		c := n.Build()
		oracle, err := reference.Open(c, engine.Want{FCL: true})
		if err != nil {
			t.Fatal(err)
		}
		every, bursts := []uint64{0, 41, 3}[r.IntN(3)], uint64(100+r.IntN(300))
		b := eager(open(c, engine.Want{FCL: true}, []int{1, 2, 3, 8}[seed%4], vector.Best()))
		for _, w := range b.workers {
			for _, s := range w.shares {
				if spare := uint32(r.IntN(30)); r.IntN(3) > 0 && s.onPost != nil && s.ring.targets > 0 {
					s.ring.slots = s.ring.slots[:s.ring.targets+min(spare, spareSlots(s.ring.targets))+1]
				}
			}
		}
		d, err := engine.Compare(oracle, b, bursts, nil, every)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			t.Errorf("seed %d, %d bursts, states every %d, %d workers: burst %d, neuron %d: %s is %s, want %s", seed, bursts, every, len(b.workers), d.Burst, d.Neuron, d.Field, d.B, d.A)
		}
		_ = b.Close()
	}
}

// TestPlasticParts is the same for networks in parts.
func TestPlasticParts(t *testing.T) {
	many := slow.Times(6, 30)
	for seed := range uint64(many) {
		r := rand.New(rand.NewPCG(seed, 0x706c6173))
		c := enginetest.RandomPlastic(r, int(seed)).Build()
		of := 2 + r.IntN(4)
		t.Run(fmt.Sprintf("seed %d, %d parts", seed, of), func(t *testing.T) {
			var list []*connectome.Connectome
			for i := range of {
				list = append(list, c.Cut(connectome.Part{Index: i, Of: of}))
			}
			b, err := split.Local(list, engine.Want{}, func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
				return open(c, w, 2, vector.Best()), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			oracle, err := reference.Open(c, engine.Want{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := engine.Compare(oracle, b, 120, nil, 37)
			if err != nil {
				t.Fatal(err)
			}
			if d != nil {
				t.Errorf("burst %d, neuron %d: %s is %s, want %s", d.Burst, d.Neuron, d.Field, d.B, d.A)
			}
		})
	}
}

// pairs is a network that learns by a pair rule, of so many Poisson neurons and as many targets.
func pairs(each uint32, chance float64, source uint32) *connectome.Connectome {
	n := enginetest.Net{Scale: 1000, Areas: []connectome.Area{enginetest.Poisson(each, chance), enginetest.Poisson(source, 0), enginetest.LIF(each)}}
	n.Plastic = []enginetest.Plastic{{
		From: 0, To: 2, Hi: 1, Lag: 2, Values: map[string]float32{"up": 0.01, "down": 0.013},
		Rule: enginetest.Handlers{
			Params: []string{"up", "down"}, Pre: []string{"x"}, Post: []string{"y"},
			OnPost: []string{"w = w + up*(1 - w)*x"}, OnPre: []string{"w = w - down*w*y"},
		},
		Pre: []connectome.Trace{enginetest.Trace(30, 1, false)}, Post: []connectome.Trace{enginetest.Trace(20, 1, false)},
	}}
	for i := range each {
		for j := range each {
			n.Plastic[0].Synapses = append(n.Plastic[0].Synapses, enginetest.Synapse{From: i, To: j, Weight: 500, Delay: uint16(1 + (i+j)%3)})
		}
	}
	if source > 0 {
		n.Plastic = append(n.Plastic, n.Plastic[0])
		n.Plastic[1].From = 1
	}
	a := &n.Areas[2]
	a.Constant("em1").Const, a.Constant("threshold").Const, a.Constant("reset").Const = -0.1, 2, 0
	return n.Build()
}

// TestLongTurns runs so long that the ring's lanes are counted anew several times, and over a turnover of last events, of which some
// are old before and some become it.
func TestLongTurns(t *testing.T) {
	slow.Short(t)
	c := pairs(10, 0.1, 10)
	for i, first := range []uint64{0, turnover - 20_000, longAgo - 20_000, 1<<32 - 20_000} {
		for k := range c.Plastic {
			c.Plastic[k].Lag = uint32(3 - i%2) // posts know of the same events as the state does, or of more
		}
		oracle, err := reference.Open(c, engine.Want{})
		if err != nil {
			t.Fatal(err)
		}
		b := open(c, engine.Want{}, 2, vector.Best())
		state := engine.NewState(c)
		state.Number = first
		for i := range state.Plastic {
			p := &state.Plastic[i]
			for j := range p.PostLast { // in the past of the queues, some so long ago that posts.last does not tell when
				if age := 3 + uint64(j)*(2*turnover-2000); age < first {
					p.PostLast[j], p.Post[0][j] = first-age, 1.5
				}
			}
		}
		for _, x := range []engine.Backend{oracle, b} {
			if err := x.WriteState(state); err != nil {
				t.Fatal(err)
			}
		}
		d, err := engine.Compare(oracle, b, uint64(slow.Times(40_000, 100_000)), nil, 39_989)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			t.Errorf("from burst %d: burst %d, neuron %d: %s is %s, want %s", first, d.Burst, d.Neuron, d.Field, d.B, d.A)
		}
		_ = b.Close()
	}
}

// TestOldEvents: the state's last events of targets that are silent stay as they are, however long ago they were, also over a turnover.
func TestOldEvents(t *testing.T) {
	if until := connectome.NewTable(connectome.MaxTau).Until; until > longestAge {
		t.Fatalf("traces last for %d bursts, longer than %d", until, uint64(longestAge))
	}
	c := pairs(12, 0.4, 0)
	c.Areas[2].Constant("threshold").Const = 1e9
	for lag := range uint32(2) {
		c.Plastic[0].Lag = 2 + lag // posts know of more events than the state does, or of the same
		b := open(c, engine.Want{}, 2, vector.Best())
		state, got := engine.NewState(c), &engine.State{}
		state.Number = 1<<34 - 3
		for j, age := range []uint64{3, turnover, longestAge - 3, longestAge - 1, longestAge, longestAge + 1, longAgo - 1, longAgo, longAgo + 1, 1 << 32, 1 << 33} {
			state.Plastic[0].PostLast[j] = state.Number - 3 - age // the twelfth has none
		}
		if err := b.WriteState(state); err != nil {
			t.Fatal(err)
		}
		for range 7 {
			_ = b.Step(nil, &engine.Burst{})
			if err := b.ReadState(got); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Plastic[0].PostLast, state.Plastic[0].PostLast) {
				t.Fatalf("lag %d, burst %d: last events are %d, want %d", 2+lag, b.number, got.Plastic[0].PostLast, state.Plastic[0].PostLast)
			}
		}
		x := b.workers[0].shares[0]
		want := x.lastOf(1, b.number)
		for past := range uint64(40) { // a long time without a spike
			now := b.number/turnover*turnover + past*turnover
			x.raise(now)
			if last := x.lastOf(1, now+1); last != want {
				t.Fatalf("after burst %d the last event is %d, want %d", now, last, want)
			}
		}
		_ = b.Close()
	}
}

// TestSilentSourcesAreNotVisited: of sources that never fire no weight is looked at, and yet events are given up.
func TestSilentSourcesAreNotVisited(t *testing.T) {
	c := pairs(10, 0.4, 10)
	c.Plastic[1].Post = []connectome.Trace{enginetest.Trace(20, 2, false)} // it has posts of its own
	b := open(c, engine.Want{}, 1, vector.Best())
	defer b.Close()
	silent := b.workers[0].shares[1]
	if !silent.stays {
		t.Fatal("the pair rule is not still")
	}
	for k := range b.learns[1].weight { // such a weight would be clamped if on_post ran
		b.learns[1].weight[k] = 7
	}
	var out engine.Burst
	posted := 0
	for range 5000 {
		_ = b.Step(nil, &out)
		posted += len(silent.posted)
	}
	if posted < 500 || silent.ring.kept() > 0 {
		t.Errorf("of %d post events %d are kept", posted, silent.ring.kept())
	}
	for _, w := range b.learns[1].weight {
		if w != 7 {
			t.Fatalf("a silent source's weight became %g", w)
		}
	}
}

// TestShared: projections share what they know of their sources and targets, but not after a state that tells them
// apart.
func TestShared(t *testing.T) {
	c := pairs(10, 0.02, 10)
	c.Areas[2].Drives = []connectome.Drive{{Kind: connectome.Term, Until: math.MaxUint64, Term: 0.3}} // rows wait long for their sources
	third := c.Plastic[0]
	third.OnPost = &connectome.Handler{Handler: third.OnPost.Handler, Params: []float32{0.03}}
	c.Plastic = append(c.Plastic, third)
	oracle, err := reference.Open(c, engine.Want{})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		b := eager(open(c, engine.Want{}, workers, vector.Best()))
		state := engine.NewState(c)
		for _, x := range []struct {
			why              string
			change           func(p []engine.Plastic)
			sources, targets []int
		}{
			{"at first", func([]engine.Plastic) {}, []int{0, 1, 0}, []int{0, 0, 0}},
			{"later", func([]engine.Plastic) {}, []int{0, 1, 0}, []int{0, 0, 0}},
			{"with another trace of a target", func(p []engine.Plastic) { p[1].Post[0][3] += 0.5 }, []int{0, 1, 0}, []int{0, 1, 0}},
			{"with another trace of a source", func(p []engine.Plastic) { p[2].Pre[0][3] += 0.25 }, []int{0, 1, 2}, []int{0, 0, 0}},
			{"with another last event", func(p []engine.Plastic) { p[2].PostLast[4]-- }, []int{0, 1, 0}, []int{0, 0, 2}},
			{"with the first state", func(p []engine.Plastic) { *state = *engine.NewState(c) }, []int{0, 1, 0}, []int{0, 0, 0}},
		} {
			x.change(state.Plastic)
			for _, back := range []engine.Backend{oracle, b} {
				if err := back.WriteState(state); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(b.sourcesOf, x.sources) || !slices.Equal(b.targetsOf, x.targets) {
				t.Errorf("%s: %v and %v are shared, want %v and %v", x.why, b.sourcesOf, b.targetsOf, x.sources, x.targets)
			}
			d, err := engine.Compare(oracle, b, 900, nil, 450)
			if err != nil {
				t.Fatal(err)
			}
			if d != nil {
				t.Fatalf("%s, %d workers: burst %d, neuron %d: %s is %s, want %s", x.why, workers, d.Burst, d.Neuron, d.Field, d.B, d.A)
			}
			if err := b.ReadState(state); err != nil {
				t.Fatal(err)
			}
		}
		_ = b.Close()
	}
}

// TestManySpikes compares where more neurons than a batch has fire in every burst, while their last spikes are still on their way.
func TestManySpikes(t *testing.T) {
	c := pairs(3*batch+5, 0.5, 0)
	oracle, err := reference.Open(c, engine.Want{})
	if err != nil {
		t.Fatal(err)
	}
	b := open(c, engine.Want{}, 1, vector.Best())
	defer b.Close()
	d, err := engine.Compare(oracle, b, 60, nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	if d != nil {
		t.Errorf("burst %d, neuron %d: %s is %s, want %s", d.Burst, d.Neuron, d.Field, d.B, d.A)
	}
	if n := len(b.learns[0].volley(59).sources); n <= batch {
		t.Errorf("%d sources fired, want more than %d", n, batch)
	}
}

// TestRareSources compares where sources fire so rarely that traces end between spikes, and where on_post reads what a source that never
// fired has: an age, but no trace.
func TestRareSources(t *testing.T) {
	for _, text := range []string{"w = w + up*(1 - w)*x", "w = w + up*min(age_pre, 50)*0.01", "w = w + up*x*y"} {
		c := pairs(10, 0.0005, 10)
		rule, faults := formula.DefineRule(&formula.RuleSource{Params: []string{"up", "down"}, Pre: []string{"x"}, Post: []string{"y"}, OnPost: []string{text}})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		for i := range c.Plastic {
			p := &c.Plastic[i]
			p.OnPost = &connectome.Handler{Handler: rule.OnPost, Params: p.OnPost.Params[:1]}
			p.Pre = []connectome.Trace{enginetest.Trace(3, 1, false)}
		}
		a := &c.Areas[2]
		a.Drives = []connectome.Drive{{Kind: connectome.Term, Until: math.MaxUint64, Term: 0.3}}
		oracle, err := reference.Open(c, engine.Want{})
		if err != nil {
			t.Fatal(err)
		}
		b := open(c, engine.Want{}, 2, vector.Best())
		d, err := engine.Compare(oracle, b, 8000, nil, 997)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			t.Errorf("%s: burst %d, neuron %d: %s is %s, want %s", text, d.Burst, d.Neuron, d.Field, d.B, d.A)
		}
		if b.workers[0].shares[0].lastOf(0, b.number) == 0 {
			t.Error("the targets never fire")
		}
		_ = b.Close()
	}
}

// TestLearningAllocatesNothing counts allocations of bursts in steady state.
func TestLearningAllocatesNothing(t *testing.T) {
	for _, several := range []bool{false, true} {
		l := learner{neurons: 2000, fan: 20, period: 50, delay: 3, lag: 2}
		c := l.build(true)
		if several {
			c = pairs(200, 0.1, 0) // rows of a delay have 67 synapses, more than eight eights
		}
		b := open(c, engine.Want{}, 1, vector.Best())
		var out engine.Burst
		if !several {
			if err := l.spread(b, c); err != nil {
				t.Fatal(err)
			}
		}
		for range 3000 {
			_ = b.Step(nil, &out)
		}
		if n := testing.AllocsPerRun(500, func() { _ = b.Step(nil, &out) }); n != 0 {
			t.Errorf("a burst makes %g allocations", n)
		}
		_ = b.Close()
	}
}

// TestWindows compares FEAGI's rules over several delays, with bounds so wide that weights seldom end there.
func TestWindows(t *testing.T) {
	for _, kind := range []genome.Window{genome.WindowRelease, genome.WindowFebruary, genome.WindowPython} {
		for _, delays := range []uint8{1, 5} {
			n := enginetest.Net{Scale: 8, Areas: []connectome.Area{enginetest.Poisson(90, 0.1), enginetest.LIF(70)}}
			p := enginetest.Plastic{From: 0, To: 1, Lo: 0, Hi: 4000, Window: connectome.Window{Kind: kind, Bursts: 2, Up: 1, Down: 0.125}}
			for i := range uint32(90) {
				for j := range uint32(70) {
					if (i*j)%5 == 0 {
						p.Synapses = append(p.Synapses, enginetest.Synapse{From: i, To: j, Weight: 8 * 2000, Delay: 1 + uint16(uint8(i+j*j)%delays)})
					}
				}
			}
			n.Plastic = []enginetest.Plastic{p}
			n.Areas[1].Constant("em1").Const, n.Areas[1].Constant("threshold").Const = -0.1, 9000
			c := n.Build()
			oracle, err := reference.Open(c, engine.Want{})
			if err != nil {
				t.Fatal(err)
			}
			b := open(c, engine.Want{}, 3, vector.Best())
			d, err := engine.Compare(oracle, b, 300, nil, 7)
			if err != nil {
				t.Fatal(err)
			}
			if d != nil {
				t.Errorf("kind %d, %d delays: burst %d, neuron %d: %s is %s, want %s", kind, delays, d.Burst, d.Neuron, d.Field, d.B, d.A)
			}
			_ = b.Close()
		}
	}
}
