package genome

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sheet(more string) string {
	return "burst: v1\nareas:\n  - {name: a, size: [4, 3, 1], " + more + "}\n"
}

func TestPositions(t *testing.T) {
	g, err := Parse("space.yaml", []byte(sheet("extent: [1 mm, 60 um, 0 um], center: [0 um, -5 um, 0.001 m], periodic: true")), nil)
	require.NoError(t, err)
	s := g.Areas[0].Space
	require.Equal(t, &Space{Pos: s.Pos, Extent: [3]float64{1000, 60, 0}, Center: [3]float64{0, -5, 1000}, Periodic: true}, s)
	at := func(axis int, n uint64) (list []float64) {
		for i := range n {
			list = append(list, s.At(axis, i, n))
		}
		return list
	}
	assert.Equal(t, []float64{-375, -125, 125, 375}, at(0, 4))
	assert.Equal(t, []float64{-25, -5, 15}, at(1, 3))
	assert.Equal(t, []float64{1000}, at(2, 1))
	g, err = Parse("space.yaml", []byte(sheet("group: x")), nil)
	require.NoError(t, err)
	assert.Nil(t, g.Areas[0].Space, "an area without an extent has no positions")
}

func TestPositionsRefused(t *testing.T) {
	for more, want := range map[string]string{
		"extent: [1, 1 mm, 0 um]":                                  "expects a length such as 100 um, found 1 without a unit",
		"extent: [1 ms, 1 mm, 0 um]":                               "expects a length such as 100 um, found 1 ms",
		"extent: [1 µm, 1 mm, 0 um]":                               `unknown unit "µm", wanted one of um, mm, m`,
		"extent: [-1 um, 1 mm, 0 um]":                              "expects a length of at least 0 um, found -1 um",
		"extent: [1 um, 1 mm]":                                     "expects a list of 3",
		"extent: [1e10 m, 1 mm, 0 um]":                             "expects lengths of at most 1e+09 m",
		"extent: [1 mm, 1 mm, 0 um], center: [1e20 m, 0 um, 0 um]": "expects lengths of at most 1e+09 m",
		"periodic: true":                                           "expects periodic beside extent, found no extent",
		"center: [0 um, 0 um, 0 um]":                               "expects center beside extent, found no extent",
	} {
		_, err := Parse("space.yaml", []byte(sheet(more)), nil)
		assert.ErrorContains(t, err, want, more)
	}
	_, err := Parse("space.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 7, extent: [1 mm, 1 mm, 0 um]}]\n"), nil)
	assert.ErrorContains(t, err, "expects extent beside size, found it beside neurons; size: [7, 1, 1] is the same number of neurons")
}

// Faults of rules, weights and delays that depend on positions.
func TestFaultsOfKernels(t *testing.T) {
	const areas = "burst: v1\nareas:\n  - {name: a, size: [3, 3, 1], extent: [1 mm, 1 mm, 0 um], model: lif}\n" +
		"  - {name: b, size: [3, 3, 1], extent: [1 mm, 1 mm, 0 um], periodic: true, model: lif}\n  - {name: c, neurons: 9, model: lif}\n"
	for text, want := range map[string]string{
		`from: a, to: a, rule: distance, weight: 1 mV`:                                                       `key "p" is missing; the rule distance needs it`,
		`from: a, to: c, rule: distance, p: 0.1, weight: 1 mV`:                                               "expects areas whose neurons have positions, found c without: give it extent beside size, or positions",
		`from: a, to: b, rule: distance, p: 0.1, weight: 1 mV`:                                               "expects two areas that are not periodic, or two that are with the same extent, found a and b",
		`from: a, to: a, rule: distance, p: 1.5, weight: 1 mV`:                                               "expects a plain number 0…1 or a formula of d, dx, dy and dz, found 1.5",
		`from: a, to: a, rule: distance, p: "exp(-d/(3 mm)", weight: 1 mV`:                                   `expects an operator, "," or ")", found the end`,
		`from: a, to: a, rule: distance, p: "exp(-d/(3 mn))", weight: 1 mV`:                                  `unknown unit "mn"`,
		`from: a, to: a, rule: distance, p: "d < 3 mm", weight: 1 mV`:                                        "expects a number, found a condition; a condition is a mask",
		`from: a, to: a, rule: distance, p: "2*d", weight: 1 mV`:                                             "expects a plain number, found one in um",
		`from: a, to: a, rule: distance, p: 0.5, mask: "d", weight: 1 mV`:                                    "expects a condition such as d < 200 um, found a number",
		`from: a, to: a, rule: pairwise_bernoulli, p: "exp(-d/(3 mm))", weight: 1 mV`:                        "found a formula of pairs; the rule distance takes one",
		`from: a, to: b, rule: pairwise_bernoulli, p: 0.1, symmetric: true, weight: 1 mV`:                    "expects an area connected to itself, found two areas",
		`from: a, to: a, rule: all_to_all, mask: "d < 1 mm", weight: 1 mV`:                                   "found a key of the rules fixed_indegree, fixed_outdegree, distance",
		`from: a, to: a, rule: all_to_all, weight: "1 mV*exp(-d/(1 mm))", delay: "1 mV + d*(1 mV/um)"`:       "expects a formula in ms, found one in mV",
		`from: a, to: a, rule: all_to_all, weight: "exp(-d/(1 mm))"`:                                         "expects a formula in mV, found one in a plain number",
		`from: a, to: c, rule: all_to_all, weight: 1 mV, delay: "1 ms + d/(1 m/s)"`:                          "found c without",
		`from: a, to: a, rule: fixed_indegree, indegree: 3, kernel: "exp(-r/(1 mm))", weight: 1 mV`:          `unknown name "r"`,
		`from: a, to: a, rule: pairwise_poisson, weight: 1 mV`:                                               `key "average" is missing`,
		`from: a, to: a, rule: distance, p: "0.4*exp(-d/(1 mm))", weight: 1 mV, delay: "random()*d/(1 m/s)"`: "random",
	} {
		_, err := Parse("net.yaml", []byte(areas+"projections:\n  - {"+text+"}\n"), nil)
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "net.yaml:7:", text)
	}
}

// A file places each neuron; without an extent the box around them is the area's.
func TestPositionsOfAFile(t *testing.T) {
	const cells = "kind,x,y,z\n1,-30,5,2\n2,70,5,1e3\n1,0,6,-4\n"
	parse := func(area, cells string) (*Genome, error) {
		return Parse("space.yaml", []byte("burst: v1\nareas: [{name: a, "+area+"}]\n"), holding(cells))
	}
	g, err := parse("neurons: 3, positions: cells.csv", cells)
	require.NoError(t, err)
	a := &g.Areas[0]
	require.Equal(t, &Space{Pos: a.Space.Pos, Extent: [3]float64{100, 1, 1004}, Center: [3]float64{20, 5.5, 498}, Each: [][3]float64{{-30, 5, 2}, {70, 5, 1e3}, {0, 6, -4}}}, a.Space)
	require.Equal(t, [3]float64{0, 6, -4}, a.At(2))
	require.True(t, a.Placed())
	require.Len(t, g.Files, 1)
	g, err = parse("size: [3, 1, 1], positions: cells.csv, extent: [160 um, 12 um, 2 mm], periodic: true", cells)
	require.NoError(t, err)
	require.Equal(t, [3]float64{160, 12, 2000}, g.Areas[0].Space.Extent)
	require.Equal(t, [3]float64{70, 5, 1e3}, g.Areas[0].At(1))
	require.True(t, g.Areas[0].Space.Periodic)
	for _, c := range []struct{ area, cells, want string }{
		{"neurons: 4, positions: cells.csv", cells, "3 rows, want one for each of 4 neurons"},
		{"neurons: 3, positions: cells.txt", cells, "expects a file that ends in"},
		{"neurons: 3, positions: cells.csv", "x,y,Z\n1,2,3\n1,2,3\n1,2,3\n", `no column "z" in the header, which has x, y, Z; did you mean "Z"?`},
		{"neurons: 3, positions: cells.csv", "x,y,z\n1,2,3\n1,nan,3\n1,2,3\n", "column y: NaN, want a coordinate in um"},
		{"neurons: 3, positions: cells.csv", "x,y,z\n1,2,3\n1,2,3\n1,2,3e15\n", "column z: 3e+15, want a coordinate in um, of at most 1e+15 either way"},
		{"neurons: 3, positions: cells.csv, extent: [120 um, 12 um, 2 mm]", cells, "column x: 70, want one within the extent, -60 to 60 um"},
		{"neurons: 3, positions: cells.csv, periodic: true", cells, "expects periodic beside extent, found no extent"},
		{"neurons: 131073, positions: cells.csv", cells, "expects an area of at most 131072 neurons for positions of a file, found 131073"},
		{"neurons: 3, positions: [1, 2, 3]", cells, "expects the name of a file with columns x, y and z"},
	} {
		_, err := parse(c.area, c.cells)
		assert.ErrorContains(t, err, c.want, c.area)
	}
}

// Columns of both areas stand in formulas of a projection between them, which need no positions then.
func TestColumnsOfAreas(t *testing.T) {
	const cells = "theta,size,note\n0,1,a\n1.5,2.5,b\n3,4,c\n"
	parse := func(columns, projection string) (*Genome, error) {
		return Parse("net.yaml", []byte("burst: v1\nareas:\n  - {name: a, neurons: 3, model: lif, columns: {"+columns+"}}\n  - {name: b, neurons: 3, model: lif}\n"+
			"projections:\n  - {weight: 1 mV, "+projection+"}\n"), holding(cells))
	}
	const both = `theta: "column(c.csv, theta)", size: "column(c.csv, size, mm)"`
	g, err := parse(both, `from: a, to: a, rule: distance, p: "exp(cos(source_theta - target_theta) - 1)", mask: "source_size < 3 mm"`)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 1.5, 3}, g.Areas[0].Columns[0].Each)
	require.Equal(t, []float64{1000, 2500, 4000}, g.Areas[0].Columns[1].Each)
	require.True(t, g.Projections[0].Kernel.ReadsColumns())
	_, err = parse(both, `from: a, to: b, rule: all_to_all, delay: "1 ms + source_size/(1 m/s)"`)
	require.NoError(t, err)
	for _, c := range []struct{ columns, projection, want string }{
		{both, `from: a, to: b, rule: distance, p: "exp(-target_size/(1 mm))"`, `6:61: projections[0].p: unknown name "target_size", wanted one of d, dx, dy, dz, source_theta, source_size`},
		{both, `from: a, to: a, rule: distance, p: "exp(cos(source_thet)-1)"`, `did you mean "source_theta"?`},
		{both, `from: a, to: a, rule: distance, p: "source_size"`, "expects a plain number, found one in um"},
		{both, `from: a, to: a, rule: distance, p: 0.5`, "expects areas whose neurons have positions, found a without"},
		{both, `from: a, to: a, rule: distance, p: "0.1*source_theta*exp(-d/(1 mm))"`, "expects areas whose neurons have positions, found a without"},
		{both, `from: a, to: a, rule: pairwise_bernoulli, p: "source_theta"`, "found a formula of pairs; the rule distance takes one"},
		{both, `from: a, to: a, rule: all_to_all, delay: "source_size"`, "expects a formula in ms, found one in um"},
		{both, `from: a, to: z, rule: distance, p: "target_theta"`, `found "z", which no area has`},
		{both, `rule: edges, file: e.csv, delay: "1 + source_theta"`, "found a list of the whole network, which has no columns"},
		{`theta: 3`, "from: a, to: b, rule: all_to_all", "3:56: areas[0].columns.theta: expects column(FILE, NAME) or column(FILE, NAME, UNIT), found 3\n"},
		{`1x: "column(c.csv, theta)"`, "from: a, to: b, rule: all_to_all", `expects a name of at most 40 letters, digits and "_", found "1x"`},
		{`x: "column(c.csv, thet)"`, "from: a, to: b, rule: all_to_all", `did you mean "theta"?`},
		{`x: "column(c.csv, note)"`, "from: a, to: b, rule: all_to_all", `"a", want a number`},
		{`x: "column(c.csv, size, Hz)"`, "from: a, to: b, rule: all_to_all", "expects a unit behind the column's name"},
		{strings.Repeat(`x: "column(c.csv, size)", `, 9), "from: a, to: b, rule: all_to_all", "expects at most 8 columns, found 9"},
	} {
		_, err := parse(c.columns, c.projection)
		require.ErrorContains(t, err, c.want, c.columns+", "+c.projection)
	}
	_, err = Parse("net.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 3, columns: [1]}]\n"), nil)
	require.ErrorContains(t, err, "expects a mapping of names to columns, found a list")
}
