package cpu

import (
	"fmt"
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/formula"
	"burst/internal/split"

	"github.com/stretchr/testify/require"
)

// written are built-in models and the same ones written out, with the parameters of package enginetest.
func written(t testing.TB, n uint32) map[string][2]connectome.Area {
	custom := func(s *formula.Source, params map[string]float64, refractory uint16) connectome.Area {
		a, err := enginetest.Custom(n, s, params, refractory)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	lif, psc, izhikevich := enginetest.LIF(n), enginetest.PSCExp(n), enginetest.Izhikevich(n)
	k := make([]float32, len(psc.Constants))
	psc.Load(0, k)
	rhs := "v = v + half*(0.04*v*v + 5*v + 140 - u + I)"
	models := map[string][2]connectome.Area{
		"lif": {lif, custom(&formula.Source{
			Ports: []string{"I"}, Params: []string{"em1"}, State: []formula.Line{{Name: "v"}},
			Update: []string{"v = select(refractory, v, v + (em1*v + 0) + I)"}, Threshold: "v >= 20", Reset: []string{"v = 10"},
		}, map[string]float64{"em1": float64(lif.Constant("em1").Const)}, uint16(lif.Constant("refractory").Const))},
		"lif_psc_exp": {psc, custom(&formula.Source{
			Ports: []string{"ex", "in"}, Params: []string{"em1", "p21ex", "p21in", "p11ex", "p11in", "th"},
			State: []formula.Line{{Name: "v"}, {Name: "iex"}, {Name: "iin"}},
			Update: []string{
				"v = select(refractory, v, v + em1*v + p21ex*iex + p21in*iin + 0)", "iex = p11ex*iex + ex", "iin = p11in*iin + in",
			}, Threshold: "v >= th", Reset: []string{"v = 0"},
		}, map[string]float64{
			"em1": float64(k[0]), "p21ex": float64(k[1]), "p21in": float64(k[2]), "p11ex": float64(k[3]), "p11in": float64(k[4]), "th": float64(k[5]),
		}, uint16(k[7]))},
		"izhikevich": {izhikevich, custom(&formula.Source{
			Ports: []string{"I"}, Params: []string{"half", "adt", "b", "c", "d"}, State: []formula.Line{{Name: "v"}, {Name: "u", Text: "b*v"}},
			Update: []string{rhs, rhs, "u = u + adt*(b*v - u)"}, Threshold: "v >= 30", Reset: []string{"v = c", "u = u + d"},
		}, map[string]float64{"half": 0.5, "adt": float64(float32(0.02)), "b": float64(float32(0.2)), "c": -65, "d": 8}, 0)},
	}
	for name, pair := range models {
		pair[1].V0 = pair[0].V0
		models[name] = pair
	}
	return models
}

// TestWrittenModelsMatchBuiltIns drives both with the same noise and wants the same spikes and bits.
func TestWrittenModelsMatchBuiltIns(t *testing.T) {
	const n, bursts = 777, 300
	for name, pair := range written(t, n) {
		t.Run(name, func(t *testing.T) {
			var states [2]engine.State
			spikes := [2]int{}
			for i, a := range pair {
				amounts := map[string]int32{"lif": 3100, "lif_psc_exp": 9_000_000, "izhikevich": 9000}
				a.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, amounts[name], 1<<30, 3<<30)}
				c := enginetest.Net{RunSeed: 5, Areas: []connectome.Area{a}}.Build()
				b := open(c, engine.Want{}, 2, vector.Best())
				var out engine.Burst
				for range bursts {
					if err := b.Step(nil, &out); err != nil {
						t.Fatal(err)
					}
					spikes[i] += len(out.Fired)
				}
				if err := b.ReadState(&states[i]); err != nil {
					t.Fatal(err)
				}
				_ = b.Close()
			}
			if spikes[0] == 0 || spikes[0] != spikes[1] {
				t.Fatalf("%d spikes of the built-in, %d of the written one, want the same and some", spikes[0], spikes[1])
			}
			if d := engine.CompareStates(&states[0], &states[1]); d != nil {
				t.Fatalf("neuron %d: %s is %s in the built-in and %s in the written one", d.Neuron, d.Field, d.A, d.B)
			}
		})
	}
}

// TestEachNeuronsOwnInAPart: parameters with a value for each neuron, in a part of a network that is too large to be evaluated at once.
func TestEachNeuronsOwnInAPart(t *testing.T) {
	const n = 3 * 64 * 21
	a, err := enginetest.Custom(n, &formula.Source{
		Ports: []string{"I"}, Params: []string{"p"}, State: []formula.Line{{Name: "v"}}, Update: []string{"v = v + p + I"}, Threshold: "v > 9", Reset: []string{"v = p"},
	}, map[string]float64{"p": 1}, 0)
	require.NoError(t, err)
	for i := range n {
		a.Constants[0].Each = append(a.Constants[0].Each, float32(i%1013)/100)
	}
	c := enginetest.Net{Areas: []connectome.Area{a}}.Build()
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	b, err := split.Local([]*connectome.Connectome{c.Cut(connectome.Part{Index: 0, Of: 2}), c.Cut(connectome.Part{Index: 1, Of: 2})}, engine.Want{},
		func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
			return open(c, w, 2, vector.Best()), nil
		})
	require.NoError(t, err)
	defer b.Close()
	d, err := engine.Compare(oracle, b, 8, nil, 1)
	require.NoError(t, err)
	require.Nil(t, d)
}

// BenchmarkCustom updates 50,000 neurons that noise keeps busy, by a built-in model and by the same one written out.
func BenchmarkCustom(b *testing.B) {
	const n = 50_000
	for _, name := range []string{"lif", "lif_psc_exp", "izhikevich"} {
		for i, a := range written(b, n)[name] {
			for _, loops := range []vector.Kernels{vector.Best(), vector.Plain()} {
				b.Run(fmt.Sprintf("%s/%s/%s", name, []string{"built-in", "written"}[i], loops.Name), func(b *testing.B) {
					c := enginetest.Net{Areas: []connectome.Area{a}}.Build()
					back := open(c, engine.Want{}, 1, loops)
					defer back.Close()
					var in []engine.Stimulus
					for p := uint32(0); p < n; p += 64 {
						in = append(in, engine.Stimulus{Port: p, Amount: 1})
					}
					var out engine.Burst
					spikes := 0
					for b.Loop() {
						_ = back.Step(in, &out)
						spikes += len(out.Fired)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/neuron")
					b.ReportMetric(float64(spikes)/float64(b.N), "spikes/burst")
				})
			}
		}
	}
}
