package live_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"burst/engine"
	"burst/genome"
	"burst/live"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// loop is a network with a sensor, a motor, noise, two stimuli and delays.
const loop = `burst: v1
name: loop
seed: 31
areas:
  - {name: eye, size: [4, 3, 1], neurons_per_voxel: 2, threshold: 0.9}
  - {name: crowd, neurons: 200, threshold: 1.5, refractory: 1, leak: 0.13, drive: {poisson: {rate: 300 Hz, weight: 0.9}}}
  - {name: skin, model: lif_psc_exp, neurons: 20, drive: {constant: 370 pA}}
  - {name: leg, neurons: 5, threshold: 2}
projections:
  - {from: eye, to: crowd, rule: fixed_outdegree, outdegree: 13, weight: 0.5, delay: "uniform(1, 9)"}
  - {from: crowd, to: leg, rule: fixed_indegree, indegree: 20, weight: 0.4, delay: 2}
  - {from: leg, to: skin, rule: all_to_all, weight: 30 pA, delay: 1}
stimuli:
  - {area: crowd, every: 7, neurons: [0, 1, 2], amount: 2}
  - {area: leg, every: 11, neurons: [4], amount: 3}
`

// network parses a genome.
func network(t testing.TB, text string) *genome.Genome {
	t.Helper()
	g, err := genome.Parse("net.yaml", []byte(text), nil)
	require.NoError(t, err)
	return g
}

// session opens one of loop, on one processor unless o says otherwise.
func session(t testing.TB, o run.Options) *live.Session {
	t.Helper()
	if o.Backend == "" {
		o.Backend, o.Threads = "cpu", 1
	}
	s, err := live.New(context.Background(), network(t, loop), live.Options{Options: o})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// bound binds an input that must fit.
func bound(t testing.TB, f *live.Feeder, b live.Binding) *live.Input {
	t.Helper()
	in, err := f.Bind(b)
	require.NoError(t, err)
	return in
}

// output makes an output of a whole area.
func output(t testing.TB, s *live.Session, area string, k live.Kind) *live.Output {
	t.Helper()
	o, err := s.Output(live.Place{Area: area}, k)
	require.NoError(t, err)
	return o
}

// digest is that of a session so far.
func digest(t testing.TB, s *live.Session) uint64 {
	t.Helper()
	x, err := s.Status()
	require.NoError(t, err)
	return x.Digest
}

// replayed runs what a folder says again, and gives the digest.
func replayed(t testing.TB, dir, backend string, threads int) string {
	t.Helper()
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	g, err := f.Genome()
	require.NoError(t, err)
	log := live.NewLog(dir)
	begin, err := run.Origin(diskOf(), f)
	require.NoError(t, err)
	r, err := run.New(t.Context(), g, run.Options{Backend: backend, Threads: threads, Bursts: f.Manifest.Bursts, From: begin, Sources: []engine.Source{log}})
	require.NoError(t, err)
	require.NoError(t, log.Advance(t.Context(), r, r.End()))
	require.NoError(t, errors.Join(r.Close(), log.Close()))
	return fmt.Sprintf("%016x", r.Engine().Digest())
}

// ended is the manifest of a folder, whose files must be as it says.
func ended(t testing.TB, dir, status string) *manifest.Manifest {
	t.Helper()
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.NoError(t, f.CheckAll())
	require.Equal(t, status, f.Manifest.Status, f.Manifest.Failure)
	return &f.Manifest
}

// script is a Source of what it lists by burst.
type script map[uint64][]engine.Stimulus

func (s script) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	return append(in, s[t]...), nil
}

// sums are what the script gives to each burst, port by port.
func (s script) sums() map[string]int32 {
	sums := map[string]int32{}
	for t, list := range s {
		for _, x := range list {
			sums[fmt.Sprint(t, " ", x.Port)] += x.Amount
		}
	}
	return sums
}

// given is what inputs.arrows of a folder gives to each burst, port by port.
func given(t testing.TB, dir string) map[string]int32 {
	t.Helper()
	sums := map[string]int32{}
	for _, e := range entries(t, dir) {
		for b := e.Burst; b < e.End(); b++ {
			for _, x := range e.Stimuli {
				sums[fmt.Sprint(b, " ", x.Port)] += x.Amount
			}
		}
	}
	return sums
}

// plain is the digest of loop with stimuli that a plain Source gives.
func plain(t testing.TB, bursts uint64, s script) uint64 {
	t.Helper()
	r, err := run.New(t.Context(), network(t, loop), run.Options{Backend: "reference", Sources: []engine.Source{s}})
	require.NoError(t, err)
	require.NoError(t, r.Advance(t.Context(), bursts))
	require.NoError(t, r.Close())
	return r.Engine().Digest()
}

// TestLockStep: what a Step brings is what its bursts are given, quantum by quantum; a value is held, counts once or for some bursts;
// inputs add; what a feeder held ends with it. The folder replays to the same digest everywhere.
func TestLockStep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := session(t, run.Options{Folder: dir})
	driver, other := s.Feeder("driver"), s.Feeder("other")
	eye := bound(t, driver, live.Binding{Name: "eye", Place: live.Place{Area: "eye", Voxels: [][3]uint32{{0, 0, 0}, {3, 2, 0}}}, Largest: 2})
	flash := bound(t, driver, live.Binding{Name: "flash", Place: live.Place{Area: "eye", Neurons: []uint32{23, 1}}, Largest: 1, Once: true})
	skin := bound(t, other, live.Binding{Name: "skin", Place: live.Place{Area: "skin"}, Largest: 500, HoldFor: 3})
	require.Equal(t, []int{2, 2, 20}, []int{eye.Entries(), flash.Entries(), skin.Entries()})
	c := s.Facts().Connectome
	first, negative := c.Areas[2].Ports.First, c.Areas[2].Ports.First+20
	want := script{}
	add := func(from, n uint64, list ...engine.Stimulus) {
		for t := from; t < from+n; t++ {
			want[t] = append(want[t], list...)
		}
	}
	step := func(n uint64, v ...live.Value) {
		t.Helper()
		require.NoError(t, s.Step(t.Context(), n, v...))
	}
	require.NoError(t, other.Set(live.Value{To: skin, At: []uint32{0, 7}, Amounts: []float32{100.0004, -250.0006}}))
	step(5, live.Value{To: eye, Amounts: []float32{0.5, 1.9996}}, live.Value{To: flash, Amounts: []float32{0.25, 0.75}})
	add(0, 3, engine.Stimulus{Port: first, Amount: 100_000}, engine.Stimulus{Port: negative + 7, Amount: -250_001})
	add(0, 7, engine.Stimulus{Port: 0, Amount: 500}, engine.Stimulus{Port: 1, Amount: 500}, engine.Stimulus{Port: 22, Amount: 2000}, engine.Stimulus{Port: 23, Amount: 2000})
	add(0, 1, engine.Stimulus{Port: 23, Amount: 250}, engine.Stimulus{Port: 1, Amount: 750})
	step(2)
	step(4, live.Value{To: eye, Amounts: []float32{0, -1.5}})
	add(7, 24, engine.Stimulus{Port: 22, Amount: -1500}, engine.Stimulus{Port: 23, Amount: -1500})
	step(20)
	driver.Close()
	step(9)
	require.NoError(t, other.Set(live.Value{To: skin, Amounts: make([]float32, 20)}))
	step(0)
	step(1)
	got := digest(t, s)
	require.Equal(t, plain(t, 41, want), got)
	require.NotEqual(t, plain(t, 41, nil), got, "the inputs matter")
	require.NoError(t, s.Close())
	m := ended(t, dir, manifest.Complete)
	require.Equal(t, fmt.Sprintf("%016x", got), m.Digest)
	require.True(t, m.Options.Inputs)
	require.NoFileExists(t, filepath.Join(dir, manifest.InputsLog))
	require.Equal(t, want.sums(), given(t, dir), "quantum by quantum")
	for _, backend := range []string{"reference", "cpu"} {
		for _, threads := range []int{1, 3} {
			require.Equal(t, m.Digest, replayed(t, dir, backend, threads))
		}
	}
}

// TestRefused: a value beyond what was bound, of the wrong length or no number is refused by name, and nothing of the call counts.
func TestRefused(t *testing.T) {
	s := session(t, run.Options{})
	f := s.Feeder("camera")
	eye := bound(t, f, live.Binding{Name: "eye", Place: live.Place{Area: "eye"}, Largest: 2})
	leg := bound(t, f, live.Binding{Name: "leg", Place: live.Place{Area: "leg"}, Largest: 5})
	foreign := bound(t, s.Feeder("other"), live.Binding{Name: "eye", Place: live.Place{Area: "eye"}, Largest: 1})
	legs := live.Value{To: leg, Amounts: []float32{5, 5, 5, 5, 5}}
	for want, v := range map[string]live.Value{
		`live: input "eye" of camera: 23 amounts, want 24`:                                                          {To: eye, Amounts: make([]float32, 23)},
		`live: input "eye" of camera: 1 amounts, want 2`:                                                            {To: eye, At: []uint32{1, 2}, Amounts: []float32{1}},
		`live: input "eye" of camera: an amount for entry 24, want ascending ones below 24`:                         {To: eye, At: []uint32{24}, Amounts: []float32{1}},
		`live: input "eye" of camera: an amount for entry 3, want ascending ones below 24`:                          {To: eye, At: []uint32{3, 3}, Amounts: []float32{1, 1}},
		`live: input "eye" of camera: amount 2.0006 for entry 1, want at most the 2 of either sign that were bound`: {To: eye, At: []uint32{0, 1}, Amounts: []float32{2.0004, 2.0006}},
		`live: input "eye" of camera: amount -3 for entry 0, want at most the 2 of either sign that were bound`:     {To: eye, At: []uint32{0}, Amounts: []float32{-3}},
		`live: input "eye" of camera: amount NaN for entry 5, want at most the 2 of either sign that were bound`:    {To: eye, At: []uint32{5}, Amounts: []float32{float32(math.NaN())}},
		`live: input "eye" of camera: amount +Inf for entry 0, want at most the 2 of either sign that were bound`:   {To: eye, At: []uint32{0}, Amounts: []float32{float32(math.Inf(1))}},
		`live: input "leg" of camera: is set twice at once`:                                                         legs,
		`live: camera sets an input that it has not bound`:                                                          {To: foreign, At: []uint32{}, Amounts: nil},
	} {
		require.EqualError(t, f.Set(legs, v), want)
		require.EqualError(t, s.Step(t.Context(), 3, legs, v), want)
	}
	require.ErrorContains(t, s.Step(t.Context(), 3, live.Value{}), "the feeder has closed")
	require.NoError(t, s.Step(t.Context(), 50))
	require.Equal(t, plain(t, 50, nil), digest(t, s), "refused values harm nobody")
	f.Close()
	require.ErrorContains(t, f.Set(legs), "the feeder has closed")
	_, err := f.Bind(live.Binding{Name: "eye", Place: live.Place{Area: "eye"}, Largest: 2})
	require.ErrorContains(t, err, "the feeder has closed")
}

// TestBindings: what can never fit, or names what there is not, is refused when it is bound; what a feeder had reserved is free when
// it has closed.
func TestBindings(t *testing.T) {
	s := session(t, run.Options{})
	f := s.Feeder("camera")
	half := float32(math.MaxInt32 / 2000)
	for want, b := range map[string]live.Binding{
		`no area "eyes", want one of eye, crowd, skin, leg; did you mean "eye"?`: {Place: live.Place{Area: "eyes"}, Largest: 1},
		`neuron 24 of area "eye", want less than 24`:                             {Place: live.Place{Area: "eye", Neurons: []uint32{3, 24}}, Largest: 1},
		`voxel [4 0 0] of area "eye", want one within its [4 3 1]`:               {Place: live.Place{Area: "eye", Voxels: [][3]uint32{{4, 0, 0}}}, Largest: 1},
		`neurons and voxels of area "eye" are named, want one of them`:           {Place: live.Place{Area: "eye", Neurons: []uint32{0}, Voxels: [][3]uint32{{0, 0, 0}}}, Largest: 1},
		`no neurons of area "eye", want one at least`:                            {Place: live.Place{Area: "eye", Neurons: []uint32{}}, Largest: 1},
		`port 2, want 0 for the law's choice, or 1 to 1`:                         {Place: live.Place{Area: "eye"}, Largest: 1, Port: 2},
		`largest amount 0, want one from 0.001 to 2.147483647e+06`:               {Place: live.Place{Area: "eye"}},
		`largest amount NaN`:   {Place: live.Place{Area: "eye"}, Largest: float32(math.NaN())},
		`largest amount 3e+06`: {Place: live.Place{Area: "eye"}, Largest: 3e6},
		`stimuli of 2147474000 quanta for neuron 4 of area "leg", which has room`: {Place: live.Place{Area: "leg"}, Largest: 2147474},
	} {
		b.Name = "x"
		_, err := f.Bind(b)
		require.ErrorContains(t, err, `live: input "x" of camera: `+want)
	}
	first := bound(t, f, live.Binding{Name: "a", Place: live.Place{Area: "eye"}, Largest: half})
	other := s.Feeder("other")
	bound(t, other, live.Binding{Name: "b", Place: live.Place{Area: "eye"}, Largest: half})
	_, err := f.Bind(live.Binding{Name: "c", Place: live.Place{Area: "eye", Neurons: []uint32{5}}, Largest: 2})
	var room *engine.RoomError
	require.ErrorAs(t, err, &room)
	require.EqualValues(t, 5, room.Index)
	other.Close()
	bound(t, f, live.Binding{Name: "c", Place: live.Place{Area: "eye", Neurons: []uint32{5}}, Largest: 2})
	require.NoError(t, s.Step(t.Context(), 2, live.Value{To: first, Amounts: slices.Repeat([]float32{half}, 24)}), "the largest fits")
}

// TestOutputs: counts, who fired, rates and potentials are those of the bursts since they were read.
func TestOutputs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var fired []uint32
	each := recorder(func(b *engine.Burst) {
		fired = append(fired, b.Fired...)
	})
	s := session(t, run.Options{Folder: dir, Record: []string{"potentials=leg,skin[3..5]", "variables=skin[4..5].I_ex every 9"}, Recorders: []engine.Recorder{each}})
	eye := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
	some := live.Place{Area: "eye", Voxels: [][3]uint32{{3, 2, 0}, {0, 0, 0}}}
	counts, err := s.Output(some, live.Counts)
	require.NoError(t, err)
	who, rate := output(t, s, "crowd", live.Fired), output(t, s, "crowd", live.Rate)
	volts, err := s.Output(live.Place{Area: "leg", Neurons: []uint32{4, 0}}, live.Potentials)
	require.NoError(t, err)
	current, err := s.Output(live.Place{Area: "skin", Neurons: []uint32{5, 4}, Variable: "I_ex"}, live.Potentials)
	require.NoError(t, err)
	amounts := make([]float32, 24)
	amounts[1], amounts[22], amounts[23] = 1, 1, 1
	require.NoError(t, s.Step(t.Context(), 6, live.Value{To: eye, Amounts: amounts}))
	var x live.Reading
	counts.Read(&x)
	require.Equal(t, live.Reading{Next: 6, Bursts: 6, Counts: []uint32{12, 6}, Fired: []uint32{}, Potentials: []float32{}}, withEmpty(x))
	of := map[uint32]bool{}
	n := 0
	for _, id := range fired {
		if a := s.Facts().Connectome.Areas[1].Neurons; a.Has(id) {
			of[id-a.First] = true
			n++
		}
	}
	var want []uint32
	for id := range of {
		want = append(want, id)
	}
	slices.Sort(want)
	require.NotEmpty(t, want)
	who.Read(&x)
	require.Equal(t, want, x.Fired)
	rate.Read(&x)
	require.InDelta(t, float64(n)/200/0.006, x.Rate, 1e-9)
	volts.Read(&x)
	state, err := s.State()
	require.NoError(t, err)
	leg := s.Facts().Connectome.Areas[3].Neurons.First
	require.Equal(t, []float32{state.V[leg+4], state.V[leg]}, x.Potentials)
	current.Read(&x)
	skin := s.Facts().Connectome.Areas[2].Neurons.First
	require.Equal(t, []float32{state.More[0][skin+5], state.More[0][skin+4]}, x.Potentials, "after any burst, whichever are recorded")
	require.NotZero(t, x.Potentials[0])
	counts.Read(&x)
	require.Equal(t, []uint32{0, 0}, x.Counts, "nothing since")
	require.Zero(t, x.Bursts)
	require.NoError(t, s.Step(t.Context(), 1))
	counts.Read(&x)
	require.Equal(t, []uint32{2, 1}, x.Counts)
	y := x
	counts.View(&y)
	require.Equal(t, []uint32{0, 0}, y.Counts)
	require.NoError(t, s.Step(t.Context(), 2))
	counts.View(&y)
	require.Equal(t, []uint32{4, 2}, y.Counts)
	require.Equal(t, []uint32{2, 1}, x.Counts, "a copy")
	who.Read(&x)
	require.NoError(t, s.Step(t.Context(), 1))
	who.View(&y)
	require.NotEmpty(t, y.Fired)
	require.IsIncreasing(t, y.Fired)
	volts.View(&y)
	volts.Read(&x)
	require.Equal(t, x.Potentials, y.Potentials)
	for want, p := range map[string]live.Place{
		`the potential of neuron 0 of area "crowd" is not recorded; want potentials=crowd among what is recorded (--record, Options.Record, in Python record=)`: {Area: "crowd"},
		`the potential of neuron 2 of area "skin" is not recorded`: {Area: "skin", Neurons: []uint32{3, 2}},
		`potentials of voxels of 2 neurons, want neurons`:          some,
		`no area "arm"`: {Area: "arm"},
		`I_ex of neuron 3 of area "skin" is not recorded; want variables=skin.I_ex among what is recorded (--record, Options.Record, in Python record=)`: {Area: "skin", Neurons: []uint32{3}, Variable: "I_ex"},
		`"I_xe", want a state variable or an input of the model lif_psc_exp`:                                                                             {Area: "skin", Variable: "I_xe"},
		`"in" is an input of the model lif_psc_exp, want a state variable`:                                                                               {Area: "skin", Variable: "in"},
	} {
		_, err := s.Output(p, live.Potentials)
		require.ErrorContains(t, err, want)
	}
	_, err = s.Output(live.Place{Area: "eye", Neurons: []uint32{1, 1}}, live.Counts)
	require.ErrorContains(t, err, `neuron 1 of area "eye" is named twice`)
	_, err = s.Output(live.Place{Area: "eye", Variable: "V"}, live.Counts)
	require.ErrorContains(t, err, `variable "V", want it of outputs of potentials alone`)
	_, err = s.Output(live.Place{Area: "eye"}, 9)
	require.ErrorContains(t, err, "kind 9")
}

// withEmpty makes nil slices empty ones.
func withEmpty(x live.Reading) live.Reading {
	if x.Fired == nil {
		x.Fired = []uint32{}
	}
	if x.Potentials == nil {
		x.Potentials = []float32{}
	}
	return x
}

// recorder is a function as a Recorder.
type recorder func(b *engine.Burst)

func (f recorder) Record(b *engine.Burst) error { f(b); return nil }

// TestPotentialsWithoutAFolder are delivered where the options name them.
func TestPotentialsWithoutAFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	s := session(t, run.Options{Record: []string{"potentials=skin"}})
	volts := output(t, s, "skin", live.Potentials)
	require.NoError(t, s.Step(t.Context(), 30))
	var x live.Reading
	volts.Read(&x)
	require.Len(t, x.Potentials, 20)
	require.NotEqual(t, x.Potentials[0], float32(0))
	require.NoError(t, s.Close())
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestDenseAmountsAtTheLimit are refused, and accepted, as sparse ones are.
func TestDenseAmountsAtTheLimit(t *testing.T) {
	s := session(t, run.Options{})
	f := s.Feeder("hand")
	in, err := f.Bind(live.Binding{Place: live.Place{Area: "leg"}, Largest: 2}) // 2,000 quanta
	require.NoError(t, err)
	refused := 0
	for _, x := range []float32{2, 2.0004, 2.0006, 3, 1e30, float32(math.NaN()), float32(math.Inf(1)), 0.0004, 0} {
		for _, sign := range []float32{1, -1} {
			dense := f.Check(live.Value{To: in, Amounts: []float32{0, 1, -1, sign * x, 0.5}})
			require.Equal(t, f.Check(live.Value{To: in, At: []uint32{3}, Amounts: []float32{sign * x}}), dense, "%v", sign*x)
			if dense != nil {
				refused++
			}
		}
	}
	require.Equal(t, 10, refused)
}
