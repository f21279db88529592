package enginetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"burst/genome"
	"burst/internal/slow"
)

// mostFiles is how many files written by hand a further model may take. Not counted are what is made from others (PTX, the
// tables of the guides) and the text of the law in engine/doc.go.
const mostFiles = 6

// edit is what adding a model changes in a file: to in place of from, or at the end where from is empty.
type edit struct{ file, from, to string }

// toy is all that adds a model named toy, with a further variable w:
//
//	V ← keep·V + gain·input + drive; w ← w + V; V ≥ threshold: fires; V ← 0
func toy() []edit {
	return []edit{
		{"genome/models.go", "&memoryModel}", "&memoryModel, &toyModel}"},
		{"genome/models.go", "", `
var toyModel = Model{
	Name: "toy", Number: 8, Ports: []Port{{"input", Plain}}, Drive: []Dimension{Plain},
	Term: func(_ Values, d *Drive, _ float64) float64 { return d.Value },
	Doc:  "leaky counter",
	Params: []Param{
		{Name: "tau", Dim: Time, Default: 20, Min: 0, MinOpen: true, Max: inf, Doc: "membrane time constant"},
		{Name: "gain", Dim: Plain, Default: 1, Min: 0, Max: inf, Doc: "factor of the input"},
		{Name: "threshold", Dim: Plain, Default: 1, Min: 0, Max: inf, Doc: "potential from which the neuron fires"},
	},
	Constants: []ModelConstant{decaying("keep", "tau"), same("gain"), same("threshold")},
	State: []Variable{{Name: "V", Doc: "potential"}, {Name: "w", Start: 0.25, Doc: "sum of all potentials"}},
}
`},
		{"backend/reference/models.go", "\tcase \"custom\":", "\tcase \"toy\":\n\t\treturn toy\n\tcase \"custom\":"},
		{"backend/reference/models.go", "", `
func toy(b *backend, a *connectome.Area, i uint32, k []float32, t uint64) bool {
	keep, gain, threshold, n := k[0], k[1], k[2], a.Neurons.First+i
	v, w := &b.state.V[n], &b.state.More[0][n]
	*v = float32(keep**v) + float32(gain*b.input(a, i, 0)) + a.TermOf(t, i)
	*w = *w + *v
	if *v >= threshold {
		*v = 0
		return true
	}
	return false
}
`},
		{"backend/cpu/models.go", "\tcase \"custom\":", "\tcase \"toy\":\n\t\treturn law{one: (*worker).toy}\n\tcase \"custom\":"},
		{"backend/cpu/models.go", "", `
func (p *worker) toy(g *group, i, slot uint32, k []float32, term float32) (fired, changed bool) {
	keep, gain, threshold := k[0], k[1], k[2]
	v, w := &g.v[i], &g.more[0][i]
	oldV, oldW := *v, *w
	*v = float32(keep*oldV) + float32(gain*(float32(p.acc[slot])/float32(p.b.c.Scale))) + term
	*w = oldW + *v
	if fired = *v >= threshold; fired {
		*v = 0
	}
	return fired, !same(*v, oldV) || !same(*w, oldW)
}
`},
		{"kernels/neural_dynamics_fcl.cu", "CUSTOM = 6, MODELS", "CUSTOM = 6, TOY = 8, MODELS"},
		{"kernels/neural_dynamics_fcl.cu", "// fires_at reports", `DEVICE bool toy(const float *k, float input, float term, float *v, float *w) {
    float x = k[0] * *v + k[1] * input + term;
    bool fires = x >= k[2];
    *w = *w + x;
    *v = fires ? 0.0f : x;
    return fires;
}

// fires_at reports`},
		{"kernels/neural_dynamics_fcl.cu", "    return source_fires(w, a, i);", `    if (models & 1 << TOY && a->model == TOY) return toy(constants_of(w, a, i), input(w, first), term, w->v + n, w->more + n);
    return source_fires(w, a, i);`},
		{"engine/enginetest/random.go", "\"custom\": randomCustom,", "\"custom\": randomCustom, \"toy\": randomToy,"},
		{"engine/enginetest/random.go", "", `
func randomToy(r *rand.Rand, n uint32) connectome.Area {
	a := Of("toy", n)
	vary(r, &a, func() []float32 {
		return []float32{float32(among(r, 0.5, r.Float64())), float32(2 * r.Float64()), float32(among(r, 1, 2*r.Float64()))}
	})
	return a
}
`},
		{"engine/enginetest/testdata/toy.txt", "", `case toy
why by the formula: 0.5 + 2, 1.25, 0.625 + 4, and w their sum, from 0.25 on
area toy 1 keep=0.5 gain=2 threshold=3
start V 1
start w 0.25
burst 0:1000
  V 2.5
  w 2.75
burst
  V 1.25
  w 4
burst 0:2000
  fired 0
  V 0
  w 8.625
`},
	}
}

// toyGenome is a test that is put beside those of the cpu backend: a genome with the model, its parameters checked and varied, gives
// the same bits on both backends.
const toyGenome = `package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

func TestToyGenome(t *testing.T) {
	build := func(params string) (*connectome.Connectome, error) {
		g, err := genome.Parse("toy.yaml", []byte("burst: v1\nscale: 1024\nareas:\n  - {name: a, neurons: 700, model: toy, params: "+params+", drive: {constant: 0.3}, init: {w: \"uniform(0, 2)\"}}\n"+
			"  - {name: b, neurons: 90, model: toy}\nprojections:\n  - {from: a, to: b, rule: pairwise_bernoulli, p: 0.1, weight: 0.2}\n"), nil)
		if err != nil {
			return nil, err
		}
		return connectome.Build(g, connectome.Options{})
	}
	_, err := build("{gain: -1}")
	require.ErrorContains(t, err, "gain")
	for _, params := range []string{"{tau: 8 ms}", "{tau: \"uniform(5 ms, 30 ms)\", threshold: 0.7}"} {
		c, err := build(params)
		require.NoError(t, err)
		oracle, err := reference.Open(c, engine.Want{})
		require.NoError(t, err)
		b, err := Open(c, Options{Threads: 2})
		require.NoError(t, err)
		d, err := engine.Compare(oracle, b, 200, nil, 1)
		require.NoError(t, err)
		require.Nil(t, d)
		s := engine.NewState(c)
		require.NoError(t, b.ReadState(s))
		require.Greater(t, s.More[0][700], float32(0.25), "b got something")
		require.NoError(t, b.Close())
	}
}
`

// TestToyModel adds a model to a copy of the program and runs it bit for bit on both backends.
func TestToyModel(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backends with a further model; runs without -short")
	}
	slow.Test(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, e := range toy() {
		text, known := texts[e.file]
		if !known {
			read, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil && !(os.IsNotExist(err) && e.from == "") {
				t.Fatal(err)
			}
			text = string(read)
		}
		if e.from == "" {
			texts[e.file] = text + e.to
		} else {
			p := planted{file: e.file}
			texts[e.file] = p.replace(t, text, e.from, e.to)
		}
	}
	if files := slices.Sorted(maps.Keys(texts)); len(files) > mostFiles {
		t.Errorf("a further model takes %d files, want at most %d: %s", len(files), mostFiles, strings.Join(files, ", "))
	}
	texts["backend/cpu/toy_test.go"] = toyGenome

	folder, replace := t.TempDir(), map[string]string{}
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for file, text := range texts {
		replace[filepath.Join(root, file)] = write(strings.ReplaceAll(file, "/", "_"), text)
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	alone := fmt.Sprint("seed_", 3*len(genome.Models())) // the seed whose network is of the further model alone
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", write("overlay.json", string(list)), "-vet=off", "-v",
		"-run", "^(TestToyGenome|TestConformance)$/^(Cases|2_workers)$/^(toy|Cases|Random)$/^(toy|"+alone+")$", "./backend/reference", "./backend/cpu")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"Cases/toy", "2_workers/Cases/toy", "2_workers/Random/" + alone} {
		if !strings.Contains(string(out), "--- PASS: TestConformance/"+name+" ") {
			t.Errorf("%s did not run\n%s", name, out)
		}
	}
	if !strings.Contains(string(out), "--- PASS: TestToyGenome ") {
		t.Errorf("no genome ran\n%s", out)
	}
}
