package feagi_test

import (
	"math"
	"testing"

	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// Areas take the places of FEAGI's ids, with sources that never fire between them, and all that names them follows.
func TestNumbered(t *testing.T) {
	g, _, err := feagi.Import("n.json", []byte(`{"blueprint": {
 "___pwr": {"block_boundaries": [2, 1, 1], "cortical_mapping_dst": {"c__two": [["all_to_all", [1, 1, 1], 1, false]]}},
 "m__mem": {"sub_group_id": "MEMORY"},
 "c__one": {"block_boundaries": [3, 1, 1]},
 "c__two": {"block_boundaries": [2, 2, 1], "cortical_mapping_dst": {"c__one": [["all_to_all", [1, 1, 1], 2, false]]}}}}`), feagi.Options{})
	require.NoError(t, err)
	made, at, err := feagi.Numbered(g, []uint32{9, 0, 20, 2})
	require.NoError(t, err)
	c := build(t, made)
	for i, first := range map[int]uint32{0: 9, 2: 20, 3: 2} {
		require.Equal(t, first, c.Areas[at[i]].Neurons.First)
		require.Equal(t, g.Areas[i].Name, c.Areas[at[i]].Name)
	}
	require.Equal(t, "ids 0 to 1", c.Areas[1].Name)
	require.EqualValues(t, 23, c.Neurons)
	require.Equal(t, at[0], made.Stimuli[0].Area)
	require.Equal(t, [2]int{at[0], at[3]}, [2]int{made.Projections[0].From, made.Projections[0].To})
	require.Equal(t, build(t, g).Synapses(), c.Synapses())
	require.Equal(t, 0, g.Projections[0].From, "the genome it was made from stays")
	_, _, err = feagi.Numbered(g, []uint32{9, 0, 5, 2})
	require.EqualError(t, err, "area c__one has neurons from 5 on, which another one has up to 5")
}

// Memory areas, to which FEAGI gives no ids, come last, and see the same areas.
func TestNumberedMemory(t *testing.T) {
	g, _, err := feagi.Import("m.json", remembering("3.0", ""), feagi.Options{})
	require.NoError(t, err)
	const none = math.MaxUint32
	made, at, err := feagi.Numbered(g, []uint32{12, 5, none, none, none})
	require.NoError(t, err)
	c := build(t, made)
	require.EqualValues(t, 5, c.Areas[at[1]].Neurons.First)
	require.EqualValues(t, 12, c.Areas[at[0]].Neurons.First)
	require.EqualValues(t, 15, c.Areas[at[2]].Neurons.First)
	require.Equal(t, []int{at[1], at[0]}, c.Areas[at[2]].Upstream)
	require.Equal(t, []int{at[2]}, c.Areas[at[4]].Upstream)
	require.Equal(t, []int{0, 1}, g.Areas[2].Upstream, "the genome it was made from stays")
}
