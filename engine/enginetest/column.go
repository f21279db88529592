package enginetest

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// columnsText is a genome that takes from columns all that can come from them. Their files are A, B and C. Synapses of the first
// projection are worked out from the CSV file by hand.
const columnsText = `burst: v1
timestep: 0.1 ms
scale: 4096
models:
  - name: own
    ports: {a: mV, b: mV}
    params: {tau: 20 ms, high: -50 mV, refractory: 2 ms}
    state: {v: -60 mV}
    update: ["v = select(refractory, v, v + (-65 - v)*dt/tau + a - b)"]
    threshold: v >= high
    reset: [v = -65]
areas:
  - name: lif
    neurons: 24
    model: lif
    positions: cells.A
    columns: {theta: "column(cells.B, theta)", reach: "column(cells.C, reach, um)"}
    params: {rest: -65 mV, reset: -65 mV, tau: "column(cells.C, tau)", threshold: "column(cells.A, threshold, mV)", refractory: "column(cells.B, silence, ms)"}
    init: {V: "column(cells.A, V)"}
    drive:
      - {constant: "column(cells.B, I_e, pA)"}
      - {constant: "normal(5 mV, 2 mV) > 0 mV"}
      - {poisson: {rate: "column(cells.C, rate, kHz)", weight: "column(cells.A, weight)"}, from: 20}
      - {normal: {mean: "column(cells.B, mean)", sd: "column(cells.C, sd)"}}
  - name: own
    neurons: 24
    model: own
    positions: cells.C
    columns: {theta: "column(cells.A, theta)"}
    params: {tau: "column(cells.B, tau)", high: "column(cells.C, threshold, mV)", refractory: "column(cells.A, silence)"}
    init: {v: "column(cells.B, V, mV)"}
    drive:
      - {to: {port: a}, constant: "column(cells.A, weight, mV)", until: 60}
      - {to: {port: b}, constant: "uniform(0 mV, 0.1 mV)"}
      - {to: {port: b}, poisson: {rate: "column(cells.B, rate, kHz)", weight: 0.1 mV}}
  - {name: feagi, neurons: 24, threshold: "column(cells.C, reach)", drive: [{constant: "column(cells.A, tau)"}, {constant: "uniform(0, 20)"}]}
  - {name: sources, neurons: 24, model: poisson, positions: cells.B, params: {rate: "column(cells.A, rate, kHz)"}}
projections:
  - from: lif
    to: {area: own, port: a}
    rule: distance
    p: 1
    mask: "d < source_reach and target_theta > source_theta"
    weight: "0.5 mV*(1 + target_theta - source_theta)"
    delay: "0.1 ms*floor(1 + d/(50 um))"
  - {from: own, to: lif, rule: fixed_indegree, indegree: 3, kernel: "exp(cos(source_theta - target_theta))", weight: "0.25 mV*cos(target_theta)", delay: 0.3 ms}
  - {from: sources, to: lif, rule: pairwise_bernoulli, p: 0.3, weight: "normal(0.5 mV, 0.25 mV)", delay: "uniform(0.1 ms, 2 ms)"}
`

// columnsNet builds columnsText with its columns in files of three formats.
func columnsNet(t *testing.T, formats ...string) *connectome.Connectome {
	text := strings.NewReplacer("cells.A", "cells."+formats[0], "cells.B", "cells."+formats[1], "cells.C", "cells."+formats[2]).Replace(columnsText)
	g, err := genome.Parse("columns.yaml", []byte(text), func(name string) (io.ReadCloser, error) { return testdata.Open("testdata/" + name) })
	must(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	must(t, err)
	return c
}

// runColumns compares a backend with the oracle on a network whose values come from columns, also from the middle of a run on, and holds
// the network to what the columns say.
func runColumns(t *testing.T, open, oracle Open) {
	c := columnsNet(t, "csv", "parquet", "arrow")
	for _, formats := range [][]string{{"parquet", "arrow", "csv"}, {"arrow", "csv", "parquet"}} {
		if columnsNet(t, formats...).Hash() != c.Hash() {
			t.Errorf("columns of %v make another network", formats)
		}
	}
	columnsByHand(t, c)
	const half = 60
	a, b := start(t, oracle, c, engine.Want{}), start(t, open, c, engine.Want{})
	for range 2 {
		d, err := engine.Compare(a, b, half, engine.NewFeed(c, nil).Next, 20)
		must(t, err)
		if d != nil {
			t.Fatal(d)
		}
		again := start(t, open, c, engine.Want{})
		write(t, again, read(t, b))
		b = again
	}
	fired, feed, out := map[int]bool{}, engine.NewFeed(c, nil), engine.Burst{}
	again := start(t, oracle, c, engine.Want{})
	for number := range uint64(2 * half) {
		in, err := feed.Next(number)
		must(t, err)
		step(t, again, in, &out)
		for _, n := range out.Fired {
			fired[c.AreaOf(n)] = true
		}
	}
	if len(fired) != len(c.Areas) {
		t.Errorf("areas %v fire, want all", fired)
	}
}

// columnsByHand works out what the columns say from the CSV file: the synapses of the first projection, thresholds, silences and
// the potentials at the start.
func columnsByHand(t *testing.T, c *connectome.Connectome) {
	f, err := testdata.Open("testdata/cells.csv")
	must(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must(t, err)
	at := func(neuron int, name string) float64 {
		x, err := strconv.ParseFloat(rows[1+neuron][slices.Index(rows[0], name)], 64)
		must(t, err)
		return x
	}
	type synapse struct {
		source, target, delay uint32
		weight                int32
	}
	var want, got []synapse
	const neurons = 24
	for i := range neurons {
		for j := range neurons {
			d := math.Hypot(math.Hypot(at(i, "x")-at(j, "x"), at(i, "y")-at(j, "y")), at(i, "z")-at(j, "z"))
			if turn := at(j, "theta") - at(i, "theta"); d < at(i, "reach") && turn > 0 {
				want = append(want, synapse{uint32(i), uint32(j), uint32(1 + d/50), int32(0.5 * (1 + turn) * 4096)})
			}
		}
	}
	for i := range uint32(neurons) {
		for k := c.Row[i]; k < c.Row[i+1]; k++ {
			if area := c.AreaOfPort(c.Target[k]); area == 1 {
				n, _ := c.Areas[1].Input(c.Target[k])
				got = append(got, synapse{i, n, c.DelayOf(k), c.Weight[k]})
			}
		}
	}
	order := func(a, b synapse) int {
		return slices.Compare([]uint32{a.source, a.target}, []uint32{b.source, b.target})
	}
	slices.SortFunc(got, order)
	if len(want) < 50 || !slices.Equal(got, want) {
		t.Errorf("synapses %v, want %v", got, want)
	}
	v, more := make([]float32, c.Neurons), make([][]float32, c.Variables())
	for k := range more {
		more[k] = make([]float32, c.Neurons)
	}
	c.InitialState(v, more)
	threshold, silence := c.Areas[0].Constant("threshold"), c.Areas[0].Constant("refractory")
	for i := range neurons {
		if x, y := float32(at(i, "threshold") - -65), float32(math.Round(at(i, "silence")*10)); threshold.At(uint32(i)) != x || silence.At(uint32(i)) != y {
			t.Errorf("neuron %d has the threshold %v and is silent for %v bursts, want %v and %v", i, threshold.At(uint32(i)), silence.At(uint32(i)), x, y)
		}
		if want := float32(at(i, "V") - -65); v[i] != want || v[neurons+i] != float32(at(i, "V")) {
			t.Errorf("neuron %d starts from %v and %v, want %v above rest", i, v[i], v[neurons+i], want)
		}
	}
}
