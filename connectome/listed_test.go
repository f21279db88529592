package connectome

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

const listedText = "{from: E, to: I, rule: edges, file: w.csv, %splasticity: {rule: tsodyks_markram_per_synapse, U: \"column(w.csv, U)\", tau_fac: \"uniform(1 ms, 9 ms)\", tau_rec: \"column(w.csv, tau, s)\"}}"

// listedRows are rows of a list with few different weights and delays, so that many synapses are equal, and numbers of each.
func listedRows(rows int) string {
	r := rand.New(rand.NewPCG(4, 2))
	var s strings.Builder
	s.WriteString("tau,source,U,target,weight,delay,other\n")
	for k := range rows {
		fmt.Fprintf(&s, "%g,%d,%g,%d,%d,%d,%d\n", float64(k)/8000, r.IntN(70), float64(rows-k)/float64(rows), r.IntN(8), 1+r.IntN(2), 1+r.IntN(2), k)
	}
	return s.String()
}

// listedWant is what variables start from by place, worked out row by row: places are sorted by target, source, delay, weight and row.
func listedWant(list string, kept func(row uint64) bool) (u, tau []float32) {
	type synapse struct {
		key    [5]int
		u, tau float32
	}
	var all []synapse
	for k, line := range strings.Split(strings.TrimSpace(list), "\n")[1:] {
		var s, t, w, d, other int
		var x, y float32
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%g %d %g %d %d %d %d", &y, &s, &x, &t, &w, &d, &other); err != nil {
			panic(err)
		}
		if kept(uint64(k)) {
			all = append(all, synapse{[5]int{t, s, d, w, k}, x, float32(float64(k) / 8000 * 1000)})
		}
	}
	slices.SortFunc(all, func(a, b synapse) int { return slices.Compare(a.key[:], b.key[:]) })
	for _, s := range all {
		u, tau = append(u, s.u), append(tau, s.tau)
	}
	return u, tau
}

// TestListedStarts: variables start from the columns of the list, row by row, in the whole and in parts, for any number of threads.
func TestListedStarts(t *testing.T) {
	const rows = 3000
	list := listedRows(rows)
	for _, more := range []string{"", "attractivity: 60, "} {
		g := fromLists(t, "  - "+fmt.Sprintf(listedText, more)+"\n", map[string]string{"w.csv": list})
		p, err := newPlan(g, Options{})
		require.NoError(t, err)
		w := &p.wirings[0]
		u, tau := listedWant(list, func(row uint64) bool { return w.keep == 100 || w.attracts(row) })
		start := func(c *Connectome, k int) []float32 {
			x := slices.Repeat([]float32{-1}, len(u))
			c.Plastic[0].Start(k, g.Seed, x)
			return x
		}
		c := build(t, g)
		require.Len(t, u, int(c.Plastic[0].Synapses()))
		require.Equal(t, u, start(c, 0))
		require.Equal(t, tau, start(c, 1))
		drawn := start(c, 2)
		for _, threads := range []int{1, 2, 7} {
			again, err := Build(g, Options{Threads: threads})
			require.NoError(t, err)
			require.Equal(t, c.Plastic[0].Listed, again.Plastic[0].Listed)
			require.Equal(t, c.Hash(), again.Hash())
		}
		hash, sums := uint64(0), [3][]float32{make([]float32, len(u)), make([]float32, len(u)), make([]float32, len(u))}
		made, faults := buildParts(g, 3)
		require.Equal(t, make([]error, 3), faults)
		for i := range 3 {
			part := c.Cut(Part{i, 3})
			require.Equal(t, part.Plastic[0].Listed, made[i].Plastic[0].Listed)
			hash += part.Hash()
			for k := range sums {
				for place, x := range start(part, k) {
					sums[k][place] += x
				}
			}
		}
		require.Equal(t, c.Hash(), hash)
		require.Equal(t, [3][]float32{u, tau, drawn}, sums)
		sizes, err := Measure(g, Options{})
		require.NoError(t, err)
		require.Equal(t, c.Bytes(), sizes.Bytes)
	}
}

// TestListedHash: what variables start from is part of the network, and no part of its wiring.
func TestListedHash(t *testing.T) {
	list := listedRows(50)
	hash := func(list string) (hash, wiring uint64) {
		c := build(t, fromLists(t, "  - "+fmt.Sprintf(listedText, "")+"\n", map[string]string{"w.csv": list}))
		return c.Hash(), c.Wiring(c.Hash())
	}
	h, w := hash(list)
	h2, w2 := hash(strings.Replace(list, "\n0.001,", "\n0.0011,", 1))
	require.NotEqual(t, h, h2)
	require.Equal(t, w, w2)
	lines := strings.Split(strings.TrimSpace(list), "\n")
	slices.Reverse(lines[1:])
	h3, w3 := hash(strings.Join(lines, "\n"))
	require.Equal(t, h, h3, "no two of these rows are equal")
	require.Equal(t, w, w3)
	swapped := strings.Replace(strings.Replace(strings.Replace(list, "U", "?", 1), "tau", "U", 1), "?", "tau", 1)
	c := build(t, fromLists(t, "  - "+strings.Replace(fmt.Sprintf(listedText, ""), "tau, s", "tau", 1)+"\n", map[string]string{"w.csv": swapped}))
	require.NotEqual(t, h, c.Hash())
}

// TestListedOfDraws: rows keep their numbers where weights and delays are drawn.
func TestListedOfDraws(t *testing.T) {
	list := strings.NewReplacer("weight", "_w", "delay", "_d").Replace(listedRows(900))
	g := fromLists(t, "  - "+fmt.Sprintf(listedText, "weight: \"uniform(1 mV, 2 mV)\", delay: \"uniform(0.1 ms, 0.4 ms)\", ")+"\n", map[string]string{"w.csv": list})
	c := build(t, g)
	p, err := newPlan(g, Options{})
	require.NoError(t, err)
	w, m := &p.wirings[0], &c.Plastic[0]
	p.chooseScale()
	rows := map[string]int{}
	for k, line := range strings.Split(strings.TrimSpace(list), "\n")[1:] {
		f := strings.Split(line, ",")
		var s, d uint32
		fmt.Sscan(f[1], &s)
		fmt.Sscan(f[3], &d)
		q, _ := w.quanta(s, d, uint64(k), p.scale)
		x, _ := w.delay.of(s, d, uint64(k))
		rows[fmt.Sprint(s, d, q, int(x+0.5), float32(float64(900-k)/900))]++
	}
	for s := range m.From.Count {
		for k := m.Row[s]; k < m.Row[s+1]; k++ {
			key := fmt.Sprint(s, m.Target[k]-m.Ports.First, m.First(k), m.DelayOf(k), m.Listed[0][k])
			rows[key]--
			require.GreaterOrEqual(t, rows[key], 0, key)
		}
	}
}

// TestListedRefused: errors name the row and the column.
func TestListedRefused(t *testing.T) {
	head := "source,target,weight,U,tau"
	for name, c := range map[string]struct{ list, want string }{
		"no column":    {"source,target,weight,tau\n0,0,1,1\n", `w.csv: no column "U" in the header, which has source, target, weight, tau`},
		"out of range": {head + "\n0,0,1,1,1\n1,0,1,1.5,1\n", "w.csv: row 2 (line 3), column U: 1.5, want a plain number 0…1"},
		"not a number": {head + "\n0,0,1,NaN,1\n", "w.csv: row 1 (line 2), column U: NaN, want a finite number"},
		"no value":     {head + "\n0,0,1,,1\n", `w.csv: row 1 (line 2), column U: "", want a number`},
		"too large":    {head + "\n0,0,1,1,1e37\n", "want a number that float32 can hold"},
		"twice":        {head + ",U\n0,0,1,1,1,1\n", `w.csv: column "U" found twice`},
		"a mistake":    {head + ",dealy\n0,0,1,1,1,1\n", `w.csv: unknown column "dealy"`},
	} {
		g := fromLists(t, "  - "+fmt.Sprintf(listedText, "")+"\n", map[string]string{"w.csv": c.list})
		_, err := Build(g, Options{})
		require.ErrorContains(t, err, c.want, name)
	}
}

// TestListedExport: an exported folder has the numbers of the list, and without plasticity the columns are left out.
func TestListedExport(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(listedText, ""), "from: E", "from: [I, E]", 1) // one entry, two projections
	list := strings.ReplaceAll(listedRows(2000), ",69,", ",9,")
	for source := 30; source < 69; source++ {
		list = strings.ReplaceAll(list, fmt.Sprintf(",%d,", source), ",7,")
	}
	g := fromLists(t, "  - "+text+"\n", map[string]string{"w.csv": list})
	c := build(t, g)
	require.Len(t, c.Plastic, 2)
	for _, format := range genome.EdgeFormats() {
		files := map[string]*bytes.Buffer{"0" + format: {}, "1" + format: {}}
		for i := range c.Plastic {
			require.NoError(t, c.ExportPlastic(files[fmt.Sprint(i)+format], "x"+format, i, nil))
		}
		text, err := g.Rewired("", map[int]string{0: "0" + format, 1: "1" + format}, c.Scale)
		require.NoError(t, err)
		again, err := genome.Parse("again.yaml", text, func(name string) (io.ReadCloser, error) {
			return memFile{bytes.NewReader(files[name].Bytes())}, nil
		})
		require.NoError(t, err, "%s", text)
		require.Equal(t, c.Hash(), build(t, again).Hash(), format)
	}
	still, err := g.Frozen()
	require.NoError(t, err)
	frozen := build(t, still)
	require.Equal(t, c.Wiring(c.Hash()), frozen.Wiring(frozen.Hash()))
}
