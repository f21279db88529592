package connectome

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// ruleCases has a small network of each rule; hashes are golden.
var ruleCases = []struct {
	name     string
	p        genome.Projection
	synapses uint64
	hash     uint64
}{
	{"one to one", genome.Projection{Rule: genome.OneToOne}, 60, 0x57219e61cab07b28},
	{"one to one without autapses is empty", genome.Projection{Rule: genome.OneToOne, NoAutapses: true}, 0, 0x5941a91c60e80dad},
	{"all to all", genome.Projection{Rule: genome.AllToAll, To: 1}, 60 * 77, 0xa9a5aa8d8cf6f254},
	{"all to all without autapses", genome.Projection{Rule: genome.AllToAll, NoAutapses: true}, 60 * 59, 0x6da2b3e4778ece40},
	{"indegree", genome.Projection{Rule: genome.FixedIndegree, To: 1, Indegree: 13}, 13 * 77, 0xd962f6410c31651f},
	{"indegree without autapses", genome.Projection{Rule: genome.FixedIndegree, Indegree: 13, NoAutapses: true}, 13 * 60, 0x6e6e4acc606b7875},
	{"indegree without multapses", genome.Projection{Rule: genome.FixedIndegree, Indegree: 47, NoMultapses: true}, 47 * 60, 0xf11176b9882523a1},
	{"indegree of all others", genome.Projection{Rule: genome.FixedIndegree, Indegree: 59, NoMultapses: true, NoAutapses: true}, 59 * 60, 0xf545b1a13d9c9089},
	{"outdegree", genome.Projection{Rule: genome.FixedOutdegree, To: 1, Outdegree: 9}, 9 * 60, 0x8a6bbbd95faae5b3},
	{"outdegree without autapses", genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 9, NoAutapses: true}, 9 * 60, 0x2ecf9546ffeed54c},
	{"outdegree without multapses", genome.Projection{Rule: genome.FixedOutdegree, To: 1, Outdegree: 77, NoMultapses: true}, 77 * 60, 0xa9a5aa8d8cf6f254},
	{"total", genome.Projection{Rule: genome.FixedTotalNumber, From: 1, Count: 1234}, 1234, 0x57455217eb836039},
	{"total without autapses", genome.Projection{Rule: genome.FixedTotalNumber, Count: 1234, NoAutapses: true}, 1234, 0xb09d0728c034bdc2},
	{"total without multapses", genome.Projection{Rule: genome.FixedTotalNumber, To: 1, Count: 1234, NoMultapses: true}, 1234, 0xd8b063e781496c1e},
	{"all pairs by number", genome.Projection{Rule: genome.FixedTotalNumber, Count: 60 * 59, NoMultapses: true, NoAutapses: true}, 60 * 59, 0x33ef52d492c8b2ee},
	{"bernoulli", genome.Projection{Rule: genome.PairwiseBernoulli, To: 1, P: 0.137}, 0, 0xfd913200827f5293},
	{"bernoulli without autapses", genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.9, NoAutapses: true}, 0, 0xf3990fd176991415},
	{"bernoulli at 0", genome.Projection{Rule: genome.PairwiseBernoulli, To: 1}, 0, 0x5941a91c60e80dad},
	{"bernoulli at 1", genome.Projection{Rule: genome.PairwiseBernoulli, To: 1, P: 1}, 60 * 77, 0xa9a5aa8d8cf6f254},
	{"bernoulli at 1e-300", genome.Projection{Rule: genome.PairwiseBernoulli, To: 1, P: 1e-300}, 0, 0x5941a91c60e80dad},
	{"projector", genome.Projection{Rule: genome.Projector, To: 1}, 5 * 11 * 7 * 4, 0xcbc4ccc543c96ae7},
	{"projector to the last of each voxel", genome.Projection{Rule: genome.Projector, From: 1, LastOnly: true}, 5 * 11 * 7, 0x3323176e56ce25f9},
	{"projector to the first of each voxel", genome.Projection{Rule: genome.Projector, From: 1, Foremost: true}, 5 * 11 * 7, 0xc4344bd1b62952a0},
	{"projector in float32", genome.Projection{Rule: genome.Projector, To: 1, Single: true}, 5 * 11 * 7 * 4, 0xcbc4ccc543c96ae7},
	{"vectors", genome.Projection{Rule: genome.Vectors, Vectors: [][3]int64{{1, 0, 0}, {-1, 2, 0}, {1, 0, 0}, {math.MaxInt64, 0, 0}, {math.MinInt64, 0, 0}}}, (4*3*1 + 4*1*1) * 16, 0x00cc41698ddf3b0c},
	{"patterns", genome.Projection{Rule: genome.Patterns, Patterns: []genome.Pattern{wild("**0", "?!0"), wild("2**", "***"), wild("***", "?!*")}}, 0, 0x659b151b3d73fa58},
	{"projector of the end", genome.Projection{Rule: genome.Projector, To: 1, Axes: genome.ZYX, FromEnd: genome.XAxis}, 11 * 4, 0x911ecde766b80e93},
	{"expander", genome.Projection{Rule: genome.Expander}, 5 * 3 * 16, 0x29b36fe067bfefaa},
	{"reducer", genome.Projection{Rule: genome.Reducer}, 5 * 3 * 16, 0xe04edf5b36ac4241},
	{"block to block", genome.Projection{Rule: genome.BlockToBlock}, 60 * 4, 0x759e35d0155c3a1c},
	{"lateral pairs", genome.Projection{Rule: genome.LateralPairs}, 4 * 3 * 16, 0x0998ec949df3bcec},
	{"last to first", genome.Projection{Rule: genome.LastToFirst, To: 1}, 4, 0x92708c7be6293d4f},
	{"randomizer", genome.Projection{Rule: genome.Randomizer}, 60 * 4, 0x6ab6fd4d31051b98},
	{"randomizer without autapses", genome.Projection{Rule: genome.Randomizer, NoAutapses: true}, 0, 0x22e06d033c703ee8},
	{"composite", genome.Projection{Rule: genome.Composite, To: 1, Blocks: [3]uint64{2, 1, 1}, Choose: [3][2]uint64{{1, 1}, {2, 0}, {1, 0}},
		Mapper: &genome.Mapper{Rule: genome.Projector}}, 0, 0xb3f81f83a5c348a3},
	{"distance", genome.Projection{Rule: genome.DistanceRule, To: 1, Kernel: kernelOf("0.4*exp(-d/(15 um))")}, 0, 0x9c17a3a4dedb1a75},
	{"distance without autapses", genome.Projection{Rule: genome.DistanceRule, Kernel: kernelOf("0.9*exp(-d/(15 um))"), Mask: kernelOf("d < 35 um"), NoAutapses: true}, 0, 0x232e947f7944f635},
	{"distance both ways", genome.Projection{Rule: genome.DistanceRule, Kernel: kernelOf("0.9*exp(-d/(15 um))"), Symmetric: true}, 0, 0x094c5a3f9493f65d},
	{"near indegree", genome.Projection{Rule: genome.FixedIndegree, To: 1, Indegree: 13, Kernel: kernelOf("exp(-d/(15 um))")}, 13 * 77, 0x4de5a481abf56f98},
	{"near outdegree", genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 9, Mask: kernelOf("abs(dx) < 25 um"), NoAutapses: true, NoMultapses: true}, 9 * 60, 0x6e4098d5ff3887e8},
	{"by columns", genome.Projection{Rule: genome.DistanceRule, To: 1, Kernel: kernelOf("0.9*exp(3*(cos(source_angle - target_angle) - 1))")}, 0, 0x4b12a91b0048b90d},
	{"by columns and distance, both ways", genome.Projection{Rule: genome.DistanceRule, Kernel: kernelOf("0.9*exp(-d/(15 um))"), Mask: kernelOf("abs(source_angle - target_angle) < 1"), Symmetric: true}, 0, 0xca2e6c675771b472},
	{"indegree by columns", genome.Projection{Rule: genome.FixedIndegree, To: 1, Indegree: 13, Kernel: kernelOf("exp(3*cos(source_angle - target_angle))")}, 13 * 77, 0xb979ff18c160bc56},
	{"outdegree by a target's column", genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 9, Mask: kernelOf("target_angle < 2"), NoAutapses: true, NoMultapses: true}, 9 * 60, 0xd32257d874b32453},
	{"bernoulli both ways", genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.137, Symmetric: true}, 0, 0x21f4ac725625268e},
	{"poisson", genome.Projection{Rule: genome.PairwisePoisson, To: 1, Average: 0.3}, 0, 0xff679db14bf4c17d},
	{"half of all to all", genome.Projection{Rule: genome.AllToAll, To: 1, LeaveOut: 50}, 0, 0x13ef5ab73f78a195},
}

// ruleGenome has areas of 5×3×1 voxels with 4 neurons and of 1×11×7 with 1, and drawn weights and delays.
func ruleGenome(p genome.Projection) *genome.Genome {
	p.Weight = value(genome.Normal, -3.7, 1.9)
	p.Delay = genome.Value{Kind: genome.LogNormal, A: 4.5, B: 2.25, Lo: 1, Hi: 11, Clip: true}
	return ruleAreas().join(p)
}

func ruleAreas() net {
	n := network(0.3, angled(block("feagi", 5, 3, 1, 4)), angled(block("lif", 1, 11, 7, 1)))
	n.Areas[0].Space = &genome.Space{Extent: [3]float64{50, 30, 10}}
	n.Areas[1].Space = &genome.Space{Extent: [3]float64{10, 50, 40}, Center: [3]float64{5, 0, 0}}
	return n
}

// wild reads three characters for each side of a pattern.
func wild(from, to string) genome.Pattern {
	var p genome.Pattern
	for i := range 3 {
		p.From[i], p.To[i] = elem(from[i]), elem(to[i])
	}
	return p
}

func elem(c byte) genome.PatternElem {
	switch c {
	case '*':
		return genome.PatternElem{Kind: genome.Any}
	case '?':
		return genome.PatternElem{Kind: genome.Same}
	case '!':
		return genome.PatternElem{Kind: genome.Other}
	}
	return genome.PatternElem{Kind: genome.Exact, Coord: int64(c - '0')}
}

func TestGoldenHashesAtAnyThreadCount(t *testing.T) {
	for _, c := range ruleCases {
		g := ruleGenome(c.p)
		sizes, err := Measure(g, Options{})
		require.NoError(t, err, c.name)
		for _, threads := range []int{1, 2, 3, 8} {
			n, err := Build(g, Options{Threads: threads})
			require.NoError(t, err, c.name)
			assert.Equal(t, fmt.Sprintf("%#016x", c.hash), fmt.Sprintf("%#016x", n.Hash()), "%s, %d threads", c.name, threads)
			assert.Equal(t, sizes.Synapses, n.Synapses(), c.name)
			if c.synapses > 0 {
				assert.Equal(t, c.synapses, n.Synapses(), c.name)
			}
		}
	}
}

// What a rule says of its synapses before it draws them must hold: how many there are, also onto a part, how many a source has, and that a rule which merges goes by source and makes no pair twice.
func TestRulesPredictTheirSynapses(t *testing.T) {
	seen := map[genome.Rule]bool{}
	for _, c := range ruleCases {
		seen[c.p.Rule] = true
		for of := 1; of < 5; of++ {
			for i := range of {
				p, _, err := begin(ruleGenome(c.p), Options{Part: Part{i, of}})
				require.NoError(t, err)
				w := &p.wirings[0]
				var list listed
				p.draw([]sink{&list}, all, p.part)
				require.GreaterOrEqual(t, uint64(len(list)), w.synapses, "%s, part %d of %d", c.name, i, of)
				require.LessOrEqual(t, uint64(len(list)), w.most, "%s, part %d of %d", c.name, i, of)
				if of == 1 && w.keep == 100 {
					keepsItsWord(t, c.name, w, list)
				}
			}
		}
	}
	for _, r := range genome.Rules() {
		assert.True(t, seen[r] || r == genome.Edges, "%s is not tried", r)
	}
}

func keepsItsWord(t *testing.T, name string, w *wiring, list listed) {
	rows, pairs := make([]uint64, w.from.Count), map[[2]uint64]bool{}
	for _, o := range list {
		rows[o.source]++
		if w.p.Rule.Merges() {
			require.False(t, pairs[[2]uint64{o.source, o.target}], "%s: a pair twice", name)
			pairs[[2]uint64{o.source, o.target}] = true
		}
	}
	if w.p.Rule.Merges() && !w.p.Symmetric {
		require.Equal(t, bySource, w.rule.unit(), name)
	}
	for s, n := range rows {
		require.LessOrEqual(t, n, w.rule.longest(), "%s: source %d", name, s)
		if want, known := w.rule.row(uint64(s)); known {
			require.Equal(t, want, n, "%s: source %d", name, s)
		}
	}
}

// TestOnto: where it is known how many synapses each target has, it has as many.
func TestOnto(t *testing.T) {
	known := map[string]bool{}
	for _, c := range ruleCases {
		g := ruleGenome(c.p)
		g.Projections[0].Weight = constant(2)
		p, _, err := begin(g, Options{})
		require.NoError(t, err)
		n, is := p.wirings[0].onto()
		if !is {
			continue
		}
		known[c.name] = true
		var list listed
		p.draw([]sink{&list}, all, Part{})
		onto := make([]uint64, p.wirings[0].to.Count)
		for _, o := range list {
			onto[o.target]++
		}
		for target, found := range onto {
			require.Equal(t, n, found, "%s: target %d", c.name, target)
		}
	}
	for _, name := range []string{"one to one", "all to all without autapses", "indegree without multapses", "indegree"} {
		require.True(t, known[name], name)
	}
	require.False(t, known["half of all to all"] || known["near indegree"] || known["outdegree"])
}

func TestRulesForbidWhatTheySay(t *testing.T) {
	for _, c := range ruleCases {
		n := build(t, ruleGenome(c.p))
		seen := map[[2]uint32]bool{}
		for _, pair := range pairs(n) {
			if c.p.NoAutapses && c.p.From == c.p.To && pair[0] == pair[1] {
				t.Errorf("%s: neuron %d reaches itself", c.name, pair[0])
			}
			single := c.p.NoMultapses || c.p.Rule == genome.Vectors || c.p.Rule == genome.Patterns || c.p.Rule == genome.PairwiseBernoulli
			if single && seen[pair] {
				t.Errorf("%s: %v twice", c.name, pair)
			}
			seen[pair] = true
		}
	}
}

func TestDegrees(t *testing.T) {
	for _, c := range ruleCases {
		if c.p.Rule != genome.FixedIndegree && c.p.Rule != genome.FixedOutdegree {
			continue
		}
		n := build(t, ruleGenome(c.p))
		degree := map[uint32]uint64{}
		for _, pair := range pairs(n) {
			degree[pair[c.p.Rule-genome.FixedIndegree^1]]++
		}
		owners := n.Areas[c.p.To].Neurons
		if c.p.Rule == genome.FixedOutdegree {
			owners = n.Areas[c.p.From].Neurons
		}
		for id := owners.First; id < owners.End(); id++ {
			assert.Equal(t, c.p.Indegree+c.p.Outdegree, degree[id], "%s: neuron %d", c.name, id)
		}
	}
}

// naive enumerates the pairs of a voxel rule straight from its definition.
func naive(g *genome.Genome, reaches func(s, d [3]int64) bool) map[[2]uint32]bool {
	want := map[[2]uint32]bool{}
	p := &g.Projections[0]
	from, to := &g.Areas[p.From], &g.Areas[p.To]
	first := uint32(0)
	if p.To == 1 {
		first = uint32(g.Areas[0].Neurons())
	}
	at := func(size [3]uint64, v uint64) [3]int64 {
		return [3]int64{int64(v / size[2] / size[1]), int64(v / size[2] % size[1]), int64(v % size[2])}
	}
	for s := range from.Neurons() {
		for d := range to.Neurons() {
			if reaches(at(from.Size, s/from.PerVoxel), at(to.Size, d/to.PerVoxel)) {
				want[[2]uint32{uint32(s), first + uint32(d)}] = true
			}
		}
	}
	return want
}

func TestVoxelRulesAgainstTheirDefinition(t *testing.T) {
	type check struct {
		name    string
		g       *genome.Genome
		reaches func(s, d [3]int64) bool
	}
	fromTo := func(a, b genome.Area, p genome.Projection) *genome.Genome {
		p.To, p.Weight = 1, constant(1)
		return network(1, a, b).join(p)
	}
	list := []genome.Pattern{wild("**0", "?!0"), wild("2**", "*1*"), wild("?!1", "?!*"), wild("0*9", "***"), wild("***", "77?")}
	offsets := [][3]int64{{1, -1, 0}, {0, 0, 0}, {-2, 0, 1}, {1, -1, 0}}
	small, large := [3]uint64{3, 7, 2}, [3]uint64{14, 5, 2}
	axisMaps := func(l, d, s, t int64) bool {
		if s >= t {
			return d == l*t/s
		}
		return d*s/t == l
	}
	a, b := block("feagi", small[0], small[1], small[2], 2), block("feagi", large[0], large[1], large[2], 3)
	checks := []check{
		{"projector", fromTo(a, b, genome.Projection{Rule: genome.Projector}), func(s, d [3]int64) bool {
			return axisMaps(s[0], d[0], 3, 14) && axisMaps(s[1], d[1], 7, 5) && axisMaps(s[2], d[2], 2, 2)
		}},
		{"projector back", fromTo(b, a, genome.Projection{Rule: genome.Projector}), func(s, d [3]int64) bool {
			return axisMaps(s[0], d[0], 14, 3) && axisMaps(s[1], d[1], 5, 7) && axisMaps(s[2], d[2], 2, 2)
		}},
		{"vectors", fromTo(a, b, genome.Projection{Rule: genome.Vectors, Vectors: offsets}), func(s, d [3]int64) bool {
			for _, v := range offsets {
				if s[0]+v[0] == d[0] && s[1]+v[1] == d[1] && s[2]+v[2] == d[2] {
					return true
				}
			}
			return false
		}},
		{"patterns", fromTo(a, b, genome.Projection{Rule: genome.Patterns, Patterns: list}), func(s, d [3]int64) bool {
			for _, p := range list {
				if matches(p, s, d) {
					return true
				}
			}
			return false
		}},
	}
	for _, c := range checks {
		want := naive(c.g, c.reaches)
		got := map[[2]uint32]bool{}
		n := build(t, c.g)
		for _, pair := range pairs(n) {
			got[pair] = true
		}
		assert.Equal(t, want, got, c.name)
		assert.EqualValues(t, len(want), n.Synapses(), "%s makes each pair once", c.name)
	}
}

// The integer projector of FEAGI's facts: 14 → 16, destination 8 comes from source 7.
func TestProjectorUsesIntegers(t *testing.T) {
	n := build(t, network(1, block("feagi", 14, 1, 1, 1), block("feagi", 16, 1, 1, 1)).join(
		genome.Projection{Rule: genome.Projector, To: 1, Weight: constant(1)}))
	assert.Contains(t, pairs(n), [2]uint32{7, 14 + 8})
	assert.EqualValues(t, 16, n.Synapses())
}

// FEAGI's projector divides in float32: 14 → 16, destination 8 comes from source 6, and back, source 8 goes to destination 6.
func TestProjectorInFloat32(t *testing.T) {
	for _, way := range [][2]uint64{{14, 16}, {16, 14}} {
		n := build(t, network(1, block("feagi", way[0], 1, 1, 1), block("feagi", way[1], 1, 1, 1)).join(
			genome.Projection{Rule: genome.Projector, To: 1, Single: true, Weight: constant(1)}))
		if want := [2]uint32{6, 14 + 8}; way[0] == 14 {
			assert.Contains(t, pairs(n), want)
		} else {
			assert.Contains(t, pairs(n), [2]uint32{8, 16 + 6})
		}
		assert.EqualValues(t, 16, n.Synapses())
	}
}

// With last_of_voxel the last neuron of each target voxel alone has synapses, of all neurons of the source voxels; with first_of_voxel the
// first one.
func TestOneOfVoxel(t *testing.T) {
	for _, p := range []genome.Projection{
		{Rule: genome.BlockToBlock}, {Rule: genome.Composite, Blocks: [3]uint64{5, 5, 5}, Choose: [3][2]uint64{{1, 0}, {1, 0}, {1, 0}}, Mapper: &genome.Mapper{Rule: genome.BlockToBlock}},
	} {
		for foremost, first := range map[bool]uint32{false: 9, true: 6} {
			p.To, p.LastOnly, p.Foremost, p.Weight = 1, !foremost, foremost, constant(1)
			g := network(1, block("feagi", 2, 1, 1, 3), block("feagi", 2, 1, 1, 4)).join(p)
			n := build(t, g)
			assert.Equal(t, [][2]uint32{{0, first}, {1, first}, {2, first}, {3, first + 4}, {4, first + 4}, {5, first + 4}}, pairs(n))
			sizes, err := Measure(g, Options{Threads: 1})
			require.NoError(t, err)
			assert.EqualValues(t, 6, sizes.Synapses)
		}
	}
}

// TestSetHoldsWhatWasPut: a set, lent for one capacity after the other, knows what it holds in slots and in bits.
func TestSetHoldsWhatWasPut(t *testing.T) {
	r, forms := rand.New(rand.NewPCG(8, 15)), map[bool]int{}
	var s set
	for range 200 {
		n := 1 + r.Uint64N(1<<r.IntN(18))
		capacity := 1 + r.Uint64N(n)>>r.IntN(14)
		s.prepare(min(capacity, n), n)
		s.clear()
		forms[len(s.slots) > 0]++
		held := map[uint64]bool{}
		for uint64(len(held)) < min(capacity, n) {
			x := r.Uint64N(n)
			require.Equal(t, !held[x], s.put(x), "%d among %d, of %d", x, n, capacity)
			held[x] = true
		}
	}
	assert.Greater(t, min(forms[true], forms[false]), 20, "both forms are there")
}
