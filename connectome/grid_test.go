package connectome

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// TestAxisMatchesItsCoordinates: what a set says of itself is what counting says.
func TestAxisMatchesItsCoordinates(t *testing.T) {
	var sets []axis
	for lo := range int64(7) {
		for hi := range int64(9) {
			sets = append(sets, axis{lo, hi, noHole, 0})
			for hole := range int64(9) {
				sets = append(sets, axis{lo, hi, hole, 0})
			}
			for _, bit := range []int64{1, 2, 4, 8} {
				sets = append(sets, axis{lo, hi, noHole, bit})
			}
		}
	}
	coordinates := func(a axis) (list []int64) {
		for c := range int64(10) {
			if c >= a.lo && c < a.hi && c != a.hole && (a.bit == 0 || c/a.bit%2 == 1) {
				list = append(list, c)
			}
		}
		return list
	}
	for _, a := range sets {
		own := coordinates(a)
		require.EqualValues(t, len(own), a.size(), "%+v", a)
		for c := range int64(10) {
			require.Equal(t, slices.Contains(own, c), a.has(c), "%+v has %d", a, c)
		}
		require.Equal(t, []int64{a.lo}, coordinates(only(a.lo)))
		for _, b := range sets {
			if b.hole == noHole && b.bit == 0 && a.hole == noHole && a.bit == 0 {
				common := slices.ContainsFunc(own, b.has)
				require.Equal(t, common, a.meets(b), "%+v and %+v", a, b)
			} else if slices.ContainsFunc(own, b.has) {
				require.True(t, a.meets(b), "%+v and %+v", a, b)
			}
		}
	}
}

// matches says whether a pattern connects two voxels, straight from its definition.
func matches(p genome.Pattern, s, d [3]int64) bool {
	for i := range 3 {
		from, to := p.From[i], p.To[i]
		if from.Kind == genome.Exact && from.Coord != s[i] {
			return false
		}
		switch to.Kind {
		case genome.Exact:
			if to.Coord != d[i] {
				return false
			}
		case genome.Same:
			if d[i] != s[i] {
				return false
			}
		case genome.Other:
			if d[i] == s[i] {
				return false
			}
		}
	}
	return true
}

// TestOverlappingPatternsMakePairsOnce: three patterns and more of which each overlaps several before it, not always the first or the last of
// these, reach what they say once.
func TestOverlappingPatternsMakePairsOnce(t *testing.T) {
	lists := [][]genome.Pattern{
		{wild("***", "0**"), wild("***", "2**"), wild("***", "*1*")},                     // the third overlaps both
		{wild("***", "0**"), wild("***", "*0*"), wild("***", "**0")},                     // all three have a voxel in common
		{wild("***", "00*"), wild("***", "22*"), wild("***", "0**"), wild("***", "***")}, // the third the first alone, the last all
		{wild("***", "22*"), wild("***", "00*"), wild("***", "0**"), wild("***", "2*1")}, // the third the second alone
		{wild("***", "0**"), wild("***", "1**"), wild("***", "2**"), wild("***", "?!*")}, // three that do not overlap, and one over them
		{wild("***", "***"), wild("***", "!**"), wild("***", "?**"), wild("***", "*!?")}, // all is there after the first
		{wild("1**", "***"), wild("*1*", "?**"), wild("**1", "*?*"), wild("111", "111")}, // by source voxel
		{wild("***", "!!!"), wild("***", "!!*"), wild("***", "*!!"), wild("***", "0*0")}, // with holes
		{wild("***", "012"), wild("***", "0*2"), wild("***", "01*"), wild("***", "*12")}, // single voxels
		{wild("***", "9**"), wild("***", "*9*"), wild("***", "0**"), wild("***", "*0*")}, // beyond the target area
		{wild("***", "???"), wild("***", "?*?"), wild("***", "0*?"), wild("***", "0!?")}, // the source's own
		{wild("***", "0**"), wild("***", "0**"), wild("***", "0?*"), wild("**!", "0**")}, // one twice, and one that says the same
		{wild("***", "00*"), wild("***", "01*"), wild("***", "02*"), wild("***", "0*0"), wild("***", "*00")},
	}
	r := rand.New(rand.NewPCG(3, 33))
	for range 80 {
		var list []genome.Pattern
		for range 3 + r.IntN(5) {
			from, to := []byte("***"), []byte("***")
			for i := range 3 {
				from[i], to[i] = "***?!01"[r.IntN(7)], "**?!0122"[r.IntN(8)]
			}
			list = append(list, wild(string(from), string(to)))
		}
		lists = append(lists, list)
	}
	overlapping := 0
	for k, list := range lists {
		a, b := block("feagi", 3, 2, 2, 2), block("feagi", 3, 3, 2, 1)
		if k%2 == 1 {
			a, b = b, a
		}
		g := network(1, a, b).join(genome.Projection{Rule: genome.Patterns, Patterns: slices.Clone(list), To: 1, Weight: constant(1)})
		times := map[int]bool{}
		want := naive(g, func(s, d [3]int64) bool {
			n := 0
			for _, p := range list {
				if matches(p, s, d) {
					n++
				}
			}
			times[n] = true
			return n > 0
		})
		if times[3] || times[4] || times[5] {
			overlapping++
		}
		for _, parts := range []int{1, 2} {
			made := map[[2]uint32]int{}
			for i := range parts {
				c, err := Build(g, Options{Threads: 2, Part: Part{i, parts}})
				require.NoError(t, err)
				for _, pair := range pairs(c) {
					made[pair]++
				}
			}
			require.Len(t, made, len(want), "%v", list)
			for pair, n := range made {
				require.True(t, want[pair], "%v is made by %v", pair, list)
				require.Equal(t, 1, n, "%v by %v", pair, list)
			}
		}
		p, err := newPlan(g, Options{})
		require.NoError(t, err)
		rule, row := p.wirings[0].rule.(*grid), map[uint32]uint64{}
		for pair := range want {
			row[pair[0]]++
		}
		least, most := rule.synapses(rule.targets)
		require.LessOrEqual(t, least, uint64(len(want)), "%v", list)
		require.GreaterOrEqual(t, most, uint64(len(want)), "%v", list)
		for _, n := range row {
			require.LessOrEqual(t, n, rule.longest(), "%v", list)
		}
	}
	require.Greater(t, overlapping, 20, "pairs that three patterns make")

	shape, _ := newPatterns(&genome.Mapper{Patterns: []genome.Pattern{wild("*?!", "0?*"), wild("***", "0?*"), wild("***", "0*?"), wild("?!*", "0?*")}}, [3]int64{}, [3]int64{3, 3, 3})
	require.Len(t, shape.(*patterns).list, 2, "each is kept once")
}
