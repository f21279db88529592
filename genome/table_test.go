package genome

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const tableAreas = "burst: v1\ntimestep: 0.1 ms\nareas:\n  - {name: E, neurons: 100, model: lif_psc_exp}\n  - {name: \"46\", neurons: 20, model: lif}\n  - {name: p, neurons: 5, model: poisson, params: {rate: 5 Hz}}\n"

// unplaced are projections without what tells where they were written.
func unplaced(g *Genome) []Projection {
	list := make([]Projection, len(g.Projections))
	for i, p := range g.Projections {
		p.Pos, p.Weight.Pos, p.Delay.Pos, p.place, p.Table, p.Row = Pos{}, Pos{}, Pos{}, 0, "", 0
		list[i] = p
	}
	return list
}

// The rows of a table, among written projections, are the projections that they would be if they were written.
func TestTable(t *testing.T) {
	const table = `source,target,port,rule,count,p,indegree,weight,weight_sd,weight_min,weight_max,weight_distribution,weight_bounds,delay_ms,delay_sd_ms,delay_min_ms,delay_max_ms,autapses,attractivity,_note
E,E,,fixed_total_number,1000,,,87.80849352920845,8.780849352920844,0,inf,,,1.5,0.75,0.1,,,,one
E,46,,pairwise_bernoulli,,0.25,,0.15,0.015,0,0.3,lognormal,clip,1.5,,,,,50,
E,E,in,fixed_indegree,,,7.0,-20,,,,,,2,,,,false,,
p,46,,all_to_all,,,,,,0.1,0.2,uniform,,2.5,,,,,,

46,E,,fixed_total_number,12,,,"normal(1 nA, 2 pA) > 0 pA",,,,,,0.3,,,,true,,
`
	const written = `projections:
  - {from: E, to: E, rule: all_to_all, weight: 1 pA}
  - {from: E, to: E, rule: fixed_total_number, count: 1000, weight: "normal(87.80849352920845 pA, 8.780849352920844 pA) >= 0 pA", delay: "normal(1.5 ms, 0.75 ms) >= 0.1 ms"}
  - {from: E, to: "46", rule: pairwise_bernoulli, p: 0.25, weight: "clip(lognormal(0.15 mV, 0.015 mV), 0 mV, 0.3 mV)", delay: 1.5 ms, attractivity: 50}
  - {from: E, to: {area: E, port: in}, rule: fixed_indegree, indegree: 7, weight: -20 pA, delay: 2 ms, autapses: false}
  - {from: p, to: "46", rule: all_to_all, weight: "uniform(0.1 mV, 0.2 mV)", delay: 25}
  - {from: "46", to: E, rule: fixed_total_number, count: 12, weight: "normal(1 nA, 2 pA) > 0 pA", delay: 3, autapses: true}
  - {from: p, to: E, rule: all_to_all, weight: 2 pA}
`
	mixed := tableAreas + "projections:\n  - {from: E, to: E, rule: all_to_all, weight: 1 pA}\n  - file: t.csv\n  - {from: p, to: E, rule: all_to_all, weight: 2 pA}\n"
	got, err := Parse("net.yaml", []byte(mixed), holding(table))
	require.NoError(t, err)
	want, err := Parse("net.yaml", []byte(tableAreas+written), nil)
	require.NoError(t, err)
	require.Equal(t, unplaced(want), unplaced(got))
	require.Equal(t, []File{{Path: "t.csv", Bytes: int64(len(table)), SHA256: got.Files[0].SHA256}}, got.Files)
	require.Equal(t, []uint64{0, 1, 2, 3, 4, 5, 0}, []uint64{got.Projections[0].Row, got.Projections[1].Row, got.Projections[2].Row, got.Projections[3].Row, got.Projections[4].Row, got.Projections[5].Row, got.Projections[6].Row})
	require.Equal(t, 2, got.Projections[6].place)

	alone, err := Parse("net.yaml", []byte(tableAreas+"projections: {file: t.csv}\n"), holding(table))
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(unplaced(want)[1:6], unplaced(alone)))

	err = got.ProjectionFault(5, Pos{1, 1}, "weight", "too %s", "large")
	require.ErrorContains(t, err, "net.yaml:9:11: projections: t.csv: row 5 (line 7), column weight: too large")
	err = got.ProjectionFault(6, Pos{10, 5}, "weight", "too %s", "large")
	require.ErrorContains(t, err, "net.yaml:10:5: projections[6].weight: too large")
}

func TestTableMistakes(t *testing.T) {
	for _, c := range []struct{ header, row, want string }{
		{"source,target,rule,weight", "E,E1,all_to_all,1", `net.yaml:7:21: projections.file: t.csv: row 1 (line 2), column target: expects the name of an area, found "E1", which no area has`},
		{"source,target,rule,weight", "E,p,all_to_all,1", "column target: expects an area that takes input, found p"},
		{"source,target,rule,weight", "E,E,all_to_al,1", "column rule: expects one of one_to_one"},
		{"source,target,rule,weight", "E,E,edges,1", `key "file" is missing; the rule edges needs it`},
		{"source,target,rule,weight", "E,E,all_to_all,", `row 1 (line 2): key "weight" is missing`},
		{"source,target,rule,weight", ",E,all_to_all,1", `row 1 (line 2): key "from" is missing`},
		{"source,target,rule,weight", "E,E,all_to_all,nan", "column weight: "},
		{"source,target,rule,weight", "E,E,all_to_all,1 mV", "column weight: expects a current such as 100 pA, found 1 mV"},
		{"source,target,rule,weight_mV", "E,E,all_to_all,1", "column weight: expects a current such as 100 pA, found 1 mV"},
		{"source,target,rule,weight,weight_sd", "E,E,all_to_all,1,-1", "column weight: expects a standard deviation of at least 0, found -1"},
		{"source,target,rule,weight,weight_min", "E,E,all_to_all,1,1", "column weight: found bounds, but neither weight_sd nor weight_distribution"},
		{"source,target,rule,weight,weight_sd,weight_bounds", "E,E,all_to_all,1,1,cut", `column weight: found "cut" in weight_bounds, want redraw or clip`},
		{"source,target,rule,weight,weight_distribution,weight_min", "E,E,all_to_all,1,uniform,1", "column weight: expects weight_min and weight_max alone"},
		{"source,target,rule,weight,weight_sd,weight_distribution", "E,E,all_to_all,1,1,norml", `unknown distribution "norml`},
		{"source,target,rule,weight,delay", "E,E,all_to_all,1,65536", "column delay: expects a delay of 1…65535 bursts"},
		{"source,target,rule,weight,delay_ms", "E,E,all_to_all,1,1.55", "column delay: "},
		{"source,target,rule,weight,count", "E,E,fixed_total_number,1,0", "column count: expects a whole number of at least 1, found 0"},
		{"source,target,rule,weight,count", "E,E,fixed_total_number,1,1.5", "column count: expects a whole number of at least 1, found 1.5"},
		{"source,target,rule,weight,count", "E,E,all_to_all,1,3", "column count: found a key of the rule fixed_total_number, which the rule all_to_all does not have"},
		{"source,target,rule,weight,port", "E,E,all_to_all,1,exc", `column port: expects a port of E, whose model lif_psc_exp has ex, in, found "exc"`},
		{"source,target,rule,weight,autapses", "E,E,all_to_all,1,yes", "column autapses: expects true or false, found yes"},
		{"source,target,rule,weight_pS", "E,E,all_to_all,1", `unknown column "weight_pS"`},
		{"source,target,rule,weight_unknown", "E,E,all_to_all,1", `a unit stands at the end, as in weight_sd_pA`},
		{"source,target,rule,wieght", "E,E,all_to_all,1", `did you mean "weight"?`},
		{"source,target,rule,weight,weight_pA", "E,E,all_to_all,1,1", `column "weight" found twice`},
		{"source,target,weight", "E,E,1", `no column "rule", want source, target and rule; a list of synapses wants rule: edges beside the file`},
	} {
		text := tableAreas + "projections: {file: t.csv}\n"
		_, err := Parse("net.yaml", []byte(text), holding(c.header+"\n"+c.row+"\n"))
		require.ErrorContains(t, err, c.want, "%s\n%s", c.header, c.row)
	}
	rows := "source,target,rule,weight\n" + strings.Repeat("E,E,all_to_all,1\n", 7) + strings.Repeat("E,E,all_to_all,1 mV\n", 1000)
	_, err := Parse("net.yaml", []byte(tableAreas+"projections: [{file: t.csv}]\n"), holding(rows))
	require.ErrorContains(t, err, "row 8 (line 9), column weight")
	require.LessOrEqual(t, strings.Count(fmt.Sprint(err), "column weight"), maxFaults)
	for text, want := range map[string]string{
		"projections: {file: t.csv, rule: x}\n": "unknown key", "projections: {fil: t.csv}\n": `did you mean "file"?`, "projections: [{file: 3}]\n": "ends in .csv",
	} {
		_, err := Parse("net.yaml", []byte(tableAreas+text), holding(rows))
		require.ErrorContains(t, err, want)
	}
}
