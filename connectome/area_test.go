package connectome

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/quanta"
)

func TestPortsAndNeuronsOfMixedModels(t *testing.T) {
	text := "burst: v1\n" + mixedModels + `areas:
  - {name: s, neurons: 2, model: poisson, params: {rate: 1 Hz}}
  - {name: p, neurons: 5, model: lif_psc_exp}
  - {name: f, neurons: 3}
  - {name: o, neurons: 4, model: own2}
  - {name: i, neurons: 2, model: izhikevich}
`
	c, err := own(t, text)
	require.NoError(t, err)
	require.EqualValues(t, 16, c.Neurons)
	require.EqualValues(t, 5*2+3+4*2+2, c.Ports)
	first, port := uint32(0), uint32(0)
	for k, want := range []struct {
		count, ports uint32
		names        []string
	}{{2, 0, []string{"V"}}, {5, 2, []string{"V", "I_ex", "I_in"}}, {3, 1, []string{"V"}}, {4, 2, []string{"v"}}, {2, 1, []string{"V", "u"}}} {
		a := &c.Areas[k]
		require.Equal(t, Span{first, want.count}, a.Neurons)
		require.Equal(t, Span{port, want.count * want.ports}, a.Ports)
		require.Equal(t, want.ports, a.PortsEach())
		require.Equal(t, len(want.names)-1, a.Variables())
		for v, name := range want.names {
			require.Equal(t, name, a.Variable(v))
		}
		for i := range want.count {
			require.Equal(t, k, c.AreaOf(first+i))
			for which := range want.ports {
				p := port + which*want.count + i
				require.Equal(t, k, c.AreaOfPort(p))
				require.Equal(t, first+i, c.NeuronOf(p))
				neuron, at := a.Input(p)
				require.Equal(t, [2]uint32{i, which}, [2]uint32{neuron, at})
			}
			for which := range want.ports {
				require.Equal(t, port+which*want.count+i, a.PortOf(i, int(which)+1, -1))
			}
			if want.ports > 0 {
				require.Equal(t, port+i, a.PortOf(i, 0, 0))
				require.Equal(t, port+i, a.PortOf(i, 0, 1))
				require.Equal(t, port+(want.ports-1)*want.count+i, a.PortOf(i, 0, -1))
			}
		}
		first, port = first+want.count, port+want.count*want.ports
	}
	require.Equal(t, 2, c.Variables())
	s := Span{3, 2}
	require.Equal(t, []bool{false, true, true, false}, []bool{s.Has(2), s.Has(3), s.Has(4), s.Has(5)})
	c.Bound[1] = 47
	require.EqualValues(t, math.MaxInt32-47, c.Headroom(1))
}

func TestWhenStimuliAndDrivesAct(t *testing.T) {
	for _, x := range []struct {
		s    Stimulus
		acts []uint64
	}{
		{Stimulus{At: 4, From: 9, Until: 2}, []uint64{4}},
		{Stimulus{Every: 3, From: 3, Until: 9}, []uint64{3, 6}},
		{Stimulus{Every: 3, From: 2, Until: 10, At: 5}, []uint64{3, 6, 9}},
	} {
		d := Drive{From: x.s.From, Until: x.s.Until}
		for burst := range uint64(12) {
			require.Equal(t, slices.Contains(x.acts, burst), x.s.Active(burst), "%+v, burst %d", x.s, burst)
			require.Equal(t, burst >= x.s.From && burst < x.s.Until, d.Active(burst))
		}
	}
}

func TestSumsOfDrives(t *testing.T) {
	all := uint64(math.MaxUint64)
	a := Area{Drives: []Drive{{Kind: Term, Until: all, Term: 0.25}, {Kind: Inject, Until: all, Amount: 3, Term: 9}, {Kind: Term, From: 2, Until: 4, Term: 1}}}
	require.False(t, a.TermsDiffer())
	for burst, want := range []float32{0.25, 0.25, 1.25, 1.25, 0.25} {
		require.Equal(t, want, a.Term(uint64(burst)))
		require.Equal(t, want, a.TermOf(uint64(burst), 7))
	}
	a.Drives[2].Each = []float64{10, 20}
	require.True(t, a.TermsDiffer())
	require.Equal(t, []float32{0.25, 20.25, 10.25, 0.25}, []float32{a.TermOf(1, 1), a.TermOf(2, 1), a.TermOf(3, 0), a.TermOf(4, 0)})
	a.Drives[0].Term = 1 << 60 // rounded once, at the end
	a.Drives = append(a.Drives, Drive{Kind: Term, Until: all, Term: -(1 << 60)})
	a.Drives[2] = Drive{Kind: Term, Until: all, Term: 0x1p20}
	require.Equal(t, float32(0x1p20), a.Term(0))

	poisson := Drive{Kind: Poisson, Amount: -7, Counts: []uint32{0, 5, 5, 900}}
	normal := Drive{Kind: Noise, Counts: poisson.Counts, Table: []int32{-50, -3, 0, 4, 60}}
	for _, x := range []struct {
		draw   uint32
		events int32
	}{{0, 1}, {4, 1}, {5, 3}, {899, 3}, {900, 4}, {math.MaxUint32, 4}} {
		require.Equal(t, x.events, events(poisson.Counts, x.draw))
		require.Equal(t, -7*x.events, poisson.Input(x.draw))
		require.Equal(t, normal.Table[x.events], normal.Input(x.draw))
	}
}

func TestSpikeListsAreSortedByNeuron(t *testing.T) {
	g := network(1, areaOf("spike_list", 4)).Genome
	g.Areas[0].Spikes = []genome.Spike{{Burst: 2, Neuron: 0}, {Burst: 2, Neuron: 3}, {Burst: 5, Neuron: 1}, {Burst: 5, Neuron: 3}, {Burst: 1 << 40, Neuron: 3}}
	l := build(t, g).Areas[0].Spikes
	require.Equal(t, SpikeList{Row: []uint32{0, 1, 2, 2, 5}, Low: []uint32{2, 5, 2, 5, 0}, High: []uint32{0, 0, 0, 0, 1 << 8}}, l)
	require.True(t, l.Fires(3, 2) && l.Fires(3, 5) && l.Fires(3, 1<<40) && l.Fires(0, 2) && l.Fires(1, 5))
	require.False(t, l.Fires(0, 5) || l.Fires(1, 2) || l.Fires(2, 2) || l.Fires(3, 3))
}

// TestParametersThatVary are drawn for each neuron by its number in the network and the parameter's place, taken from a column, or made of a
// number that several share.
func TestParametersThatVary(t *testing.T) {
	lif, izhikevich, poisson := areaOf("lif", 300), areaOf("izhikevich", 200), areaOf("poisson", 50)
	lif.Varied = map[string]genome.Value{"tau": value(genome.Uniform, 10, 20), "threshold": value(genome.Normal, -50, 0.5)}
	lif.Params["rest"], lif.Params["reset"] = -65, -65
	lif.Drives = []genome.Drive{{Unit: genome.Voltage, Value: 15, Until: 9}}
	shared := func(kind genome.ValueKind, a, b float64) genome.Value {
		v := value(kind, a, b)
		v.Shared = "r"
		return v
	}
	for k, v := range map[string]float64{"a": 0.02, "b": 0.2, "threshold": 30} {
		izhikevich.Params[k] = v
	}
	izhikevich.Varied = map[string]genome.Value{"c": shared(genome.Square, -65, 15), "d": shared(genome.Linear, 8, -6)}
	rates := value(genome.Column, 0, 0)
	rates.Each = make([]float64, 50)
	poisson.Varied = map[string]genome.Value{"rate": rates}
	for i := range rates.Each {
		rates.Each[i] = float64(10 * i)
	}
	g := network(1, lif, izhikevich, poisson).Genome
	c := build(t, g)
	place := func(a *genome.Area, name string) uint64 {
		return uint64(slices.IndexFunc(a.Model.Params, func(p genome.Param) bool { return p.Name == name }))
	}
	for n := range uint64(300) {
		x, _ := exact.Words(g.Seed, exact.ParameterDraw, n|place(&lif, "tau")<<32, 0)
		tau := 10 + 10*exact.Uniform(x)
		require.Equal(t, float32(exact.Expm1(-1/tau)), c.Areas[0].Constant("em1").Each[n], "neuron %d", n)
		require.InDelta(t, -15*exact.Expm1(-1/tau), c.Areas[0].Drives[0].Each[n], 1e-12)
	}
	for n := range uint64(200) {
		x, _ := exact.Words(g.Seed, exact.ParameterDraw, 300+n|firstShared<<32, 1)
		u, a := exact.Uniform(x), &c.Areas[1]
		require.Equal(t, float32(-65+float64(15*float64(u*u))), a.Constant("c").Each[n], "neuron %d", n)
		require.Equal(t, float32(8+float64(-6*u)), a.Constant("d").Each[n], "neuron %d", n)
		require.Equal(t, Param{Const: 0.02}, *a.Constant("adt"))
	}
	for n := range uint32(50) {
		require.EqualValues(t, quanta.Nearest(float64(n)/100*(1<<32)), c.Areas[2].Chance.At(n))
	}
	sizes, err := Measure(g, Options{})
	require.NoError(t, err)
	require.InEpsilon(t, c.Bytes(), sizes.Bytes, 0.01)

	for _, x := range []struct {
		name string
		v    genome.Value
		says string
	}{
		{"tau", value(genome.Uniform, -1, 10), "want more than 0"},
		{"tau", value(genome.Normal, 0, 1e39), "3.4e38"},
		{"threshold", value(genome.Uniform, -65, -65), "reset is -65 mV and threshold -65 mV, want reset below threshold"},
		{"threshold", value(genome.Uniform, -70, -60), "want reset below threshold"},
	} {
		lif.Varied = map[string]genome.Value{x.name: x.v}
		_, err := Build(network(1, lif).Genome, Options{Threads: 3})
		require.ErrorContains(t, err, "areas[0].params")
		require.ErrorContains(t, err, x.says)
	}
	for _, rate := range []float64{1000, 1000.0001} {
		rates.Each[7] = rate
		_, err = Build(network(1, poisson).Genome, Options{})
		require.Equal(t, rate > 1000, err != nil)
	}
	require.ErrorContains(t, err, "neuron 7: rate is 1000.0001 Hz, want at most one spike a burst of 1 ms, 1000 Hz")
}

// TestHashSeesEveryConstant changes each number of an area's constants, drives and spikes alone.
func TestHashSeesEveryConstant(t *testing.T) {
	for _, model := range []string{"feagi", "lif", "lif_psc_exp", "izhikevich", "poisson", "spike_list"} {
		make1 := func() *Connectome {
			g := network(1, areaOf(model, 3)).Genome
			if model == "spike_list" {
				g.Areas[0].Spikes = []genome.Spike{{Burst: 2, Neuron: 1}, {Burst: 3, Neuron: 1}}
			}
			c := build(t, g)
			if model == "feagi" || model == "lif" {
				c.Areas[0].Drives = []Drive{{Kind: Poisson, Until: 9, Amount: 3, Term: 2, Each: []float64{1, 2, 3}, Counts: []uint32{4, 5}, Table: []int32{6, 7}}}
			}
			return c
		}
		// The numbers that this model reads.
		of := func(c *Connectome) (list []reflect.Value) {
			a := &c.Areas[0]
			list = numbers(reflect.ValueOf(&a.Constants).Elem())
			if a.Model.Chance != nil {
				list = append(list, reflect.ValueOf(&a.Chance.Const).Elem())
			}
			if a.Model.Has("until") {
				list = append(list, reflect.ValueOf(&a.From).Elem(), reflect.ValueOf(&a.Until).Elem())
			}
			return append(list, numbers(reflect.ValueOf(&a.Spikes.Low).Elem())...)
		}
		require.NotEmpty(t, of(make1()), model)
		hashes := map[uint64]string{make1().Hash(): "nothing"}
		add := func(c *Connectome, what string) {
			other, known := hashes[c.Hash()]
			require.False(t, known, "%s: changing %s gives the hash of %s", model, what, other)
			hashes[c.Hash()] = what
		}
		for k := range of(make1()) {
			c := make1()
			change(of(c)[k])
			add(c, "a constant")
		}
		for k := range numbers(reflect.ValueOf(make1().Areas[0].Drives)) {
			c := make1()
			change(numbers(reflect.ValueOf(c.Areas[0].Drives))[k])
			add(c, "a drive")
		}
		c := make1()
		c.Scale++
		add(c, "the scale")
	}
}

// numbers lists the numbers and flags in v.
func numbers(v reflect.Value) (list []reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				list = append(list, numbers(v.Field(i))...)
			}
		}
		return list
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return numbers(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, numbers(v.Index(i))...)
		}
		return list
	}
	return []reflect.Value{v}
}

func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(v.Float() + 1.3125)
		if math.IsInf(v.Float(), 0) {
			v.SetFloat(1)
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	default:
		v.SetUint(v.Uint() ^ 1)
	}
}

// TestDrivesOfNoQuanta: an amount that becomes no quantum is refused where it is injected, not where it is a term of a formula.
func TestDrivesOfNoQuanta(t *testing.T) {
	for _, x := range []struct {
		model string
		d     genome.Drive
		says  string
	}{
		{"feagi", genome.Drive{Value: 0.0004}, "0.0004 becomes 0 quanta at scale 1000; write scale: 1250 or more"},
		{"feagi", genome.Drive{Value: 0.0005}, ""},
		{"feagi", genome.Drive{Value: 0}, ""},
		{"feagi", genome.Drive{Value: -1e-9}, "even at the largest scale, 16777216"},
		{"lif", genome.Drive{Value: 1e-9, Unit: genome.Voltage}, ""},
		{"izhikevich", genome.Drive{Value: 1e-9}, ""},
		{"lif", genome.Drive{Kind: genome.Poisson, Rate: 10, Weight: -0.0004}, "areas[0].drive[0]"},
		{"lif", genome.Drive{Kind: genome.Noise, Mean: 0.0004, SD: 1}, "areas[0].drive[0]"},
		{"lif", genome.Drive{Kind: genome.Noise, Mean: 1, SD: 0.0004}, "areas[0].drive[0]"},
		{"lif", genome.Drive{Kind: genome.Poisson, Rate: 500_000, Weight: 1}, ""},
		{"lif", genome.Drive{Kind: genome.Poisson, Rate: 500_001, Weight: 1}, "500001 Hz makes 500.001 events a burst, want at most 500 (500000 Hz)"},
	} {
		a := areaOf(x.model, 2)
		if x.model == "izhikevich" {
			a.Params["c"], a.Params["threshold"] = -65, 30
		}
		a.Drives = []genome.Drive{x.d}
		c, err := Build(network(1, a).Genome, Options{})
		if x.says != "" {
			require.ErrorContains(t, err, x.says)
			continue
		}
		require.NoError(t, err, "%s: %+v", x.model, x.d)
		if x.model == "izhikevich" {
			require.Equal(t, Drive{Kind: Term, Term: 1e-9}, c.Areas[0].Drives[0])
		}
	}
}

// TestConstantsThatFloat32CannotHold are named, whichever it is.
func TestConstantsThatFloat32CannotHold(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, x := range []struct {
		says, model, constant string
		value                 Param
		drives                []Drive
	}{
		{says: "", model: "lif", drives: []Drive{{Term: math.MaxFloat32}}},
		{says: "drive", model: "lif", drives: []Drive{{Term: -3e38}, {Term: 1, Each: []float64{2, -3e38}}}},
		{says: "threshold", model: "feagi", constant: "threshold", value: Param{Const: -inf}},
		{says: "threshold_gradient", model: "feagi", constant: "threshold", value: Param{Each: []float32{0, inf}}},
		{says: "", model: "feagi", constant: "threshold_limit", value: Param{Const: inf}},
		{says: "tau", model: "lif", constant: "em1", value: Param{Const: -inf}},
		{says: "reset", model: "lif", constant: "reset", value: Param{Each: []float32{0, -inf}}},
		{says: "tau_syn_in", model: "lif_psc_exp", constant: "p21in", value: Param{Const: inf}},
		{says: "a", model: "izhikevich", constant: "adt", value: Param{Const: inf}},
		{says: "d", model: "izhikevich", constant: "d", value: Param{Const: inf}},
		{says: "timestep", model: "izhikevich", constant: "half", value: Param{Each: []float32{0, 0, inf}}},
	} {
		g := areaOf(x.model, 1)
		a := Area{Model: g.Model, Constants: make([]Param, len(g.Model.Constants)), Drives: x.drives}
		if x.constant != "" {
			*a.Constant(x.constant) = x.value
		}
		require.Equal(t, x.says, a.unbounded())
	}
}

func TestLimitErrorsSayWhatIsWanted(t *testing.T) {
	e := &LimitError{Field: "areas[0].size", Unit: "ports", Needed: math.MaxUint64, Limit: 7, Bytes: 3 << 30}
	require.EqualError(t, e, "areas[0].size: the network needs more than 18446744073709551614 ports (3221225472 bytes (3.00 GiB) of memory), the limit is 7")
	e.Unit, e.Needed = "bytes", 1<<29
	require.EqualError(t, e, "areas[0].size: building needs 536870912 bytes (512.0 MiB), the limit is 7 bytes; make the network smaller or use a machine with more memory")
	require.Equal(t, [3]uint64{math.MaxUint64, math.MaxUint64, 12}, [3]uint64{add(math.MaxUint64, 1), mul(1<<32, 1<<32), add(mul(2, 5), 2)})
	require.EqualValues(t, uint64(math.MaxUint64-1), add(math.MaxUint64-2, 1))
	require.EqualValues(t, uint64(1<<63), mul(1<<32, 1<<31))
}
