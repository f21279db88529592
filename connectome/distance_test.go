package connectome

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/formula"
	"burst/internal/slow"
)

// kernelOf is a formula with lengths, of pairs whose neurons have a column angle.
func kernelOf(text string) *genome.Kernel {
	columns := []formula.Column{{Name: "angle"}}
	k, m := formula.NewKernel(text, map[string]formula.Unit{"um": {Mul: 1, Div: 1, Dim: formula.Dim{1}}}, columns, columns)
	if m != nil {
		panic(m.Message)
	}
	return k
}

// sheet is an area with a voxel every 10 um.
func sheet(x, y, each uint64, periodic bool) genome.Area {
	a := block("lif", x, y, 1, each)
	a.Space = &genome.Space{Extent: [3]float64{float64(10 * x), float64(10 * y), 0}, Periodic: periodic}
	return a
}

// angled gives an area the column angle: golden angles, of all of which parts are alike.
func angled(a genome.Area) genome.Area {
	c := genome.NeuronColumn{Column: formula.Column{Name: "angle"}}
	for n := range a.Neurons() {
		turns := float64(n) * 0.6180339887498949
		c.Each = append(c.Each, 2*math.Pi*(turns-math.Floor(turns)))
	}
	a.Columns = []genome.NeuronColumn{c}
	return a
}

// plainTree is the order of a tree's neurons and its boxes, found by sorting whole lists.
type plainTree struct {
	order []uint64
	box   map[uint64][2][4]float64 // of x, y, z and the column; 0 where they do not count
	span  map[uint64][2]uint64
	group map[uint64]uint64 // node, by neuron
	deep  int
}

func newPlainTree(a *genome.Area, placed, columns bool) *plainTree {
	at := func(n uint64) (x [4]float64) {
		if placed {
			where := a.At(n)
			copy(x[:], where[:])
		}
		if columns {
			x[3] = a.Columns[0].Each[n]
		}
		return x
	}
	share := [4]float64{1, 1, 1, 1}
	t := &plainTree{box: map[uint64][2][4]float64{}, span: map[uint64][2]uint64{}, group: map[uint64]uint64{}}
	for n := range a.Neurons() {
		t.order = append(t.order, n)
	}
	for size := len(t.order); size > 4; size = (size + 1) / 2 {
		t.deep++
	}
	var halve func(node, lo, hi uint64, level int)
	halve = func(node, lo, hi uint64, level int) {
		list := t.order[lo:hi]
		box := [2][4]float64{at(list[0]), at(list[0])}
		for _, n := range list {
			for axis, x := range at(n) {
				box[0][axis], box[1][axis] = min(box[0][axis], x), max(box[1][axis], x)
			}
			if level == max(0, t.deep-2) {
				t.group[n] = node
			}
		}
		t.box[node], t.span[node] = box, [2]uint64{lo, hi}
		if node == 0 && columns {
			longest := max(box[1][0]-box[0][0], box[1][1]-box[0][1], box[1][2]-box[0][2])
			share = [4]float64{longest, longest, longest, box[1][3] - box[0][3]}
		}
		if level == t.deep {
			slices.Sort(list)
			return
		}
		axis := 0
		side := func(k int) float64 {
			if box[1][k] == box[0][k] {
				return 0
			}
			return (box[1][k] - box[0][k]) / share[k]
		}
		for k := 1; k < 4; k++ {
			if side(k) > side(axis) {
				axis = k
			}
		}
		slices.SortFunc(list, func(a1, b1 uint64) int {
			x, y := at(a1)[axis], at(b1)[axis]
			if x < y || x == y && a1 < b1 {
				return -1
			}
			return 1
		})
		middle := lo + (hi-lo+1)/2
		halve(2*node+1, lo, middle, level+1)
		halve(2*node+2, middle, hi, level+1)
	}
	halve(0, 0, uint64(len(t.order)), 0)
	return t
}

// plainCase is a kernel whose value and bounds are written out: of distances, and of the difference of source and target angle.
type plainCase struct {
	text, mask      string
	placed, columns bool
	value           func(d, turn float64) float64
	bounds          func(least, most float64, turn [2]float64) (low, high float64)
}

// plainCos is the least and the largest cosine between two angles.
func plainCos(turn [2]float64) (low, high float64) {
	const slack = 0x1p-36
	a, b := exact.Cos(turn[0]), exact.Cos(turn[1])
	low, high = min(a, b)-slack, max(a, b)+slack
	for k := -9; k < 10; k++ { // at k·π it is 1 or −1
		switch within := turn[0]/math.Pi-slack <= float64(k) && float64(k) <= turn[1]/math.Pi+slack; {
		case within && k%2 == 0:
			high = 1
		case within:
			low = -1
		}
	}
	return low, high
}

func plainCases() []plainCase {
	wide := func(x, sign float64) float64 { return x + float64(float64(sign*x)*0x1p-36) }
	falling := func(d, _ float64) float64 { return float64(0.4 * exact.Exp(-d/15)) }
	return []plainCase{
		{"0.4*exp(-d/(15 um))", "", true, false, falling, func(least, most float64, _ [2]float64) (float64, float64) {
			return float64(0.4 * wide(exact.Exp(-most/15), -1)), float64(0.4 * wide(exact.Exp(-least/15), 1))
		}},
		{"0.3*exp(9*(cos(source_angle - target_angle) - 1))", "", false, true, func(_, turn float64) float64 {
			return float64(0.3 * exact.Exp(float64(9*(exact.Cos(turn)-1))))
		}, func(_, _ float64, turn [2]float64) (low, high float64) {
			low, high = plainCos(turn)
			low, high = exact.Exp(float64(9*(low-1))), exact.Exp(float64(9*(high-1)))
			return float64(0.3 * wide(low, -1)), float64(0.3 * wide(high, 1))
		}},
		{"0.9*exp(-d/(15 um))*exp(4*(cos(source_angle - target_angle) - 1))", "", true, true, func(d, turn float64) float64 {
			return float64(float64(0.9*exact.Exp(-d/15)) * exact.Exp(float64(4*(exact.Cos(turn)-1))))
		}, func(least, most float64, turn [2]float64) (low, high float64) {
			low, high = plainCos(turn)
			low, high = wide(exact.Exp(float64(4*(low-1))), -1), wide(exact.Exp(float64(4*(high-1))), 1)
			return float64(float64(0.9*wide(exact.Exp(-most/15), -1)) * low), float64(float64(0.9*wide(exact.Exp(-least/15), 1)) * high)
		}},
		{"0.4*exp(-d/(15 um))", "d >= 20 um and d < 41 um", true, false, func(d, _ float64) float64 {
			if d >= 20 && d < 41 {
				return falling(d, 0)
			}
			return 0
		}, func(least, most float64, _ [2]float64) (low, high float64) {
			if most < 20 || least >= 41 {
				return 0, 0
			}
			low, high = float64(0.4*wide(exact.Exp(-most/15), -1)), float64(0.4*wide(exact.Exp(-least/15), 1))
			if least < 20 || most >= 41 {
				low = 0
			}
			return low, high
		}},
	}
}

// shorter is a difference the shorter way round e, if that is not 0.
func shorter(x, e float64) float64 {
	if e == 0 {
		return x
	}
	return x - float64(e*math.Floor(x/e+0.5))
}

// plainDistance follows doc.go for the rule distance: it looks at every node and every target.
func plainDistance(c plainCase, from, to *genome.Area, noSelf, both bool, seed uint64) (list []one) {
	owners, partners := newPlainTree(from, c.placed, c.columns), newPlainTree(to, c.placed, c.columns)
	period, _ := genome.Period(from, to)
	T := to.Neurons()
	for s := range from.Neurons() {
		group := owners.box[owners.group[s]]
		drawn := uint64(0)
		draw := func() (u, v float64) {
			w := exact.Draw(seed, exact.Wiring, s<<32+drawn, 0)
			drawn++
			return float64((uint64(w[1])<<32+uint64(w[0]))>>11) / (1 << 53), float64((uint64(w[3])<<32+uint64(w[2]))>>11) / (1 << 53)
		}
		var walk func(node uint64, level int)
		walk = func(node uint64, level int) {
			box, lo, hi := partners.box[node], partners.span[node][0], partners.span[node][1]
			var near, far [3]float64
			for k := range 3 { // all turns that any two places may take
				a, b := box[0][k]-group[1][k], box[1][k]-group[0][k]
				e := period[k]
				ta, tb := 0.0, 0.0
				if e > 0 {
					ta, tb = math.Floor(a/e+0.5), math.Floor(b/e+0.5)
				}
				wa, wb := shorter(a, e), shorter(b, e)
				switch {
				case ta == tb && wa <= 0 && wb >= 0:
					near[k], far[k] = 0, max(-wa, wb)
				case ta == tb:
					near[k], far[k] = min(math.Abs(wa), math.Abs(wb)), max(math.Abs(wa), math.Abs(wb))
				case tb-ta == 1 && wa >= 0 && wb <= 0:
					near[k], far[k] = min(wa, -wb), e/2
				default:
					near[k], far[k] = 0, e/2
				}
			}
			turn := [2]float64{group[0][3] - box[1][3], group[1][3] - box[0][3]}
			low, high := c.bounds(distance(near[0], near[1], near[2]), distance(far[0], far[1], far[2]), turn)
			if high == 0 {
				return
			}
			if n := float64(hi - lo); level < partners.deep && float64((high-low)*n) > 4 {
				walk(2*node+1, level+1)
				walk(2*node+2, level+1)
				return
			}
			for place := lo; place < hi; place++ {
				u, v := draw()
				gap := math.Floor(exact.Log(1-u) / exact.Log1p(-high))
				if gap >= float64(hi-place) {
					break
				}
				place += uint64(gap)
				t := partners.order[place]
				d, turn := 0.0, 0.0
				if c.placed {
					at, p := from.At(s), to.At(t)
					d = distance(shorter(p[0]-at[0], period[0]), shorter(p[1]-at[1], period[1]), shorter(p[2]-at[2], period[2]))
				}
				if c.columns {
					turn = from.Columns[0].Each[s] - to.Columns[0].Each[t]
				}
				if noSelf && s == t || both && t < s || float64(v*high) >= c.value(d, turn) {
					continue
				}
				list = append(list, one{s, t, s*T + t})
				if both && t != s {
					list = append(list, one{t, s, t*T + s})
				}
			}
		}
		walk(0, 0)
	}
	return list
}

func sortedOnes(list []one) []one {
	slices.SortFunc(list, func(a, b one) int {
		return slices.Compare([]uint64{a.ordinal, a.source}, []uint64{b.ordinal, b.source})
	})
	return list
}

// The rule makes the synapses of a plain reading of doc.go, which visits all nodes and targets, to the last one.
func TestDistanceFollowsItsRecipe(t *testing.T) {
	for _, c := range plainCases() {
		for _, periodic := range []bool{false, true} {
			for _, to := range []int{0, 1} {
				for _, both := range []bool{false, true} {
					if both && to == 1 {
						continue
					}
					second := sheet(12, 10, 3, periodic)
					second.Space.Center[2] = 7
					second.Space.Extent = [3]float64{170, 130, 0}
					p := genome.Projection{Rule: genome.DistanceRule, To: to, Kernel: kernelOf(c.text), NoAutapses: true, Symmetric: both, Weight: constant(1)}
					if c.mask != "" {
						p.Mask = kernelOf(c.mask)
					}
					g := network(1, angled(sheet(17, 13, 1, periodic)), angled(second)).join(p)
					if !c.placed {
						g.Areas[0].Space, g.Areas[1].Space = nil, nil
					}
					made, _, err := begin(g, Options{})
					require.NoError(t, err)
					var list listed
					made.draw([]sink{&list}, all, Part{})
					want := plainDistance(c, &g.Areas[0], &g.Areas[to], to == 0, both, g.Seed)
					require.Greater(t, len(want), 200)
					require.Equal(t, sortedOnes(want), sortedOnes(list), "%s, mask %s, periodic %v, to area %d, both ways %v", c.text, c.mask, periodic, to, both)
				}
			}
		}
	}
}

// As many synapses have each distance as the kernel says, by chi-square: over all pairs of a distance, expected Σp with variance Σp(1 − p).
func TestDistancesFollowTheKernel(t *testing.T) {
	slow.Short(t)
	for k, c := range []struct{ text, mask string }{
		{"0.9*exp(-d/(60 um))", ""}, {"0.5*exp(-d*d/(2*(40 um)*(40 um)))", ""}, {"select(d < 75 um, 0.2, 0)", ""},
		{"0.3", "abs(dx) < 55 um and abs(dy) <= 20 um"}, {"0.1 + 0.3*sin(dx/(30 um))", "d > 30 um and d <= 100 um"},
	} {
		for _, periodic := range []bool{k%2 == 0, k%2 == 1}[:slow.Times(1, 2)] {
			p := genome.Projection{Rule: genome.DistanceRule, Kernel: kernelOf(c.text), Weight: constant(1)}
			if c.mask != "" {
				p.Mask = kernelOf(c.mask)
			}
			g := network(1, sheet(uint64(slow.Times(23, 31)), uint64(slow.Times(19, 29)), 1, periodic)).join(p)
			n := build(t, g)
			m := newMetric(&g.Areas[0], &g.Areas[0])
			const width = 10
			want, spread, got := map[int]float64{}, map[int]float64{}, map[int]float64{}
			for s := range uint64(n.Neurons) {
				for to := range uint64(n.Neurons) {
					v := m.between(s, to)
					x := min(max(0, p.Kernel.At(&v)), 1)
					if p.Mask != nil && p.Mask.At(&v) == 0 {
						x = 0
					}
					want[int(v[0]/width)] += x
					spread[int(v[0]/width)] += x * (1 - x)
				}
			}
			for _, pair := range pairs(n) {
				got[int(m.between(uint64(pair[0]), uint64(pair[1]))[0]/width)]++
			}
			sum, free := 0.0, 0.0
			for at, x := range want {
				if spread[at] < 5 {
					continue
				}
				sum, free = sum+(got[at]-x)*(got[at]-x)/spread[at], free+1
			}
			require.Greater(t, free, 4.0)
			assert.InDelta(t, 0, (sum-free)/math.Sqrt(2*free), 4.5, "%s, mask %q, periodic %v", c.text, c.mask, periodic)
			for at := range got {
				assert.Greater(t, want[at], 0.0, "%s, mask %q: distance %d", c.text, c.mask, at)
			}
		}
	}
}

// With symmetric, every synapse has its counterpart.
func TestSymmetricPairs(t *testing.T) {
	for _, p := range []genome.Projection{
		{Rule: genome.PairwiseBernoulli, P: 0.2}, {Rule: genome.PairwiseBernoulli, P: 0.2, NoAutapses: true}, {Rule: genome.PairwiseBernoulli, P: 1},
		{Rule: genome.DistanceRule, Kernel: kernelOf("0.8*exp(-d/(40 um))")}, {Rule: genome.DistanceRule, Kernel: kernelOf("0.8*exp(-d/(40 um))"), NoAutapses: true},
	} {
		p.Weight, p.Symmetric = constant(1), true
		n := build(t, network(1, sheet(13, 11, 1, false)).join(p))
		seen := map[[2]uint32]bool{}
		for _, pair := range pairs(n) {
			require.False(t, seen[pair])
			seen[pair] = true
		}
		self := 0
		for pair := range seen {
			require.True(t, seen[[2]uint32{pair[1], pair[0]}])
			if pair[0] == pair[1] {
				self++
			}
		}
		assert.Equal(t, !p.NoAutapses, self > 0, "%v", p.Rule)
		if p.Rule == genome.PairwiseBernoulli && p.P < 1 {
			want := 143 * 143 * p.P
			assert.InDelta(t, want, float64(len(seen)), 5*math.Sqrt(2*want))
		}
	}
}

// nearStatistic compares how many partners lie at each distance with what a kernel says where a mask holds.
func nearStatistic(g *genome.Genome, n *Connectome, end int) float64 {
	p, m := &g.Projections[0], newMetric(&g.Areas[0], &g.Areas[0])
	k := float64(p.Indegree)
	share, got := map[int]float64{}, map[int]float64{}
	for owner := range uint64(n.Neurons) {
		total, chance := 0.0, map[int]float64{}
		for partner := range uint64(n.Neurons) {
			v := m.between(partner, owner)
			if end == 0 {
				v = m.between(owner, partner)
			}
			if owner != partner && p.Mask.At(&v) != 0 {
				total += p.Kernel.At(&v)
				chance[int(v[0]/10)] += p.Kernel.At(&v)
			}
		}
		for at, x := range chance {
			share[at] += k * x / total
		}
	}
	for _, pair := range pairs(n) {
		got[int(m.between(uint64(pair[0]), uint64(pair[1]))[0]/10)]++
	}
	sum, free := 0.0, -1.0
	for at, x := range share {
		if x > 5 {
			sum, free = sum+(got[at]-x)*(got[at]-x)/x, free+1
		}
	}
	return (sum - free) / math.Sqrt(2*free)
}

// Owners have their number of partners, only such as the mask leaves, each as often as the kernel says.
func TestNearDegrees(t *testing.T) {
	slow.Short(t)
	for end, rule := range []genome.Rule{genome.FixedOutdegree, genome.FixedIndegree} {
		for _, distinct := range []bool{false, true} {
			for _, periodic := range []bool{false, true} {
				const k = 20
				p := genome.Projection{
					Rule: rule, Indegree: k, Outdegree: k, Kernel: kernelOf("7*exp(-d/(50 um)) + 0*dx/(1 um)"), Mask: kernelOf("d < 90 um and dx > -55 um"),
					NoMultapses: distinct, NoAutapses: true, Weight: constant(1),
				}
				g := network(1, sheet(25, 24, 1, periodic)).join(p)
				n := build(t, g)
				m := newMetric(&g.Areas[0], &g.Areas[0])
				have, seen := make([]int, n.Neurons), map[[2]uint32]bool{}
				for _, pair := range pairs(n) {
					have[pair[end]]++
					require.NotEqual(t, pair[0], pair[1])
					v := m.between(uint64(pair[0]), uint64(pair[1]))
					require.Equal(t, 1.0, p.Mask.At(&v))
					require.False(t, distinct && seen[pair])
					seen[pair] = true
				}
				require.Equal(t, slices.Repeat([]int{k}, int(n.Neurons)), have)
				if !distinct { // else more are taken from afar
					assert.InDelta(t, 0, nearStatistic(g, n, end), 4.5, "%v, periodic %v", rule, periodic)
				}
			}
		}
	}
}

// All partners that there are can be taken, also those that are so unlikely that attempts do not find them.
func TestNearDegreeOfAllPartners(t *testing.T) {
	slow.Short(t)
	p := genome.Projection{
		Rule: genome.FixedIndegree, Indegree: 24, Kernel: kernelOf("exp(-d*d/(2 um)/(10 um))"), Mask: kernelOf("max(abs(dx), abs(dy)) < 25 um"),
		NoMultapses: true, NoAutapses: true, Weight: constant(1),
	}
	g := network(1, sheet(9, 8, 1, true)).join(p)
	seen := map[[2]uint32]bool{}
	for _, pair := range pairs(build(t, g)) {
		seen[pair] = true
	}
	assert.Len(t, seen, 24*72)
	g.Projections[0].Indegree = 25
	_, err := Build(g, Options{})
	assert.ErrorContains(t, err, "25 synapses a neuron, but neuron 0 has only 24 partners")
	g.Projections[0].NoAutapses = false
	require.Len(t, pairs(build(t, g)), 25*72)
	g.Projections[0].Kernel = kernelOf("(1 um)/d")
	_, err = Build(g, Options{})
	assert.ErrorContains(t, err, "the formula may become infinite")
}

func byPlace(text string, per float64) genome.Value {
	return genome.Value{Kind: genome.Distance, Of: kernelOf(text), Per: per, Lo: math.Inf(-1), Hi: math.Inf(1)}
}

// Parts have together the synapses of the whole, in any number of threads.
func TestPartsOfRulesOfDistance(t *testing.T) {
	slow.Short(t)
	for _, p := range []genome.Projection{
		{Rule: genome.DistanceRule, Kernel: kernelOf("0.6*exp(-d/(40 um))"), NoAutapses: true},
		{Rule: genome.DistanceRule, Kernel: kernelOf("0.6*exp(-d/(40 um))"), Symmetric: true},
		{Rule: genome.FixedIndegree, Indegree: 30, Mask: kernelOf("d < 100 um")}, {Rule: genome.FixedOutdegree, Outdegree: 30, Kernel: kernelOf("exp(-d/(30 um))"), NoMultapses: true},
		{Rule: genome.PairwiseBernoulli, P: 0.1, Symmetric: true}, {Rule: genome.PairwisePoisson, Average: 0.2},
	} {
		p.Weight, p.Delay = byPlace("2 - d/(400 um)", 1), byPlace("1 + d/(30 um)", 1)
		g := network(1, sheet(20, 20, 1, true)).join(p)
		whole := flat(build(t, g))
		for of := 2; of <= 5; of++ {
			var rows [][3]int64
			for i := range of {
				c, err := Build(g, Options{Part: Part{i, of}, Threads: 1 + i})
				require.NoError(t, err)
				rows = append(rows, flat(c)...)
			}
			order := func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) }
			slices.SortFunc(rows, order)
			slices.SortFunc(whole, order)
			require.Equal(t, whole, rows, "%v in %d parts", p.Rule, of)
		}
	}
}

// flat is source and target, weight, and delay of all synapses.
func flat(c *Connectome) (list [][3]int64) {
	for s := range c.Neurons {
		for k := c.Row[s]; k < c.Row[s+1]; k++ {
			list = append(list, [3]int64{int64(s)<<32 + int64(c.Target[k]), int64(c.Weight[k]), int64(c.DelayOf(k))})
		}
	}
	return list
}

// Weights and delays are what their formulas say of each pair, rounded.
func TestValuesByDistance(t *testing.T) {
	p := genome.Projection{Rule: genome.AllToAll, To: 1, Weight: byPlace("3*exp(-d/(50 um)) - 1.3", 1), Delay: byPlace("1 + d/(20 um)", 0.5)}
	g := network(0.5, sheet(7, 5, 2, true), sheet(7, 5, 1, true)).join(p)
	g.Areas[1].Space.Center = [3]float64{3, 200, 30}
	n := build(t, g)
	signs := map[bool]int{}
	for s := range n.Neurons {
		for k := n.Row[s]; k < n.Row[s+1]; k++ {
			target := n.Target[k] - n.Areas[1].Ports.First
			a, b := g.Areas[0].At(uint64(s)), g.Areas[1].At(uint64(target%35))
			x, y := math.Remainder(b[0]-a[0], 70), math.Remainder(b[1]-a[1], 50)
			d := math.Sqrt(x*x + y*y + 900)
			require.InDelta(t, 1000*(3*math.Exp(-d/50)-1.3), float64(n.Weight[k]), 0.51)
			require.InDelta(t, 2*(1+d/20), float64(n.DelayOf(k)), 0.51)
			signs[n.Weight[k] < 0]++
		}
	}
	assert.Greater(t, min(signs[true], signs[false]), 100)
	sizes, err := Measure(g, Options{})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, sizes.MaxDelay, n.MaxDelay)
	assert.Less(t, sizes.MaxDelay, n.MaxDelay+3)
	g.Projections[0].Delay = byPlace("1 + d/(0.0004 um)", 1)
	_, err = Build(g, Options{})
	assert.ErrorContains(t, err, "a delay rounds to")
	g.Projections[0].Delay, g.Projections[0].Weight = constant(1), byPlace("sqrt(d/(1 um) - 31)", 1)
	_, err = Build(g, Options{})
	assert.ErrorContains(t, err, "the formula of weight or delay gives no number for synapse")
}

// The numbers of synapses of pairs have Poisson's distribution.
func TestPairwisePoisson(t *testing.T) {
	const mean = 0.7
	n := build(t, network(1, areaOf("feagi", 300)).join(genome.Projection{Rule: genome.PairwisePoisson, Average: mean, Weight: constant(1), NoAutapses: true}))
	count := map[[2]uint32]int{}
	for _, pair := range pairs(n) {
		require.NotEqual(t, pair[0], pair[1])
		count[pair]++
	}
	have := make([]float64, 8)
	for _, k := range count {
		have[min(k, 7)]++
	}
	have[0] = 300*299 - float64(len(count))
	sum, p := 0.0, math.Exp(-mean)
	for k := range 7 {
		want := 300 * 299 * p
		sum += (have[k] - want) * (have[k] - want) / want
		p *= mean / float64(k+1)
	}
	assert.InDelta(t, 0, (sum-7)/math.Sqrt(14), 4.5, fmt.Sprint(have))
}

// Rules see the positions of a file as they see those of a grid: with a grid's own positions the network is the same.
func TestPositionsOfAFile(t *testing.T) {
	for _, periodic := range []bool{false, true} {
		list := func(g *genome.Genome, each bool) uint64 {
			a := &g.Areas[0]
			for n := uint64(0); each && n < a.Neurons(); n++ {
				a.Space.Each = append(a.Space.Each[:n:n], (&genome.Area{Size: a.Size, PerVoxel: a.PerVoxel, Space: &genome.Space{Extent: a.Space.Extent, Center: a.Space.Center}}).At(n))
			}
			return build(t, g).Hash()
		}
		net := func() *genome.Genome {
			return network(1, sheet(20, 15, 2, periodic)).join(genome.Projection{Rule: genome.DistanceRule, Kernel: kernelOf("0.4*exp(-d/(40 um))"), Weight: byPlace("2 - d/(400 um)", 1), Delay: byPlace("1 + d/(30 um)", 1)})
		}
		require.Equal(t, list(net(), false), list(net(), true))
		moved := net()
		list(moved, true)
		moved.Areas[0].Space.Each[7][1] += 35
		require.NotEqual(t, list(net(), false), build(t, moved).Hash())
	}
}
