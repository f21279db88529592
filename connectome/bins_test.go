package connectome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"burst/genome"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// synapse is a synapse in the order of a row.
type synapse struct {
	source, delay, port uint32
	weight              int32
}

// plainly makes the static synapses onto a part as they come, of no projection that merges, and sorts them all.
type plainly struct {
	p    *plan
	list []synapse
}

func (l *plainly) take(w *wiring, b *batch) {
	v := valuer{sums: make([]uint64, l.p.inputs), scale: l.p.scale, histograms: make([]histogram, len(l.p.wirings))}
	v.weigh(w, b)
	v.time(w, b)
	for i, t := range b.target[:b.n] {
		l.list = append(l.list, synapse{w.from.First + b.source[i], uint32(v.delay[i]), w.port(t, int64(v.value[i]), b.ordinal[i]), v.value[i]})
	}
}

func plainRows(t *testing.T, g *genome.Genome, part Part) []synapse {
	p, _, err := begin(g, Options{Threads: 1, Part: part})
	require.NoError(t, err)
	l := &plainly{p: p}
	p.draw([]sink{l}, all, part)
	slices.SortFunc(l.list, func(a, b synapse) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.delay, b.delay), cmp.Compare(a.port, b.port), cmp.Compare(a.weight, b.weight))
	})
	return l.list
}

func builtRows(c *Connectome) (list []synapse) {
	for n := range c.Neurons {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			list = append(list, synapse{n, c.DelayOf(k), c.Target[k], c.Weight[k]})
		}
	}
	return list
}

// TestBinsAreRows: synapses that are made in no order come into the rows that plain sorting gives, where bins have one row and many,
// are long and empty, where other rules lead from the same sources, and where a list of the whole network leads from every area.
func TestBinsAreRows(t *testing.T) {
	slow.Short(t)
	normal, spread := value(genome.Normal, 0.5, 3), value(genome.Uniform, 1, 300)
	into := func(k uint64, weight, delay genome.Value) genome.Projection {
		return genome.Projection{Rule: genome.FixedIndegree, To: 1, Indegree: k, Weight: weight, Delay: delay}
	}
	total := func(n uint64, weight, delay genome.Value) genome.Projection {
		return genome.Projection{Rule: genome.FixedTotalNumber, To: 2, Count: n, Weight: weight, Delay: delay}
	}
	of := func(from uint64, p ...genome.Projection) *genome.Genome {
		two := areaOf("lif_psc_exp", 57)
		for _, key := range []string{"C", "tau", "tau_syn_ex", "tau_syn_in"} {
			two.Params[key] = 7.5
		}
		lifted := areaOf("feagi", 803)
		lifted.Params["rectify"] = 1
		return network(1, areaOf("lif", from), areaOf("feagi", 803), two, areaOf("feagi", 5), lifted).join(p...)
	}
	constant, out := constant(1.5), genome.Projection{Rule: genome.FixedOutdegree, To: 1, Outdegree: 31, Weight: constant(-2), Delay: constant(2)}
	var list strings.Builder
	list.WriteString("source,target,weight,delay\n")
	for k := range 5000 {
		fmt.Fprintf(&list, "%d,%d,%g,%d\n", k*k%109, k*7%109, float64(k%401-200)/1000, 1+k*k%300)
	}
	hub := 1000
	if slow.Asked() {
		hub = longestSorted + 77
	}
	var from0 strings.Builder
	from0.WriteString("source,target\n")
	for k := range hub {
		fmt.Fprintf(&from0, "%d,%d\n", k%7*(k%2), k*k%29)
	}
	for name, g := range map[string]*genome.Genome{
		"one weight and delay":         of(3001, into(97, constant, constant)),
		"weights drawn":                of(3001, into(97, normal, constant)),
		"delays drawn":                 of(3001, into(97, constant, spread)),
		"both drawn, of many":          of(3001, into(53, normal, spread), total(20_011, normal, spread), total(9, constant, constant)),
		"beside rules by source":       of(2903, into(31, normal, spread), out, total(30_011, constant, constant), genome.Projection{Rule: genome.OneToOne, Weight: constant}),
		"beside them, of equal values": of(2903, out, into(31, out.Weight, out.Delay)),
		"one source":                   of(1, into(41, normal, spread), total(5003, constant, constant), out),
		"few long rows":                of(3, total(150_001, normal, constant), total(40_009, constant, spread)),
		"empty rows":                   of(30_011, total(41, normal, spread)),
		"one weight, two targets":      of(3001, into(97, constant, constant), total(20_011, constant, constant), into(2, constant, constant)),
		"one weight, the later first":  of(401, total(40_011, constant, constant), into(31, constant, constant)),
		"one weight, the wider later":  of(401, genome.Projection{Rule: genome.FixedIndegree, Indegree: 31, Weight: constant, Delay: constant}, total(20_011, constant, constant), into(31, constant, constant)),
		"one weight, some left out":    of(401, genome.Projection{Rule: genome.FixedIndegree, To: 1, Indegree: 31, LeaveOut: 30, Weight: constant, Delay: constant}),
		"one weight, one lifted":       of(401, into(31, constant, constant), genome.Projection{Rule: genome.FixedIndegree, To: 4, Indegree: 31, Weight: constant, Delay: constant}),
		"one weight, two delays":       of(401, into(31, constant, constant), into(31, constant, value(genome.Const, 3, 0))),
		"one weight, by pairs":         of(2903, genome.Projection{Rule: genome.FixedTotalNumber, Count: 80_021, NoMultapses: true, Weight: constant, Delay: constant}),
		"one weight, all different":    of(911, genome.Projection{Rule: genome.FixedIndegree, NoAutapses: true, NoMultapses: true, Indegree: 101, Weight: constant, Delay: constant}),
		"one weight, several pieces":   of(701, genome.Projection{Rule: genome.FixedIndegree, To: 3, Indegree: 40_009, Weight: constant, Delay: value(genome.Const, 300, 0)}),
		"one weight, many small ones":  of(30_011, into(1, constant, constant), total(41, constant, constant), total(9, constant, constant)),
		"two weights":                  of(301, into(31, constant, constant), into(31, out.Weight, constant)),
		"from two areas":               of(301, into(3, constant, constant), genome.Projection{Rule: genome.FixedIndegree, From: 1, To: 3, Indegree: 20_003, Weight: normal, Delay: spread}),
		"both ways":                    of(499, genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.3, Symmetric: true, Weight: normal, Delay: constant}),
		"a list with a long row":       fromLists(t, "  - {from: E, to: I, rule: edges, file: w.csv, weight: 0.1 mV, delay: 0.1 ms}\n", map[string]string{"w.csv": from0.String()}),
		"a list of the whole network":  fromLists(t, "  - {rule: edges, file: w.csv}\n  - {from: E, to: F, rule: fixed_outdegree, outdegree: 4, weight: 1, delay: 0.1 ms}\n", map[string]string{"w.csv": list.String()}),
	} {
		whole := plainRows(t, g, Part{})
		require.NotEmpty(t, whole)
		for _, parts := range []int{1, 3, 2, 5, 4}[:slow.Times(2, 5)] {
			for i := range parts {
				part := Part{i, parts}
				want := whole
				if parts > 1 {
					want = plainRows(t, g, part)
				}
				for _, threads := range []int{3, 1, 2}[:slow.Times(1, 3)] {
					c, err := Build(g, Options{Threads: threads, Part: part})
					require.NoError(t, err)
					got := builtRows(c)
					require.True(t, slices.Equal(want, got), "%s, part %d of %d, %d threads: %d synapses, want %d", name, i, parts, threads, len(got), len(want))
					checkBounds(t, name, c)
				}
			}
		}
	}
}

// checkBounds adds up the weights onto each port, of areas whose amounts are not lifted.
func checkBounds(t *testing.T, name string, c *Connectome) {
	sums := make([]uint32, c.Ports)
	for k, port := range c.Target {
		sums[port] += uint32(max(c.Weight[k], -c.Weight[k]))
	}
	for _, a := range c.Areas {
		if a.lifts() == 0 {
			lo, hi := a.Ports.First, a.Ports.End()
			require.Equal(t, sums[lo:hi], c.Bound[lo:hi], "%s: bounds of %s", name, a.Name)
		}
	}
}

// TestWordsHoldThePlaceAndThePort: the more ports there are, the fewer rows a bin has. In large networks a bin has more synapses.
func TestWordsHoldThePlaceAndThePort(t *testing.T) {
	for _, c := range []struct {
		inputs, sources, synapses uint64
		shift, bins               uint64
	}{
		{1 << 10, 1 << 10, 100 << 10, 8, 4},
		{1 << 10, 1 << 10, 1 << 30, 0, 1 << 10},
		{1 << 10, 1 << 20, 1 << 26, 9, 1 << 11},
		{1 << 10, 1 << 20, 1 << 30, 7, 1 << 13}, // hardly fewer, so that a bin can be sorted
		{1 << 10, 1<<20 + 1, 0, mostShift, 1<<20>>mostShift + 1},
		{1 << 27, 1 << 20, 1 << 20, 5, 1 << 15},
		{1<<27 + 1, 1 << 20, 1 << 20, 4, 1 << 16},
		{1<<32 - 78, 1 << 20, 1 << 20, 0, 1 << 20},
	} {
		p := &plan{inputs: c.inputs, areas: []Span{{0, 99}, {99, uint32(c.sources)}}, part: Part{}}
		rule := &totalNumber{counted: counted{ends{sources: c.sources, targets: 5}, max(1, c.synapses)}}
		p.wirings = []wiring{{p: &genome.Projection{From: 1}, rule: rule, keep: 100, ends: rule.ends, synapses: c.synapses}}
		areas, count := p.cut(make([]even, 2))
		require.Equal(t, []binned{{}, {0, int(c.shift)}}, areas)
		require.Equal(t, c.bins, count)
		require.LessOrEqual(t, areas[1].shift+p.portBits(), 32)
		n := staged(count)
		require.True(t, n == 1 || n*count*bytesStaged <= stageBytes)
		require.True(t, n == mostStaged || 2*n*count*bytesStaged > stageBytes)
	}
}
