package cpu

import (
	"burst/internal/slow"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/formula"
)

// TestStepDoesNotAllocate warms a network up whose neurons all fire in the same burst now and then, so that every buffer has
// been as full as it gets.
func TestStepDoesNotAllocate(t *testing.T) {
	pulse := enginetest.FEAGI(9000)
	pulse.Constant("refractory").Const, pulse.Constant("excitability").Const = 2, 0.9995
	pulse.Drives = []connectome.Drive{enginetest.Always(connectome.Inject, 1000), enginetest.Always(connectome.Poisson, 5, 1<<30, 1<<31)}
	cells := enginetest.LIF(9000)
	cells.Drives = []connectome.Drive{{Kind: connectome.Term, Until: math.MaxUint64, Term: 3}}
	n := enginetest.Net{Areas: []connectome.Area{pulse, cells}}
	for i := range uint32(9000) {
		n.Synapses = append(n.Synapses, enginetest.Synapse{From: i, To: 17999 - i, Weight: 300, Delay: 1 + uint16(i%3)})
	}
	c := n.Build()
	in := []engine.Stimulus{{Port: 3, Amount: 7}, {Port: 12000, Amount: -7}}
	for _, workers := range []int{1, 2, 5} {
		b := open(c, engine.Want{FCL: true}, workers, vector.Best())
		var out engine.Burst
		most := 0
		for range 200 {
			if err := b.Step(in, &out); err != nil {
				t.Fatal(err)
			}
			most = max(most, len(out.Fired))
		}
		if most < 9000 {
			t.Errorf("%d workers: at most %d neurons fired in one burst, want 9000 for the test to mean anything", workers, most)
		}
		if allocs := testing.AllocsPerRun(100, func() { _ = b.Step(in, &out) }); allocs != 0 {
			t.Errorf("%d workers: %v allocations a burst, want none", workers, allocs)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestQuietStepDoesNotAllocate is for bursts in which sums are marked, so that only candidates are looked at.
func TestQuietStepDoesNotAllocate(t *testing.T) {
	c, in := quiet(200_000, 20)
	for _, workers := range []int{1, 3} {
		b := open(c, engine.Want{}, workers, vector.Best())
		var out engine.Burst
		for range 5 {
			_ = b.Step(in, &out)
		}
		if allocs := testing.AllocsPerRun(50, func() { _ = b.Step(in, &out) }); allocs != 0 {
			t.Errorf("%d workers: %v allocations a burst, want none", workers, allocs)
		}
		if len(out.Fired) < len(in) || !b.workers[0].marking {
			t.Errorf("%d workers: %d neurons fired and sums are marked: %v, want %d or more, and true", workers, len(out.Fired), b.workers[0].marking, len(in))
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// quiet is a feagi network in which the stimuli fire active neurons, of 100 synapses each, in every burst.
func quiet(neurons, active uint32) (*connectome.Connectome, []engine.Stimulus) {
	n := enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(neurons)}}
	var in []engine.Stimulus
	for i := range active {
		from := i * (neurons / active)
		in = append(in, engine.Stimulus{Port: from, Amount: 1000})
		for k := range uint32(100) {
			n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: (from + 1 + k*99_991) % neurons, Weight: 1})
		}
	}
	return n.Build(), in
}

// regular is n lif neurons with 100 synapses each of which one in a hundred fires in every burst: the drive takes a
// neuron from reset to threshold in 80 bursts and it stays refractory for 20.
func regular(n uint32) *connectome.Connectome {
	const fan = 100
	a := enginetest.LIF(n)
	em1 := math.Expm1(-0.001)
	a.Constant("em1").Const, a.Constant("reset").Const = float32(em1), 19.9167
	a.Drives = []connectome.Drive{{Kind: connectome.Term, Until: math.MaxUint64, Term: -em1 * 21}}
	c := enginetest.Net{Scale: 100_000, Areas: []connectome.Area{a}}.Build()
	r := rand.New(rand.NewPCG(1, 2))
	c.Target, c.Weight = make([]uint32, n*fan), make([]int32, n*fan)
	for i := range n {
		row := c.Target[i*fan : (i+1)*fan]
		for k := range row {
			row[k] = r.Uint32N(n)
			c.Weight[int(i)*fan+k] = 50 - 250*int32(i%5/4)
		}
		slices.Sort(row)
		c.Row[i+1] = uint64(i+1) * fan
	}
	return c
}

// spread puts every neuron somewhere in its cycle.
func spread(b engine.Backend, c *connectome.Connectome) error {
	s := engine.NewState(c)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range s.V {
		s.V[i] = 19.9167 + float32(0.0833*r.Float64())
		if k := r.IntN(100); k < 20 {
			s.V[i], s.Refractory[i] = 19.9167, uint16(k)
		}
	}
	return b.WriteState(s)
}

// BenchmarkShare is what one of so many threads does in a burst, alone on its core: the work that more threads do not divide shows.
func BenchmarkShare(b *testing.B) {
	const bursts = 300
	c := regular(100_000)
	back := open(c, engine.Want{}, 1, vector.Best())
	var queues [bursts][]uint32
	var out engine.Burst
	err := spread(back, c)
	for i := range queues {
		err = cmp.Or(err, back.Step(nil, &out))
		queues[i] = slices.Clone(out.Fired)
	}
	if err = cmp.Or(err, back.Close()); err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprintf("100k lif/1 of %d", workers), func(b *testing.B) {
			back := open(c, engine.Want{}, workers, vector.Best())
			defer back.Close()
			if err := spread(back, c); err != nil {
				b.Fatal(err)
			}
			w := back.workers[0]
			for b.Loop() {
				back.queues.push(queues[w.now%bursts])
				w.begin(w.now+1, 0, nil)
				w.step()
			}
		})
	}
}

// BenchmarkStep reports what was computed too: spikes/burst must be the same for all.
func BenchmarkStep(b *testing.B) {
	const bursts = 500
	c := regular(100_000)
	for _, threads := range threadsMeasured() {
		b.Run(fmt.Sprintf("100k lif/%d threads", threads), func(b *testing.B) {
			spikes := 0
			for range b.N {
				b.StopTimer()
				back, err := Open(c, Options{Threads: threads})
				if err == nil {
					err = spread(back, c)
				}
				if err != nil {
					b.Fatal(err)
				}
				var out engine.Burst
				b.StartTimer()
				spikes = 0
				for range bursts {
					_ = back.Step(nil, &out)
					spikes += len(out.Fired)
				}
				b.StopTimer()
				_ = back.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(bursts*b.N), "µs/burst")
			b.ReportMetric(float64(spikes)/bursts, "spikes/burst")
		})
	}
}

// quantiles steps a backend many times and reports a burst's time in µs: p10 is that of bursts which nobody disturbed.
func quantiles(b *testing.B, back *backend, in []engine.Stimulus) {
	const bursts = 2000
	var out engine.Burst
	var times []float64
	spikes := 0
	for range b.N {
		times = times[:0]
		spikes = 0
		for range bursts {
			start := time.Now()
			_ = back.Step(in, &out)
			times = append(times, float64(time.Since(start).Nanoseconds())/1e3)
			spikes += len(out.Fired)
		}
	}
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(times[bursts/10], "µs-p10")
	b.ReportMetric(times[bursts/2], "µs-p50")
	b.ReportMetric(float64(spikes)/bursts, "spikes/burst")
}

// threadsMeasured are numbers of threads, as far as there are processors.
func threadsMeasured() []int {
	var list []int
	for threads := 1; threads <= runtime.GOMAXPROCS(0); threads *= 2 {
		list = append(list, threads)
	}
	return list
}

// BenchmarkHandOver is a burst of hardly any work, handed over to as many threads as there are workers: the difference to one
// thread is what usualLeast and perThread follow from.
func BenchmarkHandOver(b *testing.B) {
	c := enginetest.Net{Areas: []connectome.Area{enginetest.LIF(1024)}}.Build()
	for _, threads := range threadsMeasured() {
		b.Run(fmt.Sprintf("%d threads", threads), func(b *testing.B) {
			back := eager(open(c, engine.Want{}, threads, vector.Best()))
			defer back.Close()
			in := make([]engine.Stimulus, 16) // an input to each sixteenth of the neurons, so that every worker has some work
			for i := range in {
				in[i] = engine.Stimulus{Port: uint32(64 * i), Amount: 1}
			}
			quantiles(b, back, in)
		})
	}
}

// BenchmarkCutoff is where further threads begin to pay, all handed over in every burst, beside what Open would take.
func BenchmarkCutoff(b *testing.B) {
	for _, n := range []uint32{1000, 2000, 4000, 8000, 16000, 32000, 64000} {
		c := regular(n)
		for _, threads := range threadsMeasured() {
			b.Run(fmt.Sprintf("%d neurons/%d threads", n, threads), func(b *testing.B) {
				back := eager(open(c, engine.Want{}, threads, vector.Best()))
				defer back.Close()
				if err := spread(back, c); err != nil {
					b.Fatal(err)
				}
				quantiles(b, back, nil)
			})
		}
		b.Run(fmt.Sprintf("%d neurons/as opened", n), func(b *testing.B) {
			back := open(c, engine.Want{}, threads(c, 0), vector.Best())
			defer back.Close()
			if err := spread(back, c); err != nil {
				b.Fatal(err)
			}
			quantiles(b, back, nil)
		})
	}
}

// TestSilenceIsSkipped gives its only input in burst touched; the drive begins in burst begins and ends in burst ends.
const (
	touched = 29_991
	begins  = 30_000
	ends    = begins + 1
)

// TestSilenceIsSkipped counts the neurons that are updated: all in the first bursts, none once every potential has come
// to rest, those of one block after one input, all when the drive's term changes.
func TestSilenceIsSkipped(t *testing.T) {
	slow.Short(t)
	cells, currents, izhikevich := enginetest.LIF(400), enginetest.PSCExp(150), enginetest.Izhikevich(90)
	cells.V0.Value.A, currents.V0.Value.A = 7, -3.3 // on the way to rest, through subnormal numbers
	for _, a := range []*connectome.Area{&cells, &currents, &izhikevich} {
		a.Drives = []connectome.Drive{{Kind: connectome.Term, From: begins, Until: ends, Term: 0.001}}
	}
	c := enginetest.Net{Areas: []connectome.Area{cells, currents, izhikevich}}.Build()
	want := stateOfReference(t, c)
	for _, workers := range []int{1, 3} {
		b := open(c, engine.Want{}, workers, vector.Best())
		var out engine.Burst
		updated := func(in ...engine.Stimulus) (n uint32) {
			_ = b.Step(in, &out)
			for _, w := range b.workers {
				n += w.updated
			}
			return n
		}
		if n := updated(); n < 640 {
			t.Errorf("%d workers: %d neurons updated in the first burst, want all", workers, n)
		}
		for b.number < touched-1 {
			updated()
		}
		if n := updated(); n != 0 {
			t.Errorf("%d workers: %d neurons updated in silence, want none", workers, n)
		}
		if n := updated(engine.Stimulus{Port: 333, Amount: 1}); n != 64 {
			t.Errorf("%d workers: %d neurons updated after one input, want 64", workers, n)
		}
		for b.number < begins {
			updated()
		}
		for _, why := range []string{"begins", "ends"} {
			if n := updated(); n < 640 {
				t.Errorf("%d workers: %d neurons updated when the drive %s, want all", workers, n, why)
			}
		}
		var state engine.State
		_ = b.ReadState(&state)
		if state.Hash() != want {
			t.Errorf("%d workers: after %d bursts the state is not the reference's", workers, b.number)
		}
		_ = b.Close()
	}
}

// stateOfReference is the hash of the reference's state after TestSilenceIsSkipped's bursts and its input.
func stateOfReference(t *testing.T, c *connectome.Connectome) uint64 {
	oracle, err := reference.Open(c, engine.Want{})
	if err != nil {
		t.Fatal(err)
	}
	var out engine.Burst
	for i := range ends + 1 {
		var in []engine.Stimulus
		if i == touched {
			in = []engine.Stimulus{{Port: 333, Amount: 1}}
		}
		_ = oracle.Step(in, &out)
	}
	var s engine.State
	_ = oracle.ReadState(&s)
	return s.Hash()
}

// BenchmarkSilence is a million lif neurons at rest.
func BenchmarkSilence(b *testing.B) {
	c := enginetest.Net{Areas: []connectome.Area{enginetest.LIF(1_000_000)}}.Build()
	for _, threads := range threadsMeasured() {
		b.Run(fmt.Sprintf("%d threads", threads), func(b *testing.B) {
			back := open(c, engine.Want{}, threads, vector.Best())
			defer back.Close()
			var out engine.Burst
			for b.Loop() {
				_ = back.Step(nil, &out)
			}
		})
	}
}

// BenchmarkQuiet is a feagi network of 10 million neurons in which about 100 are active.
func BenchmarkQuiet(b *testing.B) {
	c, in := quiet(10_000_000, 100)
	for _, threads := range threadsMeasured() {
		b.Run(fmt.Sprintf("%d threads", threads), func(b *testing.B) {
			back := open(c, engine.Want{}, threads, vector.Best())
			defer back.Close()
			quantiles(b, back, in)
		})
	}
}

// BenchmarkOpen makes the rows of ten million synapses.
func BenchmarkOpen(b *testing.B) {
	c := regular(100_000)
	for _, threads := range threadsMeasured() {
		b.Run(fmt.Sprintf("%d threads", threads), func(b *testing.B) {
			for b.Loop() {
				_ = open(c, engine.Want{}, threads, vector.Best()).Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Synapses()), "ns/synapse")
		})
	}
}

// learner is regular's network with every synapse plastic: pair STDP, or silent sources.
type learner struct {
	neurons, fan uint32
	period       int // bursts from one spike of a neuron to the next
	delay        uint16
	lag          uint32
}

// build makes the drive take a neuron from reset to threshold in four fifths of its period.
func (l learner) build(plastic bool) *connectome.Connectome {
	a := enginetest.LIF(l.neurons)
	em1 := math.Expm1(-0.001)
	rise := float64(l.period) * 0.8
	a.Constant("em1").Const, a.Constant("threshold").Const = float32(em1), 20
	a.Constant("reset").Const = float32(21 - math.Exp(0.001*rise))
	a.Constant("refractory").Const = float32(l.period - int(rise))
	a.Drives = []connectome.Drive{{Kind: connectome.Term, Until: math.MaxUint64, Term: -em1 * 21}}
	n := enginetest.Net{Scale: 100_000, Areas: []connectome.Area{a}}
	if plastic {
		n.Plastic = []enginetest.Plastic{{
			Rule: formula.RuleSource{
				Params: []string{"up", "down", "w_max"}, Pre: []string{"x"}, Post: []string{"y"},
				OnPost: []string{"w = w + up*(1 - w/w_max)*x"}, OnPre: []string{"w = w - down*(w/w_max)*y"},
			},
			Values: map[string]float32{"up": 1e-6, "down": 1e-6, "w_max": 0.0001},
			Pre:    []connectome.Trace{enginetest.Trace(200, 1, false)}, Post: []connectome.Trace{enginetest.Trace(200, 1, false)}, Hi: 0.0001, Lag: l.lag,
			Synapses: []enginetest.Synapse{{Weight: 5, Delay: l.delay}},
		}}
	}
	c := n.Build()
	r := rand.New(rand.NewPCG(1, 2))
	target, weight, row := make([]uint32, l.neurons*l.fan), make([]int32, l.neurons*l.fan), make([]uint64, l.neurons+1)
	for i := range l.neurons {
		list := target[i*l.fan : (i+1)*l.fan]
		for k := range list {
			list[k], weight[i*l.fan+uint32(k)] = r.Uint32N(l.neurons), 5
		}
		slices.Sort(list)
		row[i+1] = uint64(i+1) * uint64(l.fan)
	}
	if !plastic {
		c.Row, c.Target, c.Weight, c.MaxDelay = row, target, weight, int(l.delay)
		c.Delay = connectome.NewDelays(slices.Repeat([]uint16{l.delay}, len(target)))
		return c
	}
	p := &c.Plastic[0]
	p.Row, p.Target, p.Weight = row, target, weight
	return c
}

// spread puts every neuron somewhere in its cycle.
func (l learner) spread(b engine.Backend, c *connectome.Connectome) error {
	s := engine.NewState(c)
	r := rand.New(rand.NewPCG(3, 4))
	a := &c.Areas[0]
	reset, refractory := a.Constant("reset").Const, int(a.Constant("refractory").Const)
	for i := range s.V {
		s.V[i] = reset + (20-reset)*float32(r.Float64())
		if k := r.IntN(l.period); k < refractory {
			s.V[i], s.Refractory[i] = reset, uint16(k)
		}
	}
	return b.WriteState(s)
}

// BenchmarkLearning is a burst of a network whose synapses all learn, beside that of the same one whose synapses do not.
func BenchmarkLearning(b *testing.B) {
	usual := learner{neurons: 100_000, fan: 100, period: 100, delay: 1, lag: 1}
	cases := []learner{usual}
	for _, change := range []func(l *learner){
		func(l *learner) { l.fan = 10 },
		func(l *learner) { l.neurons, l.fan = 20_000, 1000 },
		func(l *learner) { l.period = 1000 },
		func(l *learner) { l.period = 10 },
		func(l *learner) { l.delay = 15 },
		func(l *learner) { l.delay, l.lag = 15, 30 },
	} {
		l := usual
		change(&l)
		cases = append(cases, l)
	}
	for _, l := range cases {
		for _, plastic := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d x %d, every %d, delay %d, lag %d/plastic %v", l.neurons, l.fan, l.period, l.delay, l.lag, plastic), func(b *testing.B) {
				c := l.build(plastic)
				back := open(c, engine.Want{}, 2, vector.Best())
				defer back.Close()
				if err := l.spread(back, c); err != nil {
					b.Fatal(err)
				}
				var out engine.Burst
				for range 3 * l.period {
					_ = back.Step(nil, &out)
				}
				quantiles(b, back, nil)
			})
		}
	}
}
