package genome

import (
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
