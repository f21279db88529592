package live_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
	"burst/internal/quanta"
	"burst/live"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// example is one of the examples that come with burst.
func example(b *testing.B, name string) *genome.Genome {
	text, err := genomes.Text(name)
	require.NoError(b, err)
	g, err := genome.Parse(name+".yaml", text, genomes.Open)
	require.NoError(b, err)
	return g
}

// BenchmarkStep is a burst of quickstart: by the engine alone, as a Step, with an input and an output, and with a log. The difference
// of the first two is what a session costs.
func BenchmarkStep(b *testing.B) {
	b.Run("engine", func(b *testing.B) {
		c, err := connectome.Build(example(b, "quickstart"), connectome.Options{})
		require.NoError(b, err)
		on, err := backend.Open("cpu", c, backend.Options{Threads: 1})
		require.NoError(b, err)
		defer on.Close()
		e, ctx := engine.New(c, on, engine.Options{}), b.Context()
		for b.Loop() {
			if err := e.Run(ctx, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, tc := range []struct {
		name          string
		given, logged bool
	}{{"step", false, false}, {"step with input and output", true, false}, {"step with input, output and log", true, true}} {
		b.Run(tc.name, func(b *testing.B) {
			o := run.Options{Backend: "cpu", Threads: 1}
			if tc.logged {
				o.Folder, o.Record = filepath.Join(b.TempDir(), "run"), []string{"spikes=none"}
			}
			s, err := live.New(b.Context(), example(b, "quickstart"), live.Options{Options: o})
			require.NoError(b, err)
			defer s.Close()
			in := bound(b, s.Feeder("x"), live.Binding{Place: live.Place{Area: "retina", Neurons: []uint32{1, 2, 3}}, Largest: 1})
			out := output(b, s, "motor", live.Counts)
			var values []live.Value
			if tc.given {
				values = []live.Value{{To: in, Amounts: make([]float32, 3)}}
			}
			x, ctx := live.Reading{}, b.Context()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if tc.given {
					values[0].Amounts[0] = float32(i%7) / 100
				}
				if err := s.Step(ctx, 1, values...); err != nil {
					b.Fatal(err)
				}
				out.Read(&x)
			}
		})
	}
}

// prepared is a Source that has all stimuli ready.
type prepared [][]engine.Stimulus

func (p prepared) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	return append(in, p[t%uint64(len(p))]...), nil
}

// BenchmarkGiven is a burst with 1,000 inputs that change in every burst: by the engine alone, given the same quanta; as a Step, which
// makes quanta of amounts, in several forms; and with a log. The difference of the first two is what a session costs. At 1 kHz 10 µs are
// a hundredth of a processor.
func BenchmarkGiven(b *testing.B) {
	const text = "burst: v1\nname: eye\nareas: [{name: eye, neurons: 1000, threshold: 100}, {name: signed, model: lif_psc_exp, neurons: 1000}]\n"
	g, err := genome.Parse("net.yaml", []byte(text), nil)
	require.NoError(b, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(b, err)
	all, mixed := make([][]float32, 10), make([][]float32, 10)
	stimuli := make(prepared, len(all))
	for i := range all {
		for k := range 1000 {
			x := float32((100*i+k)%1000+1) / 2000
			all[i], mixed[i] = append(all[i], x), append(mixed[i], x*float32(1-k%2*2))
			stimuli[i] = append(stimuli[i], engine.Stimulus{Port: uint32(k), Amount: int32(quanta.Of(float64(x), float64(c.Scale)))})
		}
	}
	ascending, shuffled := make([]uint32, 1000), make([]uint32, 1000)
	for i := range ascending {
		ascending[i], shuffled[i] = uint32(i), uint32(i*7%1000)
	}
	b.Run("engine", func(b *testing.B) {
		on, err := backend.Open("cpu", c, backend.Options{Threads: 1})
		require.NoError(b, err)
		defer on.Close()
		e, ctx := engine.New(c, on, engine.Options{Sources: []engine.Source{stimuli}}), b.Context()
		for b.Loop() {
			if err := e.Run(ctx, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, tc := range []struct {
		name    string
		place   live.Place
		at      []uint32
		amounts [][]float32
		logged  bool
	}{
		{"step", live.Place{Area: "eye"}, nil, all, false},
		{"step with log", live.Place{Area: "eye"}, nil, all, true},
		{"step by entries", live.Place{Area: "eye"}, ascending, all, false},
		{"step in another order", live.Place{Area: "eye", Neurons: shuffled}, nil, all, false},
		{"step to two ports", live.Place{Area: "signed"}, nil, all, false},
		{"step of both signs to two ports", live.Place{Area: "signed"}, nil, mixed, false},
	} {
		b.Run(tc.name, func(b *testing.B) {
			o := run.Options{Backend: "cpu", Threads: 1}
			if tc.logged {
				o.Folder, o.Record = filepath.Join(b.TempDir(), "run"), []string{"spikes=none"}
			}
			s, err := live.New(b.Context(), g, live.Options{Options: o})
			require.NoError(b, err)
			defer s.Close()
			in := bound(b, s.Feeder("x"), live.Binding{Place: tc.place, Largest: 1})
			ctx := b.Context()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := s.Step(ctx, 1, live.Value{To: in, At: tc.at, Amounts: tc.amounts[i%10]}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead is reading the counts of 20,000 neurons, of which some two hundred have fired.
func BenchmarkRead(b *testing.B) {
	const text = "areas: [{name: eye, neurons: 20000, threshold: 1, leak: 0.5, drive: {poisson: {rate: 10 Hz, weight: 2}}}]"
	g, err := genome.Parse("net.yaml", []byte("burst: v1\nname: eye\n"+text), nil)
	require.NoError(b, err)
	s, err := live.New(b.Context(), g, live.Options{Options: run.Options{Backend: "cpu", Threads: 1}})
	require.NoError(b, err)
	defer s.Close()
	out := output(b, s, "eye", live.Counts)
	x, ctx := live.Reading{}, b.Context()
	for b.Loop() {
		b.StopTimer()
		require.NoError(b, s.Step(ctx, 1))
		b.StartTimer()
		out.Read(&x)
	}
}

// closedLoop is a caller that gives a network inputs in every burst and reads outputs after it.
type closedLoop struct {
	name, backend, network string
	area                   string // of the inputs
	inputs, apart          int    // every apart-th neuron has one
	step, largest          float32
	outputs                []string // an area each
	kinds                  []live.Kind
}

func closedLoops() []closedLoop {
	counts, ids := []live.Kind{live.Counts}, []live.Kind{live.Fired, live.Fired}
	list := []closedLoop{
		{"cpu", "cpu", "burst-100k", "E", 1000, 80, 1e-5, 0.001, []string{"I"}, counts},
		{"cuda", "cuda", "burst-100k", "E", 1000, 80, 1e-5, 0.001, []string{"I"}, counts},
	}
	for _, v := range []struct {
		name          string
		inputs, apart int
	}{{"10 inputs", 10, 8000}, {"1,000 neighbours", 1000, 1}, {"4,096 inputs", 4096, 19}, {"10,000 inputs", 10_000, 8}, {"80,000 inputs", 80_000, 1}} {
		list = append(list, closedLoop{"cuda, " + v.name, "cuda", "burst-100k", "E", v.inputs, v.apart, 1e-5, 0.001, []string{"I"}, counts})
	}
	return append(list,
		closedLoop{"cuda, ids of all", "cuda", "burst-100k", "E", 1000, 80, 1e-5, 0.001, []string{"E", "I"}, ids},
		closedLoop{"cuda, counts, ids and rates", "cuda", "burst-100k", "E", 1000, 80, 1e-5, 0.001, []string{"E", "I", "E", "I"}, []live.Kind{live.Counts, live.Counts, live.Fired, live.Rate}},
		closedLoop{"cuda, burst-1m", "cuda", "burst-1m", "E", 1000, 800, 1e-5, 0.001, []string{"I"}, counts},
		closedLoop{"cuda, quickstart", "cuda", "quickstart", "retina", 250, 1, 0.01, 1, []string{"motor"}, counts})
}

// BenchmarkManyInputs is a burst with inputs that change in every burst and outputs that are read after it: of burst-100k with 1,000 inputs
// and the counts of one area, and of others on a GPU. With as many bursts (-benchtime 2000x) both backends end with one digest.
func BenchmarkManyInputs(b *testing.B) {
	for _, x := range closedLoops() {
		b.Run(x.name, func(b *testing.B) {
			s, err := live.New(b.Context(), example(b, x.network), live.Options{Options: run.Options{Backend: x.backend}})
			if err != nil {
				b.Skip(err)
			}
			defer s.Close()
			amounts := make([][]float32, 100) // which a caller has
			for i := range amounts {
				for k := range x.inputs {
					amounts[i] = append(amounts[i], float32((i+k)%100)*x.step)
				}
			}
			place := live.Place{Area: x.area}
			for k := range x.inputs {
				place.Neurons = append(place.Neurons, uint32(x.apart*k))
			}
			in := bound(b, s.Feeder("x"), live.Binding{Place: place, Largest: x.largest})
			var outputs []*live.Output
			for i, area := range x.outputs {
				outputs = append(outputs, output(b, s, area, x.kinds[i]))
			}
			r, ctx := live.Reading{}, b.Context()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := s.Step(ctx, 1, live.Value{To: in, Amounts: amounts[i%100]}); err != nil {
					b.Fatal(err)
				}
				for _, out := range outputs {
					out.View(&r)
				}
			}
			status, err := s.Status()
			require.NoError(b, err)
			b.Logf("%d bursts, %d spikes, digest %016x", status.Burst, status.Spikes, status.Digest)
		})
	}
}

// BenchmarkGivenBursts is where the time of BenchmarkManyInputs goes on a GPU: a burst of burst-100k in launches of many bursts, alone in
// a launch, as a Step, and as a Step with 1,000 stimuli, also in a launch that goes on; the rest is what the session does.
func BenchmarkGivenBursts(b *testing.B) {
	c, err := connectome.Build(example(b, "burst-100k"), connectome.Options{})
	require.NoError(b, err)
	on, err := backend.Open("cuda", c, backend.Options{})
	if err != nil {
		b.Skip(err)
	}
	defer on.Close()
	lasting, err := backend.Open("cuda", c, backend.Options{Want: engine.Want{Stimuli: true}})
	require.NoError(b, err)
	defer lasting.Close()
	stimuli := make([]engine.Stimulus, 1000)
	for i := range stimuli {
		stimuli[i] = engine.Stimulus{Port: uint32(80 * i), Amount: 1}
	}
	var out engine.Burst
	each := func(*engine.Burst) error { return nil }
	for _, x := range []struct {
		name string
		run  func(n int) error
	}{
		{"many a launch", func(n int) error { return on.(engine.Batcher).StepN(n, each) }},
		{"one a launch", func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				err = on.(engine.Batcher).StepN(1, each)
			}
			return err
		}},
		{"Step", func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				err = on.Step(nil, &out)
			}
			return err
		}},
		{"Step with 1,000 stimuli", func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				err = on.Step(stimuli, &out)
			}
			return err
		}},
		{"Step with 1,000 stimuli in a launch that goes on", func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				err = lasting.Step(stimuli, &out)
			}
			return err
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			require.NoError(b, x.run(b.N))
		})
	}
}

// BenchmarkPotentials is a burst of the microcircuit in launches of many, without state variables and with the potentials of 64 neurons in
// every burst.
func BenchmarkPotentials(b *testing.B) {
	c, err := connectome.Build(example(b, "potjans-diesmann"), connectome.Options{})
	require.NoError(b, err)
	for _, n := range []int{0, 64} {
		var want engine.Want
		for i := range n {
			want.Values = append(want.Values, engine.Probe{Neuron: uint32(1000 * i)})
		}
		on, err := backend.Open("cuda", c, backend.Options{Want: want})
		if err != nil {
			b.Skip(err)
		}
		b.Run(fmt.Sprintf("%d potentials", n), func(b *testing.B) {
			require.NoError(b, on.(engine.Batcher).StepN(b.N, func(*engine.Burst) error { return nil }))
		})
		require.NoError(b, on.Close())
	}
}
