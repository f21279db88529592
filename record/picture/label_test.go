package picture

import (
	"testing"

	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// TestPotentialLabel: only models with a unit are given one.
func TestPotentialLabel(t *testing.T) {
	areas := []manifest.Area{{Model: "lif"}, {Model: "feagi"}}
	lif, plain := &trace{area: 0}, &trace{area: 1}
	require.Equal(t, "potential (mV)", potentialLabel(areas, []*trace{lif, lif}))
	require.Equal(t, "potential", potentialLabel(areas, []*trace{plain}))
	require.Equal(t, "potential (mV; none in feagi areas)", potentialLabel(areas, []*trace{plain, lif}))
}
