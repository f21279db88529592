package feagi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"burst/connectome"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// voxel is a place in an area.
type voxel = [3]int

// reaches says whether a voxel of an area of size S reaches one of an area of size T.
type reaches func(s, S, d, T voxel) bool

// along is the projector on one axis: the same relative place.
func along(s, S, d, T int) bool {
	if S >= T {
		return s*T/S == d
	}
	return d*S/T == s
}

// projector follows, on the target's x, y and z, the source's axes in an order.
func projector(order voxel) reaches {
	return func(s, S, d, T voxel) bool {
		return along(s[order[0]], S[order[0]], d[0], T[0]) && along(s[order[1]], S[order[1]], d[1], T[1]) && along(s[order[2]], S[order[2]], d[2], T[2])
	}
}

// numeral is a number in binary, filled up to a width.
func numeral(n, width int) string { return fmt.Sprintf("%0*b", width, n) }

// moved is a step.
func moved(x, y, z int) reaches {
	return func(s, _, d, _ voxel) bool { return d == voxel{s[0] + x, s[1] + y, s[2] + z} }
}

// laws are all morphologies that FEAGI has without a definition in the file, as its rules of synaptogenesis say. nil: it
// makes no synapses before something is learnt.
func laws() map[string]reaches {
	same := func(a, b, c, d int) bool { return a == b && c == d }
	return map[string]reaches{
		"projector":    projector(voxel{0, 1, 2}),
		"projector_xy": projector(voxel{1, 0, 2}),
		"projector_yz": projector(voxel{0, 2, 1}),
		"projector_xz": projector(voxel{2, 1, 0}),
		"project_from_end_x": func(s, S, d, T voxel) bool {
			return same(s[0], S[0]-1, d[0], 0) && along(s[1], S[1], d[1], T[1]) && along(s[2], S[2], d[2], T[2])
		},
		"project_from_end_y": func(s, S, d, T voxel) bool {
			return same(s[1], S[1]-1, d[1], 0) && along(s[0], S[0], d[0], T[0]) && along(s[2], S[2], d[2], T[2])
		},
		"project_from_end_z": func(s, S, d, T voxel) bool {
			return same(s[2], S[2]-1, d[2], 0) && along(s[0], S[0], d[0], T[0]) && along(s[1], S[1], d[1], T[1])
		},
		"expander_x":      func(s, S, d, _ voxel) bool { return same(d[1], 0, d[2], 0) && numeral(d[0], S[0])[s[0]] == '1' },
		"reducer_x":       func(s, _, d, T voxel) bool { return same(d[1], 0, d[2], 0) && numeral(s[0], T[0])[d[0]] == '1' },
		"lateral_pairs_x": func(s, _, d, _ voxel) bool { return same(s[1], d[1], s[2], d[2]) && s[0]/2 == d[0]/2 && s[0] != d[0] },
		"last_to_first":   func(s, S, d, _ voxel) bool { return s == voxel{S[0] - 1, S[1] - 1, S[2] - 1} && d == voxel{} },
		"block_to_block":  moved(0, 0, 0),
		"block_connection": func(s, _, d, _ voxel) bool {
			return same(s[1], d[1], s[2], d[2]) && d[0]*10 <= s[0] && s[0] < d[0]*10+10
		},
		"all_to_all":   func(_, _, _, _ voxel) bool { return true },
		"all_to_0-0-0": func(_, _, d, _ voxel) bool { return d == voxel{} },
		"0-0-0_to_all": func(s, _, _, _ voxel) bool { return s == voxel{} },
		"lateral_+x":   moved(1, 0, 0), "lateral_-x": moved(-1, 0, 0),
		"lateral_+y": moved(0, 1, 0), "lateral_-y": moved(0, -1, 0),
		"lateral_+z": moved(0, 0, 1), "lateral_-z": moved(0, 0, -1),
		"tile": func(s, _, d, T voxel) bool {
			return projector(voxel{0, 1, 2})(voxel{s[0] % 16, s[1] % 16, 0}, voxel{16, 16, 1}, d, T)
		},
		"memory": nil, "episodic_memory": nil, "memory_replay": nil, "associative_memory": nil, "bi_directional_stdp": nil,
	}
}

// between is a genome of two areas of these sizes and one mapping between them.
func between(S, T voxel, rule, morphologies string) string {
	return fmt.Sprintf(`{"neuron_morphologies": {%s}, "blueprint": {
 "c__one": {"block_boundaries": [%d, %d, %d], "cortical_mapping_dst": {"c__two": [%s]}},
 "c__two": {"block_boundaries": [%d, %d, %d]}}}`, morphologies, S[0], S[1], S[2], rule, T[0], T[1], T[2])
}

// at is the voxel of an area's neuron, of which each voxel has one.
func at(n int, size voxel) voxel {
	return voxel{n / (size[1] * size[2]), n / size[2] % size[1], n % size[2]}
}

// pairsOf are source and destination voxels of all synapses from the first area to the second.
func pairsOf(c *connectome.Connectome, S, T voxel) [][2]voxel {
	var list [][2]voxel
	for n := range c.Areas[0].Neurons.Count {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			list = append(list, [2]voxel{at(int(n), S), at(int(c.Target[k]-c.Areas[1].Neurons.First), T)})
		}
	}
	return list
}

// pairsBy are the pairs that a law makes.
func pairsBy(law reaches, S, T voxel) [][2]voxel {
	var list [][2]voxel
	for s := range S[0] * S[1] * S[2] {
		for d := range T[0] * T[1] * T[2] {
			if law(at(s, S), S, at(d, T), T) {
				list = append(list, [2]voxel{at(s, S), at(d, T)})
			}
		}
	}
	return list
}

// Every function of FEAGI's, defined in the file or not, makes the synapses of its law, between areas whose axes differ, so
// that no two axes can be mistaken for one another.
func TestFunctions(t *testing.T) {
	sizes := [][2]voxel{
		{{3, 4, 5}, {7, 2, 6}}, {{4, 5, 2}, {3, 7, 5}}, {{23, 2, 3}, {2, 3, 2}}, {{5, 3, 7}, {9, 6, 4}}, {{2, 2, 2}, {2, 2, 2}}, {{17, 18, 2}, {8, 4, 1}},
	}
	for name, law := range laws() {
		t.Run(name, func(t *testing.T) {
			most := 0
			for _, size := range sizes {
				S, T := size[0], size[1]
				for _, definition := range []string{"", fmt.Sprintf(`%q: {"type": "functions", "parameters": {}, "class": "core"}`, name), fmt.Sprintf(`%q: {"functions": true}`, name)} {
					if definition != "" && !isFunction(name) {
						continue // FEAGI ships it as vectors, patterns or a composite, which the file then holds
					}
					g, r, err := feagi.Import("f.json", []byte(between(S, T, fmt.Sprintf(`[%q, [1, 1, 1], 1, false]`, name), definition)), feagi.Options{})
					require.NoError(t, err)
					if law == nil {
						require.Empty(t, g.Projections)
						require.Equal(t, 1, r.Count(feagi.NotHonoured))
						continue
					}
					want := pairsBy(law, S, T)
					most = max(most, len(want))
					require.Equal(t, want, pairsOf(build(t, g), S, T), "%v to %v", S, T)
					require.Zero(t, r.Count(feagi.NotHonoured))
				}
			}
			require.True(t, law == nil || most > 0, "a test of nothing")
		})
	}
	for i, a := range []string{"projector", "projector_xy", "projector_yz", "projector_xz", "project_from_end_x", "project_from_end_y", "project_from_end_z"} {
		for _, b := range []string{"projector", "projector_xy", "projector_yz", "projector_xz", "project_from_end_x", "project_from_end_y", "project_from_end_z"}[:i] {
			require.NotEqual(t, pairsBy(laws()[a], sizes[0][0], sizes[0][1]), pairsBy(laws()[b], sizes[0][0], sizes[0][1]), "%s and %s: these sizes tell nothing", a, b)
		}
	}
}

func isFunction(name string) bool {
	return !strings.HasPrefix(name, "all_to") && !strings.HasPrefix(name, "0-0-0") && !strings.HasPrefix(name, "lateral_+") && !strings.HasPrefix(name, "lateral_-") && name != "tile"
}

// The randomizer, which has no law to follow pair by pair, gives every source one voxel.
func TestRandomizer(t *testing.T) {
	S, T := voxel{5, 3, 2}, voxel{4, 6, 3}
	for _, definition := range []string{"", `"randomizer": {"type": "functions"}`} {
		g, _, err := feagi.Import("f.json", []byte(between(S, T, `["randomizer", [1, 1, 1], 1, false]`, definition)), feagi.Options{})
		require.NoError(t, err)
		seen, sources := map[voxel]bool{}, []voxel{}
		for _, p := range pairsOf(build(t, g), S, T) {
			sources = append(sources, p[0])
			seen[p[1]] = true
		}
		require.Len(t, sources, 30)
		require.Len(t, slices.Compact(sources), 30, "one each")
		require.Greater(t, len(seen), 10, "not all to one place")
	}
}

// A composite applies every function but those refused by their own names, with the reason; what FEAGI does not have is
// refused as that.
func TestMappers(t *testing.T) {
	S, T := voxel{8, 6, 4}, voxel{3, 5, 4}
	composite := `"cut": {"type": "composite", "parameters": {"src_seed": [4, 2, 2], "src_pattern": [[1, 1], [2, 1], [1, 0]], "mapper_morphology": %q}}`
	refused := map[string]string{
		"randomizer": "draws a voxel for every neuron", "tile": "a composite itself", "memory": "memory and learning", "episodic_memory": "memory and learning",
		"memory_replay": "memory and learning", "associative_memory": "memory and learning", "bi_directional_stdp": "memory and learning",
		"spiral": "no function of FEAGI has that name, of which there are block_connection, block_to_block, expander_x, last_to_first, lateral_pairs_x, project_from_end_x, " +
			"project_from_end_y, project_from_end_z, projector, projector_xy, projector_xz, projector_yz, randomizer, reducer_x",
	}
	names := []string{"randomizer", "spiral"}
	for name := range laws() {
		names = append(names, name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			for _, more := range []string{"", fmt.Sprintf(`, %q: {"type": "functions"}`, name)} {
				if more != "" && !isFunction(name) {
					continue
				}
				g, _, err := feagi.Import("f.json", []byte(between(S, T, `["cut", [1, 1, 1], 1, false]`, fmt.Sprintf(composite, name)+more)), feagi.Options{})
				if reason := refused[name]; reason != "" {
					require.ErrorContains(t, err, fmt.Sprintf("%q found, ", name))
					require.ErrorContains(t, err, reason)
					require.ErrorContains(t, err, "area c__one, cortical_mapping_dst to c__two, rule 1")
					continue
				}
				require.NoError(t, err)
				law := func(s, _, d, T voxel) bool {
					chosen := s[0]/4%2 == 0 && s[1]/2%3 < 2
					return chosen && laws()[name](voxel{s[0] % 4, s[1] % 2, s[2] % 2}, voxel{4, 2, 2}, d, T)
				}
				want := pairsBy(law, S, T)
				require.NotEmpty(t, want)
				require.Equal(t, want, pairsOf(build(t, g), S, T))
			}
		})
	}
}

// What has no such name is refused, wherever it stands.
func TestNoSuchMorphology(t *testing.T) {
	for definition, want := range map[string]string{
		"":                                `"spiral" found, no morphology has that name`,
		`"spiral": {"type": "functions"}`: `"spiral" found, no function of FEAGI has that name, of which there are block_connection,`,
		`"spiral": {}`:                    `"spiral" found, no function of FEAGI has that name`,
		`"spiral": {"type": "helix"}`:     `"spiral" found, its type "helix" is none of vectors, patterns, functions, composite`,
	} {
		_, _, err := feagi.Import("f.json", []byte(between(voxel{2, 1, 1}, voxel{2, 1, 1}, `["spiral", [1, 1, 1], 1, false]`, definition)), feagi.Options{})
		require.ErrorContains(t, err, want)
	}
}

// The file's own definition counts before FEAGI's: vectors of the name memory make synapses; a placeholder makes none.
func TestDefinitionsOfTheFile(t *testing.T) {
	S := voxel{4, 1, 1}
	g, r, err := feagi.Import("f.json", []byte(between(S, S, `["memory", [1, 1, 1], 1, false], ["projector", [1, 1, 1], 1, false]`,
		`"memory": {"type": "vectors", "parameters": {"vectors": [[1, 0, 0]]}}, "projector": {"type": "placeholder"}`)), feagi.Options{})
	require.NoError(t, err)
	require.Zero(t, r.Count(feagi.NotHonoured))
	require.Len(t, g.Projections, 1)
	require.Equal(t, genome.Vectors, g.Projections[0].Rule)
	require.Equal(t, pairsBy(moved(1, 0, 0), S, S), pairsOf(build(t, g), S, S))
}
