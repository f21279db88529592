package genome

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const remembering = `burst: v1
timestep: 2 ms
areas:
  - {name: scenes, neurons: 5, group: memory, model: memory, upstream: [twice, "aWluZgAAAAA=", other], params: {lifespan: 40 ms, long_term: 16777216}}
  - {name: eye, neurons: 3, aliases: [iic400, "aWluZgAAAAA="]}
  - {name: other, neurons: 2}
  - {name: twice, neurons: 1, model: memory, upstream: [scenes]}
  - {name: none, neurons: 0, group: memory}
projections:
  - {from: scenes, to: other, rule: all_to_all, weight: 1}
`

// TestMemory: areas upstream may stand further down, and are in the order of areas; lifespans are bursts or times.
func TestMemory(t *testing.T) {
	g, err := Parse("m.yaml", []byte(remembering), nil)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, g.Areas[0].Upstream)
	require.Equal(t, []int{0}, g.Areas[3].Upstream)
	require.Equal(t, map[string]float64{"temporal_depth": 1, "lifespan": 20, "lifespan_growth": 1, "long_term": 1 << 24, "spare_seen": 0}, g.Areas[0].Params)
	require.Equal(t, map[string]float64{"temporal_depth": 1, "lifespan": 9, "lifespan_growth": 1, "long_term": 100, "spare_seen": 0}, g.Areas[3].Params)
	require.True(t, g.Areas[0].Source())
	require.Equal(t, []bool{false, false, false, false, false}, g.Reached(), "a memory does not fire by itself")
	g, err = Parse("m.yaml", []byte(remembering+"stimuli: [{area: eye, at: 1, neurons: [0], amount: 1}]\n"), nil)
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, true, true, false}, g.Reached())
}

// TestMemoryMistakes: each is told at its line and key, with what is wanted and, of a name, what may be meant.
func TestMemoryMistakes(t *testing.T) {
	for _, c := range []struct{ from, to, at, key, message, suggestion string }{
		{"lifespan: 40 ms", "lifespan: 41 ms", "4:", "areas[0].params.lifespan", "whole bursts", "42 ms"},
		{"lifespan: 40 ms", "lifespan: 0", "4:", "areas[0].params.lifespan", "1…16777216", ""},
		{"lifespan: 40 ms", "lifespan_growth: 1.5", "4:", "areas[0].params.lifespan_growth", "whole", ""},
		{"lifespan: 40 ms", "lifespan_growth: 16777217", "4:", "areas[0].params.lifespan_growth", "0…16777216", ""},
		{"lifespan: 40 ms", "temporal_depth: 256", "4:", "areas[0].params.temporal_depth", "1…255", ""},
		{"lifespan: 40 ms", "temporal_depth: 0", "4:", "areas[0].params.temporal_depth", "1…255", ""},
		{"lifespan: 40 ms", "live: 9", "4:", "areas[0].params.live", "unknown key, wanted one of temporal_depth, lifespan", ""},
		{"lifespan: 40 ms", "lifespam: 9", "4:", "areas[0].params.lifespam", "unknown key", "lifespan"},
		{"long_term: 16777216", "long_term: 16777217", "4:", "areas[0].params.long_term", "1…16777216", ""},
		{"[twice,", "[twise,", "4:", "areas[0].upstream[0]", `"twise"`, "twice"},
		{"[twice,", "[eye,", "4:", "areas[0].upstream[1]", `"eye" found again in the list`, ""},
		{"[twice,", "[none,", "4:", "areas[0].upstream[0]", "expects an area with neurons, found none, which has none", ""},
		{"upstream: [scenes]", "upstream: []", "7:", "areas[3].upstream", "at least", ""},
		{"upstream: [scenes]", "upstream: scenes", "7:", "areas[3].upstream", "a list", ""},
		{", upstream: [scenes]", "", "7:", "areas[3]", `key "upstream" is missing; it must list the areas`, ""},
		{"neurons: 2}", "neurons: 2, upstream: [eye]}", "6:", "areas[2].upstream", "a key of the model memory", ""},
		{"{name: none, neurons: 0, group: memory}", "{name: none, neurons: 0, group: memory, model: memory, upstream: [eye]}", "8:", "areas[4].neurons", "at least 1 neuron", ""},
		{"{name: none, neurons: 0, group: memory}", "{name: none, neurons: 1, model: memory, upstream: [eye], drive: {constant: 1}}", "8:", "areas[4].drive", "which the model memory does not have", ""},
		{"to: other", "to: scenes", "10:", "projections[0].to", "expects an area that takes input, found scenes, whose model memory is a source", ""},
	} {
		require.Contains(t, remembering, c.from)
		_, err := Parse("m.yaml", []byte(strings.Replace(remembering, c.from, c.to, 1)), nil)
		var faults Faults
		require.ErrorAs(t, err, &faults, c.to)
		require.Equal(t, c.key, faults[0].Key, "%s: %v", c.to, err)
		require.Contains(t, err.Error(), "m.yaml:"+c.at, c.to)
		require.Contains(t, faults[0].Message, c.message, c.to)
		require.Equal(t, c.suggestion, faults[0].Suggestion, "%s: %v", c.to, err)
	}
}
