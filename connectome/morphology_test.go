package connectome

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/slow"
)

// voxelMap says whether source voxel s of an area of size S reaches target voxel d of one of size T, by a rule's
// definition in words; it shares nothing with the package.
type voxelMap func(s, S, d, T [3]int64) bool

// projected is the definition of the projector on one axis.
func projected(l, s, d, t int64) bool {
	if s >= t {
		return l*t/s == d
	}
	return d*s/t == l
}

// single is the definition of the projector in float32.
func single(s, S, d, T [3]int64) bool {
	for i := range 3 {
		place := func(l, s, t int64) int64 { return int64(math.Floor(float64(float32(l) / (float32(s) / float32(t))))) }
		if S[i] >= T[i] && place(s[i], S[i], T[i]) != d[i] || S[i] < T[i] && place(d[i], T[i], S[i]) != s[i] {
			return false
		}
	}
	return true
}

// numeral is the binary numeral of n with zeros in front up to a width.
func numeral(n, width int64) string {
	text := strconv.FormatInt(n, 2)
	return strings.Repeat("0", max(0, int(width)-len(text))) + text
}

func zero(c ...int64) bool {
	for _, x := range c {
		if x != 0 {
			return false
		}
	}
	return true
}

// turned is the projector whose target axes follow the source axes of order.
func turned(order [3]int) voxelMap {
	return func(s, S, d, T [3]int64) bool {
		for i, k := range order {
			if !projected(s[k], S[k], d[i], T[i]) {
				return false
			}
		}
		return true
	}
}

// fromEnd is the projector of the last layer on an axis.
func fromEnd(axis int) voxelMap {
	return func(s, S, d, T [3]int64) bool {
		for i := range 3 {
			if i == axis && (s[i] != S[i]-1 || d[i] != 0) || i != axis && !projected(s[i], S[i], d[i], T[i]) {
				return false
			}
		}
		return true
	}
}

// tiled applies a map inside blocks, of which along each axis choose are taken and skip left out in turn.
func tiled(size [3]int64, choose [3][2]int64, inner voxelMap) voxelMap {
	return func(s, _, d, T [3]int64) bool {
		var inside [3]int64
		for i := range 3 {
			block, l := int64(0), s[i]
			for l >= size[i] {
				block, l = block+1, l-size[i]
			}
			for block >= choose[i][0]+choose[i][1] {
				block -= choose[i][0] + choose[i][1]
			}
			if block >= choose[i][0] {
				return false
			}
			inside[i] = l
		}
		return inner(inside, size, d, T)
	}
}

func morphologies() []struct {
	name string
	p    genome.Projection
	m    voxelMap
} {
	type c = struct {
		name string
		p    genome.Projection
		m    voxelMap
	}
	reduces := func(s, _, d, T [3]int64) bool { return zero(d[1], d[2]) && numeral(s[0], T[0])[d[0]] == '1' }
	list := []c{
		{"expander", genome.Projection{Rule: genome.Expander}, func(s, S, d, T [3]int64) bool {
			return zero(d[1], d[2]) && numeral(d[0], S[0])[s[0]] == '1'
		}},
		{"reducer", genome.Projection{Rule: genome.Reducer}, reduces},
		{"block to block", genome.Projection{Rule: genome.BlockToBlock}, func(s, _, d, _ [3]int64) bool { return s == d }},
		{"blocks divided", genome.Projection{Rule: genome.BlockToBlock, Divide: [3]uint64{5, 2, 3}}, func(s, _, d, _ [3]int64) bool {
			return s[0]-s[0]%5 == 5*d[0] && s[1]-s[1]%2 == 2*d[1] && s[2]-s[2]%3 == 3*d[2]
		}},
		{"lateral pairs", genome.Projection{Rule: genome.LateralPairs}, func(s, _, d, _ [3]int64) bool {
			return s[1] == d[1] && s[2] == d[2] && (s[0]%2 == 0 && d[0] == s[0]+1 || s[0]%2 == 1 && d[0] == s[0]-1)
		}},
		{"last to first", genome.Projection{Rule: genome.LastToFirst}, func(s, S, d, _ [3]int64) bool {
			return zero(d[0], d[1], d[2], s[0]+1-S[0], s[1]+1-S[1], s[2]+1-S[2])
		}},
		{"projector yxz", genome.Projection{Rule: genome.Projector, Axes: genome.YXZ}, turned([3]int{1, 0, 2})},
		{"projector zyx", genome.Projection{Rule: genome.Projector, Axes: genome.ZYX}, turned([3]int{2, 1, 0})},
		{"projector xzy", genome.Projection{Rule: genome.Projector, Axes: genome.XZY}, turned([3]int{0, 2, 1})},
		{"projector in float32", genome.Projection{Rule: genome.Projector, Single: true}, single},
		{"from the end of x", genome.Projection{Rule: genome.Projector, FromEnd: genome.XAxis}, fromEnd(0)},
		{"from the end of y", genome.Projection{Rule: genome.Projector, FromEnd: genome.YAxis}, fromEnd(1)},
		{"from the end of z", genome.Projection{Rule: genome.Projector, FromEnd: genome.ZAxis}, fromEnd(2)},
	}
	blocks, choose := [3]uint64{4, 2, 1}, [3][2]uint64{{1, 1}, {2, 1}, {1, 0}}
	tiles := func(m *genome.Mapper) genome.Projection {
		return genome.Projection{Rule: genome.Composite, Blocks: blocks, Choose: choose, Mapper: m}
	}
	size, turns := [3]int64{4, 2, 1}, [3][2]int64{{1, 1}, {2, 1}, {1, 0}}
	return append(list,
		c{"tiles", tiles(&genome.Mapper{Rule: genome.Projector}), tiled(size, turns, turned([3]int{0, 1, 2}))},
		c{"tiles of blocks", tiles(&genome.Mapper{Rule: genome.BlockToBlock, Divide: [3]uint64{2, 1, 1}}), tiled(size, turns, func(s, _, d, _ [3]int64) bool {
			return s[0]/2 == d[0] && s[1] == d[1] && s[2] == d[2]
		})},
		c{"tiles of reducers", tiles(&genome.Mapper{Rule: genome.Reducer}), tiled(size, turns, reduces)},
		c{"tiles of patterns", tiles(&genome.Mapper{Rule: genome.Patterns, Patterns: []genome.Pattern{wild("3**", "?!0"), wild("**0", "*10")}}),
			tiled(size, turns, func(s, _, d, _ [3]int64) bool {
				return s[0] == 3 && d[0] == s[0] && d[1] != s[1] && d[2] == 0 || s[2] == 0 && d[1] == 1 && d[2] == 0
			})},
	)
}

// Every morphology must make exactly the pairs of its definition, each once, and say their number beforehand, between
// areas of any shape.
func TestMorphologiesAgainstTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 31))
	for _, c := range morphologies() {
		t.Run(c.name, func(t *testing.T) {
			most := uint64(0)
			for range slow.Times(20, 60) {
				size := func() genome.Area {
					return block("feagi", 1+r.Uint64N(14), 1+r.Uint64N(6), 1+r.Uint64N(4), 1+r.Uint64N(2))
				}
				c.p.To, c.p.Weight = 1, constant(1)
				g := network(1, size(), size()).join(c.p)
				S, T := signed(g.Areas[0].Size), signed(g.Areas[1].Size)
				want := naive(g, func(s, d [3]int64) bool { return c.m(s, S, d, T) })
				got := map[[2]uint32]bool{}
				n := build(t, g)
				for _, pair := range pairs(n) {
					got[pair] = true
				}
				require.Equal(t, want, got, "%v to %v", S, T)
				require.EqualValues(t, len(want), n.Synapses(), "each pair once, %v to %v", S, T)
				sizes, err := Measure(g, Options{Threads: 1})
				require.NoError(t, err)
				require.Equal(t, n.Synapses(), sizes.Synapses)
				most = max(most, sizes.Synapses)
			}
			assert.NotZero(t, most, "a test of nothing")
		})
	}
}

// The expander counts coordinates by their bits; the count must be that of a walk.
func TestSizeOfBitSets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 2000 {
		a := axis{int64(r.IntN(70)), int64(r.IntN(300)), noHole, 1 << r.IntN(9)}
		n := uint64(0)
		for c := a.lo; c < a.hi; c++ {
			if a.has(c) {
				n++
			}
		}
		require.Equal(t, n, a.size(), "%+v", a)
	}
}

// The randomizer follows doc.go: source s draws voxel below(x, voxels) with x of index s.
func TestRandomizerFollowsItsRecipe(t *testing.T) {
	g := network(1, block("feagi", 97, 3, 1, 2), block("feagi", 5, 3, 7, 3)).join(genome.Projection{Rule: genome.OneToOne},
		genome.Projection{Rule: genome.Randomizer, To: 1, Weight: constant(1)})
	n := build(t, g)
	var want [][2]uint32
	for s := range uint32(97 * 3 * 2) {
		w := exact.Draw(g.Seed, exact.Wiring, uint64(s), 1)
		voxel := uint32(below(uint64(w[1])<<32|uint64(w[0]), 5*3*7))
		want = append(want, [2]uint32{s, s})
		for j := range uint32(3) {
			want = append(want, [2]uint32{s, 97*3*2 + voxel*3 + j})
		}
	}
	assert.Equal(t, want, pairs(n))
}

// A composite that no reader would let through must be refused, not divided by.
func TestBrokenCompositesAreRefused(t *testing.T) {
	whole, fine := [3][2]uint64{{1, 0}, {1, 0}, {1, 0}}, &genome.Mapper{Rule: genome.Projector}
	for i, p := range []genome.Projection{
		{Blocks: [3]uint64{1, 1, 1}, Choose: whole},
		{Blocks: [3]uint64{1, 1, 1}, Choose: whole, Mapper: &genome.Mapper{Rule: genome.Randomizer}},
		{Blocks: [3]uint64{1, 0, 1}, Choose: whole, Mapper: fine},
		{Blocks: [3]uint64{1, 1, 1}, Mapper: fine},
	} {
		p.Rule, p.Weight = genome.Composite, constant(1)
		_, err := Build(network(1, block("feagi", 3, 3, 3, 1)).join(p), Options{})
		assert.ErrorContains(t, err, "projections[0]", fmt.Sprint(i))
	}
}
