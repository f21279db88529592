package connectome

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// memFile is a file in memory that can be read at any place.
type memFile struct{ *bytes.Reader }

func (memFile) Close() error { return nil }

// opener opens files in memory.
func opener(files map[string]string) genome.Opener {
	return func(name string) (io.ReadCloser, error) { return memFile{bytes.NewReader([]byte(files[name]))}, nil }
}

// fromLists parses areas E (lif, 70), I (lif, 30) and F (feagi, 9) with projections that read files.
func fromLists(t *testing.T, projections string, files map[string]string) *genome.Genome {
	t.Helper()
	text := "burst: v1\nseed: 99\ntimestep: 0.1 ms\nareas:\n  - {name: E, neurons: 70, model: lif}\n  - {name: I, neurons: 30, model: lif}\n  - {name: F, neurons: 9}\nprojections:\n" + projections
	g, err := genome.Parse("net.yaml", []byte(text), func(name string) (io.ReadCloser, error) {
		return memFile{bytes.NewReader([]byte(files[name]))}, nil
	})
	require.NoError(t, err)
	return g
}

func TestEdgesSmall(t *testing.T) {
	g := fromLists(t, "  - {from: I, to: E, rule: edges, file: w.csv}\n  - {from: E, to: F, rule: edges, file: v.csv, weight: 3, delay: 4}\n", map[string]string{
		"w.csv": "delay_ms,source,_note,target,weight,port\n1.52,29,far,69,-0.4,0\n0.1,0,,0,0.0035,0\n25.5,29,,0,1e3,0\n",
		"v.csv": "source,target\n69,8\n0,8\n",
	})
	c := build(t, g)
	assert.Equal(t, [][2]uint32{{0, 108}, {69, 108}, {70, 0}, {99, 69}, {99, 0}}, pairs(c))
	assert.Equal(t, []int32{3000, 3000, 4, -400, 1_000_000}, c.Weight)
	assert.Equal(t, Delays{Short: []uint8{4, 4, 1, 15, 255}}, c.Delay)
	assert.Equal(t, 255, c.MaxDelay)
	s, err := Measure(g, Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 5, s.Synapses)
	assert.Equal(t, 255, s.MaxDelay)
	assert.EqualValues(t, 3, s.Areas[0].InSynapses+s.Areas[1].InSynapses)
	assert.EqualValues(t, 2, s.Areas[0].OutSynapses)
}

// A list without rows, for a network without neurons.
func TestEdgesWithoutNeurons(t *testing.T) {
	g, err := genome.Parse("net.yaml", []byte("burst: v1\nareas: [{name: F, group: memory, neurons: 0}]\nprojections: [{rule: edges, file: w.csv}]\n"), func(string) (io.ReadCloser, error) {
		return memFile{bytes.NewReader([]byte("source,target,weight\n"))}, nil
	})
	require.NoError(t, err)
	assert.Zero(t, build(t, g).Synapses())
}

// A list that gives all delays as 1 makes the same bytes as one without delays.
func TestEdgesOfDelayOne(t *testing.T) {
	with := build(t, fromLists(t, "  - {rule: edges, file: w.csv}\n", map[string]string{"w.csv": "source,target,weight,delay\n3,5,2,1\n"}))
	without := build(t, fromLists(t, "  - {rule: edges, file: w.csv}\n", map[string]string{"w.csv": "source,target,weight\n3,5,2\n"}))
	assert.True(t, with.Delay.None())
	assert.Equal(t, without, with)
}

// randomList has rows between neurons of the whole network, in no order, with doubles and autapses.
func randomList(rows int) string {
	r := rand.New(rand.NewPCG(3, 1))
	var b strings.Builder
	b.WriteString("source,target,weight,delay\n")
	for range rows {
		fmt.Fprintf(&b, "%d,%d,%g,%d\n", r.IntN(109), r.IntN(109), float64(r.IntN(4001)-2000)/1000, 1+r.IntN(255))
	}
	return b.String()
}

// The hash and the bytes are those of one thread for any number, and of per-area lists for one of the whole network.
func TestEdgesAtAnyThreadCount(t *testing.T) {
	g := fromLists(t, "  - {rule: edges, file: w.csv}\n", map[string]string{"w.csv": randomList(20_011)})
	want, err := Build(g, Options{Threads: 1})
	require.NoError(t, err)
	for _, threads := range []int{2, 3, 8} {
		c, err := Build(g, Options{Threads: threads})
		require.NoError(t, err)
		assert.Equal(t, want, c, "%d threads", threads)
	}
	s, err := Measure(g, Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 20_011, s.Areas[0].InSynapses+s.Areas[1].InSynapses+s.Areas[2].InSynapses)
}

// Draws go by the row of the list: the same weights for any number of threads, another one for every row.
func TestEdgesDrawByRow(t *testing.T) {
	list := "source,target\n" + strings.Repeat("7,3\n", 5000)
	g := fromLists(t, "  - {from: E, to: I, rule: edges, file: w.csv, weight: \"normal(2 mV, 0.5 mV)\", delay: \"uniform(1, 9)\"}\n", map[string]string{"w.csv": list})
	one, err := Build(g, Options{Threads: 1})
	require.NoError(t, err)
	many, err := Build(g, Options{Threads: 5})
	require.NoError(t, err)
	assert.Equal(t, one, many)
	distinct := map[int32]bool{}
	for _, w := range one.Weight {
		distinct[w] = true
	}
	assert.Greater(t, len(distinct), 1000)
}

func TestEdgesRefused(t *testing.T) {
	for _, c := range []struct{ name, projection, list, want string }{
		{"wrong rows", "{from: E, to: I, rule: edges, file: w.csv}", "source,target,weight\n0,30,1\n70,0,1\n",
			"w.csv: row 1 (line 2), column target: neuron 30, want 0…29 of I"},
		{"no weight", "{from: E, to: I, rule: edges, file: w.csv}", "source,target\n0,0\n", "expects weight in a column or in the genome"},
		{"weight twice", "{from: E, to: I, rule: edges, file: w.csv, weight: 1 mV}", "source,target,weight\n0,0,1\n", "expects weight either in a column or in the genome"},
		{"delay twice", "{from: E, to: I, rule: edges, file: w.csv, delay: 1}", "source,target,weight,delay\n0,0,1,1\n", "expects delay either in a column or in the genome"},
		{"no quantum", "{from: E, to: I, rule: edges, file: w.csv}", "source,target,weight\n0,0,0\n\n\r\n0,0,-0.0001\n", "row 2 (line 5), column weight: -0.0001 becomes 0 quanta at scale 1000; write scale: 5000"},
		{"beyond 32 bits", "{from: E, to: I, rule: edges, file: w.csv}", "source,target,weight\n0,0,1\n\n0,0,-1e30\n",
			"w.csv: row 2 (line 4), column weight: -1e+30 becomes more than 2147483647 quanta at scale 1000; not even scale: 1 holds it"},
		{"beyond any number", "{from: E, to: I, rule: edges, file: w.csv}", "source,target,weight\n0,0,1e308\n", "row 1 (line 2), column weight: 1e+308 becomes more than"},
		{"beyond 32 bits by half", "{from: E, to: I, rule: edges, file: w.csv}", "source,target,weight\n0,0,2147483.6475\n", "the largest scale that holds it is 999"},
		{"a scale that rounds down", "{from: E, to: I, rule: edges, file: w.csv}", "source,target,weight\n0,0,715827882.4\n", "the largest scale that holds it is 3"},
		{"too much together", "{from: E, to: I, rule: edges, file: w.csv}", "source,target,weight\n0,0,2e6\n1,0,-2e6\n", "the largest scale that fits is 536"},
		{"header", "{from: E, to: I, rule: edges, file: w.csv}", "from,to\n0,0\n", `unknown column "from"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Build(fromLists(t, "  - "+c.projection+"\n", map[string]string{"w.csv": c.list}), Options{})
			require.ErrorContains(t, err, c.want)
			require.ErrorAs(t, err, new(genome.Faults))
			if !strings.HasPrefix(c.name, "too much") {
				assert.ErrorContains(t, err, "net.yaml:9:")
				assert.ErrorContains(t, err, "projections[0].file: ")
			}
		})
	}
}

// Rows that do not fit are refused when they are counted, and a stream cannot be read at any place.
func TestEdgesLimits(t *testing.T) {
	g := fromLists(t, "  - {rule: edges, file: w.csv}\n", map[string]string{"w.csv": randomList(5000)})
	_, err := Build(g, Options{MaxBytes: 90_000, Threads: 1})
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, "projections[0].file", limit.Field)
	assert.Greater(t, limit.Needed, uint64(5000*26))
	_, err = Build(g, Options{MaxBytes: 1 << 30, Threads: 1})
	require.NoError(t, err)
	stream, err := genome.Parse("net.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 3}]\nprojections: [{rule: edges, file: w.csv}]\n"),
		func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil })
	require.NoError(t, err)
	_, err = Build(stream, Options{})
	require.ErrorContains(t, err, "read at any place")
}

// A list of the whole network finds the inputs of every model; weights that stand in it are final.
func TestEdgesAmongModels(t *testing.T) {
	parse := func(list, more string) *genome.Genome {
		text := "burst: v1\ntimestep: 0.1 ms\nareas:\n  - {name: F, neurons: 2, psp: 3, divide_psp: true}\n  - {name: P, neurons: 4, model: poisson, params: {rate: 5 Hz}}\n  - {name: E, neurons: 10, model: lif_psc_exp}\nprojections:\n  - {rule: edges, file: w.csv" + more + "}\n"
		g, err := genome.Parse("net.yaml", []byte(text), func(string) (io.ReadCloser, error) { return memFile{bytes.NewReader([]byte(list))}, nil })
		require.NoError(t, err)
		return g
	}
	c := build(t, parse("source,target,weight,port\n0,6,1.5,0\n0,6,-2,1\n2,15,-1,1\n0,1,-7,0\n", ""))
	require.EqualValues(t, 2+20, c.Ports)
	assert.Equal(t, [][2]uint32{{0, 1}, {0, 2}, {0, 12}, {2, 21}}, pairs(c))
	assert.Equal(t, []int32{-7000, 1500, -2000, -1000}, c.Weight)
	_, err := Build(parse("source,target,weight\n0,6,1\n0,4,1\n", ""), Options{})
	require.ErrorContains(t, err, "row 2 (line 3), column target: found neuron 4 of area P, whose model poisson takes no input")
	some := parse(randomWithin(16, 6, 4000), ", attractivity: 30")
	s, err := Measure(some, Options{})
	require.NoError(t, err)
	assert.InDelta(t, 1200, float64(s.Synapses), 150)
	assert.Equal(t, s.Synapses, build(t, some).Synapses())
	assert.Equal(t, s.Synapses, s.Areas[0].OutSynapses+s.Areas[1].OutSynapses+s.Areas[2].OutSynapses)
}

// randomWithin lists rows from all of n neurons to those from first on.
func randomWithin(n, first, rows int) string {
	r := rand.New(rand.NewPCG(7, 2))
	text := "source,target,weight\n"
	for range rows {
		text += fmt.Sprintf("%d,%d,%d\n", r.IntN(n), first+r.IntN(n-first), r.IntN(9)-4)
	}
	return text
}

// Weights beside a list are drawn, multiplied and divided as those of other rules are; synapses of lists that have weights do
// not count in what is divided by.
func TestEdgesShareWeights(t *testing.T) {
	const shared = "burst: v1\nareas: [{name: a, neurons: 3, psp: 3, divide_psp: true}]\nprojections:\n  - {from: a, to: a, rule: edges, file: w.csv, weight: 1}\n"
	files := map[string]string{"w.csv": "source,target\n0,1\n0,2\n0,2\n1,0\n", "own.csv": "source,target,weight\n0,0,7\n1,1,7\n"}
	for _, more := range []string{"", "  - {from: a, to: a, rule: edges, file: own.csv}\n", "  - {rule: edges, file: own.csv}\n"} {
		g, err := genome.Parse("net.yaml", []byte(shared+more), func(name string) (io.ReadCloser, error) {
			return memFile{bytes.NewReader([]byte(files[name]))}, nil
		})
		require.NoError(t, err)
		want := []int32{1000, 1000, 1000, 3000}
		if more != "" {
			want = []int32{7000, 1000, 1000, 1000, 3000, 7000}
		}
		assert.Equal(t, want, build(t, g).Weight, more)
	}
}

// scale: auto looks at the weights of lists too.
func TestEdgesChooseScale(t *testing.T) {
	g := fromLists(t, "  - {rule: edges, file: w.csv}\n", map[string]string{"w.csv": "source,target,weight\n0,0,1500\n1,0,-548\n"})
	g.Scale = 0
	assert.EqualValues(t, 1<<19, build(t, g).Scale)
}

// Parameters from a column reach each neuron's constants, and the folder that is exported.
func TestParameterColumn(t *testing.T) {
	text := "burst: v1\nareas: [{name: a, neurons: 3, model: lif, params: {rest: -65 mV, threshold: \"column(c.csv, v)\", reset: -65 mV}}]\n"
	g, err := genome.Parse("net.yaml", []byte(text), func(string) (io.ReadCloser, error) {
		return memFile{bytes.NewReader([]byte("v\n-50\n-52.5\n-40\n"))}, nil
	})
	require.NoError(t, err)
	c := build(t, g)
	require.Len(t, c.Areas[0].Constant("threshold").Each, 3)
	for i, want := range []float32{15, 12.5, 25} {
		assert.Equal(t, want, c.Areas[0].Constant("threshold").Each[i])
	}
}

// Initial values and drives of a column: each neuron has its own. Where a drive is no term of the formula it is a stimulus of every
// burst, whose ports ascend also where its amounts have both signs.
func TestColumnsOfAreas(t *testing.T) {
	text := `burst: v1
models:
  - {name: m, ports: [up, down], state: {x: 0}, update: [x = up + down], threshold: x > 1000}
areas:
  - {name: a, neurons: 3, model: lif, params: {rest: -65 mV, reset: -65 mV, threshold: -50 mV}, init: {V: "column(c.csv, v)"}, drive: {constant: "column(c.csv, i, mV)"}}
  - {name: b, neurons: 3, model: m, init: {x: "column(c.csv, i)"}, drive: {constant: "column(c.csv, i)", from: 3, until: 7}}
`
	g, err := genome.Parse("net.yaml", []byte(text), func(string) (io.ReadCloser, error) {
		return memFile{bytes.NewReader([]byte("v,i\n-60,2\n-55.5,-1.5\n-70,4\n"))}, nil
	})
	require.NoError(t, err)
	c := build(t, g)
	v := make([]float32, 6)
	c.InitialState(v, nil)
	assert.Equal(t, []float32{5, 9.5, -5, 2, -1.5, 4}, v)
	drive := c.Areas[0].Drives[0]
	require.Len(t, drive.Each, 3)
	assert.InDelta(t, -1.5/2, drive.Each[1]/drive.Each[0], 1e-12)
	assert.Empty(t, c.Areas[1].Drives)
	require.Equal(t, []Stimulus{{Every: 1, From: 3, Until: 7, Ports: []uint32{3, 5, 7}, Amounts: []int32{2000, 4000, -1500}}}, c.Stimuli)
	assert.Equal(t, []uint32{0, 0, 0}, c.Bound[3:6], "the feed adds them")

	g.Scale = 0
	assert.EqualValues(t, 1<<20, build(t, g).Scale)
	g.Areas[1].Drives[0].Each[2] = 4e5
	assert.EqualValues(t, 1<<11, build(t, g).Scale, "2^30 quanta at most")
	g.Scale = 1 << 14
	_, err = Build(g, Options{})
	require.ErrorContains(t, err, "neuron 2 of area \"b\" could receive 2147483648 quanta in one burst at up, more than 2147483647, at scale 16384; the largest scale that fits is 5368")
}

// The rows of a table make the network that they would make if they were written.
func TestTableOfProjections(t *testing.T) {
	const areas = "burst: v1\ntimestep: 0.1 ms\nscale: auto\nseed: 3\nareas: [{name: a, neurons: 30, model: lif}, {name: b, neurons: 20, model: lif}]\n"
	table := "source,target,rule,count,p,weight,weight_sd,weight_min,delay_ms,delay_sd_ms,delay_min_ms\na,b,fixed_total_number,300,,0.4,0.2,0.3,1.5,0.7,0.1\nb,a,pairwise_bernoulli,,0.3,-1,,,2,,\n"
	open := func(string) (io.ReadCloser, error) { return memFile{bytes.NewReader([]byte(table))}, nil }
	got, err := genome.Parse("net.yaml", []byte(areas+"projections: [{from: a, to: a, rule: all_to_all, weight: 0.1 mV}, {file: t.csv}]\n"), open)
	require.NoError(t, err)
	want, err := genome.Parse("net.yaml", []byte(areas+`projections:
  - {from: a, to: a, rule: all_to_all, weight: 0.1 mV}
  - {from: a, to: b, rule: fixed_total_number, count: 300, weight: "normal(0.4 mV, 0.2 mV) >= 0.3 mV", delay: "normal(1.5 ms, 0.7 ms) >= 0.1 ms"}
  - {from: b, to: a, rule: pairwise_bernoulli, p: 0.3, weight: -1 mV, delay: 2 ms}
`), nil)
	require.NoError(t, err)
	assert.Equal(t, build(t, want).Hash(), build(t, got).Hash())

	table = "source,target,rule,count,weight,weight_sd,weight_min\na,b,fixed_total_number,300,0.4,0.2,0.3\na,b,fixed_total_number,300,0.4,0.01,0.6\n"
	_, err = genome.Parse("net.yaml", []byte(areas+"projections: {file: t.csv}\n"), open)
	require.ErrorContains(t, err, "row 2 (line 3), column weight: expects wider bounds")
	table = "source,target,rule,count,weight,weight_sd,weight_min\na,b,fixed_total_number,300,0.4,0.2,0.3\na,b,fixed_total_number,300,0.4,0.05,0.6\n"
	got, err = genome.Parse("net.yaml", []byte(areas+"projections: {file: t.csv}\n"), open)
	require.NoError(t, err)
	_, err = Build(got, Options{})
	require.ErrorContains(t, err, "net.yaml:6:21: projections: t.csv: row 2 (line 3), column weight: the bounds keep fewer than 1 draw in 1000")
}
